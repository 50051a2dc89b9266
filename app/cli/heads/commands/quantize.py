"""`specchat heads quantize`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from app.cli.heads.commands.checks import require_package
from app.cli.heads.commands.options import Device, HeadsDir
from app.cli.heads.recipe import given_options
from app.cli.heads.training_job import refuse_existing
from app.cli.options import file, folder, integer, text
from decoding.errors import InputError
from decoding.params import Params


def quantize(
    context: typer.Context,
    heads: HeadsDir,
    to: Annotated[Literal["int8", "int4", "fp8"], typer.Option(help="Precision of the weights.")],
    out: Annotated[Path, folder(help="Folder for the quantized weights.")],
    target: Annotated[
        str | None,
        text(
            help="To measure before and after: folder or hub id of the target; for heads trained "
            "with --joint, of the original one."
        ),
    ] = None,
    prompts: Annotated[
        list[str] | None, file(help="To measure before and after: JSONL of prompts.")
    ] = None,
    max_new_tokens: Annotated[
        int, integer(min=2, help="To measure before and after: longest answer in tokens.")
    ] = 128,
    device: Device = "auto",
) -> None:
    """Quantize the weights of heads or a draft model (extra: quantize).

    Also takes the output of `train --joint`: a target with its heads.
    With `train --qat` before it, little accuracy is lost.
    """
    if (target is None) != (not prompts):
        raise InputError("to measure before and after give --target and --prompts")
    for name, option in given_options(context).items():
        if target is None and name in ("max_new_tokens", "device"):
            raise InputError(f"{option} is for measuring: give --target and --prompts too")
    require_package("quantizing", "torchao", "quantize")
    refuse_existing(out)
    from app.cli.heads.evaluation import Task
    from app.cli.heads.quantize import quantize_to

    params = Params(max_new_tokens=max_new_tokens)
    task = None
    if target and prompts:
        task = Task(target=target, prompts=prompts, params=params, device=device)
    quantize_to(heads, to, out, task)
