"""What the screen needs of an engine: commands in, events out."""

from __future__ import annotations

from typing import Protocol

from app.engine.commands import Command
from app.engine.events import Event


class Engine(Protocol):
    """No call blocks; everything that happens comes back from `drain`."""

    def open(self) -> None:
        """Begin loading on the engine's own thread. Where that failed, or the engine has exited:
        begin anew, with everything it was sent, and continue the conversation."""

    def send(self, command: Command) -> None: ...

    def drain(self) -> list[Event]:
        """All events since the last call, oldest first."""

    def close(self) -> None:
        """End the thread as soon as it can; never waits."""
