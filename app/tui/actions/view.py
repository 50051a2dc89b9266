"""What the keys of a closer look do: how tokens look, the cursor, rounds back and forward."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from app.engine.commands import RecordProbabilities
from app.tui.format.token_facts import facts_of
from app.tui.tokens.lens import MEASURED, NEXT_LENS
from app.tui.tokens.token_text import DisplayOptions, RenderMode

if TYPE_CHECKING:
    from app.tui.screens.lanes import MainScreen
    from app.tui.widgets.lane_pane import LanePane
    from app.tui.widgets.token_view import TokenView
    from decoding.round import TokenEvent

NEXT_LOOK: dict[RenderMode, RenderMode] = {"colour": "glyphs", "glyphs": "plain", "plain": "colour"}
BREATH_SECONDS = 0.015  # for keys, and to paint


class ViewActions:
    def __init__(self, main: MainScreen) -> None:
        self._main, self._state = main, main.state
        self.looks = DisplayOptions()
        self._catching_up = False  # the next pane has its turn soon
        self._watched: frozenset[str] = frozenset()

    def begin(self) -> None:
        if self._main.app.no_color:
            self.looks = replace(self.looks, look="glyphs")

    def change_look(self) -> None:
        self.looks = replace(self.looks, look=NEXT_LOOK[self.looks.look])
        self._main.show_state()

    def change_ghosts(self) -> None:
        self.looks = replace(self.looks, ghosts=not self.looks.ghosts)
        self._main.show_state()

    def change_lens(self) -> None:
        """A lens is nothing without its colours, or the glyphs in their place."""
        look = self.looks.look
        if look == "plain":
            look = "glyphs" if self._main.app.no_color else "colour"
        self.looks = replace(self.looks, look=look, lens=NEXT_LENS[self.looks.lens])
        self._main.show_state()

    def watch(self) -> None:
        """One goes from lane to lane, so all of them are watched while the panel or the lens wants
        to know probabilities."""
        panel = self._main.panel
        wanted = (panel and panel.WATCHES) or self.looks.lens in MEASURED
        lanes = self._state.lanes.items() if wanted else ()
        watched = frozenset(name for name, lane in lanes if lane.active)
        if watched != self._watched:
            self._watched = watched
            self._main.engine.send(RecordProbabilities(watched))

    def catch_up(self) -> None:
        """Panes that are to be seen take on the looks: the one in focus now, the others one by one,
        so that keys act in between: wrapping a long answer again takes some 20 ms."""
        here, stale = self._main.pane_here, self._stale
        if here in stale:
            here.view.set_looks(self.looks)
            stale.remove(here)
        if stale and not self._catching_up:
            self._catching_up = True
            self._main.set_timer(BREATH_SECONDS, self._next_catches_up)

    def _next_catches_up(self) -> None:
        self._catching_up = False
        for pane in self._stale[:1]:
            pane.view.set_looks(self.looks)
        self.catch_up()

    @property
    def _stale(self) -> list[LanePane]:
        panes = self._main.grid.panes
        return [pane for pane in panes if pane.visible_text and pane.view.looks != self.looks]

    def cursor_moved(self, view: TokenView, token: TokenEvent | None) -> None:
        self._state.look_at(self._main.grid.lane_of(view), token)
        self._main.show_state()

    def explain(self, view: TokenView, token: TokenEvent) -> None:
        """In the tooltip."""
        if facts := facts_of(self._state.lanes[self._main.grid.lane_of(view)], token):
            view.explain(facts.summary)

    def go_to_round(self, steps: int) -> None:
        """Back or forward; the cursor, where there is one, goes along."""
        pane = self._main.pane_here
        if pane is None:
            return
        if not self._main.open and pane.view.cursor is None:
            self._main.action_panel("tree")
            return
        problem = self._state.look(pane.name_of_lane, steps)
        self._state.say(problem or "")
        if problem is None and (record := self._state.lanes[pane.name_of_lane].round_here):
            pane.view.to_round(record.index)
        self._main.show_state()

    def leave_cursor(self) -> bool:
        """Whether there was one in the pane in focus."""
        pane = self._main.pane_here
        if pane is None or pane.view.cursor is None:
            return False
        pane.view.move_cursor(None)
        return True

    def copy_answer(self) -> None:
        if pane := self._main.pane_here:
            self._main.app.copy_to_clipboard(pane.view.answer)
            self._state.say(f"Copied the answer of {self._state.label(pane.name_of_lane)}")
            self._main.show_state()
