"""Lanes and other contestants answer the same prompts interleaved, to compare their speeds.

A machine's speed drifts. All contestants therefore answer one prompt before the next, in rotating
order, so that a slow phase meets all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from app.engine.lane import Lane
from app.engine.server_lane import ServerLane
from app.engine.turn import answer_seed
from app.models.loaded import LoadedModels
from app.report.answer import Answer
from app.servers.protocol import Question
from app.strategies.lane_spec import LaneSpec
from decoding.decoder import Decoder
from decoding.drafters.simulated import Simulated
from decoding.errors import describe
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
    """Make `lane` answer with the settings of `spec`. Contestants may share a lane, and so the
    prompt's rows in its cache. An answer ends after about `tokens`, if given. Raises
    InterruptedError when `cancelled()`."""

    def answer(ids: Sequence[int], index: int) -> Answer:
        lane.spec = spec
        draws = answer_seed(seed, index)
        lane.generate(ids, params, draws, stop, cancelled=cancelled, tokens=tokens)
        return Answer.of(index, lane.ids, lane.stats, cut=not lane.finished)

    return answer


def decoder_contestant(
    decoder: Decoder, params: Params, stop: Stop, before: Callable[[int], None]
) -> Contestant:
    """Make a decoder answer, without a lane. `before` is called with the index of the prompt to
    answer."""

    def answer(ids: Sequence[int], index: int) -> Answer:
        before(index)
        stats = Stats.of(decoder.generate(ids, params, stop=stop))
        return Answer.of(index, decoder.generated, stats)

    return answer


def simulated_contestants(
    models: LoadedModels,
    params: Params,
    stop: Stop,
    acceptances: Sequence[float],
    prompts: Sequence[Sequence[int]],
) -> dict[str, Contestant]:
    """Make drafters that know the target's answers to `prompts`, and are right as often as
    `acceptances` say."""
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

        def set_answer(index: int) -> None:
            drafter.answer = answers[index]

        return decoder_contestant(Decoder(models.target, drafter), params, stop, set_answer)

    return {f"simulated {each:g}": contestant(each) for each in acceptances}


def server_contestant(lane: ServerLane, questions: Sequence[Question]) -> Contestant:
    """Make a server answer. It takes text: the prompt's index selects one of the `questions`."""

    def answer(ids: Sequence[int], index: int) -> Answer:
        lane.generate(questions[index])
        return Answer.of(index, lane.ids, lane.stats)

    return answer


def answer_in_turn(
    contestants: Mapping[str, Contestant],
    ids: Sequence[int],
    index: int,
    turn: int,
    before: Callable[[int], None] = lambda number: None,
    failed: dict[str, str] | None = None,
    free: Callable[[str], None] = lambda name: None,
) -> dict[str, Answer]:
    """Collect all contestants' answers to one prompt; `turn` rotates their order. `before` is
    called before each answer, with its number, from 1. Where `failed` is given, what a contestant
    raises is added to it, `free` is called with its name, and those in it are not asked again;
    InterruptedError, from one that was cancelled, is always raised."""
    names = list(contestants)
    first = turn % len(names)
    answers = {}
    for number, name in enumerate(names[first:] + names[:first], 1):
        if failed is not None and name in failed:
            continue
        before(number)
        try:
            answers[name] = contestants[name](ids, index)
        except InterruptedError:
            raise
        except Exception as error:
            if failed is None:
                raise
            failed[name] = describe(error)
        if failed and name in failed:  # only now, as the error's traceback holds tensors
            free(name)
    return answers
