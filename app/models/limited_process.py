"""Runs chat templates with limits on time and memory.

A template is a program that comes with a model. Jinja's sandbox does not limit time or memory.
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn

import psutil

SECONDS = 10.0
BYTES = 1 << 30  # more than this process has
_POLL_INTERVAL = 0.05


def run_limited(work: Callable[[], str]) -> str:
    """The text that `work` returns, run in a fork of this process. Raises ValueError with the error
    of `work`, or with the limit that it exceeded."""
    if not hasattr(os, "fork"):
        return work()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        _answer(work, writing)
    os.close(writing)
    try:
        return _listen(child, reading)
    finally:
        os.close(reading)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _answer(work: Callable[[], str], writing: int) -> NoReturn:
    """Runs in the fork, which must not run finalizers of what it shares with its parent."""
    gc.disable()
    try:
        answer = {"text": work()}
    except BaseException as error:
        answer = {"error": str(error) or type(error).__name__}
    try:
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(json.dumps(answer).encode())
    finally:
        os._exit(0)


def _listen(child: int, reading: int) -> str:
    process = psutil.Process(child)
    end, most = time.monotonic() + SECONDS, process.memory_info().rss + BYTES
    parts: list[bytes] = []
    while True:
        if select.select([reading], [], [], _POLL_INTERVAL)[0]:
            part = os.read(reading, 1 << 16)
            if not part:
                break
            parts.append(part)
        if time.monotonic() > end:
            raise ValueError(f"it takes longer than {SECONDS:g} seconds")
        with suppress(psutil.Error):  # it has ended meanwhile
            if process.memory_info().rss > most or sum(map(len, parts)) > BYTES:
                raise ValueError("it takes more than a GiB of memory")
    answer = json.loads(b"".join(parts) or b'{"error": "it ended the process"}')
    if "error" in answer:
        raise ValueError(answer["error"])
    return str(answer["text"])
