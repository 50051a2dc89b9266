"""Which strategy and settings to use."""

from __future__ import annotations

import html
import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from app.cli.advise_prompts import prompts_to_advise_on
from app.config.settings import load_settings
from app.engine.experiment import Experiment
from app.engine.lane import Lane
from app.report.verdict import incredible_row
from decoding.params import Params
from tests.conftest import FamilyFolders, Specchat

PROMPTS = "\n".join(
    json.dumps({"prompt": text}) for text in ("the fox", "lazy dog", "and", "quick")
)


def test_lanes_are_measured_and_advice_is_given(
    specchat: Specchat, family_folders: FamilyFolders
) -> None:
    arguments = (
        "advise", "--target", family_folders.target, "--draft", family_folders.draft,
        "--strategies", "draft,lookup:gamma=4", "--prompts", "-", "--max-new-tokens", "12",
        "--seconds", "1", "--ignore-eos",
    )  # fmt: skip
    done = specchat(*arguments, "--json", stdin=PROMPTS)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["prompts"] == 4 and document["batch_size"] == 1
    screened = {(row["strategy"], row["temperature"]) for row in document["screened"]}
    assert screened == {(s, t) for s in ("ar", "draft", "lookup") for t in (0.0, 0.7)}
    lookup = [row["overrides"] for row in document["screened"] if row["strategy"] == "lookup"]
    assert lookup == [{"gamma": 4, "temperature": 0.0}, {"gamma": 4, "temperature": 0.7}]
    rows = document["measured"]
    assert len(rows) == 6  # the best of each kind at each temperature
    for row in rows:
        assert row["speedup_low"] <= row["speedup"] <= row["speedup_high"]
        same = row["answers"] if row["temperature"] == 0.0 else None
        assert row["matches_ar"] == same
        sizes = ["1", "2", "4", "8", "16", "32", "64"]
        assert list(row["batch_speedups"]) == ([] if row["strategy"] == "ar" else sizes)
    assert document["batches"]["measured"] and document["batches"]["context"] > 0
    for best in document["best"]:
        drafting = [row for row in rows if row["strategy"] != "ar"]
        there = [row for row in drafting if row["temperature"] == best["temperature"]]
        # On a busy machine some speedup may be above τ, which can't be.
        there = [row for row in there if not incredible_row(row)] or there
        fastest = max(there, key=lambda row: row["speedup"])
        assert best["name"] == (fastest["name"] if fastest["speedup_low"] > 1.0 else None)
    assert {entry["engine"] for entry in document["engines"]} >= {"vLLM", "SGLang"}


def test_answers_that_are_cut_have_the_same_ids_as_far_as_they_go(
    specchat: Specchat, family_folders: FamilyFolders, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last round of a drafting lane brings more tokens than there was time for."""
    monkeypatch.setattr("app.engine.experiment._tokens_that_fit", lambda *given: 9)
    done = specchat(
        "advise", "--target", family_folders.target, "--draft", family_folders.draft,
        "--strategies", "draft:gamma=6", "--prompts", "-", "--max-new-tokens", "60",
        "--seconds", "1", "--ignore-eos", "--temperature", "0", "--json", stdin=PROMPTS,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    plain, draft = sorted(json.loads(done.stdout)["measured"], key=lambda row: str(row["name"]))
    assert plain["tokens"] < 60 * plain["answers"]
    assert draft["tokens"] / draft["answers"] > plain["tokens"] / plain["answers"]
    for row in (plain, draft):
        assert row["matches_ar"] == row["answers"]


def test_lanes_that_are_named_are_those_that_are_measured(
    specchat: Specchat, family_folders: FamilyFolders
) -> None:
    """Also where they are those that are there without being named."""
    asked = (
        "advise", "--target", family_folders.target, "--draft", family_folders.draft, "--prompts",
        "-", "--max-new-tokens", "4", "--seconds", "1", "--ignore-eos", "--json",
    )  # fmt: skip
    for named in ((), ("--strategies", "ar,draft,medusa,eagle")):
        document = json.loads(specchat(*asked, *named, stdin=PROMPTS).stdout)
        measured = {row["strategy"] for row in document["screened"]}
        assert measured == ({"ar", "draft"} if named else {"ar", "draft", "lookup", "suffix"})


def test_a_text_and_a_page_say_the_same(
    specchat: Specchat, family_folders: FamilyFolders, tmp_path: Path
) -> None:
    pytest.importorskip("matplotlib")
    page = tmp_path / "advice.html"
    done = specchat(
        "advise", "--target", family_folders.target, "--strategies", "lookup:gamma=4",
        "--prompts", "-", "--max-new-tokens", "12", "--seconds", "1", "--ignore-eos",
        "--report", str(page), stdin=PROMPTS,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    text, written = done.stdout, html.unescape(page.read_text(encoding="utf-8"))
    sentences = [line for line in text.splitlines() if line.startswith(("→ Use", "Larger"))]
    assert len(sentences) >= 3 and all(sentence in written for sentence in sentences)
    assert "temperature 0.7" in text and "To paste" in text and "<svg" in written


def test_a_sweep_says_what_is_tried(specchat: Specchat, family_folders: FamilyFolders) -> None:
    done = specchat(
        "advise", "--target", family_folders.target, "--strategies", "ar,lookup", "--prompt", "the",
        "--sweep", "gamma=3,5", "--temperature", "0", "--max-new-tokens", "6", "--seconds", "1",
        "--json",
    )  # fmt: skip
    document = json.loads(done.stdout)
    names = [row["name"] for row in document["screened"]]
    assert names == ["ar", "lookup:gamma=3", "lookup:gamma=5"]


def test_a_setting_that_fails_is_named(
    specchat: Specchat, family_folders: FamilyFolders, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = Lane.step

    def broken(lane: Lane, params: Params) -> object:
        if lane.spec.overrides.get("gamma") == 5:
            raise RuntimeError("out of memory")
        return step(lane, params)

    monkeypatch.setattr(Lane, "step", broken)
    done = specchat(
        "advise", "--target", family_folders.target, "--strategies", "lookup", "--prompt", "the",
        "--sweep", "gamma=3,5", "--temperature", "0", "--max-new-tokens", "6", "--seconds", "1",
    )  # fmt: skip
    assert done.returncode == 1
    assert "lookup:gamma=5: failed: RuntimeError: out of memory." in done.stdout
    assert "lookup:gamma=3 " in done.stdout


@pytest.mark.parametrize("answer", [1, 2])
def test_a_signal_keeps_what_was_measured(
    specchat: Specchat,
    family_folders: FamilyFolders,
    monkeypatch: pytest.MonkeyPatch,
    answer: int,
) -> None:
    answer_all = Experiment._answer

    def interrupted(experiment: Experiment, *rest: Any) -> None:
        if str(rest[-1]).startswith(f"measuring, answer {answer}"):
            os.kill(os.getpid(), signal.SIGTERM)
        answer_all(experiment, *rest)

    monkeypatch.setattr(Experiment, "_answer", interrupted)
    done = specchat(
        "advise", "--target", family_folders.target, "--strategies", "lookup", "--prompt", "the",
        "--temperature", "0", "--max-new-tokens", "6", "--seconds", "60", "--json",
    )  # fmt: skip
    assert done.returncode == 128 + signal.SIGTERM
    document = json.loads(done.stdout)
    assert document["ended_early"] and document["only_screened"] == (answer == 1)
    rows = document["measured"]
    assert [(row["strategy"], row["answers"]) for row in rows] == [("ar", 1), ("lookup", 1)]


def test_the_prompts_of_an_exported_conversation() -> None:
    recording = Path(__file__).parents[3] / "assets" / "replay" / "demo.json"
    runs = json.loads(recording.read_bytes())["runs"]
    requests = prompts_to_advise_on(load_settings({}), str(recording))
    assert [request.turns for request in requests] == [(run["prompt"],) for run in runs]
    first, second = requests[:2]  # a later prompt comes after what was said before it
    assert first.history == () and second.history[0] == {"role": "user", "content": first.turns[0]}
    assert second.history[1]["role"] == "assistant"
    assert second.history[1]["content"] in {lane["text"] for lane in runs[0]["lanes"]}


def test_a_question_without_an_answer_is_not_in_the_history(tmp_path: Path) -> None:
    demo = Path(__file__).parents[3] / "assets" / "replay" / "demo.json"
    document = json.loads(demo.read_bytes())
    first, second, *_ = document["runs"]
    for lane in first["lanes"]:  # stopped before the first token
        lane |= {"first": None, "rounds": []}
    second["leader"] = None
    document["runs"].append({**second, "run": 9})
    recording = tmp_path / "stopped.json"
    recording.write_text(json.dumps(document))
    asked = prompts_to_advise_on(load_settings({}), str(recording))
    assert asked[1].turns == (second["prompt"],) and asked[1].history == ()
    assert [message["role"] for message in asked[2].history] == ["user", "assistant"]


def test_a_conversation_is_measured_with_the_system_prompt_it_had(tmp_path: Path) -> None:
    demo = Path(__file__).parents[3] / "assets" / "replay" / "demo.json"
    document = json.loads(demo.read_bytes())
    document["settings"]["system"] = "Be brief."
    recording = tmp_path / "brief.json"
    recording.write_text(json.dumps(document))
    asked = prompts_to_advise_on(load_settings({}), str(recording))
    assert all(each.history[0] == {"role": "system", "content": "Be brief."} for each in asked)
    (first, *_) = prompts_to_advise_on(load_settings({"system": "Be kind."}), str(recording))
    assert first.history == ()  # the one that is given now is put before it


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--conversation", "gone.json"], "can't read gone.json"),
        (["--conversation", "latest"], "no conversation was kept yet"),
        ([], "no conversation was kept yet"),
        (["--prompt", "the", "--conversation", "latest"], "give one of"),
        (["--prompt", "the", "--seconds", "inf"], "--seconds"),
        (["--prompt", "the", "--seconds", "nan"], "--seconds"),
        (["--prompt", "the", "--strategies", "ar"], "no lane drafts"),
        (["--prompt", "the", "--strategies", "ar,draft"], "no lane drafts: no draft model"),
    ],
)
def test_wrong_input(
    arguments: list[str], complaint: str, specchat: Specchat, family_folders: FamilyFolders
) -> None:
    done = specchat("advise", "--target", family_folders.target, *arguments)
    assert done.returncode == 2 and done.stdout == ""
    assert complaint in done.stderr and done.stderr.count("\n") == 1
