"""Recipes: YAML files with options of the `heads` commands, by the names that these have anyway.

Names at the top are for every command that has such an option; those under the name of a command
are for that one alone. Values are written as on the command line.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml

from app.version import VERSION
from decoding.errors import InputError, reason_for
from decoding.json_text import read_bounded

NAME = "recipe.yaml"  # beside what was made by it
_LONGEST = 1 << 20  # bytes

Entry = tuple[str, str, yaml.Node]  # FILE:LINE, a name, and what it has


def _read(context: typer.Context, file: Path | None) -> Path | None:
    """Take what the command line leaves out from the recipe. Raises InputError, also for mistakes
    under the names of other commands."""
    if file is None:
        return None
    group: Any = context.parent and context.parent.command
    commands = {n: c for n, c in group.commands.items() if "recipe" in (p.name for p in c.params)}
    options = {command: _options(commands[command]) for command in commands}
    mine = str(context.info_name)
    values: dict[str, Any] = {}
    own: dict[str, str] = {}
    for where, name, node in _entries(str(file), _parsed(file)):
        if name in commands:
            for inner, option, value in _entries(where.rpartition(":")[0], node, name):
                found = _value(context, options[name], f"heads {name}", inner, option, value)
                if name == mine:
                    values |= found
                    own |= dict.fromkeys(found, f"{inner}: {option}")
            continue
        having = [command for command in commands if name in options[command]]
        if not having:
            every = sorted({*commands, *(option for each in options.values() for option in each)})
            raise InputError(f"{where}: no option is called {name}; there are {', '.join(every)}")
        if mine in having:
            found = _value(context, options[mine], f"heads {mine}", where, name, node)
            values = found | values
            if having == [mine]:
                own |= dict.fromkeys(found, f"{where}: {name}")
    context.default_map = values
    context.meta[NAME] = own
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
    """The options that the user gave, by parameter name: as written on the command line, or where
    they are in the recipe, but not those at its top that other commands have too."""
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


def write_recipe(context: typer.Context, out: Path, without: str = "") -> None:
    """Write the given options beside what the command made in `out`, as a recipe for another; not
    the one called `without`."""
    given = {
        option: _plain(context.params[parameter.name])
        for option, parameter in _options(context.command).items()
        if option == parameter.opts[0].lstrip("-")
        and parameter.name not in ("resume", without)
        and (source := context.get_parameter_source(parameter.name)) is not None
        and source.name in ("COMMANDLINE", "DEFAULT_MAP")
    }
    head = f"# specchat {VERSION} heads {context.info_name} --recipe {NAME} --out NEW\n"
    text = yaml.safe_dump(given, sort_keys=False, allow_unicode=True)
    (out / NAME).write_text(head + text, encoding="utf-8")


def _plain(value: object) -> object:
    """For YAML."""
    if isinstance(value, list):
        return list(map(_plain, value))
    return value if isinstance(value, bool | int | float) else str(value)


def _options(command: Any) -> dict[str, Any]:
    """The parameters of a command by their names in a recipe."""
    return {
        option.lstrip("-"): parameter
        for parameter in command.params
        for option in parameter.opts
        if parameter.name != "recipe"
    }


def _parsed(file: Path) -> yaml.Node:
    try:
        found = yaml.compose(read_bounded(file, _LONGEST).decode("utf-8-sig"), yaml.SafeLoader)
    except FileNotFoundError:
        raise InputError(f"no file {file}: give a YAML file to --recipe") from None
    except (OSError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"can't read {file}: {reason_for(error)}") from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        line = f":{mark.line + 1}" if mark else ""
        raise InputError(f"{file}{line}: not valid YAML ({error.problem})") from error
    except yaml.YAMLError as error:
        raise InputError(f"{file}: not valid YAML ({error})") from error
    if found is None:
        raise InputError(f"{file} is empty: give options as NAME: VALUE, one a line")
    return found


def _entries(file: str, node: yaml.Node, inside: str = "") -> Iterator[Entry]:
    if not isinstance(node, yaml.MappingNode):
        of = f"{inside}: " if inside else ""
        line = node.start_mark.line + 1
        raise InputError(f"{file}:{line}: {of}give options as NAME: VALUE, one a line")
    seen = set()
    for key, value in node.value:
        where, name = f"{file}:{key.start_mark.line + 1}", str(key.value).replace("_", "-")
        if name in seen:
            raise InputError(f"{where}: {name} is there twice: leave one out")
        seen.add(name)
        yield where, name, value


def _value(
    context: typer.Context,
    options: Mapping[str, Any],
    command: str,
    where: str,
    name: str,
    node: yaml.Node,
) -> dict[str, Any]:
    """The value of an option, checked, by parameter name."""
    option = options.get(name)
    if option is None:
        raise InputError(f"{where}: {command} has no {name}; it has {', '.join(sorted(options))}")
    several = isinstance(node, yaml.SequenceNode) and getattr(option, "multiple", False)
    parts = node.value if several else [node]
    if not all(isinstance(part, yaml.ScalarNode) and part.value for part in parts):
        allowed = "one or several values" if getattr(option, "multiple", False) else "one value"
        raise InputError(f"{where}: {name} needs {allowed}")
    texts = [os.path.expanduser(part.value) for part in parts]
    try:
        given = texts if getattr(option, "multiple", False) else texts[0]
        return {option.name: option.process_value(context, given)}
    except typer.BadParameter as error:
        message = error.message.removeprefix("Value error, ").removesuffix(".")
        raise InputError(f"{where}: {name}: {message}") from error
