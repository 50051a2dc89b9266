"""The log of a training run, and progress lines. Imports no torch, because other processes read the
log."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from decoding.json_text import parse_json

LOG = "log.jsonl"  # in the training's folder
ANSWERS = "answers.jsonl"  # beside it: one answer per evaluation
_EVERY = 1.0  # seconds between progress lines
_PATIENCE = 10.0  # seconds until one says that nothing is done yet, and how fast it goes


def training_log(work: Path) -> list[dict[str, Any]]:
    """Return the reports of a training so far, in the order of its steps. Those of training have
    `loss`, the `losses` and `accuracy` of each head or step, and `tokens`, those of evaluations
    `held_out` in words and `served` τ; all have the `time` and `step` of `steps`, and the `stage`
    if there are several. Steps repeated after a resume are listed once."""
    found: list[dict[str, Any]] = []
    for line in (work / LOG).read_text(encoding="utf-8").splitlines():
        try:
            entry = parse_json(line)
        except ValueError:  # being written, or cut by a kill
            continue
        if not _is_report(entry):
            continue
        # An evaluation follows its step's loss; a resumed training repeats steps.
        while found and _order(found[-1]) >= _order(entry):
            found.pop()
        found.append(entry)
    return found


def _is_report(entry: object) -> bool:
    match entry:
        case {"time": int() | float(), "step": int(), "steps": int(), "loss": int() | float(),
              "losses": [*losses], "accuracy": [*shares]}:  # fmt: skip
            return all(isinstance(value, int | float) for value in (*losses, *shares))
        case {"time": int() | float(), "step": int(), "steps": int(), "held_out": str(),
              "served": int() | float() | None}:  # fmt: skip
            return True
    return False


def _order(entry: Mapping[str, Any]) -> tuple[int, bool]:
    return entry["step"], "held_out" in entry


def losses(entry: Mapping[str, Any]) -> str:
    """Return the loss, and those of all heads or steps that make it up: `15.512 (2.31 2.55)`."""
    parts = " ".join(f"{value:.2f}" for value in entry["losses"])
    return f"{entry['loss']:.3f}" + (f" ({parts})" if len(entry["losses"]) > 1 else "")


def rates(values: Sequence[float]) -> str:
    """Rates of all heads or steps: `.71 .64`."""
    return " ".join(f"{value:.2f}".removeprefix("0") for value in values)


def duration(seconds: float) -> str:
    """`50 s`, `12 min`, `3.4 h`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def time_left(seconds: float, stage: object = "") -> str:
    """`12 min left`, of a training in stages `12 min left in stage 1 of 2`."""
    return f"{duration(seconds)} left" + (f" in stage {stage}" if stage else "")


class Progress:
    """Prints how many conversations of `total` are done, the speed and the time left to stderr, at
    readable intervals."""

    def __init__(self, done: int, total: int) -> None:
        self._first = self._done = done
        self._total = total
        self._tokens = 0
        self._began = time.monotonic()
        self._said = 0.0

    def add(self, conversations: int, tokens: int) -> None:
        self._done += conversations
        self._tokens += tokens
        now = time.monotonic()
        if now - self._said < _EVERY and self._done < self._total:
            return
        self._said, spent = now, now - self._began
        left = duration((self._total - self._done) * spent / (self._done - self._first))
        self._say(f"{self._tokens / spent:,.0f} tokens/s · {left} left")

    def add_tokens(self, tokens: int) -> None:
        """Count tokens of conversations that are not done yet. Prints the speed alone, at longer
        intervals."""
        self._tokens += tokens
        now = time.monotonic()
        if now - max(self._said, self._began) >= _PATIENCE:
            self._said = now
            self._say(f"{self._tokens / (now - self._began):,.0f} tokens/s")

    def _say(self, speed: str) -> None:
        line = f"{self._done}/{self._total} conversations · {speed}"
        print(line, file=sys.stderr, flush=True)
