"""What `from decoding import ...` offers."""

from __future__ import annotations

import doctest
from pathlib import Path
from types import ModuleType

import pytest

import decoding
import decoding.training

ROOT = Path(__file__).parents[2]


def test_the_example_in_the_docstring_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    found = doctest.testmod(decoding)
    assert found.attempted > 5 and found.failed == 0


@pytest.mark.slow
def test_the_example_of_training_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    found = doctest.testmod(decoding.training)
    assert found.attempted > 10 and found.failed == 0


@pytest.mark.parametrize("module", [decoding, decoding.training])
def test_every_public_name_is_there_and_documented(module: ModuleType) -> None:
    for name in module.__all__:
        assert getattr(module, name).__doc__, name


def test_other_names_are_no_attributes() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = decoding.Nothing
