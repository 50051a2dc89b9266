"""The tree that suits Medusa heads on a machine."""

from __future__ import annotations

import torch

from decoding.cost.curve import Line
from decoding.cost.measure import seconds
from decoding.cost.model import Cost, CostModel
from decoding.cost.tree_size import optimal_tree
from decoding.drafters.medusa_heads import MedusaHeads
from decoding.model.target import Target
from decoding.trees.static import NAMED_TREES, Choices

TOLERANCE = 1.15  # speeds of trees: two measurements of one machine may differ by as much


def draft_seconds(heads: MedusaHeads, target: Target) -> tuple[float, float]:
    """Measure a draft by the first head alone and by all of them, in seconds."""
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
    verify_cost: Cost | None,
    kept: Choices = (),
    measured: tuple[float, float] | None = None,
) -> Choices:
    """Choose the fastest tree for these heads on this machine, by their accuracies, the time of a
    draft (`measured`: the `draft_seconds`, if they are known) and `verify_cost`, the seconds of a
    pass over n nodes. Without accuracies or `verify_cost` it is the small tree; where no tree pays,
    the first head's likeliest token. The tree `kept` from an earlier choice stays until another one
    is clearly faster."""
    if not heads.accuracy or verify_cost is None:
        return NAMED_TREES["small"]
    one, all_heads = measured or draft_seconds(heads, target)
    slope = max(all_heads - one, 0.0) / max(heads.count - 1, 1)
    costs = CostModel(Line(one - slope, slope), verify_cost)
    return optimal_tree(heads.accuracy, costs, kept=kept, tolerance=TOLERANCE) or ((0,),)
