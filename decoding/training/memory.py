"""Memory of the process that trains."""

from __future__ import annotations

import ctypes
import sys

_TRIM_THRESHOLD, _TOP_PAD, _MMAP_MAX = -1, -2, -4  # the options' numbers in malloc.h


def keep_freed_memory() -> None:
    """Have glibc keep the memory that the process frees. Each step of a training on a CPU frees
    gigabytes that the next one needs: to get them from the kernel again, as zeros, takes up to a
    fifth of the time."""
    if not sys.platform.startswith("linux"):
        return
    try:
        set_option = ctypes.CDLL(None).mallopt
    except AttributeError:  # another C library
        return
    set_option(_MMAP_MAX, 0)
    set_option(_TRIM_THRESHOLD, -1)  # never
    set_option(_TOP_PAD, 2**26)
