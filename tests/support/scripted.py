"""An engine that does only what the test tells it, and remembers what the app asked of it."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Mapping
from typing import Any, TypeVar

from app.engine.commands import Command
from app.engine.events import Event, LaneInfo, Metrics, Prefilled, RoundFinished
from app.text.token_event import TokenEvent
from decoding.params import Params
from decoding.round import Round, TokenFate

C = TypeVar("C", bound=Command)


class ScriptedEngine:
    def __init__(self) -> None:
        self.calls: list[Command | str] = []  # commands, "open" and "close", in order
        self._events: deque[Event] = deque()

    def emit(self, *events: Event) -> None:
        self._events.extend(events)

    def asked(self, kind: type[C]) -> list[C]:
        return [call for call in self.calls if isinstance(call, kind)]

    @property
    def opened(self) -> int:
        """How often."""
        return self.calls.count("open")

    def open(self) -> None:
        self.calls.append("open")

    def send(self, command: Command) -> None:
        self.calls.append(command)

    def drain(self) -> list[Event]:
        return [self._events.popleft() for _ in range(len(self._events))]

    def close(self) -> None:
        self.calls.append("close")


def lane(
    name: str,
    *,
    gamma: int = 0,
    title: str | None = None,
    available: bool = True,
    reason: str | None = None,
    enabled: bool = True,
    overrides: Mapping[str, Any] | None = None,
    note: str | None = None,
    trees: Mapping[str, int] | None = None,
) -> LaneInfo:
    title = title or name.capitalize()
    strategy = re.split("[:#]", name)[0]
    return LaneInfo(
        name, strategy, title, available, reason, enabled, gamma, note, trees or {}, overrides or {}
    )


def token(
    text: str, fate: TokenFate = TokenFate.ACCEPTED, index: int = 0, node: int = -1
) -> TokenEvent:
    return TokenEvent(0, text, fate, index, node)


def prefilled(name: str, text: str, ttft: float = 0.21) -> Prefilled:
    return Prefilled(name, ttft, token(text, TokenFate.FIRST, -1))


def metrics(passes: int = 17) -> Metrics:
    return Metrics(64, passes, 19.8, 1.77, 0.72, 2.9, (8, 6, 3, 1), 0.1, 0.2, 0.0, 0.3)


def stepped(
    name: str,
    accepted: list[str],
    rejected: list[str],
    last: str,
    now: Metrics | None = None,
    *,
    index: int = 0,
    params: Params | None = None,
) -> RoundFinished:
    """A round of a chain: what was accepted, what was not, and the target's own token."""
    nodes = len(accepted) + len(rejected) + 1
    record = Round(
        index=index,
        tokens=tuple(range(nodes)),
        parents=tuple(range(-1, nodes - 1)),
        accepted=tuple(range(1, len(accepted) + 1)),
        emitted=tuple(range(len(accepted) + 1)),
        tested=min(len(accepted) + 1, nodes - 1),
        draft_seconds=0.0,
        verify_seconds=0.0,
        accept_seconds=0.0,
        total_seconds=0.0,
    )
    fates = (
        [TokenFate.ACCEPTED] * len(accepted)
        + [TokenFate.REJECTED]
        + [TokenFate.DROPPED] * len(rejected)
    )
    drafted = zip((*accepted, *rejected), fates, strict=False)
    tokens = [token(text, fate, index, node) for node, (text, fate) in enumerate(drafted, 1)]
    end = TokenFate.CORRECTION if rejected else TokenFate.BONUS if accepted else TokenFate.PLAIN
    tokens.append(token(last, end, index))
    return RoundFinished(name, record, tuple(tokens), now or metrics(), {}, params)
