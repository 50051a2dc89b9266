from __future__ import annotations

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "tui")]

import pytest  # noqa: E402
from conversation import LOADED, SETTINGS, turn  # noqa: E402

from app.history.recorder import Recorder  # noqa: E402
from app.history.store import Store  # noqa: E402


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "conversations")


@pytest.fixture
def recorder(store: Store) -> Recorder:
    """It knows of the models, and nothing has been asked yet."""
    made = Recorder(store, SETTINGS)
    made.take([LOADED])
    return made


@pytest.fixture
def kept(store: Store, recorder: Recorder) -> Path:
    """A conversation of one turn, in the store."""
    recorder.take(turn(0, "Count!", 1.0, 0))
    recorder.close()
    assert recorder.path
    return recorder.path
