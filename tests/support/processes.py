"""Processes beside that of the tests: servers for as long as a test needs them, and a pair that
trains together."""

from __future__ import annotations

import multiprocessing
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.synchronize import Barrier
from pathlib import Path

ROOT = Path(__file__).parents[2]
PATIENCE = 240.0  # seconds, on a busy machine


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


def in_two_processes(work: Callable[[], object], folder: Path) -> list[str]:
    """Do `work` in two processes that know of each other what `torchrun` tells; what each said to
    stderr. They are forks: to import all libraries twice takes longer than most work."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    said = [folder / f"stderr-{rank}" for rank in range(2)]
    fork = multiprocessing.get_context("fork")
    both_done = fork.Barrier(2, timeout=PATIENCE)
    pair = [
        fork.Process(target=_work_as, args=(rank, port, path, work, both_done))
        for rank, path in enumerate(said)
    ]
    for process in pair:
        process.start()
    for process in pair:
        process.join(PATIENCE)
        process.kill()
        process.join()
    texts = [path.read_text() for path in said]
    assert [process.exitcode for process in pair] == [0, 0], texts
    return texts


def _work_as(
    rank: int, port: int, path: Path, work: Callable[[], object], both_done: Barrier
) -> None:
    from accelerate.state import AcceleratorState

    AcceleratorState._reset_state(reset_partial_state=True)  # that of one process, from before
    os.environ |= {
        "RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2",
        "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port),
    }  # fmt: skip
    with path.open("w") as sys.stderr:
        try:
            work()
        finally:
            both_done.wait()  # the first serves what the other asks, as long as it lives
