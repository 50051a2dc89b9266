"""Ctrl+C and signals that end a command, which then prints what it has."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager


@contextmanager
def like_ctrl_c(ended: list[int]) -> Iterator[None]:
    """Turn SIGTERM and SIGHUP into KeyboardInterrupt, unless they are ignored, as under nohup;
    their numbers are appended to `ended`."""

    def interrupt(number: int, frame: object) -> None:
        ended.append(number)
        raise KeyboardInterrupt

    kinds = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    heard = [kind for kind in kinds if signal.getsignal(kind) != signal.SIG_IGN]
    before = {kind: signal.signal(kind, interrupt) for kind in heard}
    try:
        yield
    finally:
        for kind, handler in before.items():
            signal.signal(kind, handler)


def exit_code(ended: Sequence[int]) -> int:
    """That of a command which these signals ended, or Ctrl+C."""
    return 128 + (ended or [signal.SIGINT])[0]
