"""Exports a conversation as Markdown, and names the files of all exports."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from itertools import groupby
from pathlib import Path
from textwrap import shorten
from typing import Any

from app.engine.events import Finished, Metrics
from app.history.recording import LaneRecord, RecordedTurn, Recording
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

SPEEDUP = (
    "speedup: over the autoregressive lane while both ran; tok/s is of whole answers, so speedups "
    "are not quite the ratios of the tok/s."
)


def number(value: float | None, form: str) -> str:
    """Format a number; nothing if it is not known."""
    return "" if value is None else form.format(value)


def unique_path(title: str, suffix: str) -> Path:
    """Find a file in the working folder, named after the conversation, that does not exist yet."""
    words = " ".join(re.findall(r"\w+", title.lower()))
    short = shorten(words, SLUG_CHARACTERS, placeholder="") or words[:SLUG_CHARACTERS]
    stem, folder = short.replace(" ", "-") or "conversation", Path.cwd()
    path, count = folder / f"{stem}{suffix}", 1
    while path.exists():
        count += 1
        path = folder / f"{stem}-{count}{suffix}"
    return path


def markdown(recording: Recording, lanes: Collection[str] | None = None) -> str:
    """Export every turn as Markdown: the prompt, a table of the lanes' metrics, and the answers;
    lanes with the same answer share it. `lanes`: only these, because others have been removed."""
    loaded = recording.loaded
    assert loaded is not None
    facts = (loaded.target, loaded.hardware, f"seed {recording.seed}")
    title = " ".join(recording.title.split())
    parts = [f"# {title}", f"{' · '.join(facts)} · {recording.created[:10]}", SPEEDUP]
    for turn in recording.turns:
        run = _settings_of_run(turn)
        titles = {
            name: _title(lane, run)
            for name, lane in turn.lanes.items()
            if lanes is None or name in lanes
        }
        parts += [f"## {turn.started.turn + 1}", quoted(turn.started.prompt)]
        parts += [*_settings(run), *_changes(turn), _table(turn, titles)]
        titles_of: dict[str, list[str]] = {}
        for name, title in titles.items():
            titles_of.setdefault(turn.lanes[name].text, []).append(title)
        for answer, same in titles_of.items():
            parts += [f"**{', '.join(same)}**", answer.strip() or "*(nothing)*"]
    return harmless("\n\n".join(parts) + "\n")


def quoted(text: str) -> str:
    """Quote a text in Markdown."""
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())


def _settings_of_run(turn: RecordedTurn) -> dict[str, Any]:
    """The settings of a turn, from the lanes on which they act and that do not override them."""
    values: dict[str, Any] = {}
    for lane in turn.lanes.values():
        params = lane.steps[0].params if lane.steps else None
        used = flat(params) if params else {}
        names = set(used) & set(lane.strategy.settings) - set(lane.info.overrides)
        values |= {name: used[name] for name in names}
    return values


def _settings(run: Mapping[str, Any]) -> list[str]:
    """A line with the temperature and what differs from the defaults; none if neither is known."""
    defaults = flat(Params())
    told = [
        f"{name.replace('_', ' ')} {run[name]}"
        for name in defaults
        if name in run and (name == "temperature" or run[name] != defaults[name])
    ]
    return [", ".join(told)] if told else []


def _changes(turn: RecordedTurn) -> list[str]:
    """A line with the settings that were changed while the lanes answered, each with its values in
    order; none if there are none. The lanes that ended first, or skipped some, have seen fewer."""
    seen: dict[str, list[Any]] = {}
    for lane in turn.lanes.values():
        rounds = [flat(step.params) for step in lane.steps if step.params]
        for name in set(lane.strategy.settings) - set(lane.info.overrides):
            values = [value for value, _ in groupby(used[name] for used in rounds)]
            seen[name] = max(seen.get(name, []), values, key=len)
    told = [
        f"{name.replace('_', ' ')} {' → '.join(map(_value, seen[name]))}"
        for name in flat(Params())
        if len(seen.get(name, [])) > 1
    ]
    return [f"changed during the answers: {', '.join(told)}"] if told else []


def _value(value: Any) -> str:
    return "default" if value is None else str(value)


def _title(lane: LaneRecord, run: Mapping[str, Any]) -> str:
    """The lane's title with the overrides that differ from the defaults or the run's settings, and
    whether a round was lossy: Draft model (gamma 2)."""
    defaults, info = flat(Params()), lane.info
    own = [
        f"{name.replace('_', ' ')} {value}"
        for name, value in info.overrides.items()
        if not value == defaults[name] == run.get(name, defaults[name])
    ]
    own += ["LOSSY"] if any(step.round.lossy for step in lane.steps) else []
    return f"{info.title} ({', '.join(own)})" if own else info.title


def _table(turn: RecordedTurn, titles: Mapping[str, str]) -> str:
    ends = {event.lane: event for event in turn.events() if isinstance(event, Finished)}
    rows = [["lane", *(name for name, _ in COLUMNS), "≡AR"], ["---"] * (len(COLUMNS) + 2)]
    for name, title in titles.items():
        end = ends.get(name)
        cells = [form(end.metrics) if end and end.metrics else "" for _, form in COLUMNS]
        same = end.matches_ar if end else None
        rows.append([title, *cells, "" if same is None else "yes" if same else "no"])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
