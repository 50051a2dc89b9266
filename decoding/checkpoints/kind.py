"""What kind of drafter lies in a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from decoding.checkpoints.dialects import detect_kind, medusa_dialect
from decoding.checkpoints.files import read_config, read_tensors

DrafterKind = Literal["medusa", "eagle", "draft"]


def drafter_kind(folder: Path) -> DrafterKind:
    """Medusa heads, in whatever dialect and also inside a model; else a draft model; else an EAGLE
    head, or nothing that drafts: `read_eagle` tells. Raises InputError for what can't be read."""
    names: list[str] = []

    def look(name: str) -> bool:
        names.append(name)
        return False

    read_tensors(folder, look)
    if medusa_dialect(names) is not None:
        return "medusa"
    of_modelopt = any(name.startswith("eagle_module.") for name in names)
    kind = detect_kind(read_config(folder), dict.fromkeys(names, ()))
    return "draft" if kind == "model" and not of_modelopt else "eagle"
