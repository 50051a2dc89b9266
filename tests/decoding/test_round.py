"""A round's tree and what became of its tokens."""

from __future__ import annotations

import pytest

from decoding.round import Round, TokenFate

PARENTS = (-1, 0, 0, 1, 1, 2, 4)  # root -> a b, a -> c d, b -> e, d -> f
ACCEPTED, REJECTED, DROPPED = TokenFate.ACCEPTED, TokenFate.REJECTED, TokenFate.DROPPED


def make_round(
    accepted: tuple[int, ...], *, cut: bool = False, parents: tuple[int, ...] = PARENTS
) -> Round:
    tokens = tuple(range(10, 10 + len(parents)))
    emitted = tuple(tokens[node] for node in accepted) + (() if cut else (99,))
    last = accepted[-1] if accepted else 0
    tested = len(accepted) + (last in parents and not cut)
    return Round(0, tokens, parents, accepted, emitted, tested, 0.0, 0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("accepted", "fates", "own", "rejected_path"),
    [
        ((), (REJECTED, REJECTED, *[DROPPED] * 4), TokenFate.CORRECTION, (1, 3)),
        (
            (1,),
            (ACCEPTED, REJECTED, REJECTED, REJECTED, DROPPED, DROPPED),
            TokenFate.CORRECTION,
            (3,),
        ),
        (
            (1, 4, 6),
            (ACCEPTED, REJECTED, REJECTED, ACCEPTED, DROPPED, ACCEPTED),
            TokenFate.BONUS,
            (),
        ),
    ],
    ids=["nothing accepted", "rejected below the first level", "accepted to a leaf"],
)
def test_fates_follow_from_the_accepted_path(
    accepted: tuple[int, ...],
    fates: tuple[TokenFate, ...],
    own: TokenFate,
    rejected_path: tuple[int, ...],
) -> None:
    record = make_round(accepted)
    assert tuple(record.fate(node) for node in range(1, 7)) == fates
    assert record.fate(-1) is own
    assert record.rejected_path == rejected_path
    assert record.last_node == record.parent(-1) == (accepted[-1] if accepted else 0)
    assert record.parent(6) == 4


def test_what_follows_the_end_of_the_generation_was_dropped_not_rejected() -> None:
    record = make_round((1,), cut=True)
    assert [record.fate(node) for node in range(1, 7)] == [ACCEPTED, REJECTED, *[DROPPED] * 4]
    assert record.rejected_path == ()


def test_a_round_without_drafts_gives_a_plain_token() -> None:
    assert make_round((), parents=(-1,)).fate(-1) is TokenFate.PLAIN


def test_geometry_is_that_of_the_shape() -> None:
    shape = make_round(()).shape
    assert (shape.depth, shape.level_sizes) == (3, (1, 2, 3, 1))
    assert make_round((1,)).shape is shape  # derived once for all rounds with this tree
