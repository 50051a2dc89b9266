"""Runs blocking work, such as disk access, off the screen's thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


async def run_in_background(act: Callable[[], T]) -> T:
    """Run `act` on a daemon thread, and return its result or raise its error. Unlike Textual's
    thread workers and asyncio's threads, it does not delay leaving the app."""
    future: Future[T] = Future()
    future.set_running_or_notify_cancel()  # it can't be cancelled

    def work() -> None:
        try:
            result = act()
        except Exception as error:
            future.set_exception(error)
        else:
            future.set_result(result)

    threading.Thread(target=work, daemon=True).start()
    return await asyncio.wrap_future(future)
