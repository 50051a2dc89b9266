"""Fits torch to a model on this machine: the number of threads, and how the weights lie in memory.
For headless runs and the screen alike. What was measured is kept for the next start."""

from __future__ import annotations

import json
import os
import platform
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import platformdirs
import torch

from decoding.cost.measure import pass_seconds
from decoding.drafters.eagle_head import EagleHead
from decoding.model.layouts import Layouts, lay_out
from decoding.model.linears import Layout
from decoding.model.target import Target

TYPICAL_ROUND = 5  # nodes: a root and four drafts


def tune(target: Target, threads: int | None) -> int:
    """Set torch's threads and lay the weights out, as was best the last time or else as is measured
    now. Returns the threads."""
    if target.device.type != "cpu":
        return choose_threads(target, threads)
    c = target.config
    model = f"{c.model_type} {target.depth} x {target.hidden}, {target.vocab_size} ids"
    key = _key(f"{model}, {target.nbytes} bytes of {target.dtype}", threads)
    known = _known(key)
    threads = choose_threads(target, threads if known is None else known[0])
    layouts = lay_out(target.linears, target.dtype, None if known is None else known[1])
    if known is None:
        _keep(key, threads, layouts)
    return threads


def tune_head(head: EagleHead, target: Target) -> None:
    """The same for a head's weights, with the threads that the target has got."""
    if target.device.type == "cpu":
        threads = torch.get_num_threads()
        key = _key(f"EAGLE head, {head.nbytes} bytes of {target.dtype}", threads)
        known = _known(key)
        layouts = lay_out(head.drafting.linears, target.dtype, None if known is None else known[1])
        if known is None:
            _keep(key, threads, layouts)


def choose_threads(target: Target, wanted: int | None) -> int:
    """Set torch's threads and return their number. None measures on a CPU and takes the fastest.

    One core is left to the screen: with a torch thread on every core the two compete for the last
    one, and every parallel region of the decoder waits for the slower.
    """
    if wanted is None:
        wanted = _fastest(target) if target.device.type == "cpu" else torch.get_num_threads()
    torch.set_num_threads(wanted)
    return wanted


def _fastest(target: Target) -> int:
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    spare = max(cores - 1, 1)
    best, best_seconds = 1, float("inf")
    for threads in sorted({1, max(spare // 2, 1), spare}):
        torch.set_num_threads(threads)
        seconds = pass_seconds(target, TYPICAL_ROUND)
        if seconds < 0.9 * best_seconds:  # more threads must earn their place
            best, best_seconds = threads, seconds
    return best


def _path() -> Path:
    return platformdirs.user_cache_path("specchat") / "measured.json"


def _key(model: str, threads: int | None) -> str:
    """What the measurements depend on."""
    parts = (
        platform.node(),
        torch.backends.cpu.get_cpu_capability(),
        f"{os.cpu_count()} cores",
        f"torch {torch.__version__}",
        f"{'any' if threads is None else threads} threads",
        model,
    )
    return ", ".join(parts)


def _known(key: str) -> tuple[int, Layouts] | None:
    """Threads and layouts as they were measured; None where they were not, or can't be read."""
    try:
        entry = _read(_path())[key]
        layouts = {
            str(kind): Layout(bool(transposed), tuple(map(int, packed)))
            for kind, (transposed, packed) in entry["layouts"].items()
        }
        return max(int(entry["threads"]), 1), layouts
    except (AttributeError, KeyError, TypeError, ValueError):
        return None


def _keep(key: str, threads: int, layouts: Layouts) -> None:
    """Replace the file atomically; without room for it the next start measures again."""
    laid_out = {kind: [each.transposed, each.packed] for kind, each in layouts.items()}
    path = _path()
    measured = {**_read(path), key: {"threads": threads, "layouts": laid_out}}
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, delete=False) as file:
            json.dump(measured, file, indent=1)
        os.replace(file.name, path)


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
