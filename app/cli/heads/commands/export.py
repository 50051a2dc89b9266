"""`specchat heads export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from app.cli.heads.commands.options import Target
from app.cli.heads.training_job import refuse_existing
from app.cli.options import folder, integer

# engines read draft models as they are
EXPORTED = "Folder of Medusa heads or an EAGLE head (any dialect)."


def export(
    target: Target,
    heads: Annotated[Path, folder("--heads", help=EXPORTED)],
    to: Annotated[
        Literal[
            "medusa", "tgi", "eagle", "sglang", "vllm", "speculators", "modelopt", "tensorrt-llm"
        ],
        typer.Option(help="The program that will read them."),
    ],
    out: Annotated[Path, folder(help="Folder for the exported heads.")],
    gamma: Annotated[
        int | None, integer(min=1, help="Longest draft in the printed launch command.")
    ] = None,
    dtype: Annotated[
        Literal["float32", "bfloat16", "float16"] | None,
        typer.Option(
            help="Precision of the weights (default: the target's for an engine, else as they are)."
        ),
    ] = None,
    verify: Annotated[
        Path | None,
        typer.Option(
            metavar="PYTHON",
            help="Also compare their logits with speculators' (EAGLE-3) or nvidia-modelopt's "
            "(Medusa): the Python of an environment that has the package.",
        ),
    ] = None,
) -> None:
    """Convert heads for a serving engine or another trainer.

    Reads them back to check them, and prints the launch command of an engine.
    """
    refuse_existing(out)
    from app.cli.heads.export import export as write

    write(target, heads, to, out, gamma=gamma, dtype=dtype, python=verify)
