"""What the app is started with."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from app.config.model_options import ModelOptions
from app.config.presets import Presets
from app.engine.events import LaneInfo, Schedule
from app.history.recorder import Recorder
from app.models.library import ModelLibrary
from app.tui.themes import DARK
from decoding.params import Params


@dataclass(frozen=True, slots=True, kw_only=True)
class Startup:
    params: Params = field(default_factory=Params)
    lanes: tuple[LaneInfo, ...] = ()  # shown until the engine has loaded and reports its own
    schedule: Schedule = "race"
    seed: int | None = None
    models: ModelOptions = field(default_factory=ModelOptions)  # what the engine loads
    library: ModelLibrary | None = None  # None: models can't be changed
    presets: Presets = field(default_factory=Presets)
    recorder: Recorder | None = None  # None: conversations are not kept
    theme: str = DARK.name
    keys: Mapping[str, str] = field(default_factory=dict)  # the user's own, by binding id
    newcomer: bool = False  # the prompt shows an example
    clock: Callable[[], float] = time.perf_counter
