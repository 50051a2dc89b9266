"""The sampling test: compares samples of a lane's next tokens with plain sampling."""

from __future__ import annotations

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from app.engine.commands import StartSamplingTest, StopSamplingTest
from app.engine.events import SamplingTest
from app.engine.protocol import Engine
from app.tui.format.sampling_test import intro, table, verdict
from app.tui.format.status import labelled_progress
from app.tui.keys.key_names import first_key
from app.tui.screens.dialog import Dialog

REPETITIONS = 400
MORE = 4  # times as many


class SamplingTestScreen(Dialog[None]):
    """Starts a sampling test and shows its progress. Leaving the screen ends the test."""

    BINDINGS = [
        Binding("escape,e", "leave", "Close", id="proof.close",
                tooltip="Back to the lanes; stops the test"),
        Binding("n", "more", "More", id="proof.more",
                tooltip=f"Again with {MORE} times as many draws"),
    ]  # fmt: skip

    def __init__(self, engine: Engine, lane: str, label: str) -> None:
        super().__init__()
        self._engine, self._lane, self._label = engine, lane, label
        self._repetitions = REPETITIONS
        self._test: SamplingTest | None = None

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="proof") as box:
            box.border_title = Content(f"Prove it · {self._label}")
            yield Static(id="proof-intro", markup=False)
            yield Static(id="proof-verdict", markup=False)
            yield Static(id="proof-table", markup=False)

    def on_mount(self) -> None:
        self.query_one("#proof").focus()
        self._ask()

    def on_resize(self, event: events.Resize) -> None:
        self.call_after_refresh(self._show)

    def show_progress(self, test: SamplingTest) -> None:
        """The counts so far; those of an earlier request are ignored."""
        if test.lane == self._lane and (test.greedy or test.repetitions == self._repetitions):
            self._test = test
            self._show()

    @property
    def expects_events(self) -> bool:
        test = self._test
        return test is None or (test.note is None and test.done < test.repetitions)

    def action_leave(self) -> None:
        self._engine.send(StopSamplingTest())
        self.dismiss(None)

    def action_more(self) -> None:
        if self._test and not self._test.greedy and self._test.note is None:
            self._repetitions *= MORE
            self._ask()

    def _ask(self) -> None:
        self._test = None
        self._engine.send(StartSamplingTest(self._lane, self._repetitions))
        self._show()

    def _show(self) -> None:
        test, box = self._test, self.query_one("#proof")
        status: Content | str = "Both sample from the same position, each on its own copy …"
        about, lines = "", list[Content]()
        if test is not None and test.note is not None:
            status = Content.styled(f"No test: {test.note}", "$warning")
        elif test is not None:
            about = intro(test)
            status = (
                Content.styled(*verdict(test))
                if test.done == test.repetitions
                else Content.styled(labelled_progress(test.done / test.repetitions), "$primary")
            )
            width = self.query_one("#proof-table").container_size.width
            lines = table(test, width)
        self.query_one("#proof-intro", Static).update(about)
        self.query_one("#proof-verdict", Static).update(status)
        self.query_one("#proof-table", Static).update(Content("\n").join(lines))
        can = [f"{first_key(self, 'leave')} closes"]
        if test is not None and not test.greedy and test.note is None:
            can.insert(0, f"{first_key(self, 'more')} {MORE} times as many draws")
        box.border_subtitle = Content(" · ".join(can))
