"""Continuous batching: whenever enough of a batch's answers are finished, others take their place.

A batch whose answers all begin together soon consists of its longest ones, and a pass over a few
sequences costs nearly as much as one over many.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor
from torch.nn import functional
from transformers import PreTrainedModel

from decoding.model.architecture import context_of
from decoding.model.lean import LeanForward
from decoding.params import Params, SamplingParams
from decoding.training.passes import LeanPasses, Passes
from decoding.verification.sampling import probabilities

_JOINING = 4  # others join a batch when one in so many of its places is free
_PADDED = 2  # prompts that are up to so many times as long as the shortest share a pass
_LARGEST = 1 - 2**-20  # of the random numbers: their share of a sum must be below it when rounded


@dataclass(slots=True, eq=False)
class Request:
    """A prompt and its `answer` so far. `numbers` in [0, 1) choose its tokens, one each, and none
    is needed for a greedy one: so it does not depend on what else is in the batch."""

    prompt: list[int]
    numbers: list[float] = field(default_factory=list)
    answer: list[int] = field(default_factory=list)
    done: bool = False


def random_numbers(sampling: SamplingParams, count: int, generator: torch.Generator) -> list[float]:
    """Draw the `numbers` of a `Request` for `count` tokens."""
    return [] if sampling.greedy else torch.rand(count, generator=generator).tolist()


@torch.no_grad()
def generate(
    model: PreTrainedModel,
    waiting: deque[Request],
    eos: Collection[int],
    params: Params,
    batch_size: int,
    lean: LeanForward | None = None,
    report_tokens: Callable[[int], None] = lambda tokens: None,
) -> Iterator[Request]:
    """Answer the `waiting` requests, up to `batch_size` at a time, and yield each when it is done;
    more may be added meanwhile. EOS ids end an answer and are part of it. Calls `report_tokens`
    at each pass with the number of its new tokens. `lean`: see `lean_forward_of`.

    Models with windows or states, which can't join a batch, wait until all of it is finished.
    """

    def new_batch(requests: Sequence[Request]) -> _Batch:
        run = Passes(model) if lean is None else LeanPasses(model, lean)
        return _Batch(run, requests, eos, params, model)

    can_join = lean is not None or Passes(model).can_join
    batch: _Batch | None = None
    while waiting or batch:
        free = batch_size - (batch.open if batch else 0)
        if waiting and (batch is None or (can_join and _JOINING * free >= batch_size)):
            taken = [waiting.popleft() for _ in range(min(free, len(waiting)))]
            new = []
            for requests in _of_similar_length(taken) if can_join else [taken]:
                new.append(new_batch(requests))
                report_tokens(len(requests))
            done = [request for request in taken if request.done]
            batch = _joined([each for each in (batch, *new) if each and each.open])
        elif batch:
            if 2 * batch.open <= len(batch.requests):
                batch.keep_open()
            report_tokens(batch.open)
            done = batch.step()
            batch = batch if batch.open else None
        yield from done


def _joined(batches: Sequence[_Batch]) -> _Batch | None:
    if not batches:
        return None
    first, *others = batches
    if others:
        first.join(others)
    return first


def _of_similar_length(requests: Sequence[Request]) -> Iterator[list[Request]]:
    """Groups whose prompts may share a pass: padding costs as much as text."""
    group: list[Request] = []
    for request in sorted(requests, key=lambda request: len(request.prompt)):
        if group and len(request.prompt) > _PADDED * len(group[0].prompt):
            yield group
            group = []
        group.append(request)
    yield group


class _Batch:
    """Requests with a sequence each, in one cache; the sequences end together."""

    def __init__(
        self,
        run: Passes,
        requests: Sequence[Request],
        eos: Collection[int],
        params: Params,
        model: PreTrainedModel,
    ) -> None:
        """Pass over the prompts."""
        self.requests = requests
        self._run, self._eos, self._params = run, eos, params
        self._limit = context_of(model.config.get_text_config(decoder=True))
        prompts = [request.prompt for request in requests]
        width, device = max(map(len, prompts)), model.device
        # The next tokens to read, and the mask and the last positions with them.
        self._ids = torch.tensor([[0] * (width - len(p)) + p for p in prompts], device=device)
        self._mask = torch.tensor(
            [[0] * (width - len(p)) + [1] * len(p) for p in prompts], device=device
        )
        self._positions = (self._mask.cumsum(-1) - 1).clamp(min=0)
        self.step()

    @property
    def open(self) -> int:
        """How many requests are not done."""
        return sum(not request.done for request in self.requests)

    def step(self) -> list[Request]:
        """Run a pass; returns the requests that it finished."""
        logits = self._run(self._ids, self._mask, self._positions)
        self._ids = self._choose(logits)
        # Sequences that reached the context go on unread, without positions that the model has not.
        self._positions = (self._positions[:, -1:] + 1).clamp(max=self._limit - 1)
        self._mask = functional.pad(self._mask, (0, 1), value=1)
        done = []
        for request, token in zip(self.requests, self._ids[:, 0].tolist(), strict=True):
            if not request.done:
                request.answer.append(token)
                tokens = len(request.prompt) + len(request.answer)
                most = len(request.answer) >= self._params.max_new_tokens
                if token in self._eos or most or tokens >= self._limit:
                    request.done = True
                    done.append(request)
        return done

    def keep_open(self) -> None:
        """Drop the sequences of requests that are done."""
        kept = self._open_sequences()
        self._run.keep(kept)
        self.requests = [request for request in self.requests if not request.done]
        self._ids, self._positions = self._ids[kept], self._positions[kept]
        self._mask = self._mask[kept]

    def join(self, others: Sequence[_Batch]) -> None:
        """Append the sequences of `others`. Those of requests that are done are dropped."""
        every = [(batch, batch._open_sequences()) for batch in (self, *others)]
        requests = [request for batch, _ in every for request in batch.requests if not request.done]
        # The last token of each is yet to be read.
        rows = max((len(r.prompt) + len(r.answer) for r in requests), default=1) - 1
        self._run.join([(batch._run, kept) for batch, kept in every], rows)
        self._ids = torch.cat([batch._ids[kept] for batch, kept in every])
        self._mask = torch.cat([_last(batch._mask[kept], rows + 1) for batch, kept in every])
        self._positions = torch.cat([batch._positions[kept] for batch, kept in every])
        self.requests = requests

    def _open_sequences(self) -> Tensor:
        still_open = [i for i, request in enumerate(self.requests) if not request.done]
        return torch.tensor(still_open, device=self._ids.device)

    def _choose(self, logits: Tensor) -> Tensor:
        """The next token of each sequence, [B, 1]."""
        if self._params.sampling.greedy:
            return logits.argmax(-1, keepdim=True)
        numbers = [
            0.0 if request.done else request.numbers[len(request.answer)]
            for request in self.requests
        ]
        below = probabilities(logits, self._params.sampling).cumsum(-1)
        chosen = torch.tensor(numbers, device=logits.device)[:, None].clamp(max=_LARGEST)
        return torch.searchsorted(below, chosen * below[:, -1:], right=True)


def _last(mask: Tensor, columns: int) -> Tensor:
    """The last columns of a mask, with zeros before them where it has fewer."""
    return functional.pad(mask[:, -columns:], (max(columns - mask.shape[1], 0), 0))
