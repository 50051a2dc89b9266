from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import pytest  # noqa: E402
from listening import DEADLINE, Listener, Open  # noqa: E402

from app.family import Family, load_family  # noqa: E402
from app.lane import Lane  # noqa: E402
from app.lane_settings import parse_strategies  # noqa: E402
from app.session import Session  # noqa: E402
from app.settings import ModelOptions  # noqa: E402
from decoding.params import Params  # noqa: E402


@pytest.fixture(scope="session")
def options(family_folders: Any) -> ModelOptions:
    return ModelOptions(
        family_folders.target, family_folders.draft, device="cpu", dtype="float32", threads=1
    )


@pytest.fixture(scope="session")
def family(options: ModelOptions) -> Family:
    return load_family(options)


@pytest.fixture
def open_session(options: ModelOptions) -> Iterator[Open]:
    """Starts sessions on the tiny family, and closes them in the end."""
    listeners: list[Listener] = []

    def start(strategies: str = "ar,draft,lookup", **settings: Any) -> Listener:
        settings = {
            "params": Params(gamma=3, max_new_tokens=12),
            "seed": 7,
            "ignore_eos": True,
            **settings,
        }
        chosen = settings.pop("options", options)
        params = settings.pop("params")
        listener = Listener(Session(chosen, parse_strategies(strategies), params, **settings))
        listeners.append(listener)
        listener.session.open()
        return listener

    yield start
    for listener in listeners:
        listener.session.close()
    # Two loads at once break transformers for good: each patches tie_weights away and restores
    # what it found. So a thread that is still loading must not meet the next test's load.
    for thread in threading.enumerate():
        if thread.name == "specchat-decode":
            thread.join(DEADLINE)


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounds that last long enough to be interrupted."""
    step = Lane.step

    def slowly(self: Lane, params: Params) -> Any:
        if self.finished is None:
            time.sleep(0.02)
        return step(self, params)

    monkeypatch.setattr(Lane, "step", slowly)
