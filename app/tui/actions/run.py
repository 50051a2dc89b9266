"""What the keys of a run do: begin, stop, pause, step, and how the lanes take turns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.engine.commands import (
    NewConversation,
    Pause,
    Run,
    RunAgain,
    SetSchedule,
    SetTree,
    StepRound,
    Stop,
)
from app.engine.events import EngineExited, Loaded, LoadFailed, RunRejected, Schedule
from app.tui.screens.sampling_test import SamplingTestScreen
from app.tui.widgets.sliders_panel import SlidersPanel
from decoding.params import Acceptance

if TYPE_CHECKING:
    from app.tui.app import SpecchatApp


class RunActions:
    def __init__(self, app: SpecchatApp) -> None:
        self._app = app
        self._engine, self._state, self._main = app.engine, app.state, app.main

    def after(self, event: Loaded | LoadFailed | RunRejected | EngineExited) -> None:
        """A prompt that waited runs now; one that cannot be answered goes back, as
        does one that was meant for models that could not be loaded."""
        prompt = self._state.queued
        self._state.queued = None
        if isinstance(event, RunRejected):
            prompt = event.prompt
            if not any(lane.active for lane in self._state.lanes.values()):
                keys = self._state.keys
                leave, switch = keys["run.stop"], keys["view.toggle_here"]
                self._state.say(f"No lane is on: {leave}, then {switch} switches one on")
        elif isinstance(event, Loaded) and not event.back and prompt is not None:
            self._run(prompt)
            return
        if prompt and not self._main.prompt.text:
            self._main.prompt.write(prompt)
            self._main.prompt.focus()

    def submit(self, text: str) -> None:
        state, prompt = self._state, self._main.prompt
        if not (text.strip() or state.gone):
            return
        if state.busy:
            state.say(state.busy)
        elif state.queued is not None:
            state.say(f"A prompt is waiting already; {state.keys['run.stop']} takes it back")
        else:
            if state.gone:
                self._begin_anew()
            if text.strip():
                prompt.remember(text)
                # more may have been typed while this message was under way
                prompt.write(prompt.text.removeprefix(text))
                self._run_or_wait(text)
        self._main.show_state()

    def _run_or_wait(self, prompt: str) -> None:
        if self._state.loaded:
            self._run(prompt)
        else:
            self._state.queued = prompt

    def _run(self, prompt: str) -> None:
        self._state.running = True  # until the engine says otherwise: no second Enter in between
        self._engine.send(Run(prompt))
        self._main.focus_pane()

    def _begin_anew(self) -> None:
        """Where there are no models any more, or none could be loaded."""
        self._state.begin_anew()
        self._engine.open()

    def again(self) -> None:
        if self._state.busy:
            self._state.say(self._state.busy)
        elif self._state.turns:
            if self._state.gone:
                self._begin_anew()
            self._state.running = True
            self._engine.send(RunAgain())
            self._main.focus_pane()
        else:
            self._main.prompt.action_submit()
        self._main.show_state()

    def leave(self) -> None:
        """Esc: first out of the prompt, then no cursor, then all panes again, then stop."""
        main = self._main
        if self._state.queued is not None:
            main.prompt.write(self._state.queued)
            self._state.queued = None
        elif main.prompt.has_focus:
            main.focus_pane()
        elif main.panel_alone and main.open:
            main.action_panel(main.open)
        elif main.looking.leave_cursor():
            pass
        elif main.zoomed:
            main.action_zoom()
        else:
            self.stop()
        main.show_state()

    def stop(self) -> None:
        if self._state.running:
            self._engine.send(Stop())

    def pause(self) -> None:
        if self._state.running:
            self._state.paused = not self._state.paused
            self._engine.send(Pause(self._state.paused))
            for name, lane in self._state.lanes.items():
                self._state.look_at(name, lane.cursor)
            self._main.show_state()

    def step(self) -> None:
        if not self._state.running:
            return
        if not self._state.paused:
            self.pause()
        self._engine.send(StepRound())

    def prove(self) -> None:
        """Compare the lane in focus with plain sampling, while no round is running."""
        state, pane = self._state, self._main.pane_here
        if pane is None:
            return
        name = pane.name_of_lane
        if state.ended:
            state.say(state.ended)
        elif reason := state.lanes[name].info.reason:
            state.say(f"{state.label(name)}: {reason}")
        elif state.running and not state.paused:
            state.say(f"That needs a pause between two rounds: {state.keys['run.pause']} makes one")
        elif not state.turns:
            state.say("Ask something first: it is proven from there on")
        else:
            self._app.push_screen(SamplingTestScreen(self._engine, name, state.label(name)))
        self._main.show_state()

    def change_schedule(self) -> None:
        schedule: Schedule = "race" if self._state.schedule == "fair" else "fair"
        self._state.schedule = schedule
        self._engine.send(SetSchedule(schedule))
        self._state.say(
            "race: all lanes at once, the same time for each"
            if schedule == "race"
            else "fair: one lane after the other, comparable speeds"
        )
        self._main.show_state()

    def change_acceptance(self) -> None:
        state = self._state
        rule: Acceptance = "exact" if state.params.acceptance == "typical" else "typical"
        if rule == "typical" and not any(
            lane.info.strategy == "medusa" and lane.info.available for lane in state.lanes.values()
        ):
            state.say("Typical acceptance is Medusa's rule, and there is no Medusa lane")
            self._main.show_state()
            return
        said = (
            "exact: every lane's text is what the target would say"
            if rule == "exact"
            else "typical: exact at temperature 0, above it Medusa lanes are lossy"
            if state.params.sampling.greedy
            else "typical: Medusa lanes are lossy from their next round on"
        )
        values = {"acceptance": rule}
        state.say(said + self._app.changing.kept(values))
        self._main.query_one(SlidersPanel).choose(values)

    def choose_tree(self, strategy: str, tree: str) -> None:
        """All lanes of a strategy draft another tree from their next round on."""
        for name, lane in self._state.lanes.items():
            if lane.info.strategy == strategy and tree in lane.info.trees:
                lane.tree = tree
                self._engine.send(SetTree(name, tree))
                title = lane.info.title
                self._state.say(f"{title} drafts the tree “{tree}” from the next round on")
        self._main.show_state()

    def new_conversation(self) -> None:
        if self._state.busy:
            self._state.say(self._state.busy)
        else:
            self._engine.send(NewConversation())
            self._app.begin_conversation()
        self._main.show_state()
