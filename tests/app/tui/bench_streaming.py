"""What streaming costs: four lanes, 50 tokens a second each, with much text already there.

    python -m tests.app.tui.bench_streaming [--tokens-before 2000] [--rate 50] [--size 160x48]

Runs the app in a pseudo terminal (Textual leaves out half of the work when it has none) and prints
the CPU time of everything but the producer, and the lag of the event loop. Not a test: the figures
belong to a machine.
"""

from __future__ import annotations

import argparse
import asyncio
import fcntl
import json
import os
import pty
import struct
import sys
import tempfile
import termios
import threading
import time
from pathlib import Path

from app.engine.events import Loaded, Prefilled, RoundFinished, RunStarted
from app.tui.app import SpecchatApp
from app.tui.state.startup import Startup
from decoding.round import TokenFate
from tests.support.scripted import ScriptedEngine, lane, metrics, stepped, token

LANES = tuple(lane(name, gamma=4) for name in ("ar", "draft", "lookup", "draft-only"))
WORDS = ("The", "capital", "of", "France", "is", "Paris,", "a", "city", "on", "the", "Seine.")


class Producer(ScriptedEngine):
    """Emits rounds of three accepted tokens, a ghost and a correction from a thread."""

    def __init__(self, before: int, rate: float) -> None:
        super().__init__()
        self.cpu_seconds = 0.0
        self._before, self._rate = before, rate
        self._count = 0

    def open(self) -> None:
        names = tuple(info.name for info in LANES)
        self.emit(Loaded("bench", "cpu", "float32", 1, 4096, LANES))
        self.emit(RunStarted(0, 0, "Go", 1, 0, names))
        for name in names:
            self.emit(Prefilled(name, 0.1, token("The", TokenFate.FIRST)))
            for _ in range(self._before // 4):
                self.emit(self._round(name))
        threading.Thread(target=self._stream, args=(names,), daemon=True).start()

    def _round(self, name: str) -> RoundFinished:
        self._count += 1
        words = [" " + WORDS[(self._count + i) % len(WORDS)] for i in range(5)]
        return stepped(name, words[:3], [words[3]], words[4], metrics(self._count))

    def _stream(self, names: tuple[str, ...]) -> None:
        due = time.perf_counter()
        while True:
            for name in names:
                self.emit(self._round(name))
            self.cpu_seconds = time.thread_time()
            due += 4 / self._rate
            time.sleep(max(0.0, due - time.perf_counter()))


class Measured(SpecchatApp):
    def __init__(self, engine: Producer, seconds: float, out: str) -> None:
        super().__init__(engine, Startup(lanes=LANES))
        self._producer, self._seconds, self._out = engine, seconds, out

    def on_mount(self) -> None:
        self.run_worker(self._measure())

    async def _measure(self) -> None:
        await asyncio.sleep(3)  # the text that is there before is being taken in
        lags = []
        cpu, own = time.process_time(), self._producer.cpu_seconds
        start = time.perf_counter()
        while (now := time.perf_counter()) - start < self._seconds:
            await asyncio.sleep(0.01)
            lags.append(time.perf_counter() - now - 0.01)
        used = time.process_time() - cpu - (self._producer.cpu_seconds - own)
        lags.sort()
        result = {
            "cpu_percent": round(100 * used / (now - start), 1),
            "lag_p50_ms": round(1000 * lags[len(lags) // 2], 1),
            "lag_p95_ms": round(1000 * lags[int(len(lags) * 0.95)], 1),
            "lag_max_ms": round(1000 * lags[-1], 1),
        }
        Path(self._out).write_text(json.dumps(result))
        self.exit()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens-before", type=int, default=2000)
    parser.add_argument("--rate", type=float, default=50, help="tokens a second a lane")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--size", default="160x48")
    args = parser.parse_args()
    columns, rows = map(int, args.size.split("x"))
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "result.json")
        child, terminal = pty.fork()
        if child == 0:
            os.environ.update(TERM="xterm-256color", COLORTERM="truecolor")
            time.sleep(0.2)  # until the size is set
            Measured(Producer(args.tokens_before, args.rate), args.seconds, out).run()
            os._exit(0)
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        last = b""
        try:
            while chunk := os.read(terminal, 65536):
                last = (last + chunk)[-4000:]
        except OSError:  # Linux says so when the other end is closed
            pass
        os.waitpid(child, 0)
        if not Path(out).exists():
            sys.exit(last.decode(errors="replace"))
        print(Path(out).read_text())


if __name__ == "__main__":
    main()
