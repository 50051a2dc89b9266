"""`specchat heads watch`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def watch(
    out: Annotated[Path, typer.Argument(metavar="DIR", help="The --out of `train`.")],
) -> None:
    """Watch a running training.

    Shows loss, accuracies and served τ over time, and the drafts of one answer.
    """
    from app.cli.heads.watch import watch as show

    show(out)
