"""Finds the fastest strategy and settings in two stages, to keep selection bias out of the winner's
speed. Screening gives short answers to a few prompts with every setting, and drops what is clearly
slower than the best of its kind. Then the best of each kind answer prompts in full beside the
autoregressive lane; only these answers are reported as measured. With a slow model the answers of
both stages are shorter, so that they end within the budget.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from app.engine.batches import costs_that_fit, mean_context
from app.engine.contest import Contestant, answer_in_turn, lane_contestant
from app.engine.lane import Lane
from app.engine.out_of_memory import free_lane_caches
from app.engine.serving_config import serving_config
from app.models.loaded import LoadedModels
from app.progress import Progress
from app.report.advice_document import Candidate, CandidateKind, Outcome, baseline_of
from app.report.answer import Answer
from app.strategies.lane_spec import LaneSpec
from decoding.cost.curve import BatchCosts
from decoding.cost.measure import PROMPT, pass_seconds
from decoding.errors import InputError, describe
from decoding.params import Params
from decoding.tokenizing.stopping import Stop

SCREENING = 0.4  # of the budget
SCREENED_TOKENS = 64  # an answer, at most
LEAST_TOKENS = 16  # of any answer
KEPT = 0.8  # of the best speed of its kind; slower candidates are dropped
MIN_ANSWERS = 3  # before a finalist that is slower than the baseline is dropped
REPEATS = 3  # of all prompts, at most
BATCHES = (1, 2, 4, 8, 16, 32, 64)  # sequences
PATIENCE = 0.5  # seconds; passes larger than one that took longer are not measured


@dataclass(slots=True)
class Experiment:
    """Measures `candidates` for about `budget` seconds. `report` gets the present step and the
    share of the budget that has passed. A candidate that fails is dropped, and named in `failed`
    with the reason. Raises InterruptedError when `cancelled()`. Once `ends()` it gives what was
    measured until then; if nothing was, that is raised as well."""

    models: LoadedModels
    candidates: Sequence[Candidate]
    prompts: Sequence[Sequence[int]]
    params: Params
    stop: Stop
    seed: int
    budget: float
    report: Progress
    cancelled: Callable[[], bool] = lambda: False
    ends: Callable[[], bool] = lambda: False
    finalists: list[Candidate] = field(default_factory=list, init=False)
    begun: float = field(default=0.0, init=False)
    failed: dict[str, str] = field(default_factory=dict, init=False)
    lanes: dict[CandidateKind, Lane] = field(default_factory=dict, init=False)
    complete: bool = field(default=False, init=False)

    def run(self) -> Outcome:
        """Measure, and return the outcome. Raises InputError as `compete` does."""
        self.compete()
        return self.outcome()

    def compete(self) -> list[Candidate]:
        """Find the best of each kind, measured with full answers; if it is ended before all had
        some, with short ones. Raises InputError if the model's context is too short, or if the
        target alone fails: there is nothing to compare with."""
        if self.models.context <= PROMPT:
            raise InputError(
                f"the model's context, {self.models.context} tokens, is too short for this"
            )
        self.report("warming up", None)
        self._open_lanes()
        token_seconds = pass_seconds(self.models.target, 1)
        self.begun = time.perf_counter()
        able = self._able(self.candidates)
        fitting = _tokens_that_fit(SCREENING * self.budget, len(able), token_seconds)
        with self._until_ended():
            used = self._screen(self._contestants(able, min(fitting, SCREENED_TOKENS)))
            best = best_of_each_kind(self._able(self.candidates))
            self.finalists = finalists = [Candidate(each.spec, each.params) for each in best]
            left = (1.0 - self._elapsed) * self.budget
            fitting = _tokens_that_fit(left, MIN_ANSWERS * len(finalists), token_seconds)
            whole = fitting >= self.params.max_new_tokens
            self._measure(finalists, self._contestants(finalists, None if whole else fitting), used)
            self.complete = True
        return self._best

    def outcome(self) -> Outcome:
        """Return what `compete` has measured, also if it was interrupted when it was `ready`."""
        finalists = self._best
        seconds = time.perf_counter() - self.begun
        context = mean_context(self.prompts, [a for each in finalists for a in each.answers])
        costs = self._batches(finalists, context)
        serving = [serving_config(each, self._lane_of(each), self.models) for each in finalists]
        return Outcome(
            self._screened,
            finalists,
            serving,
            costs,
            context,
            len(self.prompts),
            seconds,
            self.failed,
            ended_early=not self.complete,
            only_screened=not self._measured,
        )

    @contextmanager
    def _until_ended(self) -> Iterator[None]:
        """Accept that the block is ended early, once there is something to compare."""
        try:
            yield
        except InterruptedError:
            if not self.ready or self.cancelled():
                raise

    @property
    def ready(self) -> bool:
        """Whether it can be ended with a result."""
        return bool(self._measured) or any(each.strategy.drafts for each in self._screened)

    @property
    def _best(self) -> list[Candidate]:
        return self._measured or best_of_each_kind(self._screened)

    @property
    def _measured(self) -> list[Candidate]:
        """The finalists, once all of them have answered."""
        able = self._able(self.finalists)
        return able if all(each.answers for each in able) else []

    @property
    def _screened(self) -> list[Candidate]:
        """The candidates that have answered, if there is a baseline for them."""
        found = [each for each in self._able(self.candidates) if each.answers]
        plain = {each.temperature for each in found if each.strategy.is_baseline}
        return [each for each in found if each.temperature in plain]

    def _interrupted(self) -> bool:
        return self.cancelled() or self.ends()

    def _able(self, among: Sequence[Candidate]) -> list[Candidate]:
        """Those that did not fail."""
        return [each for each in among if each.name not in self.failed]

    def _open_lanes(self) -> None:
        """Open a lane for all candidates of a kind at any temperature: they share its cache, and
        the prompt's keys and values."""
        alike: dict[CandidateKind, list[Candidate]] = {}
        for each in self.candidates:
            alike.setdefault(_lane_key(each.kind), []).append(each)
        for kind, among in alike.items():
            self._check_cancelled()
            try:
                self.lanes[kind] = self._open_lane(among[0].spec)
            except Exception as error:
                why = describe(error)
                if among[0].strategy.is_baseline:
                    raise InputError(f"{among[0].name}: {why}") from error
                self.failed |= {each.name: why for each in among}

    def _open_lane(self, spec: LaneSpec) -> Lane:
        lane = Lane(spec, self.models)
        if spec.tree in lane.trees:
            lane.set_tree(spec.tree)
        lane.warm_up()
        return lane

    def _lane_of(self, candidate: Candidate) -> Lane:
        return self.lanes[_lane_key(candidate.kind)]

    def _contestants(
        self,
        among: Sequence[Candidate],
        tokens: int | None = None,
    ) -> dict[str, Contestant]:
        return {
            each.name: lane_contestant(
                self._lane_of(each),
                each.spec,
                self.params,
                self.seed,
                self.stop,
                tokens,
                self._interrupted,
            )
            for each in among
        }

    def _screen(self, contestants: Mapping[str, Contestant]) -> int:
        """Answer prompts until one candidate of each kind is left, or the time is over. Returns the
        number of prompts."""
        left, prompts = self._able(self.candidates), self.prompts
        for turn in range(len(prompts)):
            what = f"prompt {turn + 1} of {len(prompts)}"
            self._answer(left, contestants, turn, turn, f"screening, {what}: setting")
            left = self._able(left)
            best = {kind: max(e.speed for e in left if e.kind == kind) for kind in kinds(left)}
            left = [each for each in left if each.speed >= KEPT * best[each.kind]]
            if len(left) == len(best) or self._elapsed >= SCREENING:
                return turn + 1
        return len(prompts)

    def _measure(
        self, finalists: Sequence[Candidate], contestants: Mapping[str, Contestant], first: int
    ) -> None:
        """Answer in full until the time is over, beginning with prompts that were not used for
        screening. Finalists that are clearly slower than the baseline answer only a few."""
        left, most, longest = list(finalists), REPEATS * len(self.prompts), 0.0
        for turn in range(most):
            began = self._elapsed
            index = (first + turn) % len(self.prompts)
            what = f"measuring, answer {turn + 1} of at most {most}: setting"
            self._answer(left, contestants, index, turn, what)
            left = self._able(left)
            if turn + 1 >= MIN_ANSWERS:
                left = [each for each in left if not _slower(each, baseline_of(each, finalists))]
            longest = max(longest, self._elapsed - began)
            enough = self._elapsed + (longest if turn + 1 >= MIN_ANSWERS else 0.0) >= 1.0
            if enough or not any(each.strategy.drafts for each in left):
                return

    def _batches(self, finalists: Sequence[Candidate], context: int) -> BatchCosts:
        def say(what: str) -> None:
            self._check_cancelled()
            self.report(what, 1.0)

        nodes = max(each.stats.nodes_per_pass or 1.0 for each in finalists)
        costs = BatchCosts({}, measured=False)
        with self._until_ended():
            costs = costs_that_fit(self.models, BATCHES, nodes, context, say, PATIENCE)
        return costs

    def _answer(
        self,
        left: Sequence[Candidate],
        contestants: Mapping[str, Contestant],
        index: int,
        turn: int,
        what: str,
    ) -> None:
        def say(number: int) -> None:
            self.report(f"{what} {number} of {len(left)}", min(self._elapsed, 1.0))

        def free(name: str) -> None:
            free_lane_caches(next(self._lane_of(each) for each in left if each.name == name))

        names = {each.name: _recorded(each, contestants[each.name]) for each in left}
        ids, failed = self.prompts[index], self.failed
        known = [len(each.answers) for each in left]
        try:
            answer_in_turn(names, ids, index, turn, say, failed, free)
        except InterruptedError:
            if all(known):  # the turn counts for none, as not all have answered
                for each, count in zip(left, known, strict=True):
                    del each.answers[count:]
            raise
        for each in left:
            if each.name in failed and each.strategy.is_baseline:
                raise InputError(f"{each.name}: {failed[each.name]}")

    @property
    def _elapsed(self) -> float:
        """The share of the budget."""
        return (time.perf_counter() - self.begun) / self.budget

    def _check_cancelled(self) -> None:
        if self._interrupted():
            raise InterruptedError


def _recorded(candidate: Candidate, contestant: Contestant) -> Contestant:
    """Wrap a contestant so that its answers are added to the candidate at once."""

    def answer(ids: Sequence[int], index: int) -> Answer:
        candidate.answers.append(contestant(ids, index))
        return candidate.answers[-1]

    return answer


def _tokens_that_fit(seconds: float, answers: int, token_seconds: float) -> int:
    """How long each of so many answers can be, at the speed of the target alone."""
    return max(int(seconds / (answers * token_seconds)), LEAST_TOKENS)


def _lane_key(kind: CandidateKind) -> CandidateKind:
    """Return the key of the lane for a kind: the same for all temperatures and rules of
    acceptance."""
    return kind._replace(temperature=0.0, lossy=False)


def kinds(among: Sequence[Candidate]) -> list[CandidateKind]:
    """List the different kinds among the candidates, in order."""
    return list(dict.fromkeys(each.kind for each in among))


def best_of_each_kind(screened: Sequence[Candidate]) -> list[Candidate]:
    """Return the fastest of each kind among those that were screened to the end."""
    found = []
    for kind in kinds(screened):
        alike = [each for each in screened if each.kind == kind]
        most = max(len(each.answers) for each in alike)
        found.append(max((e for e in alike if len(e.answers) == most), key=lambda e: e.speed))
    return found


def _slower(candidate: Candidate, baseline: Candidate) -> bool:
    estimate = candidate.against(baseline)
    return candidate.strategy.drafts and (estimate is None or estimate.high < 1.0)
