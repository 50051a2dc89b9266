"""The figures panel: metrics of the lane in focus, as numbers and small plots."""

from __future__ import annotations

from functools import partial
from statistics import fmean

from textual.containers import Vertical
from textual.widget import Widget
from textual.widgets import Sparkline, Static

from app.engine.events import RoundFinished
from app.tui.format.metrics import (
    Figures,
    accepted_lines,
    memory_lines,
    position_lines,
    range_line,
    time_lines,
)
from app.tui.format.pane_edges import lane_metrics, why_off
from app.tui.format.parts import Part
from app.tui.state.app_state import AppState
from app.tui.state.growing import Growing, Same
from app.tui.state.lane_state import LaneState
from app.tui.state.scores import same_text
from app.tui.widgets.block import Block
from app.tui.widgets.edge_scrollbar import EdgeScroll
from app.tui.widgets.panel import Panel, title_of
from decoding.stats import positions

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
        self._tau, self._speed = (
            Sparkline(summary_function=fmean),
            Sparkline(summary_function=fmean),
        )
        self._plots = Vertical(self._tau_range, self._tau, self._speed_range, self._speed)
        blocks = (self._accepted, self._positions, self._times, self._plots, self._memory)
        self._scroll = EdgeScroll(self._note, *blocks, classes="blocks")
        self._shown: tuple[object, ...] | None = None
        self._figures: Growing[RoundFinished, Figures]
        self._figures = Growing(Figures, lambda found, event: found.add(event.round))

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
        self.bottom.show(
            [] if lane.round_index is not None else lane_metrics(lane, same_text(state, lane))
        )
        made = Same(lane.round_events), end, Same(state.runs.all)
        shown = (name, lane.active, made, Same(state.memory), Same(state.loaded))
        if shown != self._shown:
            self._shown = shown
            self._draw(state, lane, end)

    def _draw(self, state: AppState, lane: LaneState, end: int) -> None:
        whole = lane.round_index is None
        figures = self._figures.of(lane.round_events) if whole else Figures.of(lane.rounds[:end])
        drafts = bool(lane.info.default_gamma)
        remote = lane.strategy.remote
        note = "" if drafts else FROM_A_SERVER if remote else DRAFTS_NOTHING
        if not end:
            off = why_off(lane, state.keys["view.toggle_here"])
            note = NOTHING_YET if lane.active else off
        self._note.update(note)
        self._note.display = bool(note)
        self._plots.display = bool(end)
        self._times.display = bool(end) and not remote
        self._accepted.display = self._positions.display = bool(end) and drafts
        self._tau.display = self._tau_range.display = drafts
        if end:
            if not remote:
                self._times.show(partial(time_lines, figures.stats, drafts))
            self._tau.data, self._speed.data = [*figures.taus.points], [*figures.speeds.points]
            self._tau_range.update(range_line("tokens per pass (τ)", figures.taus, end, 1))
            self._speed_range.update(range_line("tok/s", figures.speeds, end, 0))
        if end and drafts:
            self._accepted.show(partial(accepted_lines, figures.histogram, figures.stats.drafted))
            ends = figures.ends + state.runs.ends_before(lane) if whole else figures.ends
            over = ends.total() if ends.total() > end else None
            self._positions.show(partial(position_lines, positions(ends), over))
        weights = state.loaded.weights if state.loaded else {}
        self._memory.show(partial(memory_lines, state.memory, weights, lane.info.name))
