"""Tunes torch for a model on this machine: the number of threads, the memory layout of the weights,
the cost of passes, and the tree of Medusa's heads. What was measured is kept, until a pass is much
quicker than measured, because the machine was busy then; a tree until another one is clearly
faster."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import replace

import torch

from app.models.measured_file import (
    Measured,
    MeasuredTree,
    keep_measured,
    keep_tree,
    machine_key,
    measured_file,
    read_measured,
    read_tree,
    usable_cores,
)
from decoding.cost.curve import Curve
from decoding.cost.measure import pass_seconds, verify_cost
from decoding.cost.model import Cost
from decoding.drafters.eagle_head import EagleHead
from decoding.drafters.medusa_heads import MedusaHeads
from decoding.drafters.medusa_tree import default_choices, draft_seconds
from decoding.model.layouts import lay_out
from decoding.model.linears import Layout, Linear
from decoding.model.target import Target
from decoding.trees.static import Choices

TYPICAL_ROUND = 5  # nodes: a root and four drafts
RECHECK_BELOW_SECONDS = 0.1  # a few passes up to this long are not noticed at start-up
MUCH_QUICKER = 0.7


def tune(target: Target, threads: int | None) -> int:
    """Set torch's threads and the memory layout of the weights, as kept or measured. Returns the
    number of threads."""
    if target.device.type != "cpu":
        return choose_threads(target, threads)
    key = _target_key(target, threads)
    known = read_measured(measured_file(), key)
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
    keep_measured(key, measured, without=_tree_key(key))
    return chosen


def tune_head(head: EagleHead, target: Target) -> None:
    """Set the memory layout of a head's weights, for the target's number of threads."""
    if target.device.type != "cpu":
        return
    threads = torch.get_num_threads()
    linears = head.drafting.linears
    dtype = f"{target.dtype}{_halves(linears)}"
    key = machine_key(f"EAGLE head, {head.nbytes} bytes of {dtype}", threads)
    known = read_measured(measured_file(), key)
    layouts = lay_out(linears, target.dtype, None if known is None else known.layouts)
    if known is None or known.layouts != layouts:
        keep_measured(key, Measured(threads, layouts))


def pass_cost(target: Target, threads: int | None) -> Curve:
    """v(n), seconds of a pass over n nodes, as kept or measured. `threads` must be those given to
    `tune`."""
    key = _target_key(target, threads)
    known = read_measured(measured_file(), key) if target.device.type == "cpu" else None
    if known is not None and known.passes:
        return Curve(known.passes)
    cost = verify_cost(target)
    if known is not None:
        keep_measured(key, replace(known, passes=cost.points))
    return cost


def medusa_tree(heads: MedusaHeads, target: Target, threads: int | None, cost: Cost) -> Choices:
    """Return the best tree for the heads on this machine: the kept one, unless another one is
    clearly faster. `cost` is v(n); `threads` must be those given to `tune`. Of the heads'
    `draft_seconds` the least of all starts count: a busy machine only adds to them."""
    if not heads.accuracy:
        return default_choices(heads, target, cost)
    accuracy = zlib.crc32(repr(heads.accuracy).encode())
    which = f"{heads.count} heads {accuracy:08x} on {device_name(target.device)}"
    key = _tree_key(_target_key(target, threads)) + which
    known = read_tree(measured_file(), key, heads.accuracy)
    seconds = draft_seconds(heads, target)
    if known and (before := known.draft_seconds):
        seconds = min(seconds[0], before[0]), min(seconds[1], before[1])
    choices = default_choices(heads, target, cost, known.choices if known else (), seconds)
    found = MeasuredTree(choices, seconds)
    if found != known:
        keep_tree(key, found)
    return choices


def device_name(device: torch.device) -> str:
    """Return a GPU by its kind: a machine may have several, of different speeds."""
    return torch.cuda.get_device_name(device) if device.type == "cuda" else device.type


def _target_key(target: Target, threads: int | None) -> str:
    c = target.config
    model = f"{c.model_type} {target.num_layers} x {target.hidden_size}, {target.vocab_size} ids"
    nbytes = target.model.get_memory_footprint()  # without packed copies, which are made later
    kept = "" if target.kv_cache == "none" else f", keys and values in {target.kv_cache}"
    dtype = f"{target.dtype}{_halves(target.linears)}"
    return machine_key(f"{model}, {nbytes} bytes of {dtype}{kept}", threads)


def _tree_key(target: str) -> str:
    """The beginning of the keys of trees that were chosen with a target's costs."""
    return f"{target}, Medusa's tree of "


def _halves(linears: Sequence[tuple[str, Linear]]) -> str:
    return " with exact halves" if linears and linears[0][1].fits_fp16 else ""


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


def _fastest(target: Target) -> int:
    spare = max(usable_cores() - 1, 1)
    best, best_seconds = 1, float("inf")
    for threads in sorted({1, max(spare // 2, 1), spare}):
        torch.set_num_threads(threads)
        seconds = pass_seconds(target, TYPICAL_ROUND)
        if seconds < 0.9 * best_seconds:  # more threads must earn their place
            best, best_seconds = threads, seconds
    return best
