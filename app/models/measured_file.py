"""The file in which measurements of models on this machine are kept, by keys that name everything
they depend on. Where it can't be read or written, the next start measures again."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import platformdirs
import torch
from pydantic import TypeAdapter

from decoding.files import write_atomically
from decoding.json_text import parse_json
from decoding.model.layouts import Layouts
from decoding.model.linears import ROWS
from decoding.trees.static import Choices


@dataclass(frozen=True, slots=True)
class Measured:
    """The measurements of a model on this machine."""

    threads: int
    layouts: Layouts
    typical: float | None = None  # seconds of a typical round's pass; None for heads
    passes: tuple[tuple[float, float], ...] = ()  # v(n): nodes and seconds; (): not yet measured


@dataclass(frozen=True, slots=True)
class MeasuredTree:
    """The tree that was chosen for Medusa heads, and their `draft_seconds`, of which it followed;
    None: not known."""

    choices: Choices
    draft_seconds: tuple[float, float] | None = None


_MEASURED = TypeAdapter(Measured)
_DRAFT_SECONDS = TypeAdapter(tuple[float, float])


def measured_file() -> Path:
    return platformdirs.user_cache_path("specchat") / "measured.json"


def machine_key(model: str, threads: int | None) -> str:
    """Return the key of a model's measurements: everything that they depend on. `threads` are those
    asked for; None: the fastest number."""
    parts = (
        platform.node(),
        torch.backends.cpu.get_cpu_capability(),
        f"{usable_cores()} cores",
        f"torch {torch.__version__}",
        f"{'any' if threads is None else threads} threads",
        f"rows {ROWS}",
        model,
    )
    return ", ".join(parts)


def usable_cores() -> int:
    """How many this process may use: fewer than there are under taskset, and in many batch jobs."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def read_measured(path: Path, key: str) -> Measured | None:
    """Return a kept measurement; None if there is none, or it can't be read."""
    try:
        found = _MEASURED.validate_python(_read(path)[key])
    except (ArithmeticError, LookupError, ValueError):
        return None
    return replace(found, threads=min(max(found.threads, 1), usable_cores()))


def read_tree(path: Path, key: str, accuracy: Sequence[Sequence[float]]) -> MeasuredTree | None:
    """Return the kept tree for heads of this `accuracy`; None if there is none, or it can't be
    read."""
    entry: Any = _read(path).get(key)
    try:
        choices = tuple(tuple(map(int, path)) for path in entry["choices"])
    except (ArithmeticError, LookupError, TypeError, ValueError):
        return None
    offered = list(map(len, accuracy))
    if not choices or not all(_exists(path, offered) for path in choices):
        return None
    try:
        seconds = _DRAFT_SECONDS.validate_python(entry["draft_seconds"])
    except (LookupError, ValueError):
        seconds = None
    return MeasuredTree(choices, seconds if seconds and min(seconds) > 0 else None)


def _exists(path: tuple[int, ...], offered: list[int]) -> bool:
    """Whether each head has the path's rank."""
    inside = 0 < len(path) <= len(offered)
    return inside and all(0 <= rank < most for rank, most in zip(path, offered, strict=False))


def keep_measured(key: str, measured: Measured, without: str | None = None) -> None:
    """Write a measurement to the file, and leave out entries whose keys begin with `without`."""
    _keep(key, _MEASURED.dump_python(measured), without)


def keep_tree(key: str, tree: MeasuredTree) -> None:
    """Write a tree to the file."""
    _keep(key, {"choices": tree.choices, "draft_seconds": tree.draft_seconds})


def _keep(key: str, entry: Mapping[str, Any], without: str | None = None) -> None:
    path = measured_file()
    others = _read(path).items()
    kept = {k: e for k, e in others if without is None or not k.startswith(without)}
    with suppress(OSError):
        write_atomically(path, json.dumps({**kept, key: entry}, indent=1))


def _read(path: Path) -> dict[str, Any]:
    try:
        found = parse_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
