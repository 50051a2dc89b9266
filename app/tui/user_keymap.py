"""Checks the user's keymap, the table [keys] of config.toml."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from textual.binding import Binding, BindingType
from textual.keys import Keys, format_key, key_to_character

from app.tui.keys.bindings import APP_KEYS, REPLAY_KEYS, RUN_KEYS, VIEW_KEYS
from app.tui.keys.key_names import apply_keymap
from app.tui.screens.advice import AdviceScreen
from app.tui.screens.conversations import ConversationsScreen
from app.tui.screens.examples import ExamplesScreen
from app.tui.screens.help import HelpScreen
from app.tui.screens.models import ModelsScreen
from app.tui.screens.presets import PresetsScreen
from app.tui.screens.projector import ProjectorScreen
from app.tui.screens.sampling_test import SamplingTestScreen
from app.tui.screens.seed import SeedScreen
from app.tui.screens.tour import TourScreen
from app.tui.screens.training import TrainingScreen
from app.tui.widgets.prompt import Prompt
from app.tui.widgets.rejections_panel import RejectionTable
from app.tui.widgets.search_line import SearchLine
from app.tui.widgets.slider import Slider
from app.tui.widgets.token_view import TokenView
from app.tui.widgets.tree_view import TreeView

NAMED = frozenset(key.value for key in Keys if not key.value.startswith("<"))
MODIFIERS = ("ctrl", "shift", "alt", "super", "hyper", "meta")


def binding_scopes() -> dict[str, list[BindingType]]:
    """Return all bindings that have an id, by screen or widget; within each a key has one
    action."""
    owners = (
        Prompt,
        TokenView,
        Slider,
        SearchLine,
        HelpScreen,
        ExamplesScreen,
        ModelsScreen,
        ConversationsScreen,
        PresetsScreen,
        ProjectorScreen,
        SamplingTestScreen,
        TourScreen,
        TrainingScreen,
        SeedScreen,
        AdviceScreen,
        RejectionTable,
        TreeView,
    )
    return {
        "app": [*RUN_KEYS, *VIEW_KEYS, *APP_KEYS],
        "replay": [*REPLAY_KEYS, *VIEW_KEYS, *APP_KEYS],
        **{owner.__name__: list(owner.BINDINGS) for owner in owners},
    }


def parse_keymap(table: object) -> dict[str, str]:
    """Return the keys by action, from the parsed TOML table. Raises ValueError as `check_keymap`
    does."""
    flat: dict[str, object] = {}
    for name, value in table.items() if isinstance(table, dict) else [("", table)]:
        inner = value if isinstance(value, dict) else {"": value}  # a dot in a name makes a table
        flat.update({f"{name}.{each}".strip("."): keys for each, keys in inner.items()})
    keymap = {name: keys for name, keys in flat.items() if isinstance(keys, str)}
    if keymap.keys() != flat.keys() or "" in keymap:
        raise ValueError('must be a table of actions and their keys: view.ghosts = "x"')
    check_keymap(keymap)
    return keymap


def check_keymap(keymap: Mapping[str, str]) -> None:
    """Raise ValueError for an unknown action, an invalid key, and a key with two actions in one
    scope."""
    known = {
        binding.id: None
        for bindings in binding_scopes().values()
        for binding in bindings
        if isinstance(binding, Binding)
    }
    for name, keys in keymap.items():
        if name not in known:
            raise ValueError(f"there is no action '{name}'; {_resembling(name, known)}")
        for key in keys.split(","):
            if not _is_key(key.strip()):
                raise ValueError(
                    f"{name}: '{key.strip()}' is not a key; keys are x, f6, ctrl+t, left, space "
                    "and the like, several with commas between"
                )
    for bindings in binding_scopes().values():
        taken: dict[str, Binding] = {}
        for binding in apply_keymap(bindings, keymap):
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
