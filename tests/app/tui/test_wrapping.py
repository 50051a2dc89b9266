"""Wrapping: nothing is lost, nothing is too wide, a stream wraps like the whole."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from app.tui.tokens.token_text import DisplayOptions, RenderMode, TokenText
from app.tui.tokens.wrapping import Line, TokenStyle, Wrapper
from decoding.round import TokenFate
from tests.support.scripted import token

CHARS = st.sampled_from("ab -\nü日本。😀👩🇫🇷❤1 \u0301\u200d\ufe0f\u20e3\U0001f3fd\u200b")
TEXTS = st.text(CHARS, max_size=60)
PIECES = st.lists(st.tuples(TEXTS, st.sampled_from(TokenStyle)), max_size=12)
WIDTHS = st.integers(2, 30)


def wrapped(width: int, pieces: list[tuple[str, TokenStyle]]) -> list[Line]:
    wrapper = Wrapper(width)
    for text, ink in pieces:
        wrapper.feed(text, ink)
    return [wrapper[index] for index in range(len(wrapper))]


def texts(width: int, text: str) -> list[str]:
    return [line.text for line in wrapped(width, [(text, TokenStyle.TEXT)])]


@given(PIECES, WIDTHS)
@settings(max_examples=200, deadline=None)
def test_lines_joined_give_the_text_back(pieces: list[tuple[str, TokenStyle]], width: int) -> None:
    lines = wrapped(width, pieces)
    joined = "".join(line.text + "\n" * line.hard for line in lines)
    assert joined == "".join(text for text, _ in pieces)


@given(PIECES, WIDTHS)
@settings(max_examples=100, deadline=None)
def test_every_line_knows_where_it_begins(pieces: list[tuple[str, TokenStyle]], width: int) -> None:
    wrapper = Wrapper(width)
    for piece in pieces:
        wrapper.feed(*piece)
    place = 0
    for index in range(len(wrapper)):
        line = wrapper[index]
        assert line.start == place
        places = range(place, place + len(line.text) + line.hard)
        assert all(wrapper.line_at(each) == index for each in places)
        place = places.stop
    assert place == wrapper.fed


@given(PIECES, WIDTHS)
@settings(max_examples=200, deadline=None)
def test_no_line_is_wider_than_the_width(pieces: list[tuple[str, TokenStyle]], width: int) -> None:
    for line in wrapped(width, pieces):
        assert cell_len(line.text.rstrip(" ")) <= line.cells <= width


@given(PIECES, WIDTHS)
@settings(max_examples=200, deadline=None)
def test_a_stream_wraps_like_the_whole(pieces: list[tuple[str, TokenStyle]], width: int) -> None:
    single = [(char, ink) for text, ink in pieces for char in text]
    assert wrapped(width, single) == wrapped(width, pieces)


ANSWERS = st.lists(
    st.tuples(TEXTS | st.sampled_from(["<think>", "</think>"]), st.sampled_from(TokenFate)),
    max_size=6,
)
TURNS = st.lists(st.tuples(st.integers(0, 3), ANSWERS, st.booleans()), max_size=6)
MODES = st.sampled_from(["colour", "glyphs", "plain"])


@given(TURNS, WIDTHS, MODES)
@settings(max_examples=200, deadline=None)
def test_a_conversation_that_grows_or_has_a_turn_replaced_wraps_like_the_whole(
    turns: list[tuple[int, list[tuple[str, TokenFate]], bool]], width: int, mode: RenderMode
) -> None:
    body = TokenText()
    body.options, body.hint = DisplayOptions(mode), "ask"
    body.rewrap(width)
    for number, answer, noted in turns:
        body.begin_turn(number, "why?", None)
        body.rewrap_turn()
        for text, fate in answer:
            body.add_token(token(text, fate))
        if noted:
            body.add_note("stopped", error=False)
        if body.stale:
            body.rewrap_turn()
    grown, ranges = lines_of(body), [body.range_of(index) for index in range(len(body.spans))]
    body.rewrap(width)
    assert lines_of(body) == grown
    assert [body.range_of(index) for index in range(len(body.spans))] == ranges


def lines_of(body: TokenText) -> list[Line]:
    return [body.wrapper[index] for index in range(len(body.wrapper))]


@given(PIECES, WIDTHS)
@settings(max_examples=100, deadline=None)
def test_neighbouring_runs_differ_in_ink(pieces: list[tuple[str, TokenStyle]], width: int) -> None:
    for line in wrapped(width, pieces):
        inks = [ink for _, ink in line.runs]
        assert all(a is not b for a, b in zip(inks, inks[1:], strict=False))


def test_a_word_moves_to_the_next_line_as_it_grows() -> None:
    wrapper = Wrapper(10)
    for piece in ("the cap", "it", "al", " is"):
        wrapper.feed(piece, TokenStyle.TEXT)
    assert [wrapper[0].text, wrapper[1].text] == ["the ", "capital is"]


def test_a_word_longer_than_the_line_is_cut() -> None:
    assert texts(4, "a incomprehensible") == ["a ", "inco", "mpre", "hens", "ible"]


def test_spaces_hang_over_the_edge() -> None:
    assert texts(4, "four   more") == ["four   ", "more"]


def test_chinese_breaks_anywhere_and_never_in_half() -> None:
    assert texts(5, "日本語です") == ["日本", "語で", "す"]


def test_a_family_stays_one_cluster_when_its_members_come_one_by_one() -> None:
    family = "👩\u200d👩\u200d👧"
    wrapper = Wrapper(4)
    for char in "abc" + family:
        wrapper.feed(char, TokenStyle.TEXT)
    assert [wrapper[0].text, wrapper[1].text] == ["abc", family]
    assert wrapper[1].cells == 2


def test_a_mark_that_widens_the_last_character_moves_it() -> None:
    assert texts(3, "ab❤") == ["ab❤"]
    assert texts(3, "ab❤\ufe0f") == ["ab", "❤\ufe0f"]
