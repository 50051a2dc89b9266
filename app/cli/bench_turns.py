"""The prompts of `bench`: every turn of the conversations in a prompt file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, cycle, islice
from typing import NoReturn

from app.cli.prompts import first_prompts, opening, question
from app.config.settings import Settings
from app.engine.lane import Lane
from app.engine.lane_turn import AnyLane
from app.engine.out_of_memory import free_lane_caches
from app.engine.server_lane import ServerLane
from app.engine.turn import answer_seed
from app.models.loaded import LoadedModels
from app.servers.protocol import Question
from app.text.prompt_file import Request
from decoding.errors import InputError, describe
from decoding.tokenizing.stopping import Stop


@dataclass(frozen=True, slots=True)
class BenchTurn:
    """One turn to answer: its ids (empty if no model is loaded) and the question for servers."""

    ids: Sequence[int]
    question: Question
    category: str | None


def all_turns(
    settings: Settings,
    requests: Sequence[Request],
    lanes: Sequence[AnyLane],
    models: LoadedModels | None,
    say: Callable[[str], None],
    failed: dict[str, str],
) -> tuple[list[BenchTurn], int]:
    """Return all turns, and the number of those left out because they exceed the context. Later
    turns continue from the answers of the first of `lanes` that does not fail, so that all
    contestants get the same prompts. What others raise is added to `failed`, by name. Raises
    InputError, also if all fail."""
    stop = models.stop(settings.ignore_eos, settings.stop) if models else Stop()
    asked, left_out = list[BenchTurn](), 0
    prompts = first_prompts(requests, models, settings.system, settings.raw)
    for number, (request, ids) in enumerate(zip(requests, prompts, strict=True)):
        messages = opening(request, settings.system)
        for turn, text in enumerate(request.turns or (None,)):
            if text is not None:
                messages.append({"role": "user", "content": text})
            if turn and models is not None:
                ids = models.encode(messages, settings.raw)
                if len(ids) > models.context:
                    left_out += len(request.turns) - turn
                    break
            draws = answer_seed(settings.seed, len(asked))
            asked.append(BenchTurn(ids, question(settings, messages, draws), request.category))
            if turn + 1 < len(request.turns):
                say(f"turn {turn + 1} of prompt {number + 1}")
                text = _first_answer(lanes, asked[-1], settings, draws, stop, failed)
                messages.append({"role": "assistant", "content": text})
    return asked, left_out


def _first_answer(
    lanes: Sequence[AnyLane],
    turn: BenchTurn,
    settings: Settings,
    draws: int,
    stop: Stop,
    failed: dict[str, str],
) -> str:
    """The text of the first of `lanes` that has not `failed`, nor does so now."""
    for lane in lanes:
        if lane.spec.name in failed:
            continue
        try:
            if isinstance(lane, ServerLane):
                lane.generate(turn.question)
            else:
                lane.generate(turn.ids, settings.params, draws, stop)
            return lane.text
        except Exception as error:
            failed[lane.spec.name] = describe(error)
        if isinstance(lane, Lane):  # only now, as the error's traceback holds tensors
            free_lane_caches(lane)
    raise_all_failed(failed)


def raise_all_failed(failed: Mapping[str, str]) -> NoReturn:
    raise InputError("; ".join(f"{name}: {why}" for name, why in failed.items()))


def after_prefixes(
    turns: Sequence[BenchTurn], lengths: Sequence[int], context: int
) -> list[BenchTurn]:
    """Return each turn once for each of `lengths`, with a prefix of so many tokens, and that length
    as its category. The prefix repeats the turns' own tokens: the cost of a pass depends on the
    length of its context, not on the text. Raises InputError if the context is too short."""
    longest = max(len(turn.ids) for turn in turns)
    if longest + max(lengths) > context:
        raise InputError(
            f"--prefix {max(lengths)} and a prompt of {longest} tokens are more than the model's "
            f"context of {context} holds"
        )
    found = []
    for length in lengths:
        prefix = list(islice(cycle(chain.from_iterable(turn.ids for turn in turns)), length))
        category = after(length)
        found += [replace(turn, ids=[*prefix, *turn.ids], category=category) for turn in turns]
    return found


def after(tokens: int) -> str:
    return f"after {tokens} tokens"
