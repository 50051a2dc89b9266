"""The settings that a session is started with."""

from __future__ import annotations

from dataclasses import dataclass

from app.engine.events import Schedule
from decoding.params import Params


@dataclass(frozen=True, slots=True)
class SessionConfig:
    """`params`, `seed` and `schedule` may be changed by commands; the rest holds for the whole
    session."""

    params: Params
    seed: int
    schedule: Schedule = "race"
    system: str | None = None
    raw: bool = False
    stop_texts: tuple[str, ...] = ()
    ignore_eos: bool = False
