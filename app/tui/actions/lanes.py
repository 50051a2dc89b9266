"""What changes the lanes themselves: another one, one less, settings of a lane's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from app.config.settings import MODEL_ROLES, ModelOptions
from app.engine.commands import AddLane, OpenModels, RemoveLane, SetOverrides
from app.models.library import title_of
from app.strategies.registry import STRATEGIES, LaneSpec, settings_of
from app.tui.screens.models import ModelsScreen
from app.tui.state.lane_state import LaneState
from app.tui.state.sliders import own_words
from decoding.params import flat, with_settings

if TYPE_CHECKING:
    from app.tui.app import SpecchatApp

MAX_LANES = 6  # more have no room to be read


class LaneActions:
    """Asks the engine; the screen changes when the engine says that it is done."""

    def __init__(self, app: SpecchatApp) -> None:
        self._app = app
        self._engine, self._state, self._main = app.engine, app.state, app.main

    @property
    def _here(self) -> LaneState | None:
        pane = self._main.pane_here
        return self._state.lanes[pane.name_of_lane] if pane else None

    def duplicate(self) -> None:
        """The lane in focus once more, right behind it."""
        if lane := self._here:
            strategy, overrides = lane.info.strategy, lane.info.overrides
            self._add(LaneSpec(strategy, strategy, overrides, lane.tree), lane)

    def add(self, strategy: str) -> None:
        """A lane of any strategy, behind all others."""
        self._add(LaneSpec(strategy, strategy), None)

    def _add(self, spec: LaneSpec, behind: LaneState | None) -> None:
        state = self._state
        if state.ended or not state.loaded:
            state.say(state.ended or "Still loading")
        elif len(state.lanes) >= MAX_LANES:
            key = state.keys["lane.remove"]
            state.say(f"There are {MAX_LANES} lanes, more have no room: {key} removes one")
        else:
            self._engine.send(AddLane(spec, behind.info.name if behind else None))
            later = "; it joins in the next run" if state.running else ""
            state.say(f"Another lane: {STRATEGIES[spec.strategy]}{later}")
        self._main.show_state()

    def remove(self) -> None:
        state, lane = self._state, self._here
        if lane is None or not state.loaded:
            return
        if state.ended or len(state.lanes) == 1:
            state.say(state.ended or "The last lane stays")
        else:
            state.say(f"{state.label(lane.info.name)} is gone")
            self._engine.send(RemoveLane(lane.info.name))
        self._main.show_state()

    def choose_models(self) -> None:
        """Other models; the lanes stay, as far as there is something to draft with."""
        library, loaded = self._app.library, self._state.loaded
        if library is not None:
            screen = ModelsScreen(library, loaded.place if loaded else "")
            self._app.push_screen(screen, self._open)

    def _open(self, options: ModelOptions | None) -> None:
        state = self._state
        if options is None:
            return
        if state.busy:
            state.say(state.busy)
        else:
            infos = [lane.info for lane in state.lanes.values()]
            specs = tuple(LaneSpec(info.strategy, info.name, info.overrides) for info in infos)
            self._engine.send(OpenModels(options, specs))
            self._app.begin_conversation({name: getattr(options, name) for name in MODEL_ROLES})
            state.begin_anew()
            name = title_of(str(options.target))
            state.say(f"The conversation begins anew with {name}", 3.0)
        self._main.show_state()

    def pin(self) -> None:
        """The present settings become the lane's own; if it has some, they are the run's again."""
        state, lane = self._state, self._here
        if lane is None or not state.loaded:
            return
        label, key = state.label(lane.info.name), state.keys["lane.pin"]
        if lane.info.overrides:
            gone = own_words(lane, state.params)
            without = f", without its own {gone}" if gone else ""
            state.say(f"{label} follows the sliders again{without}")
            self.set_overrides(lane, {})
        else:
            own = flat(lane.own(state.params))
            self.set_overrides(lane, {name: own[name] for name in settings_of(lane.info.strategy)})
            state.say(f"{label} keeps its settings (sliders with *) until {key}")
        self._main.show_state()

    def kept(self, values: Mapping[str, Any]) -> str:
        """What the lane in focus makes of it that the run's settings are these now: the end of a
        sentence, empty where it follows."""
        lane, params = self._here, with_settings(self._state.params, values)
        own = own_words(lane, params, values)
        return f"; {self._state.label(lane.info.name)} keeps its own {own}" if lane and own else ""

    def set_overrides(self, lane: LaneState, overrides: dict[str, Any]) -> None:
        lane.set_overrides(overrides)
        self._engine.send(SetOverrides(lane.info.name, overrides))
