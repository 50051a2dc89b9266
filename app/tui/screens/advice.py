"""Advice: which strategy and settings are fastest here, measured while one waits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from app.engine.commands import StartAdvice, StopAdvice
from app.engine.events import Advice
from app.engine.protocol import Engine
from app.report.advice_text import format_advice
from app.text.plural import pluralize
from app.tui.format.advice import advice_lines, snippets
from app.tui.format.labels import labelled_progress
from app.tui.keys.key_names import first_key

SECONDS = 60.0
TITLE = "What is fastest here?"
MORE = 3  # times as long
SNIPPETS = 9  # that have a key


@dataclass(frozen=True, slots=True)
class AdviceRequest:
    """What to measure on: the `conversation` so far, or where there is none these `examples`.
    `known`: what was found before, if it still holds."""

    conversation: int
    examples: tuple[str, ...]
    known: Mapping[str, Any] | None = None


class AdviceScreen(ModalScreen[Mapping[str, Any] | None]):
    """Returns the settings to use: a row of the document's `best`. Leaving the screen ends the
    measuring."""

    BINDINGS = [
        Binding("escape,f7", "leave", "Close", id="advice.close",
                tooltip="Back to the lanes; ends the measuring"),
        Binding("enter", "apply", "Use it", id="advice.apply",
                tooltip="Give the best settings to the lane of that strategy"),
        Binding("y", "copy", "Copy all", id="advice.copy", tooltip="Copy all of it as text"),
        Binding("n", "more", "More", id="advice.more",
                tooltip=f"Measure again, {MORE} times as long"),
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

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="advice") as box:
            box.border_title = TITLE
            yield Static(id="advice-progress", markup=False)
            yield Static(id="advice-found", markup=False)

    def on_mount(self) -> None:
        self.query_one("#advice").focus()
        if self._now.document is None:
            self._ask()
        self.call_after_refresh(self._show)

    def on_resize(self, event: events.Resize) -> None:
        self.call_after_refresh(self._show)

    def show_progress(self, advice: Advice) -> None:
        self._now = advice
        self._show()

    def action_leave(self) -> None:
        self._engine.send(StopAdvice())
        self.dismiss(None)

    def action_more(self) -> None:
        if self._now.document is not None or self._now.note is not None:
            self._seconds *= MORE
            self._ask()
            self._show()

    def action_apply(self) -> None:
        best = next(iter(self._now.document["best"]), None) if self._now.document else None
        if best is not None and best["name"] is not None:
            self.dismiss(best)

    def action_copy(self, number: int | None = None) -> None:
        document = self._now.document
        if document is None:
            return
        found = snippets(document)
        if number is None:
            self._copy("all of it", format_advice(dict(document)))
        elif number <= len(found):
            self._copy(*found[number - 1])

    def _copy(self, what: str, text: str) -> None:
        self.app.copy_to_clipboard(text)
        self._said = f"Copied: {what}"
        self._show()

    def _ask(self) -> None:
        self._now, self._said = Advice(), ""
        self._engine.send(StartAdvice(self._seconds, self._request.examples))

    def _show(self) -> None:
        now, box = self._now, self.query_one("#advice")
        width = self.query_one("#advice-found").container_size.width
        said: list[Content] = []
        if now.note is not None:
            said = [Content.styled(f"Nothing was found out: {now.note}", "$warning")]
        elif now.document is None:
            done = labelled_progress(now.part or 0.0)
            said = [Content(self._about), Content.styled(f"{done}  {now.what}", "$primary")]
        self.query_one("#advice-progress", Static).update(Content("\n").join(said))
        lines = advice_lines(now.document, width) if now.document else []
        self.query_one("#advice-found", Static).update(Content("\n").join(lines))
        box.border_title = Content(self._said or TITLE)  # which is not scrolled away
        box.border_subtitle = Content(" · ".join(self._hints))

    @property
    def _about(self) -> str:
        turns, examples = self._request.conversation, len(self._request.examples)
        prompts = (
            f"the {turns} prompts of this conversation" if turns > 1
            else "the prompt of this conversation" if turns
            else f"{examples} examples"
        )  # fmt: skip
        minutes = round(self._seconds / 60)
        time = "a minute" if minutes == 1 else pluralize(minutes, "minute")
        return f"Each lane that is on answers {prompts} with several settings, for about {time} …"

    @property
    def _hints(self) -> list[str]:
        def key_of(action: str) -> str:
            return first_key(self.app, self.BINDINGS, action)

        hints = [f"{key_of('leave')} closes"]
        document = self._now.document
        if document is not None or self._now.note is not None:
            hints.insert(0, f"{key_of('more')} measures longer")
        if document is not None:
            count = min(len(snippets(document)), SNIPPETS)
            last = f"-{key_of(f'copy({count})')}" if count > 1 else ""
            numbers = [f"{key_of('copy(1)')}{last}"] if count else []
            hints.insert(0, f"{' '.join([*numbers, key_of('copy')])} copy")
            if any(best["name"] for best in document["best"]):
                hints.insert(0, f"{key_of('apply')} uses it")
        return hints
