"""Candidate trees: both spellings, trimming, growing by measured accuracy."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decoding.cost.curve import Line
from decoding.cost.model import CostModel
from decoding.cost.optimal_tree import optimal_tree
from decoding.errors import InputError
from decoding.trees.static import (
    NAMED_TREES,
    build_tree,
    parse_choices,
    truncate_paths,
)

PATHS = st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=4).map(tuple), min_size=1)


def test_all_candidates_and_unique_paths_give_the_same_tree() -> None:
    unique = ((0, 0, 0, 0), (0, 1, 0), (1, 0), (1, 1))
    every = ((0,), (0, 0), (1,), (0, 1), (0, 0, 0), (1, 0), (1, 1), (0, 0, 0, 0), (0, 1, 0))
    assert build_tree(unique) == build_tree(every)
    assert len(build_tree(unique).shape) == 10


@given(PATHS)
def test_every_path_is_in_the_tree_at_its_heads_and_ranks(paths: list[tuple[int, ...]]) -> None:
    tree = build_tree(tuple(paths))
    found = set()
    for node in range(1, len(tree.shape)):
        way = tree.shape.path(node)
        assert [tree.heads[n - 1] for n in way] == list(range(len(way)))
        found.add(tuple(tree.ranks[n - 1] for n in way))
    assert found == {path[:n] for path in paths for n in range(1, len(path) + 1)}
    assert len(found) == len(tree.shape) - 1


@given(PATHS, st.integers(1, 4), st.integers(1, 5))
def test_trimmed_trees_fit(paths: list[tuple[int, ...]], heads: int, ranks: int) -> None:
    for path in truncate_paths(paths, heads, ranks):
        assert len(path) <= heads and max(path) < ranks


def test_growing_finds_the_best_tree_of_its_model() -> None:
    """Against every tree of two heads with two ranks."""
    accuracy = ((0.6, 0.2), (0.5, 0.1))

    def verify(n: int) -> float:
        return 1.0 + 0.12 * (n - 1)

    def speed(nodes: frozenset[tuple[int, ...]]) -> float:
        worth = sum(accuracy[0][p[0]] * (accuracy[1][p[1]] if len(p) > 1 else 1.0) for p in nodes)
        return (1 + worth) / (0.1 + verify(1 + len(nodes)))

    every = [(0,), (1,), (0, 0), (0, 1), (1, 0), (1, 1)]
    trees = (
        frozenset(p for p, kept in zip(every, keep, strict=True) if kept)
        for keep in product((False, True), repeat=len(every))
    )
    whole = [t for t in trees if t and all(len(p) == 1 or p[:1] in t for p in t)]
    grown = frozenset(optimal_tree(accuracy, CostModel(Line(0.1, 0.0), verify)))
    assert speed(grown) == pytest.approx(max(map(speed, whole)))


def test_no_tree_is_grown_where_none_pays() -> None:
    assert optimal_tree(((0.1, 0.05),), CostModel(Line(0.1, 0.0), float)) == ()


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("nonsense", "no such file"),
        ("[[0], [-1]]", "no path of ranks"),
        ("[[0], 1]", "not a JSON list of lists"),
        ("[[]]", "no path of ranks"),
        ("[]", "the list is empty"),
        ("[[0.5]]", "no path of ranks"),
        ("[[true]]", "no path of ranks"),
    ],
)
def test_bad_choices_are_refused_in_one_line(text: str, line: str) -> None:
    with pytest.raises(InputError, match=line):
        parse_choices(text)


def test_choices_by_name_json_and_file(tmp_path: Path) -> None:
    assert parse_choices("chain") == NAMED_TREES["chain"]
    assert parse_choices("[[0], [0, 1]]") == ((0,), (0, 1))
    (tmp_path / "tree.json").write_text("[[0], [2]]")
    assert parse_choices(str(tmp_path / "tree.json")) == ((0,), (2,))
