"""The interface between the screen and an engine: commands in, events out."""

from __future__ import annotations

from typing import Protocol

from app.engine.commands import Command
from app.engine.events import Event


class Engine(Protocol):
    """No call blocks; everything that happens comes back from `drain`."""

    def open(self) -> None:
        """Begin loading on the engine's own thread. After a failure or an exit: start again with
        everything that was sent before, and continue the conversation."""

    def send(self, command: Command) -> None:
        """Pass a command on; its effects come back as events."""

    def drain(self) -> list[Event]:
        """Return all events since the last call, oldest first."""

    def close(self) -> None:
        """End the thread as soon as it can; never waits."""
