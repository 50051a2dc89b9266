"""What the session's thread does: load, change lanes, answer, prove."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from app.engine.commands import OpenModels, StartSamplingTest, Turn
from app.engine.events import (
    EngineExited,
    LoadFailed,
    Loading,
    RunFinished,
    RunRejected,
    RunStarted,
    SamplingTest,
)
from app.engine.mailbox import Mailbox
from decoding.errors import InputError

if TYPE_CHECKING:  # torch comes with these; they are imported on the thread
    from app.engine.lanes import Lanes
    from app.models.loaded import LoadedModels
    from decoding.tokenizing.stopping import Stop


@dataclass(frozen=True, slots=True)
class PromptContext:
    """The last turn's prompt, where answers to it end, and those that did not yet, by lane."""

    prompt_ids: Sequence[int]
    stop: Stop
    unfinished: Mapping[str, Sequence[int]]


class Worker:
    """Carries out wishes until the session is closed."""

    def __init__(
        self,
        mailbox: Mailbox,
        system: str | None,
        raw: bool,
        stop_texts: tuple[str, ...],
        ignore_eos: bool,
        prompts: Callable[[], tuple[str, ...]],
    ) -> None:
        self._mailbox = mailbox
        self._system, self._raw = system, raw
        self._stop_texts, self._ignore_eos = stop_texts, ignore_eos
        self._prompts = prompts
        self._lanes: Lanes | None = None
        self.turns: tuple[Turn, ...] = ()
        self._asked: PromptContext | None = None

    def go(self) -> None:
        try:
            self._until_closed()
        except BaseException as error:  # a GPU that is lost, a model's own code that exits
            from app.engine.turn import describe

            self._mailbox.emit(EngineExited(f"decoding broke: {describe(error)}"))

    def _until_closed(self) -> None:
        mailbox = self._mailbox
        while not mailbox.closed:
            mailbox.wait_for_work()
            with mailbox.wake:
                if mailbox.opening is not None:
                    self.turns, mailbox.opening = mailbox.opening, None
                    self._asked = None
                models, mailbox.models = mailbox.models, None
            if models is not None:
                self._load(models)
            if self._lanes is None:
                self._refuse("no model is loaded")
                continue
            self._lanes.change(mailbox)
            if turn := self._next_turn():
                try:
                    self._answer(turn, self._lanes)
                except Exception as error:  # the thread lives on; the prompt goes back to the user
                    mailbox.emit(RunRejected(turn.prompt, str(error) or type(error).__name__))
            elif mailbox.claim:
                self._prove(mailbox.claim, self._lanes, running=False)

    def _next_turn(self) -> Turn | None:
        """What is to be answered now, unless something else is to be done first."""
        mailbox = self._mailbox
        with mailbox.wake:
            if mailbox.closed or mailbox.models or mailbox.changes or mailbox.opening is not None:
                return None
            turn, mailbox.turn = mailbox.turn, None
            mailbox.stopping = False  # that was meant for the turn before
            return turn

    def _refuse(self, why: str) -> None:
        """Whatever is asked of models that are not there."""
        with self._mailbox.wake:
            self._mailbox.changes.clear()
            turn, self._mailbox.turn = self._mailbox.turn, None
            self._mailbox.claim = None
        if turn:
            self._mailbox.emit(RunRejected(turn.prompt, why))

    # Loading

    def _load(self, models: OpenModels) -> None:
        """The models that were there are freed first: there may be no room for both. Where the new
        ones can't be loaded they come back."""
        before = self._lanes.release() if self._lanes else None
        self._lanes = None
        complaint = self._try(models)
        if complaint is None:
            return
        back = before and before.options != models.options and self._try(before, back=True) is None
        self._mailbox.emit(LoadFailed(complaint, kept=bool(back)))

    def _try(self, models: OpenModels, back: bool = False) -> str | None:
        """What went wrong."""
        mailbox = self._mailbox
        mailbox.emit(Loading("torch and transformers", None))
        try:
            from app.engine.lanes import Lanes

            self._lanes = Lanes(models, mailbox, self._prompts, back)
        except InputError as error:
            return str(error)
        except Exception as error:  # whatever it is, the screen must be able to show it
            return f"loading broke: {type(error).__name__}: {error}"
        return None

    # Answering

    def _answer(self, turn: Turn, lanes: Lanes) -> None:
        from app.engine.memory import memory
        from app.engine.turn import TurnRunner

        mailbox, family = self._mailbox, lanes.family
        before = self.turns
        if before and before[-1].run == turn.run:  # once more: its old answers go
            before = before[:-1]
        ids = self._encode(before, turn.prompt, family)
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
        stop = self._stop(family)
        self._asked = PromptContext(ids, stop, {})
        runner = TurnRunner(
            running, ids, mailbox.seed, turn.run, stop, mailbox.emit, lambda: mailbox.stopping
        )

        def goes_on(name: str) -> bool:
            return mailbox.enabled(name) and name in lanes

        while runner.due(mailbox.schedule, goes_on) and not mailbox.stopping:
            go_on = mailbox.may_go_on()
            lanes.change(mailbox, idle=False)
            if not go_on and mailbox.claim:
                self._asked = PromptContext(ids, stop, runner.unfinished())
                self._prove(mailbox.claim, lanes, running=True)
            # what is due may have changed during a pause
            if go_on and (due := runner.due(mailbox.schedule, goes_on)):
                name = due.lane.spec.name
                due.lane.watch(name in mailbox.watched)
                if name in mailbox.trees:
                    due.lane.set_tree(mailbox.trees[name])
                runner.advance(due, mailbox.params)
        stopped = runner.end()
        self._asked = PromptContext(ids, stop, runner.unfinished())
        self.turns = (*before, replace(turn, answers=runner.answers()))
        mailbox.emit(RunFinished(turn.run, stopped, memory(family, list(lanes))))

    def _encode(self, before: tuple[Turn, ...], prompt: str, family: LoadedModels) -> list[int]:
        ids = family.encode(self._messages(before, prompt), self._raw)
        if len(ids) > family.context:
            raise InputError(
                f"{len(ids)} tokens, but the model's context holds {family.context}: "
                "shorten the prompt or begin a new conversation"
            )
        return ids

    def _stop(self, family: LoadedModels) -> Stop:
        from decoding.tokenizing.stopping import Stop

        eos = frozenset() if self._ignore_eos else family.eos
        return Stop(eos, self._stop_texts, family.decode)

    def _messages(self, before: tuple[Turn, ...], prompt: str) -> list[dict[str, str]]:
        """The conversation so far, as the leading lane answered it, and the new prompt."""
        messages = [{"role": "system", "content": self._system}] if self._system else []
        for turn in before:
            leader = self._leader_of(turn)
            if leader is None:  # stopped before anybody said a word
                continue
            messages.append({"role": "user", "content": turn.prompt})
            messages.append({"role": "assistant", "content": turn.answers[leader]})
        return [*messages, {"role": "user", "content": prompt}]

    def _leader_of(self, turn: Turn) -> str | None:
        """Whose answer counts: the leading lane's, or the first one's if that said nothing."""
        names = (self._mailbox.leader or "", *turn.answers)
        return next((name for name in names if turn.answers.get(name)), None)

    # Proving

    def _asked_before(self, family: LoadedModels) -> PromptContext:
        """The last turn of a conversation that was reopened, as it would be asked again."""
        if not self.turns:
            raise InputError("nothing was asked yet that could go on")
        *_, last = self.turns
        ids = self._encode(self.turns[:-1], last.prompt, family)
        return PromptContext(ids, self._stop(family), {})

    def _prove(self, claim: StartSamplingTest, lanes: Lanes, running: bool) -> None:
        """Until that is done, or something else is asked for."""
        from app.engine.sampling_test import Place, compare_with_target
        from app.engine.turn import describe

        mailbox = self._mailbox
        try:
            lane = next((lane for lane in lanes if lane.spec.name == claim.lane), None)
            if lane is None or not lane.available:
                raise InputError((lane and lane.reason) or f"there is no lane {claim.lane}")
            asked = self._asked or self._asked_before(lanes.family)
            ids = [*asked.prompt_ids, *asked.unfinished.get(claim.lane, ())]
            tree = mailbox.trees.get(claim.lane)
            place = Place(ids, mailbox.params, asked.stop, mailbox.seed, tree)
            for proof in compare_with_target(
                lane, place, claim.repetitions, lambda: not mailbox.only(claim, running)
            ):
                mailbox.emit(proof)
        except Exception as error:  # the screen says so, and the thread lives on
            note = describe(error)
            mailbox.emit(SamplingTest(claim.lane, repetitions=claim.repetitions, note=note))
        with mailbox.wake:
            if mailbox.claim is claim:
                mailbox.claim = None
