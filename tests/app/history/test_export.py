"""Markdown, names of files, and the asciicast."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from app.history.export import markdown, unique_path
from app.tui.replay.asciicast import parse_size, write_cast
from decoding.errors import InputError
from decoding.params import Params, SamplingParams
from tests.support.conversation import recording
from tests.support.hostile import HOSTILE, obeyed


def test_markdown() -> None:
    made = recording()
    made.turns[1].lanes["ar"].steps.pop()  # so that the answers differ
    text = markdown(made)
    assert text.startswith("# Numbers\n\ndemo · cpu float32 · seed 42 · 2026-11-21\n\nspeedup: ")
    assert "\n\n## 1\n\n> Count!\n\ntemperature 0.5\n\n| lane |" in text
    assert "| Autoregressive | 3 | 100.0 | 1.00× |  | 1.00 |  |" in text
    assert "| Draft model (gamma 2) | 5 | 200.0 | 2.00× | 50% | 2.00 | no |" in text
    assert "> And on?\n> Please." in text
    assert "**Autoregressive**\n\nFour seven\n\n**Draft model (gamma 2)**\n\nFour" in text


def test_settings_that_no_lane_had_are_not_made_up() -> None:
    made = recording()
    for lane in made.turns[0].lanes.values():
        lane.steps.clear()
    assert "> Count!\n\n| lane |" in markdown(made)


def test_settings_that_were_changed_during_the_answers_are_told() -> None:
    """Else a run that was greedy only at first seems to have other texts at temperature 0."""
    made = recording()
    lanes = made.turns[0].lanes
    for name, temperatures in {"ar": (0.0, 0.0, 0.8), "draft:gamma=2": (0.0, 0.4, 0.8)}.items():
        step = lanes[name].steps[0]
        lanes[name].steps = [
            replace(step, params=Params(SamplingParams(each), gamma=2)) for each in temperatures
        ]
    told = "temperature 0.0\n\nchanged during the answers: temperature 0.0 → 0.4 → 0.8\n\n"
    text = markdown(made)
    assert f"{told}| lane |" in text and text.count("changed during") == 1


def test_a_lossy_lane_says_so() -> None:
    made = recording()
    draft = made.turns[0].lanes["draft:gamma=2"]
    draft.steps[0] = replace(draft.steps[0], round=replace(draft.steps[0].round, lossy=True))
    assert "| Draft model (gamma 2, LOSSY) |" in markdown(made)


def test_lanes_with_other_settings_have_other_titles() -> None:
    """Also where one keeps what is the default, and the run has something else."""
    made = recording()
    lanes = made.turns[0].lanes
    lanes["ar"].steps[0] = replace(lanes["ar"].steps[0], params=Params(SamplingParams(0.8)))
    draft = lanes["draft:gamma=2"]
    greedy = replace(draft.info, overrides={"gamma": 2, "temperature": 0.0, "top_p": 1.0})
    lanes["greedy"] = replace(draft, info=greedy)
    text = markdown(made)
    assert "| Draft model (gamma 2) |" in text
    assert "| Draft model (gamma 2, temperature 0.0) |" in text


def test_markdown_holds_nothing_that_a_terminal_obeys() -> None:
    made = recording()
    made.name = HOSTILE
    assert made.loaded is not None
    made.loaded = replace(made.loaded, target=HOSTILE)
    first = made.turns[0].lanes["ar"].prefilled
    assert first is not None
    made.turns[0].lanes["ar"].prefilled = replace(
        first, first=replace(first.first, text=f"{HOSTILE}\ta tab")
    )
    text = markdown(made)
    assert obeyed(text) == {"\t"} and text.count("PWN") == 3


def test_lanes_that_said_the_same_share_an_answer() -> None:
    made = recording()
    for turn in made.turns:
        turn.lanes["draft:gamma=2"].steps = turn.lanes["ar"].steps
    assert markdown(made).count("**Autoregressive, Draft model (gamma 2)**") == 2


def test_lanes_that_were_removed_since_are_left_out() -> None:
    text = markdown(recording(), ["draft:gamma=2"])
    assert "Draft model (gamma 2)" in text and "Autoregressive" not in text


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Who is the fox?", "who-is-the-fox.md"),
        ("../../etc/passwd", "etc-passwd.md"),
        ("一二三", "一二三.md"),
        ("?!", "conversation.md"),
        ("A story about a fox and a very old crow", "a-story-about-a-fox-and-a-very-old-crow.md"),
        ("A story about a fox, a very old black crow", "a-story-about-a-fox-a-very-old-black.md"),
        ("x" * 300, "x" * 40 + ".md"),
    ],
)  # fmt: skip
def test_files_are_named_after_the_conversation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, title: str, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    path = unique_path(title, ".md")
    assert path == tmp_path / name
    path.touch()
    assert unique_path(title, ".md").stem == path.stem + "-2"


def test_an_asciicast(tmp_path: Path) -> None:
    path = tmp_path / "film.cast"
    write_cast(recording(), path, (60, 24), 1.0)
    header, *frames = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    assert (header["version"], header["width"], header["height"]) == (2, 60, 24)
    assert header["title"] == "Numbers"
    times = [at for at, kind, _ in frames if kind == "o"]
    assert len(times) == len(frames) and times == sorted(times)
    assert 2.0 < times[-1] < 5.0  # the turns, the second between them, the end that stays
    drawn = "".join(data for _, _, data in frames)
    assert "Count!" in drawn and "seven" in drawn and "\x1b[38;2;" in drawn
    assert drawn.startswith("\x1b[?25l\x1b[2J") and drawn.endswith("\x1b[24;1H\x1b[?25h")


def test_sizes() -> None:
    assert parse_size("100x30") == (100, 30)
    for wrong in ("100", "30x8", "1000x30", "x", "-60x24"):
        with pytest.raises(InputError, match="--size"):
            parse_size(wrong)
