"""What is served while heads are trained."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.cli.heads.serving import ServedSample
from app.cli.heads.target import load
from decoding.params import Params
from decoding.training.data import Record
from tests.conftest import FamilyFolders


@pytest.mark.parametrize("count", [1, 2, 24, 47, 100])
def test_what_is_served_is_spread_over_all_records(
    count: int, family_folders: FamilyFolders, tmp_path: Path
) -> None:
    model, tokenizer = load(family_folders.target, "cpu")
    records: list[Record] = [
        {"messages": [{"role": "user", "content": str(n)}, {"role": "assistant", "content": "a"}]}
        for n in range(count)
    ]
    prompts = ServedSample(model, tokenizer, records, Params(), tmp_path).prompts
    asked = [int(str(tokenizer.decode(list(ids)))[9:].partition("<")[0]) for ids in prompts]
    assert len(asked) == min(count, 24) and (asked[0], asked[-1]) == (0, count - 1)
    gaps = [b - a for a, b in zip(asked, asked[1:], strict=False)]
    assert not gaps or (min(gaps) > 0 and max(gaps) - min(gaps) <= 1)


def test_the_first_questions_are_asked_with_what_is_said_before(
    family_folders: FamilyFolders, tmp_path: Path
) -> None:
    model, tokenizer = load(family_folders.target, "cpu")
    system, question, answer = (
        {"role": role, "content": text}
        for role, text in (("system", "the fox"), ("user", "and"), ("assistant", "dog"))
    )
    records: list[Record] = [
        {"messages": [system, question, answer, question, answer]},
        {"messages": [question, answer]},
        {"messages": [system, answer]},
        {"text": "the lazy dog"},
    ]
    prompts = ServedSample(model, tokenizer, records, Params(), tmp_path).prompts
    asked = [tokenizer.decode(list(prompt)) for prompt in prompts]
    question_alone = "<s><user>and</s><assistant>"
    assert asked == ["<s><system>the fox</s><user>and</s><assistant>", question_alone]
