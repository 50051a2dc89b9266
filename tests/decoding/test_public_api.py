"""What `from decoding import ...` offers."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

import decoding

ROOT = Path(__file__).parents[2]


def test_the_example_in_the_docstring_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    found = doctest.testmod(decoding)
    assert found.attempted > 5 and found.failed == 0


@pytest.mark.parametrize("name", decoding.__all__)
def test_every_public_name_is_there_and_documented(name: str) -> None:
    assert getattr(decoding, name).__doc__


def test_other_names_are_no_attributes() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Drafter'"):
        _ = decoding.Drafter
