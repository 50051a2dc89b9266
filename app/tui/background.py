"""Work that may have to wait for a disk, off the screen's thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


async def run_in_background(act: Callable[[], T]) -> T:
    """Run `act` on a thread of its own, and return or raise what it does. Leaving the app waits for
    Textual's thread workers and for asyncio's threads, but not for this one."""
    future: Future[T] = Future()
    future.set_running_or_notify_cancel()  # it can't be taken back

    def work() -> None:
        try:
            result = act()
        except Exception as error:
            future.set_exception(error)
        else:
            future.set_result(result)

    threading.Thread(target=work, daemon=True).start()
    return await asyncio.wrap_future(future)
