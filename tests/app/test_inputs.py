"""Prompt files: what is read, and which line complains about what."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.inputs import Request, parse_requests, read_requests
from decoding.errors import InputError


def test_every_field_is_read() -> None:
    requests = parse_requests(
        [
            '{"prompt": "Hello", "id": "a", "category": "chat"}',
            '{"turns": ["One", "Two"], "id": 7}',
            '{"messages": [{"role": "system", "content": "Be brief."},'
            ' {"role": "user", "content": "Hi"}]}',
            '{"input_ids": [1, 2, 3], "other": "ignored"}',
        ],
        "here",
    )
    assert requests == [
        Request(turns=("Hello",), id="a", category="chat"),
        Request(turns=("One", "Two"), id=7),
        Request(turns=("Hi",), history=({"role": "system", "content": "Be brief."},)),
        Request(input_ids=(1, 2, 3)),
    ]


def test_bom_windows_line_ends_empty_lines_and_emoji(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    path.write_bytes('\ufeff{"prompt": "a 🦊"}\r\n\r\n  \r\n{"prompt": "日本"}'.encode())
    assert [r.turns[0] for r in read_requests(path)] == ["a 🦊", "日本"]


BAD = {
    "not JSON": ("{prompt: 1}", "here:2: not valid JSON"),
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
        parse_requests(['{"prompt": "fine"}', line], "here")
    assert complaint in str(refused.value) and "\n" not in str(refused.value)


def test_an_empty_file_and_a_missing_one() -> None:
    with pytest.raises(InputError, match="holds no prompts"):
        parse_requests(["", " "], "here")
    with pytest.raises(InputError, match="no file"):
        read_requests(Path("does/not/exist.jsonl"))
