"""The base of all groups of actions: the app's state, and what several groups do."""

from __future__ import annotations

from asyncio import Lock
from collections.abc import Mapping, Sequence
from typing import Any

from textual.app import App
from textual.filter import LineFilter

from app.config.model_options import ModelOptions
from app.engine.commands import (
    OpenModels,
    Pause,
    SetEnabled,
    SetOverrides,
    SetParams,
    SetSeed,
    SetTree,
)
from app.engine.events import (
    Event,
    RunFinished,
    RunRejected,
    SamplingTest,
)
from app.engine.protocol import Engine
from app.history.store import Store
from app.models.assets import examples
from app.strategies.lane_spec import LaneSpec
from app.strategies.roles import ROLES
from app.text.terminal_text import shortened
from app.tui.actions.slow_motion import SlowMotion
from app.tui.drawn_text import DrawnText
from app.tui.format.status import QUEUED_CELLS, play_progress
from app.tui.screens.lanes import MainScreen
from app.tui.screens.sampling_test import SamplingTestScreen
from app.tui.state.app_state import AppState
from app.tui.state.lane_state import LaneState
from app.tui.state.sliders import describe_overrides
from app.tui.state.startup import Startup
from app.tui.widgets.lane_grid import LaneGrid
from decoding.params import with_settings


class AppBase(App[None]):
    """The app without its actions. Groups of little else are subclasses, as Textual looks actions
    up in the app; groups that keep something are objects that get it. SpecchatApp joins them."""

    def __init__(self, engine: Engine, startup: Startup) -> None:
        super().__init__()
        self._drawn_text = DrawnText()
        self.engine = engine
        self.recorder = startup.recorder
        self.state = state = AppState(startup.params, startup.schedule, startup.seed)
        state.models = state.asked_for = startup.models
        first = next(iter(examples()), None) if startup.newcomer else None
        state.example = first.turns[0] if first else ""
        state.has_kept = self.store is not None and not self.store.empty
        state.set_lanes(startup.lanes)
        self.presets = startup.presets
        self.library = startup.library
        self.clock = startup.clock
        self.first_theme = startup.theme
        self._played = ""  # the player's progress at the last look
        self.main = MainScreen(engine, state)
        self.typed = False  # the user has pressed a key or pasted
        self.handling = Lock()  # of events: the engine's come after those of a recording

    def get_line_filters(self) -> Sequence[LineFilter]:
        return [*super().get_line_filters(), self._drawn_text]

    async def handle_event(self, event: Event) -> None:
        """Apply one event to the state and the screen."""
        if self.state.run_paused and isinstance(event, RunFinished | RunRejected):
            self.engine.send(Pause(False))  # otherwise the next run would begin paused
        self.state.apply(event)
        await self.main.handle_event(event)
        if isinstance(event, SamplingTest):
            for screen in self.screen_stack:
                if isinstance(screen, SamplingTestScreen):
                    screen.show_progress(event)

    @property
    def slow_motion(self) -> SlowMotion | None:
        """The player of the last run in slow motion, while it plays."""
        player = self.state.player
        return player if isinstance(player, SlowMotion) else None

    def play_slow_motion(self) -> bool:
        """Show what is due of the slow motion, if there is one; return whether there was
        anything."""
        slow = self.slow_motion
        if slow is None or not self.main.query(LaneGrid):  # the screen may be closing
            return False
        shown = self._show_again(slow.drain())
        return self.progress_changed() or shown

    def progress_changed(self) -> bool:
        """Return whether the player's progress is another one than at the last call."""
        player, before = self.state.player, self._played
        self._played = play_progress(player) if player else ""
        return self._played != before

    def end_slow_motion(self) -> None:
        """Show the rest of the run at once."""
        if self.slow_motion is not None:
            self._show_again(self.slow_motion.end())
            self.state.player = None

    def _show_again(self, events: list[Event]) -> bool:
        for event in events:
            self.state.apply(event)
            self.state.running = False  # the engine is idle
            self.main.grid.handle_event(event, self.state)
        return bool(events)

    @property
    def store(self) -> Store | None:
        """Where conversations are kept, if they are."""
        store = self.recorder.store if self.recorder else None
        return store if isinstance(store, Store) else None

    @property
    def lane_here(self) -> LaneState | None:
        """The lane in focus."""
        pane = self.main.pane_here
        return self.state.lanes[pane.name_of_lane] if pane else None

    def show_notice(self, text: str, seconds: float | None = 6.0) -> None:
        """Show a notice in the status line."""
        self.main.show_notice(text, seconds)

    def change_params(self, values: Mapping[str, Any]) -> None:
        """Change some of the run's settings."""
        self.state.params = with_settings(self.state.params, values)
        self.engine.send(SetParams(self.state.params))
        self.main.show_state()

    def change_seed(self, seed: int) -> None:
        self.state.next_seed = seed
        self.engine.send(SetSeed(seed))

    def change_overrides(self, name: str, overrides: Mapping[str, Any]) -> None:
        """Replace all overrides of a lane; with none it follows the run's settings."""
        self.state.lanes[name].set_overrides(overrides)
        self.engine.send(SetOverrides(name, overrides))
        self.main.show_state()

    def switch_lanes(self, wanted: Mapping[str, bool]) -> None:
        """Switch lanes on or off; those that are still to come as well."""
        for name, enabled in wanted.items():
            lane = self.state.lanes.get(name)
            if lane is None or lane.enabled != enabled:
                self.engine.send(SetEnabled(name, enabled))
            if lane is not None:
                lane.enabled = enabled
        self.state.choose_leader()

    def change_lane(self, name: str, overrides: Mapping[str, Any], tree: str) -> None:
        """Give a lane these overrides and this tree, if it has others."""
        lane = self.state.lanes[name]
        if lane.info.overrides != overrides:
            self.change_overrides(name, overrides)
        if lane.tree != tree:
            lane.tree = tree
            self.engine.send(SetTree(name, tree))

    def kept_overrides(self, values: Mapping[str, Any]) -> str:
        """Suffix for a notice about new settings of the run: which overrides of the lane in focus
        win over them. Empty if it follows them."""
        lane, params = self.lane_here, with_settings(self.state.params, values)
        kept = describe_overrides(lane, params, values) if lane else ""
        return f"; {self.state.label(lane.info.name)} keeps its own {kept}" if lane and kept else ""

    def begin_conversation(self, changed: Mapping[str, Any] | None = None) -> None:
        """Start a new conversation with the next turn. `changed`: settings that differ from now on,
        for the recording."""
        if self.recorder:
            self.recorder.begin(changed)
        self.forget_conversation()
        self.main.action_focus_prompt()

    def open_models(self, options: ModelOptions, specs: tuple[LaneSpec, ...]) -> None:
        """Load other models with these lanes, and start a new conversation."""
        self.engine.send(OpenModels(options, specs))
        self.begin_conversation({role: options.source(role) for role in ROLES})
        self.state.forget_models()
        self.state.asked_for = options

    def take_back(self) -> None:
        """Return the newest queued question to the prompt; what is being written there stays."""
        state, prompt = self.state, self.main.prompt
        text = state.queued.pop()
        if not prompt.text:
            prompt.write(text)
        else:
            waits = (
                f"; “{shortened(state.queued[-1], QUEUED_CELLS)}” still waits"
                if state.queued
                else ""
            )
            state.show_notice(f"Taken back: press ↑ in the prompt to get it{waits}")

    def take_questions_back(self) -> None:
        """Return all queued questions to the prompt. A notice that says why they come back stays
        in front of what is said about them."""
        why, seconds = self.state.notice, self.state.notice_seconds
        behind = len(self.state.queued) - (not self.main.prompt.text)  # the text in the prompt
        while self.state.queued:
            self.take_back()
        if behind > 1:
            self.state.show_notice("Taken back: press ↑ in the prompt to get them")
        if why and self.state.notice != why:
            self.state.show_notice(f"{why} · {self.state.notice}", seconds)

    def forget_conversation(self) -> None:
        """Empty the panes."""
        if self.state.slow_motion:
            self.state.player = None
        self.state.forget_conversation()
        self.main.forget_conversation()
