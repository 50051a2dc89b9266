"""Medusa's typical acceptance: the longest plausible path, checked against its definition."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from decoding.params import SamplingParams
from decoding.trees.draft import Draft, DraftTree
from decoding.trees.shape import TreeShape
from decoding.verification.acceptance import accept_typical
from tests.support.seeded import seeded


@st.composite
def trees(draw: st.DrawFn) -> tuple[TreeShape, list[int]]:
    count = draw(st.integers(1, 15))
    parents = (-1, *(draw(st.integers(0, node - 1)) for node in range(1, count)))
    return TreeShape(parents), draw(st.lists(st.integers(0, 3), min_size=count, max_size=count))


def plausible(p: Sequence[float], token: int, epsilon: float, delta: float) -> bool:
    entropy = -sum(x * math.log(x) for x in p if x > 0)
    return p[token] > min(epsilon, delta * math.exp(-entropy))


@given(trees(), st.integers(0, 99), st.sampled_from([0.7, 1.0, 1.5]))
def test_typical_acceptance_takes_the_longest_plausible_path(
    tree: tuple[TreeShape, list[int]], seed: int, temperature: float
) -> None:
    shape, tokens = tree
    logits = 2.5 * torch.randn(len(shape), 4, generator=torch.Generator().manual_seed(seed))
    rows = (logits / temperature).softmax(-1).tolist()
    scores = {0: 0.0}
    for node, parent in enumerate(shape.parents[1:], 1):
        if parent in scores and plausible(rows[parent], tokens[node], 0.3, 0.6):
            scores[node] = scores[parent] + math.log(rows[parent][tokens[node]])
    sampling = SamplingParams(temperature=temperature, top_k=3)
    draft = Draft(DraftTree(shape, torch.tensor(tokens)))
    verdict = accept_typical(draft, logits, sampling, 0.3, 0.6, seeded(0, 4)).result
    last = verdict.path[-1] if verdict.path else 0
    assert last in scores
    best = max((shape.depths[node], score) for node, score in scores.items())
    assert (shape.depths[last], scores[last]) == pytest.approx(best, abs=1e-4)
    assert verdict.path == shape.path(last)
    assert verdict.tested == len(verdict.path) + bool(shape.children[last])
    assert verdict.bonus in logits[last].topk(3).indices.tolist()


def test_typical_acceptance_at_temperature_0_is_greedy() -> None:
    logits = torch.tensor([[0.5, 0.4, 0.1], [0.1, 0.1, 0.8], [0.1, 0.8, 0.1]]).log()
    draft = Draft(DraftTree(TreeShape((-1, 0, 0)), torch.tensor([0, 1, 0])))
    verdict = accept_typical(draft, logits, SamplingParams(), 0.09, 0.3, seeded(0, 3)).result
    assert verdict.path == (2,) and verdict.bonus == 1
