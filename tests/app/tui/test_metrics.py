"""The figures panel: what the rounds of a lane add up to."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from textual.widgets import Sparkline

from app.engine.commands import RecordProbabilities
from app.engine.events import Finished, LanesChanged, Loaded, Memory, RoundFinished, RunFinished
from app.tui.format.bars import bar
from app.tui.format.metrics import (
    Figures,
    accepted_lines,
    flow,
    position_lines,
    time_lines,
)
from decoding.round import Round
from decoding.stats import Stats, acceptance_by_position
from tests.support.scripted import metrics, prefilled, stepped
from tests.support.stage import LANES, Play, Stage


def drafted(accepted: int, gamma: int = 3, seconds: float = 0.02) -> Round:
    """A chain: a quarter of its time for the draft, half for the pass."""
    return Round(
        index=0,
        tokens=(0,) * (gamma + 1),
        parents=tuple(range(-1, gamma)),
        accepted=tuple(range(1, accepted + 1)),
        emitted=(0,) * (accepted + 1),
        tested=min(accepted + 1, gamma),
        draft_seconds=seconds / 4,
        verify_seconds=seconds / 2,
        accept_seconds=seconds / 10,
        total_seconds=seconds,
        gamma=gamma,
    )


def step(record: Round, name: str = "draft") -> RoundFinished:
    return replace(stepped(name, ["a"] * len(record.accepted), [], "b", metrics()), round=record)


ROUNDS = [drafted(accepted) for accepted in (3, 3, 1, 0)]


def test_a_bar_is_drawn_in_eighths_and_shows_all_that_is_there() -> None:
    assert bar(0.5, 4) == "██  " and bar(1.0, 4) == "████" and bar(0.0, 4) == "    "
    assert bar(0.53125, 4) == "██▏ " and bar(0.0001, 4) == "▏   "


def test_accepted_tokens_of_a_round() -> None:
    assert accepted_lines(Figures.of(ROUNDS).histogram, 12, 22).plain.splitlines() == [
        "accepted in a round",
        " 0 ████        1  25%",
        " 1 ████        1  25%",
        " 2             0   0%",
        " 3 ████████    2  50%",
    ]


def test_every_row_has_its_line_where_it_is_narrow() -> None:
    lines = accepted_lines(Figures.of(ROUNDS).histogram, 12, 60).plain.splitlines()
    assert lines[0] == "accepted in a round, of 3.0 drafted on average" and len(lines) == 5


def test_conditional_and_unconditional_acceptance_by_position() -> None:
    lines = position_lines(acceptance_by_position(ROUNDS), None, 37).plain.splitlines()
    assert lines[0].split() == ["pos", "α", "if", "reached", "α", "at", "all", "tested"]
    assert lines[1:] == [
        "  1 ███   75%  ███   75% ±34%      4",
        "  2 ██▋   67%  ██    50% ±35%      3",
        "  3 ████ 100%  ██    50% ±35%      2",
    ]
    wide = position_lines(acceptance_by_position(ROUNDS * 100), None, 60).plain.splitlines()
    assert " 75% ±4%" in wide[1] and wide[-1].split() == ["0", "1", "0", "1"]
    sure = acceptance_by_position([drafted(1, gamma=1)] * 18)
    assert "100% ±12%" in position_lines(sure, None, 37).plain


async def test_acceptance_by_position_is_over_the_session(play: Play) -> None:
    async with play((100, 40)) as stage:
        for prompt in ("One", "Two"):
            await stage.begin(prompt)
            await stage.tell(prefilled("draft", "The"), *(step(record) for record in ROUNDS))
            await stage.finish()
        await stage.press("tab", "tab", "s")
        assert "by position, over 8 rounds of the session" in stage.text
        await stage.press("left_square_bracket")
        assert "of the session" not in stage.text


def test_where_the_time_goes() -> None:
    assert time_lines(Stats.of(ROUNDS), True, 40).plain.splitlines() == [
        "a round takes 20ms",
        "██████████▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒░░░░······",
        "█ draft 5.0ms 25%   ▒ verify 10ms 50%",
        "░ accept 2.0ms 10%   · other 3.0ms 15%",
    ]
    alone = time_lines(Stats.of(ROUNDS), False, 40)
    assert "draft" not in alone.plain and "· other 8.0ms 40%" in alone.plain
    uneven = replace(
        ROUNDS[0], draft_seconds=0.126, verify_seconds=0.126, accept_seconds=0.126, total_seconds=1
    )
    percents = re.findall(r"(\d+)%", time_lines(Stats.of([uneven]), True, 40).plain)
    assert sum(map(int, percents)) == 100
    timeless = time_lines(Stats.of([drafted(1, seconds=0.0)]), True, 40)
    assert timeless.plain.splitlines()[0] == "a round takes 0.0ms"


def test_the_history_is_over_windows_of_rounds() -> None:
    rounds = [drafted(3, seconds=0.01)] * 8 + [drafted(0, seconds=0.03)] * 8
    figures = Figures.of(rounds)
    taus, speeds = figures.taus.points, figures.speeds.points
    assert len(taus) == len(speeds) == 9
    assert (taus[0], taus[4], taus[8]) == (4.0, 2.5, 1.0)
    assert (figures.taus.low, figures.taus.high) == (1.0, 4.0)
    assert speeds[0] == pytest.approx(400.0) and speeds[8] == pytest.approx(1 / 0.03)
    begun = Figures.of([rounds[-1], rounds[0]])  # one point, of both
    assert begun.taus.points == [2.5] and begun.speeds.points == pytest.approx([125.0])
    assert (begun.taus.low, begun.taus.high) == (2.5, 2.5)
    assert Figures.of([drafted(1, seconds=0.0)]).speeds.points == [0.0]


def test_rows() -> None:
    assert flow(["aa", "bb", "cc"], "  ", 6) == ["aa  bb", "cc"]
    assert flow(["too long"], "  ", 3) == ["too long"]


async def answered(stage: Stage) -> None:
    await stage.begin()
    await stage.tell(prefilled("draft", "The"), *(step(record) for record in ROUNDS))
    await stage.tell(Finished("draft", "stop", None, metrics()))


async def test_the_panel_shows_the_lane_in_focus(play: Play) -> None:
    async with play((100, 40), load=False) as stage:
        memory = Memory(300 * 2**20, None, {"ar": 2**20, "draft": 3 * 2**20})
        weights = {"target": 50 * 2**20, "draft": 9 * 2**20}
        await stage.tell(
            Loaded(*("demo", "cpu", "float32", 2, 2048, LANES), weights=weights, memory=memory)
        )
        await answered(stage)
        await stage.press("tab", "tab", "s")
        for words in (
            *("Figures · 2 Draft model", "rounds 1 to 4 of 4", "accepted in a round"),
            *("α if reached", "α at all", "a round takes 20ms", "tokens per pass (τ) 2.8, "),
            *("memory: process 300 MiB", "target 50 MiB", "this lane 3.0 MiB", "all lanes 4.0 MiB"),
        ):
            assert words in stage.text, words
        grown = replace(memory, process=400 * 2**20)
        await stage.tell(LanesChanged(LANES, {**weights, "medusa": 2**20}, grown))
        assert "process 400 MiB" in stage.text and "medusa 1.0 MiB" in stage.text
        await stage.tell(RunFinished(0, False, replace(memory, device=2**31)))
        assert "GPU 2.0 GiB" in stage.text
        assert not stage.engine.asked(RecordProbabilities)  # it wants no probabilities


async def test_metrics_follow_the_round_that_is_shown(play: Play) -> None:
    async with play((100, 40)) as stage:
        await answered(stage)
        await stage.press("tab", "tab", "s", "left_square_bracket", "left_square_bracket")
        assert "rounds 1 to 2 of 4" in stage.text and " 3 " in stage.text
        panel = stage.app.main.query_one("#figures")
        assert [plot.data for plot in panel.query(Sparkline)] == [[4.0], [pytest.approx(200.0)]]
        await stage.press("right_square_bracket", "right_square_bracket")
        assert "rounds 1 to 4 of 4" in stage.text


async def test_a_lane_that_drafts_nothing_and_one_that_has_not_begun(play: Play) -> None:
    async with play((100, 40)) as stage:
        await stage.begin()
        plain = replace(drafted(0), tokens=(0,), parents=(-1,), tested=0, gamma=0)
        await stage.tell(prefilled("ar", "The"), step(plain, "ar"))
        await stage.press("tab", "s")
        assert "This lane does not draft" in stage.text and "accepted in a round" not in stage.text
        assert "a round takes 20ms" in stage.text and "(τ)" not in stage.text
        await stage.press("tab")
        assert "No round yet" in stage.text and "a round takes" not in stage.text
        note = next(row for row in stage.text.splitlines() if "No round yet" in row)
        assert note.startswith("│") and note.rstrip().endswith("│")  # though nothing is to scroll


async def test_where_it_is_narrow_it_stands_alone(play: Play) -> None:
    async with play((60, 24)) as stage:
        await answered(stage)
        await stage.press("tab", "2", "s")
        lines = stage.text.splitlines()
        assert any("Figures · 2 Draft model" in line for line in lines)
        blocks = [i for i, line in enumerate(lines) if "accepted in a" in line or "pos α" in line]
        assert len(blocks) == 2  # one under the other
        await stage.press("end")
        assert "tok/s" in stage.text and "accepted in a" not in stage.text
        await stage.resize(100, 40)
        row = next(line for line in stage.text.splitlines() if "accepted in a round" in line)
        assert "pos α if reached" in row
