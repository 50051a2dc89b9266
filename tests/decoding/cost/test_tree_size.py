"""Trees as large as pays."""

from __future__ import annotations

from functools import partial
from itertools import product

import pytest

from decoding.cost.curve import Line
from decoding.cost.model import CostModel
from decoding.cost.tree_size import MAX_NODES, TreeSizer, optimal_tree
from decoding.model.graphs import SIZES


@pytest.mark.parametrize("slope", [0.0, 0.05, 0.4])
def test_growing_finds_the_best_tree_of_its_model(slope: float) -> None:
    """Against every tree of two heads with two ranks."""
    accuracy = ((0.6, 0.2), (0.5, 0.1))

    def verify(n: float) -> float:
        return 1.0 + 0.12 * (n - 1)

    def speed(nodes: frozenset[tuple[int, ...]]) -> float:
        worth = sum(accuracy[0][p[0]] * (accuracy[1][p[1]] if len(p) > 1 else 1.0) for p in nodes)
        levels = max(map(len, nodes))
        return (1 + worth) / (0.1 + slope * levels + verify(1 + len(nodes)))

    every = [(0,), (1,), (0, 0), (0, 1), (1, 0), (1, 1)]
    trees = (
        frozenset(p for p, kept in zip(every, keep, strict=True) if kept)
        for keep in product((False, True), repeat=len(every))
    )
    whole = [t for t in trees if t and all(len(p) == 1 or p[:1] in t for p in t)]
    grown = frozenset(optimal_tree(accuracy, CostModel(Line(0.1, slope), verify)))
    assert speed(grown) == pytest.approx(max(map(speed, whole)))


def test_of_trees_that_are_alike_the_deepest_is_taken_once_and_kept() -> None:
    accuracy, costs = ((0.7,), (0.5,), (0.2,)), CostModel(Line(0.0, 0.1), lambda n: 1.0 + n / 20)
    chains = [tuple((0,) * length for length in range(1, depth + 1)) for depth in (1, 2, 3)]
    assert optimal_tree(accuracy, costs) == chains[1]
    assert optimal_tree(accuracy, costs, tolerance=1.15) == chains[2]
    assert optimal_tree(accuracy, costs, kept=chains[1], tolerance=1.15) == chains[1]
    flat = CostModel(Line(0.0, 0.02), lambda n: 1.0 + n / 100)  # others are clearly faster there
    assert optimal_tree(accuracy, flat, kept=chains[0], tolerance=1.15) == chains[2]


def test_no_tree_is_grown_where_none_pays() -> None:
    assert optimal_tree(((0.1, 0.05),), CostModel(Line(0.1, 0.0), float)) == ()


def test_the_largest_tree_is_a_pass_of_64_rows_with_its_root() -> None:
    """More rows than that have no CUDA graph."""
    free = CostModel(Line(0.1, 0.0), lambda n: 1.0)
    assert len(optimal_tree([[0.5] * 10] * 4, free)) == MAX_NODES - 1 == SIZES[-1] - 1


def test_a_tree_that_pays_grows_with_trust_and_shrinks_with_cost() -> None:
    flat = TreeSizer(lambda n: 1.0)
    steep = TreeSizer(lambda n: float(n))
    likely = [0.9, 0.7, 0.5, 0.2, 0.05]
    assert flat.best_size(likely) == len(likely)
    assert steep.best_size(likely) == 1
    middle = TreeSizer(lambda n: 1.0 + 0.15 * (n - 1))
    sizes = [middle.best_size(likely)]
    for _ in range(200):  # nothing is ever accepted
        middle.best_size(likely)
        middle.accepted(0)
    sizes.append(middle.best_size(likely))
    assert sizes[0] > sizes[1]


def test_a_paying_tree_goes_deeper_where_the_draft_is_sure() -> None:
    sizer = TreeSizer(lambda n: 1.0 + 0.1 * n, draft_seconds=0.3, level_seconds=0.1)
    sizer.best_size([0.9, 0.8, 0.7])
    assert sizer.rows_that_pay(0, [0.9]) and not sizer.rows_that_pay(0, [0.02])


def test_only_nodes_with_children_that_can_pay_are_run() -> None:
    likely = [0.8, 0.5, 0.04, 0.01]
    for slope, rows in ((0.0, 4), (0.05, 2), (0.4, 1)):
        sizer = TreeSizer(partial(_line, slope), draft_seconds=0.3, level_seconds=0.1)
        sizer.best_size([0.9, 0.8, 0.7])
        assert sizer.rows_that_pay(0, likely) == rows


def test_a_level_that_is_never_reached_is_given_up_and_tried_again_later() -> None:
    """Whatever the draft says of it, and although the levels above are always right."""
    sizer = TreeSizer(partial(_line, 0.1), draft_seconds=0.3, level_seconds=0.2)

    def deep() -> bool:
        """A round in which the first two tokens are accepted, and the third is not."""
        levels = [bool(sizer.rows_that_pay(level, [0.9])) for level in range(2)]
        sizer.best_size([0.9, 0.9, 0.9][: 1 + sum(levels)])
        sizer.accepted(2)
        assert levels[0]
        return levels[1]

    rounds = [deep() for _ in range(400)]
    assert rounds[0] and not any(rounds[10:30]) and any(rounds[30:])
    assert sum(rounds) < 40


def test_rounds_of_a_single_level_say_nothing_of_deeper_ones() -> None:
    """With gamma 1 there is no level to ask for; then gamma is more again."""
    sizer = TreeSizer(partial(_line, 0.1), draft_seconds=0.3, level_seconds=0.2)
    assert sizer.rows_that_pay(0, [0.9])
    sizer.best_size([0.9, 0.9])
    sizer.accepted(2)
    for _ in range(100):
        sizer.best_size([0.9])
        sizer.accepted(1)
    assert sizer.rows_that_pay(0, [0.9])


def _line(slope: float, nodes: float) -> float:
    return 1.0 + slope * nodes
