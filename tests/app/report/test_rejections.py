"""Which drafts were rejected, and how often a drafter is right: by level, kind and confidence."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.report.rejections import (
    BEGINNING,
    Bin,
    LevelReader,
    Rejection,
    Tallies,
    Tally,
    TokenKind,
    kind_of,
    levels_of,
    rejections,
)
from app.text.token_event import TokenEvent
from decoding.round import Round, TokenFate
from tests.support.rounds import CHAIN, TEXTS, TREE

TOP = ((7, 0.5, 0.6), (6, 0.3, 0.4))


def step(record: Round) -> tuple[Round, list[TokenEvent]]:
    """The tokens as they are shown: a rejected one is not of the text."""
    ends = [TokenFate.ACCEPTED] * len(record.accepted) + [TokenFate.CORRECTION]
    shown = [
        TokenEvent(token, TEXTS[token], fate, record.index)
        for token, fate in zip(record.emitted, ends, strict=False)
    ]
    return record, [*shown[:-1], TokenEvent(6, " a", TokenFate.REJECTED, record.index), shown[-1]]


def test_a_rejection_says_what_was_wanted_and_how_sure_both_were() -> None:
    none, entropies = ((),) * 3, (0.1, 0.2, 0.3, 1.5, 0.0, 0.0, 0.0)
    seen = replace(
        TREE,
        top=(*none, TOP, *none),
        entropies=entropies,
        model_p=(1.0, 0.8, 0.1, 0.6, 0.1, 0.3, 0.31),
        q=(1.0, 0.9, 0.05, 0.7, 0.2, 0.6, 0.55),
    )
    (found,) = rejections(levels_of([step(seen)]))
    assert found == Rejection(0, 3, 6, 7, TokenKind.WORD, 2, 0.31, 0.55, 1.5)
    (unlikely,) = rejections(levels_of([step(replace(seen, top=((),) * 7))]))
    assert unlikely.rank is None


def test_without_probabilities_the_tokens_are_known() -> None:
    (found,) = rejections(levels_of([step(CHAIN)]))
    assert found == Rejection(0, 2, 4, 7, TokenKind.WORD, None, None, None, None)


def test_levels_that_were_not_tested_do_not_count() -> None:
    """CHAIN is three tokens long; after the second was rejected nobody asked about the third."""
    levels = [*levels_of([step(TREE), step(replace(CHAIN, index=1))])]
    assert [(level.record.index, level.depth) for level in levels] == [
        (0, 1), (0, 2), (0, 3), (1, 1), (1, 2)
    ]  # fmt: skip
    assert Tallies.of(levels).by_level == {
        1: Tally(2, 2, 2), 2: Tally(2, 1, 1), 3: Tally(1, 0, 0)
    }  # fmt: skip


def test_a_second_guess_may_be_the_right_one() -> None:
    """A tree has several guesses at a level: accepted, though the likeliest was wrong."""
    second = replace(TREE, accepted=(2,), emitted=(3, 4), tested=1, chosen=(3, 5, 4, 7, 6, 6, 6))
    counts = Tallies.of(levels_of([step(second)])).by_level
    assert counts == {1: Tally(1, 1, 0)}
    assert (counts[1].rate, counts[1].first_rate) == (1.0, 0.0)


def test_the_end_of_an_answer_was_not_rejected() -> None:
    cut = replace(TREE, accepted=(1,), emitted=(2,), tested=1)
    assert rejections(levels_of([step(cut)])) == []


def test_confidence_beside_how_often_it_was_right() -> None:
    q = (1.0, 0.9, 0.05, 0.7, 0.2, 0.6, 0.55)
    bins = Tallies.of(levels_of([step(replace(TREE, q=q))])).calibration
    # the siblings count as well: at level 1 "the", at level 2 "."
    assert bins == [
        Bin(0.0, 1, 0.05, 0),
        Bin(0.2, 1, 0.2, 0),
        Bin(0.4, 1, 0.55, 0),
        Bin(0.6, 1, 0.7, 1),
        Bin(0.8, 1, 0.9, 1),
    ]
    assert (bins[4].mean, bins[4].rate, Bin(0.0).rate) == (0.9, 1.0, None)
    assert Tallies.of(levels_of([step(TREE)])).calibration == []
    sure = Tallies.of(levels_of([step(replace(TREE, q=(1.0,) * 7))])).calibration
    assert sure[4].guesses == 5


def test_the_beginning_of_an_answer_counts_apart() -> None:
    """Each round is three tokens; the answer's first token came before them."""
    steps = [step(replace(TREE, index=index)) for index in range(3)]
    levels = [*levels_of(steps)]
    assert [level.position for level in levels] == [*range(1, 10)]
    counts = Tallies.of(levels).by_place
    assert [(name, each.tested) for name, each in counts.items()] == [
        (f"first {BEGINNING} tokens", 7), ("later tokens", 2),
    ]  # fmt: skip
    assert list(Tallies.of(levels[:2]).by_place) == [f"first {BEGINNING} tokens"]


@pytest.mark.parametrize(
    ("before", "text", "kind"),
    [
        ("", "The", TokenKind.WORD),
        ("The", " sky", TokenKind.WORD),
        ("The sk", "ies", TokenKind.INSIDE),
        ("I live in", " Paris", TokenKind.NAME),
        ("I live in", " I", TokenKind.WORD),
        ("It is. ", "Paris", TokenKind.WORD),
        ("It is.", " Paris", TokenKind.WORD),
        ("He said \"no.\"", " Paris", TokenKind.WORD),
        ("a list:\n", "Paris", TokenKind.WORD),
        ("He (", "Paris", TokenKind.NAME),
        ("Par", "IS", TokenKind.INSIDE),
        ("in", " 1984", TokenKind.NUMBER),
        ("19", "84", TokenKind.NUMBER),
        ("so", ",", TokenKind.PUNCTUATION),
        ("so", " —", TokenKind.PUNCTUATION),
        ("so.", "\n\n", TokenKind.PUNCTUATION),
        ("don", "'t", TokenKind.INSIDE),
        ("well-", "known", TokenKind.WORD),
        ("so.", "", TokenKind.SPECIAL),
    ],
)  # fmt: skip
def test_kinds_of_tokens(before: str, text: str, kind: TokenKind) -> None:
    assert kind_of(text, before) is kind


@pytest.mark.parametrize("begun", ["", " ", "It is.", 'He said "no.', "A list:\n", "well"])
def test_of_the_text_before_only_what_matters_is_kept(begun: str) -> None:
    tokens = [" ", '"', "”", " ", "so", "Paris", ".", " )", "In", " ", "\n", " ", "Rome", ""]
    reader, text = LevelReader(begun), begun
    plain = replace(CHAIN, accepted=(), tested=0)
    for each in tokens:
        for after in ("Paris", " Paris", " so", ","):
            assert kind_of(after, reader.before) is kind_of(after, text), (text, reader.before)
        assert not [*reader.levels(plain, [TokenEvent(1, each, TokenFate.PLAIN, 0)])]
        text += each
    assert reader.position == 1 + len(tokens) and len(reader.before) < 6


def test_the_kind_is_that_of_the_token_that_came() -> None:
    """Its surroundings count: the text before the round, and what the round itself has written."""
    named = replace(TREE, emitted=(9, 2, 4))
    levels = [*levels_of([step(named)], "We are")]
    assert [level.kind for level in levels] == [
        TokenKind.INSIDE,
        TokenKind.NAME,
        TokenKind.PUNCTUATION,
    ]
