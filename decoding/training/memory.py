"""Memory of the process that trains."""

from __future__ import annotations

import ctypes
import sys

_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3  # the options' numbers in malloc.h


def keep_freed_memory() -> None:
    """Have glibc keep the memory that the process frees. Each step of a training on a CPU frees
    gigabytes that the next one needs, and to get them from the kernel again, as zeros, takes time.
    Tensors above 32 MiB are given back: kept, they would leave gaps of all sizes."""
    if not sys.platform.startswith("linux"):
        return
    try:
        set_option = ctypes.CDLL(None).mallopt
    except AttributeError:  # another C library
        return
    set_option(_MMAP_THRESHOLD, 2**25)
    set_option(_TRIM_THRESHOLD, -1)  # never
    set_option(_TOP_PAD, 2**26)
