"""The app: it owns the engine, the state and the one timer; the screen owns the widgets."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from textual import on
from textual.app import App, SystemCommand
from textual.binding import Binding
from textual.screen import Screen

from app.config.presets import Presets
from app.engine.commands import Pause, SetOverrides, SetParams
from app.engine.events import (
    EngineExited,
    Event,
    LaneInfo,
    Loaded,
    LoadFailed,
    RoundFinished,
    RunFinished,
    RunRejected,
    SamplingTest,
    Schedule,
)
from app.engine.protocol import Engine
from app.history.recorder import Recorder
from app.models.library import ModelLibrary
from app.text.terminal_text import shortened
from app.tui.actions.conversations import Conversations
from app.tui.actions.lanes import LaneActions
from app.tui.actions.run import RunActions
from app.tui.keys.bindings import APP_KEYS, RUN_KEYS, allowed
from app.tui.keys.key_names import key_label, key_labels
from app.tui.palette import commands
from app.tui.screens.examples import ExamplesScreen
from app.tui.screens.help import HelpScreen
from app.tui.screens.lanes import MainScreen
from app.tui.screens.presets import PresetsScreen
from app.tui.screens.sampling_test import SamplingTestScreen
from app.tui.slow_terminal import has_backlog
from app.tui.state.app_state import AppState
from app.tui.themes import DARK, LIGHT, OURS
from app.tui.widgets.prompt import Prompt
from app.tui.widgets.sliders_panel import SlidersPanel
from decoding.params import Params

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
        theme: str = DARK.name,
        keys: Mapping[str, str] | None = None,
        presets: Presets | None = None,
        library: ModelLibrary | None = None,
    ) -> None:
        super().__init__()
        self.library = library  # of models; None: there is no choice
        self.engine = engine
        self.recorder = recorder
        self.presets = presets or Presets()
        self.state = AppState(params, schedule, seed)
        self.state.set_lanes(lanes or ())
        self._clock = clock
        self._last_labels = clock()
        self._stale = False
        for ours in OURS.values():
            self.register_theme(ours)
        self.theme = self._chosen_theme = theme
        self.set_keymap(keys or {})
        self.main = MainScreen(engine, self.state)
        self.running = RunActions(self)
        self.changing = LaneActions(self)

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
        everything else at once; a terminal that is slow to draw gets it in fewer pieces."""
        if has_backlog(self._driver):
            return
        events = self.engine.drain()
        problem = self._record(events)
        for event in events:
            await self.take(event)
            if isinstance(event, Loaded | LoadFailed | RunRejected | EngineExited):
                self.running.after(event)
        if problem:
            self.state.say(problem)
        now = self._clock()
        due = now - self._last_labels >= LABEL_SECONDS
        self._stale = self._stale or bool(events)
        if due and self.state.let_time_pass(now - self._last_labels):
            self._stale = True
        if due or any(not isinstance(event, RoundFinished) for event in events):
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
        if self.state.paused and isinstance(event, RunFinished | RunRejected):
            self.engine.send(Pause(False))  # or the next run would begin paused
        self.state.apply(event)
        await self.main.take(event)
        if isinstance(event, SamplingTest) and isinstance(self.screen, SamplingTestScreen):
            self.screen.take(event)

    # Running

    @on(Prompt.Submitted)
    def submit(self, event: Prompt.Submitted) -> None:
        self.running.submit(event.text)

    def action_again(self) -> None:
        self.running.again()

    def action_leave(self) -> None:
        self.running.leave()

    def action_stop(self) -> None:
        """ctrl+c, unless text is selected: then the prompt or the screen takes the key first."""
        if self.state.running:
            self.running.stop()
        elif self.main.prompt.has_focus:
            self.main.prompt.put_away()

    def action_pause(self) -> None:
        self.running.pause()

    def action_step(self) -> None:
        self.running.step()

    def action_schedule(self) -> None:
        self.running.change_schedule()

    def action_acceptance(self) -> None:
        self.running.change_acceptance()

    def action_tree(self, strategy: str, tree: str) -> None:
        self.running.choose_tree(strategy, tree)

    def action_prove(self) -> None:
        self.running.prove()

    def action_new_conversation(self) -> None:
        self.running.new_conversation()

    def begin_conversation(self, changed: Mapping[str, Any] | None = None) -> None:
        """The next turn is the first of another one; settings may have `changed`."""
        if self.recorder:
            self.recorder.begin(changed)
        self.forget_conversation()
        self.main.prompt.focus()

    def forget_conversation(self) -> None:
        """No turn in the panes any more."""
        self.state.forget_conversation()
        self.main.forget_conversation()

    def action_conversations(self) -> None:
        Conversations(self).choose()

    # Lanes

    def action_duplicate(self) -> None:
        self.changing.duplicate()

    def action_remove(self) -> None:
        self.changing.remove()

    def action_pin(self) -> None:
        self.changing.pin()

    def action_models(self) -> None:
        self.changing.choose_models()

    def action_add_lane(self, strategy: str) -> None:
        self.changing.add(strategy)

    @on(SlidersPanel.OverridesChanged)
    def change_overrides(self, event: SlidersPanel.OverridesChanged) -> None:
        self.engine.send(SetOverrides(event.lane, event.overrides))
        self.main.show_state()

    @on(SlidersPanel.Changed)
    def change_params(self, event: SlidersPanel.Changed) -> None:
        self.state.params = event.params
        self.engine.send(SetParams(event.params))
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

    def action_presets(self) -> None:
        def take(chosen: tuple[str, dict[str, Any]] | None) -> None:
            if chosen is not None:
                name, values = chosen
                self.main.query_one(SlidersPanel).choose(values)
                kept = self.changing.kept(values)
                self.state.say(f"The settings are those of “{shortened(name, 30)}”{kept}")

        self.push_screen(PresetsScreen(self.presets, self.state.params), take)

    def action_dark(self) -> None:
        """To the other side, and back to the theme that was chosen."""
        other = LIGHT if self.current_theme.dark else DARK
        chosen = self.get_theme(self._chosen_theme)
        self.theme = chosen.name if chosen and chosen.dark == other.dark else other.name

    def set_keymap(self, keymap: Mapping[str, str]) -> None:
        super().set_keymap(dict(keymap))
        self.state.keys = key_labels(keymap)

    def get_key_display(self, binding: Binding) -> str:
        return key_label(binding.key)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """So that the inks have colours under any of Textual's own themes as well."""
        return (DARK if self.current_theme.dark else LIGHT).variables

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        yield from commands(self, self.main)
        yield from Conversations(self).commands()


def run_tui(app: SpecchatApp) -> int:
    """Run the app until the user leaves; the exit code: 0, or 1 when nothing could be loaded."""
    try:
        app.run()
    finally:
        app.engine.close()
    return app.return_code or int(app.state.failure is not None)
