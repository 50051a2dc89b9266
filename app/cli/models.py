"""`specchat models`: lists families and local models, with the drafters found for each."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from app.cli.terminal import print_document, print_output


def models(
    folders: Annotated[
        list[Path] | None, typer.Argument(help="Further model folders to inspect.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """List families, models in the Hugging Face cache, and the drafters found for each."""
    from app.config.settings import load_settings
    from app.report.document import envelope

    found = _report(load_settings({}), [str(folder) for folder in folders or ()])
    if as_json:
        print_document(envelope(**found))
    else:
        print_output(_format_report(found))


def _report(settings: Any, folders: list[str]) -> dict[str, Any]:
    from app.models.catalog import cached_checkpoints, fill_in_drafters, resolve_model_folder
    from app.models.library import library

    given = [resolve_model_folder(folder) for folder in folders]
    cached = cached_checkpoints()
    targets = [*given, *(each for each in cached if each.kind == "model")]
    return {
        "families": [
            {"name": name, "target": options.target, "parts": _parts(options)}
            for name, options in library(settings).families.items()
        ],
        "models": [
            {
                **_fields(each, "kind"),
                "parts": _parts(
                    fill_in_drafters(replace(settings.load_options, target=each.source), cached)
                ),
            }
            for each in targets
        ],
    }


def _parts(options: Any) -> list[dict[str, Any]]:
    from app.models.catalog import drafter_status

    return [_fields(status) for status in drafter_status(options)]


def _fields(record: Any, *left_out: str) -> dict[str, Any]:
    """The record's fields by their names in the document, which calls a `source` a "place"."""
    return {
        "place" if name == "source" else name: value
        for name, value in asdict(record).items()
        if name not in left_out
    }


def _format_report(found: dict[str, Any]) -> str:
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
