"""Tests whether a lane samples from the target's distribution: draws the next few tokens after one
text many times with different seeds, by the lane's strategy and by plain sampling, and compares
their counts."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import torch

from app.engine.events import ContinuationCount, SamplingTest
from app.engine.lane import Lane
from app.engine.turn import answer_seed
from app.strategies.lane_spec import LaneSpec
from app.strategies.registry import AUTOREGRESSIVE
from decoding.errors import InputError
from decoding.params import Params
from decoding.prefill import PrefilledPrompt
from decoding.tokenizing.stopping import Stop

TOKENS = 3
GREEDY_TOKENS = 32  # greedy decoding is deterministic: one repetition is enough
SHOWN = 12  # most frequent outcomes
MIN_CELL = 10  # draws of both sides together that an outcome needs for a cell of its own
PROGRESS_SECONDS = 0.1
CONTEXT_TOKENS = 16

Ids = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class StartState:
    """Where to draw from: the `ids` so far, the last `answered` of an unfinished answer, with the
    lane's present settings and tree."""

    ids: Sequence[int]
    params: Params
    stop: Stop
    seed: int
    tree: str | None = None
    answered: int = 0


def compare_with_target(
    lane: Lane, state: StartState, repetitions: int, cancelled: Callable[[], bool]
) -> Iterator[SamplingTest]:
    """Compare a lane's draws with plain sampling; yields progress now and then, and at the end the
    p-value. Stops early when `cancelled()`. Does not change the lane: it shares only the weights
    with it. Raises InputError if there is nothing to compare."""
    models, spec = lane.models, lane.spec
    if not lane.strategy.on_target:
        raise InputError(
            "this lane is the draft model alone, with its own distribution: there is nothing to "
            "test"
        )
    room = models.context + 1 - len(state.ids)
    if room < 1:
        raise InputError("the context is full: nothing can follow")
    params = lane.spec.effective_params(state.params)
    greedy = params.sampling.greedy
    tokens = min(GREEDY_TOKENS if greedy else TOKENS, room)
    params = replace(params, max_new_tokens=max(params.max_new_tokens, tokens))
    mine = Lane(replace(spec, overrides={}), models)  # its settings are in `params` already
    if state.tree is not None:
        mine.set_tree(state.tree)
    plain = _Side(
        Lane(LaneSpec(AUTOREGRESSIVE.name, "plain"), models), state, params, tokens, cancelled
    )
    sides = (_Side(mine, state, params, tokens, cancelled), plain)
    result = SamplingTest(
        lane=spec.name,
        tokens=tokens,
        repetitions=1 if greedy else repetitions,
        context=models.decode(state.ids[-CONTEXT_TOKENS:]),
        greedy=greedy,
        lossy=params.acceptance == "typical" and not greedy,
    )
    reported = 0.0
    for done in range(1, result.repetitions + 1):
        try:
            for side in sides:
                side.draw(answer_seed(state.seed, done, f"proof of {side.lane.spec.name}"))
        except InterruptedError:
            return
        ended = done == result.repetitions
        if ended or time.perf_counter() - reported >= PROGRESS_SECONDS:
            reported = time.perf_counter()
            result = _counted(replace(result, done=done), *sides)
            if ended and done > 1:
                result = replace(result, p_value=same_source(sides[0].drawn, sides[1].drawn))
            yield result


@dataclass(slots=True, eq=False)
class _Side:
    """One of the two samplers, and what it drew."""

    lane: Lane
    state: StartState
    params: Params
    tokens: int
    cancelled: Callable[[], bool]
    prompt: PrefilledPrompt | None = None
    drawn: Counter[Ids] = field(default_factory=Counter)

    def draw(self, seed: int) -> None:
        """Draw the next tokens once more. Raises InterruptedError when cancelled."""
        lane, state = self.lane, self.state
        lane.generate(
            state.ids,
            self.params,
            seed,
            state.stop,
            self.prompt,
            self.cancelled,
            self.tokens,
            state.answered,
        )
        self.prompt = lane.prompt  # prefilled only the first time
        self.drawn[tuple(lane.ids[: self.tokens])] += 1


def _counted(result: SamplingTest, mine: _Side, plain: _Side) -> SamplingTest:
    drawn = mine.drawn + plain.drawn
    outcomes = tuple(
        ContinuationCount(_text(mine, ids), mine.drawn[ids], plain.drawn[ids])
        for ids, _ in drawn.most_common(SHOWN)
    )
    return replace(result, kinds=len(drawn), outcomes=outcomes)


def _text(side: _Side, ids: Ids) -> str:
    """What the ids add to the text. The token before them keeps their leading space."""
    decode, before = side.lane.models.decode, list(side.state.ids[-1:])
    text = decode([*before, *ids])[len(decode(before)) :]
    return text + (" (end)" if ids[-1] in side.state.stop.eos else "")


def same_source(a: Counter[Ids], b: Counter[Ids]) -> float | None:
    """Return the p-value of a chi-square test that the draws `a` and `b`, equally many, have the
    same distribution; None if there are no two cells to compare. Outcomes too rare for a cell of
    their own are merged by common prefix, at last by their second token: the first is the
    prefill's, which no strategy drafts."""
    cells: list[tuple[int, int]] = []
    counts = {ids: (a[ids], b[ids]) for ids in a.keys() | b.keys()}
    for length in reversed(range(max(map(len, counts)))):
        rare: dict[Ids, tuple[int, int]] = {}
        for ids, (x, y) in counts.items():
            if x + y >= MIN_CELL:
                cells.append((x, y))
            else:
                part = ids[1:2] if length == 1 else ids[:length]
                known = rare.get(part, (0, 0))
                rare[part] = known[0] + x, known[1] + y
        counts = rare
    cells.sort(key=sum, reverse=True)
    for x, y in counts.values():  # the rest, whatever it is
        if x + y < MIN_CELL and cells:
            last = cells.pop()
            x, y = x + last[0], y + last[1]
        cells.append((x, y))
    if len(cells) < 2:
        return None
    statistic = sum((x - y) ** 2 / (x + y) for x, y in cells)
    half = torch.tensor([(len(cells) - 1) / 2, statistic / 2], dtype=torch.float64)
    return float(torch.special.gammaincc(half[0], half[1]))
