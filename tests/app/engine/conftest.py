from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from app.config.model_options import ModelOptions
from app.config.overrides import parse_strategies
from app.engine.events import Event, RoundFinished
from app.engine.mailbox import Mailbox
from app.engine.session import Session
from app.engine.session_config import SessionConfig
from app.models.load_models import load_models
from app.models.loaded import LoadedModels
from decoding.params import Params
from tests.support.listening import DEADLINE, Listener, Open


@pytest.fixture(scope="session")
def options(family_folders: Any) -> ModelOptions:
    drafters = {"draft": family_folders.draft}
    return ModelOptions(family_folders.target, drafters, device="cpu", dtype="float32", threads=1)


@pytest.fixture(scope="session")
def family(options: ModelOptions) -> LoadedModels:
    return load_models(options)


@pytest.fixture
def open_session(options: ModelOptions) -> Iterator[Open]:
    """Starts sessions on the tiny family, and closes them in the end."""
    listeners: list[Listener] = []

    def start(strategies: str = "ar,draft,lookup", **settings: Any) -> Listener:
        settings = {
            "params": Params(gamma=3, max_new_tokens=12),
            "seed": 7,
            "schedule": "fair",
            "ignore_eos": True,
            **settings,
        }
        chosen = settings.pop("options", options)
        first_run = settings.pop("first_run", 0)
        servers = settings.pop("servers", ())
        config = SessionConfig(**settings)
        specs = (*parse_strategies(strategies), *servers)
        session = Session(chosen, specs, config, first_run=first_run)
        listener = Listener(session)
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
def lockstep(monkeypatch: pytest.MonkeyPatch) -> None:
    """No round is made before the last one was heard: a run waits for who wants to interrupt it."""
    emit = Mailbox.emit

    def and_wait(self: Mailbox, event: Event) -> None:
        emit(self, event)
        until = time.monotonic() + DEADLINE
        while isinstance(event, RoundFinished) and self.events and not self.closed:
            assert time.monotonic() < until, "nobody listens"
            time.sleep(0.0002)

    monkeypatch.setattr(Mailbox, "emit", and_wait)
