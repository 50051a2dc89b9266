"""Medusa: heads on the target's last hidden state guess the tokens after the next one.

Cai et al. 2024 (2401.10774). The guesses form a static tree that one pass verifies.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional

from decoding.checkpoints.medusa import MedusaWeights, read_medusa
from decoding.cost.curve import Line
from decoding.cost.measure import seconds
from decoding.cost.model import Cost, CostModel
from decoding.cost.tree_size import optimal_tree
from decoding.device import upload
from decoding.drafters.base import DraftContext, Needs
from decoding.model.target import Target
from decoding.trees.draft import Draft, DraftTree
from decoding.trees.static import NAMED_TREES, Choices, StaticTree, build_tree, truncate_paths
from decoding.verification.acceptance import Acceptance

TOLERANCE = 1.15  # speeds of trees: two measurements of one machine may differ by as much


class MedusaHeads:
    """k heads of L residual blocks, run together: x + SiLU(W x + b), then an lm_head."""

    def __init__(self, weights: MedusaWeights, target: Target) -> None:
        def move(tensor: Tensor) -> Tensor:
            return tensor.to(target.device, target.dtype)

        self.count = weights.heads
        self.accuracy = weights.accuracy
        self.device = target.device
        # [L][k, H, H], transposed once for baddbmm
        self._weights = [move(w.mT.contiguous()) for w in weights.weights.unbind(1)]
        self._biases = [move(b[:, None]) for b in weights.biases.unbind(1)]
        own = weights.lm_heads
        self._lm_heads = None if own is None else move(own.mT.contiguous())
        token_map = weights.token_map
        self._token_map = None if token_map is None else token_map.to(target.device).long()
        self._target = target
        self.vocab = target.vocab_size if own is None else own.shape[1]

    @property
    def nbytes(self) -> int:
        own = [] if self._lm_heads is None else [self._lm_heads]
        return sum(tensor.nbytes for tensor in (*self._weights, *self._biases, *own))

    def logits(self, hidden: Tensor, heads: int | None = None) -> Tensor:
        """hidden [n, H] (after the target's final norm) -> [k, n, V], of all k heads or the first
        `heads`."""
        x = hidden.expand(heads or self.count, -1, -1)
        for weight, bias in zip(self._weights, self._biases, strict=True):
            x = x + functional.silu(torch.baddbmm(bias[:heads], x, weight[:heads]))
        if self._lm_heads is None:
            return self._target.lm_head(x)
        return torch.bmm(x, self._lm_heads[:heads])

    def guesses(self, hidden: Tensor, ranks: int, heads: int | None = None) -> Tensor:
        """The `ranks` best tokens of each head, [k, n, ranks]."""
        return self.target_ids(self.logits(hidden, heads).topk(ranks, dim=-1).indices)

    def target_ids(self, ids: Tensor) -> Tensor:
        """Map the heads' ids to the target's."""
        return ids if self._token_map is None else self._token_map[ids]


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
    def from_pretrained(cls, folder: str | Path, target: Target, choices: Choices = ()) -> Medusa:
        """Load heads of any dialect from a folder. Without `choices` the tree is the one that it
        names, or the small one. Raises InputError."""
        weights = read_medusa(Path(folder), target.hidden_size, target.vocab_size)
        choices = choices or weights.choices or NAMED_TREES["small"]
        return cls(MedusaHeads(weights, target), choices)

    def set_choices(self, choices: Choices) -> None:
        """Use another tree from the next round on, cut to the heads and ranks that exist."""
        trimmed = truncate_paths(choices, self.heads.count, self._vocab)
        longest = max((len(path) for path in choices), default=0)
        self.note = None
        if trimmed != truncate_paths(choices, longest, 1 << 62):
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
    tree = build_tree(truncate_paths(choices, heads, 1 << 62))
    flat = [h * tree.width + r for h, r in zip(tree.heads, tree.ranks, strict=True)]
    return tree, upload(flat, device)


def draft_seconds(heads: MedusaHeads, target: Target) -> tuple[float, float]:
    """Seconds of a draft by the first head alone, and by all of them."""
    state = torch.zeros(1, target.hidden_size, device=target.device, dtype=target.dtype)
    with torch.inference_mode():
        one, all_heads = (
            seconds(lambda count=count: heads.guesses(state, 10, count), target.device)  # type: ignore[misc]
            for count in (1, heads.count)
        )
    return one, all_heads


def default_choices(
    heads: MedusaHeads,
    target: Target,
    verify_cost: Cost,
    kept: Choices = (),
    measured: tuple[float, float] | None = None,
) -> Choices:
    """The tree that suits these heads on this machine, from their measured accuracies, the measured
    cost of drafting by them, and that of verifying n nodes, in seconds; the small one where their
    accuracies are not known. Where no tree pays the most likely token alone is left: still a draft.
    `kept`, what was chosen earlier, stays until another one is clearly faster. `measured`: the
    `draft_seconds`, if they are known."""
    if not heads.accuracy:
        return NAMED_TREES["small"]
    one, all_heads = measured or draft_seconds(heads, target)
    slope = max(all_heads - one, 0.0) / max(heads.count - 1, 1)
    costs = CostModel(Line(one - slope, slope), verify_cost)
    return optimal_tree(heads.accuracy, costs, kept=kept, tolerance=TOLERANCE) or ((0,),)
