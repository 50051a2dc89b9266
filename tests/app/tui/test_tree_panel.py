"""The tree inspector: what became of each node in words, time travel, what is watched."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.engine.commands import RecordProbabilities, Stop
from app.engine.events import RoundFinished, RunFinished
from app.tui.format.bars import time_bar
from app.tui.format.numbers import ordinal, probability
from app.tui.format.tree import OWN_FATES, PRUNED, tree_lines
from app.tui.widgets.lane_pane import LanePane
from app.tui.widgets.search_line import SearchLine
from app.tui.widgets.tree_view import TreeView
from decoding.round import Pruned, Round, TokenFate
from tests.support.rounds import CHAIN, TEXTS, TREE
from tests.support.scripted import metrics, prefilled, stepped
from tests.support.stage import LANES, Play, Stage, color_name


def step(name: str, record: Round) -> RoundFinished:
    return RoundFinished(name, record, (), metrics(), TEXTS)


async def drafted(stage: Stage, *rounds: Round) -> None:
    """Where it is wide: lane 2 is in focus, the tree is open, and these rounds have come."""
    await stage.to_lane(2)
    await stage.press("v")
    await stage.begin()
    await stage.tell(prefilled("draft", "It"), *(step("draft", record) for record in rounds))


def drawn(record: Round, *, heads: bool = False, tight: bool = False) -> list[str]:
    return [
        f"{line.branch}{line.arm}{line.mark}{line.token}|{line.guess}|{line.p}|{line.what}"
        for line in tree_lines(record, TEXTS, heads=heads, tight=tight)
    ]


def test_every_node_has_a_line_and_a_reason() -> None:
    assert drawn(TREE, heads=True) == [
        "●·is|||the last committed token",
        "┝━✓·Paris|h1 1st|.810|accepted",
        "│ ┝━✓,|h2 1st|.620|accepted",
        "│ │ ├─✗·a|h3 1st|.210|the target chose ·and instead",
        "│ │ ┕━◆·and|||correction: the target's own",
        "│ └─✗.|h2 2nd|<.001|a sibling was chosen: ,",
        "└─✗·the|h1 2nd|.070|a sibling was chosen: ·Paris",
        "  └─·,|h2 1st|.300|its parent was rejected",
    ]


def test_a_greedy_round_shows_the_probabilities_before_temperature() -> None:
    raw = tuple(0.5 for _ in TREE.tokens)
    greedy = replace(TREE, sampled=False, model_p=raw)
    assert {line.p for line in tree_lines(greedy, TEXTS) if line.guess} == {".500"}
    drawn_anew = tree_lines(replace(greedy, sampled=True), TEXTS)
    assert [line.p for line in drawn_anew][:3] == ["", ".810", ".620"]


def test_a_sampled_chain_dies_by_p_over_q() -> None:
    assert drawn(CHAIN, tight=True) == [
        "●·is|||the last committed token",
        "┕✓·Paris|||accepted",
        " ├✗,||" + "|p/q too small; the target drew ·and",
        " │└·" + "·a|||its parent was rejected",
        " ┕◆·and|||correction: the target's own",
    ]


def test_an_accepted_chain_ends_in_a_bonus_and_a_cut_one_in_nothing() -> None:
    whole = replace(CHAIN, accepted=(1, 2, 3), emitted=(2, 4, 6, 7), tested=3)
    assert drawn(whole)[-1].endswith("·and|||bonus: the target's own")
    cut = replace(CHAIN, accepted=(1,), emitted=(2,), tested=1)
    assert [line.what for line in tree_lines(cut, TEXTS)[2:]] == ["after the end of the answer"] * 2


def test_no_draft_is_only_the_targets_own_token() -> None:
    alone = replace(CHAIN, tokens=(1,), parents=(-1,), accepted=(), emitted=(99,), tested=0)
    assert drawn(alone)[1:] == ["┕━◆#99|||the target's own token"]


def test_typical_acceptance_does_not_speak_of_the_targets_choice() -> None:
    lossy = tree_lines(replace(TREE, lossy=True), TEXTS)
    assert [line.what for line in lossy if line.fate == TokenFate.REJECTED] == [
        "too unlikely; the target drew ·and",
        "another path was kept: ,",
        "another path was kept: ·Paris",
    ]


def test_numbers() -> None:
    assert [ordinal(rank) for rank in (0, 1, 2, 3, 10, 20)] == [
        "1st", "2nd", "3rd", "4th", "11th", "21st",
    ]  # fmt: skip
    assert [probability(p) for p in (0.0, 1e-6, 0.2104, 0.9999)] == [
        ".000",
        "<.001",
        ".210",
        "1.00",
    ]


def test_the_bar_shows_each_part_and_fills_its_room() -> None:
    assert time_bar((1.0, 2.0, 1.0), 8) == "██▒▒▒▒░░"
    assert time_bar((0.0001, 5.0, 0.0001), 8) == "█▒▒▒▒▒▒░"
    assert time_bar((0.0, 0.0, 0.0), 8) == ""


async def test_the_inspector_shows_the_round_and_is_closed_again(play: Play) -> None:
    async with play() as stage:
        await drafted(stage, TREE)
        assert "Tree · 2 Draft model · round 1 of 1" in stage.text
        assert "drafted 6 tested 3 accepted 2 emitted 3" in stage.text
        assert "█ draft 1.0ms ▒ verify 6.0ms ░ accept 0.5ms" in stage.text
        assert "8.0ms █▒▒▒▒▒▒▒▒░" in stage.text
        assert "a sibling was chosen: ·Paris" in stage.text
        await stage.press("v")
        assert "Tree ·" not in stage.text and "sibling" not in stage.text
        assert stage.app.focused is stage.view(2)


async def test_an_open_panel_records_probabilities_of_enabled_lanes(play: Play) -> None:
    async with play() as stage:
        await stage.press("tab", "v")
        assert stage.engine.asked(RecordProbabilities) == [
            RecordProbabilities(frozenset({"ar", "draft", "lookup"}))
        ]
        await stage.press("3", "o")
        assert stage.engine.asked(RecordProbabilities)[-1] == RecordProbabilities(
            frozenset({"ar", "draft"})
        )
        await stage.press("v")
        assert stage.engine.asked(RecordProbabilities)[-1] == RecordProbabilities(frozenset())


async def test_a_panel_that_has_no_room_any_more_needs_no_probabilities(play: Play) -> None:
    async with play((170, 40)) as stage:
        await stage.press("tab", "v", "s")
        assert "Tree ·" in stage.text and len(stage.engine.asked(RecordProbabilities)) == 1
        await stage.resize(100, 40)
        await stage.tell()
        assert "Tree ·" not in stage.text
        assert stage.engine.asked(RecordProbabilities)[-1] == RecordProbabilities(frozenset())


async def test_drawing_sends_no_commands(play: Play) -> None:
    async with play() as stage:
        await stage.begin()
        await stage.tell(prefilled("draft", "It"), step("draft", TREE))
        await stage.finish()
        sent = len(stage.engine.calls)
        stage.app.main.open = "tree"
        stage.app.main.show_state()
        assert len(stage.engine.calls) == sent
        await stage.tell()
        assert stage.engine.asked(RecordProbabilities)


@pytest.mark.parametrize("size", [(100, 40), (60, 24)])
async def test_its_edge_has_the_keys_to_other_rounds(play: Play, size: tuple[int, int]) -> None:
    async with play(size) as stage:
        await stage.to_lane(2)
        await stage.begin()
        await stage.tell(prefilled("draft", "It"), stepped("draft", [" is"], [" so"], " it"))
        await stage.finish()
        await stage.press("v")
        assert "[ ] round by round" in stage.text


async def test_time_travel_when_done(play: Play) -> None:
    async with play() as stage:
        await drafted(stage, TREE, CHAIN, TREE)
        await stage.press("left_square_bracket")
        assert "round 3 of 3" in stage.text and "Space pauses, then [ goes back" in stage.text
        await stage.finish()
        await stage.press("left_square_bracket")
        assert "round 2 of 3" in stage.text and "p/q too small" in stage.text
        await stage.press("left_square_bracket", "left_square_bracket")
        assert "round 1 of 3" in stage.text and "This is the first round" in stage.text
        await stage.press("right_square_bracket", "right_square_bracket", "right_square_bracket")
        assert "round 3 of 3" in stage.text and "This is the newest round" in stage.text


async def test_a_new_round_comes_into_view(play: Play) -> None:
    async with play() as stage:
        await drafted(stage, TREE, CHAIN)
        await stage.press("space", "left_square_bracket")
        assert "round 1 of 2" in stage.text
        await stage.press("n")
        await stage.tell(step("draft", CHAIN))
        assert "round 3 of 3" in stage.text
        await stage.begin()
        assert "No round yet" in stage.text


async def test_it_goes_with_the_focus_from_lane_to_lane(play: Play) -> None:
    async with play() as stage:
        await drafted(stage, TREE)
        await stage.press("tab")
        assert "Tree · 3 Prompt lookup" in stage.text and "No round yet" in stage.text


async def test_rounds_from_before_it_was_opened(play: Play) -> None:
    async with play() as stage:
        await stage.press("tab", "tab")
        await stage.begin()
        await stage.tell(prefilled("draft", "The"), stepped("draft", [" sky"], [" was"], " is"))
        await stage.press("left_square_bracket")  # opens it
        assert "round 1 of 1" in stage.text
        first = next(line for line in stage.text.splitlines() if "F5 runs" in line)
        assert "No probabilities recorded: F5 runs it again and records them." in first
        head = stage.text.index("what became of it")
        assert stage.text.index("F5 runs") < head < stage.text.index("the last committed token")


async def test_the_key_to_another_round_opens_it_on_the_lane_in_focus(play: Play) -> None:
    async with play() as stage:
        await stage.to_lane(1)
        await stage.begin("Hello", 0, "ar", "draft")
        await stage.tell(prefilled("ar", "It"), prefilled("draft", "It"), step("draft", TREE))
        await stage.tell(stepped("ar", [], [], " is"), stepped("ar", [], [], " so"))
        await stage.finish(0, "ar", "draft")
        await stage.press("right_square_bracket")
        assert "Tree · 1 Autoregressive · round 2 of 2" in stage.text
        assert stage.app.main.pane_here is stage.app.main.grid.pane(1)
        await stage.press("left_square_bracket")
        assert "Tree · 1 Autoregressive · round 1 of 2" in stage.text


async def test_a_note_has_as_many_rows_as_it_needs(play: Play) -> None:
    async with play((40, 12)) as stage:
        await stage.press("tab", "2", "v")
        words = " ".join(stage.text.replace("│", " ").split())
        assert "No round yet: the trees appear with the answer." in words
        await stage.begin()
        await stage.tell(prefilled("draft", "The"), stepped("draft", [" sky"], [" was"], " is"))
        await stage.finish()
        words = " ".join(stage.text.replace("│", " ").split())
        assert "F5 runs it again and records them. token" in words
        assert "correction: the target" in words  # the tree is below


@pytest.mark.parametrize("key", ["v", "R"])
async def test_it_opens_on_a_lane_that_drafts(play: Play, key: str) -> None:
    async with play() as stage:
        await stage.to_lane(1)
        await stage.press("2", "o", "1")
        await stage.begin("Hello", 0, "ar", "lookup")
        await stage.tell(prefilled("lookup", "It"), step("lookup", TREE))
        await stage.press(key)
        assert "· 3 Prompt lookup" in stage.text
        assert "1 Autoregressive does not draft: this is 3 Prompt lookup" in stage.text


@pytest.mark.parametrize("size", [(60, 24), (40, 12)])
async def test_narrow_the_tree_is_alone_and_escape_goes_back(
    play: Play, size: tuple[int, int]
) -> None:
    async with play(size) as stage:
        await stage.begin()
        await stage.press("tab", "2", "v")
        await stage.tell(prefilled("draft", "It"), step("draft", TREE))
        assert "2 Draft model · round 1 of 1" in stage.text and "◆ ·and" in stage.text
        assert not any(pane.region for pane in stage.app.main.query(LanePane))
        assert "gamma" not in stage.text
        assert stage.app.focused and stage.app.focused.id == "treeview"
        await stage.press("1")
        assert "1 Autoregressive" in stage.text and "No round yet" in stage.text
        await stage.resize(100, 30)
        assert "╭ 1 Auto" in stage.text and "Tree · 1 Auto" in stage.text
        await stage.resize(*size)
        await stage.press("escape")
        assert "No round yet" not in stage.text and "╭ 1 Auto" in stage.text
        await stage.press("v", "slash")  # which would not show what it finds
        assert "╭ 2 Draft" in stage.text and not stage.engine.asked(Stop)
        await stage.type("the")
        assert stage.app.main.query_one(SearchLine).value == "the"


async def test_escape_closes_it_when_there_is_nothing_else_to_leave(play: Play) -> None:
    async with play() as stage:
        await drafted(stage, TREE)
        await stage.tell(prefilled("ar", "It"), stepped("ar", [], [], "is"), RunFinished(0, False))
        await stage.press("1")
        assert "This lane does not draft: Tab goes to one that does." in stage.text
        assert "Esc Close" in stage.text
        await stage.press("escape")
        assert "Tree ·" not in stage.text and "Esc" not in stage.text.splitlines()[-1]


def wide_tree() -> Round:
    """64 nodes: 21 children of the root, each with two of its own; the last of all lived."""
    parents = (-1, *[0] * 21, *[1 + n // 2 for n in range(42)])
    return replace(
        TREE, tokens=(1, *[2] * 63), parents=parents, accepted=(21, 63), emitted=(2, 2, 7),
        tested=2, chosen=(2,) * 64, ranks=(0, *range(21), *[n % 2 for n in range(42)]),
        p=(0.5,) * 64,
    )  # fmt: skip


async def test_a_tree_of_64_nodes_scrolls_to_the_accepted_path(play: Play) -> None:
    async with play() as stage:
        await drafted(stage, wide_tree())
        assert "◆ ·and" in stage.text and "21st" in stage.text
        view = stage.app.main.query_one(TreeView)
        assert view.max_scroll_y > 40
        view.focus()
        await stage.press("home")
        assert "● ·is" in stage.text and "what became of it" in stage.text
        await stage.press("end")
        assert "◆ ·and" in stage.text and "what became of it" in stage.text


async def test_a_panel_opened_late_looks_as_if_opened_early(play: Play) -> None:
    async with play() as stage:
        await stage.to_lane(2)
        await stage.begin()
        await stage.tell(prefilled("draft", "It"), step("draft", TREE))
        await stage.press("v")
        assert "│ ┝━✓ ," in stage.text  # two columns a level
        await stage.press("v")
        await stage.tell(step("draft", wide_tree()))
        await stage.press("v")
        assert "◆ ·and" in stage.text and "● ·is" not in stage.text


async def test_a_deep_chain_stays_readable_in_60_columns(play: Play) -> None:
    deep = replace(
        CHAIN, tokens=(1, *[2] * 16), parents=tuple(range(-1, 16)), accepted=tuple(range(1, 17)),
        emitted=(*[2] * 16, 7), tested=16,
    )  # fmt: skip
    async with play((60, 30)) as stage:
        await stage.press("tab", "2", "v")
        await stage.begin()
        await stage.tell(prefilled("draft", "It"), step("draft", deep))
        lines = [line for line in stage.text.splitlines() if "✓ ·Paris" in line]
        assert len(lines) == 16 and all("accepted" in line for line in lines)


async def test_token_texts_are_never_obeyed(play: Play) -> None:
    async with play() as stage:
        await drafted(stage)
        texts = {**TEXTS, 2: "\x1b[2J\n", 3: "[red]"}
        await stage.tell(RoundFinished("draft", TREE, (), metrics(), texts))
        assert "✓ ␛[2J↵" in stage.text and "✗ [red]" in stage.text


async def test_the_accepted_path_has_its_own_colour(play: Play) -> None:
    async with play() as stage:
        await drafted(stage, TREE)
        strip = stage.app.main.query_one(TreeView).render_line(2)
        styles = {segment.text.strip(): segment.style for segment in strip if segment.style}
        assert styles["·Paris"].underline and color_name(styles["·Paris"]) == "#56b4e9"
        assert color_name(styles["✓"]) == color_name(styles["┝━"]) == "#56b4e9"
        assert not styles["✓"].underline


async def test_an_unavailable_lane_says_why(play: Play) -> None:
    async with play((60, 24)) as stage:
        await stage.press("tab", "4", "v")
        assert str(LANES[3].reason) in stage.text


EAGLE = replace(
    TREE,
    scores=(1.0, 0.7, 0.2, 0.5, 0.1, 0.15, 0.4),
    pruned=(
        Pruned(0, 7, 2, 0.06),
        Pruned(3, 2, 1, 0.05),
        Pruned(3, 5, 2, 0.04),
        Pruned(3, 6, 3, 0.01),
    ),
)


def test_pruned_guesses_are_listed_after_their_parent() -> None:
    lines = tree_lines(EAGLE, TEXTS)
    pruned = [line for line in lines if line.fate == PRUNED]
    assert [(line.token, line.guess, line.score) for line in pruned] == [
        ("·Paris", "2nd", ".050"),
        (".", "3rd", ".040"),
        ("·and", "3rd", ".060"),
    ]
    assert pruned[0].what == "pruned: others were likelier"
    assert pruned[1].what == "pruned: others were likelier (and 1 more)"
    own = next(i for i, line in enumerate(lines) if line.fate in OWN_FATES)
    assert lines[own - 1] is pruned[1]
    assert [line.score for line in lines if line.fate == TokenFate.ACCEPTED] == [".700", ".500"]


async def test_the_inspector_shows_the_drafts_own_probability(play: Play) -> None:
    async with play((120, 40)) as stage:
        await stage.load()
        await drafted(stage, EAGLE)
        assert "guess draft     p  what became of it" in stage.text
        assert "○ ·Paris" in stage.text
        await stage.tell(step("draft", TREE))
        assert "guess     p  what became of it" in stage.text
        await stage.tell(step("draft", EAGLE))
        await stage.resize(60, 24)  # what became of it goes before its rank
        assert "pruned: others were likelier" in stage.text and "guess" not in stage.text
