"""Medusa: heads on the target's last hidden state guess the tokens after the next one.

Cai et al. 2024 (2401.10774). The guesses form a static tree that one pass verifies.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from pathlib import Path

import torch
from torch import Tensor

from decoding.checkpoints.medusa import read_medusa
from decoding.cost.model import Cost
from decoding.device import upload
from decoding.drafters.base import DraftContext, Needs
from decoding.drafters.medusa_heads import MedusaHeads
from decoding.drafters.medusa_tree import default_choices
from decoding.model.target import Target
from decoding.trees.draft import Draft, DraftTree
from decoding.trees.static import Choices, StaticTree, build_tree, truncate_paths
from decoding.verification.acceptance import Acceptance


class Medusa:
    """Drafts with `heads` along the tree `choices`; gamma is the number of heads used."""

    needs: Needs = "last_hidden"
    cache_bytes = 0

    def __init__(self, heads: MedusaHeads, choices: Choices) -> None:
        self.heads = heads
        self.note: str | None = None
        self._vocab, self._device = heads.vocab, heads.device
        self._hidden: Tensor | None = None
        self._logits: Tensor | None = None  # of the heads after `_hidden`, if computed already
        self._tree = lru_cache(maxsize=64)(partial(_indexed_tree, device=heads.device))
        self.set_choices(choices)

    @classmethod
    def from_pretrained(
        cls,
        folder: str | Path,
        target: Target,
        choices: Choices = (),
        verify_cost: Cost | None = None,
    ) -> Medusa:
        """Load heads of any dialect from a folder. Without `choices` the tree is the one that it
        names, or `default_choices`: with `verify_cost`, the seconds of a target pass over n nodes,
        the one that suits this machine. Raises InputError."""
        weights = read_medusa(Path(folder), target.hidden_size, target.vocab_size)
        heads = MedusaHeads(weights, target)
        named = choices or weights.choices
        return cls(heads, named or default_choices(heads, target, verify_cost))

    def set_choices(self, choices: Choices) -> None:
        """Draft another tree from the next round on, cut to the heads and ranks that exist."""
        trimmed = truncate_paths(choices, self.heads.count, self._vocab)
        longest = max((len(path) for path in choices), default=0)
        self.note = None
        if trimmed != truncate_paths(choices, longest):
            self.note = f"tree trimmed to {self.heads.count} heads"
        self.choices = trimmed
        self.default_gamma = max((len(path) for path in trimmed), default=0)

    def start(self, ids: Sequence[int], first: int, features: Tensor | None) -> None:
        assert features is not None
        self._hidden, self._logits = features[-1:], None

    def propose(self, context: DraftContext) -> Draft | None:
        if not self.choices:
            return None
        tree, flat = self._tree(self.choices, min(context.gamma, self.heads.count))
        assert self._hidden is not None
        levels = tree.shape.depth
        if self._logits is None or len(self._logits) < levels:
            self._logits = self.heads.logits(self._hidden, levels)
        logits = self._logits[:levels]
        best = logits.topk(tree.width, dim=-1)
        root = upload(context.ids[-1:], self._device)
        tokens = torch.cat([root, self.heads.target_ids(best.indices).flatten()[flat]])

        def draft_p() -> Tensor:
            log_p = best.values.float() - logits.float().logsumexp(-1, keepdim=True)
            return log_p.exp().flatten()[flat]

        return Draft(DraftTree(tree.shape, tokens), draft_p=draft_p, ranks=(0, *tree.ranks))

    def prepare(self, features: Tensor, acceptance: Acceptance) -> None:
        # The state that predicted the bonus token, from which the heads predict the next ones.
        self._hidden, self._logits = acceptance.at_last_accepted(features), None
        if acceptance.padded:
            self._logits = self.heads.logits(self._hidden, self.default_gamma)

    def observe(self, ids: Sequence[int], accepted: int) -> None:
        pass


def _indexed_tree(choices: Choices, heads: int, device: torch.device) -> tuple[StaticTree, Tensor]:
    """The tree cut to `heads` levels, and its nodes' indices into the flattened [k, ranks]
    guesses."""
    tree = build_tree(truncate_paths(choices, heads))
    flat = [h * tree.width + r for h, r in zip(tree.heads, tree.ranks, strict=True)]
    return tree, upload(flat, device)
