"""Lanes and others answer the same prompts in turn, so that their speeds can be compared.

A machine's speed drifts. Every prompt is therefore answered by all contestants one after the other,
in an order that turns: what slows one down for a while slows down all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from app.engine.lane import Lane
from app.engine.server_lane import ServerLane
from app.engine.turn import answer_seed
from app.models.loaded import LoadedModels
from app.report.answer import Answer
from app.servers.chunks import Question
from app.strategies.lane_spec import LaneSpec
from decoding.decoder import Decoder
from decoding.drafters.simulated import Simulated
from decoding.params import Params
from decoding.stats import Stats
from decoding.tokenizing.stopping import Stop

# Answers a prompt's ids; the second argument is the prompt's index, for its seed.
Contestant = Callable[[Sequence[int], int], Answer]


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

    def answer(ids: Sequence[int], index: int) -> Answer:
        lane.spec = spec
        draws = answer_seed(seed, index)
        lane.generate(ids, params, draws, stop, cancelled=cancelled, tokens=tokens)
        stats = lane.stats
        return Answer(index, stats.emitted, stats.decode_seconds, list(lane.ids), stats)

    return answer


def decoder_contestant(
    decoder: Decoder, params: Params, stop: Stop, before: Callable[[int], None]
) -> Contestant:
    """A decoder that is no lane. `before` gets the index of a prompt that is to be answered."""

    def answer(ids: Sequence[int], index: int) -> Answer:
        before(index)
        stats = Stats()
        for record in decoder.generate(ids, params, stop=stop):
            stats.add(record)
        said = list(decoder.generated)
        return Answer(index, stats.emitted, stats.decode_seconds, said, stats)

    return answer


def simulated_contestants(
    models: LoadedModels,
    params: Params,
    stop: Stop,
    acceptances: Sequence[float],
    prompts: Sequence[Sequence[int]],
) -> dict[str, Contestant]:
    """Drafters that know the target's answers to `prompts`, and how often to be wrong."""
    if not acceptances:
        return {}
    plain = Decoder(models.target)
    answers = []
    for ids in prompts:
        for _ in plain.generate(ids, params, stop=stop):
            pass
        answers.append(list(plain.generated))

    def contestant(acceptance: float) -> Contestant:
        drafter = Simulated(models.target.device, acceptance)

        def told(index: int) -> None:
            drafter.answer = answers[index]

        return decoder_contestant(Decoder(models.target, drafter), params, stop, told)

    return {f"simulated {each:g}": contestant(each) for each in acceptances}


def server_contestant(lane: ServerLane, questions: Sequence[Question]) -> Contestant:
    """Asked by the prompt's index, as a server takes text."""

    def answer(ids: Sequence[int], index: int) -> Answer:
        lane.generate(questions[index])
        stats = lane.stats
        return Answer(index, stats.emitted, stats.decode_seconds, [], stats)

    return answer


def answer_in_turn(
    contestants: Mapping[str, Contestant], ids: Sequence[int], index: int, turn: int
) -> dict[str, Answer]:
    """Everybody's answer to one prompt. `turn` says who begins."""
    names = list(contestants)
    first = turn % len(names)
    return {name: contestants[name](ids, index) for name in names[first:] + names[:first]}
