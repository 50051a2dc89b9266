"""What is said of a function is true of the function that was shown, under its own name."""

from __future__ import annotations

import random
import re

from assets.demo.recipe.corpus import code_turns
from assets.demo.recipe.corpus.code import FUNCTIONS


def test_calls_run_and_give_what_is_said() -> None:
    checked = 0
    for seed in range(400):
        turns = code_turns.sample(random.Random(seed), seed % 7 == 0)
        assert turns == code_turns.sample(random.Random(seed), seed % 7 == 0)
        shown = turns[1]["content"]
        if "Here is a function that" not in shown:
            continue
        (lines,) = re.findall(r"```python\n(.*?)\n```", shown, flags=re.DOTALL)
        name = re.findall(r"def (\w+)\(", lines)[-1]
        for turn in turns[3::2]:
            text = turn["content"]
            world: dict[str, object] = {}
            exec(lines, world)
            for call, result in re.findall(r"(\w+\([^\n]*\)) gives ([^\n]+)\.$", text):
                assert call.startswith(f"{name}("), text
                if "random" not in lines:
                    assert repr(eval(call, world)) == result, text
                checked += 1
            for part in re.findall(r"```python\n(.*?)\n```", text, flags=re.DOTALL):
                assert name in part, text
                if "random" not in lines and "print" not in lines:
                    exec(part, world)
            if text.startswith("You call "):
                assert text.startswith(f"You call {name} by its name"), text
    assert checked > 60


def test_a_line_is_told_without_gaps() -> None:
    for function in FUNCTIONS:
        said = code_turns.explained(function.written(function.names[0]), function.name)
        assert not re.search(r"[{]\d|  ", said), said


def test_a_program_is_run_and_told() -> None:
    for seed in range(150):
        turns = code_turns.program_talk(random.Random(seed))
        for turn in turns[1::2]:
            assert turn["content"].strip() and not re.search(r"\$[a-z]", turn["content"]), turn
