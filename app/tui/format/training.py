"""A running training, from its log: for `specchat heads watch`, and for the app's own screen."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter
from rich.console import Group
from rich.table import Table
from rich.text import Text

from app.text.token_event import TokenEvent
from app.tui.format.bars import HEIGHTS, progress_bar
from app.tui.tokens.token_text import DisplayOptions, RenderMode, TokenText
from app.tui.tokens.wrapping import TokenStyle
from decoding.errors import InputError
from decoding.round import TokenFate
from decoding.training.log import (
    ANSWERS,
    LOG,
    duration,
    losses,
    rates,
    time_left,
    training_log,
)

_WIDTH = 40  # of curves and the bar at most, in characters
_EVALUATIONS = 8  # shown
_RECENT = 20  # reports for the estimate of the time left
REFRESH_SECONDS = 1.0
# Named colours, so that they fit the terminal's own background.
_STYLES = {
    TokenStyle.ACCEPTED: "underline bright_blue",
    TokenStyle.BONUS: "bold",
    TokenStyle.PROMPT: "italic dim",
}


@dataclass(frozen=True, slots=True)
class _Answer:
    """A line of the answers' file: the tokens' texts and fates."""

    prompt: str
    tokens: list[tuple[str, TokenFate]]


_ANSWER = TypeAdapter(_Answer)


def view(out: Path, entries: Sequence[Mapping[str, Any]], columns: int, now: float) -> Group:
    """Return the progress, losses and evaluations, as of the time `now`."""
    last, width = entries[-1], min(columns // 3, _WIDTH)  # beside what they say in figures
    step, steps = last["step"], last["steps"]
    learned = [entry for entry in entries if "loss" in entry]
    measured = [entry for entry in entries if "held_out" in entry]
    lines = [
        Text(f"training in {out}", style="bold"),
        Text(
            f"{progress_bar(step / max(steps, 1), width)}  step {step} of {steps}"
            f"{_left(entries, now)}"
        ),
    ]
    table = Table.grid(padding=(0, 2))
    if learned:
        loss = [entry["loss"] for entry in learned]
        table.add_row("loss", sparkline(loss, width), losses(learned[-1]))
        first = [entry["accuracy"][0] for entry in learned if entry["accuracy"]]
        table.add_row("right", sparkline(first, width), rates(learned[-1]["accuracy"]))
    served = [entry["served"] for entry in measured if entry["served"] is not None]
    if served:
        figures = f"{served[-1]:.2f}, best {max(served):.2f}"
        table.add_row("served τ", sparkline(served, width), figures)
    evaluations = [
        Text(f"step {entry['step']:>6} held out · {entry['held_out']}")
        for entry in measured[-_EVALUATIONS:]
    ]
    return Group(*lines, table, *evaluations)


def answer_view(out: Path, columns: int, mode: RenderMode) -> Group:
    """Return the answer to one prompt at the last evaluation with its drafted tokens marked, and
    their share at every evaluation. Rejected drafts of new heads would hide the text: they are left
    out."""
    answers = []
    with suppress(OSError):  # no evaluation yet, or it is done and this is removed
        for line in (out / "training" / ANSWERS).read_text(encoding="utf-8").splitlines():
            with suppress(ValueError):  # being written, or cut by a kill
                answers.append(_ANSWER.validate_json(line))
    if not answers:
        return Group()
    last, shares = answers[-1], list(map(_drafted, answers))
    shape = sparkline(shares, min(columns // 3, _WIDTH))
    title = f"drafted in one answer: {shape}  {shares[-1]:.0%} of its tokens"
    body = TokenText()
    body.options = DisplayOptions(mode, show_rejected=False)
    body.begin_turn(0, last.prompt, None)
    for text, fate in last.tokens:
        body.add_token(TokenEvent(0, text, fate, 0))
    body.end_turn()
    body.rewrap(columns)
    lines = [
        Text.assemble(*((text, _STYLES.get(style, "")) for text, style in body.wrapper[i].runs))
        for i in range(len(body.wrapper))
    ]
    return Group(Text(), Text(title), *lines)


def _drafted(answer: _Answer) -> float:
    fates = [fate for _, fate in answer.tokens if not fate.discarded]
    return fates.count(TokenFate.ACCEPTED) / max(len(fates), 1)


def sparkline(values: Sequence[float], width: int = _WIDTH) -> str:
    """Return the values as bars, scaled between lowest and highest; neighbours are averaged to fit.
    A training may diverge: × is no number."""
    size = -(-len(values) // max(width, 1)) or 1
    parts = [values[i : i + size] for i in range(0, len(values), size)]
    means = [sum(part) / len(part) for part in parts]
    finite = [mean for mean in means if math.isfinite(mean)]
    low, high = min(finite, default=0), max(finite, default=0)
    span = (high - low) or 1
    return "".join(
        HEIGHTS[round((mean - low) / span * (len(HEIGHTS) - 1))] if math.isfinite(mean) else "×"
        for mean in means
    )


def newest_reports(out: Path) -> list[dict[str, Any]]:
    """Return the reports of the training, or of its last stage. Raises InputError if there are
    none."""
    log = _newest_log(out, "training/**")
    with suppress(OSError):  # it is done, and its log has just been removed
        if log and (entries := training_log(log.parent)):
            return entries
    if (out / "config.json").is_file():
        raise InputError(
            f"{out} holds what was trained, and its log is removed: "
            "train --keep-checkpoints keeps it"
        )
    raise InputError(
        f"{out} holds no training that has reported yet: give the --out of a running one"
    )


def _left(entries: Sequence[Mapping[str, Any]], now: float) -> str:
    """The time left, estimated from the last reports, and the last one's age if it is unusual."""
    recent, last = entries[-_RECENT:], entries[-1]
    steps, seconds = last["step"] - recent[0]["step"], last["time"] - recent[0]["time"]
    ago = now - last["time"]
    text = ""
    if steps > 0 and last["step"] < last["steps"]:
        left = seconds / steps * (last["steps"] - last["step"]) - ago
        text = f", {time_left(max(left, 0), last.get('stage', ''))}"
    reports = max(len(recent) - 1, 1)
    return text + (f", silent for {duration(ago)}" if ago > max(60, 5 * seconds / reports) else "")


def newest_training(folder: Path) -> Path | None:
    """Return the `--out` in this folder whose training reported last."""
    log = _newest_log(folder, "*/training/**")
    return folder / log.relative_to(folder).parts[0] if log else None


def _newest_log(folder: Path, below: str) -> Path | None:
    """The log that was written to last; trainings that are done remove theirs at any moment."""
    found = []
    with suppress(OSError):
        for log in folder.glob(f"{below}/{LOG}"):
            with suppress(OSError):
                found.append((log.stat().st_mtime, log))
    return max(found)[1] if found else None
