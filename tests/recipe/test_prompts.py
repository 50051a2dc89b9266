"""What the target is asked for its drafters."""

from __future__ import annotations

from app.models.assets import examples
from assets.demo.recipe.prompts import LONG_TURNS, questions, spellings
from decoding.training.data import Record


def conversation(*turns: str) -> Record:
    said = [each for turn in turns for each in (("user", turn), ("assistant", "Yes."))]
    return {"messages": [{"role": role, "content": content} for role, content in said]}


def test_conversations_examples_and_long_ones() -> None:
    records = [conversation("a", "b"), *(conversation(f"{n}", f"and {n}") for n in range(7))]
    found = list(questions(records, 1, 3))
    assert found[0] == ["a", "b"]
    known = {turn for example in examples() for turn in example.turns}
    assert known <= {turn for (turn,) in found[1:-3]}
    rest = [turn for n in range(7) for turn in (f"{n}", f"and {n}")]
    first, second = LONG_TURNS, 2 * LONG_TURNS
    assert found[-3:] == [rest[:first], rest[first:second], rest[second:]]


def test_spellings_of_a_question() -> None:
    assert spellings("What is EAGLE?") == [
        "What is EAGLE?",
        "what is eagle?",
        "What is EAGLE",
        "what is eagle",
    ]
    assert spellings("hi") == ["hi"]
