"""Chooses the memory layout of a model's matrices. The cost of a pass over a few rows depends on
it, differently on each chip, so it is measured once per model and machine."""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence

import psutil
import torch

from decoding.model.linears import ROWS, Layout, Linear, can_pack

REPEATS = 5
ENOUGH = 0.3  # seconds of measuring, after which there are no more repeats
SAMPLE_BYTES = 128 << 20  # weights to measure, more than a CPU caches
PACKED_SHARE = 0.25  # of the free memory: the most that a model's packed copies take
WORTHWHILE = 0.95  # a layout is only changed if it takes at most this share of the time

Layouts = Mapping[str, Layout]  # by the kind of matrix, such as "qkv"
Seconds = Mapping[tuple[str, int], float]  # of all matrices of a kind, by rows


def lay_out(
    linears: Sequence[tuple[str, Linear]], dtype: torch.dtype, known: Layouts | None = None
) -> Layouts:
    """Give `linears` on a CPU the layouts that are fastest for a few rows with the present number
    of threads, or those measured earlier (`known`)."""
    layouts = known
    if layouts is None or layouts.keys() != {kind for kind, _ in linears}:
        layouts = fastest_layouts(linears, dtype)
    for kind, linear in linears:
        linear.set_layout(layouts[kind])
    return layouts


@torch.inference_mode()
def fastest_layouts(linears: Sequence[tuple[str, Linear]], dtype: torch.dtype) -> Layouts:
    """Find the fastest layouts by kind, measured on a sample of the `linears`, which are in the
    order of a pass. Packed copies take at most `PACKED_SHARE` of the free memory."""
    sample = _sample(linears)
    plain = _seconds(sample, Layout(), dtype)
    transposed = _seconds(sample, Layout(transposed=True), dtype)
    copies = {
        fp16: _seconds(sample, Layout(packed_rows=ROWS, fp16=fp16), dtype)
        for fp16 in (True, False)
        if can_pack(dtype, fp16)
    }
    of_kind: defaultdict[str, list[Linear]] = defaultdict(list)
    for kind, linear in linears:
        of_kind[kind].append(linear)
    found, room = {}, PACKED_SHARE * psutil.virtual_memory().available
    for kind in sorted(of_kind, key=lambda kind: sum(each.nbytes for each in of_kind[kind])):
        sizes = {h: sum(each.copy_nbytes(h) for each in of_kind[kind]) for h in copies}
        fitting = {fp16: copies[fp16] for fp16 in copies if sizes[fp16] <= room}
        layout = _fastest(kind, plain, transposed, fitting)
        room -= sizes[layout.fp16] if layout.packed_rows else 0
        found[kind] = layout
    return found


def _sample(linears: Sequence[tuple[str, Linear]]) -> list[tuple[str, Linear]]:
    """The first linears, and at least one of every kind."""
    sample, kinds, nbytes = [], set(), 0
    for kind, linear in linears:
        if nbytes < SAMPLE_BYTES or kind not in kinds:
            sample.append((kind, linear))
            kinds.add(kind)
            nbytes += linear.nbytes
    return sample


def _seconds(sample: Sequence[tuple[str, Linear]], layout: Layout, dtype: torch.dtype) -> Seconds:
    """The least time of a few passes through the sample, as disturbances only add time. The linears
    run in turn as in a pass, because a matrix that was just read is in the CPU's cache."""
    for _, linear in sample:
        linear.set_layout(layout)
    least: dict[tuple[str, int], float] = {}
    for rows in ROWS:
        inputs = {
            linear.inputs: torch.randn(rows, linear.inputs, dtype=dtype) for _, linear in sample
        }
        started = time.perf_counter()
        for repeat in range(REPEATS + 1):
            if repeat > 1 and time.perf_counter() - started > ENOUGH:
                break
            spent: defaultdict[str, float] = defaultdict(float)
            for kind, linear in sample:
                x = inputs[linear.inputs]
                begun = time.perf_counter()
                linear(x)
                spent[kind] += time.perf_counter() - begun
            if repeat:  # the first one warms up
                for kind, seconds in spent.items():
                    key = kind, rows
                    least[key] = min(seconds, least.get(key, seconds))
    for _, linear in sample:
        linear.set_layout(Layout())
    return least


def _fastest(
    kind: str, plain: Seconds, transposed: Seconds, copies: Mapping[bool, Seconds]
) -> Layout:
    """`copies`: the times of packed copies, by whether they are in fp16."""
    ratio = sum(transposed[kind, rows] / plain[kind, rows] for rows in ROWS) / len(ROWS)
    base = transposed if (turned := ratio < WORTHWHILE) else plain
    best, least = Layout(turned), 1.0
    for fp16, copied in copies.items():
        ratios = {rows: copied[kind, rows] / base[kind, rows] for rows in ROWS}
        pays = tuple(rows for rows in ROWS if ratios[rows] < WORTHWHILE)
        # Twice as fast at 16 rows is worth as much as twice as fast at one.
        total = math.prod(ratios[rows] for rows in pays)
        if total < least:
            best, least = Layout(turned, pays, fp16), total
    return best
