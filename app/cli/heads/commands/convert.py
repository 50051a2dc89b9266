"""`specchat heads convert`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

import typer

from app.cli.heads.commands.checks import kind_of, refuse_others
from app.cli.heads.commands.options import Device, Target, Template, random_seed
from app.cli.heads.recipe import RecipeFile, given_options, write_recipe
from app.cli.heads.training_job import refuse_existing
from app.cli.options import file, folder, integer, switch, text
from decoding.errors import InputError

HELD = {"medusa": "Medusa heads", "eagle": "an EAGLE head", "draft": "a draft model"}


def convert(
    context: typer.Context,
    kind: Annotated[
        Literal["medusa", "eagle1", "eagle3", "draft"], typer.Argument(help="What to make.")
    ],
    target: Target,
    out: Annotated[Path, folder(help="Folder for the new heads.")],
    start: Annotated[
        Path | None,
        folder(
            "--from",
            help="Medusa and EAGLE: begin with the heads in this folder (any dialect), whoever "
            "trained them.",
        ),
    ] = None,
    count: Annotated[
        int | None, integer("--heads", min=1, max=16, help="Medusa: how many (default 4).")
    ] = None,
    layers: Annotated[
        int | None,
        integer(
            min=1,
            help="Medusa: residual blocks per head (default 1). EAGLE-3: decoder layers (1). "
            "draft: how many of the target's layers to keep (2).",
        ),
    ] = None,
    width: Annotated[
        int | None,
        integer(min=1, help="EAGLE-3 and draft: hidden size (default: the target's)."),
    ] = None,
    mlp: Annotated[
        int | None,
        integer(min=1, help="EAGLE and draft: MLP size (default: the target's)."),
    ] = None,
    own_lm_heads: Annotated[
        bool,
        switch(
            "--own-lm-heads", help="Medusa: give each head its own lm_head (dialect v0.1, not v2)."
        ),
    ] = False,
    draft_vocab: Annotated[
        int | None,
        integer(
            min=2, help="EAGLE-3: size of a draft vocabulary, the most frequent tokens in --data."
        ),
    ] = None,
    data: Annotated[
        list[str] | None, file(help="EAGLE-3: conversations to count the tokens of.")
    ] = None,
    chat_template: Template = None,
    aux_layers: Annotated[
        str | None,
        text(
            help="EAGLE-3: layers of the target whose inputs it reads (default 2,L/2,L-3).",
        ),
    ] = None,
    no_fc_bias: Annotated[
        bool, switch("--no-fc-bias", help="EAGLE-1: no bias in fc, as vLLM serves it.")
    ] = False,
    seed: Annotated[int, random_seed(help="EAGLE: random seed of its first weights.")] = 0,
    device: Device = "cpu",
    recipe: RecipeFile = None,
) -> None:
    """Make untrained heads for a target, or cut a small draft model out of it.

    With --from, heads that were trained elsewhere take the place of untrained ones.
    """
    refuse_others(
        context,
        kind,
        start=("medusa", "eagle"),
        layers=("medusa", "eagle3", "draft"),
        **dict.fromkeys(("count", "own_lm_heads"), ("medusa",)),
        **dict.fromkeys(("draft_vocab", "data", "chat_template", "aux_layers"), ("eagle3",)),
        width=("eagle3", "draft"),
        mlp=("eagle", "draft"),
        no_fc_bias=("eagle1",),
        seed=("eagle",),
    )
    given = given_options(context)
    for name in ("data", "chat_template"):
        if name in given and draft_vocab is None:
            raise InputError(f"{given[name]} is for --draft-vocab: give both, or leave it out")
    if start is not None:
        _refuse_kept(given, kind, start)
    refuse_existing(out)
    if kind == "medusa" and start is not None:
        from app.cli.heads.medusa import continue_from as continue_medusa_from

        continue_medusa_from(
            start, target, out,
            heads=count, layers=layers, own_lm_heads=own_lm_heads, device=device,
        )  # fmt: skip
    elif kind == "medusa":
        from app.cli.heads.medusa import NewHeads, attach_to

        heads = NewHeads(count=count or 4, layers=layers or 1, own_lm_heads=own_lm_heads)
        attach_to(target, out, heads, device=device)
    elif kind == "draft":
        from app.cli.heads.draft import NewDraft
        from app.cli.heads.draft import attach_to as cut_from

        draft = NewDraft(layers=layers or 2, width=width, mlp=mlp)
        cut_from(target, out, draft, device=device)
    else:
        from app.cli.heads.eagle import NewHead, continue_from
        from app.cli.heads.eagle import attach_to as attach_eagle_to

        head = NewHead(
            kind=kind, layers=layers or 1, width=width, mlp=mlp, draft_vocab=draft_vocab,
            data=data or [], aux_layers=aux_layers, fc_bias=not no_fc_bias,
            template=chat_template,
        )  # fmt: skip
        if start is None:
            attach_eagle_to(target, out, head, seed=seed, device=device)
        else:
            continue_from(start, target, out, head, device=device)
    write_recipe(context, out)


def _refuse_kept(given: Mapping[str, str], kind: str, start: Path) -> None:
    """Raise InputError unless `start` holds heads of this kind, and for options of what they
    keep."""
    found = kind_of(start)
    if not kind.startswith(found):
        raise InputError(f"{start} holds {HELD[found]}, convert {kind} can't go on from that")
    kept = ("width", "mlp", "seed") + (() if kind == "medusa" else ("layers",))
    for name, option in given.items():
        if name in kept:
            raise InputError(f"{option} is for untrained heads, not for --from: leave it out")
