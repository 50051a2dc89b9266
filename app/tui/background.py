"""Awaits blocking work, such as disk access, off the screen's thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from app.daemon_threads import in_background

T = TypeVar("T")


async def run_in_background(act: Callable[[], T]) -> T:
    """Return the result of `act`, or its error. Unlike Textual's thread workers and asyncio's
    threads, it does not delay leaving the app."""
    return await asyncio.wrap_future(in_background(act))
