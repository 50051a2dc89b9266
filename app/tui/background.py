"""What may have to wait for a disk, beside the screen."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


async def run_in_background(act: Callable[[], T]) -> T:
    """What `act` returns or raises, on a thread of its own. Leaving the app would wait for the
    thread workers of Textual and for asyncio's threads; nobody waits for this one."""
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
