"""Lanes and peers in one process."""

from __future__ import annotations

import json
import os
import shutil
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.cli import bench, terminal
from app.config.model_options import ModelOptions
from app.engine import peers
from app.engine.contest import answer_in_turn
from app.engine.lane import Lane
from app.models.loading import load_model
from decoding.model.target import Target
from decoding.params import Params
from tests.conftest import FamilyFolders, Specchat


def test_lanes_and_generate_say_the_same(specchat: Specchat, family_folders: FamilyFolders) -> None:
    models = ("--target", family_folders.target, "--draft", family_folders.draft)
    asked = {("the fox",): "animals", ("lazy dog 🦊",): "animals", ("and", "the"): "words"}
    prompts = "\n".join(json.dumps({"turns": t, "category": c}) for t, c in asked.items())
    arguments = (
        "bench", *models, "--prompts", "-", "--strategies", "ar,draft:gamma=3,lookup",
        "--peers", "hf,hf-assisted", "--repeats", "2", "--max-new-tokens", "16",
        "--simulate-acceptance", "1", "--simulate-acceptance", "0", "--batch", "1,2",
    )  # fmt: skip
    done = specchat(*arguments, "--json", stdin=prompts)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["prompts"], report["repeats"], report["batch_size"]) == (4, 2, 1)
    rows = {row["name"]: row for row in report["contestants"]}
    simulated = ["simulated 1", "simulated 0"]
    assert list(rows) == ["ar", "draft:gamma=3", "lookup", "hf", "hf-assisted", *simulated]
    for row in rows.values():
        assert row["matches_ar"] == 4
        assert row["tokens_per_second"] > 0
        assert row["speedup_low"] <= row["speedup"] <= row["speedup_high"]
    assert rows["ar"]["speedup"] == 1.0 and rows["ar"]["tokens_per_pass"] == 1.0
    assert rows["draft:gamma=3"]["tokens_per_pass"] > 1.0
    assert rows["hf"]["acceptance_rate"] is None and rows["hf"]["round_seconds"] is None
    assert [rows[name]["acceptance_rate"] for name in simulated] == [1.0, 0.0]
    assert rows["simulated 0"]["tokens_per_pass"] == 1.0 < rows["simulated 1"]["tokens_per_pass"]
    assert rows["ar"]["round_seconds"]["verify"] > 0 and report["weights"]["seconds"] > 0
    draft = rows["draft:gamma=3"]
    assert list(draft["categories"]) == ["animals", "words"]
    by_category = [each["tokens_per_pass"] for each in draft["categories"].values()]
    assert min(by_category) <= draft["tokens_per_pass"] <= max(by_category)

    batches = {each["name"]: each for each in report["batches"]["contestants"]}
    assert list(batches) == ["draft:gamma=3", "lookup", *simulated]
    for each in batches.values():
        assert each["baseline"] == "ar" and [s["sequences"] for s in each["sizes"]] == [1, 2]
    best = batches["simulated 1"]["sizes"]
    assert best[1]["baseline_tokens_per_second"] > 0 and best[0]["speedup"] > 0

    table = specchat(*arguments, "--repeats", "1", "--max-new-tokens", "4", stdin=prompts).stdout
    assert "4 of 4" in table and "batch size 1" in table and "hf-assisted" in table
    for heading in ("a round", "speedup (τ)", "animals", "of weights once takes", "at once"):
        assert heading in table


@pytest.mark.parametrize("answers", [1, 2])
def test_a_signal_keeps_the_repeats_that_were_done(
    specchat: Specchat,
    family_folders: FamilyFolders,
    monkeypatch: pytest.MonkeyPatch,
    answers: int,
) -> None:
    asked: list[int] = []

    def interrupted(contestants: Any, ids: Any, index: int, turn: int, **more: Any) -> Any:
        asked.append(index)
        if len(asked) > answers:  # the first one is not timed
            os.kill(os.getpid(), signal.SIGTERM)
        return answer_in_turn(contestants, ids, index, turn, **more)

    monkeypatch.setattr(bench, "answer_in_turn", interrupted)
    done = specchat(
        "bench", "--target", family_folders.target, "--prompt", "the fox", "--strategies",
        "ar,lookup", "--repeats", "9", "--max-new-tokens", "4", "--batch", "1", "--json",
    )  # fmt: skip
    assert done.returncode == 128 + signal.SIGTERM
    if answers == 1:
        assert done.stdout == ""
    else:
        report = json.loads(done.stdout)
        assert report["repeats"] == 1 and report["batches"] is None
        assert [row["name"] for row in report["contestants"]] == ["ar", "lookup"]


def test_reduced_keys_and_values_stand_beside_whole_ones(
    specchat: Specchat, family_folders: FamilyFolders
) -> None:
    models = ("--target", family_folders.target, "--draft", family_folders.draft)
    arguments = (
        "bench", *models, "--prompt", "the fox", "--strategies", "ar,draft", "--repeats", "1",
        "--max-new-tokens", "16", "--kv-cache", "int8", "--batch", "1,2",
    )  # fmt: skip
    report = json.loads(specchat(*arguments, "--json").stdout)
    rows = {row["name"]: row["matches_ar"] for row in report["contestants"]}
    assert list(rows) == ["ar", "draft", "ar, whole cache", "draft, whole cache"]
    assert rows["draft"] == 1  # exact towards the target with this cache
    assert rows["draft, whole cache"] == rows["ar, whole cache"]
    cost = report["kv_cache_cost"]
    assert report["kv_cache"] == "int8" and cost["same_answers"] == rows["ar, whole cache"]
    assert cost["memory"] == (8 + 4) / (8 * 4)  # of heads of 8 float32 numbers
    (batches,) = report["batches"]["contestants"]  # of such a cache
    assert batches["name"] == "draft" and batches["baseline"] == "ar"
    text = specchat(*arguments).stdout
    assert "int8, 38% of the memory: 1 of 1 answers of ar are as" in " ".join(text.split())
    assert "that were measured" in text


def test_only_lanes_that_should_say_the_same_are_compared(
    specchat: Specchat, family_folders: FamilyFolders
) -> None:
    own = [f"lookup:{it}" for it in ("temperature=0.5", "max_new_tokens=2", "presence_penalty=1")]
    done = specchat(
        "bench", "--target", family_folders.target, "--prompt", "the", "--max-new-tokens", "6",
        "--strategies", ",".join(("ar", "lookup", *own)),
        "--repeats", "1", "--json", "--prefix", "9,4",
    )  # fmt: skip
    report = json.loads(done.stdout)
    rows = {row["name"]: row["matches_ar"] for row in report["contestants"]}
    assert rows == {"ar": 2, "lookup": 2} | dict.fromkeys(own)
    assert report["prefixes"] == [4, 9]
    assert list(report["contestants"][0]["categories"]) == ["after 4 tokens", "after 9 tokens"]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--peers", "vllm"], "unknown peer 'vllm'"),
        (["--peers", "hf", "--temperature", "1"], "leave --temperature at 0"),
        (["--peers", "hf", "--stop", "x"], "leave --stop out"),
        (["--peers", "hf", "--logit-bias", "5=1"], "leave --logit-bias out"),
        (["--peers", "hf-assisted"], "needs a draft model"),
        (["--simulate-acceptance", "0.5", "--temperature", "1"], "leave --temperature at 0"),
        (["--batch", "1,x"], "--batch takes whole numbers from 1 to 1024"),
        (["--batch", "9" * 5000], "--batch takes whole numbers from 1 to 1024"),
        (["--prefix", "5,100000"], "--prefix 100000 and a prompt of"),
        (["--prefix", "-1"], "--prefix takes whole numbers from 1 to 1000000"),
        (["--batch", "2"], "--batch needs the lane ar, and one on the target that drafts"),
        (["--strategies", "draft,medusa"], "no lane can run: no draft model"),
        (["--sweep", "gama=1,2"], "--sweep: unknown setting 'gama'"),
        (["--sweep", "gamma"], "--sweep: gamma must be auto or a whole number"),
        (["--sweep", "gamma=2,2"], "a value of gamma is given twice"),
        (["--sweep", "top-p=1", "--sweep", "top_p=0.9"], "top_p is given twice"),
        (["--sweep", "gamma=1,2"], "gamma changes nothing in any of the lanes"),
    ],
)
def test_wrong_input(
    arguments: list[str], complaint: str, specchat: Specchat, family_folders: FamilyFolders
) -> None:
    done = specchat(
        "bench", "--target", family_folders.target, "--strategies", "ar", "--prompt", "the",
        *arguments,
    )  # fmt: skip
    assert done.returncode == 2 and done.stdout == ""
    assert complaint in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--peers", "hf", "--temperature", "0.8"], "leave --temperature at 0"),
        (["--peers", "hf", "--presence-penalty", "1"], "leave the penalties out"),
        (["--peers", "hf", "--stop", "x"], "leave --stop out"),
        (["--peers", "hf-assisted", "--target", "x"], "needs a draft model"),
        (["--batch", "2", "--strategies", "draft"], "--batch needs the lane ar"),
        (["--batch", "2", "--server", "http://localhost:1"], "--batch needs a model"),
        (["--peers", "hf", "--server", "http://localhost:1"], "--peers needs a model"),
        (["--prefix", "2", "--server", "http://localhost:1"], "leave --server out"),
    ],
)
def test_options_that_do_not_fit_are_refused_before_anything_is_loaded(
    arguments: list[str], complaint: str, specchat: Specchat, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.cli.bench.open_lanes", lambda *_: pytest.fail("it was loaded"))
    done = specchat("bench", "--prompt", "the", *arguments)
    assert done.returncode == 2 and complaint in done.stderr


def test_lanes_that_cannot_run_and_ratios_over_nothing(
    specchat: Specchat, family_folders: FamilyFolders
) -> None:
    done = specchat(
        "bench", "--target", family_folders.target, "--prompt", "the", "--strategies", "ar,draft",
        "--max-new-tokens", "1", "--repeats", "1",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "draft: not available: no draft model" in done.stdout and "tok/s" in done.stdout


def test_a_lane_that_breaks_leaves_its_memory_to_the_others(
    specchat: Specchat, family_folders: FamilyFolders, monkeypatch: pytest.MonkeyPatch
) -> None:
    freed, held, step, free = [], list[str](), Lane.step, Lane.free_caches

    def broken(lane: Lane, params: Params) -> object:
        held.append(lane.spec.name)
        if lane.spec.strategy == "lookup":
            raise RuntimeError("out of memory")
        return step(lane, params)

    def noted(lane: Lane) -> None:
        freed.append((lane.spec.name, held[-1]))  # before the next lane answers
        free(lane)

    monkeypatch.setattr(Lane, "step", broken)
    monkeypatch.setattr(Lane, "free_caches", noted)
    done = specchat(
        "bench", "--target", family_folders.target, "--prompt", "the fox", "--repeats", "1",
        "--strategies", "ar,lookup,suffix", "--max-new-tokens", "4", "--json",
    )  # fmt: skip
    report = json.loads(done.stdout)
    assert done.returncode == 1 and report["failed"] == {"lookup": "RuntimeError: out of memory"}
    assert [row["name"] for row in report["contestants"]] == ["ar", "suffix"]
    assert freed == [("lookup", "lookup")]


def test_a_sweep_measures_each_lane_with_each_value_that_acts_on_it(
    specchat: Specchat, family_folders: FamilyFolders
) -> None:
    done = specchat(
        "bench", "--target", family_folders.target, "--prompt", "the fox", "--repeats", "1",
        "--strategies", "ar,lookup,lookup:gamma=9", "--max-new-tokens", "8", "--json",
        "--sweep", "gamma=2,4", "--sweep", "temperature=0,0.8",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["sweep"] == {"gamma": [2, 4], "temperature": [0.0, 0.8]}
    rows = {row["name"]: row for row in report["contestants"]}
    assert list(rows) == [
        "ar:temperature=0", "ar:temperature=0.8",
        "lookup:gamma=2:temperature=0", "lookup:gamma=2:temperature=0.8",
        "lookup:gamma=4:temperature=0", "lookup:gamma=4:temperature=0.8",
        "lookup:gamma=9:temperature=0", "lookup:gamma=9:temperature=0.8",
    ]  # fmt: skip
    for name, row in rows.items():  # a lane is compared with the target at its own temperature
        assert row["baseline"] == f"ar:{name.rpartition(':')[2]}"
        assert row["matches_ar"] == (1 if name.endswith("=0") else None)
    drawn = rows["lookup:gamma=9:temperature=0.8"]
    assert drawn["strategy"] == "lookup" and drawn["overrides"] == {"gamma": 9, "temperature": 0.8}


def test_answers_of_another_length_are_compared_with_those_of_theirs(
    specchat: Specchat, family_folders: FamilyFolders
) -> None:
    done = specchat(
        "bench", "--target", family_folders.target, "--prompt", "the fox", "--repeats", "1",
        "--strategies", "ar,lookup", "--sweep", "max-new-tokens=2,4", "--ignore-eos", "--json",
    )  # fmt: skip
    for row in json.loads(done.stdout)["contestants"]:
        assert row["baseline"] == f"ar:{row['name'].partition(':')[2]}" and row["matches_ar"] == 1


def test_peers_do_not_follow_the_models_generation_config(
    specchat: Specchat, family_folders: FamilyFolders, tmp_path: Path
) -> None:
    target = Path(shutil.copytree(family_folders.target, tmp_path / "target"))
    config = {"repetition_penalty": 1.9, "no_repeat_ngram_size": 1, "min_new_tokens": 12}
    (target / "generation_config.json").write_text(json.dumps(config))
    done = specchat(
        "bench", "--target", str(target), "--draft", family_folders.draft, "--strategies", "ar",
        "--peers", "hf,hf-assisted", "--prompt", "the fox", "--repeats", "1", "--ignore-eos",
        "--max-new-tokens", "24", "--json",
    )  # fmt: skip
    rows = json.loads(done.stdout)["contestants"]
    assert {row["name"]: row["matches_ar"] for row in rows} == dict.fromkeys(
        ("ar", "hf", "hf-assisted"), 1
    )


def test_what_was_measured_is_printed_or_reported_where_only_one_of_them_can_be(
    specchat: Specchat,
    family_folders: FamilyFolders,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("matplotlib")
    page = tmp_path / "page.html"

    def read(target: Target) -> None:
        print("remote code")
        page.mkdir()  # after it was checked

    monkeypatch.setattr(Target, "bytes_per_pass", property(read))
    bench = (
        "bench", "--target", family_folders.target, "--strategies", "ar", "--prompt", "the",
        "--max-new-tokens", "4", "--repeats", "1", "--json", "--report", str(page),
    )  # fmt: skip
    done = specchat(*bench)
    assert done.returncode == 1 and f"{page}: Is a directory" in done.stderr
    assert json.loads(done.stdout)["contestants"][0]["matches_ar"] == 1
    assert "remote code" in done.stderr  # stdout is for the document

    def lost(text: str) -> None:
        raise terminal.OutputLost("can't write to stdout: Broken pipe")

    monkeypatch.setattr(terminal, "_write", lost)
    monkeypatch.setattr(Target, "bytes_per_pass", None)
    page.rmdir()
    assert specchat(*bench).returncode == 1
    assert "<svg" in page.read_text(encoding="utf-8")


def test_the_assistant_is_loaded_as_the_draft_model_is(
    specchat: Specchat, family_folders: FamilyFolders, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not with what is only the target's, such as its adapter."""
    asked: list[tuple[str, str]] = []

    def load(source: str, options: ModelOptions) -> Any:
        asked.append((source, options.quantize))
        return load_model(source, replace(options, quantize="none"))

    monkeypatch.setattr(peers, "load_model", load)
    done = specchat(
        "bench", "--target", family_folders.target, "--draft", family_folders.draft,
        "--strategies", "ar", "--peers", "hf-assisted", "--prompt", "the", "--repeats", "1",
        "--max-new-tokens", "4", "--quantize-draft", "int8",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert asked == [(family_folders.draft, "int8"), (family_folders.target, "none")]
