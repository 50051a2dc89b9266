"""Freed memory is used again, without new pages from the kernel."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

FAULTS = """
import resource, sys
import torch
from decoding.training.memory import keep_freed_memory

def step():
    x = torch.ones(300, 10_000)
    for _ in range(5):
        x = (x * 2).cos()

if sys.argv[1] == "keep":
    keep_freed_memory()
for _ in range(4):  # until the heap has its final size
    step()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(12):
    step()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="an option of glibc")
def test_freed_memory_is_kept() -> None:
    """Beside a process that returns all blocks, which glibc otherwise does now and then."""
    returning = {**os.environ, "MALLOC_MMAP_THRESHOLD_": "131072"}
    keep, release = (
        int(subprocess.check_output([sys.executable, "-c", FAULTS, how], env=returning))
        for how in ("keep", "release")
    )
    assert keep < release / 10
