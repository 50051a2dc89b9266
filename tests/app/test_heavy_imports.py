"""The garbage collector pauses for the first heavy imports, and leaves their objects out."""

from __future__ import annotations

import gc
import sys

import pytest

from app.heavy_imports import heavy_imports


def test_the_collector_pauses_and_leaves_the_imported_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    before = gc.get_freeze_count()
    try:
        with pytest.raises(ImportError), heavy_imports():
            assert not gc.isenabled()
            raise ImportError
        assert gc.isenabled()
        assert gc.get_freeze_count() > before
    finally:
        gc.unfreeze()


def test_later_imports_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", sys)
    before = gc.get_freeze_count()
    with heavy_imports():
        assert gc.isenabled()
    assert gc.get_freeze_count() == before
