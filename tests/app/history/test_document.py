"""The exported JSON: what `run --json --trace` says, and the way back."""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.history.document import conversation_document
from app.history.parse_document import read_document, read_recording
from app.history.recording import Recording
from app.report.document import LANE_FIELDS
from decoding.errors import InputError
from tests.support.conversation import LOADED, recording


@pytest.fixture
def document() -> dict[str, Any]:
    made: dict[str, Any] = json.loads(json.dumps(conversation_document(recording())))
    return made


def test_speedups_are_of_the_time_in_which_both_ran_as_on_the_screen() -> None:
    made = recording()
    ar = made.turns[0].lanes["ar"]
    slow, end = ar.steps[1], ar.finishes[0]  # after the draft lane was done
    ar.steps[1] = replace(slow, at=slow.at + 1, round=replace(slow.round, total_seconds=0.05))
    ar.finishes[0] = replace(end, at=end.at + 1)
    assert conversation_document(made)["runs"][0]["lanes"][1]["speedup"] == pytest.approx(2.0)


def test_it_is_the_document_of_a_headless_run(document: dict[str, Any]) -> None:
    assert document["target"] == "demo" and document["ignored"] == ["typical_p"]
    assert document["settings"]["seed"] == 42
    first, second = document["runs"]
    assert (first["turn"], second["turn"], second["prompt"]) == (0, 1, "And on?\nPlease.")
    ar, draft, medusa = first["lanes"]
    for lane in (ar, draft, medusa):
        assert set(LANE_FIELDS) <= set(lane)
    assert ar["text"] == "Four seven five" and ar["token_ids"] == [4, 7, 5]
    assert ar["finish_reason"] == "stop" and ar["speedup"] == 1.0
    assert draft["text"] == "Four seven five seven five" and draft["tested"] == 4
    assert (draft["acceptance_rate"], draft["tokens_per_pass"]) == (0.5, 2.0)
    assert draft["speedup"] == pytest.approx(2.0)
    assert (draft["matches_ar"], draft["first_divergence"]) == (False, 3)
    assert draft["divergence_gap"] == 0.03125
    assert (medusa["available"], medusa["reason"]) == (False, "no heads: give --medusa DIR")


def test_what_a_replay_needs_stands_beside(document: dict[str, Any]) -> None:
    assert document["replay"]["texts"]["10"] == "ten"
    run = document["runs"][0]
    draft = run["lanes"][1]
    one, two = draft["rounds"]
    assert one["start_seconds"] == pytest.approx(0.07) and one["p"] == [1.0, 0.75, 0.125, 0.0625]
    assert run["settings"][one["settings"]]["gamma"] == 3
    assert run["settings"][two["settings"]]["temperature"] == 0.5
    assert one["pruned"] == [{"parent": 1, "token": 3, "rank": 2, "score": 0.03}]
    assert "p" not in two  # nobody watched


def test_there_and_back(document: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "export.json"
    path.write_text(json.dumps(document))
    found, made = read_recording(path), recording()
    assert (found.title, found.created, found.loaded) == ("Numbers", made.created, LOADED)
    assert found.past() == made.past()
    assert conversation_document(found) == conversation_document(made)
    for mine, theirs in zip(found.turns, made.turns, strict=True):
        events, expected = list(mine.events()), list(theirs.events())
        assert [type(each) for each in events] == [type(each) for each in expected]
        assert mine.ended and theirs.ended and mine.ended.memory == theirs.ended.memory
        begun = [turn.started.at for turn in (mine, theirs)]
        assert [each.at - begun[0] for each in events] == pytest.approx(  # type: ignore[union-attr]
            [each.at - begun[1] for each in expected]  # type: ignore[union-attr]
        )


def test_a_crashed_turn_can_be_exported() -> None:
    made = recording()
    made.turns[-1].ended = None
    found = read_document(conversation_document(made), Path("x"))
    assert found.turns[-1].stopped and not found.turns[0].stopped


def test_figures_follow_from_the_rounds() -> None:
    events = list(recording().turns[0].events())
    metrics: list[Any] = [getattr(event, "metrics", None) for event in events]
    assert [each and each.tokens for each in metrics] == [
        *(None, None, 2, 3, 3, None, 3, 5, 5, None),
    ]
    assert metrics[-2].speedup == pytest.approx(2.0) and metrics[-2].histogram == (0, 2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.pop("replay"), "is not an exported conversation"),
        (lambda d: d.update(schema_version=99), "in another format"),
        (lambda d: d["replay"].update(replay_version=2), "in another format"),
        (lambda d: d.update(runs=[]), "there is no turn in it"),
        (lambda d: d["runs"][0]["lanes"][0].pop("rounds"), "is damaged: KeyError: 'rounds'"),
        (lambda d: d["runs"][0].update(lanes=[1]), "is damaged"),
        (lambda d: d["runs"][0]["lanes"][0].update(lane="other"), "is damaged"),
        (lambda d: d["runs"][0]["lanes"][1]["rounds"][0].update(tokens="x"), "round.tokens"),
        (
            lambda d: d["replay"]["lanes"][0].update(strategy="guess"),
            "is damaged: unknown strategy 'guess'",
        ),
        (lambda d: d["replay"].update(texts={"x": "y"}), "is damaged"),
        (lambda d: d["replay"].update(created="yesterday"), "is damaged"),
    ],
)
def test_a_wrong_document_is_one_line(document: dict[str, Any], change: Any, message: str) -> None:
    wrong = deepcopy(document)
    change(wrong)
    with pytest.raises(InputError) as error:
        read_document(wrong, Path("x.json"))
    assert message in str(error.value) and "x.json" in str(error.value)


def test_wrong_files(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        read_recording(tmp_path / "none.json")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="is not JSON"):
        read_recording(tmp_path / "binary")
    (tmp_path / "list").write_text("[1]")
    with pytest.raises(InputError, match="is not an exported conversation"):
        read_recording(tmp_path / "list")


def test_a_recording_needs_no_name() -> None:
    made = Recording("2026", {})
    assert made.title == ""
