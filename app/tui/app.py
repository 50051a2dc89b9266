"""The app: joins the groups of actions, drains the engine's events, and shows the state."""

from __future__ import annotations

import asyncio
import re
import signal
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from textual import events, on
from textual.actions import ActionParseResult
from textual.app import SystemCommand
from textual.await_complete import AwaitComplete
from textual.binding import Binding
from textual.dom import DOMNode
from textual.screen import Screen
from textual.timer import Timer
from textual.widgets import Input

from app.engine.events import (
    EngineExited,
    Event,
    LanesChanged,
    Loaded,
    LoadFailed,
    RoundFinished,
    RunFinished,
    RunRejected,
    RunStarted,
)
from app.engine.protocol import Engine
from app.history.parse_document import read_recording
from app.models.assets import examples, tour_recording
from app.text.terminal_text import shortened
from app.tui.actions.advice import Advisor
from app.tui.actions.conversations import Conversations
from app.tui.actions.export import Exports
from app.tui.actions.lanes import LaneActions
from app.tui.actions.probabilities import Probabilities
from app.tui.actions.run import RunActions
from app.tui.actions.undo import Undo
from app.tui.background import run_in_background
from app.tui.keys.bindings import APP_KEYS, RUN_KEYS, allowed
from app.tui.keys.key_names import key_label, key_labels
from app.tui.palette import CommandsProvider, Palette, commands
from app.tui.refresh import AWAKE_SECONDS, EVENTS_SECONDS, IDLE_SECONDS, LABEL_SECONDS
from app.tui.screens.dialog import Dialog
from app.tui.screens.examples import ExamplesScreen
from app.tui.screens.help import HelpScreen
from app.tui.screens.presets import PresetsScreen
from app.tui.screens.seed import SeedScreen
from app.tui.screens.tour import TourScreen, TourStage
from app.tui.screens.training import TrainingScreen
from app.tui.state.app_state import EngineState
from app.tui.state.startup import Startup
from app.tui.textual_internals import (
    KeepsBeforeACrash,
    has_backlog,
    hear_escape_alone,
    outlive_terminal,
)
from app.tui.themes import DARK, LIGHT, OURS
from app.tui.widgets.prompt import Prompt
from app.tui.widgets.slider import Slider
from app.tui.widgets.sliders_panel import SlidersPanel
from decoding.errors import InputError

FRAME_SECONDS = 0.02
FILLING_SECONDS = 5.0  # for which keys typed before the first frame wait for the dialog they open
COMMAND_KEY = re.compile(r"ctrl\+[a-z]|f\d+")
SILENT_SECONDS = 60.0  # then the user is offered a restart; a long prompt may take as long
ENDS_SLOW_MOTION = RunStarted, Loaded, LanesChanged, EngineExited


class SpecchatApp(KeepsBeforeACrash[None], RunActions, LaneActions):
    CSS_PATH = Path(__file__).with_name("specchat.tcss")  # also for subclasses elsewhere
    TITLE = "specchat"
    BINDINGS = [*RUN_KEYS, *APP_KEYS]
    COMMANDS = {CommandsProvider}
    ESCAPE_TO_MINIMIZE = False  # see `action_leave`

    def __init__(self, engine: Engine, startup: Startup) -> None:
        super().__init__(engine, startup)
        self.conversations = Conversations(self)
        self.undo = Undo(self, self.conversations)
        self.advisor = Advisor(self)
        self.exports = Exports(self, self.advisor)
        self.probabilities = Probabilities(self)
        self._last_labels = self._last_heard = self.clock()
        self._stale = False
        self._frequent: Timer | None = None  # runs while events are to be expected
        self._awake_until = 0.0
        # keys and pastes before the prompt, or the dialog that a key opens, has the focus
        self._typed_ahead: list[events.Key | events.Paste] | None = []
        for ours in OURS.values():
            self.register_theme(ours)
        self.theme = self.first_theme
        self.set_keymap(startup.keys)
        hear_escape_alone(self)
        outlive_terminal(self)

    def get_default_screen(self) -> Screen[None]:
        return self.main

    def on_ready(self) -> None:
        self.app_resume_signal.subscribe(self, self._go_on)
        if not self.is_headless:
            # By default they would leave the terminal in the screen's modes, and lose what was not
            # sent. Windows has only one of them, and no handlers.
            for name in ("SIGTERM", "SIGHUP"):
                with suppress(NotImplementedError, AttributeError):
                    number = getattr(signal, name)
                    leave = partial(self.exit, return_code=128 + number)
                    asyncio.get_running_loop().add_signal_handler(number, leave)
        self.begin()
        self.main.prompt.changed_at = lambda: self.undo.stack.changed_at
        self.main.prompt.undone_at = lambda: self.undo.stack.undone_at
        self.main.prompt.dialog_filled = self._hold_until_filled
        self.main.prompt.keys_gone = self._send_typed_ahead
        self.call_after_refresh(lambda: self.run_worker(self._send_typed_ahead()))
        if self.store:
            self.run_worker(self.conversations.recall_prompts(self.store))
            self.run_worker(self.undo.recall_left(self.store))

    async def on_event(self, event: events.Event) -> None:
        """Hold keys back until the prompt, or the dialog that a key opens, has the focus: on their
        way through the screen later ones would overtake them."""
        if isinstance(event, events.InputEvent | events.Paste):
            self._wake_up()
        self.typed = self.typed or isinstance(event, events.Key | events.Paste)
        held = self._typed_ahead
        if held is None or not isinstance(event, events.Key | events.Paste) or event.is_forwarded:
            await super().on_event(event)
        else:
            held.append(event)

    async def _send_typed_ahead(self) -> None:
        """One by one: a dialog that a key opens gets the keys after it."""
        opens = {binding.action for binding in APP_KEYS}
        while self._typed_ahead:
            event = self._typed_ahead.pop(0)
            if isinstance(event, events.Paste):
                await super().on_event(event)
                continue
            # Until the app has the terminal, that makes a line feed of Enter.
            typed = events.Key("enter", "\r") if event.key == "ctrl+j" else event
            found = self.screen.active_bindings.get(typed.key)
            if typed.is_printable or not found or found.binding.action not in opens:
                await super().on_event(typed)
                continue
            await self.run_action(found.binding.action)
            await self._until_filled()
        self._typed_ahead = None

    async def _hold_until_filled(self) -> None:
        """A key in the prompt has opened a dialog: it gets the keys behind that one first."""
        if self._typed_ahead is None:
            self._typed_ahead = []
        await self._until_filled()

    async def _until_filled(self) -> None:
        """Wait until a dialog that was opened has the focus, if anything there can have it."""
        until = time.monotonic() + FILLING_SECONDS
        while self.screen.focused is None and time.monotonic() < until:
            if self.screen.is_mounted and not self.screen.focus_chain:
                break
            await asyncio.sleep(FRAME_SECONDS)

    def begin(self) -> None:
        # After the first paint, because importing torch on the engine's thread stalls this one.
        self.call_after_refresh(self.engine.open)
        self._frequent = self.set_interval(EVENTS_SECONDS, self.pump)
        self.set_interval(IDLE_SECONDS, self.pump)
        self._wake_up()

    def _wake_up(self) -> None:
        """Look for events often for a while."""
        self._awake_until = time.monotonic() + AWAKE_SECONDS
        if self._frequent is not None:
            self._frequent.resume()

    def _keep_awake(self, events: Sequence[Event]) -> None:
        """Look for events often while some are to be expected, else rarely: an idle app leaves the
        processor asleep."""
        dialogs = (screen for screen in self.screen_stack if isinstance(screen, Dialog))
        measures = not self.state.gone and any(each.expects_events for each in dialogs)
        if events or self.state.expects_events or measures or self.undo.stack.waiting:
            self._wake_up()
        elif self._frequent is not None and time.monotonic() > self._awake_until:
            self._frequent.pause()

    def _go_on(self, _: object) -> None:
        """The shell has continued this process (fg); the terminal shows something else."""
        self._last_heard = self.clock()
        self.refresh()

    def exit(self, *args: Any, **options: Any) -> None:
        if self.main.is_mounted:
            self.keep()
        super().exit(*args, **options)

    def keep(self) -> None:
        self.conversations.keep_for_next_time()
        self.undo.keep_for_next_time()

    def on_unmount(self) -> None:
        self.engine.close()
        if self.recorder:
            self.recorder.close()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return allowed(self.state, action)

    def on_key(self, event: events.Key) -> None:
        """Insert a character that is no command into the prompt, wherever the focus is, and say so
        where letters are commands. Characters typed just before the prompt, a slider or another
        input line got the focus also arrive here, and are its own."""
        line = self.screen.focused
        if isinstance(line, Slider) and line.consume(event):
            event.prevent_default()
            return
        if isinstance(line, Input) and event.character and event.is_printable:
            event.prevent_default()
            line.insert_text_at_cursor(event.character)
            return
        if self.screen is not self.main or self.state.replay:
            return
        prompt = self.main.prompt
        wanted = prompt.has_focus and prompt.check_consume_key(event.key, event.character)
        known = event.key in self.screen.active_bindings
        if event.character and event.is_printable and (wanted or not known):
            event.prevent_default()
            if self.main.writing:
                self.main.type(event.character)
                return
            self.end_slow_motion()
            with prompt.prevent(Prompt.Changed):  # writing clears what is said
                self.main.type(event.character)
            back = self.state.keys["run.stop"]
            what = f"“{event.character}” is not a command, so it is typed"
            self.show_notice(f"{what}: {back} goes back")
        elif not known and COMMAND_KEY.fullmatch(event.key):  # as other programs have them
            keys = self.state.keys
            known_as = {
                "ctrl+s": f"{keys['app.conversations']} has the saved conversations, ",
                "ctrl+o": f"{keys['app.conversations']} opens conversations, "
                f"{keys['app.models']} other models, ",
            }
            also = known_as.get(event.key, "") if self.store else ""
            every = f"{also}{keys['app.palette']} lists all commands"
            self.show_notice(f"{key_label(event.key)} is not a command; {every}")

    async def pump(self) -> None:
        """Handle the engine's events. Labels are updated four times a second while rounds arrive,
        everything else at once. A slow terminal gets larger batches."""
        if not (has_backlog(self) or self.handling.locked()):
            async with self.handling:
                events = self.engine.drain()
                await self._handle(events)
                self._keep_awake(events)

    async def _handle(self, events: list[Event]) -> None:
        self._listen(events)
        if any(isinstance(event, ENDS_SLOW_MOTION) for event in events):
            self.end_slow_motion()
        problem = self._record(events)
        for event in events:
            await self.handle_event(event)
        for event in events:  # once all of them are known: the engine may have ended
            if isinstance(event, Loaded | LoadFailed | RunFinished | RunRejected | EngineExited):
                self.settle_queued_prompt(event)
        if not events:  # a conversation may have been opened
            self.ask_next()
        if problem:
            self.state.show_notice(problem)
        if not isinstance(self.mouse_captured, Slider):  # a slider that is dragged is one change
            self.undo.note_changes()
            self.undo.go_on()
        self.probabilities.request()
        now = self.clock()
        due = now - self._last_labels >= LABEL_SECONDS
        self._stale = self.play_slow_motion() or self._stale or bool(events)
        if due and self.state.let_time_pass(now - self._last_labels):
            self._stale = True
        if due or any(not isinstance(event, RoundFinished) for event in events):
            self._last_labels = now
            if self._stale:
                self.main.show_state()
                self._stale = False

    def ask_next(self) -> None:
        """Questions come after undos that were asked for before them."""
        if not self.undo.waiting:
            super().ask_next()

    async def handle_event(self, event: Event) -> None:
        """Apply one event to the state and the screen, then tell the groups that follow them."""
        await super().handle_event(event)
        self.advisor.handle_event(event)
        self.undo.handle_event(event)
        self.conversations.handle_event(event)

    async def run_action(
        self,
        action: str | ActionParseResult,
        default_namespace: DOMNode | None = None,
        namespaces: Mapping[str, DOMNode] | None = None,
    ) -> bool:
        self.undo.note_changes()  # so that two actions are two changes
        self.forget_last_action(action)
        handled = await super().run_action(action, default_namespace, namespaces)
        self.undo.note_changes()
        self.probabilities.request()
        return handled

    def _listen(self, events: list[Event]) -> None:
        """Detect an engine that has work but emits nothing: it may hang."""
        now = self.clock()
        if events or not self.state.waits_for_engine:
            self._last_heard = now
        silent = now - self._last_heard > SILENT_SECONDS
        self._stale = self._stale or silent != self.state.silent
        self.state.silent = silent

    def _record(self, events: list[Event]) -> str | None:
        """Record events before they are handled; returns a new problem of the recorder, if any."""
        if self.recorder is None:
            return None
        known = self.recorder.problem
        self.recorder.record(events)
        return None if self.recorder.problem == known else self.recorder.problem

    def action_undo(self) -> None:
        if not self.main.drop_number():  # an undo takes back the last thing that was typed
            self.undo.move(back=True)

    @on(SlidersPanel.Changed)
    def separate_change(self, event: SlidersPanel.Changed) -> None:
        """A number that is typed or clicked is undone alone. Called before the change is made."""
        if not event.step:
            self.undo.note_changes()
            self.undo.stack.separate()

    @on(Prompt.Undone)
    def show_typing_undone(self, event: Prompt.Undone) -> None:
        self.show_notice(self.undo.describe("typing", event.back))

    def action_redo(self) -> None:
        self.undo.move(back=False)

    # Conversations and advice

    def action_new_conversation(self) -> None:
        self.conversations.begin()

    def action_conversations(self) -> None:
        self.conversations.show_list()

    def action_advise(self) -> None:
        self.advisor.advise()

    # Help, examples, presets and themes

    def action_help(self) -> None:
        """Show the help screen; a newcomer gets the tour first."""
        if self.state.example and not self.state.tour_offered:
            self.call_later(self.action_tour)
        else:
            self.push_screen(HelpScreen(self.state))

    async def action_tour(self) -> None:
        """Explain the screen step by step, with a recording."""
        self.state.tour_offered = True
        try:
            recording = await run_in_background(partial(read_recording, tour_recording()))
        except InputError as error:
            self.show_notice(str(error))
            return
        stage = TourStage(recording, self.state.keys, self.clock)
        await self.push_screen(stage)
        await stage.begin()

        def end(_: None) -> None:
            self.pop_screen()
            self.main.action_focus_prompt()  # the last step says to type a question

        self.push_screen(TourScreen(stage), end)

    def action_examples(self) -> None:
        if not examples():
            self.show_notice("There are no examples")
            return

        def write(prompt: str | None) -> None:
            if prompt is not None:
                self.main.prompt.put_away(prompt)
                self.main.action_focus_prompt()

        self.push_screen(ExamplesScreen(examples()), write)

    def action_presets(self) -> None:
        def apply(chosen: tuple[str, dict[str, Any]] | None) -> None:
            if chosen is not None:
                name, values = chosen
                kept = self.kept_overrides(values)
                self.state.show_notice(f"The settings are those of “{shortened(name, 30)}”{kept}")
                self.change_params(values)

        loaded = self.state.loaded
        of_model = loaded.sampling if loaded else {}
        undo = self.state.keys["run.undo"]
        self.push_screen(PresetsScreen(self.presets, self.state.params, of_model, undo), apply)

    def action_seed(self) -> None:
        def apply(seed: int | None) -> None:
            if seed is not None:
                self.change_seed(seed)
                again = self.state.keys["run.again"]
                asked = f"; {again} answers the last question with it" if self.state.turns else ""
                self.show_notice(f"Seed {seed} from the next answer on{asked}")

        self.push_screen(SeedScreen(self.state.chosen_seed), apply)

    def action_training(self) -> None:
        self.push_screen(TrainingScreen(self.main.display_options.mode))

    def action_dark(self) -> None:
        """Toggle dark and light; returns to the chosen theme if it is of the new kind."""
        other = LIGHT if self.current_theme.dark else DARK
        chosen = self.get_theme(self.first_theme)
        self.theme = chosen.name if chosen and chosen.dark == other.dark else other.name
        key = self.state.keys["app.dark"]
        name = "Dark" if self.current_theme.dark else "Light"
        self.show_notice(f"{name} theme; {key} changes it back")

    def set_keymap(self, keymap: Mapping[str, str]) -> None:
        super().set_keymap(dict(keymap))
        self.state.keys = key_labels(keymap)

    def get_key_display(self, binding: Binding) -> str:
        return key_label(binding.key)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Return the colours of tokens, for Textual's own themes as well."""
        return (DARK if self.current_theme.dark else LIGHT).variables

    def pop_screen(self) -> AwaitComplete:
        """Two quick clicks beside the palette close it once: there is nothing below the main
        screen."""
        return AwaitComplete() if self.screen is self.main else super().pop_screen()

    def action_command_palette(self) -> None:
        """Its commands are the main screen's: over a dialog they would end what that waits for."""
        if self.screen is self.main:
            self.push_screen(Palette(id="--command-palette"))  # as Textual's, for its styles

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        yield from commands(self, self.main)
        if self.state.stopped:
            runs = self.state.keys["prompt.run"]
            what = f"From where they were stopped ({runs} in the empty prompt)"
            yield SystemCommand("Continue stopped answers", what, self.action_continue)
        if not self.state.replay:
            what = "The seed of the next answers: the same one gives the same tokens"
            yield SystemCommand("Set the seed", what, self.action_seed)
        what = "The curves of a running training (specchat heads watch)"
        yield SystemCommand("Watch a training", what, self.action_training)
        yield SystemCommand("Tour", "The screen explained in a few steps", self.action_tour)
        yield from self.exports.commands()


def run_tui(app: SpecchatApp) -> int:
    """Run the app until the user leaves; the exit code: 0, or 1 when nothing could be loaded."""
    try:
        app.run()
    finally:
        app.engine.close()
    return app.return_code or int(app.state.engine_state is EngineState.FAILED)
