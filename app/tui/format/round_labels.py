"""Rows of parts for one round, and notes on probabilities that it lacks."""

from __future__ import annotations

from app.tui.format.bars import TIME_GLYPHS, time_bar
from app.tui.format.numbers import seconds
from app.tui.format.parts import Part
from app.tui.state.app_state import AppState
from app.tui.state.lane_state import LaneState
from decoding.round import Round

BAR_CELLS = 10


def not_recorded(state: AppState, lane: LaneState) -> str:
    """Return the note on a round without recorded probabilities."""
    if lane.strategy.remote:
        return "A server's text comes in pieces, without probabilities."
    if state.replay:
        return "No probabilities were recorded."
    if lane.no_probabilities:
        return f"No probabilities: {lane.no_probabilities}"
    if not state.can_compute:
        return (
            f"No probabilities recorded: {state.keys['run.again']} runs it again and records them."
        )
    if state.running:
        return "No probabilities yet: computed when the answer is done"
    return "Computing the probabilities …"


def q_not_recorded(state: AppState, lane: LaneState) -> str:
    """Return why a draft's own probabilities are missing where the target's are known; empty if
    they are not, or if such a draft has none. They can't be worked out afterwards."""
    probed = [record for record in lane.rounds if record.drafted and record.entropies]
    if not probed or not lane.strategy.role or any(record.q for record in probed):
        return ""
    if not state.can_compute:
        return "not recorded"
    return f"not recorded: {state.keys['run.again']} records it"


def round_counts(record: Round | None) -> list[Part]:
    if record is None:
        return []
    counts = {
        "drafted": record.drafted,
        "tested": record.tested,
        "accepted": len(record.accepted),
        "emitted": len(record.emitted),
    }
    return [
        Part(f"{name} {count}", "$foreground", int(name == "tested"))
        for name, count in counts.items()
    ]


def round_total(record: Round | None, cells: int) -> list[Part]:
    """Return a round's time, and a bar of its parts."""
    if record is None:
        return []
    bar = time_bar((record.draft_seconds, record.verify_seconds, record.accept_seconds), cells)
    return [Part(seconds(record.total_seconds), "$foreground", 2), Part(bar, "$primary", 2)]


def pass_name(drafted: int) -> str:
    """Return the name of a model's pass; only one over drafts is a verification."""
    return "verify" if drafted else "pass"


def round_times(record: Round | None) -> list[Part]:
    if record is None:
        return []
    draft, verify, accept, _other = tuple(TIME_GLYPHS)
    name = pass_name(record.drafted)
    return [
        Part(f"{draft} draft {seconds(record.draft_seconds)}", "$foreground"),
        Part(f"{verify} {name} {seconds(record.verify_seconds)}", "$foreground"),
        Part(f"{accept} accept {seconds(record.accept_seconds)}", "$foreground", 1),
    ]
