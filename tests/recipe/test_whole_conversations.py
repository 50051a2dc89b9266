"""Samples are whole conversations, and their forms leave no slot open."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

from assets.demo.recipe.corpus import (
    brief,
    chatting,
    compared,
    counted,
    figures,
    leaning,
    logic,
    odd,
    short,
    small,
    turns,
)

MODULES = {
    module.__name__.rpartition(".")[2]: module
    for module in (
        brief, chatting, compared, counted, figures, leaning, logic, odd, short, small, turns,
    )
}  # fmt: skip
BRACKETED = ("chatting", "leaning", "small", "turns")  # what they say may have brackets
CODED = ("leaning",)  # and code braces


@pytest.mark.parametrize("held_out", [False, True])
@pytest.mark.parametrize("name", MODULES)
def test_a_sample_is_a_whole_conversation(name: str, held_out: bool) -> None:
    module: Any = MODULES[name]
    slots = re.compile(r"[{}|]" if name in BRACKETED else r"[{}|\[\]]")
    rng = random.Random(5)
    for _ in range(600):
        talk = module.sample(rng, held_out)
        assert [turn["role"] for turn in talk] == ["user", "assistant"] * (len(talk) // 2)
        for turn in talk:
            assert turn["content"].strip(), talk
            if name not in CODED or "```" not in turn["content"]:
                assert not slots.search(turn["content"]), talk
