"""What is meant by an option that there is not."""

from __future__ import annotations

import pytest
import typer

from app.cli.commands import cli
from app.text.suggestions import SYNONYMS, meant_by

COMMAND = typer.main.get_command(cli)
OPTIONS = [name for each in COMMAND.params for name in each.opts]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("--temp", ["--temperature"]),
        ("--model", ["--target"]),
        ("--max-tokens", ["--max-new-tokens"]),
        ("--temper", ["--temperature"]),
        ("--top", ["--top-k", "--top-p"]),
        ("--gama", ["--gamma"]),
        ("--bogus", []),
    ],
)
def test_what_is_meant(written: str, meant: list[str]) -> None:
    assert meant_by(written, OPTIONS) == meant


def test_every_synonym_leads_to_an_option_and_is_none() -> None:
    assert isinstance(COMMAND, typer.core.TyperGroup)
    heads = COMMAND.commands["heads"]
    assert isinstance(heads, typer.core.TyperGroup)
    commands = (*COMMAND.commands.values(), *heads.commands.values())
    known = {name for each in (COMMAND, *commands) for of in each.params for name in of.opts}
    assert set(SYNONYMS.values()) <= known
    for written, meant in SYNONYMS.items():
        for each in (COMMAND, *commands):
            names = {name for of in each.params for name in of.opts}
            assert not {written, meant} <= names
    assert meant_by("--model", ["--mode"]) == ["--mode"]  # of a command without --target
