"""Threads and layouts are measured once a model and machine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import platformdirs
import pytest
import torch

from app.models import tuning
from app.models.tuning import tune, tune_head
from decoding.model.target import Target
from tests.support.eagle_drafts import eagle
from tests.support.families import build


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda name: tmp_path / name)
    threads = torch.get_num_threads()
    yield tmp_path / "specchat" / "measured.json"
    torch.set_num_threads(threads)


def refuse_to_measure(monkeypatch: pytest.MonkeyPatch) -> None:
    def measured(*args: object) -> None:
        raise AssertionError("measured again")

    monkeypatch.setattr(tuning, "pass_seconds", measured)
    monkeypatch.setattr("decoding.model.layouts.fastest_layouts", measured)


@pytest.mark.parametrize("threads", [None, 1])
@pytest.mark.parametrize("family", ["llama", "gpt2"])  # the second has no layouts to choose
def test_the_second_start_measures_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch, family: str, threads: int | None
) -> None:
    first = tune(Target(build(family)), threads)
    assert path.is_file()
    refuse_to_measure(monkeypatch)
    assert tune(Target(build(family)), threads) == first == torch.get_num_threads()


def test_another_model_is_measured(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tune(Target(build("llama")), None)
    before = path.read_text()
    refuse_to_measure(monkeypatch)
    with pytest.raises(AssertionError, match="measured again"):
        tune(Target(build("qwen2")), None)
    assert path.read_text() == before


@pytest.mark.parametrize("text", ["", "[]", "{", '{"KEY": 3}', '{"KEY": {"threads": "x"}}'])
def test_a_file_that_says_nothing_is_written_anew(
    path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    tune(Target(build("llama")), 1)
    (key,) = json.loads(path.read_text())
    path.write_text(text.replace("KEY", key))
    tune(Target(build("llama")), 1)
    refuse_to_measure(monkeypatch)
    assert tune(Target(build("llama")), 1) == 1


def test_a_heads_layouts_are_kept_too(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = Target(build("llama"))
    tune_head(eagle(target).head, target)
    refuse_to_measure(monkeypatch)
    tune_head(eagle(target).head, target)


def test_where_nothing_can_be_kept_it_is_measured_all_the_same(path: Path) -> None:
    path.parent.parent.mkdir(exist_ok=True)
    path.parent.write_text("a file where the folder should be")
    assert tune(Target(build("llama")), 1) == 1
