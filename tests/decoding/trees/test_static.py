"""Candidate trees: both spellings, trimming, growing by measured accuracy."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
        ("[[0], [1], [0]]", r"\[0\] is listed 2 times"),
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
