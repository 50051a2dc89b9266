"""A draft model with another tokenizer: its draft is decoded to text and encoded by the target's.

Universal assisted generation, Timor et al. 2025 (2502.05202), with text-level matching. The draft
model decodes greedily, so its drafts are deterministic like those of lookup, and exact at every
temperature: they are accepted as far as the target's own choice agrees.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile

import torch
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from decoding.device import download
from decoding.drafters.base import DraftContext, Drafter, Needs
from decoding.model.prefix import common_prefix_length
from decoding.params import SamplingParams
from decoding.tokenizing.retokenizer import Retokenizer
from decoding.trees.draft import Draft, DraftTree


class UniversalDraft:
    """Gets chains from `drafter`, which has its own vocabulary. Their text is needed on the host,
    so that a round waits for the device once more. Nothing from `target_vocab` ids on is proposed:
    a tokenizer may have tokens that the model was never given rows for."""

    needs: Needs = "none"

    def __init__(
        self,
        drafter: Drafter,
        target_tokenizer: PreTrainedTokenizerBase,
        draft_tokenizer: PreTrainedTokenizerBase,
        target_vocab: int,
        device: torch.device,
    ) -> None:
        self.default_gamma = drafter.default_gamma
        self._drafter = drafter
        self._retokenizer = Retokenizer(target_tokenizer, draft_tokenizer)
        self._target_vocab = target_vocab
        self._device = device
        self._view: list[int] = []  # the ids that the drafter has as committed
        self._drafted: list[int] = []

    @property
    def cache_bytes(self) -> int:
        return self._drafter.cache_bytes

    @property
    def note(self) -> str | None:
        return self._drafter.note

    def start(self, ids: Sequence[int], first: int = 0, features: Tensor | None = None) -> None:
        self._retokenizer.start()
        self._go_to(self._retokenizer.to_draft(ids))

    def propose(self, context: DraftContext) -> Draft | None:
        self._catch_up(self._retokenizer.to_draft(context.ids))
        if not self._view:
            return None
        params = replace(context.params, sampling=SamplingParams())
        # Costs are of the target's tokens, and may have chosen gamma already.
        inner = replace(context, ids=self._view, params=params, costs=None)
        draft = self._drafter.propose(inner)
        if draft is None:
            return None
        self._drafted = download(draft.tree.tokens[1:])
        converted = self._retokenizer.to_target(self._drafted)[: context.gamma]
        tokens = list(takewhile(lambda token: token < self._target_vocab, converted))
        if not tokens:
            return None
        return Draft(DraftTree.of_chain([context.ids[-1], *tokens], self._device))

    def observe(self, ids: Sequence[int], accepted: int) -> None:
        """Accepted tokens are re-encoded with the next draft, whose time it belongs to."""

    def _catch_up(self, view: list[int]) -> None:
        """Bring the drafter to what is committed by now."""
        known = len(self._view)
        # It was not started on an empty view, and later text may change the tokens at its end.
        if not known or view[:known] != self._view:
            self._go_to(view)
        elif len(view) > known or self._drafted:
            accepted = common_prefix_length(view[known:], self._drafted)
            self._drafter.observe(view, accepted)
            self._view, self._drafted = view, []

    def _go_to(self, view: list[int]) -> None:
        if view:
            self._drafter.start(view, 0, None)
        self._view, self._drafted = view, []
