from __future__ import annotations

from pathlib import Path

import pytest

from app.history.recorder import Recorder
from app.history.store import Store
from tests.support.conversation import LOADED, SETTINGS, turn


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "conversations")


@pytest.fixture
def recorder(store: Store) -> Recorder:
    """It knows of the models, and nothing has been asked yet."""
    made = Recorder(store, SETTINGS)
    made.record([LOADED])
    return made


@pytest.fixture
def kept(store: Store, recorder: Recorder) -> Path:
    """A conversation of one turn, in the store."""
    recorder.record(turn(0, "Count!", 1.0, 0))
    recorder.close()
    assert recorder.path
    return recorder.path
