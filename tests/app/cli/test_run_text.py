"""The text of a headless run."""

from __future__ import annotations

from typing import Any

from app.cli.run_text import format_run
from app.report.document import LANE_FIELDS


def document(*lanes: dict[str, Any]) -> dict[str, Any]:
    run = {"index": 0, "prompt": "Hello", "prompt_ids": [1], "lanes": list(lanes)}
    settings = {"seed": 7}
    return {"runs": [run], "load": [], "ignored": [], "kv_cache": None, "settings": settings}


def lane(strategy: str, tokens: int, speedup: float, tau: float) -> dict[str, Any]:
    return dict.fromkeys(LANE_FIELDS) | {
        **{"lane": strategy, "strategy": strategy, "available": True, "text": "Hi", "drafted": 0},
        **{"tokens": tokens, "speedup": speedup, "tokens_per_pass": tau, "finish_reason": "stop"},
    }


def test_speedups_that_cannot_be_are_marked() -> None:
    text = format_run(document(lane("ar", 90, 1.0, 1.0), lane("lookup", 90, 1.76, 1.0)))
    assert "[ar] 90 tokens · 1.00x · τ 1.00" in text
    assert "1.76x? · τ 1.00" in text and "something else was using the machine" in text
    credible = format_run(document(lane("medusa", 90, 1.76, 2.4)))
    assert "1.76x · τ 2.40" in credible and "?" not in credible


def test_speeds_of_few_tokens_are_called_chance() -> None:
    chance = "speeds over fewer than 50 tokens are mostly chance"
    assert chance in format_run(document(lane("medusa", 20, 1.76, 2.4)))
    assert chance not in format_run(document(lane("medusa", 50, 1.76, 2.4)))
