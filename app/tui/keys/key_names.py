"""Labels of keys for sentences and lists, with the user's keymap applied."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from textual.app import App
from textual.binding import Binding, BindingsMap, BindingType
from textual.keys import format_key
from textual.widget import Widget

from app.tui.keys.bindings import (
    APP_KEYS,
    CURSOR_KEYS,
    PROMPT_KEYS,
    RUN_KEYS,
    SEARCH_KEYS,
    VIEW_KEYS,
)
from app.tui.textual_internals import keymap_of

WORDS = {"escape": "Esc", "enter": "Enter", "backspace": "Backspace"}


def apply_keymap(bindings: Iterable[BindingType], keymap: Mapping[str, str]) -> list[Binding]:
    """Return one binding for each key, after the user's keymap has been applied."""
    return [
        each
        for binding in bindings
        if isinstance(binding, Binding)
        for _, each in BindingsMap([_with_keys(binding, keymap)])
    ]


def _with_keys(binding: Binding, keymap: Mapping[str, str]) -> Binding:
    return binding.with_key(keymap.get(binding.id or "", binding.key))


def active_bindings(app: App[Any], bindings: Iterable[BindingType]) -> list[Binding]:
    """Return the bindings with this app's keymap applied."""
    return apply_keymap(bindings, keymap_of(app))


def first_key(widget: Widget, action: str) -> str:
    """Return the label of the first key of one of the widget's own actions."""
    bindings = active_bindings(widget.app, widget.BINDINGS)
    return next(key_label(each.key) for each in bindings if each.action == action)


def key_labels(keymap: Mapping[str, str]) -> dict[str, str]:
    """Return the label of each action's first key, by the binding's id."""
    bindings = [*RUN_KEYS, *VIEW_KEYS, *APP_KEYS, *PROMPT_KEYS, *CURSOR_KEYS, *SEARCH_KEYS]
    return {str(each.id): key_label(each.key) for each in reversed(apply_keymap(bindings, keymap))}


def compact_keys(keys: Iterable[str]) -> str:
    """Keys in a row, consecutive digits as a range: ! 2-9."""
    runs: list[list[str]] = []
    for key in keys:
        before = runs[-1][-1] if runs else ""
        if key.isdigit() and before.isdigit() and int(key) == int(before) + 1:
            runs[-1].append(key)
        else:
            runs.append([key])
    return " ".join("-".join(dict.fromkeys((run[0], run[-1]))) for run in runs)


def key_label(key: str) -> str:
    """Return a key as people write it: Esc, F2, Ctrl+Q, [."""
    *modifiers, base = key.split("+")
    name = format_key(base)
    if base in WORDS or len(name) > 1:
        name = WORDS.get(base, base.capitalize())
    elif modifiers:
        name = name.upper()
    return "+".join([*(each.capitalize() for each in modifiers), name])
