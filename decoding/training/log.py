"""The log of a training, and how its numbers read. No torch in here: it is watched from outside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from decoding.json_text import parse_json

LOG = "log.jsonl"  # in a training's folder


def training_log(work: Path) -> list[dict[str, Any]]:
    """The reports of a training so far, in the order of its steps: of training `loss`, `accuracy`
    and `tokens`, of evaluations `held_out` in words and `served` τ; each with its `time` and
    `step` of `steps`. What a resumed training did again counts once."""
    found: list[dict[str, Any]] = []
    for line in (work / LOG).read_text(encoding="utf-8").splitlines():
        try:
            entry = parse_json(line)
        except ValueError:  # being written, or cut by a kill
            continue
        # An evaluation comes after the step's loss; a resumed training goes back to a checkpoint.
        found = [old for old in found if _order(old) < _order(entry)]
        found.append(entry)
    return found


def _order(entry: Mapping[str, Any]) -> tuple[int, bool]:
    return entry["step"], "held_out" in entry


def rates(values: Sequence[float]) -> str:
    """`.71 .64`: of each head or step."""
    return " ".join(f"{value:.2f}".removeprefix("0") for value in values)


def duration(seconds: float) -> str:
    """`50 s`, `12 min`, `3.4 h`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
