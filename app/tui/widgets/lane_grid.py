"""All lanes: side by side, or one at a time with tabs."""

from __future__ import annotations

from collections.abc import Iterator

from textual.containers import Container
from textual.geometry import NULL_OFFSET, NULL_SPACING, Region, Size
from textual.layout import ArrangeResult, Layout, WidgetPlacement
from textual.widget import Widget

from app.engine.events import (
    Event,
    Finished,
    Prefilled,
    ProbabilitiesComputed,
    RoundFinished,
    RunStarted,
)
from app.tui.format.pane_edges import introduction
from app.tui.format.setting_changes import changes_at
from app.tui.state.app_state import AppState
from app.tui.state.lane_state import LaneState
from app.tui.widgets.lane_pane import LanePane
from app.tui.widgets.lane_tabs import LaneTabs
from app.tui.widgets.token_view import TokenView

COMFORTABLE_COLUMNS = 46
GONE = 0  # the number of a pane whose lane was removed, until it is unmounted


def grid_rows(count: int, width: int) -> int:
    """Return the number of rows of panes, with as many side by side as fit."""
    return -(-count // max(2, width // COMFORTABLE_COLUMNS))


def grid_regions(count: int, size: Size) -> list[Region]:
    """Cells for `count` panes, the rows evenly filled."""
    rows = grid_rows(count, size.width)
    regions = []
    for row in range(rows):
        cells = count // rows + (row < count % rows)
        top, bottom = (size.height * each // rows for each in (row, row + 1))
        for cell in range(cells):
            left, right = (size.width * each // cells for each in (cell, cell + 1))
            regions.append(Region(left, top, right - left, bottom - top))
    return regions


class LaneLayout(Layout):
    """Open panes share the space; folded ones are below, one row each."""

    name = "lanes"

    def arrange(
        self, parent: Widget, children: list[Widget], size: Size, greedy: bool = True
    ) -> ArrangeResult:
        panes = [child for child in children if isinstance(child, LanePane)]
        folded = [pane for pane in panes if pane.folded]
        opened = [pane for pane in panes if not pane.folded]
        height = max(0, size.height - len(folded))
        regions = grid_regions(len(opened), Size(size.width, height))
        regions += [Region(0, height + row, size.width, 1) for row in range(len(folded))]
        return [
            WidgetPlacement(region, NULL_OFFSET, NULL_SPACING, pane)
            for region, pane in zip(regions, opened + folded, strict=True)
        ]


class LaneGrid(Container):
    """`tabbed`: only the current pane is visible, and never folded."""

    def __init__(self, tabs: LaneTabs, *, dom_id: str) -> None:
        super().__init__(id=dom_id)
        self._layout = LaneLayout()
        self._tabs = tabs
        self.tabbed = False
        self.welcome = ""  # above the lane's introduction in an empty pane
        self.current = 1  # the number of the pane that had focus last

    @property
    def layout(self) -> Layout:
        return self._layout

    @property
    def panes(self) -> Iterator[LanePane]:
        return (pane for pane in self.query_children(LanePane) if pane.number != GONE)

    def pane(self, number: int) -> LanePane | None:
        return next((pane for pane in self.panes if pane.number == number), None)

    def lane_of(self, view: TokenView) -> str | None:
        """Return None for a pane that is being removed: its last messages come later."""
        return next((pane.name_of_lane for pane in self.panes if pane.view is view), None)

    def pane_of(self, lane: str) -> LanePane:
        return next(pane for pane in self.panes if pane.name_of_lane == lane)

    async def rebuild(self, state: AppState) -> None:
        """A pane for each lane, in their order. Those of lanes that stay keep their text; the
        current one stays the current one."""
        here = self.pane(self.current)
        panes = {pane.name_of_lane: pane for pane in self.panes}
        stay = [name for name in panes if name in state.lanes]
        if stay != [name for name in state.lanes if name in panes]:  # in another order
            stay = []
        names = list(state.lanes)
        for name, pane in panes.items():
            pane.number = names.index(name) + 1 if name in stay else GONE
        if here and here.number != GONE:
            self.current = here.number
        self.current = min(self.current, max(len(names), 1))
        await self.remove_children([pane for pane in panes.values() if pane.number == GONE])
        for index, (name, lane) in enumerate(state.lanes.items()):
            if name not in stay:
                before = index if index < len(self.children) else None
                await self.mount(LanePane(index + 1, lane), before=before)

    def handle_event(self, event: Event, state: AppState) -> None:
        """Show an event of a run, which the state has already taken in, in the panes' text."""
        match event:
            case (
                Prefilled(lane=name)
                | RoundFinished(lane=name)
                | Finished(lane=name)
                | ProbabilitiesComputed(lane=name)
            ) if name not in state.lanes:
                pass  # late events of a lane that was removed
            case RunStarted():
                leader = event.leader if event.leader in state.lanes else state.leader
                for pane in self.panes:
                    there = pane.name_of_lane not in event.absent
                    if not (there and state.lanes[pane.name_of_lane].info.available):
                        continue
                    other = event.turn - 1 in state.differing and leader != pane.name_of_lane
                    follows = state.label(leader) if other and leader else None
                    pane.view.begin_turn(event.turn, event.prompt, follows)
                    if pane.name_of_lane not in event.lanes:
                        pane.view.add_note("off in this turn")
            case Prefilled():
                self.pane_of(event.lane).view.add_first(event)
            case RoundFinished():
                self.add_rounds(state.lanes[event.lane], 1)
            case ProbabilitiesComputed(lane=name):
                if first := state.lanes[name].first:
                    view = self.pane_of(name).view
                    view.renew_sources(first, state.lanes[name].round_events)
            case Finished(message=str() as message):
                self.pane_of(event.lane).view.add_note(message, error=event.reason == "error")
            case Finished():
                self.pane_of(event.lane).view.end_turn()

    def add_rounds(self, lane: LaneState, count: int) -> None:
        """Add the lane's newest `count` rounds to its pane."""
        numbers = range(len(lane.round_events) - count, len(lane.round_events))
        rounds = ((lane.round_events[number], changes_at(lane, number)) for number in numbers)
        self.pane_of(lane.info.name).view.add_rounds(rounds)

    def show(self, state: AppState) -> None:
        """Update labels, and which panes are folded or hidden."""
        changed = False
        for pane in self.panes:
            active = state.lanes[pane.name_of_lane].active
            display = not self.tabbed or pane.number == self.current
            fold = not active and not self.tabbed
            changed |= (pane.display, pane.folded) != (display, fold)
            pane.display = display
            pane.fold(fold)
            about = introduction(state.lanes[pane.name_of_lane].info)
            pane.view.set_hint("\n\n".join(filter(None, (self.welcome, about))))
            pane.show(state)
        self._tabs.show(state, self.current)
        if changed:
            self.refresh(layout=True)
