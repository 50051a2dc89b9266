"""Lanes come and go, and have settings of their own, by keys."""

from __future__ import annotations

from dataclasses import replace

from app.engine.commands import AddLane, RemoveLane, SetEnabled, SetOverrides, SetParams
from app.engine.events import Finished, LanesChanged, RunFinished
from app.strategies.lane_spec import LaneSpec
from app.tui.widgets.lane_pane import LanePane
from app.tui.widgets.sliders_panel import SlidersPanel
from app.tui.widgets.token_view import TokenView
from tests.support.scripted import lane, prefilled, stepped
from tests.support.stage import LANES, Play

SECOND = lane("draft#2", title="Draft model", gamma=4, overrides={"gamma": 2})
MORE = (LANES[0], LANES[1], SECOND, *LANES[2:])


async def test_u_duplicates_the_lane_in_focus_and_texts_stay(play: Play) -> None:
    async with play() as stage:
        await stage.begin()
        await stage.tell(prefilled("draft", "Paris"), prefilled("lookup", "London"))
        await stage.to_lane(2)
        await stage.press("u")
        assert stage.engine.asked(AddLane) == [AddLane(LaneSpec("draft", "draft"), "draft")]
        assert "joins the next run" in stage.text
        await stage.tell(LanesChanged(MORE))
        assert "3 Draft model γ2*" in stage.text and "4 Prompt lookup" in stage.text
        assert [number for number in range(1, 5) if "Paris" in "".join(stage.lines(number))] == [2]
        assert "London" in "".join(stage.lines(4))
        await stage.tell(stepped("lookup", [" is"], [], " it"))
        assert "London is it" in "".join(stage.lines(4))
        await stage.press("tab", "4", "o")
        assert stage.engine.asked(SetEnabled) == [SetEnabled("lookup", False)]


async def test_an_answer_of_a_lane_that_came_later_is_replaced(play: Play) -> None:
    async with play() as stage:
        await stage.begin("Hello")
        await stage.finish()
        await stage.tell(LanesChanged(MORE))
        for answer in ("Paris", "London"):
            await stage.begin("And on?", 1, "ar", "draft#2")
            await stage.tell(prefilled("draft#2", answer))
            await stage.finish(1, "ar", "draft#2")
        assert stage.view(3).body.kept_text()[0] == "› And on?\nLondon"
        assert stage.view(1).body.kept_text()[0].count("And on?") == 1


async def test_the_focus_is_where_it_was_when_a_copy_is_taken_back(play: Play) -> None:
    async with play() as stage:
        await stage.to_lane(2)
        await stage.press("u")
        await stage.tell(LanesChanged(MORE))
        assert stage.app.main.grid.current == 3
        await stage.press("ctrl+z")
        await stage.tell(LanesChanged(LANES))
        here = stage.app.main.pane_here
        assert here is stage.app.main.grid.pane_of("draft") and here.view.has_focus


async def test_when_a_new_lane_leaves_no_room_for_all_of_them_the_screen_says_so(
    play: Play,
) -> None:
    async with play((100, 20)) as stage:
        await stage.begin()
        await stage.finish()
        await stage.tell(LanesChanged(MORE))
        many = (*MORE, lane("draft#3"))
        assert not stage.app.main.tabbed and "No room" not in stage.text
        await stage.tell(LanesChanged(many))
        await stage.pilot.pause()
        assert stage.app.main.tabbed
        assert "No room for all lanes at once: Tab shows the next" in stage.text


async def test_lanes_switched_off_stay_off_and_six_are_the_most(play: Play) -> None:
    async with play() as stage:
        await stage.press("tab", "2", "o")
        await stage.tell(LanesChanged(MORE))
        assert not stage.app.state.lanes["draft"].enabled
        full = (*MORE, lane("draft#3"))
        await stage.tell(LanesChanged(full))
        await stage.press("u")
        assert not stage.engine.asked(AddLane)
        assert "6 lanes is the maximum: Delete removes one" in stage.text
        for size in ((100, 30), (60, 24), (200, 50)):
            await stage.resize(*size)
            assert "6 draft#3" in stage.text.lower()


async def test_delete_removes_the_lane_in_focus_and_ignores_its_late_events(
    play: Play,
) -> None:
    async with play() as stage:
        await stage.begin()
        await stage.tell(prefilled("ar", "Paris"), prefilled("draft", "London"))
        await stage.to_lane(2)
        pane = stage.app.main.grid.pane_of("draft")
        view, token = pane.view, prefilled("draft", "London").first
        await stage.press("delete")
        assert stage.engine.asked(RemoveLane) == [RemoveLane("draft")]
        await stage.tell(LanesChanged((LANES[0], *LANES[2:])), Finished("draft", "stopped"))
        assert "Draft model" not in stage.text.replace("2 Draft model is removed", "")
        for late in (
            TokenView.Hovered(view, token),
            TokenView.CursorMoved(view, token),
            LanePane.RowClicked(pane),
            LanePane.EdgeClicked(pane),
        ):
            stage.app.main.grid.post_message(late)
        assert "Paris" in "".join(stage.lines(1))
        neighbour = stage.app.main.grid.pane_of("lookup")
        assert neighbour.view.has_focus and stage.app.main.pane_here is neighbour
        await stage.tell(RunFinished(0, False))
        await stage.tell(LanesChanged(LANES[:1]))
        await stage.press("delete")
        assert (
            len(stage.engine.asked(RemoveLane)) == 1
            and "The last lane can't be removed" in stage.text
        )


async def test_focus_moves_to_the_neighbour_of_a_removed_lane_with_tabs_too(
    play: Play,
) -> None:
    async with play((60, 24)) as stage:
        await stage.to_lane(2)
        await stage.press("delete")
        await stage.tell(LanesChanged((LANES[0], *LANES[2:])))
        neighbour = stage.app.main.grid.pane_of("lookup")
        assert neighbour.view.has_focus and stage.app.main.pane_here is neighbour


async def test_f_gives_the_lane_overrides_that_the_sliders_then_change(
    play: Play,
) -> None:
    async with play() as stage:
        await stage.to_lane(2)
        await stage.press("f")
        [command] = stage.engine.asked(SetOverrides)
        overrides = command.overrides
        assert command.lane == "draft"
        assert overrides["gamma"] is None and overrides["temperature"] == 0.0
        assert "epsilon" not in overrides and "eagle_top_k" not in overrides
        await stage.press("t", "right")
        assert stage.engine.asked(SetOverrides)[-1] == SetOverrides(
            "draft", {**overrides, "temperature": 0.05}
        )
        assert not stage.engine.asked(SetParams)
        assert "temp    *" in stage.text and "2 Draft model γ4* T0.05*" in stage.text
        # in another lane's pane the same slider is everybody's
        await stage.press("tab", "tab", "tab", "t")
        controls = stage.app.main.query_one(SlidersPanel)
        own = stage.app.main.grid.pane(2)
        assert own
        if stage.app.main.pane_here is own:
            own = stage.app.main.grid.pane(1)
            assert own
            own.view.focus()
            await stage.pilot.pause()
        assert controls.slider("temperature").value == 0.0 and "temp    *" not in stage.text
        await stage.press("t", "right", "right")
        assert stage.engine.asked(SetParams)[-1].params.sampling.temperature == 0.1
        assert stage.app.state.lanes["draft"].info.overrides["temperature"] == 0.05
        stage.view(2).focus()
        await stage.pilot.pause()
        await stage.press("u")  # a copy has all of them, and so the same title
        copied = stage.engine.asked(AddLane)[-1].spec
        assert copied.overrides == {**overrides, "temperature": 0.05}


async def test_f_again_gives_the_lane_back_to_the_sliders(play: Play) -> None:
    async with play() as stage:
        await stage.tell(LanesChanged(MORE))
        await stage.to_lane(3)
        await stage.press("f")
        assert stage.engine.asked(SetOverrides) == [SetOverrides("draft#2", {})]
        assert "3 Draft model γ4 " in stage.text and "follows the sliders again" in stage.text


async def test_any_strategy_can_be_added_from_the_palette(play: Play) -> None:
    async with play() as stage:
        await stage.press("escape")
        commands = {each.title: each for each in stage.app.get_system_commands(stage.app.screen)}
        await commands["Add lane: EAGLE-1"].callback()
        assert stage.engine.asked(AddLane) == [AddLane(LaneSpec("eagle1", "eagle1"), None)]


async def test_a_duplicate_begins_with_its_sources_tree(play: Play) -> None:
    medusa = lane("medusa", title="Medusa", gamma=3, trees={"default": 3, "chain": 4})
    async with play() as stage:
        await stage.load((LANES[0], medusa))
        stage.app.action_tree("medusa", "chain")
        await stage.to_lane(2)
        await stage.press("u")
        assert stage.engine.asked(AddLane) == [
            AddLane(LaneSpec("medusa", "medusa", tree="chain"), "medusa")
        ]
        copy = replace(medusa, name="medusa#2", tree="chain")
        await stage.tell(LanesChanged((LANES[0], medusa, copy)))
        assert "3 Medusa γ4 chain" in stage.text


async def test_notices_name_overrides_that_win_or_are_dropped(play: Play) -> None:
    own = {"gamma": 2, "temperature": 0.5, "acceptance": "exact", "max_new_tokens": 64}
    medusa = lane("medusa", title="Medusa", gamma=3, overrides=own)
    async with play((120, 30)) as stage:
        await stage.load((LANES[0], medusa))
        await stage.to_lane(2)
        await stage.press("a", "a")
        assert "typical" in stage.text and "; 2 Medusa keeps its own exact" in stage.text
        await stage.press("f4", "down", "enter")
        assert "; 2 Medusa keeps its own temp 0.50" in stage.text  # gamma is not of the preset
        await stage.press("f")
        assert "sliders again, without its own gamma 2, temp 0.50, tokens 64" in stage.text
        await stage.press("a")
        assert "keeps its own" not in stage.text


async def test_a_copy_without_an_answer_is_not_what_the_next_turn_goes_on_from(play: Play) -> None:
    async with play() as stage:
        await stage.begin("One")
        await stage.tell(prefilled("ar", "first answer"), prefilled("draft", "other answer"))
        await stage.finish()
        copied = (*LANES[:2], lane("draft#2", title="Draft model", gamma=4), *LANES[2:])
        await stage.to_lane(2)
        await stage.tell(LanesChanged(copied))
        assert stage.app.state.leader == "draft#2"
        goes_on = [line for line in stage.text.splitlines() if "next turn continues here" in line]
        assert len(goes_on) == 1 and "1 Autoregressive" in goes_on[0]
