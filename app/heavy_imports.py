"""Importing torch and transformers, and Python's garbage collector."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def heavy_imports() -> Iterator[None]:
    """Import torch and what needs it in this block. The imports make about a million objects, which
    all stay: the collector would go through them several times meanwhile, a sixth of the time, and
    again in the middle of an answer, for a third of a second. So it pauses, and then leaves them
    out for good. Does nothing if torch is there: what was made since then may become garbage."""
    if "torch" in sys.modules:
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
