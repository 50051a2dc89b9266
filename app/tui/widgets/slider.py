"""A slider of one row, moved by keys or with the mouse."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from textual import events
from textual.binding import Binding
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from app.tui.keys.key_names import first_key
from app.tui.state.scale import Scale, Value

LABEL_CELLS = 8
VALUE_CELLS = 5
TYPED_CELLS = 7  # at most


class Slider(Widget, can_focus=True):
    """Posts `Changed` when the user moves it; setting `value` from code does not."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES = {"slider--label", "slider--filled", "slider--empty", "slider--value"}
    BINDINGS = [
        Binding("left,down", "step(-1)", "Less", False, id="slider.less", tooltip="One step down"),
        Binding("right,up", "step(1)", "More", False, id="slider.more", tooltip="One step up"),
        Binding(
            "shift+left", "step(-10)", "Much less", False, id="slider.much_less",
            tooltip="Ten steps down",
        ),
        Binding(
            "shift+right", "step(10)", "Much more", False, id="slider.much_more",
            tooltip="Ten steps up",
        ),
        Binding("home", "edge(False)", "Least", False, id="slider.least", tooltip="Left end"),
        Binding("end", "edge(True)", "Most", False, id="slider.most", tooltip="Right end"),
        Binding(
            "backspace,delete", "reset", "Default", False, id="slider.default",
            tooltip="Back to the default",
        ),
        Binding(
            "enter", "take", "Set", False, id="slider.set",
            tooltip="Set the typed number; so does leaving the slider",
        ),
        Binding("escape", "drop", "Drop", False, id="slider.drop",
                tooltip="Discard the typed number"),
    ]  # fmt: skip

    @dataclass
    class Changed(Message):
        slider: Slider
        value: Value
        lane: str | None  # whose override it is; None: the setting of the run
        step: bool  # one of several that are one change: of a key, a drag or the wheel

    class Typing(Message):
        """The user types a number, or ends typing it."""

    @dataclass
    class Refused(Message):
        """What was typed is not taken: `why`."""

        why: str

    def __init__(
        self,
        label: str,
        scale: Scale,
        value: Value,
        default: Value,
        *,
        dom_id: str,
        write: Callable[[str], bool],
    ) -> None:
        """`write` takes what is typed and no number, and returns whether it did."""
        super().__init__(id=dom_id)
        self._write = write
        self.label = label
        self.scale = scale
        self.value = value
        self.default = default
        self.lane: str | None = None  # whose override is shown
        self.typed: str | None = None  # a number that is being typed
        self._refused = False  # it is not on the scale; the next digit begins another one
        self._tip = ""
        self._used = False  # by the mouse, which has not left it yet

    def show(self, value: Value) -> None:
        if value != self.value:
            self.value = value
            self.refresh()

    # A number that is typed

    def on_blur(self, event: events.Blur) -> None:
        """Leaving takes the number, as in any form, but not when another window is looked at."""
        if self.app.app_focus:
            self._leave()

    def _type(self, text: str | None) -> None:
        if text != self.typed:
            self.post_message(self.Typing())
        self.typed, self._refused = text, False
        self.refresh()

    def on_key(self, event: events.Key) -> None:
        if self.consume(event):
            event.stop()
            event.prevent_default()

    def consume(self, event: events.Key) -> bool:
        """Return whether the key is a part of a number. A digit or a minus sign starts one; a comma
        is a decimal point. It is written with the letter after it where text is, as are keys after
        that letter in a burst."""
        typed = self.typed or ""
        bare, number = self.typed is None, "" if self._refused else typed
        here = self.screen.focused is self  # `has_focus` follows later
        char = event.character if event.is_printable else None
        fits = char and char in ("0123456789.," if number else "0123456789.,-")
        if fits and here and len(number) < TYPED_CELLS:
            self._type(f"{number}{char}")
        elif char and not (bare and here) and self._write(f"{number}{char}"):
            self._type(None)
        elif bare:
            return False
        elif event.key in ("backspace", "delete"):
            self._type(typed[:-1] if event.key == "backspace" else "")
        elif char:
            why = "too long" if fits else f"“{char}” is not a digit"
            self.post_message(self.Refused(f"{why}: {self.hint}"))
        else:
            return False
        return True

    @property
    def hint(self) -> str:
        """How a number that is typed ends."""
        return f"{first_key(self, 'take')} sets the number, {first_key(self, 'drop')} cancels"

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return self.typed is not None or action not in ("take", "drop")

    def _parse(self, typed: str | None) -> Value:
        return self.scale.parse(typed.replace(",", ".")) if typed else self.value

    def action_take(self) -> None:
        """Set the typed number; one that the scale does not have stays, to be corrected or typed
        over."""
        try:
            value = self._parse(self.typed)
        except ValueError as error:
            self._refused = True
            self.post_message(self.Refused(f"{self.label} {error}"))
        else:
            self._type(None)
            self._choose(value)

    def action_drop(self) -> None:
        self._type(None)

    def _leave(self) -> None:
        """Set the typed number, if the scale has it."""
        typed = self.typed
        self._type(None)
        try:
            self._choose(self._parse(typed))
        except ValueError as error:
            stays = f"{self.scale.text(self.value)} stays"
            self.post_message(self.Refused(f"{self.label} {error}: {stays}"))

    def set_scale(self, scale: Scale) -> None:
        if scale != self.scale:
            self.scale = scale
            self.refresh()

    def set_lane(self, lane: str | None) -> None:
        """Mark the slider as showing the override of a lane, or none."""
        if lane != self.lane:
            self.lane = lane
            self.refresh()

    def set_idle(self, idle: bool, why: str) -> None:
        """Dim a slider that has no effect at the moment; the tooltip says why."""
        self.set_class(idle, "-idle")
        self._tip = why
        self._show_tip()

    def _show_tip(self) -> None:
        """Not while the mouse uses the slider: the tip would cover the sliders beside it."""
        self.tooltip = None if self._used else self._tip

    def _use(self, used: bool) -> None:
        self._used = used
        self._show_tip()

    def on_leave(self) -> None:
        self._use(False)

    def _choose(self, value: Value, *, step: bool = False) -> None:
        if value != self.value:
            self.show(value)
            self.post_message(self.Changed(self, value, self.lane, step))

    def action_step(self, steps: int) -> None:
        self._leave()
        self._choose(self.scale.beside(self.value, steps), step=True)

    def action_edge(self, right: bool) -> None:
        self._type(None)
        self._choose(self.scale.value(self.scale.last if right else 0))

    def action_reset(self) -> None:
        self._choose(self.default)

    # The mouse

    @property
    def _shown(self) -> str:
        return self.scale.text(self.value) if self.typed is None else f"{self.typed}▏"

    @property
    def _track_cells(self) -> int:
        value = max(VALUE_CELLS, len(self._shown))
        return max(2, self.size.width - LABEL_CELLS - value - 2)

    def _cell_at(self, event: events.MouseEvent) -> int:
        """The cell of the track under the mouse; beside the track it is outside its range."""
        return event.get_content_offset_capture(self).x - LABEL_CELLS - 1

    def _position_at(self, event: events.MouseEvent) -> int:
        return round(self._cell_at(event) / (self._track_cells - 1) * self.scale.last)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """On the track, move the slider; on the number, start typing; on the label, only focus."""
        self._use(True)
        cell = self._cell_at(event)
        if cell >= self._track_cells:
            self._type("")
        elif cell >= 0:
            self._type(None)
            self.capture_mouse()
            self._choose(self.scale.value(self._position_at(event)))

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self.app.mouse_captured is self:
            self._choose(self.scale.value(self._position_at(event)), step=True)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        self.release_mouse()

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self._use(True)
        self.action_step(1)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self._use(True)
        self.action_step(-1)

    def render(self) -> Content:
        cells = self._track_cells
        knob = round(self.scale.position(self.value) / self.scale.last * (cells - 1))
        style = self.get_visual_style
        return Content.assemble(
            (f"{self.label:<{LABEL_CELLS}}{'*' if self.lane else ' '}", style("slider--label")),
            ("━" * knob + "●", style("slider--filled")),
            ("─" * (cells - 1 - knob), style("slider--empty")),
            (f" {self._shown:>{VALUE_CELLS}}", style("slider--value")),
        )
