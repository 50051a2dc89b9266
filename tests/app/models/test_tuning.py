"""Threads and layouts are measured once a model and machine."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from itertools import accumulate
from operator import mul
from pathlib import Path

import platformdirs
import pytest
import torch

from app.models import tuning
from app.models.measured_file import read_tree
from app.models.tuning import device_name, medusa_tree, pass_cost, tune, tune_head
from decoding.cost.curve import Curve
from decoding.drafters import medusa_tree as measuring
from decoding.model.linears import ROWS, can_pack
from decoding.model.target import Target
from decoding.trees.static import Choices
from tests.decoding.drafters.test_medusa import heads_for
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


@pytest.mark.skipif(not can_pack(torch.float32), reason="torch has no oneDNN")
def test_threads_are_chosen_anew_without_copies_for_those_before(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tune(Target(build("llama")), None)
    ((key, entry),) = json.loads(path.read_text()).items()
    entry["layouts"] = {kind: [False, ROWS, False] for kind in entry["layouts"]}
    path.write_text(json.dumps({key: entry}))
    copied = []

    def fastest(target: Target) -> int:
        copied.append(sum(linear.packed_nbytes for _, linear in target.linears))
        return 1

    for quicker in (1.0, 0.6):
        seconds = quicker * entry["typical"]
        monkeypatch.setattr(tuning, "pass_seconds", lambda *_, seconds=seconds: seconds)
        monkeypatch.setattr(tuning, "_fastest", fastest)
        tune(target := Target(build("llama")), None)
        if not copied:
            assert all(linear.packed_nbytes for _, linear in target.linears)
    assert copied == [0]


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


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="processes have all cores")
def test_a_process_with_fewer_cores_measures_for_itself(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tuning, "pass_seconds", lambda *_: 1.0)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(8)))
    monkeypatch.setattr(tuning, "_fastest", lambda target: 7)
    assert tune(Target(build("llama")), None) == 7
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 1})
    monkeypatch.setattr(tuning, "_fastest", lambda target: 1)
    assert tune(Target(build("llama")), None) == 1


def test_threads_that_were_asked_for_are_taken_at_every_start(path: Path) -> None:
    asked = 1 + (os.cpu_count() or 1)
    for _ in range(2):
        assert tune(Target(build("llama")), asked) == asked == torch.get_num_threads()


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


def test_a_heads_layouts_of_an_older_version_are_replaced(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = Target(build("llama"))
    tune_head(eagle(target).head, target)
    kept = json.loads(path.read_text())
    for entry in kept.values():
        entry["layouts"].popitem()
    path.write_text(json.dumps(kept))
    tune_head(eagle(target).head, target)
    refuse_to_measure(monkeypatch)
    tune_head(eagle(target).head, target)


def test_medusas_tree_stays_until_another_one_is_clearly_faster(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = Target(build("llama"))
    heads = heads_for(target, 4)
    # As the demo's heads are on the demo's machine: two to four levels are about as fast.
    heads.accuracy = ((0.71, 0.08), (0.56, 0.1), (0.45, 0.1), (0.34, 0.09))
    draws = random.Random(0)

    def chosen(*passes: float) -> set[Choices]:
        """At twelve starts, whose measurements are up to a sixth too long."""
        found = set()
        for _ in range(12):
            jitter = [1 + draws.random() / 6 for _ in range(6)]
            times = (time * each for time, each in zip((0.05, 0.15), jitter, strict=False))
            monkeypatch.setattr(measuring, "seconds", lambda *_, times=times: next(times))
            verify = accumulate(map(mul, passes, jitter[2:]), max)
            cost = Curve(tuple(zip((1, 4, 8, 16), verify, strict=True)))
            found.add(medusa_tree(heads, target, 1, cost))
        return found

    with monkeypatch.context() as patch:
        patch.setattr(tuning, "keep_tree", lambda key, tree: None)
        assert {max(map(len, tree)) for tree in chosen(1.0, 1.5, 1.8, 2.4)} == {3, 4}
    (tree,) = chosen(1.0, 1.5, 1.8, 2.4)
    assert len(tree) > 1 and chosen(1.0, 4.0, 8.0, 16.0) == {((0,),)}
    heads.accuracy = ((0.5,), (0.4,))  # trained anew
    assert chosen(1.0, 1.0, 1.0, 1.0) == {((0,), (0, 0))}
    tune(target, 1)  # as after a start on a busy machine: what followed from that goes, too
    assert not any("Medusa" in key for key in json.loads(path.read_text()))


def test_gpus_of_one_machine_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tree that was chosen on one is not kept on another."""
    names = {0: "NVIDIA H100", 1: "NVIDIA RTX 4090"}
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: names[device.index])
    places = map(torch.device, ("cuda:0", "cuda:1", "cpu"))
    assert [*map(device_name, places)] == ["NVIDIA H100", "NVIDIA RTX 4090", "cpu"]


def test_a_start_on_a_busy_machine_does_not_change_medusas_tree(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = Target(build("llama"))
    heads = heads_for(target, 4)
    heads.accuracy = ((0.71, 0.08), (0.56, 0.1), (0.45, 0.1), (0.34, 0.09))
    cost = Curve(((1, 1.0), (4, 1.5), (8, 1.8), (16, 2.4)))

    def chosen(*draft_seconds: float) -> Choices:
        times = iter(draft_seconds)
        monkeypatch.setattr(measuring, "seconds", lambda *_: next(times))
        return medusa_tree(heads, target, 1, cost)

    calm = chosen(0.05, 0.15)
    assert len(calm) > 1 and chosen(0.05, 4.0) == chosen(2.0, 4.0) == calm
    (key,) = (key for key in json.loads(path.read_text()) if "Medusa" in key)
    for broken in ([0.05], ["x", 1], None, [-1.0, 1.0]):
        path.write_text(json.dumps({key: {"choices": calm, "draft_seconds": broken}}))
        assert chosen(0.05, 4.0) != calm  # nothing to hold it against


@pytest.mark.parametrize(
    "choices", [3, {}, [[]], [[0, 0, 0]], [[2]], [[-1]], [["x"]], [3], [[0], None], None]
)
def test_a_tree_that_the_heads_do_not_have_is_none(path: Path, choices: object) -> None:
    path.parent.mkdir()
    path.write_text(json.dumps({"key": {"choices": choices}}))
    assert read_tree(path, "key", ((0.5, 0.2), (0.4, 0.1))) is None


def test_where_nothing_can_be_kept_it_is_measured_all_the_same(path: Path) -> None:
    path.parent.parent.mkdir(exist_ok=True)
    path.parent.write_text("a file where the folder should be")
    assert tune(Target(build("llama")), 1) == 1
