"""Reads recipes: what their entries mean to the `heads` commands. Imports YAML's library, so it is
itself imported when there is a recipe."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import typer
import yaml

from decoding.errors import InputError, reason_for
from decoding.json_text import read_bounded

_LONGEST = 1 << 20  # bytes

Entry = tuple[str, str, yaml.Node]  # FILE:LINE, a name, and what it has


def read_recipe(context: typer.Context, file: Path) -> tuple[dict[str, Any], dict[str, str]]:
    """Read what a recipe has for the command: values by parameter name, and where those are in it
    that it gives to this command alone. Raises InputError, also for mistakes under the names of
    other commands."""
    group: Any = context.parent and context.parent.command
    commands = {n: c for n, c in group.commands.items() if "recipe" in (p.name for p in c.params)}
    options = {command: options_by_name(commands[command]) for command in commands}
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
    return values, own


def options_by_name(command: Any) -> dict[str, Any]:
    """Return the parameters of a command by their names in a recipe."""
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
