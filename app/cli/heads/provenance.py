"""Tells data and models from others: what a training began with, which target features are of."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from decoding.checkpoints.headers import weight_files
from decoding.errors import InputError, reason_for
from decoding.json_text import read_json

CONFIG = "config.json"
BARE_SOURCE = "target.json"  # in a folder of features: which model they are of
_SAMPLES, _SAMPLE = 1024, 1 << 12  # of a file of weights, and the bytes of each


def contents(sources: Sequence[str]) -> list[list[str]]:
    """Return each FILE[:REPEAT[:KEY=VALUE]] with what tells its content, wherever the file lies."""
    from decoding.training.data import DataSource

    found = []
    for source in sources:
        _, _, how = source.partition(":")
        path = DataSource.parse(source).path
        if path.is_file():  # a pipe can be read only once
            how = f"{sha256_of(path)} {how}"
        found.append([source, how])
    return found


def sha256_of(path: Path) -> str:
    """Return the checksum of a file of any size, in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def same(before: object, now: object) -> bool:
    """Return whether two options mean the same: of files their content, of models their weights."""
    if isinstance(before, dict) and isinstance(now, dict):
        return _same_model(before, now)
    return _essence(before) == _essence(now)


def _essence(value: object) -> object:
    return [each[1:] for each in value] if isinstance(value, list) else value


def words(value: object) -> str:
    if isinstance(value, dict):
        return str(value.get("target"))
    if isinstance(value, list):
        return " ".join(each[0] for each in value) or "not given"
    if isinstance(value, bool):
        return "given" if value else "not given"
    return "not given" if value is None else str(value)


def identity(target: str) -> dict[str, str]:
    """Return what tells a model from others: `target`, its folder or hub id; and of a folder a
    `digest` of its config and of samples of its weights, as whole ones would take minutes to read.
    They are so many that each larger matrix has one: fine-tuning may leave most layers alone."""
    folder = Path(target).expanduser()
    files = weight_files(folder)
    if not files:
        return {"target": str(folder.resolve()) if folder.exists() else target}
    found = hashlib.sha256()
    if (folder / CONFIG).is_file():
        found.update((folder / CONFIG).read_bytes())
    for path in files:
        size = path.stat().st_size
        with path.open("rb") as file:
            for start in range(0, size, max(size // _SAMPLES, _SAMPLE)):
                file.seek(start)
                found.update(file.read(_SAMPLE))
        found.update(str(size).encode())
    return {"target": str(folder.resolve()), "digest": found.hexdigest()}


def _same_model(kept: Mapping[str, Any], given: Mapping[str, Any]) -> bool:
    """Of one whose weights are gone only the name is compared."""
    by = "digest" if "digest" in kept and "digest" in given else "target"
    return bool(kept.get(by) == given[by])


def require_same_target(features: Path, target: str) -> None:
    """Raise InputError if the target that is kept without its layers is of another model."""
    kept = read_object(features / BARE_SOURCE)
    if kept and not _same_model(kept, identity(target)):
        raise InputError(
            f"--target {target}: the features in {features} are of {kept.get('target')}: give "
            "that, or a new folder for --features"
        )


def read_object(file: Path) -> dict[str, Any]:
    """Return what was noted in a JSON file; {} if there is none. Raises InputError."""
    if not file.is_file():
        return {}
    try:
        found = read_json(file)
    except (OSError, ValueError) as error:
        raise InputError(f"can't read {file}: {reason_for(error)}") from error
    if not isinstance(found, dict):
        raise InputError(f"{file} holds no JSON object")
    return found
