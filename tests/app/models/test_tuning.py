"""Threads and layouts are measured once a model and machine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import platformdirs
import pytest
import torch

from app.models import tuning
from app.models.tuning import pass_cost, tune, tune_head
from decoding.model.target import Target
from tests.support.eagle_drafts import eagle
from tests.support.families import FAMILIES, build, filled


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda name: tmp_path / name)
    threads = torch.get_num_threads()
    yield tmp_path / "specchat" / "measured.json"
    torch.set_num_threads(threads)


def refuse_to_measure(monkeypatch: pytest.MonkeyPatch, typical: float = 1.0) -> None:
    """But for one pass, which takes `typical` seconds."""

    def measured(*args: object) -> None:
        raise AssertionError("measured again")

    monkeypatch.setattr(tuning, "pass_seconds", lambda target, nodes: typical)
    monkeypatch.setattr(tuning, "_fastest", measured)
    monkeypatch.setattr(tuning, "verify_cost", measured)
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


def test_what_a_busy_machine_measured_is_measured_again(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tune(Target(build("llama")), None)
    ((key, entry),) = json.loads(path.read_text()).items()
    refuse_to_measure(monkeypatch, typical=0.8 * entry["typical"])
    tune(Target(build("llama")), None)
    refuse_to_measure(monkeypatch, typical=0.6 * entry["typical"])
    with pytest.raises(AssertionError, match="measured again"):
        tune(Target(build("llama")), None)
    # Passes that take long are not tried again at each start.
    path.write_text(json.dumps({key: {**entry, "typical": 1.0}}))
    tune(Target(build("llama")), None)


def test_the_cost_of_passes_is_kept_and_goes_with_the_rest(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model_class, config = FAMILIES["llama"]()
    config.max_position_embeddings = 256
    target = Target(filled(model_class(config)))
    # What is packed takes memory, by which a model is not to be known.
    monkeypatch.setattr("decoding.model.layouts.WORTHWHILE", 100.0)
    tune(target, 1)
    first = pass_cost(target, 1)
    ((key, entry),) = json.loads(path.read_text()).items()
    with monkeypatch.context() as patch:
        # Both times were measured, and the machine may have been busy at one of them.
        refuse_to_measure(patch, typical=max(first(tuning.TYPICAL_ROUND), entry["typical"]))
        tune(target, 1)
        assert pass_cost(target, 1) == first
    # It was measured beside something else, and the machine is quiet now.
    slow = [[nodes, 0.05 + cost] for nodes, cost in entry["passes"]]
    path.write_text(json.dumps({key: {**entry, "passes": slow}}))
    tune(target, 1)
    assert json.loads(path.read_text())[key]["passes"] == []


def test_another_model_is_measured(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tune(Target(build("llama")), None)
    before = path.read_text()
    refuse_to_measure(monkeypatch)
    with pytest.raises(AssertionError, match="measured again"):
        tune(Target(build("qwen2")), None)
    assert path.read_text() == before


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"KEY": 3}', '{"KEY": {"threads": "x"}}', '{"KEY": {"layouts": {}}}']
)
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
