"""Measures which strategy and settings are fastest on this machine, and shows the advice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.widgets import Input, Static

from app.config.overrides import parse_values
from app.engine.commands import EndAdvice, StartAdvice, StopAdvice
from app.engine.events import Advice
from app.engine.protocol import Engine
from app.report.advice_text import format_advice
from app.report.speedup_estimate import TEMPERATURES
from app.text.plural import pluralize
from app.tui.format.advice import advice_lines, snippets
from app.tui.format.status import labelled_progress
from app.tui.keys.key_names import first_key
from app.tui.screens.dialog import Dialog
from app.tui.widgets.keyed_box import KeyedScroll
from decoding.errors import InputError

SECONDS = 60.0  # for each temperature
TITLE = "What is fastest here?"
MORE = 3  # times as long
SNIPPETS = 9  # that have a key


@dataclass(frozen=True, slots=True)
class AdviceRequest:
    """Measure on the `conversation` (its number of turns), or on the `examples` if there is none,
    at the present `temperature`. `known`: the last document, if it still holds."""

    conversation: int
    examples: tuple[str, ...]
    temperature: float
    known: Mapping[str, Any] | None = None


class AdviceScreen(Dialog[Mapping[str, Any] | None]):
    """Returns a row of the document's `best`, to apply its settings. The key that leaves first ends
    the measurement, once there is something to show, with what was measured until then."""

    BINDINGS = [
        Binding("escape,f7", "leave", "Close", id="advice.close",
                tooltip="End the measurement with what was measured so far; else back to the "
                "lanes"),
        Binding("enter", "apply", "Use it", id="advice.apply",
                tooltip="Give the best settings to the lane of that strategy"),
        Binding("y", "copy", "Copy all", id="advice.copy", tooltip="Copy everything as text"),
        Binding("n", "more", "More", id="advice.more",
                tooltip=f"Measure again, {MORE} times as long"),
        Binding("t", "temperatures", "Temperatures", id="advice.temperatures",
                tooltip="Measure at other temperatures, one or several"),
        *(
            Binding(str(number), f"copy({number})", f"Copy {number}", id=f"advice.copy{number}",
                    tooltip=f"Copy the configuration number {number}")
            for number in range(1, SNIPPETS + 1)
        ),
    ]  # fmt: skip

    def __init__(self, engine: Engine, request: AdviceRequest) -> None:
        super().__init__()
        self._engine, self._request = engine, request
        self._seconds = SECONDS
        self._now = Advice(document=request.known)
        self._said = ""
        self._ending = False  # the result is asked for before its time
        best = request.known["best"] if request.known else []
        known = tuple(row["temperature"] for row in best)
        self._chosen = known if known != (request.temperature,) else ()  # temperatures

    def compose(self) -> ComposeResult:
        request = self._request
        with KeyedScroll(id="advice") as box:
            box.border_title = TITLE
            yield Input(compact=True, placeholder=f"{request.temperature:g}, the current one")
            yield Static(id="advice-progress", markup=False)
            yield Static(id="advice-found", markup=False)

    def on_mount(self) -> None:
        self._close_field()
        if self._now.document is None:
            self._ask()
        self.call_after_refresh(self._show)

    def on_resize(self, event: events.Resize) -> None:
        self.call_after_refresh(self._show)

    def show_progress(self, advice: Advice) -> None:
        self._now = advice
        self._show()

    @property
    def failed(self) -> bool:
        """Whether the measurement has ended without a result."""
        return self._now.note is not None

    @property
    def _field(self) -> Input:
        return self.query_one(Input)

    def action_temperatures(self) -> None:
        usual = self._chosen or TEMPERATURES
        self._field.value = listed(usual, ", ")
        self._field.display = True
        self._field.focus()
        self._said = "Temperatures: Enter measures at these"
        self._show()

    @on(Input.Submitted)
    def measure_at(self, event: Input.Submitted) -> None:
        text = event.value.strip()
        try:
            self._chosen = parse_values("temperature", text) if text else ()
        except InputError as error:
            self._said = str(error)
        else:
            self._close_field()
            self._ask()
        self._show()

    def _close_field(self) -> None:
        self._field.display = False
        self.query_one("#advice").focus()

    def action_leave(self) -> None:
        if self._field.display:
            self._close_field()
            self._said = ""
            self._show()
            return
        if self.expects_events and self._now.ready and not self._ending:
            self._ending = True
            self._engine.send(EndAdvice())
            self._show()
            return
        self._engine.send(StopAdvice())
        self.dismiss(None)

    @property
    def expects_events(self) -> bool:
        return self._now.document is None and self._now.note is None

    def action_more(self) -> None:
        if not self.expects_events:
            self._seconds *= MORE
            self._ask()
            self._show()

    def action_apply(self) -> None:
        if best := self._best:
            self.dismiss(best)

    @property
    def _best(self) -> Mapping[str, Any] | None:
        """The row of the temperature nearest to the present one; None if no strategy is faster than
        the target alone there."""
        rows = self._now.document["best"] if self._now.document else []
        present = self._request.temperature
        best = min(rows, key=lambda row: abs(row["temperature"] - present), default=None)
        return best if best and best["name"] is not None else None

    def action_copy(self, number: int | None = None) -> None:
        document = self._now.document
        if document is None:
            return
        found = snippets(document)
        if number is None:
            self._copy("everything", format_advice(dict(document)))
        elif number <= len(found):
            self._copy(*found[number - 1])

    def _copy(self, what: str, text: str) -> None:
        self.app.copy_to_clipboard(text)
        self._said = f"Copied: {what}"
        self._show()

    def _ask(self) -> None:
        self._now, self._said, self._ending = Advice(), "", False
        self._engine.send(StartAdvice(self._budget, self._request.examples, self._chosen))

    @property
    def _budget(self) -> float:
        """The seconds that all temperatures take."""
        return self._seconds * max(len(self._chosen), 1)

    def _show(self) -> None:
        now, box = self._now, self.query_one(KeyedScroll)
        width = self.query_one("#advice-found").container_size.width
        status: list[Content] = []
        if now.note is not None:
            status = [Content.styled(f"No result: {now.note}", "$warning")]
        elif now.document is None:
            done = labelled_progress(now.part or 0.0)
            steps = "ending with what was measured" if self._ending else now.what
            what = " · ".join(filter(None, (self._time_left, steps)))
            status = [Content(self._about), Content.styled(f"{done}  {what}", "$primary")]
        self.query_one("#advice-progress", Static).update(Content("\n").join(status))
        lines = advice_lines(now.document, width) if now.document else []
        self.query_one("#advice-found", Static).update(Content("\n").join(lines))
        early = bool(now.document and now.document["ended_early"])
        # the title is always visible
        box.border_title = Content(self._said or (f"{TITLE} (so far)" if early else TITLE))
        box.show_keys(self._hints)

    @property
    def _time_left(self) -> str:
        """Until about when it lasts; empty before the time counts."""
        part = self._now.part
        if part is None or self._ending:
            return ""
        if part >= 1.0:
            return "soon done"  # it may have taken less than its time
        left = round((1.0 - part) * self._budget)
        return f"about {left} s left" if left < 100 else f"about {round(left / 60)} minutes left"

    @property
    def _about(self) -> str:
        turns, examples = self._request.conversation, len(self._request.examples)
        prompts = (
            f"the {turns} prompts of this conversation" if turns > 1
            else "the prompt of this conversation" if turns
            else f"{examples} examples"
        )  # fmt: skip
        minutes = round(self._budget / 60)
        time = "a minute" if minutes == 1 else pluralize(minutes, "minute")
        chosen = self._chosen or (self._request.temperature,)
        at = "temperatures" if len(chosen) > 1 else "temperature"
        return (
            f"Each lane that is on answers {prompts} with several settings at {at} "
            f"{listed(chosen, ' and ')}, for about {time} …"
        )

    @property
    def _hints(self) -> list[str]:
        document, hints = self._now.document, list[str]()
        if self._best:
            hints.append(f"{first_key(self, 'apply')} uses it")
        if document is not None:
            count = min(len(snippets(document)), SNIPPETS)
            last = f"-{first_key(self, f'copy({count})')}" if count > 1 else ""
            numbers = [f"{first_key(self, 'copy(1)')}{last}"] if count else []
            hints.append(f"{' '.join([*numbers, first_key(self, 'copy')])} copy")
        leave = first_key(self, "leave")
        if self.expects_events and self._now.ready and not self._ending:
            hints.append(f"{leave} ends with what is known")
        else:
            hints.append(f"{leave} {'stops' if self.expects_events else 'closes'}")
        if not self.expects_events:
            hints.append(f"{first_key(self, 'more')} longer")
        hints.append(f"{first_key(self, 'temperatures')} temperatures")
        return hints


def listed(temperatures: Sequence[float], separator: str) -> str:
    return separator.join(f"{each:g}" for each in temperatures)
