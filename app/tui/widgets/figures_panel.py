"""The figures panel: metrics of the lane in focus, as numbers and small plots."""

from __future__ import annotations

from functools import partial
from statistics import mean

from textual.containers import Vertical
from textual.widget import Widget
from textual.widgets import Sparkline, Static

from app.tui.format.metrics import (
    accepted_lines,
    history,
    memory_lines,
    position_lines,
    range_line,
    time_lines,
)
from app.tui.format.pane_edges import lane_metrics, why_off
from app.tui.format.parts import Part
from app.tui.state.app_state import AppState
from app.tui.state.lane_state import LaneState
from app.tui.widgets.block import Block
from app.tui.widgets.edge_scrollbar import EdgeScroll
from app.tui.widgets.panel import Panel, title_of
from decoding.stats import acceptance_by_position

NOTHING_YET = "No round yet: the figures appear with the answer."
DRAFTS_NOTHING = "This lane does not draft: every round is one pass and one token."
FROM_A_SERVER = "Pieces of text as they arrived. A server reports its tokens and drafts at the end."


class FiguresPanel(Panel):
    """Covers the rounds of the lane's last answer, up to the selected round if there is one."""

    def __init__(self, *, dom_id: str) -> None:
        super().__init__(dom_id=dom_id)
        self._note = Static(classes="note", markup=False)
        self._accepted, self._positions = Block(), Block()
        self._times, self._memory = Block(), Block()
        self._tau_range, self._speed_range = Static(), Static()
        self._tau, self._speed = Sparkline(summary_function=mean), Sparkline(summary_function=mean)
        self._plots = Vertical(self._tau_range, self._tau, self._speed_range, self._speed)
        blocks = (self._accepted, self._positions, self._times, self._plots, self._memory)
        self._scroll = EdgeScroll(self._note, *blocks, classes="blocks")
        self._shown: tuple[object, ...] | None = None

    @property
    def inside(self) -> Widget:
        return self._scroll

    def show(self, state: AppState, name: str) -> None:
        lane = state.lanes[name]
        end = len(lane.round_events) if lane.round_index is None else lane.round_index + 1
        title = title_of("Figures", state.label(name))
        if end:
            title.append(Part(f"· rounds 1 to {end} of {len(lane.round_events)}", "$foreground"))
        self.top.show(title)
        self.bottom.show([] if lane.round_index is not None else lane_metrics(lane))
        shown = (name, lane.active, end, id(lane.round_events), id(state.memory))
        if shown != self._shown:
            self._shown = shown
            self._draw(state, lane, end)

    def _draw(self, state: AppState, lane: LaneState, end: int) -> None:
        rounds = lane.rounds[:end]
        drafts = bool(lane.info.default_gamma)
        remote = lane.strategy.remote
        note = "" if drafts else FROM_A_SERVER if remote else DRAFTS_NOTHING
        if not rounds:
            off = why_off(lane, state.keys["view.toggle_here"])
            note = NOTHING_YET if lane.active else off
        self._note.update(note)
        self._note.display = bool(note)
        self._plots.display = bool(rounds)
        self._times.display = bool(rounds) and not remote
        self._accepted.display = self._positions.display = bool(rounds) and drafts
        self._tau.display = self._tau_range.display = drafts
        if rounds:
            if not remote:
                self._times.show(partial(time_lines, rounds, drafts))
            taus, speeds = history(rounds)
            self._tau.data, self._speed.data = taus, speeds
            self._tau_range.update(range_line("tokens per pass (τ)", taus, end, 1))
            self._speed_range.update(range_line("tok/s", speeds, end, 0))
        if rounds and drafts:
            self._accepted.show(partial(accepted_lines, rounds))
            known = state.runs.rounds_of_gamma(lane) if lane.round_index is None else rounds
            positions = acceptance_by_position(known)
            over = len(known) if len(known) > len(rounds) else None
            self._positions.show(partial(position_lines, positions, over))
        weights = state.loaded.weights if state.loaded else {}
        self._memory.show(partial(memory_lines, state.memory, weights, lane.info.name))
