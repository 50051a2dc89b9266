"""Loads the settings of a command. Theme and keys are checked only where a screen opens: headless
runs must not import Textual."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from app.config.presets import MODEL, Presets
from app.config.settings import Settings, load_settings, source_of
from decoding.errors import InputError

if TYPE_CHECKING:
    from app.history.store import Store


def settings_from(flags: dict[str, object]) -> Settings:
    """Load the settings from all sources. The preset "model" is read from the target, and a --theme
    flag is checked at once. Raises InputError."""
    if flags.get("preset") == MODEL and MODEL not in Presets().all():
        from app.models.sampling_defaults import defaults_of_target

        flags = {name: value for name, value in flags.items() if name != "preset"}
        flags = {**defaults_of_target(load_settings(flags).models), **flags}
    settings = load_settings(flags)
    if "theme" in flags:
        theme_of(settings, "--theme")
    return settings


def theme_of(settings: Settings, source: str = "") -> str:
    """Return the checked name of the theme. Raises InputError."""
    from app.tui.themes import require_theme

    try:
        return require_theme(settings.theme)
    except ValueError as error:
        raise InputError(f"{source or source_of('theme')}: {error}") from error


def last_theme(settings: Settings, store: Store) -> str:
    """Return the theme as set, else as it was last chosen on the screen. Raises InputError."""
    from app.history.next_start import THEME
    from app.tui.themes import require_theme

    theme = theme_of(settings)
    if "theme" not in settings.model_fields_set:
        with suppress(OSError, ValueError):  # nothing kept, or a name from another version
            return require_theme(store.next_start.remembered(THEME))
    return theme


def keymap_of(settings: Settings) -> dict[str, str]:
    """Return the user's own keys by action. Raises InputError."""
    from app.tui.user_keymap import parse_keymap

    try:
        return parse_keymap(settings.keys)
    except ValueError as error:
        raise InputError(f"{source_of('keys')}: {error}") from error
