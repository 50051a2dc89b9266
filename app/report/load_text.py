"""Formats the result of a load test."""

from __future__ import annotations

from typing import Any

from app.text.plural import pluralize


def load_line(load: dict[str, Any]) -> str:
    """Return a `Load.document` as one line for people."""
    ttft = load["ttft_seconds"]
    prompts = pluralize(load["requests"], "prompt")
    parts = [f"[{load['lane']}] {prompts}, {load['concurrency']} at a time"]
    if load["tokens_per_second"] is not None:
        parts.append(f"{load['tokens_per_second']:.1f} tok/s in total")
    parts += [f"TTFT {name} {value:.3f} s" for name, value in ttft.items() if value is not None]
    if load["drafted"]:
        parts.append(f"{load['accepted'] / load['drafted']:.0%} of the drafts accepted")
    if load["failed"]:
        parts.append(f"{load['failed']} failed")
    return " · ".join(parts)
