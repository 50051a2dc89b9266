"""A conversation for people: Markdown, and where files go."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from textwrap import shorten

from app.engine.events import Finished, LaneInfo, Metrics
from app.history.recording import RecordedTurn, Recording
from app.text.terminal_text import harmless
from decoding.params import Params, flat

SLUG_CHARACTERS = 40
COLUMNS: tuple[tuple[str, Callable[[Metrics], str]], ...] = (
    ("tokens", lambda metrics: str(metrics.tokens)),
    ("tok/s", lambda metrics: number(metrics.tokens_per_second, "{:.1f}")),
    ("speedup", lambda metrics: number(metrics.speedup, "{:.2f}×")),
    ("α", lambda metrics: number(metrics.acceptance_rate, "{:.0%}")),
    ("τ", lambda metrics: number(metrics.tokens_per_pass, "{:.2f}")),
)


def number(value: float | None, form: str) -> str:
    return "" if value is None else form.format(value)


def unique_path(title: str, suffix: str, folder: Path | None = None) -> Path:
    """A file in the working folder, named after the conversation, that does not exist yet."""
    words = " ".join(re.findall(r"\w+", title.lower()))
    short = shorten(words, SLUG_CHARACTERS, placeholder="") or words[:SLUG_CHARACTERS]
    stem, place = short.replace(" ", "-") or "conversation", folder or Path.cwd()
    path, count = place / f"{stem}{suffix}", 1
    while path.exists():
        count += 1
        path = place / f"{stem}-{count}{suffix}"
    return path


def markdown(recording: Recording, lanes: Collection[str] | None = None) -> str:
    """Every turn: the prompt, a table of the lanes' figures, and the answers; lanes that said the
    same share one. Only these `lanes`, if given: others have been removed since."""
    loaded = recording.loaded
    assert loaded is not None
    facts = (loaded.target, loaded.hardware, f"seed {recording.seed}")
    title = " ".join(recording.title.split())
    parts = [f"# {title}", f"{' · '.join(facts)} · {recording.created[:10]}"]
    for turn in recording.turns:
        kept = [name for name in turn.lanes if lanes is None or name in lanes]
        parts += [f"## {turn.started.turn + 1}", quoted(turn.started.prompt), _table(turn, kept)]
        said: dict[str, list[str]] = {}
        for lane in (turn.lanes[name] for name in kept):
            said.setdefault(lane.text, []).append(_title(lane.info))
        for answer, titles in said.items():
            parts += [f"**{', '.join(titles)}**", answer.strip() or "*(nothing)*"]
    return harmless("\n\n".join(parts) + "\n")


def quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())


def _title(lane: LaneInfo) -> str:
    """With the lane's own settings, as far as they are not the defaults: Draft model (gamma 2)."""
    defaults = flat(Params())
    own = [
        f"{name.replace('_', ' ')} {value}"
        for name, value in lane.overrides.items()
        if value != defaults[name]
    ]
    return f"{lane.title} ({', '.join(own)})" if own else lane.title


def _table(turn: RecordedTurn, kept: Iterable[str]) -> str:
    ends = {event.lane: event for event in turn.events() if isinstance(event, Finished)}
    rows = [["lane", *(name for name, _ in COLUMNS), "≡AR"], ["---"] * (len(COLUMNS) + 2)]
    for name in kept:
        end = ends.get(name)
        cells = [form(end.metrics) if end and end.metrics else "" for _, form in COLUMNS]
        same = end.matches_ar if end else None
        rows.append(
            [_title(turn.lanes[name].info), *cells, "" if same is None else "yes" if same else "no"]
        )
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
