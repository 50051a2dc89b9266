"""EAGLE: a small network over the target's features drafts a tree, level by level.

Li et al.: EAGLE (2401.15077), the dynamic tree of EAGLE-2 (2406.16858), EAGLE-3 (2503.01840).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from pathlib import Path

import torch
from torch import Tensor

from decoding.checkpoints.draft_settings import EagleSettings
from decoding.checkpoints.eagle import EagleWeights
from decoding.checkpoints.eagle_fit import TargetShape
from decoding.checkpoints.eagle_read import read_eagle
from decoding.cost.model import Cost
from decoding.cost.tree_size import MAX_NODES, TreeSizer
from decoding.device import upload
from decoding.drafters.base import DraftContext, Needs
from decoding.drafters.eagle_graphs import LevelGraphs, RunLevel
from decoding.drafters.eagle_head import EagleHead
from decoding.drafters.eagle_tree import CostAwarePlan, DynamicPlan, StaticPlan, TreePlan
from decoding.model.attention import additive_mask
from decoding.model.cache import LayerShape, TreeCache
from decoding.model.prefix import common_prefix_length
from decoding.model.target import Target
from decoding.params import Params
from decoding.trees.draft import CandidatePool, Draft, DraftTree
from decoding.trees.shape import chain
from decoding.trees.static import Choices, truncate_paths
from decoding.trees.tensors import tree_tensors
from decoding.verification.acceptance import Acceptance

DEFAULT_GAMMA = 8
CHEAP_TREE = 1.25  # target passes that verifying EAGLE-2's tree may cost, to be drafted on a GPU
# Elsewhere every drafted or verified node costs time: fewer branches, and fewer nodes where nothing
# says what a pass costs.
CPU_TOP_K, CPU_NODES = 3, 10


@dataclass(frozen=True, slots=True)
class EagleTree:
    """The shape of the draft tree; its depth is gamma.

    Dynamic: every level runs the `top_k` most likely nodes and adds `top_k` children of each; the
    `total` most likely of all, root included, are verified. `total` None: as many as pay on this
    machine. Static (`choices`): these paths of ranks, whatever their scores. `top_k` 1 is a chain.
    """

    total: int | None = 60
    top_k: int = 10
    choices: Choices = ()


def default_tree(named: EagleSettings, device: torch.device, verify_cost: Cost | None) -> EagleTree:
    """Choose the tree to draft where no other is asked for: the one that the checkpoint names
    (`named`); else EAGLE-2's on CUDA where `verify_cost`, if known, says that it is cheap to
    verify; else one as large as pays, or a small one if `verify_cost` is None."""
    usual, gpu = EagleTree(), device.type == "cuda"
    if named.top_k or named.total:
        return EagleTree(named.total, named.top_k or usual.top_k)
    if verify_cost is None:
        return usual if gpu else EagleTree(CPU_NODES, CPU_TOP_K)
    if gpu and verify_cost(usual.total or MAX_NODES) <= CHEAP_TREE * verify_cost(1):
        return usual
    return EagleTree(None, usual.top_k if gpu else CPU_TOP_K)


def drafting_head(weights: EagleWeights, target: Target) -> EagleHead:
    """Build a head for drafting: on the target's device, in its precision."""
    embedding = target.model.get_input_embeddings().weight
    head = EagleHead.build(weights, embedding, target.logits)
    return head.to(target.device, target.dtype).eval()


class Eagle:
    """Drafts with `head` on `target`'s features. The target must capture at least the layers that
    the head reads. `tree` may be changed between two rounds; `Params.eagle_total_tokens` and
    `Params.eagle_top_k` replace its `total` and `top_k`. None: `default_tree`, with the depth that
    the head's checkpoint names as gamma.

    Row i of the head's cache is computed from feature i and token i + 1. Only rows from the
    target's features are kept; those of a tree are dropped each round by resetting the length.
    `verify_cost(n)`, the seconds of a target pass over n nodes (`decoding.cost.measure` measures
    it), sizes a tree whose `total` is None; without it such a tree has `MAX_NODES`.
    """

    def __init__(
        self,
        head: EagleHead,
        target: Target,
        tree: EagleTree | None = None,
        verify_cost: Cost | None = None,
        default_gamma: int | None = None,
    ) -> None:
        c = head.config
        named = c.settings if tree is None else EagleSettings()
        self.head = head
        self._forward = head.drafting
        self.needs: Needs = "aux" if c.version == "eagle3" else "all_hidden"
        self.default_gamma = default_gamma or named.gamma or DEFAULT_GAMMA
        self.tree = tree or default_tree(named, target.device, verify_cost)
        self.note: str | None = None
        self._target = target
        self._device, self._dtype = target.device, target.dtype
        self._group_size = c.heads // c.kv_heads
        self._cache = TreeCache(
            [LayerShape(c.kv_heads, c.head_dim, c.head_dim)] * c.layers,
            target.dtype,
            [target.device] * c.layers,
        )
        self._ids: list[int] = []
        self._pending: list[Tensor] = []  # features [n, F] of rows that have not been run
        # Where the next tree begins, if known: the root [1], and the hidden state [1, H] before it.
        self._root: tuple[Tensor, Tensor] | None = None
        # bool [n, n]: of a level's nodes each sees only itself; graphs have the addresses
        self._itself = cache(partial(torch.eye, dtype=torch.bool, device=target.device))
        self._static = lru_cache(maxsize=64)(partial(_static_plan, c.draft_vocab, target.device))
        self._dynamic = lru_cache(maxsize=16)(DynamicPlan)
        record = target.recorder
        self._graphs = None if record is None else LevelGraphs(record, self._forward, self._cache)
        self._sizer = None if verify_cost is None else TreeSizer(cache(verify_cost))

    @classmethod
    def from_pretrained(
        cls,
        folder: str | Path,
        target: Target,
        tree: EagleTree | None = None,
        verify_cost: Cost | None = None,
    ) -> Eagle:
        """Load an EAGLE head of any dialect from a folder, and make the target capture the layers
        that it reads. Raises InputError."""
        weights = read_eagle(Path(folder), TargetShape.of(target))
        if weights.config.aux_layers and target.aux_layers != weights.config.aux_layers:
            target.capture_layers(weights.config.aux_layers)
        return cls(drafting_head(weights, target), target, tree, verify_cost)

    @property
    def cache_bytes(self) -> int:
        return self._cache.nbytes

    def set_choices(self, choices: Choices) -> None:
        """Draft another static tree from the next round on; (): the dynamic one."""
        self.tree = replace(self.tree, choices=choices)

    def start(self, ids: Sequence[int], first: int, features: Tensor | None) -> None:
        assert features is not None
        features = self._select_layers(features)
        if first > self._cache.length:  # the end of the last answer is pending
            self._catch_up(self._ids)
        # A row can be reused if the token after its feature is the same.
        reused = min(self._cache.length, max(common_prefix_length(self._ids, ids) - 1, 0))
        assert first <= reused
        self._cache.truncate(reused)
        self._root = None
        self._ids = list(ids)
        # The last row waits for its token, the first of the answer.
        self._pending = [features[reused - first : -1]]
        if len(ids) - 1 > reused:
            self._catch_up(ids)
        self._pending = [features[-1:]]

    def propose(self, context: DraftContext) -> Draft | None:
        begun = time.perf_counter()
        ids, gamma = context.ids, context.gamma
        # kept: a round that failed may be run again
        root, hidden = self._root = self._root or self._catch_up(ids)
        plan = self._plan(gamma, context.params)
        growing = time.perf_counter()
        pool = self._pool(hidden, gamma, plan)
        grown = time.perf_counter()
        kept = plan.keep(pool)
        tree = DraftTree(kept.shape, torch.cat([root, pool.tokens[kept.guesses]]))
        if self._sizer is not None:
            each = (grown - growing) / pool.levels
            self._sizer.drafted(time.perf_counter() - begun, each)
        return Draft(
            tree,
            draft_p=partial(pool.draft_p, kept.guesses),
            ranks=kept.ranks,
            pool=pool,
            kept=kept.guesses,
            shape_on_device=kept.shape_on_device,
        )

    def prepare(self, features: Tensor, acceptance: Acceptance) -> None:
        self._root = None
        self._pending.append(self._select_layers(features))
        if acceptance.padded:
            tokens = acceptance.next_tokens
            hidden = self._run_pending(tokens)
            self._root = acceptance.at_last_accepted(tokens), acceptance.at_last_accepted(hidden)

    def observe(self, ids: Sequence[int], accepted: int) -> None:
        self._ids.extend(ids[len(self._ids) :])
        self._cache.truncate(min(self._cache.length, len(ids) - 1))  # `prepare` runs too many rows
        if self._sizer is not None:
            self._sizer.accepted(accepted)

    def _select_layers(self, features: Tensor) -> Tensor:
        """Select this head's inputs from the states [n, T * H] of all captured layers."""
        captured, own = self._target.aux_layers, self.head.config.aux_layers
        if self.needs == "all_hidden" or captured == own:
            return features
        states = features.chunk(len(captured), dim=-1)
        return torch.cat([states[captured.index(layer)] for layer in own], dim=-1)

    def _plan(self, gamma: int, params: Params) -> TreePlan:
        tree, most = self.tree, self.head.config.draft_vocab
        if tree.choices:
            return self._static(tree.choices, gamma)
        width = 1 if self._target.recurrent else min(params.eagle_top_k or tree.top_k, most)
        total = params.eagle_total_tokens or tree.total
        if total is None and self._sizer is not None:
            return CostAwarePlan(width, self._sizer)
        return self._dynamic(width, (total or MAX_NODES) - 1)

    def _catch_up(self, ids: Sequence[int]) -> tuple[Tensor, Tensor]:
        """Run the pending rows; returns the last one's token [1] and output [1, H]."""
        first = self._cache.length
        # at the end of a generation there can be fewer tokens than features
        known = ids[first + 1 : first + 1 + sum(map(len, self._pending))]
        tokens = upload(known, self._device)
        return tokens[-1:], self._run_pending(tokens)[-1:]

    def _run_pending(self, tokens: Tensor) -> Tensor:
        """Run the pending rows with these tokens [n], and return their outputs [n, H]; in a long
        prompt those of its last rows. After an error they are all pending again."""
        first = self._cache.length
        try:
            out = self._run_all(tokens, torch.cat(self._pending)[: len(tokens)])
        except BaseException:
            self._cache.truncate(first)
            raise
        self._pending = []
        return out

    def _run_all(self, tokens: Tensor, features: Tensor) -> Tensor:
        """Run rows of features [n, F] in chunks; the outputs [m, H] of the last one."""
        self._cache.reserve(self._cache.length + len(features))
        out = features
        for part in self._target.prefill_chunks(
            self._cache.length, len(features), self._group_size
        ):
            hidden = self._forward.hidden(features[part])
            past, rows = self._cache.length, len(hidden)
            mask = None
            if past and rows > 1:
                causal = tree_tensors(chain(rows - 1), self._device).mask
                mask = additive_mask(past, causal, self._dtype, self._group_size)
            positions = torch.arange(past, past + rows, device=self._device)
            out = self._run(tokens[part], hidden, positions, mask)
        return out

    def _pool(self, hidden: Tensor, gamma: int, plan: TreePlan) -> CandidatePool:
        """Draft levels of guesses below the root, from the hidden state [1, H] that predicts its
        children."""

        def grow(hidden: Tensor, run: RunLevel) -> CandidatePool:
            return self._grow(hidden, gamma, plan, run)

        def eager() -> CandidatePool:
            first = self._cache.length
            try:
                return grow(hidden, self._levels(gamma))
            finally:
                self._cache.truncate(first)

        if self._graphs is None or isinstance(plan, CostAwarePlan):  # a new one each round
            return eager()
        return self._graphs.pool(plan, gamma, hidden, grow, eager)

    def _levels(self, gamma: int) -> RunLevel:
        """Runs levels after the rows of the cache."""
        prefix = self._cache.length
        positions = torch.arange(prefix, prefix + gamma, device=self._device)

        def run(level: int, tokens: Tensor, hidden: Tensor, tree_mask: Tensor) -> Tensor:
            mask = None
            if tree_mask.shape[1] > level + 1:  # a chain sees everything
                mask = additive_mask(prefix, tree_mask, self._dtype, self._group_size)
            return self._run(tokens, hidden, positions[level : level + 1], mask)

        return run

    def _grow(self, hidden: Tensor, gamma: int, plan: TreePlan, run: RunLevel) -> CandidatePool:
        k = plan.width
        scores = torch.zeros(1, device=self._device)
        # The frontiers: of each level's expanded nodes their indices in the pool, -1 for the root.
        frontiers = [torch.full((1,), -1, device=self._device)]
        tree_mask = torch.ones(1, 0, dtype=torch.bool, device=self._device)
        tokens, sums = [], []
        size = 0
        for level in range(gamma):
            guessed = self._forward.logits(hidden).float().log_softmax(-1).topk(k, dim=-1)
            sums.append((guessed.values + scores[:, None]).flatten())
            tokens.append(self.head.target_ids(guessed.indices).flatten())
            going = plan.frontier(level, sums[-1]) if level + 1 < gamma else None
            if going is None:
                break
            rows = going // k
            scores = sums[-1][going]
            frontiers.append(going + size)
            size += len(tokens[-1])
            # A node sees the prefix, its ancestors among the drafted rows, and itself.
            tree_mask = torch.cat([tree_mask[rows], self._itself(len(going))], dim=1)
            hidden = run(level, tokens[-1][going], hidden[rows], tree_mask)
        parents = torch.cat(frontiers).repeat_interleave(k)
        # NaN would be sorted before its parent
        sums_of_all = torch.cat(sums).nan_to_num_(-torch.inf)
        return CandidatePool(torch.cat(tokens), parents, sums_of_all, k, len(tokens))

    def _run(
        self, tokens: Tensor, hidden: Tensor, positions: Tensor, mask: Tensor | None
    ) -> Tensor:
        """Run nodes [n] through the head: its next hidden [n, H]. Their rows are added to the
        cache."""
        self._cache.begin(len(tokens))
        hidden = self._forward(tokens, hidden, positions, mask, self._cache)
        self._cache.commit(len(tokens))
        return hidden


def _static_plan(ranks: int, device: torch.device, choices: Choices, levels: int) -> StaticPlan:
    """The plan for these paths, cut to so many levels and ranks."""
    return StaticPlan(truncate_paths(choices, levels, ranks), device)
