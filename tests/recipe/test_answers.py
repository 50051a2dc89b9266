"""The target's own answers, from the command line."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from assets.demo.recipe.answers import main
from decoding.training.data import Record
from tests.conftest import FamilyFolders

Run = Callable[..., list[Record]]


@pytest.fixture
def answers(family_folders: FamilyFolders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs the command with more options; returns what it wrote."""
    said = [
        {"role": role, "content": content}
        for role, content in (("user", "the fox"), ("assistant", "Yes."), ("user", "the dog"))
    ]
    records: list[Record] = [
        {"prompt": "quick", "kind": "asked"},
        {"messages": [*said, {"role": "assistant", "content": "No."}], "kind": "talk"},
        {"text": "a story, which nobody answers", "kind": "text"},
    ]
    prompts, out = tmp_path / "prompts.jsonl", tmp_path / "answers.jsonl"
    prompts.write_text("\n".join(map(json.dumps, records)))

    def run(of: str = str(prompts), *options: str) -> list[Record]:
        command = ["answers", "--target", family_folders.target, "--prompts", of, "--out"]
        given = [str(out), "--max-new-tokens", "6", *options]
        monkeypatch.setattr(sys, "argv", [*command, *given])
        main()
        return [json.loads(line) for line in out.read_text().splitlines()]

    return run


def asked(record: Record) -> list[str]:
    return [each["content"] for each in record["messages"] if each["role"] == "user"]


def test_the_last_turn_is_answered_anew_and_texts_are_left_out(answers: Run) -> None:
    single, talk = answers()
    assert asked(single) == ["quick"] and asked(talk) == ["the fox", "the dog"]
    assert [each["content"] for each in talk["messages"]][1] == "Yes."
    assert talk["messages"][-1]["content"] != "No." and talk["given_messages"] == 2
    assert all(0 < record["tokens"] <= 6 for record in (single, talk))


def test_the_first_turns_are_answered_anew(answers: Run, tmp_path: Path) -> None:
    (talk,) = answers(f"{tmp_path / 'prompts.jsonl'}:1:kind=talk", "--turns", "1")
    assert asked(talk) == ["the fox"]
    assert talk["messages"][1]["content"] != "Yes." and talk["given_messages"] == 0


def test_a_sample_of_a_file_and_its_answers_follow_the_seed(answers: Run, tmp_path: Path) -> None:
    source, sampled = f"{tmp_path / 'prompts.jsonl'}:8:kind=asked", ("--temperature", "2")
    first = answers(source, *sampled, "--seed", "3")
    assert len(first) == 8 and len({json.dumps(record["messages"]) for record in first}) > 1
    (tmp_path / "answers.jsonl").unlink()
    assert answers(source, *sampled, "--seed", "3") == first
