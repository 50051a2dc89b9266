"""Lanes and other contestants answer the same prompts interleaved, to compare their speeds.

A machine's speed drifts. All contestants therefore answer one prompt before the next, in rotating
order, so that a slow phase meets all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from app.engine.lane import Lane
from app.engine.server_lane import ServerLane
from app.engine.turn import answer_seed
from app.servers.chunks import Question
from app.strategies.lane_spec import LaneSpec
from decoding.decoder import Decoder
from decoding.params import Params
from decoding.stats import Stats
from decoding.tokenizing.stopping import Stop


@dataclass(slots=True)
class Generation:
    """One contestant's answer to one prompt. `emitted` and `seconds` exclude the prefill and its
    token."""

    ids: list[int]
    emitted: int
    seconds: float
    stats: Stats | None = None


# Answers a prompt's ids; the second argument is the prompt's index, for its seed.
Contestant = Callable[[Sequence[int], int], Generation]


def lane_contestant(
    lane: Lane,
    spec: LaneSpec,
    params: Params,
    seed: int,
    stop: Stop,
    tokens: int | None = None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Contestant:
    """`lane` with the settings of `spec`. Contestants may share a lane, and so the prompt's rows in
    its cache. An answer ends after about `tokens`, if given. Raises InterruptedError when
    `cancelled`."""

    def answer(ids: Sequence[int], index: int) -> Generation:
        lane.spec = spec
        draws = answer_seed(seed, index)
        lane.generate(ids, params, draws, stop, cancelled=cancelled, tokens=tokens)
        stats = lane.stats
        return Generation(list(lane.ids), stats.emitted, stats.decode_seconds, stats)

    return answer


def decoder_contestant(
    decoder: Decoder, params: Params, stop: Stop, before: Callable[[int], None]
) -> Contestant:
    """A decoder without a lane. `before` is called with the index of the prompt to answer."""

    def answer(ids: Sequence[int], index: int) -> Generation:
        before(index)
        stats = Stats()
        for record in decoder.generate(ids, params, stop=stop):
            stats.add(record)
        return Generation(list(decoder.generated), stats.emitted, stats.decode_seconds, stats)

    return answer


def server_contestant(lane: ServerLane, questions: Sequence[Question]) -> Contestant:
    """A server. It takes text: the prompt's index selects one of the `questions`."""

    def answer(ids: Sequence[int], index: int) -> Generation:
        lane.generate(questions[index])
        stats = lane.stats
        return Generation([], stats.emitted, stats.decode_seconds, stats)

    return answer


def answer_in_turn(
    contestants: Mapping[str, Contestant], ids: Sequence[int], index: int, turn: int
) -> dict[str, Generation]:
    """All contestants' answers to one prompt; `turn` rotates their order."""
    names = list(contestants)
    first = turn % len(names)
    return {name: contestants[name](ids, index) for name in names[first:] + names[:first]}


def speed(answers: Sequence[Generation]) -> float | None:
    """Decoded tokens per second; None if nothing followed the first token."""
    emitted = sum(a.emitted for a in answers)
    return emitted / sum(a.seconds for a in answers) if emitted else None
