"""The sliders and the rule of acceptance, and the parameters that they stand for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from textual import on
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.message import Message

from app.tui.state.app_state import AppState
from app.tui.state.lane_state import LaneState
from app.tui.state.scale import Scale
from app.tui.state.sliders import SLIDERS, shown, token_stops, why_idle
from app.tui.widgets.slider import Slider
from decoding.params import Params, flat, with_settings


class SlidersPanel(VerticalScroll, can_focus=False):
    """As many sliders as there is room for; the others come into view with the focus."""

    @dataclass
    class Changed(Message):
        params: Params

    @dataclass
    class OverridesChanged(Message):
        """A slider that stood for a lane's own value was moved: all of its own values."""

        lane: str
        overrides: Mapping[str, Any]

    def __init__(self, params: Params, *, dom_id: str) -> None:
        super().__init__(id=dom_id)
        self.params = params
        self._lane: LaneState | None = None  # the one in focus: what it pins is its own here

    def compose(self) -> ComposeResult:
        values, defaults = flat(self.params), flat(Params())
        for knob in SLIDERS:
            name = knob.name
            yield Slider(knob.label, knob.scale, values[name], defaults[name], dom_id=name)

    def on_resize(self) -> None:
        """What is in focus stays in view."""
        if (slider := self.screen.focused) in self.children:
            self.call_after_refresh(self.scroll_to_widget, slider, animate=False)

    def slider(self, name: str) -> Slider:
        return self.query_one(f"#{name}", Slider)

    def show(self, state: AppState, name: str) -> None:
        """The run's settings, but the own ones of the lane `name` where it has any."""
        self._lane = lane = state.lanes.get(name)
        values = flat(lane.own(self.params) if lane else self.params)
        if state.loaded:
            stops = token_stops(state.loaded.context)
            self.slider("max_new_tokens").set_scale(Scale(stops))
        for knob in SLIDERS:
            slider = self.slider(knob.name)
            slider.display = shown(knob, state, lane)
            own = lane is not None and knob.name in lane.info.overrides
            slider.set_own(own)
            slider.show(values[knob.name])
            why = why_idle(knob, state, lane if own else None)
            whose = f"\n\n* {state.label(name)}'s own value" if own else ""
            effect = f"\n\nNo effect now: {why}" if why else ""
            slider.set_idle(why is not None, f"{knob.what}{whose}{effect}")

    def take(self, params: Params) -> None:
        """Show other settings; nobody is told."""
        self.params = params
        for name, value in flat(params).items():
            for slider in self.query(f"#{name}").results(Slider):
                slider.show(value)

    def choose(self, values: Mapping[str, Any]) -> None:
        """Other values for some settings, as if the user had moved the sliders."""
        self.take(with_settings(self.params, values))
        self.post_message(self.Changed(self.params))

    @on(Slider.Changed)
    def change(self, event: Slider.Changed) -> None:
        event.stop()
        moved = {str(event.slider.id): event.value}
        if self._lane and moved.keys() <= self._lane.info.overrides.keys():
            self._lane.set_overrides({**self._lane.info.overrides, **moved})
            self.post_message(
                self.OverridesChanged(self._lane.info.name, self._lane.info.overrides)
            )
        else:
            self.params = with_settings(self.params, moved)
            self.post_message(self.Changed(self.params))
