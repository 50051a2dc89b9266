"""Advice on which strategy and settings to use, measured on the loaded models."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from app.models.assets import examples
from app.strategies.registry import STRATEGIES
from app.strategies.settings import SAMPLING
from app.tui.actions.base import AppBase
from app.tui.screens.advice import AdviceRequest, AdviceScreen
from app.tui.state.lane_state import LaneState
from app.tui.state.sliders import list_settings
from decoding.params import Params, flat


class AdviceActions(AppBase):
    def action_advise(self) -> None:
        state = self.state
        if why := state.not_ready or state.busy:
            self.show_notice(why)
        else:
            prompts = tuple(request.turns[0] for request in examples())
            temperature = state.params.sampling.temperature
            known = self.present_advice
            request = AdviceRequest(state.turns, prompts, temperature, known)
            screen = AdviceScreen(self.engine, request)
            self.push_screen(screen, partial(self._use_advice, screen))

    def _use_advice(self, screen: AdviceScreen, best: Mapping[str, Any] | None) -> None:
        """Give the settings to the lane in focus if it has that strategy and checkpoint, else to
        the first one that has them."""
        if best is None:
            if self.present_advice is None:
                what = "Measurement failed" if screen.failed else "Measurement stopped"
                self.show_notice(f"{what}; {self.state.keys['app.advise']} starts it again")
            return
        lane = self._lane_of(best["strategy"], best["checkpoint"])
        if lane is None:
            self.show_notice(f"There is no lane of {STRATEGIES[best['strategy']].title} any more")
            return
        best_overrides: dict[str, Any] = best["overrides"]
        overrides = {name: it for name, it in best_overrides.items() if name != "temperature"}
        kept = {name: value for name, value in lane.info.overrides.items() if name in SAMPLING}
        drafting = self._of_drafting(lane) | overrides
        own = list_settings(drafting) or "its usual settings"
        label, key = self.state.label(lane.info.name), self.state.keys["run.undo"]
        if kept | overrides == lane.info.overrides:
            self.show_notice(f"{label} has these settings already: {own}")
            return
        self.change_overrides(lane.info.name, kept | overrides)
        self.show_notice(f"{label}: {own} ({key} takes it back)")

    def _of_drafting(self, lane: LaneState) -> dict[str, Any]:
        """What the sliders say for all lanes of how this one drafts, where that is not the usual:
        it was measured so."""
        run, usual = flat(self.state.params), flat(Params())
        names = [name for name in lane.strategy.settings if name not in SAMPLING]
        return {name: run[name] for name in names if run[name] != usual[name]}

    def _lane_of(self, strategy: str, checkpoint: str | None) -> LaneState | None:
        here = [self.lane_here] if self.lane_here else []
        for lane in (*here, *self.state.lanes.values()):
            if (lane.info.strategy, lane.info.checkpoint) == (strategy, checkpoint):
                return lane
        return None
