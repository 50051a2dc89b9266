"""Advice on which strategy and settings to use, measured on the loaded models."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from app.engine.events import Advice, Event, Loaded
from app.models.assets import examples
from app.strategies.registry import STRATEGIES
from app.strategies.settings import SAMPLING
from app.tui.actions.base import AppBase
from app.tui.screens.advice import AdviceRequest, AdviceScreen
from app.tui.state.lane_state import LaneState
from app.tui.state.sliders import list_settings
from decoding.params import Params, flat


class Advisor:
    """Measures which strategy and settings are fastest, and gives them to a lane."""

    def __init__(self, app: AppBase) -> None:
        self.app = app
        self.advice: Mapping[str, Any] | None = None  # the last one on these models
        self._measured_on: object = None  # the `_settings` that it was measured with

    def handle_event(self, event: Event) -> None:
        if isinstance(event, Loaded):
            self.advice = None
        elif isinstance(event, Advice):
            if event.document:
                self.advice, self._measured_on = event.document, self._settings
            for screen in self.app.screen_stack:  # help may be above it
                if isinstance(screen, AdviceScreen):
                    screen.show_progress(event)

    @property
    def _settings(self) -> object:
        """What advice depends on, and a user can change: the settings, the lanes that are on, and
        the conversation. How a lane drafts is what it advises."""
        state = self.app.state
        lanes = tuple(
            (lane.info.spec.strategy, lane.info.checkpoint, lane.tree,
             tuple((n, v) for n, v in lane.info.overrides.items() if n in SAMPLING))
            for lane in state.lanes.values() if lane.enabled
        )  # fmt: skip
        return state.params, lanes, state.turns, state.started and state.started.run

    @property
    def _present_advice(self) -> Mapping[str, Any] | None:
        """The last advice, unless it is outdated."""
        return self.advice if self._measured_on == self._settings else None

    def advise(self) -> None:
        """Show the present advice, or measure."""
        state = self.app.state
        if why := state.not_ready or state.busy:
            self.app.show_notice(why)
        else:
            prompts = tuple(request.turns[0] for request in examples())
            temperature = state.params.sampling.temperature
            known = self._present_advice
            request = AdviceRequest(state.turns, prompts, temperature, known)
            screen = AdviceScreen(self.app.engine, request)
            self.app.push_screen(screen, partial(self._use_advice, screen))

    def _use_advice(self, screen: AdviceScreen, best: Mapping[str, Any] | None) -> None:
        """Give the settings to the lane in focus if it has that strategy and checkpoint, else to
        the first one that has them."""
        if best is None:
            if self._present_advice is None:
                what = "Measurement failed" if screen.failed else "Measurement stopped"
                self.app.show_notice(f"{what}; {self.app.state.keys['app.advise']} starts it again")
            return
        lane = self._lane_of(best["strategy"], best["checkpoint"])
        if lane is None:
            self.app.show_notice(
                f"There is no lane of {STRATEGIES[best['strategy']].title} any more"
            )
            return
        best_overrides: dict[str, Any] = best["overrides"]
        overrides = {name: it for name, it in best_overrides.items() if name != "temperature"}
        kept = {name: value for name, value in lane.info.overrides.items() if name in SAMPLING}
        drafting = self._of_drafting(lane) | overrides
        own = list_settings(drafting) or "its usual settings"
        label, key = self.app.state.label(lane.info.name), self.app.state.keys["run.undo"]
        if kept | overrides == lane.info.overrides:
            self.app.show_notice(f"{label} has these settings already: {own}")
            return
        self.app.change_overrides(lane.info.name, kept | overrides)
        self.app.show_notice(f"{label}: {own} ({key} takes it back)")

    def _of_drafting(self, lane: LaneState) -> dict[str, Any]:
        """What the sliders say for all lanes of how this one drafts, where that is not the usual:
        it was measured so."""
        run, usual = flat(self.app.state.params), flat(Params())
        names = [name for name in lane.strategy.settings if name not in SAMPLING]
        return {name: run[name] for name in names if run[name] != usual[name]}

    def _lane_of(self, strategy: str, checkpoint: str | None) -> LaneState | None:
        here = [self.app.lane_here] if self.app.lane_here else []
        for lane in (*here, *self.app.state.lanes.values()):
            if (lane.info.strategy, lane.info.checkpoint) == (strategy, checkpoint):
                return lane
        return None
