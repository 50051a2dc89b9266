"""Tunes torch for a model on this machine: the number of threads, the memory layout of the weights,
the cost of passes, and the tree of Medusa's heads. Measurements are cached on disk, until a pass is
much quicker than measured, because the machine was busy then; a tree until another one is clearly
faster."""

from __future__ import annotations

import json
import os
import platform
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import platformdirs
import torch
from pydantic import TypeAdapter

from decoding.cost.curve import Curve
from decoding.cost.measure import pass_seconds, verify_cost
from decoding.cost.model import Cost
from decoding.drafters.eagle_head import EagleHead
from decoding.drafters.medusa_heads import MedusaHeads
from decoding.drafters.medusa_tree import default_choices, draft_seconds
from decoding.files import write_atomically
from decoding.json_text import parse_json
from decoding.model.layouts import Layouts, lay_out
from decoding.model.linears import ROWS, Layout, Linear
from decoding.model.target import Target
from decoding.trees.static import Choices

TYPICAL_ROUND = 5  # nodes: a root and four drafts
RECHECK_BELOW_SECONDS = 0.1  # a few passes up to this long are not noticed at start-up
MUCH_QUICKER = 0.7


@dataclass(frozen=True, slots=True)
class Measured:
    """The measurements of a model on this machine."""

    threads: int
    layouts: Layouts
    typical: float | None = None  # seconds of a typical round's pass; None for heads
    passes: tuple[tuple[float, float], ...] = ()  # v(n): nodes and seconds; (): not yet measured


_MEASURED = TypeAdapter(Measured)
_DRAFT_SECONDS = TypeAdapter(tuple[float, float])


def tune(target: Target, threads: int | None) -> int:
    """Set torch's threads and the memory layout of the weights, from the cache or measured. Returns
    the number of threads."""
    if target.device.type != "cpu":
        return choose_threads(target, threads)
    key = _target_key(target, threads)
    known = read_measured(_path(), key)
    if known is not None:
        chosen = threads or known.threads
        torch.set_num_threads(chosen)
        lay_out(target.linears, target.dtype, known.layouts)
        if not _was_busy(target, known):
            return chosen
        for _, linear in target.linears:  # copies are made for one number of threads
            linear.set_layout(Layout())
    chosen = choose_threads(target, threads)
    layouts = lay_out(target.linears, target.dtype, None)
    measured = Measured(chosen, layouts, pass_seconds(target, TYPICAL_ROUND))
    _keep(key, _entry(measured), instead_of=_tree_key(key))
    return chosen


def tune_head(head: EagleHead, target: Target) -> None:
    """Set the memory layout of a head's weights, for the target's number of threads."""
    if target.device.type != "cpu":
        return
    threads = torch.get_num_threads()
    linears = head.drafting.linears
    key = _key(f"EAGLE head, {head.nbytes} bytes of {target.dtype}{_halves(linears)}", threads)
    known = read_measured(_path(), key)
    layouts = lay_out(linears, target.dtype, None if known is None else known.layouts)
    if known is None or known.layouts != layouts:
        _keep(key, _entry(Measured(threads, layouts)))


def pass_cost(target: Target, threads: int | None) -> Curve:
    """v(n), seconds of a pass over n nodes, from the cache or measured. `threads` must be those
    given to `tune`."""
    key = _target_key(target, threads)
    known = read_measured(_path(), key) if target.device.type == "cpu" else None
    if known is not None and known.passes:
        return Curve(known.passes)
    cost = verify_cost(target)
    if known is not None:
        _keep(key, _entry(replace(known, passes=cost.points)))
    return cost


def medusa_tree(heads: MedusaHeads, target: Target, threads: int | None, cost: Cost) -> Choices:
    """Return the best tree for the heads on this machine: the cached one, unless another one is
    clearly faster. `cost` is v(n); `threads` must be those given to `tune`. Of the heads'
    `draft_seconds` the least of all starts count: a busy machine only adds to them."""
    if not heads.accuracy:
        return default_choices(heads, target, cost)
    accuracy = zlib.crc32(repr(heads.accuracy).encode())
    which = f"{heads.count} heads {accuracy:08x} on {device_name(target.device)}"
    key = _tree_key(_target_key(target, threads)) + which
    known = read_tree(_path(), key, heads.accuracy)
    before = read_draft_seconds(_path(), key) if known else None
    seconds = draft_seconds(heads, target)
    if before:
        seconds = min(seconds[0], before[0]), min(seconds[1], before[1])
    found = default_choices(heads, target, cost, known, seconds)
    if (found, seconds) != (known, before):
        _keep(key, {"choices": found, "draft_seconds": seconds})
    return found


def device_name(device: torch.device) -> str:
    """Return a GPU by its kind: a machine may have several, of different speeds."""
    return torch.cuda.get_device_name(device) if device.type == "cuda" else device.type


def _tree_key(target: str) -> str:
    """The beginning of the cache keys of trees that were chosen with a target's costs."""
    return f"{target}, Medusa's tree of "


def read_tree(path: Path, key: str, accuracy: Sequence[Sequence[float]]) -> Choices:
    """Return the cached tree for heads of this `accuracy`; () if there is none, or it can't be
    read."""
    try:
        choices = tuple(tuple(map(int, path)) for path in _read(path)[key]["choices"])
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        return ()
    offered = list(map(len, accuracy))
    return choices if all(_exists(path, offered) for path in choices) else ()


def read_draft_seconds(path: Path, key: str) -> tuple[float, float] | None:
    """Return the kept `draft_seconds`; None if there are none, or they can't be read."""
    try:
        found = _DRAFT_SECONDS.validate_python(_read(path)[key]["draft_seconds"])
    except (LookupError, TypeError, ValueError):
        return None
    return found if min(found) > 0 else None


def _exists(path: tuple[int, ...], offered: list[int]) -> bool:
    """Whether each head has the path's rank."""
    inside = 0 < len(path) <= len(offered)
    return inside and all(0 <= rank < most for rank, most in zip(path, offered, strict=False))


def _was_busy(target: Target, known: Measured) -> bool:
    """Whether the machine was busy when `known` was measured: a pass is much quicker now. Not
    checked for slow models."""
    if known.typical is None or known.typical > RECHECK_BELOW_SECONDS:
        return False
    then = Curve(known.passes)(TYPICAL_ROUND) if known.passes else known.typical
    return pass_seconds(target, TYPICAL_ROUND) < MUCH_QUICKER * max(then, known.typical)


def choose_threads(target: Target, wanted: int | None) -> int:
    """Set torch's threads and return their number. On a CPU, None measures and takes the fastest.

    One core is left to the screen: with a torch thread on every core the two would compete for the
    last one, and every parallel region of the decoder would wait for that thread.
    """
    if wanted is None:
        wanted = _fastest(target) if target.device.type == "cpu" else torch.get_num_threads()
    torch.set_num_threads(wanted)
    return wanted


def _cores() -> int:
    """How many this process may use: fewer than there are under taskset, and in many batch jobs."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _fastest(target: Target) -> int:
    spare = max(_cores() - 1, 1)
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
    """Everything that the measurements depend on."""
    parts = (
        platform.node(),
        torch.backends.cpu.get_cpu_capability(),
        f"{_cores()} cores",
        f"torch {torch.__version__}",
        f"{'any' if threads is None else threads} threads",
        f"rows {ROWS}",
        model,
    )
    return ", ".join(parts)


def _target_key(target: Target, threads: int | None) -> str:
    c = target.config
    model = f"{c.model_type} {target.num_layers} x {target.hidden_size}, {target.vocab_size} ids"
    nbytes = target.model.get_memory_footprint()  # without packed copies, which are made later
    kept = "" if target.kv_cache == "none" else f", keys and values in {target.kv_cache}"
    dtype = f"{target.dtype}{_halves(target.linears)}"
    return _key(f"{model}, {nbytes} bytes of {dtype}{kept}", threads)


def _halves(linears: Sequence[tuple[str, Linear]]) -> str:
    return " with exact halves" if linears and linears[0][1].fits_fp16 else ""


def read_measured(path: Path, key: str) -> Measured | None:
    """Return a kept measurement; None if there is none, or it can't be read."""
    try:
        found = _MEASURED.validate_python(_read(path)[key])
    except (ArithmeticError, LookupError, ValueError):
        return None
    return replace(found, threads=min(max(found.threads, 1), _cores()))


def _entry(measured: Measured) -> dict[str, Any]:
    entry: dict[str, Any] = _MEASURED.dump_python(measured)
    return entry


def _keep(key: str, entry: Mapping[str, Any], instead_of: str | None = None) -> None:
    """Replace the file atomically; without room for it the next start measures again. Entries whose
    keys begin with `instead_of` are left out."""
    path = _path()
    others = _read(path).items()
    kept = {k: e for k, e in others if instead_of is None or not k.startswith(instead_of)}
    together = {**kept, key: entry}
    with suppress(OSError):
        write_atomically(path, json.dumps(together, indent=1))


def _read(path: Path) -> dict[str, Any]:
    try:
        found = parse_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
