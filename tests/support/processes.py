"""Servers in processes of their own, for as long as a test needs them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]


@contextmanager
def fake_server() -> Iterator[str]:
    """The address of `tests.support.fake_server`; a path behind it chooses what it does."""
    command = [sys.executable, "-m", "tests.support.fake_server"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.kill()
