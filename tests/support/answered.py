"""Answers of a batch of prompts."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

import torch
from transformers import PreTrainedModel

from decoding.model.lean import LeanForward
from decoding.params import Params
from decoding.training.generation import Request, generate, random_numbers


def answers_to(
    model: PreTrainedModel,
    prompts: Sequence[list[int]],
    eos: Collection[int],
    params: Params,
    batch_size: int = 64,
    lean: LeanForward | None = None,
) -> list[list[int]]:
    """The answers, in the order of the prompts."""
    generator, count = torch.Generator().manual_seed(0), params.max_new_tokens
    numbers = [random_numbers(params.sampling, count, generator) for _ in prompts]
    requests = list(map(Request, prompts, numbers))
    done = list(generate(model, deque(requests), eos, params, batch_size, lean))
    assert set(done) == set(requests) and len(done) == len(requests)
    return [request.answer for request in requests]


def always(said: list[int]) -> Callable[..., Iterator[Request]]:
    """In place of `generate`: every answer is the same."""

    def generated(model: object, waiting: deque[Request], *more: Any) -> Iterator[Request]:
        while waiting:
            request = waiting.popleft()
            request.answer = list(said)
            yield request

    return generated
