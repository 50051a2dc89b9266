"""`specchat models`: the families and models on this machine, and what drafts for each."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from app.cli.terminal import print_output


def models(
    folders: Annotated[
        list[Path] | None, typer.Argument(help="Model folders to look at as well.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Families by name, models in the Hugging Face cache, and what each lane has for them."""
    from app.config.settings import load_settings
    from app.report.document import envelope

    found = _report(load_settings({}), [str(folder) for folder in folders or ()])
    print_output(json.dumps(envelope(**found)) if as_json else _readable(found))


def _report(settings: Any, folders: list[str]) -> dict[str, Any]:
    from app.models.catalog import cached, complete, folder_of
    from app.models.library import library

    given = [folder_of(folder) for folder in folders]
    there = cached()
    targets = [*given, *(each for each in there if each.kind == "model")]
    return {
        "families": [
            {"name": name, "target": options.target, "parts": _parts(options)}
            for name, options in library(settings).families.items()
        ],
        "models": [
            {
                **{key: value for key, value in asdict(each).items() if key != "kind"},
                "parts": _parts(complete(replace(settings.bare, target=each.place), there)),
            }
            for each in targets
        ],
    }


def _parts(options: Any) -> list[dict[str, Any]]:
    from app.models.catalog import parts

    return [asdict(part) for part in parts(options)]


def _readable(found: dict[str, Any]) -> str:
    from app.text.units import format_bytes

    lines = []
    for family in found["families"]:
        lines += [f"{family['name']}: --family {family['name']}", *_rows(family)]
    for model in found["models"]:
        lines += [f"{model['name']} ({format_bytes(model['size'])}): --target {model['place']}"]
        lines += _rows(model)
    if not found["models"]:
        lines.append("The Hugging Face cache holds no causal language model.")
    return "\n".join(lines)


def _rows(family: dict[str, Any]) -> list[str]:
    return [
        f"  {'✓' if part['place'] else '·'} {part['strategy']:<7} {part['place'] or part['advice']}"
        for part in family["parts"]
    ]
