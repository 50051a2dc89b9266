"""The list of presets: apply, save, rename, delete."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from textual.binding import Binding
from textual.content import Content

from app.config.presets import BUILT_IN, MODEL, Presets, validate_preset
from app.text.terminal_text import shortened
from app.tui.keys.key_names import first_key
from app.tui.screens.saved_list import SavedList
from app.tui.state.sliders import SLIDERS
from decoding.errors import InputError
from decoding.params import Params, flat

NAME_CHARACTERS = 20


class PresetsScreen(SavedList[str, tuple[str, dict[str, Any]]]):
    """Returns the name of the chosen preset and its settings. `params`: the present settings,
    `of_model`: those recommended by the model's authors, if any; `undo` is the key that brings back
    what was deleted."""

    HEADING = "Presets"
    ENTER = "uses"
    KEYS = {"save": "saves", **SavedList.KEYS}
    BINDINGS = [
        Binding("escape,f4", "leave", "Close", id="presets.close",
                tooltip="Close without choosing"),
        Binding("s", "save", "Save", id="presets.save",
                tooltip="Save the current settings under a name"),
        Binding("slash,ctrl+f", "filter", "Filter", id="presets.filter",
                tooltip="Show only entries with some words"),
        Binding("r", "rename", "Rename", id="presets.rename", tooltip="Rename it"),
        Binding("d,delete", "delete", "Delete", id="presets.delete",
                tooltip="Delete it; asks first"),
    ]  # fmt: skip

    def __init__(
        self, presets: Presets, params: Params, of_model: Mapping[str, Any], undo: str
    ) -> None:
        super().__init__(undo)
        self._presets, self._present = presets, flat(params)
        self._of_model = of_model
        self._coming = {**({MODEL: self._of_model} if of_model else {}), **BUILT_IN}
        self._all: dict[str, Any] = {}
        self._in_force: set[str] = set()

    def entries(self) -> list[str]:
        try:
            self._all, self.problem = {**self._coming, **self._presets.all()}, ""
        except (InputError, OSError) as error:  # the built-in ones can still be used
            self._all, self.problem = self._coming, str(error)
        self._in_force = self._matching()
        return list(self._all)

    def line(self, entry: str) -> Content:
        try:
            values = validate_preset(self._all[entry])
        except ValueError as error:
            return Content(f"✗ {entry:<{NAME_CHARACTERS}}  {error}")
        mark = "●" if entry in self._in_force else " "
        name = shortened(entry, NAME_CHARACTERS)
        return Content.assemble(
            f"{mark} {name:<{NAME_CHARACTERS}}  ", (preset_summary(values), "$quiet")
        )

    def _matching(self) -> set[str]:
        """The presets that say most of the present settings, and nothing else."""
        sizes: dict[str, int] = {}
        for name, values in self._all.items():
            with suppress(ValueError):  # its line says what is wrong with it
                if (valid := validate_preset(values)).items() <= self._present.items():
                    sizes[name] = len(valid)
        return {name for name, size in sizes.items() if size == max(sizes.values())}

    def name_of(self, entry: str) -> str:
        return entry

    def result(self, entry: str) -> tuple[str, dict[str, Any]]:
        values = self._all[entry]
        if values is self._of_model:
            return entry, validate_preset(values)
        return entry, self._presets.get(entry)

    def action_save(self) -> None:
        here = self.here
        name = here if here and here not in self._coming else ""
        what = f"Enter saves the sliders, no lane's own (*) · {first_key(self, 'leave')} cancels"
        self.ask_name(name, what, self._save)

    def _save(self, name: str) -> None:
        self._presets.save(name, self._present)

    def rename(self, entry: str, name: str) -> None:
        self._presets.rename(entry, name)

    def delete(self, entry: str) -> None:
        self._presets.delete(entry)

    def is_own(self, entry: str) -> bool:
        return entry not in self._coming


def preset_summary(values: Mapping[str, Any]) -> str:
    """Return the temperature, and all settings that differ from their defaults."""
    defaults = flat(Params())
    parts = [
        f"{spec.label} {spec.scale.text(values[spec.name])}"
        for spec in SLIDERS
        if spec.name in values
        and (spec.name == "temperature" or values[spec.name] != defaults[spec.name])
    ]
    return " · ".join([*parts, *(["typical"] if values.get("acceptance") == "typical" else [])])
