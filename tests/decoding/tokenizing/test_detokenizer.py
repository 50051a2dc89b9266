"""Pieces of text add up to the whole, and never show half a character."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers import PreTrainedTokenizerFast

from assets.demo.recipe.tokenizer import train_tokenizer
from decoding.tokenizing.detokenizer import Detokenizer

HALF = "\N{REPLACEMENT CHARACTER}"
WORDS = [
    "one tea",
    "café",
    "naïve",
    "日本語",
    "Привет",
    "שלום",
    "🙂",
    "👩‍👩‍👧",
    "e\u0301",
    "  ",
    "\n\n",
]


@cache
def tokenizer() -> PreTrainedTokenizerFast:
    return train_tokenizer(WORDS * 3, vocab_size=300)


def decode(ids: Sequence[int]) -> str:
    return str(tokenizer().decode(list(ids), skip_special_tokens=True))


def pieces_of(ids: Sequence[int]) -> list[str]:
    detokenizer = Detokenizer(decode)
    return [detokenizer.push(token) for token in ids] + [detokenizer.flush()]


texts = st.lists(st.sampled_from(WORDS) | st.text(max_size=4)).map("".join)


@given(texts)
def test_pieces_add_up_to_the_text_without_half_characters(text: str) -> None:
    ids = tokenizer()(text, add_special_tokens=False)["input_ids"]
    pieces = pieces_of(ids)
    assert "".join(pieces) == decode(ids)
    for piece in pieces:
        assert HALF not in piece or HALF in text


@given(st.lists(st.integers(0, 299), max_size=30))
def test_any_ids_at_all_add_up(ids: list[int]) -> None:
    """Models at high temperatures write bytes that make no characters, and special tokens."""
    assert "".join(pieces_of(ids)) == decode(ids)


def test_a_character_appears_with_its_last_byte() -> None:
    ids = tokenizer()("a𝄞b", add_special_tokens=False)["input_ids"]
    pieces = pieces_of(ids)
    assert len(ids) == 6  # the clef was never seen in training: four bytes
    assert pieces == ["a", "", "", "", "𝄞", "b", ""]


def test_special_tokens_add_nothing() -> None:
    ids = [tokenizer().eos_token_id, *tokenizer()("tea", add_special_tokens=False)["input_ids"]]
    assert "".join(pieces_of([*ids, tokenizer().bos_token_id])) == "tea"


@given(texts, st.integers(0, 299))
def test_a_preview_changes_nothing_and_shows_no_half_character(text: str, token: int) -> None:
    detokenizer = Detokenizer(decode)
    ids = tokenizer()(text, add_special_tokens=False)["input_ids"]
    pieces = []
    for i in ids:
        pieces.append(detokenizer.push(i))
        assert HALF not in detokenizer.preview(token) or HALF in text
    assert "".join([*pieces, detokenizer.flush()]) == decode(ids)


def test_a_token_is_decoded_once_and_not_after_the_whole_text() -> None:
    lengths = []

    def counting(ids: Sequence[int]) -> str:
        lengths.append(len(ids))
        return decode(ids)

    ids = tokenizer()("one tea café " * 40, add_special_tokens=False)["input_ids"]
    detokenizer = Detokenizer(counting)
    assert "".join(detokenizer.push(token) for token in ids) == decode(ids)
    assert len(lengths) < 1.2 * len(ids)
    assert max(lengths) < 30
    lengths.clear()
    detokenizer.preview(ids[0])
    assert len(lengths) == 1
    for _ in range(100):
        assert detokenizer.push(tokenizer().eos_token_id) == ""
    assert max(lengths) < 30
    assert detokenizer.push(ids[0]) == decode([*ids, ids[0]])[len(decode(ids)) :]


@pytest.mark.parametrize("word", [" tea", "tea"])
def test_a_leading_space_is_kept_where_the_tokenizer_drops_the_first_one(word: str) -> None:
    """Like sentencepiece: the space in front of the very first word is not text."""

    def stripping(ids: Sequence[int]) -> str:
        return "".join((word, " cup")[i] for i in ids).removeprefix(" ")

    detokenizer = Detokenizer(stripping)
    assert "".join(detokenizer.push(i) for i in (0, 1, 1, 0)) == stripping((0, 1, 1, 0))


def test_bytes_that_are_no_text_do_not_pile_up() -> None:
    """A model at a high temperature, or a damaged one, may write thousands of them."""
    decoded = []

    def counted(ids: Sequence[int]) -> str:
        decoded.append(len(ids))
        return HALF * len(ids)

    detokenizer = Detokenizer(counted)
    pieces = [detokenizer.push(1) for _ in range(100)]
    assert max(decoded) <= 16 and sum(map(len, pieces)) > 80
    assert "".join(pieces) + detokenizer.flush() == HALF * 100


def test_characters_that_share_tokens_come_one_by_one() -> None:
    """Each token ends a character and begins the next."""
    text = "日本語" * 8
    raw = text.encode()
    parts = [raw[:2], *(raw[start : start + 3] for start in range(2, len(raw) - 3, 3)), raw[-1:]]
    pieces, longest = pieces_of_bytes(parts)
    assert "".join(pieces) == text and len([piece for piece in pieces if piece]) > 12
    assert longest <= 20


def pieces_of_bytes(parts: Sequence[bytes]) -> tuple[list[str], int]:
    """The pieces where each token is some bytes, and the largest number decoded at once."""
    longest = 0

    def joined(ids: Sequence[int]) -> str:
        nonlocal longest
        longest = max(longest, len(ids))
        return b"".join(parts[token] for token in ids).decode("utf-8", "replace")

    detokenizer = Detokenizer(joined)
    pieces = [detokenizer.push(token) for token in range(len(parts))]
    return [*pieces, detokenizer.flush()], longest


@given(
    st.lists(st.sampled_from("aé ก日😀👩") | st.sampled_from(["", "ab"]), max_size=40),
    st.lists(st.integers(0, 4), max_size=60),
)
def test_however_a_text_is_cut_it_comes_back(text: list[str], sizes: list[int]) -> None:
    """Also with tokens of no bytes, as special ones are, within a character."""
    raw, parts = "".join(text).encode(), []
    for size in sizes:
        parts.append(raw[:size])
        raw = raw[size:]
    parts += [raw[start : start + 1] for start in range(len(raw))]
    pieces, longest = pieces_of_bytes(parts)
    assert "".join(pieces) == "".join(text) and HALF not in "".join(pieces)
    assert longest <= 24


@given(st.lists(st.binary(max_size=3), max_size=80))
def test_bytes_that_are_no_text_are_the_same_in_pieces(parts: list[bytes]) -> None:
    pieces, longest = pieces_of_bytes(parts)
    assert "".join(pieces) == b"".join(parts).decode("utf-8", "replace")
    assert longest <= 24
