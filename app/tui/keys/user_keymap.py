"""Keys of the user's own, from the table [keys] of config.toml: which may be changed, to what, and
how each is called."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from textual.binding import Binding, BindingsMap, BindingType
from textual.keys import Keys, format_key, key_to_character

if TYPE_CHECKING:
    from textual.app import App

NAMED = frozenset(key.value for key in Keys if not key.value.startswith("<"))
WORDS = {"escape": "Esc", "enter": "Enter", "backspace": "Backspace"}
MODIFIERS = ("ctrl", "shift", "alt", "super", "hyper", "meta")


def scopes() -> dict[str, list[BindingType]]:
    """All bindings that have an id, by what they belong to; one key is one action in each."""
    from app.tui.keys.bindings import APP_KEYS, REPLAY_KEYS, RUN_KEYS, VIEW_KEYS
    from app.tui.screens.conversations import ConversationsScreen
    from app.tui.screens.examples import ExamplesScreen
    from app.tui.screens.help import HelpScreen
    from app.tui.screens.models import ModelsScreen
    from app.tui.screens.presets import PresetsScreen
    from app.tui.screens.sampling_test import SamplingTestScreen
    from app.tui.widgets.prompt import Prompt
    from app.tui.widgets.slider import Slider
    from app.tui.widgets.token_view import TokenView

    owners = (
        Prompt,
        TokenView,
        Slider,
        HelpScreen,
        ExamplesScreen,
        ModelsScreen,
        ConversationsScreen,
        PresetsScreen,
        SamplingTestScreen,
    )
    return {
        "app": [*RUN_KEYS, *VIEW_KEYS, *APP_KEYS],
        "replay": [*REPLAY_KEYS, *VIEW_KEYS, *APP_KEYS],
        **{owner.__name__: list(owner.BINDINGS) for owner in owners},
    }


def changed(bindings: Iterable[BindingType], keymap: Mapping[str, str]) -> list[Binding]:
    """The bindings as they are with the user's keys: one for each key."""
    return [
        each
        for binding in bindings
        if isinstance(binding, Binding)
        for _, each in BindingsMap([_with_keys(binding, keymap)])
    ]


def _with_keys(binding: Binding, keymap: Mapping[str, str]) -> Binding:
    return binding.with_key(keymap.get(binding.id or "", binding.key))


def live(app: App[Any], bindings: Iterable[BindingType]) -> list[Binding]:
    """The bindings as they are in this app."""
    return changed(bindings, app._keymap)  # there is no public way to ask for it


def first_key(app: App[Any], bindings: Iterable[BindingType], action: str) -> str:
    """How a sentence calls the first key that the action has in this app."""
    return next(spoken(each.key) for each in live(app, bindings) if each.action == action)


def checked(table: object) -> dict[str, str]:
    """The keys by action, from what TOML makes of the table. Raises ValueError as `check` does."""
    flat: dict[str, object] = {}
    for name, value in table.items() if isinstance(table, dict) else [("", table)]:
        inner = value if isinstance(value, dict) else {"": value}  # a dot in a name makes a table
        flat.update({f"{name}.{each}".strip("."): keys for each, keys in inner.items()})
    keymap = {name: keys for name, keys in flat.items() if isinstance(keys, str)}
    if keymap.keys() != flat.keys() or "" in keymap:
        raise ValueError('must be a table of actions and their keys: view.ghosts = "x"')
    check(keymap)
    return keymap


def check(keymap: Mapping[str, str]) -> None:
    """Raises ValueError with one line for an action that there is none of, for what is no key, and
    for a key that would do two things at once."""
    known = {
        binding.id: None
        for bindings in scopes().values()
        for binding in bindings
        if isinstance(binding, Binding)
    }
    for name, keys in keymap.items():
        if name not in known:
            raise ValueError(f"there is no action '{name}'; {_resembling(name, known)}")
        for key in keys.split(","):
            if not _is_key(key.strip()):
                raise ValueError(
                    f"{name}: '{key.strip()}' is no key; keys are such as x, f6, ctrl+t, "
                    "left, space, several with commas between"
                )
    for bindings in scopes().values():
        taken: dict[str, Binding] = {}
        for binding in changed(bindings, keymap):
            other = taken.setdefault(binding.key, binding)
            if other.action != binding.action:
                raise ValueError(
                    f"{format_key(binding.key)} would be both {other.id} and {binding.id}: "
                    "give one of them another key"
                )


def _resembling(name: str, known: Iterable[str | None]) -> str:
    group = name.partition(".")[0]
    names = [each for each in known if each]
    near = [each for each in names if each.partition(".")[0] == group]
    groups = dict.fromkeys(each.partition(".")[0] for each in names)
    return f"there are {', '.join(near or (f'{each}.…' for each in groups))}"


def _is_key(key: str) -> bool:
    if len(key) == 1:
        return key.isprintable()
    *modifiers, base = key.split("+")
    known = key in NAMED or base in NAMED or key_to_character(base) is not None
    return bool(base) and known and all(each in MODIFIERS for each in modifiers)


def names(keymap: Mapping[str, str]) -> dict[str, str]:
    """How a sentence calls the first key of each action of the app and of the token cursor, by the
    action's id."""
    known = scopes()
    bindings = [*known["app"], *known["TokenView"]]
    return {str(each.id): spoken(each.key) for each in reversed(changed(bindings, keymap))}


def in_short(keys: Iterable[str]) -> str:
    """Keys one behind the other; digits that follow one another as a range: ! 2-9."""
    runs: list[list[str]] = []
    for key in keys:
        before = runs[-1][-1] if runs else ""
        if key.isdigit() and before.isdigit() and int(key) == int(before) + 1:
            runs[-1].append(key)
        else:
            runs.append([key])
    return " ".join("-".join(dict.fromkeys((run[0], run[-1]))) for run in runs)


def spoken(key: str) -> str:
    """As people write it: Esc, F2, Ctrl+Q, [."""
    *modifiers, base = key.split("+")
    name = format_key(base)
    if base in WORDS or len(name) > 1:
        name = WORDS.get(base, base.capitalize())
    elif modifiers:
        name = name.upper()
    return "+".join([*(each.capitalize() for each in modifiers), name])
