"""The app: it owns the engine, the state and the one timer; the screen owns the widgets."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path

from textual import on
from textual.app import App, SystemCommand
from textual.screen import Screen

from app.events import (
    Engine,
    Event,
    LaneInfo,
    Loaded,
    LoadFailed,
    RunFinished,
    RunRefused,
    Schedule,
    Stepped,
)
from app.history.recorder import Recorder
from app.tui.commands import commands
from app.tui.conversations import Conversations
from app.tui.keys import APP_KEYS, RUN_KEYS, allowed
from app.tui.screens.examples import ExamplesScreen
from app.tui.screens.help import HelpScreen
from app.tui.screens.main import MainScreen
from app.tui.state import AppState
from app.tui.themes import DARK, LIGHT
from app.tui.widgets.controls import Controls
from app.tui.widgets.prompt import Prompt
from decoding.params import Acceptance, Params

DRAIN_SECONDS = 0.066
LABEL_SECONDS = 0.25


class SpecchatApp(App[None]):
    """`lanes` are painted before the engine has loaded and says which there are."""

    CSS_PATH = Path(__file__).with_name("specchat.tcss")  # also for subclasses elsewhere
    TITLE = "specchat"
    BINDINGS = [*RUN_KEYS, *APP_KEYS]
    ESCAPE_TO_MINIMIZE = False  # Escape has an order of its own, see `action_leave`

    def __init__(
        self,
        engine: Engine,
        params: Params,
        lanes: tuple[LaneInfo, ...] | None = None,
        schedule: Schedule = "fair",
        seed: int | None = None,
        clock: Callable[[], float] = time.perf_counter,
        recorder: Recorder | None = None,
    ) -> None:
        super().__init__()
        self.engine = engine
        self.recorder = recorder
        self.state = AppState(params, schedule, seed)
        self.state.set_lanes(lanes or ())
        self._clock = clock
        self._last_labels = clock()
        self._stale = False
        self.register_theme(DARK)
        self.register_theme(LIGHT)
        self.theme = DARK.name
        self.main = MainScreen(engine, self.state)

    def get_default_screen(self) -> Screen[None]:
        return self.main

    def on_ready(self) -> None:
        self.begin()

    def begin(self) -> None:
        # After the first paint: importing torch in the engine's thread stalls this one too.
        self.call_after_refresh(self.engine.open)
        self.set_interval(DRAIN_SECONDS, self.pump)

    def on_unmount(self) -> None:
        self.engine.close()
        if self.recorder:
            self.recorder.close()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return allowed(self.state, action)

    async def pump(self) -> None:
        """Takes in what has happened. Token text shows at once, figures four times a second,
        everything else at once."""
        events = self.engine.drain()
        problem = self._record(events)
        for event in events:
            await self.take(event)
            if isinstance(event, Loaded | LoadFailed | RunRefused):
                self._after(event)
        if problem:
            self.state.say(problem)
        now = self._clock()
        due = now - self._last_labels >= LABEL_SECONDS
        self._stale = self._stale or bool(events)
        if due and self.state.let_time_pass(now - self._last_labels):
            self._stale = True
        if due or any(not isinstance(event, Stepped) for event in events):
            self._last_labels = now
            if self._stale:
                self.main.show_state()
                self._stale = False

    def _record(self, events: list[Event]) -> str | None:
        """Before anything else is done with them; what went wrong, if that is news."""
        if self.recorder is None:
            return None
        known = self.recorder.problem
        self.recorder.take(events)
        return None if self.recorder.problem == known else self.recorder.problem

    async def take(self, event: Event) -> None:
        """One event, into the state and into the panes."""
        if self.state.paused and isinstance(event, RunFinished | RunRefused):
            self.engine.pause(False)  # or the next run would begin paused
        self.state.apply(event)
        await self.main.take(event)

    def _after(self, event: Loaded | LoadFailed | RunRefused) -> None:
        """A prompt that waited runs now; one that cannot be answered goes back."""
        prompt = self.state.queued
        self.state.queued = None
        if isinstance(event, RunRefused):
            prompt = event.prompt
        elif isinstance(event, Loaded) and prompt is not None:
            self._run(prompt)
            return
        if prompt and not self.main.prompt.text:
            self.main.prompt.write(prompt)
            self.main.prompt.focus()

    # Running

    @on(Prompt.Submitted)
    def submit(self, event: Prompt.Submitted) -> None:
        state = self.state
        if state.failure or not event.text.strip():
            return
        if state.running:
            state.say("Still answering: Esc stops it, then Enter runs this")
        elif state.queued is not None:
            state.say("A prompt is waiting already; Esc takes it back")
        else:
            self.main.prompt.remember(event.text)
            # more may have been typed while this message was under way
            self.main.prompt.write(self.main.prompt.text.removeprefix(event.text))
            if state.loaded:
                self._run(event.text)
            else:
                state.queued = event.text
        self.main.show_state()

    def _run(self, prompt: str) -> None:
        self.state.running = True  # until the engine says otherwise: no second Enter in between
        self.engine.run(prompt)
        self.main.focus_pane()

    def action_again(self) -> None:
        if self.state.running:
            self.state.say("Still answering: Esc stops it")
        elif self.state.turns:
            self.state.running = True
            self.engine.again()
            self.main.focus_pane()
        else:
            self.main.prompt.action_submit()
        self.main.show_state()

    def action_leave(self) -> None:
        """Esc: first out of the prompt, then all panes again, then stop."""
        if self.state.queued is not None:
            self.main.prompt.write(self.state.queued)
            self.state.queued = None
        elif self.main.prompt.has_focus:
            self.main.focus_pane()
        elif self.main.tree_alone:
            self.main.action_inspect()
        elif self.main.zoomed:
            self.main.action_zoom()
        elif self.state.running:
            self.engine.stop()
        self.main.show_state()

    def action_stop(self) -> None:
        """ctrl+c, unless text is selected: then the prompt or the screen takes the key first."""
        if self.state.running:
            self.engine.stop()

    def action_pause(self) -> None:
        if self.state.running:
            self.state.paused = not self.state.paused
            self.engine.pause(self.state.paused)
            self.main.show_state()

    def action_step(self) -> None:
        if not self.state.running:
            return
        if not self.state.paused:
            self.action_pause()
        self.engine.step()

    def action_schedule(self) -> None:
        schedule: Schedule = "race" if self.state.schedule == "fair" else "fair"
        self.state.schedule = schedule
        self.engine.set_schedule(schedule)
        self.state.say(
            "race: all lanes at once, the same time for each"
            if schedule == "race"
            else "fair: one lane after the other, comparable speeds"
        )
        self.main.show_state()

    def action_acceptance(self) -> None:
        state = self.state
        rule: Acceptance = "exact" if state.params.acceptance == "typical" else "typical"
        if rule == "typical" and not any(
            lane.info.strategy == "medusa" and lane.info.available for lane in state.lanes.values()
        ):
            state.say("Typical acceptance is Medusa's rule, and there is no Medusa lane")
            self.main.show_state()
            return
        state.say(
            "exact: every lane's text is what the target would say"
            if rule == "exact"
            else "typical: exact at temperature 0, above it Medusa lanes are lossy"
            if state.params.sampling.greedy
            else "typical: Medusa lanes are lossy from their next round on"
        )
        self.main.query_one(Controls).set_acceptance(rule)

    def action_tree(self, strategy: str, tree: str) -> None:
        """All lanes of a strategy draft another tree from their next round on."""
        for name, lane in self.state.lanes.items():
            if lane.info.strategy == strategy and tree in lane.info.trees:
                lane.tree = tree
                self.engine.set_tree(name, tree)
                self.state.say(f"{lane.info.title} drafts the tree “{tree}” from the next round on")
        self.main.show_state()

    def action_new_conversation(self) -> None:
        if self.state.running:
            self.state.say("Still answering: Esc stops it")
        else:
            self.engine.new_conversation()
            if self.recorder:
                self.recorder.begin()
            self.forget_conversation()
        self.main.show_state()

    def forget_conversation(self) -> None:
        """No turn in the panes any more."""
        self.state.forget_conversation()
        self.main.forget_conversation()

    def action_conversations(self) -> None:
        Conversations(self).choose()

    @on(Controls.Changed)
    def change_params(self, event: Controls.Changed) -> None:
        self.state.params = event.params
        self.engine.set_params(event.params)
        self.main.show_state()

    # Help and looks

    def action_help(self) -> None:
        self.push_screen(HelpScreen(self.state))

    def action_examples(self) -> None:
        prompts = self.state.loaded.prompts if self.state.loaded else ()
        if not prompts:
            self.state.say(
                "The examples come with the models"
                if not self.state.loaded
                else "There are no examples"
            )
            self.main.show_state()
            return

        def take(prompt: str | None) -> None:
            if prompt is not None:
                self.main.prompt.write(prompt)
                self.main.prompt.focus()

        self.push_screen(ExamplesScreen(prompts), take)

    def action_dark(self) -> None:
        self.theme = LIGHT.name if self.theme == DARK.name else DARK.name

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """So that the inks have colours under any of Textual's own themes as well."""
        return (DARK if self.current_theme.dark else LIGHT).variables

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        yield from commands(self, self.main)
        yield from Conversations(self).commands()


def run_tui(
    engine: Engine,
    params: Params,
    lanes: tuple[LaneInfo, ...] | None = None,
    schedule: Schedule = "fair",
    seed: int | None = None,
    recorder: Recorder | None = None,
) -> int:
    """Run the app until the user leaves; the exit code: 0, or 1 when nothing could be loaded."""
    app = SpecchatApp(engine, params, lanes, schedule, seed, recorder=recorder)
    try:
        app.run()
    finally:
        engine.close()
    return app.return_code or int(app.state.failure is not None)
