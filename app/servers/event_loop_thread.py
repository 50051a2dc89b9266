"""An event loop on a thread of its own, for streams that arrive while other lanes decode."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from contextlib import closing
from typing import Any, TypeVar

T = TypeVar("T")


class EventLoopThread:
    """The daemon thread is started with the first work."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Run a coroutine on the loop; cancelling the future cancels it."""
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            threading.Thread(
                target=_run, args=(self._loop,), name="specchat-servers", daemon=True
            ).start()
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def close(self) -> None:
        """Cancel all work, then end the thread; never waits."""
        if self._loop is not None:
            asyncio.run_coroutine_threadsafe(_wind_up(self._loop), self._loop)
            self._loop = None


def _run(loop: asyncio.AbstractEventLoop) -> None:
    with closing(loop):  # which also frees its sockets
        loop.run_forever()


async def _wind_up(loop: asyncio.AbstractEventLoop) -> None:
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await loop.shutdown_asyncgens()
    loop.stop()
