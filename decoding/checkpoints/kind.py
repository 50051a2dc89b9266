"""Reads what `dialects.detect_drafter` needs from a folder."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from decoding.checkpoints.dialects import DrafterKind, detect_drafter
from decoding.checkpoints.files import read_config, read_tensors
from decoding.checkpoints.headers import file_tensor_names, weight_files
from decoding.errors import InputError


def drafter_kind(folder: Path) -> DrafterKind:
    """Medusa heads of any dialect, also inside a model; else a draft model; else an EAGLE head,
    where `read_eagle` reports if it is none. Raises InputError for files that can't be read."""
    names: list[str] = []
    for path in weight_files(folder):
        with suppress(Exception):  # trainers pickle other things beside the weights
            names += file_tensor_names(path)
    if not names:  # in formats of which only torch knows the names

        def look(name: str) -> bool:
            names.append(name)
            return False

        read_tensors(folder, look)
    if not names:
        raise InputError(f"{folder} holds no weights: give the folder of heads or a draft model")
    return detect_drafter(read_config(folder), names)
