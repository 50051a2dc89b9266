"""The sliders: the run's settings, or those of the lane in focus."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from textual import on
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.message import Message

from app.tui.state.app_state import AppState
from app.tui.state.scale import Scale
from app.tui.state.sliders import SLIDERS, is_shown, most_shown, token_stops, why_idle
from app.tui.widgets.slider import Slider
from app.tui.widgets.vertical_space import ConsumesKey
from decoding.params import Params, flat


class SlidersPanel(VerticalScroll, can_focus=False):
    """Scrolls if there are more sliders than fit; the focused one is kept in view. It has as many
    rows as the lane with most sliders needs, so that the layout does not change between lanes."""

    @dataclass
    class Changed(Message):
        """The user moved a slider. `lane`: the one whose override it shows; None: the run's
        setting. `step`: one of several that are one change."""

        values: Mapping[str, Any]
        lane: str | None
        step: bool

    def __init__(self, *, dom_id: str, consumes: ConsumesKey, write: Callable[[str], bool]) -> None:
        super().__init__(id=dom_id)
        self._consumes, self._write = consumes, write
        self._most = 0  # sliders that a lane shows

    def check_consume_key(self, key: str, character: str | None = None) -> bool:
        return self._consumes(key, character)

    def compose(self) -> ComposeResult:
        defaults = flat(Params())
        for spec in SLIDERS:
            default = defaults[spec.name]
            yield Slider(
                spec.label, spec.scale, default, default, dom_id=spec.name, write=self._write
            )

    def on_resize(self) -> None:
        """Keep the slider in focus in view."""
        self._keep_rows()  # there may be more columns now
        if (slider := self.screen.focused) in self.children:
            self.call_after_refresh(self.scroll_to_widget, slider, animate=False)

    def _keep_rows(self) -> None:
        self.styles.min_height = -(-self._most // max(self.styles.grid_size_columns, 1))

    def slider(self, name: str) -> Slider:
        return self.query_one(f"#{name}", Slider)

    def show(self, state: AppState, name: str) -> None:
        """Show the run's settings, or the lane's overrides."""
        self._most = most_shown(state)
        self._keep_rows()
        lane = state.lanes.get(name)
        values = flat(lane.effective_params(state.params) if lane else state.params)
        if state.loaded:
            stops = token_stops(state.loaded.context)
            self.slider("max_new_tokens").set_scale(Scale(stops))
        for spec in SLIDERS:
            slider = self.slider(spec.name)
            slider.display = is_shown(spec, state, lane)
            overriding = lane if lane and spec.name in lane.info.overrides else None
            slider.set_lane(overriding.info.name if overriding else None)
            slider.show(values[spec.name])
            why = why_idle(spec, state, overriding)
            whose = f"\n\n* {state.label(name)}'s own value" if overriding else ""
            effect = f"\n\nNo effect now: {why}" if why else ""
            slider.set_idle(why is not None, f"{spec.what}{whose}{effect}")

    @on(Slider.Changed)
    def change(self, event: Slider.Changed) -> None:
        event.stop()
        self.post_message(self.Changed({str(event.slider.id): event.value}, event.lane, event.step))
