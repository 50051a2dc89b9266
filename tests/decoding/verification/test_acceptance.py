"""Acceptance by itself: fixed distributions in, the target's distribution out."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from decoding.params import SamplingParams
from decoding.trees.draft import Draft, DraftTree
from decoding.trees.shape import TreeShape, chain
from decoding.verification.acceptance import VerifyResult, accept, last_accepted
from decoding.verification.noise import Noise, exponential
from decoding.verification.sampling import exponential_race
from tests.support.chi_square import assert_drawn_from
from tests.support.seeded import seeded

DRAWS = 20_000
ONE = SamplingParams(temperature=1.0)

PAIRS: dict[str, tuple[list[float], list[float]]] = {
    "overlapping": ([0.5, 0.3, 0.2], [0.2, 0.3, 0.5]),
    "equal": ([0.5, 0.3, 0.2], [0.5, 0.3, 0.2]),
    "disjoint": ([0.6, 0.4, 0.0, 0.0], [0.0, 0.0, 0.3, 0.7]),
    "q zero where p is not": ([0.4, 0.3, 0.3], [0.5, 0.5, 0.0]),
    "p zero where q is not": ([0.7, 0.3, 0.0], [0.2, 0.3, 0.5]),
    "one-hot q": ([0.2, 0.5, 0.3], [0.0, 1.0, 0.0]),
    "one-hot p": ([0.0, 1.0, 0.0], [0.3, 0.4, 0.3]),
    "both truncated": ([0.5, 0.3, 0.2, 0.0, 0.0], [0.0, 0.1, 0.4, 0.5, 0.0]),
}
NEXT = [0.1, 0.2, 0.7]  # the target's row behind an accepted draft


def log(rows: list[list[float]]) -> Tensor:
    width = max(map(len, rows))
    return torch.tensor([row + [0.0] * (width - len(row)) for row in rows]).log()


def drawn(weights: Tensor, noise: Noise) -> list[int]:
    """As a drafter draws."""
    return exponential_race(weights, exponential(weights, noise.generator)).tolist()


def one_token_drafts(q: Tensor) -> list[Draft]:
    """Of every token, drawn from `q` [1, V]."""
    return [Draft(DraftTree(chain(1), torch.tensor([0, i])), q) for i in range(q.shape[1])]


def judge(
    draft: Draft, logits: Tensor, noise: Noise, sampling: SamplingParams = ONE
) -> VerifyResult:
    """A round: what it emits has used up its places."""
    verdict = accept(draft, logits, sampling, noise).result
    noise.advance(len(verdict.path) + 1)
    return verdict


@pytest.mark.slow
@pytest.mark.parametrize("pair", PAIRS)
def test_a_sampled_draft_comes_out_as_the_target_would_have_drawn(pair: str) -> None:
    p, q = PAIRS[pair]
    logits = log([p, NEXT])
    row = torch.tensor([q])
    drafts = one_token_drafts(row)
    noise = seeded(4, logits.shape[1])
    first, second, accepted = [], [], 0
    for token in drawn(row.repeat(DRAWS, 1), noise):
        verdict = judge(drafts[token], logits, noise)
        if verdict.path:
            accepted += 1
            first.append(token)
            second.append(verdict.bonus)
        else:
            first.append(verdict.bonus)
    assert_drawn_from(first, dict(enumerate(p)))
    assert_drawn_from(second, dict(enumerate(NEXT)))
    # as often as can be: 1 - the distance between p and q
    rate = sum(map(min, p, q))
    assert accepted / DRAWS == pytest.approx(rate, abs=0.015)


@pytest.mark.slow
def test_the_draft_is_judged_by_the_warped_target() -> None:
    """p after temperature and top-p; q as given."""
    logits = torch.tensor([[2.0, 1.0, 0.0, -1.0], [0.0, 0.0, 0.0, 0.0]])
    sampling = SamplingParams(temperature=0.7, top_p=0.9)
    weights = [math.exp(x / 0.7) for x in (2.0, 1.0)]  # hold 0.92 of the mass
    p = [w / sum(weights) for w in weights]
    q = torch.tensor([[0.1, 0.4, 0.3, 0.2]])
    drafts = one_token_drafts(q)
    noise = seeded(5, 4)
    first = []
    for token in drawn(q.repeat(DRAWS // 2, 1), noise):
        verdict = judge(drafts[token], logits, noise, sampling)
        first.append(token if verdict.path else verdict.bonus)
    assert_drawn_from(first, dict(enumerate(p)))


def test_a_sampled_chain_ends_with_the_noise_of_its_place() -> None:
    """Else what is drawn there would be independent of it only by luck."""
    row = [0.25] * 4
    sure = torch.tensor([[0.0, 1.0, 0.0, 0.0]] * 3)
    draft = Draft(DraftTree(chain(3), torch.tensor([0, 1, 1, 1])), sure)
    for seed in range(20):
        logits = torch.cat([sure, torch.tensor([row])]).log()
        verdict = accept(draft, logits, ONE, seeded(seed, 4)).result
        own = int(seeded(seed, 4).ahead(4)[3].argmin())  # alike likely: the fastest wins
        assert (verdict.path, verdict.bonus) == ((1, 2, 3), own)


def test_nothing_is_accepted_behind_a_rejected_draft() -> None:
    """The middle one of three is impossible for the target, the last one is certain."""
    logits = log([[0.5, 0.5], [1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
    q = torch.tensor([[0.5, 0.5]] * 3)
    draft = Draft(DraftTree(chain(3), torch.tensor([0, 0, 1, 1])), q)
    verdict = judge(draft, logits, seeded(0, 2))
    assert verdict.path == (1,)
    assert verdict.bonus == 0
    assert verdict.tested == 2


def test_a_draft_that_the_target_rules_out_never_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """torch.rand may return exactly 0."""
    monkeypatch.setattr(torch, "rand", lambda n, **kw: torch.zeros(n))
    draft = Draft(DraftTree(chain(1), torch.tensor([0, 1])), torch.tensor([[0.0, 1.0]]))
    verdict = judge(draft, log([[1.0, 0.0], [0.5, 0.5]]), seeded(0, 2))
    assert verdict.path == () and verdict.bonus == 0


@pytest.mark.slow
def test_an_empty_residual_falls_back_to_the_target() -> None:
    """Rounding can reject although p == q; here q is a little too large everywhere."""
    p = [0.5, 0.3, 0.2]
    q = torch.tensor([p]) * 1.25
    drafts, logits = one_token_drafts(q), log([p, NEXT])
    noise = seeded(6, 3)
    rejected = []
    for token in drawn(q.repeat(DRAWS, 1), noise):
        verdict = judge(drafts[token], logits, noise)
        if not verdict.path:
            rejected.append(verdict.bonus)
    assert len(rejected) > DRAWS / 8
    assert_drawn_from(rejected, dict(enumerate(p)))


def test_a_greedy_draft_is_judged_by_the_argmax_not_by_a_ratio() -> None:
    logits = log([[0.5, 0.4, 0.1], [0.1, 0.1, 0.8]])
    draft = Draft(DraftTree(chain(1), torch.tensor([0, 1])), torch.tensor([[0.1, 0.9, 0.0]]))
    verdict = judge(draft, logits, seeded(0, 3), SamplingParams())
    assert verdict.path == () and verdict.bonus == 0


@pytest.mark.slow
def test_the_siblings_of_a_deterministic_tree_come_out_as_the_target_would_have_drawn() -> None:
    """Two levels, siblings in an order that is not the target's, one drafted twice."""
    shape = TreeShape((-1, 0, 0, 0, 1, 1, 2))
    tokens = [0, 2, 0, 2, 1, 0, 1]
    p = [[0.5, 0.3, 0.2]] + [[0.2, 0.7, 0.1], [0.6, 0.1, 0.3]] + [[0.1, 0.1, 0.8]] * 4
    draft = Draft(DraftTree(shape, torch.tensor(tokens)))
    logits, noise = log(p), seeded(7, 3)
    emitted = []
    for _ in range(DRAWS):
        verdict = judge(draft, logits, noise)
        emitted.append((*(tokens[i] for i in verdict.path), verdict.bonus)[:2])
    behind = {2: p[1], 0: p[2]}
    exact = {
        ids: p[0][ids[0]] * (behind[ids[0]][ids[1]] if len(ids) == 2 else 1.0)
        for ids in [(1,), *((a, b) for a in behind for b in range(3))]
    }
    assert_drawn_from(emitted, exact)


# --- trees -----------------------------------------------------------------------------------


@st.composite
def trees(draw: st.DrawFn) -> tuple[TreeShape, list[int], list[int]]:
    count = draw(st.integers(1, 15))
    parents = (-1, *(draw(st.integers(0, node - 1)) for node in range(1, count)))
    tokens = draw(st.lists(st.integers(0, 3), min_size=count, max_size=count))
    chosen = draw(st.lists(st.integers(0, 3), min_size=count, max_size=count))
    return TreeShape(parents), tokens, chosen


@given(trees())
def test_the_longest_path_stays_that_the_target_chose(
    tree: tuple[TreeShape, list[int], list[int]],
) -> None:
    """Found by the host, and on a device. Equal siblings are the target's choice alike."""
    shape, tokens, chosen = tree
    alive = [0]  # every node whose whole path was chosen; if `first`, of equal siblings the first
    first = [0]
    for node, parent in enumerate(shape.parents[1:], 1):
        if parent in alive and tokens[node] == chosen[parent]:
            alive.append(node)
            if parent in first and not any(shape.parents[i] == parent for i in first):
                first.append(node)
    ids = torch.tensor(tokens)
    agrees = ids == torch.tensor(chosen)[[0, *shape.parents[1:]]]
    (last,) = last_accepted(DraftTree(shape, ids), agrees).tolist()
    assert last == max(alive, key=lambda node: shape.depths[node])

    logits = torch.nn.functional.one_hot(torch.tensor(chosen), 4)
    verdict = accept(Draft(DraftTree(shape, ids)), logits, SamplingParams(), seeded(0, 4)).result
    last = max(first, key=lambda node: shape.depths[node])
    assert verdict.path == shape.path(last)
    assert verdict.bonus == chosen[last]
    assert verdict.tested == len(verdict.path) + bool(shape.children[last])
    assert verdict.tokens == tuple(tokens) and verdict.chosen == tuple(chosen)
