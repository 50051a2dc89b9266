"""The settings that τ is measured with unless others are given: while heads are trained, by `eval`
and by `quantize`, so that these numbers can be compared.

What is fastest follows timings, which differ between machines and runs; a checkpoint's own settings
differ between checkpoints.
"""

from __future__ import annotations

from dataclasses import replace

from decoding.params import Params
from decoding.trees.static import NAMED_TREES, Choices, build_tree, truncate_paths

MEDUSA_TREE = "small"
SERVED_TREE = NAMED_TREES[MEDUSA_TREE]  # where the heads name none
EAGLE_NODES, EAGLE_TOP_K = 16, 4
GAMMA = {"eagle": 6, "draft": 4}  # Medusa's is the depth of its tree


def with_eval_settings(params: Params, kind: str) -> Params:
    """Fill in the defaults for a kind of drafter where `params` names no settings."""
    if params.gamma is None:
        params = replace(params, gamma=GAMMA.get(kind))
    if kind != "eagle":
        return params
    return replace(
        params,
        eagle_total_tokens=params.eagle_total_tokens or EAGLE_NODES,
        eagle_top_k=params.eagle_top_k or EAGLE_TOP_K,
    )


def in_words(params: Params, kind: str, choices: Choices = ()) -> str:
    """Return the draft that these settings make; of Medusa with the tree `choices`, which its heads
    can fill."""
    if kind == "draft":
        return f"chains of γ {params.gamma}"
    if kind == "medusa":
        longest = max(map(len, choices), default=0)
        gamma = min(longest, params.gamma) if isinstance(params.gamma, int) else longest
        reached = build_tree(truncate_paths(choices, gamma)).ranks
        return f"a tree of {len(reached) + 1} nodes, γ {gamma}"
    return (
        f"a tree of {params.eagle_total_tokens} nodes, top-k {params.eagle_top_k}, γ {params.gamma}"
    )
