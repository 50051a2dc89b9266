"""`specchat models`: lists families and local models, with the drafters found for each, and
downloads public families."""

from __future__ import annotations

import shlex
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from app.cli.options import switch
from app.cli.terminal import print_output, print_result, progress, say
from app.text.repo_name import Repo
from app.text.units import format_bytes
from decoding.errors import InputError


def models(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(metavar="DIR", help="Other model folders to inspect."),
    ] = None,
    get: Annotated[
        str | None, typer.Option(metavar="NAME", help="Download a public family, after asking.")
    ] = None,
    yes: Annotated[bool, switch("--yes", help="Download without asking.")] = False,
    as_json: Annotated[bool, switch("--json", help="Print one JSON document.")] = False,
) -> None:
    """List families, models in the Hugging Face cache, and the drafters found for each."""
    from app.config.settings import load_settings
    from app.report.document import envelope

    if get is not None:
        if folders or as_json:
            raise InputError("--get downloads a family: leave folders and --json out")
        _download(get, yes)
        return
    found = _report(load_settings({}), [str(folder) for folder in folders or ()])
    print_result(envelope(**found), as_json, _format_models)


def _download(name: str, yes: bool) -> None:
    from app.config.families import PUBLIC_FAMILIES
    from app.models.public_families import family_state, fetch, machine_memory

    family = PUBLIC_FAMILIES.get(name)
    if family is None:
        known = ", ".join(PUBLIC_FAMILIES)
        raise InputError(f"--get: there is no public family '{name}'; there are {known}")
    state = family_state(family, machine_memory())
    if state.missing:
        say(f"{name}: {format_bytes(state.size)} to download, {state.fits}")
        for role, part in state.missing.items():
            say(f"  {role:<7} {part.source}  {format_bytes(part.size)}  {part.licence}")
        if not yes:
            if sys.stdin is None or not sys.stdin.isatty():
                raise InputError("--get asks before it downloads, and there is no terminal: --yes")
            typer.confirm("Download it into the Hugging Face cache?", abort=True, err=True)
        with progress() as show:
            fetch(family, lambda what, part: show(what))
    print_output(f"{name} is here: specchat --family {name}")


def _report(settings: Any, folders: list[str]) -> dict[str, Any]:
    from app.config.families import PUBLIC_FAMILIES
    from app.models.catalog import cached_checkpoints, fill_in_drafters, resolve_model_folder
    from app.models.library import library
    from app.models.public_families import machine_memory

    given = [resolve_model_folder(folder) for folder in folders]
    cached = cached_checkpoints()
    targets = [*given, *(each for each in cached if each.kind == "model")]
    memory = machine_memory()
    return {
        "families": [
            {"name": name, "target": options.target, "parts": _parts(options)}
            for name, options in library(settings).families.items()
        ],
        "public": [
            _public(name, PUBLIC_FAMILIES[name], memory) for name in settings.public_families
        ],
        "models": [
            {
                **{name: value for name, value in asdict(each).items() if name != "kind"},
                "parts": _parts(
                    fill_in_drafters(replace(settings.load_options, target=each.source), cached)
                ),
            }
            for each in targets
        ],
    }


def _public(name: str, family: Any, memory: Any) -> dict[str, Any]:
    from app.models.public_families import family_state

    state = family_state(family, memory)
    return {
        "name": name,
        "size": int(family.size),
        "to_download": int(state.size),
        "fits": state.fits,
        "parts": [
            {
                "role": role,
                "source": part.source,
                "size": int(part.size),
                "licence": part.licence,
                "here": role not in state.missing,
            }
            for role, part in family.parts.items()
        ],
    }


def _parts(options: Any) -> list[dict[str, Any]]:
    from app.models.catalog import drafter_status

    return [asdict(status) for status in drafter_status(options)]


def _format_models(found: dict[str, Any]) -> str:
    lines = []
    for family in found["families"]:
        lines += [f"{family['name']}: --family {family['name']}", *_rows(family)]
    for model in found["models"]:
        size, source = format_bytes(model["size"]), _value(model["source"])
        lines += [f"{model['name']} ({size}): --target {source}", *_rows(model, options=True)]
    for family in found["public"]:
        name, rest = family["name"], family["to_download"]
        get = f", {format_bytes(rest)} by specchat models --get {name}" if rest else ""
        lines.append(f"{name} ({family['fits']}): --family {name}{get}")
        lines += [
            f"  {'✓' if part['here'] else '·'} {part['role']:<7} {part['source']}  "
            f"{format_bytes(part['size'])}  {part['licence']}"
            for part in family["parts"]
        ]
    if not found["models"]:
        lines.append("The Hugging Face cache holds no causal language model.")
    return "\n".join(lines)


def _rows(family: dict[str, Any], options: bool = False) -> list[str]:
    """A row for each drafter; as `options`, where it is only used if it is asked for."""
    rows = []
    for part in family["parts"]:
        role, source = part["strategy"], part["source"]
        shown = f"--{role} {_value(source)}" if source and options else source
        rows.append(f"  {'✓' if source else '·'} {role:<7} {shown or part['advice']}")
    return rows


def _value(source: str) -> str:
    """A folder as an option's value: its hub id, if that leads to it."""
    from app.models.hub import cached_folder, hub_id

    name = hub_id(source)
    return name if name and cached_folder(Repo(name)) == Path(source) else shlex.quote(source)
