"""Recipes: YAML files with options of the `heads` commands, by the names that these have anyway.

Names at the top are for every command that has such an option; those under the name of a command
are for that one alone. Values are written as on the command line.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from app.version import VERSION

NAME = "recipe.yaml"  # beside what was made by it


def _read(context: typer.Context, file: Path | None) -> Path | None:
    """Take what the command line leaves out from the recipe. Raises InputError."""
    if file is not None:
        from app.cli.heads.recipe_reader import read_recipe

        context.default_map, context.meta[NAME] = read_recipe(context, file)
    return file


RecipeFile = Annotated[
    Path | None,
    typer.Option(
        "--recipe",
        metavar="FILE",
        is_eager=True,
        callback=_read,
        help="YAML file with these options; those given here win over it.",
    ),
]


def given_options(context: typer.Context) -> dict[str, str]:
    """Return the options that the user gave, by parameter name: as written on the command line, or
    where they are in the recipe, but not those at its top that other commands have too."""
    written: Mapping[str, str] = context.meta.get(NAME, {})
    given = {}
    for option in context.command.params:
        name = str(option.name)
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            given[name] = option.opts[0]
        elif name in written:
            given[name] = written[name]
    return given


def write_recipe(context: typer.Context, out: Path, without: str = "", made: str = "") -> None:
    """Write the given options beside what the command made in `out`, as a recipe for another; not
    the one called `without`. A comment says what was `made`."""
    import yaml

    from app.cli.heads.recipe_reader import options_by_name

    given = {
        option: _plain(context.params[parameter.name])
        for option, parameter in options_by_name(context.command).items()
        if option == parameter.opts[0].lstrip("-")
        and parameter.name not in ("resume", without)
        and (source := context.get_parameter_source(parameter.name)) is not None
        and source.name in ("COMMANDLINE", "DEFAULT_MAP")
    }
    head = f"# specchat {VERSION} heads {context.info_name} --recipe {NAME} --out NEW\n"
    head += f"# made {made}\n" if made else ""
    text = yaml.safe_dump(given, sort_keys=False, allow_unicode=True)
    (out / NAME).write_text(head + text, encoding="utf-8")


def _plain(value: object) -> object:
    """For YAML."""
    if isinstance(value, list):
        return list(map(_plain, value))
    return value if isinstance(value, bool | int | float) else str(value)
