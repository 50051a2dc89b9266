"""The session's thread: loads models, changes lanes and answers prompts; other work in between."""

from __future__ import annotations

import gc
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from app.engine.commands import (
    AnswerSoFar,
    OpenModels,
    ResumeAnswer,
    StartSamplingTest,
    Turn,
)
from app.engine.conversation import Conversation, ConversationTooLong, PromptContext
from app.engine.events import (
    EngineExited,
    LoadFailed,
    Loading,
    RunContinued,
    RunFinished,
    RunRejected,
    RunStarted,
)
from app.engine.mailbox import Mailbox
from app.engine.session_config import SessionConfig
from app.heavy_imports import heavy_imports
from app.servers.protocol import Question
from decoding.errors import InputError, describe

if TYPE_CHECKING:  # these import torch; they are imported on the thread
    from app.engine.lane_turn import AnyLane
    from app.engine.lanes import Lanes
    from app.engine.turn import TurnRunner


class Worker:
    """Carries out the mailbox's commands until the session is closed."""

    def __init__(self, mailbox: Mailbox, config: SessionConfig) -> None:
        self._mailbox, self._config = mailbox, config
        self._lanes: Lanes | None = None
        self.conversation = Conversation(mailbox, config)

    def run(self) -> None:
        """Work until the session is closed, on its thread. A failure is reported, and ends it."""
        try:
            self._until_closed()
        except BaseException as error:  # a lost GPU, a model's own code that exits
            self._mailbox.emit(EngineExited(f"decoding failed: {describe(error)}"))

    def _until_closed(self) -> None:
        mailbox = self._mailbox
        while not mailbox.closed:
            mailbox.wait_for_work()
            with mailbox.wake:
                if mailbox.next_conversation is not None:
                    self.conversation.open(mailbox.next_conversation)
                    mailbox.next_conversation = None
                request, mailbox.models = mailbox.models, None
            if request is not None:
                self._load(request)
            if self._lanes is None:
                if mailbox.models is None:  # else others will be loaded
                    self._refuse("no model is loaded")
                continue
            self._lanes.apply_changes()
            if turn := self._next_turn():
                try:
                    if isinstance(turn, ResumeAnswer):
                        self._resume_answer(turn, self._lanes)
                    else:
                        self._answer(turn, self._lanes)
                except Exception as error:  # the thread goes on; the user gets the prompt back
                    too_long = isinstance(error, ConversationTooLong)
                    mailbox.emit(RunRejected(turn.prompt, describe(error), too_long))
            else:
                self._use_idle_time(self._lanes)

    def _use_idle_time(self, lanes: Lanes) -> None:
        from app.engine.between_turns import compute_probabilities, give_advice, run_sampling_test

        mailbox, conversation = self._mailbox, self.conversation
        if test := mailbox.sampling_test:
            run_sampling_test(test, mailbox, lanes, conversation, running=False)
        elif advice := mailbox.advice:
            give_advice(advice, mailbox, lanes, conversation)
        elif mailbox.probabilities:
            compute_probabilities(mailbox.probabilities[0], mailbox, lanes)

    def _next_turn(self) -> Turn | ResumeAnswer | None:
        """Take the turn to answer now; None if there is none, or other work goes first."""
        mailbox = self._mailbox
        with mailbox.wake:
            if mailbox.closed or mailbox.models or mailbox.lane_changes:
                return None
            if mailbox.next_conversation is not None:
                return None
            turn, mailbox.next_turn = mailbox.next_turn, None
            mailbox.stopping = False  # it was meant for the turn before
            return turn

    def _refuse(self, why: str) -> None:
        """Drop all pending work: there are no models to do it with."""
        with self._mailbox.wake:
            self._mailbox.lane_changes.clear()
            turn, self._mailbox.next_turn = self._mailbox.next_turn, None
            self._mailbox.sampling_test = self._mailbox.advice = None
            self._mailbox.probabilities.clear()
        if turn:
            self._mailbox.emit(RunRejected(turn.prompt, why))

    # Loading

    def _load(self, request: OpenModels) -> None:
        """Load the requested models; if that fails, the previous ones again. These are freed first,
        as there may be no room for both."""
        before = self._lanes.release() if self._lanes else None
        self._lanes = None
        complaint = self._try_load(request)
        if complaint is None or (before is None and self._mailbox.models):
            return  # a failure is of no interest once other models are asked for
        gc.collect()  # what was loaded in vain: there may be no room for both either
        restored = (
            before
            and before.options != request.options
            and self._try_load(before, restored=True) is None
        )
        self._mailbox.emit(LoadFailed(complaint, kept=bool(restored)))

    def _try_load(self, request: OpenModels, restored: bool = False) -> str | None:
        """Load the requested models. Returns what went wrong, None if nothing."""
        mailbox = self._mailbox
        mailbox.emit(Loading("torch and transformers", None))
        try:
            with heavy_imports():
                from app.engine.lanes import Lanes

            self._lanes = Lanes(request, mailbox, restored)
        except InputError as error:
            return str(error)
        except Exception as error:  # the screen shows it, whatever it is
            return f"loading failed: {describe(error)}"
        return None

    # Answering

    def _answer(self, turn: Turn, lanes: Lanes) -> None:
        mailbox, conversation = self._mailbox, self.conversation
        before = conversation.before(turn)
        ids = conversation.encode(before, turn.prompt, lanes.models)
        running = [lane for lane in lanes if lane.available and mailbox.enabled(lane.spec.name)]
        if not running:
            raise InputError("no lane is switched on")
        conversation.turns = (*before, turn)
        mailbox.emit(
            RunStarted(
                turn.run,
                len(before),
                turn.prompt,
                len(ids),
                mailbox.seed,
                tuple(lane.spec.name for lane in running),
                tuple(ids),
                mailbox.schedule,
                conversation.leader_of(before[-1]) if before else mailbox.leader,
                replaces=turn.replaces,
            )
        )
        self._run_turn(ids, running, lanes, mailbox.seed)

    def _resume_answer(self, request: ResumeAnswer, lanes: Lanes) -> None:
        """Go on with the last turn."""
        turns = self.conversation.turns
        if not turns:
            raise InputError("there is no answer to continue")
        known = {*request.lanes, *request.answers}
        self._mailbox.emit(RunContinued(turns[-1].run, request.lanes))
        running = [lane for lane in lanes if lane.available and lane.spec.name in known]
        self._run_turn(request.prompt_ids, running, lanes, request.seed, request.answers)

    def _run_turn(
        self,
        ids: Sequence[int],
        running: Sequence[AnyLane],
        lanes: Lanes,
        seed: int,
        answers: Mapping[str, AnswerSoFar] = MappingProxyType({}),
    ) -> None:
        """Answer the last turn in the lanes `running`, after its `answers` so far."""
        from app.engine.lane_turn import Task
        from app.engine.memory import memory
        from app.engine.turn import TurnRunner, answer_seed

        mailbox, conversation = self._mailbox, self.conversation
        *before, turn = conversation.turns
        stop = conversation.stop(lanes.models)
        conversation.context = PromptContext(ids, stop, {})
        question = Question(
            conversation.messages(before, turn.prompt),
            mailbox.params,
            answer_seed(seed, len(before))
            if turn.replaces is None
            else answer_seed(seed, turn.run, "drawn anew"),
            self._config.stop_texts,
            self._config.raw,
            self._config.ignore_eos,
        )
        task = Task(ids, question, stop, lambda: mailbox.stopping, mailbox.notify)
        runner = TurnRunner(running, task, mailbox.emit)
        runner.restore(answers)
        self._run_rounds(runner, lanes)
        stopped = runner.end()
        conversation.context = PromptContext(ids, stop, runner.unfinished())
        answered = replace(turn, answers={**turn.answers, **runner.answers()})
        conversation.turns = (*before, answered)
        mailbox.emit(RunFinished(turn.run, stopped, memory(lanes.models, list(lanes))))

    def _run_rounds(self, runner: TurnRunner, lanes: Lanes) -> None:
        """Advance the lanes of a turn until all are done, or it is stopped."""
        mailbox = self._mailbox

        def enabled(name: str) -> bool:
            return mailbox.enabled(name) and name in lanes

        runner.stop_disabled(enabled)
        while runner.running and not mailbox.stopping:
            go_on = mailbox.wait_for_round()
            lanes.apply_changes(idle=False)
            if not go_on and (request := mailbox.sampling_test):
                self._test_sampling_in_pause(request, runner, lanes)
            runner.stop_disabled(enabled)
            if not (go_on and runner.running):
                continue
            runner.ask_servers(mailbox.schedule, mailbox.params)
            # what is due may have changed during a pause
            due = runner.due(mailbox.schedule, mailbox.stepped)
            if due is None:
                mailbox.wait_for_arrival(runner.has_arrived)
                continue
            due.configure(due.name in mailbox.recorded_lanes, mailbox.trees.get(due.name))
            runner.advance(due, mailbox.params)

    def _test_sampling_in_pause(
        self, request: StartSamplingTest, runner: TurnRunner, lanes: Lanes
    ) -> None:
        from app.engine.between_turns import run_sampling_test

        context = self.conversation.context
        assert context is not None
        self.conversation.context = replace(context, unfinished=runner.unfinished())
        run_sampling_test(request, self._mailbox, lanes, self.conversation, running=True)
