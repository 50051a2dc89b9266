"""The token cursor: keys, mouse, what it shows and what goes along with it."""

from __future__ import annotations

from app.engine.commands import Stop
from app.engine.events import Finished
from tests.support.scripted import prefilled, stepped
from tests.support.stage import Play, Stage


async def answered(stage: Stage, *, done: bool = True) -> None:
    """Two rounds of lane 2, which is in focus."""
    await stage.to_lane(2)
    await stage.begin("Hello")
    await stage.tell(
        prefilled("draft", "The"),
        stepped("draft", [" capital"], [" town", " is"], " of", index=0),
        stepped("draft", [" France"], [], "\n", index=1),
        stepped("draft", [], [], "is", index=2),
    )
    if done:
        await stage.finish()


def under(stage: Stage) -> str | None:
    """The text of the token under the cursor."""
    view = stage.view(2)
    return None if view.cursor is None else view.body.spans[view.cursor].text


def reversed_on(stage: Stage) -> list[tuple[int, str]]:
    """What is drawn in reverse, with its row."""
    view = stage.view(2)
    rows = range(view.size.height)
    return [
        (y, segment.text)
        for y in rows
        for segment in view.render_line(y)
        if segment.style and segment.style.reverse
    ]


def questions_above(stage: Stage) -> int:
    """How many questions stand above what is in view."""
    view = stage.view(2)
    lines = (view.body.wrapper[n].text for n in range(view.scroll_offset.y))
    return sum("Question" in line for line in lines)


async def test_left_and_right_go_from_token_to_token(play: Play) -> None:
    async with play() as stage:
        await answered(stage)
        seen = []
        for _ in range(9):
            await stage.press("left")
            seen.append(under(stage))
        assert seen == ["is", "\n", " France", " of", " is", " town", " capital", "The", "The"]
        await stage.press("right")
        assert reversed_on(stage) == [(1, " capital")]
        await stage.press("shift+right")
        assert under(stage) == "is" and reversed_on(stage) == [(2, "is")]
        await stage.press("shift+left")
        assert under(stage) == "The"


async def test_a_line_break_under_the_cursor_is_seen(play: Play) -> None:
    async with play() as stage:
        await answered(stage)
        await stage.press("left", "left")
        assert under(stage) == "\n" and reversed_on(stage) == [(1, " ")]


async def test_hidden_ghosts_are_passed_over(play: Play) -> None:
    async with play() as stage:
        await answered(stage)
        await stage.press("x", "left", "left", "left", "left", "left")
        assert under(stage) == " capital"
        await stage.press("x", "right", "x")  # the cursor's own token goes away
        assert under(stage) is None and reversed_on(stage) == []


async def test_hiding_ghosts_moves_neither_the_cursor_nor_what_is_read(play: Play) -> None:
    """However much text of earlier answers comes and goes."""
    async with play((60, 24)) as stage:
        for number in range(12):
            await stage.begin(f"Question {number}", turn=number)
            await stage.tell(prefilled("draft", "The"))
            for index in range(4):
                await stage.tell(
                    stepped("draft", [" capital"], [" town" * 9] * 3, " of", index=index)
                )
            await stage.finish()
        await stage.to_lane(2)
        await stage.press("left")
        shown = reversed_on(stage)
        assert len(shown) == 1
        for _ in range(4):
            await stage.press("x")
            assert [text for _, text in reversed_on(stage)] == [shown[0][1]]
        await stage.press("escape", "pageup", "pageup", "pageup", "pageup", "pageup", "pageup")
        read = questions_above(stage)
        await stage.press("x", "x")
        assert 0 < read == questions_above(stage) < 11


async def test_the_cursor_keeps_its_token_in_every_mode_and_width(play: Play) -> None:
    async with play() as stage:
        await answered(stage)
        await stage.press("shift+left", "right")
        await stage.press("c")
        assert reversed_on(stage) == [(1, "capital")]
        await stage.resize(60, 24)
        assert under(stage) == " capital" and [text for _, text in reversed_on(stage)] == [
            "capital"
        ]


async def test_a_click_sets_it(play: Play) -> None:
    async with play() as stage:
        await answered(stage)
        view = stage.view(2)
        row = next(y for y, line in enumerate(stage.lines(2)) if line.startswith("The capital"))
        left = 1  # the pane's edge
        await stage.pilot.click(view, offset=(left + 5, row))
        assert under(stage) == " capital"
        await stage.pilot.click(view, offset=(left + 30, row))  # right of the text
        assert under(stage) == " capital"
        await stage.pilot.click(view, offset=(left + 2, row - 1))  # the prompt is no token
        assert under(stage) == " capital"


async def test_a_click_on_an_older_answer_says_why_not(play: Play) -> None:
    async with play() as stage:
        await answered(stage)
        await stage.begin("And?", 1)
        await stage.tell(prefilled("draft", "So"))
        await stage.pilot.click(stage.view(2), offset=(6, 1))
        await stage.tell()
        assert "Only tokens of the newest answer can be explained" in stage.text
        assert under(stage) is None


async def test_a_lane_that_is_alone_is_not_offered_alone(play: Play) -> None:
    async with play((60, 24)) as stage:
        row = next(y for y, line in enumerate(stage.text.splitlines()) if "╭ 1 Auto" in line)
        await stage.pilot.click(offset=(6, row))
        await stage.tell()
        assert "1 Autoregressive: Esc, then o switches it off, y copies" in stage.text
        await stage.press("escape", "z")
        assert "There is room for one lane only: Tab shows the next" in stage.text
        assert "All panes" not in stage.text
        await stage.resize(100, 30)
        await stage.press("z")
        assert "All panes" in stage.text


async def test_a_click_on_a_title_says_what_the_lane_can_do(play: Play) -> None:
    async with play() as stage:
        row = next(y for y, line in enumerate(stage.text.splitlines()) if "╭ 3 Prompt" in line)
        await stage.pilot.click(offset=(6, row))
        await stage.tell()
        hint = "Esc, then z shows it alone, o switches it off, y copies"
        assert f"3 Prompt lookup: {hint}" in stage.text
        await stage.press("escape")
        await stage.pilot.click(offset=(6, row))
        await stage.tell()
        assert "3 Prompt lookup: z shows it alone" in stage.text and stage.view(3).has_focus


async def test_escape_removes_the_cursor_before_it_stops_the_run(play: Play) -> None:
    async with play() as stage:
        await answered(stage, done=False)
        await stage.press("left", "escape")
        assert under(stage) is None and not stage.engine.asked(Stop)
        await stage.press("escape")
        assert stage.engine.asked(Stop)


async def test_the_cursor_stays_and_the_view_does_not_follow_the_end(play: Play) -> None:
    async with play((100, 24)) as stage:
        await answered(stage, done=False)
        await stage.press("shift+left")
        await stage.tell(*(stepped("draft", [" x"], [], "\n", index=n) for n in range(3, 40)))
        view = stage.view(2)
        assert under(stage) == "The" and view.scroll_offset.y == 0
        await stage.press("escape")
        assert view.scroll_offset.y == view.max_scroll_y > 0
        await stage.press("shift+left")
        assert view.scroll_offset.y <= 1 and reversed_on(stage)


async def test_the_cursor_stays_in_view_when_its_pane_shrinks(play: Play) -> None:
    async with play((100, 40)) as stage:
        await answered(stage, done=False)
        await stage.tell(*(stepped("draft", [" x"], [], "\n", index=n) for n in range(3, 14)))
        assert stage.view(2).max_scroll_y == 0
        await stage.press("left", "v")
        assert stage.view(2).scroll_offset.y > 0 and reversed_on(stage)


async def test_its_round_is_the_one_looked_at(play: Play) -> None:
    async with play((100, 40)) as stage:
        await answered(stage)
        await stage.press("v")
        assert "round 3 of 3" in stage.text
        stage.view(2).focus()
        await stage.press("left", "left", "left")
        assert under(stage) == " France" and "round 2 of 3" in stage.text
        await stage.press("left_square_bracket")
        assert under(stage) == " capital" and "round 1 of 3" in stage.text
        await stage.press("shift+left")
        assert "round 1 of 3" in stage.text
        await stage.press("right_square_bracket", "right_square_bracket")
        assert under(stage) == "is" and "round 3 of 3" in stage.text


async def test_the_round_of_the_cursor_is_shown_once_the_lane_is_done(play: Play) -> None:
    async with play((100, 40)) as stage:
        await answered(stage, done=False)
        await stage.press("left", "left", "left")
        await stage.tell(stepped("draft", [], [], "!", index=3))
        await stage.press("v")
        assert under(stage) == " France" and "round 4 of 4" in stage.text
        await stage.press("space")
        assert "round 2 of 4" in stage.text
        await stage.press("space")
        await stage.tell(stepped("draft", [], [], "!", index=4))
        assert "round 5 of 5" in stage.text
        await stage.tell(Finished("draft", "stop"))
        assert under(stage) == " France" and "round 2 of 5" in stage.text


async def test_the_cursor_begins_at_the_token_that_is_explained(play: Play) -> None:
    async with play((100, 40)) as stage:
        await answered(stage)
        await stage.press("v", "left_square_bracket", "left_square_bracket", "escape", "w")
        assert "round 1 of 3" in stage.text and under(stage) is None
        stage.view(2).focus()
        await stage.press("right")
        assert under(stage) == " France" and "round 2 of 3" in stage.text
        await stage.press("escape", "left_square_bracket", "left")
        assert under(stage) == " is"  # before " of"
        await stage.press("w", "escape", "left")
        assert under(stage) == " of"  # it was not shown


async def test_the_end_of_the_answer_can_be_reached(play: Play) -> None:
    async with play((100, 40)) as stage:
        await answered(stage, done=False)
        await stage.tell(stepped("draft", [" here"], [], "", index=3))
        await stage.finish()
        await stage.press("w")
        assert "round 4 of 4" in stage.text
        stage.view(2).focus()
        await stage.press("left")
        assert under(stage) == " here"
        await stage.press("right")
        assert under(stage) == "" and reversed_on(stage) == [(2, " ")]
        await stage.press("right")
        assert under(stage) == ""
        assert stage.view(2).answer.endswith("is here")


async def test_without_a_panel_the_cursor_goes_from_round_to_round(play: Play) -> None:
    async with play() as stage:
        await answered(stage)
        await stage.press("left", "left_square_bracket")
        assert under(stage) == " France" and "Tree ·" not in stage.text


async def test_a_new_turn_removes_the_cursor_and_old_turns_cannot_have_it(play: Play) -> None:
    async with play() as stage:
        await answered(stage)
        await stage.press("left")
        await stage.begin("And?", 1)
        assert under(stage) is None
        await stage.press("left")
        assert under(stage) is None
        await stage.tell(prefilled("draft", "So"))
        await stage.press("shift+left")
        assert under(stage) == "So"
