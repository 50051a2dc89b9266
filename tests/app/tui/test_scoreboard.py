"""The scoreboard: bars, one sentence, the runs that it counts; and what is not to be believed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.engine.commands import Run
from app.engine.events import Finished, Loaded, RunFinished, RunStarted, Schedule
from app.tui.format.pane_edges import lane_title
from app.tui.state.app_state import AppState
from app.tui.state.scores import scores
from app.tui.widgets.block import Block
from decoding.params import Params, SamplingParams
from tests.support.scripted import metrics, prefilled, stepped
from tests.support.stage import LANES, Play, Stage

SPEEDS = {"ar": 1.0, "draft": 1.5, "lookup": 2.3}
NAMES = tuple(SPEEDS)


def at(times: float, **changes: Any) -> Any:
    """A lane's metrics at `times` the autoregressive speed."""
    facts = {"speedup": times, "tokens_per_second": 20 * times, "decode_seconds": 1 / times}
    return replace(metrics(), **{**facts, **changes})


async def answer(stage: Stage, speeds: dict[str, float] = SPEEDS, **changes: Any) -> None:
    """A run in which each lane has this speed."""
    params = changes.pop("params", None)
    reason = changes.pop("reason", "stop")
    same = changes.pop("same", True)
    ends = changes.pop("ends", {})
    await stage.begin()
    for name, times in speeds.items():
        now = at(times, **changes)
        end = ends.get(name, "c")
        await stage.tell(prefilled(name, "A"), stepped(name, ["b"], [], end, now, params=params))
        await stage.tell(Finished(name, reason, None, now, None if name == "ar" else same))
    await stage.tell(RunFinished(0, False))


def row(stage: Stage, title: str) -> str:
    """Its bar."""
    return next(line for line in stage.text.splitlines() if title in line and "█" in line)


def shares(state: AppState) -> list[tuple[float, float, float, int]]:
    found = [each.speedup for each in scores(state) if each.speedup]
    return [(each.median, each.low, each.high, each.count) for each in found]


async def test_it_is_exported(play: Play, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    async with play((100, 30), scoreboard=True) as stage:
        commands = {each.title: each.callback for each in stage.app.exports.commands()}
        commands["Export the scoreboard as Markdown"]()
        await stage.tell()
        assert "There is nothing to export yet" in stage.text
        await answer(stage, tokens=12)
        assert "F5 runs it again" in stage.text
        commands["Export the scoreboard as Markdown"]()
        await stage.app.workers.wait_for_complete()
        few = (tmp_path / "scoreboard-hello.md").read_text(encoding="utf-8")
        assert "12 tokens are too few to tell." in few and "F5" not in few
        assert "1 run of this prompt. " in few and "low-high" not in few  # there is no range
        (tmp_path / "scoreboard-hello.md").unlink()
        await stage.press("ctrl+n")
        await answer(stage)
        for name in ("Markdown", "Markdown", "a page (HTML)", "a plot (SVG)", "a plot (PNG)"):
            commands[f"Export the scoreboard as {name}"]()
            await stage.app.workers.wait_for_complete()
    said = (tmp_path / "scoreboard-hello.md").read_text(encoding="utf-8")
    assert said == (tmp_path / "scoreboard-hello-2.md").read_text(encoding="utf-8")
    assert "Prompt lookup is 2.3 times as fast" in said and "| 3 Prompt lookup | 46.0 |" in said
    assert "2.3 times as fast" in (tmp_path / "scoreboard-hello.html").read_text(encoding="utf-8")
    assert (tmp_path / "scoreboard-hello.svg").read_text(encoding="utf-8").count(
        "Prompt lookup"
    ) == 1
    assert (tmp_path / "scoreboard-hello.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("size", [(100, 30), (60, 24)])
async def test_above_temperature_0_it_says_that_texts_may_differ(
    play: Play, size: tuple[int, int]
) -> None:
    sampled = Params(SamplingParams(0.8))
    async with play(size, scoreboard=True, params=sampled) as stage:
        other = {"draft": "d", "lookup": "e"}
        await answer(stage, params=sampled, same=None, tokens=60, ends=other)
        if size == (60, 24):
            assert "Prompt lookup 2.3×, " in stage.text and ", sampled" in stage.text
            await stage.press("escape", "r")
        words = " ".join(stage.text.replace("│", " ").split())
        assert "though its text may differ, as it is sampled" in words
        if size == (100, 30):
            assert "sampled" in row(stage, "Draft model")
            await answer(stage, params=sampled, same=None, tokens=60, ends={"draft": "d"})
            assert "sampled" in row(stage, "Draft model")
            assert "same text" in row(stage, "Prompt lookup")  # it happens to be


async def test_before_the_first_run_it_says_what_this_is(play: Play) -> None:
    async with play((100, 30), scoreboard=True) as stage:
        assert "A drafter guesses a few tokens" in stage.text


async def test_after_a_run_one_sentence_and_a_bar_for_each_lane(play: Play) -> None:
    async with play((100, 30), scoreboard=True) as stage:
        await answer(stage)
        assert "Prompt lookup is 2.3 times as fast, word for word the same text: " in stage.text
        assert "46 tok/s" in row(stage, "3 Prompt lookup") and "2.3×" in row(stage, "3 Prompt")
        lengths = [row(stage, title).count("█") for title in ("1 Auto", "2 Draft", "3 Prompt")]
        assert lengths == sorted(lengths) and lengths[2] > 2 * lengths[0]
        assert "1st ★" in row(stage, "3 Prompt lookup") and "same text" in row(stage, "2 Draft")
        meaning = str(stage.app.main.query_one(".scores Block").tooltip)
        assert all(f"{term}: " in meaning for term in ("★", "same text", "38 passes", "tok/s"))
        await stage.press("escape", "r")
        assert "Scoreboard" not in stage.text.replace("r Scoreboard", "")
        await stage.press("r")
        assert "╭ Scoreboard" in stage.text


async def test_star_bar_place_and_sentence_go_by_one_thing(play: Play) -> None:
    """The speedup: a lane that was done later may have run on a busier machine."""
    async with play((100, 30), scoreboard=True) as stage:
        await stage.begin("Hello", 0, "ar", "draft", "lookup")
        for name, speed, times in (("ar", 50, 1.0), ("draft", 154, 1.7), ("lookup", 127, 1.8)):
            now = at(times, tokens_per_second=speed, decode_seconds=100 / speed)
            await stage.tell(prefilled(name, "A"), stepped(name, ["b"], [], "c", now))
            await stage.tell(Finished(name, "stop", None, now, None if name == "ar" else True))
        await stage.tell(RunFinished(0, False))
        assert "Prompt lookup is 1.8 times as fast" in stage.text
        assert "1st ★" in row(stage, "3 Prompt lookup") and "2nd" in row(stage, "2 Draft model")
        assert row(stage, "3 Prompt").count("█") > row(stage, "2 Draft model").count("█")
        title = next(line for line in stage.text.splitlines() if "╭ 3 Prompt lookup" in line)
        assert "1st" in title and "trust × more" in stage.text


async def test_it_grows_while_the_lanes_run(play: Play) -> None:
    async with play((100, 30), scoreboard=True) as stage:
        await stage.begin()
        await stage.tell(*(prefilled(name, "A") for name in NAMES))
        for name, times in SPEEDS.items():
            await stage.tell(stepped(name, ["b"], [], "c", at(times)))
        assert "So far Prompt lookup is 2.3 times as fast." in stage.text
        assert "★" not in stage.text


async def test_another_panel_takes_its_place_for_a_while(play: Play) -> None:
    async with play((100, 30), scoreboard=True) as stage:
        await answer(stage)
        await stage.press("escape", "s")
        assert "╭ Figures" in stage.text and "╭ Scoreboard" not in stage.text
        await stage.press("s")
        assert "╭ Scoreboard" in stage.text


async def test_where_it_is_narrow_the_sentence_stands_in_the_status_row(play: Play) -> None:
    async with play((60, 24), scoreboard=True) as stage:
        await answer(stage)
        assert "Prompt lookup 2.3×" in stage.text and "╭ Scoreboard" not in stage.text
        await stage.press("escape", "r")
        assert "╭ Scoreboard" in stage.text and "2.3×" in row(stage, "3 Prompt lookup")


async def click_row(stage: Stage, title: str, above: int = 0) -> None:
    block = stage.app.main.query_one("#scores").query_one(Block)
    at = stage.text.splitlines().index(row(stage, title)) - above
    await stage.pilot.click(block, offset=(8, at - block.region.y))


@pytest.mark.parametrize("size", [(100, 30), (60, 24)], ids=str)
async def test_a_click_on_a_row_goes_to_its_lane(play: Play, size: tuple[int, int]) -> None:
    async with play(size, scoreboard=True) as stage:
        await answer(stage)
        await stage.press("escape", "r" if size[0] < 100 else "1")
        for number, title in ((3, "Prompt lookup"), (2, "Draft model")):
            await click_row(stage, f"{number} {title}")
            assert stage.app.main.grid.current == number
            assert f"{number} {title}: " in stage.text and "switches it off" in stage.text
        await click_row(stage, "1 Autoregressive", above=1)
        assert stage.app.main.grid.current == 2


async def test_a_click_on_the_first_line_says_how_to_change_it(play: Play) -> None:
    async with play((100, 30)) as stage:
        await stage.pilot.click("#title", offset=(5, 0))
        assert (
            "F6 loads other models, Ctrl+P sets the seed; Esc, then m switches race" in stage.text
        )


async def test_runs_of_the_same_prompt_are_kept(play: Play) -> None:
    """Again by F5, or asked once more; with other settings it is another thing."""
    async with play((100, 30), scoreboard=True) as stage:
        for times in (1.5, 2.5, 1.7):
            await answer(stage, {"ar": 1.0, "draft": times}, params=Params(gamma=4))
        assert shares(stage.app.state) == [(1.0, 1.0, 1.0, 3), (1.7, 1.5, 2.5, 3)]
        stopped = {"params": Params(gamma=4), "reason": "stopped"}
        await answer(stage, {"ar": 1.0, "draft": 9.0}, **stopped)  # not counted beside whole ones
        assert shares(stage.app.state) == [(1.0, 1.0, 1.0, 3), (1.7, 1.5, 2.5, 3)]
        assert "3 fair runs of this prompt, median (lowest-highest)" in stage.text
        assert "1.7× (1.5-2.5)" in stage.text and "The stopped run does" in stage.text
        assert "pass" not in row(stage, "Draft model")  # they would be of the stopped run
        await stage.press("escape", "Z")
        await stage.pilot.pause()
        assert "The stopped run does not count" in " ".join(stage.text.split())
        assert "tok/s, stopped" not in stage.text
        await stage.press("Z")
        await answer(stage, {"ar": 1.0, "draft": 2.0}, params=Params(gamma=2))
        # only runs of all lanes as they are now: those before had another gamma
        assert shares(stage.app.state) == [(1.0, 1.0, 1.0, 1), (2.0, 2.0, 2.0, 1)]
        assert "fair runs of this prompt" not in stage.text
        await answer(stage, {"ar": 1.0, "draft": 2.2}, params=Params(gamma=2))
        stage.app.change_params({"gamma": 2})
        await stage.resize(60, 24)
        await stage.press("r")
        assert "2 fair runs of this prompt, median ─" in stage.text
        await stage.tell(Loaded("demo", "cpu", "float32", 2, 2048, LANES))
        assert stage.app.state.runs.like(stage.app.state.lanes["draft"]) == ()


async def test_a_run_that_was_disturbed_counts_only_where_there_is_no_other(play: Play) -> None:
    async with play((100, 30), scoreboard=True) as stage:
        await answer(stage, {"ar": 1.0, "draft": 4.3, "lookup": 2.3}, tokens_per_pass=3.0)
        assert "impossible" in " ".join(stage.text.split()) and "4.3×?" in stage.text
        await answer(stage, {"ar": 1.0, "draft": 2.0, "lookup": 2.3}, tokens_per_pass=3.0)
        assert shares(stage.app.state) == [
            (1.0, 1.0, 1.0, 1),
            (2.0, 2.0, 2.0, 1),
            (2.3, 2.3, 2.3, 1),
        ]
        assert "?" not in row(stage, "2 Draft model")
        await answer(stage, {"ar": 1.0, "draft": 4.3, "lookup": 2.3}, tokens_per_pass=3.0)
        assert shares(stage.app.state) == [
            (1.0, 1.0, 1.0, 1),
            (2.0, 2.0, 2.0, 1),
            (2.3, 2.3, 2.3, 1),
        ]
        assert "The last run does not count" in " ".join(stage.text.split())


@pytest.mark.parametrize(
    ("columns", "lanes"),
    [
        (100, "these settings, 2 runs: Draft model 1.5× (1.5-1.5) · Prompt lookup 2.3× (2.3-2.3)"),
        (60, "2 runs: Draft model 1.5× · Prompt lookup 2.3×"),
        (48, "2 runs: lane 2 1.5× · lane 3 2.3×"),
    ],
)
async def test_the_session_s_line_has_every_lane(play: Play, columns: int, lanes: str) -> None:
    async with play((100, 30), scoreboard=True) as stage:
        await answer(stage)
        await answer(stage)
        await stage.resize(columns, 30)
        await stage.press("escape", *["r"] * (columns < 80))
        assert lanes in " ".join(stage.text.split())


async def test_a_scale_of_colours_leaves_the_sentence_whole(play: Play) -> None:
    async with play((60, 24)) as stage:
        await answer(stage)
        await stage.press("escape", "l", "l", "i")
        words = " ".join(stage.text.split())
        assert ", same text" in words and "<.5 ≥.5 ≥1 ≥2 ≥4 bits" in words


async def test_the_next_question_is_no_run_yet(play: Play) -> None:
    async with play((100, 30), scoreboard=True) as stage:
        await answer(stage)
        before = stage.app.state.runs.has(stage.app.state.lanes["draft"])
        await stage.press("N", "e", "x", "t", "enter")
        assert before and stage.engine.asked(Run)[-1].prompt == "Next"
        assert {count for *_, count in shares(stage.app.state)} == {1}
        assert "of this prompt" not in stage.text


async def test_a_speedup_over_few_tokens_is_grey(play: Play) -> None:
    cases: list[tuple[dict[str, Any], str]]
    cases = [({}, "bold $foreground"), ({"tokens": 12}, "$quiet")]
    async with play() as stage:
        for changes, style in cases:
            await answer(stage, **changes)
            state = stage.app.state
            _, right = lane_title(state, 2, state.lanes["draft"])
            assert [part.style for part in right if part.text == "1.50×"] == [style]


async def test_a_speedup_above_tau_is_not_to_be_believed(play: Play) -> None:
    async with play() as stage:
        await answer(stage, {"ar": 1.0, "draft": 3.3, "lookup": 2.3}, tokens_per_pass=3.0)
        lines = stage.text.splitlines()
        y = next(y for y, line in enumerate(lines) if "3.30×?" in line)
        assert "2.30× " in stage.text and "1.00× " in stage.text
        x = lines[y].index("3.30×?")
        await stage.pilot.hover(offset=(x, y))
        line, _ = stage.app.screen.get_widget_at(x, y)
        assert "impossible: more than τ" in str(line.tooltip)


async def test_of_earlier_runs_only_what_figures_need_is_kept(play: Play) -> None:
    async with play() as stage:
        await stage.begin()
        made = stepped("draft", [" is"], [], ".")
        heavy = replace(made.round, top=(((1, 0.5, 0.5),),) * 2, p=(1.0, 0.5), q=(1.0, 0.4))
        await stage.tell(prefilled("draft", "It"), replace(made, round=heavy))
        await stage.tell(Finished("draft", "stop"), RunFinished(0, False))
        lane = stage.app.state.lanes["draft"]
        (run,) = stage.app.state.runs.like(lane)
        assert run.rounds == (replace(heavy, top=(), p=()),)
        assert lane.rounds == [heavy]  # the last run is whole, and counted once
        assert not stage.app.state.runs.statistics_before(lane).rounds


async def test_where_drafting_does_not_pay_nobody_gets_the_star(play: Play) -> None:
    async with play((100, 30), scoreboard=True) as stage:
        await answer(stage, {"ar": 1.0, "draft": 0.8, "lookup": 0.9})
        assert "Drafting does not pay here" in stage.text and "★" not in stage.text


async def test_runs_in_a_race_and_fair_runs_have_medians_of_their_own(play: Play) -> None:
    async with play() as stage:
        schedules: tuple[Schedule, ...] = ("fair", "race", "fair")
        for begun, schedule in enumerate(schedules):
            run = RunStarted(0, 0, "Hi", 3, 42, tuple(SPEEDS), schedule=schedule, at=begun)
            await stage.tell(run)
            for name, times in SPEEDS.items():
                now = at(times)
                await stage.tell(prefilled(name, "A"), stepped(name, ["b"], [], "c", now))
                await stage.tell(Finished(name, "stop", None, now))
            await stage.tell(RunFinished(0, False))
        assert [count for *_, count in shares(stage.app.state)] == [2] * len(SPEEDS)
