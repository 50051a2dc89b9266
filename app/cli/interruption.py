"""Ctrl+C and signals that end a command, which then prints what it has."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(slots=True)
class Interruption:
    """`code`: the exit code of a command that was interrupted; 0 if it was not."""

    code: int = 0


@contextmanager
def interruptible() -> Iterator[Interruption]:
    """A block that Ctrl+C, SIGTERM and SIGHUP end, unless they are ignored, as under nohup; the
    command goes on behind it."""
    found, ended = Interruption(), list[int]()

    def interrupt(number: int, frame: object) -> None:
        ended.append(number)
        raise KeyboardInterrupt

    kinds = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    heard = [kind for kind in kinds if signal.getsignal(kind) != signal.SIG_IGN]
    before = {kind: signal.signal(kind, interrupt) for kind in heard}
    try:
        yield found
    except KeyboardInterrupt:
        found.code = 128 + (ended or [signal.SIGINT])[0]
    finally:
        for kind, handler in before.items():
            signal.signal(kind, handler)
