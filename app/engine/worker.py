"""What the session's thread does: load, change lanes, answer, prove."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.engine.events import Ended, LoadFailed, Loading, Proof, RunFinished, RunRefused, RunStarted
from app.engine.mailbox import Claim, Models, Turn, Wishes
from decoding.errors import InputError

if TYPE_CHECKING:  # torch comes with these; they are imported on the thread
    from app.engine.lanes import Lanes
    from app.models.loaded import Family
    from decoding.tokenizing.stopping import Stop


@dataclass(frozen=True, slots=True)
class Asked:
    """The last turn's prompt, where answers to it end, and those that did not yet, by lane."""

    prompt_ids: Sequence[int]
    stop: Stop
    unfinished: Mapping[str, Sequence[int]]


class Work:
    """Carries out wishes until the session is closed."""

    def __init__(
        self,
        wishes: Wishes,
        system: str | None,
        raw: bool,
        stop_texts: tuple[str, ...],
        ignore_eos: bool,
        prompts: Callable[[], tuple[str, ...]],
    ) -> None:
        self._wishes = wishes
        self._system, self._raw = system, raw
        self._stop_texts, self._ignore_eos = stop_texts, ignore_eos
        self._prompts = prompts
        self._lanes: Lanes | None = None
        self.turns: list[Turn] = []
        self._asked: Asked | None = None

    def go(self) -> None:
        try:
            self._until_closed()
        except BaseException as error:  # a GPU that is lost, a model's own code that exits
            from app.engine.turn import describe

            self._wishes.emit(Ended(f"decoding broke: {describe(error)}"))

    def _until_closed(self) -> None:
        wishes = self._wishes
        while not wishes.closed:
            wishes.wait_for_work()
            with wishes.wake:
                if wishes.opening is not None:
                    self.turns, wishes.opening = wishes.opening, None
                    self._asked = None
                models, wishes.models = wishes.models, None
            if models is not None:
                self._load(models)
            if self._lanes is None:
                self._refuse("no model is loaded")
                continue
            self._lanes.change(wishes)
            if turn := self._next_turn():
                try:
                    self._answer(turn, self._lanes)
                except Exception as error:  # the thread lives on; the prompt goes back to the user
                    wishes.emit(RunRefused(turn.prompt, str(error) or type(error).__name__))
            elif wishes.claim:
                self._prove(wishes.claim, self._lanes, running=False)

    def _next_turn(self) -> Turn | None:
        """What is to be answered now, unless something else is to be done first."""
        wishes = self._wishes
        with wishes.wake:
            if wishes.closed or wishes.models or wishes.changes or wishes.opening is not None:
                return None
            turn, wishes.turn = wishes.turn, None
            wishes.stopping = False  # that was meant for the turn before
            return turn

    def _refuse(self, why: str) -> None:
        """Whatever is asked of models that are not there."""
        with self._wishes.wake:
            self._wishes.changes.clear()
            turn, self._wishes.turn = self._wishes.turn, None
            self._wishes.claim = None
        if turn:
            self._wishes.emit(RunRefused(turn.prompt, why))

    # Loading

    def _load(self, models: Models) -> None:
        """The models that were there are freed first: there may be no room for both. Where the new
        ones can't be loaded they come back."""
        before = self._lanes.release() if self._lanes else None
        self._lanes = None
        complaint = self._try(models)
        if complaint is None:
            return
        back = before and before.options != models.options and self._try(before, back=True) is None
        self._wishes.emit(LoadFailed(complaint, kept=bool(back)))

    def _try(self, models: Models, back: bool = False) -> str | None:
        """What went wrong."""
        wishes = self._wishes
        wishes.emit(Loading("torch and transformers", None))
        try:
            from app.engine.lanes import Lanes

            self._lanes = Lanes(models, wishes, self._prompts, back)
        except InputError as error:
            return str(error)
        except Exception as error:  # whatever it is, the screen must be able to show it
            return f"loading broke: {type(error).__name__}: {error}"
        return None

    # Answering

    def _answer(self, turn: Turn, lanes: Lanes) -> None:
        from app.engine.memory import memory
        from app.engine.turn import TurnRunner

        wishes, family = self._wishes, lanes.family
        before = self.turns
        if before and before[-1].run == turn.run:  # once more: its old answers go
            before = before[:-1]
        ids = self._encode(before, turn.prompt, family)
        running = [lane for lane in lanes if lane.available and wishes.enabled(lane.spec.name)]
        if not running:
            raise InputError("no lane is switched on")
        self.turns = [*before, turn]
        wishes.emit(
            RunStarted(
                turn.run,
                len(before),
                turn.prompt,
                len(ids),
                wishes.seed,
                tuple(lane.spec.name for lane in running),
                tuple(ids),
                wishes.schedule,
                self._leader_of(before[-1]) if before else wishes.leader,
            )
        )
        stop = self._stop(family)
        self._asked = Asked(ids, stop, {})
        runner = TurnRunner(
            running, ids, wishes.seed, turn.run, stop, wishes.emit, lambda: wishes.stopping
        )

        def goes_on(name: str) -> bool:
            return wishes.enabled(name) and name in lanes

        while runner.due(wishes.schedule, goes_on) and not wishes.stopping:
            go_on = wishes.may_go_on()
            lanes.change(wishes, idle=False)
            if not go_on and wishes.claim:
                self._asked = Asked(ids, stop, runner.unfinished())
                self._prove(wishes.claim, lanes, running=True)
            # what is due may have changed during a pause
            if go_on and (due := runner.due(wishes.schedule, goes_on)):
                name = due.lane.spec.name
                due.lane.watch(name in wishes.watched)
                if name in wishes.trees:
                    due.lane.set_tree(wishes.trees[name])
                runner.advance(due, wishes.params)
        stopped = runner.end()
        self._asked = Asked(ids, stop, runner.unfinished())
        turn.answers = runner.answers()
        wishes.emit(RunFinished(turn.run, stopped, memory(family, list(lanes))))

    def _encode(self, before: list[Turn], prompt: str, family: Family) -> list[int]:
        ids = family.encode(self._messages(before, prompt), self._raw)
        if len(ids) > family.context:
            raise InputError(
                f"{len(ids)} tokens, but the model's context holds {family.context}: "
                "shorten the prompt or begin a new conversation"
            )
        return ids

    def _stop(self, family: Family) -> Stop:
        from decoding.tokenizing.stopping import Stop

        eos = frozenset() if self._ignore_eos else family.eos
        return Stop(eos, self._stop_texts, family.decode)

    def _messages(self, before: list[Turn], prompt: str) -> list[dict[str, str]]:
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
        names = (self._wishes.leader or "", *turn.answers)
        return next((name for name in names if turn.answers.get(name)), None)

    # Proving

    def _asked_before(self, family: Family) -> Asked:
        """The last turn of a conversation that was reopened, as it would be asked again."""
        if not self.turns:
            raise InputError("nothing was asked yet that could go on")
        *before, last = self.turns
        return Asked(self._encode(before, last.prompt, family), self._stop(family), {})

    def _prove(self, claim: Claim, lanes: Lanes, running: bool) -> None:
        """Until that is done, or something else is asked for."""
        from app.engine.sampling_test import Place, prove
        from app.engine.turn import describe

        wishes = self._wishes
        try:
            lane = next((lane for lane in lanes if lane.spec.name == claim.lane), None)
            if lane is None or not lane.available:
                raise InputError((lane and lane.reason) or f"there is no lane {claim.lane}")
            asked = self._asked or self._asked_before(lanes.family)
            ids = [*asked.prompt_ids, *asked.unfinished.get(claim.lane, ())]
            tree = wishes.trees.get(claim.lane)
            place = Place(ids, wishes.params, asked.stop, wishes.seed, tree)
            for proof in prove(
                lane, place, claim.repetitions, lambda: not wishes.only(claim, running)
            ):
                wishes.emit(proof)
        except Exception as error:  # the screen says so, and the thread lives on
            note = describe(error)
            wishes.emit(Proof(claim.lane, repetitions=claim.repetitions, note=note))
        with wishes.wake:
            if wishes.claim is claim:
                wishes.claim = None
