"""The app playing a recording, at any speed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from textual import events
from textual.widgets import Input

from app.engine.commands import RunAgain, StepRound
from app.engine.events import Event, RoundFinished, RunStarted
from app.history.recording import Recording
from app.history.replay import ReplayEngine
from app.tui.actions.slow_motion import suitable_speed
from app.tui.app import COMMAND_KEY, SpecchatApp
from app.tui.keys.bindings import APP_KEYS, NOT_IN_REPLAY, REPLAY_KEYS, RUN_KEYS, VIEW_KEYS
from app.tui.keys.key_names import active_bindings, key_label
from app.tui.state.startup import Startup

NOT_FOR_REPLAYS = tuple(
    each
    for each in (*RUN_KEYS, *VIEW_KEYS, *APP_KEYS)
    if each.action.partition("(")[0] in NOT_IN_REPLAY
)


class ReplayApp(SpecchatApp):
    """The sliders show the settings that each round had. Without `timed` the caller opens the
    player and calls `pump`."""

    BINDINGS = [*REPLAY_KEYS]

    def __init__(self, recording: Recording, startup: Startup, timed: bool = True) -> None:
        self._timed = timed
        self.player = ReplayEngine(recording, startup.clock)
        super().__init__(self.player, replace(startup, lanes=recording.lanes))
        self.title = recording.title
        self.state.replay, self.state.player = True, self.player

    def begin(self) -> None:
        if self._timed:
            super().begin()

    async def handle_event(self, event: Event) -> None:
        state = self.state
        if isinstance(event, RunStarted):
            state.schedule = event.schedule
            if event.leader in state.lanes:
                state.leader = event.leader
        elif isinstance(event, RoundFinished):
            state.lanes[event.lane].tree = event.tree
            if event.params not in (None, state.params):
                state.params = event.params or state.params
                self.main.show_state()
        await super().handle_event(event)

    async def pump(self) -> None:
        await super().pump()
        if self.progress_changed():
            self.main.show_state()

    def on_key(self, event: events.Key) -> None:
        """Say of a key that asks or changes something in a live session that it does not here."""
        if self.screen is not self.main or isinstance(self.focused, Input):
            return
        typed = event.character and event.is_printable
        live = any(event.key == each.key for each in active_bindings(self, NOT_FOR_REPLAYS))
        unknown = event.key not in self.screen.active_bindings
        if unknown and (typed or live or COMMAND_KEY.fullmatch(event.key)):
            self.show_notice(f"{key_label(event.key)} does nothing in a replay")

    def action_pause(self) -> None:
        if self.player.over:
            self.action_again()
        else:
            self.player.paused = not self.player.paused

    def action_step(self) -> None:
        self.player.paused = True
        self.player.send(StepRound())

    def action_again(self) -> None:
        self.player.send(RunAgain())
        self.player.paused = False
        self.forget_conversation()

    def action_speed(self, direction: int) -> None:
        self.player.change_speed(direction)


def run_replay(
    recording: Recording, speed: float | None, theme: str, keys: Mapping[str, str]
) -> int:
    """Play a recording until the user leaves; the exit code. `speed` None: one to follow it by."""
    app = ReplayApp(recording, Startup(theme=theme, keys=keys))
    app.player.speed = speed or suitable_speed(app.player.seconds)
    app.run()
    return app.return_code or 0
