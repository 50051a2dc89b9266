"""The tour: the lanes' screen explained on a recorded run, step by step. It has a screen, a state
and an engine of its own, so that it leaves nothing behind."""

from __future__ import annotations

from asyncio import Lock
from collections.abc import Callable, Mapping
from dataclasses import replace

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from app.engine.commands import RunAgain, Stop
from app.engine.events import RoundFinished
from app.history.recording import Recording
from app.history.replay import ReplayEngine, side_by_side
from app.tui.format.tour import STEPS, Moment, Step, best_turn, rejected_round
from app.tui.keys.key_names import first_key
from app.tui.refresh import EVENTS_SECONDS, LABEL_SECONDS
from app.tui.screens.dialog import Dialog
from app.tui.screens.lanes import MainScreen
from app.tui.state.app_state import AppState
from decoding.params import Params

RACE_SECONDS = 6.0
PARTS = "#title, LanePane, Panel, #controls, #whatif, #status"  # what can be dimmed


class TourStage(MainScreen):
    """The lanes' screen with a recorded run, controlled by the tour alone."""

    def __init__(
        self, recording: Recording, keys: Mapping[str, str], clock: Callable[[], float]
    ) -> None:
        turn = best_turn(recording.turns)
        started = replace(turn.started, turn=0, leader=None)  # as the first turn
        alone = replace(recording, turns=[side_by_side(replace(turn, started=started))])
        self.player = ReplayEngine(alone, clock)
        self.player.speed = min(self.player.seconds / RACE_SECONDS, 1.0)
        state = AppState(Params(), keys=keys, replay=True)
        state.set_lanes(recording.lanes)
        super().__init__(self.player, state)
        rounds = {name: rejected_round(lane) for name, lane in turn.lanes.items()}
        self._rejected = next(((n, r) for n, r in rounds.items() if r is not None), None)
        self._at_work = Lock()  # of steps and the timer

    async def begin(self) -> None:
        self.query_one("#keys").display = False
        self.player.open()
        self.set_interval(EVENTS_SECONDS, self.play)
        self.set_interval(LABEL_SECONDS, self.show_state)

    async def play(self) -> None:
        async with self._at_work:
            await self._show_due()

    async def _show_due(self) -> None:
        state = self.state
        for event in self.player.drain():
            if isinstance(event, RoundFinished):
                state.lanes[event.lane].tree = event.tree
                state.params = event.params or state.params
            state.apply(event)
            await self.handle_event(event)

    async def _to_moment(self, moment: Moment) -> None:
        player = self.player
        if moment is Moment.DONE:
            player.send(Stop())
        else:
            player.send(RunAgain())
            self.state.forget_conversation()
            self.forget_conversation()
        player.paused = False
        await self._show_due()
        player.paused = moment is Moment.ASKED

    async def show_step(self, step: Step) -> None:
        async with self._at_work:
            await self._to_moment(step.moment)
        if step.rejected and self._rejected:
            name, number = self._rejected
            pane = self.grid.pane_of(name)
            self._go_to(pane)
            pane.view.to_rejected(number)
        else:
            self.leave_cursor()
        self.open = step.panel
        self.show_state()
        self._light(step.light)

    def _light(self, selector: str) -> None:
        """Dim everything but the subject of the step."""
        for pane in self.grid.panes:
            pane.set_class(pane is self.pane_here, "-here")
        lit = {*self.query(selector)}
        for part in self.query(PARTS):
            part.set_class(part not in lit, "-dim")


class TourScreen(Dialog[None]):
    """The text of the steps in a box below the stage, which gets no keys."""

    BINDINGS = [
        Binding("enter,right,space", "go(1)", "Next", id="tour.next", tooltip="The next step"),
        Binding("left", "go(-1)", "Back", id="tour.back", tooltip="The previous step"),
        Binding("escape,q", "dismiss", "End", id="tour.end", tooltip="Back to the lanes"),
    ]

    def __init__(self, stage: TourStage) -> None:
        super().__init__()
        self._stage = stage
        self._index = 0

    def compose(self) -> ComposeResult:
        with Vertical(id="tour"):
            yield Static(id="tour-text", markup=False)

    def on_mount(self) -> None:
        self._show()

    def action_go(self, step: int) -> None:
        """The next or previous step; the tour ends after the last one."""
        if self._index + step == len(STEPS):
            self.dismiss()
        elif self._index + step >= 0:
            self._index += step
            self._show()

    def _show(self) -> None:
        step, box = STEPS[self._index], self.query_one("#tour")
        box.border_title = f"{self._index + 1} of {len(STEPS)} · {step.title}"
        ahead, back, end = (first_key(self, action) for action in ("go(1)", "go(-1)", "dismiss"))
        last = self._index + 1 == len(STEPS)
        box.border_subtitle = Content(
            f"{ahead} {'ends' if last else 'next'} · {back} back · {end} ends the tour"
        )
        self.query_one("#tour-text", Static).update(step.words(self._stage.state.keys))
        self.call_after_refresh(self._make_room, box)
        self._stage.call_later(self._stage.show_step, step)  # slow, unlike keys

    def _make_room(self, box: Widget) -> None:
        """The stage ends above the box."""
        self._stage.styles.padding = (0, 0, box.outer_size.height, 0)

    def on_resize(self) -> None:
        self.call_after_refresh(self._make_room, self.query_one("#tour"))
