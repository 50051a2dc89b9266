"""Lanes and others answer the same prompts in turn, so that their speeds can be compared.

A machine's speed drifts. Every prompt is therefore answered by all contestants one after the other,
in an order that turns: what slows one down for a while slows down all.
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
    """One contestant's answer to one prompt. `emitted` and `seconds` leave out the prefill and its
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
    """`lane` with the settings of `spec`: contestants may share a lane, and with it the prompt's
    rows. `tokens`: an answer may end after so many. It raises InterruptedError when `cancelled`."""

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
    """A decoder that is no lane. `before` gets the index of a prompt that is to be answered."""

    def answer(ids: Sequence[int], index: int) -> Generation:
        before(index)
        stats = Stats()
        for record in decoder.generate(ids, params, stop=stop):
            stats.add(record)
        return Generation(list(decoder.generated), stats.emitted, stats.decode_seconds, stats)

    return answer


def server_contestant(lane: ServerLane, questions: Sequence[Question]) -> Contestant:
    """Asked by the prompt's index, as a server takes text."""

    def answer(ids: Sequence[int], index: int) -> Generation:
        lane.generate(questions[index])
        stats = lane.stats
        return Generation([], stats.emitted, stats.decode_seconds, stats)

    return answer


def answer_in_turn(
    contestants: Mapping[str, Contestant], ids: Sequence[int], index: int, turn: int
) -> dict[str, Generation]:
    """Everybody's answer to one prompt. `turn` says who begins."""
    names = list(contestants)
    first = turn % len(names)
    return {name: contestants[name](ids, index) for name in names[first:] + names[:first]}


def speed(answers: Sequence[Generation]) -> float | None:
    """Decoded tokens per second; None if nothing followed the first token."""
    emitted = sum(a.emitted for a in answers)
    return emitted / sum(a.seconds for a in answers) if emitted else None
