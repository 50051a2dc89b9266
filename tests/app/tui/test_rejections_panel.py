"""The list of rejections, and probabilities that are asked for when an answer is finished."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.engine.commands import ComputeProbabilities, RecordProbabilities
from app.engine.events import Prefilled, ProbabilitiesComputed, RoundFinished, RunStarted
from app.report.rejections import Rejection, TokenKind
from app.text.token_event import TokenEvent
from app.tui.format.rejections import COLUMNS, ordered
from app.tui.widgets.rejections_panel import RejectionsPanel, RejectionTable
from decoding.params import Params
from decoding.round import Round, TokenFate, TokenProbs
from tests.support.rounds import CHAIN, TEXTS
from tests.support.scripted import metrics, prefilled, stepped
from tests.support.stage import LANES, Play, Stage

TOP = ((7, 0.6, 1.0), (4, 0.2, 0.0), (5, 0.1, 0.0), (6, 0.05, 0.0), (2, 0.04, 0.0))
SECOND = replace(CHAIN, index=1, tokens=(7, 9, 3, 6), accepted=(), emitted=(8,), tested=1)
PROBS = TokenProbs(0.75, TOP, (0.6, 1.0))
FIRST = Prefilled("draft", 0.1, TokenEvent(1, "It is", TokenFate.FIRST, -1))
SHOWN = (
    (
        TokenEvent(2, " Paris", TokenFate.ACCEPTED, 0, 1),
        TokenEvent(4, ",", TokenFate.REJECTED, 0, 2),
        TokenEvent(7, " and", TokenFate.CORRECTION, 0),
    ),
    (
        TokenEvent(9, "In", TokenFate.REJECTED, 1, 1),
        TokenEvent(8, "It", TokenFate.CORRECTION, 1),
    ),
)
ROUNDS = (CHAIN, SECOND)


def measured(record: Round, p: float) -> Round:
    """With the target's probabilities, as they are worked out afterwards."""
    nodes = len(record.tokens)
    return replace(
        record,
        p=(1.0,) * nodes,
        model_p=(1.0, *[p] * (nodes - 1)),
        entropies=(1.5,) * nodes,
        top=(TOP,) * nodes,
        own_p=(0.6, 1.0),
    )


async def answered(stage: Stage, run: int = 0, ids: tuple[int, ...] = (5, 6, 7)) -> None:
    lanes = ("ar", "draft", "lookup")
    started = RunStarted(run, run, "Hello", 3, 42, lanes, ids, at=stage.clock.now)
    steps = [
        RoundFinished("draft", record, shown, metrics(), TEXTS, Params())
        for record, shown in zip(ROUNDS, SHOWN, strict=True)
    ]
    await stage.tell(started, FIRST, *steps)
    await stage.finish(run)


def words(stage: Stage) -> str:
    return " ".join(stage.text.replace("│", " ").replace("┃", " ").split())


def listed(stage: Stage) -> list[str]:
    lines = stage.text.splitlines()
    start = next(number for number, line in enumerate(lines) if "drafted" in line)
    rows = [line.strip("│┃ ")[:30].split() for line in lines[start + 1 :]]
    known = {text.replace(" ", "·") for text in TEXTS.values()}
    return [" ".join(row[1:3]) for row in rows if len(row) > 2 and row[2] in known]


@pytest.mark.parametrize("size", [(100, 30), (60, 24)])
async def test_every_rejection_is_listed_and_sorted(play: Play, size: tuple[int, int]) -> None:
    async with play(size) as stage:
        await stage.to_lane(2)
        await answered(stage)
        await stage.press("R")
        assert "Rejections · 2 Draft model" in stage.text and "2 of 3 tested" in stage.text
        assert listed(stage) == [", ·and", "In It"]
        await stage.press("right")
        assert listed(stage) == [", ·and", "In It"]  # by the number of the token drafted
        await stage.press("right")
        assert listed(stage) == [", ·and", "In It"] and "wanted▴" in stage.text
        await stage.press("right")
        assert listed(stage) == ["In It", ", ·and"] and "level▴" in stage.text


async def test_it_is_shown_after_another_panel_and_with_one_pane(play: Play) -> None:
    async with play((60, 24)) as stage:
        await stage.to_lane(2)
        await answered(stage)
        await stage.press("v", "z", "R")
        assert "Rejections · 2 Draft model" in stage.text and listed(stage) == [", ·and", "In It"]
        assert stage.app.main.focused is stage.app.main.query_one("RejectionTable")


@pytest.mark.parametrize("size", [(100, 30), (60, 24)])
async def test_enter_goes_to_the_token(play: Play, size: tuple[int, int]) -> None:
    async with play(size) as stage:
        await stage.to_lane(2)
        await answered(stage)
        await stage.press("R", "down", "enter")
        view = stage.view(2)
        assert view.has_focus and view.cursor is not None
        assert view.body.spans[view.cursor].token == SHOWN[1][0]
        assert stage.app.state.lanes["draft"].cursor == SHOWN[1][0]


@pytest.mark.parametrize("size", [(100, 30), (60, 24)])
async def test_the_list_has_the_keys_as_soon_as_there_is_one(
    play: Play, size: tuple[int, int]
) -> None:
    async with play(size) as stage:
        await stage.to_lane(2)
        await stage.press("g", "R")  # a slider gives way as well
        await answered(stage)
        table = stage.app.main.query_one("RejectionTable")
        assert table.has_focus and "in the list: Enter" not in stage.text
        await stage.begin("Again", 1)  # and again when a run has emptied it
        await answered(stage, 1)
        assert table.has_focus
        await stage.press("1")
        await stage.press("2")
        assert table.has_focus == (size == (60, 24))
        assert ("in the list: Enter" in stage.text) != table.has_focus
        await stage.press("i", "escape")
        assert table.has_focus
        await stage.press("R")
        assert stage.view(2).has_focus


async def test_a_list_leaves_the_prompt_to_who_writes(play: Play) -> None:
    async with play() as stage:
        await stage.to_lane(2)
        await answered(stage)
        for key in ("R", "i", "w", "h", "y"):
            stage.app.simulate_key(key)
        await stage.pilot.pause()
        assert stage.app.main.prompt.text == "why" and stage.app.main.prompt.has_focus


async def test_a_token_panel_opened_at_a_slider_has_its_keys(play: Play) -> None:
    async with play() as stage:
        await stage.to_lane(2)
        await answered(stage)
        await stage.press("g", "w", "left")
        assert stage.view(2).cursor is not None and stage.app.state.params == Params()


async def test_where_rejected_tokens_are_hidden_enter_goes_to_what_came(play: Play) -> None:
    async with play() as stage:
        await stage.to_lane(2)
        await answered(stage)
        await stage.press("x", "R", "enter")
        assert stage.app.state.lanes["draft"].cursor == SHOWN[0][2]


async def test_an_empty_list_says_why(play: Play) -> None:
    async with play() as stage:
        await stage.to_lane(2)
        await stage.begin()
        await stage.tell(prefilled("draft", "It"), stepped("draft", [" is", " so"], [], "."))
        await stage.press("R")
        assert "nothing was rejected: the target agreed with 2 tested drafts" in " ".join(
            stage.text.split()
        )


async def test_where_the_list_is_empty_the_keys_scroll_the_shares(play: Play) -> None:
    async with play((60, 24)) as stage:
        await stage.to_lane(2)
        await stage.begin()
        await stage.tell(prefilled("draft", "It"), stepped("draft", [" is"] * 12, [], "."))
        await stage.finish()
        await stage.press("R")
        assert "by level" in stage.text
        await stage.press("end")
        assert "by level" not in stage.text and "by kind" in stage.text


async def test_a_lane_that_does_not_draft_has_none(play: Play) -> None:
    async with play() as stage:
        await answered(stage)
        await stage.press("escape", "R", "1")
        assert "This lane does not draft" in stage.text


async def test_a_finished_answer_is_measured_when_it_is_looked_at(play: Play) -> None:
    async with play() as stage:
        await stage.to_lane(2)
        await answered(stage)
        assert not stage.engine.asked(ComputeProbabilities)
        await stage.press("w")
        request = ComputeProbabilities(
            "draft", 0, (5, 6, 7), 1, Params(), ROUNDS, (Params(), Params())
        )
        assert stage.engine.asked(ComputeProbabilities) == [request]
        assert "Computing the probabilities" in stage.text
        rounds = tuple(measured(record, 0.2) for record in ROUNDS)
        await stage.tell(ProbabilitiesComputed("draft", 0, PROBS, rounds, {5: "."}))
        assert "Computing" not in stage.text and "✓ … It" in stage.text
        await stage.press("R")
        assert [row.split()[-1] for row in stage.text.splitlines() if "·and" in row][-1]
        assert "2    .200" in stage.text and "1.5" in stage.text
        assert "q not recorded: F5 records it" in stage.text
        await stage.press("enter", "w")
        assert "not recorded: F5 records it" in words(stage)
        await stage.press("R")
        await stage.press("w", "v", "l")
        assert stage.engine.asked(ComputeProbabilities) == [request]


async def test_the_colours_are_measured_as_well(play: Play) -> None:
    async with play() as stage:
        await stage.to_lane(2)
        await answered(stage)
        await stage.press("l")
        assert "computing p" in stage.text
        rounds = tuple(measured(record, 0.2) for record in ROUNDS)
        await stage.tell(ProbabilitiesComputed("draft", 0, PROBS, rounds, {}))
        assert "computing p" not in stage.text
        spans = stage.view(2).body.spans
        assert all(getattr(s.source, "round", measured(CHAIN, 1)).top for s in spans if s.token)


async def test_while_an_answer_is_made_nothing_is_measured(play: Play) -> None:
    async with play() as stage:
        await stage.to_lane(2)
        await stage.press("w")
        assert stage.engine.asked(RecordProbabilities)
        started = RunStarted(0, 0, "Hello", 3, 42, ("ar", "draft", "lookup"), (5, 6, 7))
        await stage.tell(started, FIRST)
        assert "No probabilities yet: computed" in stage.text
        assert not stage.engine.asked(ComputeProbabilities)
        await stage.finish()
        assert [each.lane for each in stage.engine.asked(ComputeProbabilities)] == ["draft"]


async def test_what_belongs_to_another_answer_is_ignored(play: Play) -> None:
    async with play() as stage:
        await stage.to_lane(2)
        await answered(stage)
        await stage.press("w")
        rounds = tuple(measured(record, 0.2) for record in ROUNDS)
        await stage.tell(ProbabilitiesComputed("draft", 7, PROBS, rounds, {}))
        await stage.tell(ProbabilitiesComputed("gone", 0, PROBS, rounds, {}))
        assert "Computing" in stage.text
        await stage.tell(ProbabilitiesComputed("draft", 0, note="out of memory"))
        assert "No probabilities: out of memory" in stage.text
        assert len(stage.engine.asked(ComputeProbabilities)) == 1


async def test_the_shares_are_over_all_answers_with_these_settings(play: Play) -> None:
    """Again the same prompt counts once; another one comes on top."""
    async with play() as stage:
        await stage.to_lane(2)
        await answered(stage)
        await answered(stage)
        await stage.press("R")
        assert "shares:" not in stage.text
        await answered(stage, 1, (8, 9))
        assert "shares: 2 answers" in stage.text and "2 of 3 tested" in stage.text
        assert "███     50%  50%     4" in stage.text  # of the first level
        await stage.resize(60, 24)
        assert "Rejections · 2 Draft model" in stage.text and "2 of 3 tested" in stage.text


async def test_it_is_compared_with_what_the_checkpoint_says_and_a_lane_beside(play: Play) -> None:
    claiming = replace(LANES[1], claimed=(0.9, 0.625))
    other = replace(LANES[1], name="draft#2")
    async with play((60, 90)) as stage:
        await stage.load((LANES[0], claiming, other))
        await stage.to_lane(2)
        await answered(stage)
        await stage.press("R")
        assert "1st guess right here says" in words(stage) and "lane 3" not in stage.text
        assert "level 1 50% 90%" in words(stage) and "level 2 0% 62%" in words(stage)
        await stage.tell(
            Prefilled("draft#2", 0.1, TokenEvent(1, "It is", TokenFate.FIRST, -1)),
            RoundFinished("draft#2", CHAIN, SHOWN[0], metrics(), TEXTS, Params()),
        )
        assert "1st guess right here says lane 3" in words(stage)
        assert "level 1 50% 90% 100%" in words(stage) and "name 100% – 100%" in words(stage)
        await stage.press("3")
        assert "1st guess right here lane 2" in words(stage)
        assert "level 1 100% 50%" in words(stage)


def test_what_has_no_value_comes_last() -> None:
    found = [
        Rejection(0, 1, 1, 2, TokenKind.WORD, None, None, None, None),
        Rejection(1, 1, 1, 2, TokenKind.WORD, 1, 0.1, 0.2, 0.5),
        Rejection(2, 1, 1, 2, TokenKind.WORD, 2, 0.3, 0.1, 1.5),
    ]
    by = {column.heading: column for column in COLUMNS}

    def order(heading: str, reverse: bool = False) -> list[int]:
        return [each.round for each in ordered(found, by[heading], {}, reverse)]

    assert order("q") == [1, 2, 0] and order("q", True) == [2, 1, 0]
    assert order("rank") == [1, 2, 0] and order("bits") == [2, 1, 0]


def test_tokens_are_sorted_by_their_letters() -> None:
    texts = {1: " zoo", 2: "Apple", 3: ",", 4: " bee", 5: "#"}
    found = [
        Rejection(at, 1, token, 5, TokenKind.WORD, None, None, None, None)
        for at, token in enumerate(texts)
    ]
    drafted = next(column for column in COLUMNS if column.heading == "drafted")
    assert [texts[each.token] for each in ordered(found, drafted, texts, False)] == [
        *("#", ","), *("Apple", " bee", " zoo"),
    ]  # fmt: skip


async def test_a_column_without_room_is_left_out_as_a_whole(play: Play) -> None:
    async with play((60, 24)) as stage:
        await stage.to_lane(2)
        await answered(stage)
        await stage.press("R")
        heading = next(line for line in stage.text.splitlines() if "drafted" in line)
        assert heading.strip("│┃ ").endswith("bits")
        await stage.resize(150, 30)
        assert "kind" in next(line for line in stage.text.splitlines() if "drafted" in line)


def cells(stage: Stage) -> list[list[str]]:
    table = stage.app.main.query_one(RejectionTable)
    return [[str(cell) for cell in table.get_row_at(row)] for row in range(table.row_count)]


def rejecting(index: int, rank: int) -> RoundFinished:
    """SECOND, as round number `index`; its draft is as likely as its `rank` says."""
    record = replace(measured(SECOND, 1 / (rank + 2)), index=index, top=(TOP,) * 4)
    return RoundFinished("draft", record, SHOWN[1], metrics(), TEXTS, Params())


@pytest.mark.parametrize("steps", [0, 1, 3, 5])
async def test_what_is_new_is_listed_where_it_belongs(play: Play, steps: int) -> None:
    """As if the whole list were made anew, by any column; the highlight stays."""
    async with play((100, 40)) as stage:
        await stage.to_lane(2)
        await stage.begin()
        await stage.tell(FIRST, rejecting(0, 4))
        await stage.press("R", *["right"] * steps)
        table = stage.app.main.query_one(RejectionTable)
        panel = stage.app.main.query_one(RejectionsPanel)
        for index, rank in enumerate((5, 1, 9, 1, 3), 1):
            here = cells(stage)[table.cursor_row]
            await stage.tell(rejecting(index, rank))
            shown = cells(stage)
            assert len(shown) == index + 1 and shown[table.cursor_row] == here
            await stage.press("up" if index % 2 else "down")
            at = table.cursor_row
            panel._fill()
            assert cells(stage) == shown and table.cursor_row == at


async def test_another_answer_is_another_list(play: Play) -> None:
    """Though it may have as many rounds, and rows of the same numbers."""
    async with play((100, 40)) as stage:
        await stage.to_lane(2)
        await stage.begin()
        await stage.tell(FIRST, rejecting(0, 4), rejecting(1, 2))
        await stage.press("R")
        before = cells(stage)
        await stage.finish()
        await stage.begin()
        assert cells(stage) == []
        await stage.tell(FIRST, rejecting(0, 1), rejecting(1, 7))
        assert len(cells(stage)) == 2 and cells(stage) != before
        assert "2 of 2 tested" in stage.text


async def test_probabilities_that_come_later_are_listed(play: Play) -> None:
    async with play((160, 40)) as stage:
        await stage.to_lane(2)
        await answered(stage)
        await stage.press("R")
        without = cells(stage)
        rounds = tuple(measured(record, 0.25) for record in ROUNDS)
        await stage.tell(ProbabilitiesComputed("draft", 0, PROBS, rounds, {}))
        assert [row[:4] for row in cells(stage)] == [row[:4] for row in without]
        assert cells(stage) != without and all(".250" in row for row in cells(stage))
