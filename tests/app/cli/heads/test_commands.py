"""The commands as `heads --help` lists them."""

from __future__ import annotations

import typer

from app.cli.heads import heads


def test_they_are_in_the_order_of_the_work() -> None:
    group = typer.main.get_command(heads)
    assert isinstance(group, typer.core.TyperGroup)
    assert list(group.commands) == [
        "convert", "distill", "train", "watch", "eval", "quantize", "export",
    ]  # fmt: skip
