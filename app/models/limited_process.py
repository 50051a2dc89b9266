"""Runs chat templates with limits on time and memory.

A template is a program that comes with a model. Jinja's sandbox does not limit time or memory.
"""

from __future__ import annotations

import gc
import math
import os
import signal
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection, Pipe
from threading import Lock
from typing import Any, NoReturn

import psutil

SECONDS = 10.0
BYTES = 1 << 30  # more than the process has before the call
_POLL_INTERVAL = 0.05
_PARENT_INTERVAL = 5.0  # how often an idle process looks whether its parent still lives


class LimitedProcess:
    """Calls `work` in a fork of this process that stays for the next call, since a fork takes much
    longer than to render a template. Create it before the weights are loaded: the fork keeps the
    memory that this process has now. Calls are serialized. Without `os.fork` there is no limit.
    """

    def __init__(self, work: Callable[..., str]) -> None:
        self._work = work
        self._lock = Lock()
        self._end: Callable[[], object] | None = None
        if hasattr(os, "fork"):
            self._fork()

    def __call__(self, *arguments: Any) -> str:
        """What `work` returns. The arguments must be picklable. Raises ValueError with the error
        of `work`, or with the limit that it exceeded, which ends the process; the next call forks
        again."""
        if not hasattr(os, "fork"):
            return self._work(*arguments)
        with self._lock:
            if self._end is None:
                self._fork()
            try:
                answer = self._ask(arguments)
            except BaseException:
                self.close()
                raise
        if isinstance(answer, ValueError):
            raise answer
        return str(answer)

    def close(self) -> None:
        """End the process; so does the garbage collection of this object."""
        if self._end is not None:
            self._end()
            self._end = None

    def _fork(self) -> None:
        self._pipe, theirs = Pipe()
        parent = os.getpid()
        child = os.fork()
        if child == 0:
            self._pipe.close()
            _serve(self._work, theirs, parent)
        theirs.close()
        self._process = psutil.Process(child)
        self._end = weakref.finalize(self, _end, self._pipe, child, parent)

    def _ask(self, arguments: tuple[Any, ...]) -> object:
        end = time.monotonic() + SECONDS
        try:
            most = self._process.memory_info().rss + BYTES
            self._pipe.send(arguments)
            while not self._pipe.poll(_POLL_INTERVAL):
                if time.monotonic() > end:
                    raise ValueError(f"it takes longer than {SECONDS:g} seconds")
                with suppress(psutil.Error):  # it has ended meanwhile
                    if self._process.memory_info().rss > most:
                        raise ValueError("it takes more than a GiB of memory")
            return self._pipe.recv()
        except (EOFError, OSError, psutil.Error) as error:
            raise ValueError("it ended the process") from error


def _serve(work: Callable[..., str], pipe: Connection, parent: int) -> NoReturn:
    """Answer calls in the fork until the parent ends. What both share must not be finalized here.
    Ctrl+C is for the parent."""
    gc.freeze()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    limit = 2 * math.ceil(SECONDS)
    try:
        while os.getppid() == parent:
            if not pipe.poll(_PARENT_INTERVAL):
                continue
            arguments = pipe.recv()
            signal.alarm(limit)  # ends it, if the parent does not
            try:
                answer: object = work(*arguments)
            except BaseException as error:
                answer = ValueError(str(error) or type(error).__name__)
            pipe.send(answer)
            signal.alarm(0)
    except (EOFError, OSError):
        pass
    finally:
        os._exit(0)


def _end(pipe: Connection, child: int, parent: int) -> None:
    if os.getpid() != parent:  # a fork of the parent has a copy of the object
        return
    pipe.close()
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
