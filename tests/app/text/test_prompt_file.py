"""Prompt files: what is read, and which line complains about what."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.text.prompt_file import Request, parse_request, parse_requests, read_requests
from decoding import jsonl
from decoding.errors import InputError


def test_every_field_is_read() -> None:
    requests = parse_requests(
        b"""
{"prompt": "Hello", "id": "a", "category": "chat"}
{"turns": ["One", "Two"], "id": 7}
{"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]}
{"input_ids": [1, 2, 3], "other": "ignored"}
""",
        "here",
    )
    assert requests == [
        Request(turns=("Hello",), id="a", category="chat"),
        Request(turns=("One", "Two"), id=7),
        Request(turns=("Hi",), history=({"role": "system", "content": "Be brief."},)),
        Request(input_ids=(1, 2, 3)),
    ]


def test_lines_end_at_line_feeds_only() -> None:
    """JSON may hold the other characters that str.splitlines takes for ends of lines."""
    record = '{"prompt": "one\u2028two\x85three"}'
    assert parse_requests(record.encode(), "here") == [Request(turns=("one\u2028two\x85three",))]


def test_a_file_that_is_no_prompt_file_is_not_read_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jsonl, "MAX_LINE", 2**20)
    path = tmp_path / "model.safetensors"
    path.write_bytes(b" " * (2**20 + 1))
    with pytest.raises(InputError, match="larger than 1 MiB"):
        read_requests(path)


def test_a_conversation_may_be_answered_anew() -> None:
    messages = [{"role": role, "content": role} for role in ("system", "user", "assistant")]
    request = parse_request({"messages": messages}, "here:1", answered=True)
    assert request == Request(turns=("user",), history=(messages[0],))
    with pytest.raises(InputError, match="here:1: the last message must be the user's"):
        parse_request({"messages": [messages[0]]}, "here:1", answered=True)


def test_the_answer_that_is_left_out_may_be_empty() -> None:
    """As where a target ended its answer at once."""
    asked, empty = {"role": "user", "content": "Hi"}, {"role": "assistant", "content": ""}
    request = parse_request({"messages": [asked, empty]}, "here:1", answered=True)
    assert request == Request(turns=("Hi",))


@pytest.mark.parametrize("text", ['[{"prompt": "a"}]', '\ufeff[\n  {\n    "prompt": "a"\n  }\n]'])
def test_an_array_is_named_with_what_to_do(text: str) -> None:
    with pytest.raises(InputError, match="here holds a JSON array: .* jq -c"):
        parse_requests(text.encode(), "here")


def test_bom_windows_line_ends_empty_lines_and_emoji(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    path.write_bytes('\ufeff{"prompt": "a 🦊"}\r\n\r\n  \r\n{"prompt": "日本"}'.encode())
    assert [r.turns[0] for r in read_requests(path)] == ["a 🦊", "日本"]


BAD = {
    "not JSON": ("{prompt: 1}", "here:2: not valid JSON"),
    "endless brackets": ("[" * 100_000, "here:2: not valid JSON"),
    "half a surrogate pair": ('{"prompt": "\\ud83e"}', "here:2: prompt holds"),
    "not an object": ("[1]", "here:2: give a JSON object"),
    "nothing to answer": ('{"id": 1}', "exactly one of prompt, messages, turns, input_ids"),
    "two things": ('{"prompt": "a", "turns": ["b"]}', "found prompt and turns"),
    "empty prompt": ('{"prompt": "  "}', "here:2: prompt must be text"),
    "prompt no text": ('{"prompt": 5}', "here:2: prompt must be text"),
    "no turns": ('{"turns": []}', "here:2: turns must be a list that is not empty"),
    "turn no text": ('{"turns": ["a", 1]}', "here:2: turns must be text"),
    "ids no numbers": ('{"input_ids": [1, "2"]}', "here:2: input_ids must be whole numbers"),
    "ids booleans": ('{"input_ids": [true]}', "here:2: input_ids must be whole numbers"),
    "ids negative": ('{"input_ids": [-1]}', "here:2: input_ids must be whole numbers"),
    "unknown role": ('{"messages": [{"role": "me", "content": "a"}]}', "each needs a role"),
    "last not the user's": (
        '{"messages": [{"role": "assistant", "content": "a"}]}',
        "the last message must be the user's",
    ),
    "id a list": ('{"prompt": "a", "id": []}', "here:2: id must be"),
    "category a number": ('{"prompt": "a", "category": 1}', "here:2: category must be text"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_lines_are_named(case: str) -> None:
    line, complaint = BAD[case]
    with pytest.raises(InputError) as refused:
        parse_requests(f'{{"prompt": "fine"}}\n{line}'.encode(), "here")
    assert complaint in str(refused.value) and "\n" not in str(refused.value)


def test_bytes_that_are_not_utf_8_are_named() -> None:
    with pytest.raises(InputError, match="here:2: not UTF-8"):
        parse_requests(b'{"prompt": "fine"}\n{"prompt": "\xff"}', "here")
    with pytest.raises(InputError, match="here:1: not UTF-8"):
        parse_requests('{"prompt": "saved by an editor"}'.encode("utf-16"), "here")


def test_an_empty_file_and_a_missing_one() -> None:
    with pytest.raises(InputError, match="holds no prompts"):
        parse_requests(b"\n \n", "here")
    with pytest.raises(InputError, match="no file"):
        read_requests(Path("does/not/exist.jsonl"))
    with pytest.raises(InputError, match="^can't read assets: Is a directory$"):  # named once
        read_requests(Path("assets"))
