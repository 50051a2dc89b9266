"""Trees: paths, depths, ancestors, and parents that make no tree."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from decoding.trees.shape import TreeShape, chain
from decoding.trees.tensors import LONGEST_CACHED, tree_tensors


@st.composite
def parents_lists(draw: st.DrawFn) -> tuple[int, ...]:
    count = draw(st.integers(0, 20))
    return (-1, *(draw(st.integers(0, node - 1)) for node in range(1, count + 1)))


def climb(parents: tuple[int, ...], node: int) -> list[int]:
    """The node and everything above it, the root included."""
    above = [node]
    while parents[above[-1]] != -1:
        above.append(parents[above[-1]])
    return above


@given(parents_lists())
def test_paths_depths_ancestors_and_children_agree(parents: tuple[int, ...]) -> None:
    shape = TreeShape(parents)
    mask = tree_tensors(shape, torch.device("cpu")).mask
    assert len(shape) == len(parents)
    for node in range(len(parents)):
        above = climb(parents, node)
        assert shape.path(node) == tuple(reversed(above[:-1]))
        assert shape.depths[node] == len(above) - 1
        assert [i for i in range(len(parents)) if mask[node, i]] == sorted(above)
        assert shape.children[node] == tuple(i for i, p in enumerate(parents) if p == node)
    assert shape.is_chain == all(len(children) <= 1 for children in shape.children)


def test_a_part_of_a_prompt_is_a_chain_that_is_not_kept() -> None:
    shape, device = chain(LONGEST_CACHED), torch.device("cpu")
    kept = tree_tensors(chain(LONGEST_CACHED - 1), device)
    long = tree_tensors(shape, device)
    assert tree_tensors(chain(LONGEST_CACHED - 1), device) is kept
    assert tree_tensors(shape, device) is not long and long.max_depth == shape.depth
    assert long.parents.tolist() == [0, *shape.parents[1:]]
    assert long.depths.tolist() == list(shape.depths)
    assert torch.equal(long.mask[:-1, :-1], kept.mask) and long.mask[-1].all()


@given(parents_lists(), st.data())
def test_parents_that_do_not_come_before_their_child_are_refused(
    parents: tuple[int, ...], data: st.DataObject
) -> None:
    node = data.draw(st.integers(1, len(parents)))
    wrong = data.draw(st.integers(node, node + 5) | st.integers(-5, -1))
    with pytest.raises(ValueError, match=f"node {node}"):
        TreeShape((*parents[:node], wrong, *parents[node + 1 :]))


@pytest.mark.parametrize("parents", [(), (0,), (0, 0), (-2,)], ids=str)
def test_a_tree_begins_with_its_root(parents: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="root"):
        TreeShape(parents)


@pytest.mark.parametrize("gamma", [0, 1, 5])
def test_chain(gamma: int) -> None:
    shape = chain(gamma)
    assert shape.is_chain
    assert shape.depths == tuple(range(gamma + 1))
