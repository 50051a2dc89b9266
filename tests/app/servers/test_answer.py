"""What a stream of chunks amounts to: its end, its counts and its speed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from app.servers.answer import AnswerStream
from app.servers.errors import ServerError
from app.servers.protocol import Chunk, read_chunk
from app.servers.usage import Usage, with_reported_counts
from decoding.stats import Stats


def chunk(text: str, finish: str | None = None, tokens: int | None = None) -> Chunk:
    found: dict[str, Any] = {"choices": [{"delta": {"content": text}, "finish_reason": finish}]}
    if tokens is not None:
        found["usage"] = {"completion_tokens": tokens}
    return read_chunk(json.dumps(found))


def test_only_a_reason_ends_an_answer() -> None:
    stream = AnswerStream(8)
    stream.add(chunk("one", ""), 1.0)
    assert not stream.finished
    with pytest.raises(ServerError, match="in the middle of the answer"):
        stream.ending()
    stream.add(chunk(" two", "stop"), 2.0)
    assert stream.finished and stream.ending().reason == "stop"


@pytest.mark.parametrize("reason", ["abort", "error"])
def test_an_answer_that_the_server_gave_up_has_failed(reason: str) -> None:
    with pytest.raises(ServerError, match=f"ended the answer early: finish_reason is '{reason}'"):
        chunk("", reason)


def test_the_speed_is_that_of_what_follows_the_first_piece() -> None:
    stream = AnswerStream(40)
    for second, tokens in enumerate((10, 11, 12, 13, 14)):
        stream.add(chunk("word ", None, tokens), 1.0 + second)
    stream.add(chunk("", "stop", 14), 5.0)
    stats = with_reported_counts(Stats(), stream.ending().usage)
    assert stats.emitted == 13 and stats.tokens_per_second == 1.0


def test_an_absurd_count_takes_no_memory_and_ends_the_answer() -> None:
    stream = AnswerStream(8)
    piece = stream.add(chunk("one", None, 10**13), 1.0)
    assert piece is not None and piece.tokens <= 16 and stream.overlong
    assert stream.ending().reason == "length"


def test_a_usage_of_an_older_log_has_one_first_token() -> None:
    stats = with_reported_counts(Stats(), Usage(2.0, 11))
    assert stats.tokens_per_second == 5.0


@pytest.mark.parametrize("ends", [("", "", ""), ("\n", "\n", "\n\n")])
def test_reasoning_is_written_as_the_model_wrote_it(ends: tuple[str, str, str]) -> None:
    """Some engines cut the ends of lines that belong to the tags, others send them."""
    before, after, between = ends
    stream = AnswerStream(40)
    chunks = [
        *(Chunk(reasoning=text) for text in (before, "a\nfox", f" rests{after}")),
        *(Chunk(text=text) for text in (between, "It sleeps.", "\n", "\nYes.")),
    ]
    pieces = [stream.add(each, 1.0) for each in chunks]
    text = "".join(piece.text for piece in pieces if piece)
    assert text == "<think>\na\nfox rests\n</think>\n\nIt sleeps.\n\nYes."
