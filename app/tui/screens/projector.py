"""The scoreboard for a projector: one large number, and a thick bar for each lane."""

from __future__ import annotations

from functools import partial

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Digits, Static

from app.report.verdict import LaneScore, doubt_about_speeds
from app.tui.format.bars import bar
from app.tui.keys.key_names import first_key
from app.tui.screens.dialog import Dialog
from app.tui.state.app_state import AppState
from app.tui.state.scores import scores, verdict_of
from app.tui.themes import lane_color
from app.tui.widgets.block import Block

SECONDS = 0.25  # between updates
BAR_ROWS = 2
NOTHING_YET = "Ask something first: the lanes' speeds will appear here."
TOO_EARLY = "Too early for a comparison."


class LaneBar(Horizontal):
    """A lane's name, bar and speed, three rows high."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self._color = lane_color(number)
        self._title = Static(classes="name", markup=False)
        self._bar = Block()
        self._digits = Digits(classes="speed")

    def compose(self) -> ComposeResult:
        yield self._title
        yield self._bar
        yield self._digits

    def show(self, score: LaneScore | None, top: float) -> None:
        self.display = score is not None
        if score is None:
            return
        speed = score.speed.median if score.speed else 0.0
        unit = "\n  tok/s" if speed else ""
        unit += ", stopped" if speed and score.stopped and not score.left_out else ""
        title = (score.label, f"bold {self._color}")
        self._title.update(Content.assemble(title, (unit, "$quiet")))
        self._bar.show(partial(thick_bar, speed / top if top else 0.0, self._color))
        self._digits.update(f"{speed:.0f}" if speed else "")


def thick_bar(share: float, color: str, width: int) -> Content:
    return Content("\n").join([Content.styled(bar(share, width), color)] * BAR_ROWS)


class ProjectorScreen(Dialog[None]):
    """Follows the run on the screen behind it."""

    BINDINGS = [
        Binding("escape,Z,q", "dismiss", "Close", id="projector.close",
                tooltip="Back to the lanes"),
    ]  # fmt: skip

    def __init__(self, state: AppState) -> None:
        super().__init__()
        self._state = state

    def compose(self) -> ComposeResult:
        with Vertical(id="projector"):
            yield Digits(id="factor")
            yield Static(id="sentence", markup=False)
            for number in range(1, len(self._state.lanes) + 1):
                yield LaneBar(number)
            close = first_key(self, "dismiss")
            yield Static(f"{close} closes", id="close", markup=False)

    def on_mount(self) -> None:
        self.set_interval(SECONDS, self.show_state)
        self.call_after_refresh(self.show_state)

    def show_state(self) -> None:
        all_scores = scores(self._state)
        found = {score.number: score for score in all_scores}
        verdict, doubt = verdict_of(self._state, all_scores), doubt_about_speeds(all_scores)
        factor = self.query_one("#factor", Digits)
        factor.update(f"{verdict.factor:.1f}x" if verdict and verdict.factor else "")
        factor.display = bool(verdict and verdict.factor)
        running = any(not score.done for score in all_scores)
        unknown = NOTHING_YET if not all_scores else TOO_EARLY if running else ""
        sentences = filter(None, (verdict.text if verdict else unknown, doubt))
        self.query_one("#sentence", Static).update(" ".join(sentences))
        top = max((each.speed.median for each in found.values() if each.speed), default=0.0)
        for number, row in enumerate(self.query(LaneBar), 1):
            row.show(found.get(number), top)
