"""Actions on a run: start, stop, pause, step, schedule and acceptance rule."""

from __future__ import annotations

import re

from textual import on
from textual.actions import ActionParseResult

from app.engine.commands import Pause, Run, RunAgain, SetSchedule, SetTree, StepRound, Stop
from app.engine.events import (
    EngineExited,
    Event,
    Loaded,
    LoadFailed,
    Loading,
    RunFinished,
    RunRejected,
    Schedule,
)
from app.tui.actions.base import AppBase
from app.tui.actions.slow_motion import SlowMotion, can_play
from app.tui.screens.sampling_test import SamplingTestScreen
from app.tui.widgets.prompt import Prompt
from app.tui.widgets.slider import Slider
from decoding.params import AcceptanceRule

COMMAND = re.compile(r"/[a-z?]+( \S+){0,3}|exit|quit|:?q!?")  # as other chat programs have them
AFRESH = ("/new", "/clear", "/reset")  # of these, those for a new conversation
MEANT = {  # others of these, and the key for it
    **dict.fromkeys(("/model", "/models", "/load"), ("app.models", "lists other models")),
    **dict.fromkeys(("/save", "/history", "/resume"), ("app.conversations", "lists what is saved")),
    **dict.fromkeys(("/retry", "/regenerate"), ("run.again", "answers the last question again")),
    "/undo": ("run.undo", "takes the last change back"),
}


class RunActions(AppBase):
    _asked_for_typical = False
    _taken_for_command = ""
    _asks_new = True  # the last request was a new question, not one that is in the panes already

    def forget_last_action(self, action: str | ActionParseResult) -> None:
        """Clear the notice and the question of the action before this one."""
        if action != "acceptance":
            self._asked_for_typical = False
        self.state.clear_notice()

    def settle_queued_prompt(
        self, event: Loaded | LoadFailed | RunFinished | RunRejected | EngineExited
    ) -> None:
        """Run the prompt that waited for the models or for the previous answer. It returns to the
        input if it can't be answered, or if loading its models failed; a rejected prompt does, too.
        """
        state, prompt = self.state, self.main.prompt
        if state.queued and _brings_models(event):
            self.ask_next()
            return
        if isinstance(event, RunRejected):
            if not any(lane.active for lane in state.lanes.values()):
                keys = state.keys
                leave, switch = keys["run.stop"], keys["view.toggle_here"]
                state.show_notice(f"No lane is on: {leave}, then {switch} switches one on")
            if self._asks_new and not prompt.text:
                prompt.write(event.prompt)
        self.take_questions_back()

    def ask_next(self) -> None:
        """Ask the question that has waited longest, unless something is still in its way."""
        state = self.state
        if state.queued and not (state.not_ready or state.busy):
            self._ask(state.queued.pop(0))

    @on(Prompt.Submitted)
    def submit(self, event: Prompt.Submitted) -> None:
        """Run the prompt now, or queue it until the models are loaded or the previous answer is
        done."""
        state, prompt = self.state, self.main.prompt
        text = prompt.asked(event)
        if state.gone:
            self._reopen_engine()
        if not text.strip() and state.stopped:
            self.action_continue()
        elif not text.strip():
            self._say_what_to_type()
        elif COMMAND.fullmatch(text.strip()) and text != self._taken_for_command:
            self._taken_for_command = text
            self._say_which_keys(text.strip())
        else:
            more = prompt.take(text)
            state.queued.append(text)
            self.ask_next()
            if not state.queued and more.isspace():  # the key for a pause, in a burst with Enter
                self.action_pause()
        self.main.show_state()

    def _say_what_to_type(self) -> None:
        state = self.state
        if state.loaded and not state.running:
            again, examples = state.keys["run.again"], state.keys["app.examples"]
            asked = f"Type the next question; {again} runs the last one again"
            state.show_notice(asked if state.turns else f"Type a question; {examples} has examples")

    @on(Prompt.Leaving)
    def say_how_to_leave(self) -> None:
        self.show_notice(f"{self.state.keys['app.quit']} quits")

    def _say_which_keys(self, command: str) -> None:
        """A hint for users who type other programs' commands."""
        keys = self.state.keys
        names = ("run.new", "app.quit", "app.help", "app.palette", "prompt.run")
        begin, leave, helps, all_keys, runs = (keys[name] for name in names)
        first = f"{leave} quits, {helps} opens help"
        if command in AFRESH:
            first = f"{begin} begins a new conversation"
        elif known := MEANT.get(command.split()[0]):
            first = f"{keys[known[0]]} {known[1]}"
        opens = f"{first}, {all_keys} lists all commands"
        self.show_notice(f"{opens}; {runs} sends this text")

    @on(Prompt.Changed)
    def clear_notice(self) -> None:
        """Writing clears the notice. It also ends slow motion, which a space typed before it has
        begun."""
        if self.main.prompt.edited and (self.state.notice or self.state.slow_motion):
            self.end_slow_motion()
            self.show_notice("")

    def _ask(self, text: str) -> None:
        self.end_slow_motion()
        self._asks_new = True
        self.state.running = True  # at once, so that a second Enter has no effect
        self.state.sent = text
        self.engine.send(Run(text))

    def _reopen_engine(self) -> None:
        """Load again, after the models were lost or could not be loaded."""
        self.state.forget_models()
        self.state.loading = Loading("the models again", None)
        self.engine.open()

    def action_redraw(self) -> None:
        """Answer the last question once more with other draws."""
        state = self.state
        lanes = [lane for lane in state.lanes.values() if lane.active]
        in_force = [lane.effective_params(state.params) for lane in lanes]
        if state.turns and lanes and all(params.sampling.greedy for params in in_force):
            leave, key = state.keys["run.stop"], state.keys["view.temperature"]
            keys = f"{leave}, then {key}" if self.main.writing else key
            always = "At temperature 0 the answer is always the same"
            self.show_notice(f"{always}: {keys} goes to the temperature slider")
        else:
            self._run_again(redraw=True)

    def action_again(self) -> None:
        self._run_again(redraw=False)

    def _run_again(self, redraw: bool) -> None:
        state = self.state
        hangs, state.silent = state.silent, False
        if state.busy and not hangs:
            state.show_notice(state.busy)
        elif state.turns:
            if state.gone or hangs:
                self._reopen_engine()
            self.end_slow_motion()
            self._asks_new, state.running = False, True
            self.engine.send(RunAgain(redraw))
        elif hangs:
            self._reopen_engine()
        else:
            self.main.prompt.action_submit()
        self.main.show_state()

    def action_continue(self) -> None:
        """Go on with the answers that were stopped."""
        state = self.state
        if state.stopped:
            self.end_slow_motion()
            request, state.running = state.to_resume(), True
            self.engine.send(request)
        else:
            state.show_notice(state.busy or "There is no stopped answer to continue")
        self.main.show_state()

    def action_leave(self) -> None:
        """Esc takes a queued prompt back. In the prompt it stops the run, else moves to the lanes.
        There it leaves the search or the cursor, else ends zooming, else stops the run, else closes
        the panel. On a slider it stops the run, else moves to the lanes."""
        main = self.main
        idle = not (self.state.running or self.state.slow_motion)
        if self.state.queued:
            self.take_back()
            main.action_focus_prompt()
        elif main.writing and self.state.running:
            self.engine.send(Stop())
        elif main.writing and self.state.slow_motion:
            self.end_slow_motion()
        elif main.writing or (idle and isinstance(main.focused, Slider)):
            main.focus_pane()
        elif main.panel_alone and main.open:
            main.action_panel(main.open)
        elif main.leave_search() or main.leave_cursor():
            pass
        elif main.zoomed:
            main.action_zoom()
        elif self.state.slow_motion:
            self.end_slow_motion()
        elif self.state.running:
            self.engine.send(Stop())
        elif main.open:
            main.action_panel(main.open)
        main.show_state()

    def action_stop(self) -> None:
        """Ctrl+C without selected text; with some, the prompt or the screen handles the key. A
        waiting question comes back: to stop is not to begin the next answer."""
        running = self.state.running
        if running:
            self.engine.send(Stop())
        if self.state.queued:
            self._give_questions_back("Stopped. " if running else "")
        elif running:
            pass
        elif self.main.prompt.text:
            self.main.prompt.put_away()
            self.main.action_focus_prompt()  # whose undo brings it back
            self.show_notice("")  # nor what was said of it
        else:
            self.say_how_to_leave()

    def _give_questions_back(self, why: str) -> None:
        """Return all waiting questions, and say in one notice where they are."""
        count, room, keys = len(self.state.queued), not self.main.prompt.text, self.state.keys
        self.take_questions_back()
        self.main.action_focus_prompt()
        waited = "the question that waited" if count == 1 else f"the {count} questions that waited"
        where = f"↑ in the prompt brings back {waited}"
        if room and count == 1:
            where = f"The question that waited is in the prompt: {keys['prompt.run']} sends it"
        elif room:
            others = "the other" if count == 2 else "the others"
            where = f"The last of {waited} is in the prompt, ↑ brings {others}"
        self.show_notice(f"{why}{where}")

    def action_pause(self) -> None:
        """Pause or continue; if nothing runs, play the last run in slow motion."""
        if self.slow_motion is not None:
            self.slow_motion.paused = not self.slow_motion.paused
        elif self.state.running:
            self.state.run_paused = not self.state.run_paused
            self.engine.send(Pause(self.state.run_paused))
            for name, lane in self.state.lanes.items():
                self.state.look_at(name, lane.cursor)
            self.main.show_state()
        elif can_play(self.state):
            self.state.player = SlowMotion(self.state, self.clock)
            self.play_slow_motion()  # its first frame, even if it is paused at once
            self.main.show_state()

    def action_step(self) -> None:
        """One round of the lane in focus."""
        lane = self.lane_here
        if lane is not None:
            self._step([lane.info.name])

    def action_step_all(self) -> None:
        """One round of every lane."""
        self._step(list(self.state.lanes))

    def _step(self, names: list[str]) -> None:
        state = self.state
        going = [name for name in names if state.lanes[name].going]
        if self.slow_motion is not None:
            self.slow_motion.paused = True
            self.slow_motion.step_lanes(going)
        elif state.running:
            if going and not state.paused:
                self.action_pause()
            for name in going:
                self.engine.send(StepRound(name))
        elif state.turns:
            pause, step = state.keys["run.pause"], state.keys["run.step"]
            self.show_notice(
                f"Nothing is running: {pause} replays the last run, then {step} steps one round"
            )
        if not going and any(lane.going for lane in state.lanes.values()):
            every, lane = state.keys["run.step_all"], state.lanes[names[0]]
            why = "done" if lane.active else "off"
            self.show_notice(
                f"{state.label(names[0])} is {why}: {every} steps all others one round"
            )

    def action_speed(self, direction: int) -> None:
        """Change the speed of the slow motion."""
        if self.slow_motion is not None:
            self.slow_motion.change_speed(direction)
        else:
            pause = self.state.keys["run.pause"]
            self.show_notice(f"For slow motion: {pause} replays a finished run")

    def action_schedule(self) -> None:
        schedule: Schedule = "race" if self.state.schedule == "fair" else "fair"
        self.state.schedule = schedule
        self.engine.send(SetSchedule(schedule))
        self.show_notice(
            "race: all lanes at once, the same time for each"
            if schedule == "race"
            else "fair: one lane after the other"
        )

    def action_acceptance(self) -> None:
        """Toggle between exact and typical acceptance. The key must be pressed twice for typical,
        which is lossy."""
        state = self.state
        rule: AcceptanceRule = "exact" if state.params.acceptance == "typical" else "typical"
        asked, self._asked_for_typical = self._asked_for_typical, False
        if rule == "typical" and not any(
            lane.strategy.typical and lane.info.available for lane in state.lanes.values()
        ):
            self.show_notice("Typical acceptance is Medusa's rule, and there is no Medusa lane")
            return
        if rule == "typical" and not asked:
            self._asked_for_typical = True
            key = state.keys["run.acceptance"]
            self.show_notice(f"{key} again: typical acceptance, which is lossy above temperature 0")
            return
        message = (
            "exact: every lane's text is what the target would say"
            if rule == "exact"
            else "typical: exact at temperature 0, above it Medusa lanes are lossy"
            if state.params.sampling.greedy
            else "typical: Medusa lanes are lossy from their next round on"
        )
        values = {"acceptance": rule}
        state.show_notice(message + self.kept_overrides(values))
        self.change_params(values)

    def action_tree(self, strategy: str, tree: str) -> None:
        """Make all lanes of a strategy draft another tree, from their next round on."""
        for name, lane in self.state.lanes.items():
            if lane.info.strategy == strategy and tree in lane.info.trees:
                lane.tree = tree
                self.engine.send(SetTree(name, tree))
                title = lane.info.title
                self.state.show_notice(f"{title} drafts the tree “{tree}” from the next round on")
        self.main.show_state()

    def action_sampling_test(self) -> None:
        """Compare the lane in focus with plain sampling, while no round is running."""
        state, lane = self.state, self.lane_here
        if lane is None:
            return
        label = state.label(lane.info.name)
        if state.gone:
            state.show_notice(state.why_gone)
        elif reason := lane.info.reason:
            state.show_notice(f"{label}: {reason}")
        elif state.running and not state.paused:
            state.show_notice(
                f"The test needs a pause between two rounds: {state.keys['run.pause']} pauses"
            )
        elif not state.turns:
            state.show_notice("Ask something first: the test draws tokens that answer it")
        elif lane.strategy.is_baseline:
            state.show_notice(f"{label} is plain sampling itself: test a lane that drafts")
        else:
            self.push_screen(SamplingTestScreen(self.engine, lane.info.name, label))
        self.main.show_state()


def _brings_models(event: Event) -> bool:
    """Whether the models that a queued prompt was meant for can answer it now."""
    return isinstance(event, RunFinished) or (isinstance(event, Loaded) and not event.restored)
