"""Detects a slow terminal: drawing is paused while output is queued, because keys would seem dead
until the queue has been drawn."""

from __future__ import annotations

from textual.driver import Driver


def has_backlog(driver: Driver | None) -> bool:
    """Whether earlier output is still queued. Textual has no public access to the queue; drivers
    without one have no backlog."""
    writer = getattr(driver, "_writer_thread", None)
    queue = getattr(writer, "_queue", None)
    return queue is not None and queue.qsize() > 0
