"""The session's thread: loads models, changes lanes, answers prompts, runs sampling tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from app.engine.commands import (
    AnswerSoFar,
    Continue,
    MeasureAnswer,
    OpenModels,
    StartAdvice,
    StartSamplingTest,
    Turn,
)
from app.engine.config import SessionConfig
from app.engine.events import (
    Advice,
    AnswerMeasured,
    EngineExited,
    LoadFailed,
    Loading,
    RunContinued,
    RunFinished,
    RunRejected,
    RunStarted,
    SamplingTest,
)
from app.engine.mailbox import Mailbox
from app.servers.chunks import Question
from decoding.errors import InputError, describe

if TYPE_CHECKING:  # these import torch; they are imported on the thread
    from app.engine.lane_turn import AnyLane
    from app.engine.lanes import Lanes
    from app.engine.turn import TurnRunner
    from app.models.loaded import LoadedModels
    from decoding.tokenizing.stopping import Stop


@dataclass(frozen=True, slots=True)
class PromptContext:
    """The last turn: its prompt, its stop conditions, and the tokens of each lane that has not
    finished."""

    prompt_ids: Sequence[int]
    stop: Stop
    unfinished: Mapping[str, Sequence[int]]


class Worker:
    """Carries out the mailbox's commands until the session is closed."""

    def __init__(self, mailbox: Mailbox, config: SessionConfig) -> None:
        self._mailbox, self._config = mailbox, config
        self._lanes: Lanes | None = None
        self.turns: tuple[Turn, ...] = ()
        self._context: PromptContext | None = None

    def run(self) -> None:
        try:
            self._until_closed()
        except BaseException as error:  # a lost GPU, a model's own code that exits
            self._mailbox.emit(EngineExited(f"decoding broke: {describe(error)}"))

    def _until_closed(self) -> None:
        mailbox = self._mailbox
        while not mailbox.closed:
            mailbox.wait_for_work()
            with mailbox.wake:
                if mailbox.next_conversation is not None:
                    self.turns, mailbox.next_conversation = mailbox.next_conversation, None
                    self._context = None
                request, mailbox.models = mailbox.models, None
            if request is not None:
                self._load(request)
            if self._lanes is None:
                self._refuse("no model is loaded")
                continue
            self._lanes.apply_changes()
            if turn := self._next_turn():
                try:
                    if isinstance(turn, Continue):
                        self._continue(turn, self._lanes)
                    else:
                        self._answer(turn, self._lanes)
                except Exception as error:  # the thread goes on; the user gets the prompt back
                    mailbox.emit(RunRejected(turn.prompt, str(error) or type(error).__name__))
            elif test := mailbox.sampling_test:
                self._test_sampling(test, self._lanes, running=False)
            elif request_for_advice := mailbox.advice:
                self._advise(request_for_advice, self._lanes)
            elif mailbox.measurements:
                self._measure(mailbox.measurements[0], self._lanes)

    def _next_turn(self) -> Turn | Continue | None:
        """The turn to answer now; None if there is none, or other work goes first."""
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
            self._mailbox.measurements.clear()
        if turn:
            self._mailbox.emit(RunRejected(turn.prompt, why))

    # Loading

    def _load(self, request: OpenModels) -> None:
        """Load the requested models; if that fails, the previous ones again. These are freed first,
        as there may be no room for both."""
        before = self._lanes.release() if self._lanes else None
        self._lanes = None
        complaint = self._try_load(request)
        if complaint is None:
            return
        restored = (
            before
            and before.options != request.options
            and self._try_load(before, restored=True) is None
        )
        self._mailbox.emit(LoadFailed(complaint, kept=bool(restored)))

    def _try_load(self, request: OpenModels, restored: bool = False) -> str | None:
        """Returns what went wrong, None if nothing."""
        mailbox = self._mailbox
        mailbox.emit(Loading("torch and transformers", None))
        try:
            from app.engine.lanes import Lanes

            self._lanes = Lanes(request, mailbox, restored)
        except InputError as error:
            return str(error)
        except Exception as error:  # the screen shows it, whatever it is
            return f"loading broke: {type(error).__name__}: {error}"
        return None

    # Answering

    def _answer(self, turn: Turn, lanes: Lanes) -> None:
        mailbox, models = self._mailbox, lanes.models
        before = self.turns
        if before and before[-1].run == turn.run:  # run again: the old answers are replaced
            before = before[:-1]
        ids = self._encode(before, turn.prompt, models)
        running = [lane for lane in lanes if lane.available and mailbox.enabled(lane.spec.name)]
        if not running:
            raise InputError("no lane is switched on")
        self.turns = (*before, turn)
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
                self._leader_of(before[-1]) if before else mailbox.leader,
            )
        )
        self._run_turn(ids, running, lanes)

    def _continue(self, request: Continue, lanes: Lanes) -> None:
        """Go on with the last turn."""
        if not self.turns:
            raise InputError("there is no answer to go on with")
        known = {*request.lanes, *request.answers}
        self._mailbox.emit(RunContinued(self.turns[-1].run, request.lanes))
        running = [lane for lane in lanes if lane.available and lane.spec.name in known]
        self._run_turn(request.prompt_ids, running, lanes, request.answers)

    def _run_turn(
        self,
        ids: Sequence[int],
        running: Sequence[AnyLane],
        lanes: Lanes,
        answers: Mapping[str, AnswerSoFar] = MappingProxyType({}),
    ) -> None:
        """Answer the last turn in the lanes `running`, after its `answers` so far."""
        from app.engine.lane_turn import Task
        from app.engine.memory import memory
        from app.engine.turn import TurnRunner, answer_seed

        mailbox, models = self._mailbox, lanes.models
        *before, turn = self.turns
        stop = self._stop(models)
        self._context = PromptContext(ids, stop, {})
        question = Question(
            self._messages(before, turn.prompt),
            mailbox.params,
            answer_seed(mailbox.seed, turn.run),
            self._config.stop_texts,
            self._config.raw,
            self._config.ignore_eos,
        )
        task = Task(ids, question, stop, lambda: mailbox.stopping, mailbox.notify)
        runner = TurnRunner(running, task, mailbox.emit)
        runner.restore(answers)
        self._run_rounds(runner, lanes)
        stopped = runner.end()
        self._context = PromptContext(ids, stop, runner.unfinished())
        answered = replace(turn, answers={**turn.answers, **runner.answers()})
        self.turns = (*before, answered)
        mailbox.emit(RunFinished(turn.run, stopped, memory(models, list(lanes))))

    def _run_rounds(self, runner: TurnRunner, lanes: Lanes) -> None:
        """Advance the lanes of a turn until all are done, or it is stopped."""
        from app.engine.lane import Lane

        mailbox = self._mailbox

        def goes_on(name: str) -> bool:
            return mailbox.enabled(name) and name in lanes

        while runner.goes_on(goes_on) and not mailbox.stopping:
            go_on = mailbox.wait_for_round()
            lanes.apply_changes(idle=False)
            if not go_on and (request := mailbox.sampling_test):
                assert self._context is not None
                self._context = replace(self._context, unfinished=runner.unfinished())
                self._test_sampling(request, lanes, running=True)
            if not (go_on and runner.goes_on(goes_on)):
                continue
            runner.ask_servers(mailbox.schedule, mailbox.params)
            # what is due may have changed during a pause
            due = runner.due(mailbox.schedule, goes_on, mailbox.stepped)
            if due is None:
                mailbox.wait_for_arrival(runner.has_arrived)
                continue
            name = due.lane.spec.name
            if isinstance(due.lane, Lane):
                due.lane.record_probabilities(name in mailbox.recorded_lanes)
                if name in mailbox.trees:
                    due.lane.set_tree(mailbox.trees[name])
            runner.advance(due, mailbox.params)

    def _stop(self, models: LoadedModels | None) -> Stop:
        """What ends an answer here; servers get it with the question."""
        from decoding.tokenizing.stopping import Stop

        config = self._config
        return models.stop(config.ignore_eos, config.stop_texts) if models else Stop()

    def _encode(
        self, before: tuple[Turn, ...], prompt: str, models: LoadedModels | None
    ) -> list[int]:
        """The ids of the conversation; none if only servers answer."""
        from decoding.prefill import require_room

        if models is None:
            return []
        ids = models.encode(self._messages(before, prompt), self._config.raw)
        name, advice = "the question", "shorten it"
        if before:  # this fits beside the numbers in 100 columns
            name, advice = "the conversation", "shorten it or begin a new one"
        require_room(models.context, name, len(ids), advice)
        return ids

    def _messages(self, before: Sequence[Turn], prompt: str) -> list[dict[str, str]]:
        """The conversation so far, as the leading lane answered it, and the new prompt."""
        system = self._config.system
        messages = [{"role": "system", "content": system}] if system else []
        for turn in before:
            leader = self._leader_of(turn)
            if leader is None:  # stopped before the first token
                continue
            messages.append({"role": "user", "content": turn.prompt})
            messages.append({"role": "assistant", "content": turn.answers[leader]})
        return [*messages, {"role": "user", "content": prompt}]

    def _leader_of(self, turn: Turn) -> str | None:
        """The lane whose answer the conversation continues: the leader, or the first lane with an
        answer if the leader has none."""
        names = (self._mailbox.leader or "", *turn.answers)
        return next((name for name in names if turn.answers.get(name)), None)

    # Probabilities of finished answers

    def _measure(self, answer: MeasureAnswer, lanes: Lanes) -> None:
        """Measure a finished answer until it is done or dropped. Any other request interrupts it,
        and it starts again later."""
        from app.engine.lane import Lane

        mailbox = self._mailbox

        def cancelled() -> bool:
            if mailbox.closed or mailbox.has_urgent_work:
                return True
            return answer not in mailbox.measurements

        measured = AnswerMeasured(answer.lane, answer.run, note=f"there is no lane {answer.lane}")
        try:
            for lane in lanes:
                if lane.spec.name == answer.lane and isinstance(lane, Lane):
                    measured = lane.measure(answer, cancelled)
        except InterruptedError:
            return
        except Exception as error:  # the screen shows it, and the thread goes on
            measured = replace(measured, note=describe(error))
        with mailbox.wake:
            if answer in mailbox.measurements:
                mailbox.measurements.remove(answer)
        mailbox.emit(measured)

    # Sampling tests

    def _context_of_last_turn(self, models: LoadedModels | None) -> PromptContext:
        """The context of a resumed conversation, as if its last prompt were run again."""
        if not self.turns:
            raise InputError("nothing was asked yet that could go on")
        *_, last = self.turns
        ids = self._encode(self.turns[:-1], last.prompt, models)
        return PromptContext(ids, self._stop(models), {})

    def _test_sampling(self, request: StartSamplingTest, lanes: Lanes, running: bool) -> None:
        """Run a sampling test until it is done, or anything else is requested."""
        from app.engine.lane import Lane
        from app.engine.sampling_test import StartState, compare_with_target

        mailbox = self._mailbox
        try:
            lane = next((lane for lane in lanes if lane.spec.name == request.lane), None)
            if lane is None or not lane.available:
                raise InputError((lane and lane.reason) or f"there is no lane {request.lane}")
            if not isinstance(lane, Lane):
                raise InputError("it is a server: its next tokens can't be drawn one by one")
            context = self._context or self._context_of_last_turn(lanes.models)
            ids = [*context.prompt_ids, *context.unfinished.get(request.lane, ())]
            tree = mailbox.trees.get(request.lane)
            state = StartState(ids, mailbox.params, context.stop, mailbox.seed, tree)
            for result in compare_with_target(
                lane,
                state,
                request.repetitions,
                lambda: not mailbox.is_sole_request(request, running),
            ):
                mailbox.emit(result)
        except Exception as error:  # the screen shows it, and the thread goes on
            note = describe(error)
            mailbox.emit(SamplingTest(request.lane, repetitions=request.repetitions, note=note))
        with mailbox.wake:
            if mailbox.sampling_test is request:
                mailbox.sampling_test = None

    # Advice

    def _advise(self, request: StartAdvice, lanes: Lanes) -> None:
        """Measure for advice until it is done, or anything else is requested."""
        from app.engine.advice import advise

        mailbox, models = self._mailbox, lanes.models
        specs = [lane.spec for lane in lanes if mailbox.enabled(lane.spec.name)]
        trees = mailbox.trees
        try:
            if models is None:
                raise InputError("servers answer, and no model is loaded here to measure")
            document = advise(
                request,
                models,
                [replace(spec, tree=trees.get(spec.name, spec.tree)) for spec in specs],
                self._prompts(request.examples, models),
                params=mailbox.params,
                stop=self._stop(models),
                seed=mailbox.seed,
                report=lambda what, part: mailbox.emit(Advice(what, part)),
                cancelled=lambda: not mailbox.is_advising(request),
            )
            result = Advice(document=document)
        except InterruptedError:
            result = Advice(note="something else was asked for")
        except Exception as error:  # the screen shows it, and the thread goes on
            result = Advice(note=describe(error))
        with mailbox.wake:
            wanted = mailbox.advice is request
            if wanted:
                mailbox.advice = None
        if wanted:
            mailbox.emit(result)

    def _prompts(self, examples: Sequence[str], models: LoadedModels) -> list[list[int]]:
        """The conversation's prompts, each with its history; the `examples` if there are none."""
        if not self.turns:
            return [self._encode((), prompt, models) for prompt in examples]
        return [
            self._encode(self.turns[:number], turn.prompt, models)
            for number, turn in enumerate(self.turns)
        ]
