"""A slider of one row, for whole and for broken numbers, for keys and for the mouse."""

from __future__ import annotations

from dataclasses import dataclass

from textual import events
from textual.binding import Binding
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

LABEL_CELLS = 6
VALUE_CELLS = 5


@dataclass(frozen=True, slots=True)
class Scale:
    """The values of a slider: from `low` to `high` in steps, and before them one place more for
    None when `unset` gives it a name."""

    low: float
    high: float
    step: float
    default: float | None
    decimals: int = 0
    unset: str | None = None

    @property
    def last(self) -> int:
        return round((self.high - self.low) / self.step) + (self.unset is not None)

    def value(self, position: int) -> float | None:
        position = min(max(position, 0), self.last)
        if self.unset is not None:
            if position == 0:
                return None
            position -= 1
        return round(self.low + position * self.step, 6)

    def position(self, value: float | None) -> int:
        """The nearest place: a value from the command line may lie between two steps."""
        if value is None:
            return 0
        steps = round((value - self.low) / self.step) + (self.unset is not None)
        return min(max(steps, 0), self.last)

    def text(self, value: float | None) -> str:
        return str(self.unset) if value is None else f"{value:.{self.decimals}f}"


class Slider(Widget, can_focus=True):
    """Posts `Changed` when the user moves it; setting `value` from code does not."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES = {"slider--label", "slider--filled", "slider--empty", "slider--value"}
    BINDINGS = [
        Binding("left", "step(-1)", "Less", False, id="slider.less", tooltip="One step down"),
        Binding("right", "step(1)", "More", False, id="slider.more", tooltip="One step up"),
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
            "backspace", "reset", "Default", False, id="slider.default",
            tooltip="Back to the default",
        ),
    ]  # fmt: skip

    @dataclass
    class Changed(Message):
        slider: Slider
        value: float | None

    def __init__(self, label: str, scale: Scale, value: float | None, *, dom_id: str) -> None:
        super().__init__(id=dom_id)
        self.label = label
        self.scale = scale
        self.value = value

    def show(self, value: float | None) -> None:
        self.value = value
        self.refresh()

    def set_idle(self, idle: bool, why: str) -> None:
        """Dimmed: it acts on nothing at the moment, and the tooltip says why."""
        self.set_class(idle, "-idle")
        self.tooltip = why

    def _choose(self, position: int) -> None:
        value = self.scale.value(position)
        if value != self.value:
            self.show(value)
            self.post_message(self.Changed(self, value))

    def action_step(self, steps: int) -> None:
        self._choose(self.scale.position(self.value) + steps)

    def action_edge(self, right: bool) -> None:
        self._choose(self.scale.last if right else 0)

    def action_reset(self) -> None:
        self._choose(self.scale.position(self.scale.default))

    # The mouse

    @property
    def _track_cells(self) -> int:
        return max(2, self.size.width - LABEL_CELLS - VALUE_CELLS - 2)

    def _position_at(self, event: events.MouseEvent) -> int:
        x = event.get_content_offset_capture(self).x - LABEL_CELLS - 1
        return round(x / (self._track_cells - 1) * self.scale.last)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        self.capture_mouse()
        self._choose(self._position_at(event))

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self.app.mouse_captured is self:
            self._choose(self._position_at(event))

    def on_mouse_up(self, event: events.MouseUp) -> None:
        self.release_mouse()

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.action_step(1)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.action_step(-1)

    def render(self) -> Content:
        cells = self._track_cells
        knob = round(self.scale.position(self.value) / self.scale.last * (cells - 1))
        style = self.get_visual_style
        return Content.assemble(
            (f"{self.label:<{LABEL_CELLS}} ", style("slider--label")),
            ("━" * knob + "●", style("slider--filled")),
            ("─" * (cells - 1 - knob), style("slider--empty")),
            (f" {self.scale.text(self.value):>{VALUE_CELLS}}", style("slider--value")),
        )
