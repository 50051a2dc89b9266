"""What the keys of a closer look do: how tokens look, the cursor, rounds back and forward."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from app.tui.lens import MEASURED, NEXT_LENS
from app.tui.token_facts import facts_of
from app.tui.token_text import Look, Looks

if TYPE_CHECKING:
    from app.tui.screens.main import MainScreen
    from app.tui.widgets.token_view import TokenView
    from decoding.round import TokenEvent

NEXT_LOOK: dict[Look, Look] = {"colour": "glyphs", "glyphs": "plain", "plain": "colour"}


class Looking:
    def __init__(self, main: MainScreen) -> None:
        self._main, self._state = main, main.state
        self.looks = Looks()
        self._watched: frozenset[str] = frozenset()

    def begin(self) -> None:
        if self._main.app.no_color:
            self.looks = replace(self.looks, look="glyphs")

    def change_look(self) -> None:
        self.looks = replace(self.looks, look=NEXT_LOOK[self.looks.look])
        self.show()

    def change_ghosts(self) -> None:
        self.looks = replace(self.looks, ghosts=not self.looks.ghosts)
        self.show()

    def change_lens(self) -> None:
        """A lens is nothing without its colours, or the glyphs in their place."""
        look = self.looks.look
        if look == "plain":
            look = "glyphs" if self._main.app.no_color else "colour"
        self.looks = replace(self.looks, look=look, lens=NEXT_LENS[self.looks.lens])
        self.show()

    def watch(self) -> None:
        """One goes from lane to lane, so all of them are watched while the panel or the lens wants
        to know probabilities."""
        panel = self._main.panel
        wanted = (panel and panel.WATCHES) or self.looks.lens in MEASURED
        lanes = self._state.lanes.items() if wanted else ()
        watched = frozenset(name for name, lane in lanes if lane.active)
        if watched != self._watched:
            self._watched = watched
            self._main.engine.watch(watched)

    def show(self) -> None:
        for pane in self._main.grid.panes:
            pane.view.set_looks(self.looks)
        self._main.show_state()

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
