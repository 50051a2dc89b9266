"""What is served while heads are trained."""

from __future__ import annotations

from pathlib import Path

from app.cli.heads.serving import ServedSample
from app.cli.heads.target import load
from decoding.training.data import Record
from tests.conftest import FamilyFolders


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
    prompts = ServedSample(model, tokenizer, records, 4, tmp_path).prompts
    asked = [tokenizer.decode(list(prompt)) for prompt in prompts]
    question_alone = "<s><user>and</s><assistant>"
    assert asked == ["<s><system>the fox</s><user>and</s><assistant>", question_alone]
