"""A terminal at the end of a slow line: what is drawn queues up, and every key seems dead until the
queue has been drawn. So nothing is added while there is one."""

from __future__ import annotations

from textual.driver import Driver


def has_backlog(driver: Driver | None) -> bool:
    """Whether the terminal has yet to take what was drawn before. Textual has no public word for
    it; a driver without a queue never has one."""
    writer = getattr(driver, "_writer_thread", None)
    queue = getattr(writer, "_queue", None)
    return queue is not None and queue.qsize() > 0
