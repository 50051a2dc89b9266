"""Actions that change the lanes: add, remove, override settings, load other models."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from textual import on

from app.config.families import PUBLIC_FAMILIES
from app.config.model_options import ModelOptions
from app.config.overrides import parse_strategies
from app.engine.commands import AddLane, RemoveLane
from app.models.library import title_of
from app.models.public_families import fetch
from app.strategies.lane_spec import LaneSpec
from app.strategies.registry import DEFAULT_STRATEGIES, STRATEGIES
from app.strategies.strategy import DEFAULT_TREE
from app.tui.actions.base import AppBase
from app.tui.background import run_in_background
from app.tui.screens.models import Fetch, ModelsScreen
from app.tui.state.lane_state import LaneState
from app.tui.state.sliders import SLIDERS, describe_overrides, why_idle
from app.tui.widgets.sliders_panel import SlidersPanel
from decoding.errors import InputError
from decoding.params import flat

MAX_LANES = 6  # more would be too small to read


class LaneActions(AppBase):
    """Sends commands; the screen changes with the engine's events."""

    def action_duplicate(self) -> None:
        """Duplicate the lane in focus, right after it."""
        if lane := self.lane_here:
            remote = lane.strategy.remote  # its name says which server it is
            name = lane.info.name if remote else lane.info.spec.stem
            spec = replace(lane.info.spec, name=name, tree=lane.tree)
            self._add_lane(spec, lane)

    def action_add_lane(self, strategy: str) -> None:
        """Add a lane of any strategy after all others."""
        self._add_lane(LaneSpec(strategy, strategy), None)

    def _add_lane(self, spec: LaneSpec, after: LaneState | None) -> None:
        state = self.state
        if why := state.not_ready:
            state.show_notice(why)
        elif len(state.lanes) >= MAX_LANES:
            key = state.keys["lane.remove"]
            state.show_notice(f"{MAX_LANES} lanes is the maximum: {key} removes one")
        elif spec.endpoint is None and state.servers_only:
            state.show_notice(f"No model is loaded here: {state.keys['app.models']} loads one")
        else:
            self.engine.send(AddLane(spec, after.info.name if after else None))
            later = "; it joins the next run" if state.running else ""
            title = after.info.title if after else STRATEGIES[spec.strategy].title
            state.show_notice(f"New lane: {title}{later}")
        self.main.show_state()

    def action_remove(self) -> None:
        state, lane = self.state, self.lane_here
        if lane is None or not state.loaded:
            return
        if state.gone or len(state.lanes) == 1:
            state.show_notice(state.why_gone or "The last lane can't be removed")
        else:
            undo, label = state.keys["run.undo"], state.label(lane.info.name)
            later = " after the run" if state.running else ""  # during it lanes stay
            state.show_notice(f"{label} is removed; {undo} brings it back{later}")
            self.engine.send(RemoveLane(lane.info.name))
        self.main.show_state()

    def action_pin(self) -> None:
        """Make the present settings the lane's overrides; remove its overrides if it has any."""
        state, lane = self.state, self.lane_here
        if lane is None or not state.loaded:
            return
        label, key = state.label(lane.info.name), state.keys["lane.pin"]
        if lane.info.overrides:
            gone = describe_overrides(lane, state.params)
            without = f", without its own {gone}" if gone else ""
            state.show_notice(f"{label} follows the sliders again{without}")
            overrides = {}
        else:
            state.show_notice(f"{label} keeps its settings (sliders with *) until {key}")
            values = flat(lane.effective_params(state.params))
            overrides = {name: values[name] for name in lane.strategy.settings}
        self.change_overrides(lane.info.name, overrides)

    @on(SlidersPanel.Changed)
    def change_setting(self, event: SlidersPanel.Changed) -> None:
        """Change the run's setting, or the override of a lane; say so if that changes nothing."""
        if event.lane is not None and event.lane not in self.state.lanes:
            return  # it has been removed since
        self.state.clear_notice()
        if event.lane is None:
            self.change_params(event.values)
        else:
            overrides = self.state.lanes[event.lane].info.overrides
            self.change_overrides(event.lane, {**overrides, **event.values})
        overriding = None if event.lane is None else self.state.lanes[event.lane]
        for spec in SLIDERS:
            if spec.name in event.values and (why := why_idle(spec, self.state, overriding)):
                self.show_notice(f"{spec.label} has no effect now: {why}")

    def action_models(self) -> None:
        """Choose other models. The lanes stay; those without a drafter become unavailable."""
        if self.library is not None:
            source = self.state.loaded.source if self.state.loaded else ""
            self.push_screen(ModelsScreen(self.library, source), self._open_models)

    def _open_models(self, options: ModelOptions | Fetch | None) -> None:
        state = self.state
        if options is None:
            return
        if isinstance(options, Fetch):
            self._fetch(options.name)
        elif state.busy:
            state.show_notice(state.busy)
        else:
            # without chosen trees and own checkpoints, which belong to the present models
            specs = tuple(
                replace(lane.info.spec, tree=DEFAULT_TREE, checkpoint=None)
                for lane in state.lanes.values()
            )
            if state.servers_only:
                specs = (*parse_strategies(DEFAULT_STRATEGIES), *specs)
            self.open_models(options, specs)
            name = title_of(str(options.target))
            key = state.keys["run.undo"]
            state.show_notice(f"New conversation with {name} ({key} goes back)", 3.0)
        self.main.show_state()

    def _fetch(self, name: str) -> None:
        """Download a public family in the background."""
        state = self.state
        if state.download:
            state.show_notice("One download at a time")
            return

        def show(line: str) -> None:
            if state.download:
                state.download = line
                self.main.show_state()

        def progress(what: str, part: float | None) -> None:
            self.call_later(show, what)  # from another thread

        async def work() -> None:
            try:
                await run_in_background(partial(fetch, PUBLIC_FAMILIES[name], progress))
            except InputError as error:
                state.show_notice(f"{name}: {error}", None)
            else:
                load = state.keys["app.models"]
                state.show_notice(f"{name} is downloaded: {load} loads it", None)
            state.download = ""
            self.main.show_state()

        state.download = f"Asking the hub for {name}"
        self.run_worker(work())
