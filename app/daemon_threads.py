"""Runs blocking work, such as disk access, on daemon threads, for which no exit waits."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from threading import Thread
from typing import TypeVar

T = TypeVar("T")


def in_background(act: Callable[[], T]) -> Future[T]:
    """Return the future result or error of `act`, which can't be cancelled."""
    future: Future[T] = Future()
    future.set_running_or_notify_cancel()

    def work() -> None:
        try:
            result = act()
        except Exception as error:
            future.set_exception(error)
        else:
            future.set_result(result)

    Thread(target=work, daemon=True).start()
    return future
