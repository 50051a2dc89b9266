"""A tree's forward pass says at each node what the plain sequence down to it says."""

from __future__ import annotations

from functools import cache

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from decoding.model.attention import MASK_ALIGNMENT, additive_mask
from decoding.trees.draft import DraftTree
from decoding.trees.shape import TreeShape
from tests.support.families import CONTEXT, FAMILIES, SLIDING, VOCAB, reference, target

PREFIX = tuple((7 * i + 3) % VOCAB for i in range(CONTEXT))
WINDOWED = ("gemma2", "gemma3", "mistral", "phi3", "cohere2", "qwen2-window", "gpt_oss", "llama4")
BUSHY = TreeShape((-1, 0, 0, 1, 1, 2, 3, 3, 7, 0, 9, 10, 11))
DEEP = TreeShape(
    (-1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0, 14, 15)
)  # deeper than the window


@cache
def plain(family: str, ids: tuple[int, ...]) -> Tensor:
    """Logits behind each of `ids` from the reference model, without a cache."""
    with torch.inference_mode():
        out = reference(family)(input_ids=torch.tensor([ids]), use_cache=False)
    rows: Tensor = out.logits[0]
    return rows


def tokens_for(shape: TreeShape) -> Tensor:
    return torch.tensor([(11 * node + 5) % VOCAB for node in range(len(shape))])


def check(family: str, prefix: tuple[int, ...], shape: TreeShape) -> None:
    """`prefix` has rows in the cache; the tree's root follows it."""
    cache = target(family).new_cache(8)
    if prefix:
        target(family).prefill(cache, prefix)
    tree = DraftTree(shape, tokens_for(shape))
    got = target(family).forward(cache, tree).logits
    for leaf in (node for node, children in enumerate(shape.children) if not children):
        path = [0, *shape.path(leaf)]
        want = plain(family, prefix + tuple(tree.tokens[path].tolist()))[len(prefix) :]
        torch.testing.assert_close(got[path], want, rtol=1e-4, atol=2e-4, msg=f"nodes {path}")


@st.composite
def shapes(draw: st.DrawFn) -> TreeShape:
    parents = [-1]
    for node in range(1, draw(st.integers(1, 12))):
        parents.append(draw(st.integers(0, node - 1)))
    return TreeShape(tuple(parents))


@pytest.mark.parametrize("prefix", [1, SLIDING - 1, SLIDING, 2 * SLIDING + 5])
@pytest.mark.parametrize("shape", [BUSHY, DEEP], ids=["bushy", "deep"])
@pytest.mark.parametrize("family", FAMILIES)
def test_a_tree_says_what_its_paths_say(family: str, shape: TreeShape, prefix: int) -> None:
    check(family, PREFIX[:prefix], shape)


@settings(max_examples=25)
@given(shape=shapes(), prefix=st.integers(1, 3 * SLIDING))
@pytest.mark.parametrize("family", ["llama", "gpt2", *WINDOWED])
def test_any_tree_behind_any_prefix(family: str, shape: TreeShape, prefix: int) -> None:
    check(family, PREFIX[:prefix], shape)


@pytest.mark.parametrize("prefix", [1, 4, 10, 26])
def test_rows_of_a_mask_begin_where_cudas_kernels_take_them(prefix: int) -> None:
    tree_mask = torch.tensor([[True, False], [True, True]])
    mask = additive_mask(prefix, tree_mask, torch.float32, group_size=3)
    assert mask.stride(-2) % MASK_ALIGNMENT == 0 and mask.stride(-1) == 1
    every = torch.cat([torch.ones(2, prefix, dtype=torch.bool), tree_mask], dim=1).repeat(3, 1)
    assert mask[0, 0].eq(0.0).equal(every)
    assert mask.min() == torch.finfo(torch.float32).min


@torch.inference_mode()
@pytest.mark.parametrize("family", ["gemma2", "gpt_oss"])
def test_scores_that_are_written_out_a_few_rows_at_a_time(
    family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("decoding.model.attention._SCORES", 300)
    check(family, PREFIX[: SLIDING + 3], BUSHY)


@torch.inference_mode()
@settings(max_examples=15)
@given(rounds=st.lists(st.tuples(shapes(), st.integers(0, 11)), min_size=2, max_size=4))
@pytest.mark.parametrize("family", ["llama", "gemma3", "mistral"])
def test_rows_kept_from_a_tree_serve_the_next_round(
    family: str, rounds: list[tuple[TreeShape, int]]
) -> None:
    """The accepted path may lie anywhere in the tree; its rows are computed once and stay."""
    model = target(family)
    cache = model.new_cache(8)
    committed = PREFIX[:7]
    model.prefill(cache, committed)
    for shape, choice in rounds:
        tree = DraftTree(shape, tokens_for(shape))
        got = model.forward(cache, tree).logits
        path = (0, *shape.path(choice % len(shape)))
        committed += tuple(int(tree.tokens[i]) for i in path)
        want = plain(family, committed)[-1]
        torch.testing.assert_close(got[path[-1]], want, rtol=1e-4, atol=2e-4)
        cache.keep(path)
        assert cache.length == len(committed)


@torch.inference_mode()
@pytest.mark.parametrize("family", FAMILIES)
def test_prefill_gives_the_last_logits_and_features_that_the_head_agrees_with(family: str) -> None:
    model = target(family)
    result = model.prefill(model.new_cache(), PREFIX[:20], keep_features=True)
    assert result.logits.shape == (1, VOCAB)
    assert result.features.shape == (20, 32)
    want = plain(family, PREFIX[:20])[-1]
    torch.testing.assert_close(result.logits[0], want, rtol=1e-4, atol=2e-4)
    head = model.model.get_output_embeddings()
    assert head(result.features[-1:]).argmax() == result.logits.argmax()


def test_where_masks_are_large_fewer_rows_are_run_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("decoding.model.target.PREFILL_CHUNK", 6)
    monkeypatch.setattr("decoding.model.target.MASK_ELEMENTS", 100)
    parts = list(target("llama").prefill_chunks(0, 40, group_size=2))
    assert [part.stop for part in parts[:-1]] == [part.start for part in parts[1:]]
    assert (parts[0], parts[-1].stop) == (slice(0, 6), 40)
    sizes = [part.stop - part.start for part in parts]
    assert sizes == sorted(sizes, reverse=True) and sizes[1] == 4 and sizes[-1] == 1
    masks = [2 * (part.stop - part.start) * part.stop for part in parts[1:]]
    assert max(masks) <= 100


def test_features_of_all_rows_come_back_over_several_chunks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = target("gemma2")
    whole = model.prefill(model.new_cache(), PREFIX[:20], keep_features=True).features
    monkeypatch.setattr("decoding.model.target.PREFILL_CHUNK", 6)
    parts = model.prefill(model.new_cache(), PREFIX[:20], keep_features=True).features
    torch.testing.assert_close(parts, whole, rtol=1e-4, atol=2e-4)
    last = model.prefill(model.new_cache(), PREFIX[:20]).features
    torch.testing.assert_close(last, whole[18:], rtol=1e-4, atol=2e-4)
