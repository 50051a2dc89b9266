"""Chooses the number of torch threads, for headless runs and the screen alike."""

from __future__ import annotations

import os

import torch

from decoding.cost.measure import pass_seconds
from decoding.model.target import Target

TYPICAL_ROUND = 5  # nodes: a root and four drafts


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
