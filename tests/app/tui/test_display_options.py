"""Another look wraps every answer again: pane by pane, so that it never holds up a key."""

from __future__ import annotations

import pytest

from app.tui.screens.lanes import MainScreen
from app.tui.screens.lanes_layout import RESTYLE_SECONDS
from app.tui.widgets.text_view import TextView
from tests.support.scripted import lane, prefilled, stepped
from tests.support.stage import Play, Stage, restyled

NAMES = ("ar", "draft", "medusa", "eagle", "lookup", "draft-only")
LANES = tuple(lane(name, gamma=4) for name in NAMES)


@pytest.fixture
def wrapped(monkeypatch: pytest.MonkeyPatch) -> list[TextView]:
    """The views that were wrapped again, in their order."""
    views: list[TextView] = []
    rewrap = TextView.rewrap

    def noted(view: TextView) -> None:
        views.append(view)
        rewrap(view)

    monkeypatch.setattr(TextView, "rewrap", noted)
    return views


async def answered(stage: Stage) -> None:
    await stage.load(LANES)
    await stage.begin("Hello", 0, *NAMES)
    rounds = (stepped(name, [" sky"], [" lie"], " is") for name in NAMES)
    await stage.tell(*(prefilled(name, "The") for name in NAMES), *rounds)
    await stage.press("tab")


def places(stage: Stage, views: list[TextView]) -> list[int]:
    numbers = {stage.view(number): number for number in range(1, len(NAMES) + 1)}
    return [numbers[view] for view in views]  # type: ignore[index]


async def settled(stage: Stage) -> None:
    while not restyled(stage.app.main):
        await stage.pilot.pause(0.01)
    await stage.pilot.pause(2 * RESTYLE_SECONDS)  # for more, were it due


async def test_the_focused_pane_is_restyled_first_and_keys_work_between_the_others(
    play: Play, wrapped: list[TextView], monkeypatch: pytest.MonkeyPatch
) -> None:
    acted: list[int] = []  # after how many panes
    monkeypatch.setattr(MainScreen, "action_zoom", lambda _: acted.append(len(wrapped)))
    async with play((160, 50)) as stage:
        await answered(stage)
        stage.view(4).focus()
        await stage.pilot.pause()
        wrapped.clear()
        stage.app.main.action_show_rejected()
        assert places(stage, wrapped) == [4]
        stage.app.simulate_key("z")
        await settled(stage)
        assert places(stage, wrapped) == [4, 1, 2, 3, 5, 6]
        assert acted and acted[0] < len(NAMES)
        assert all(" lie" not in stage.view(n).body.wrapper.open_line.text for n in range(1, 7))


async def test_a_mode_that_is_left_at_once_is_not_wrapped(
    play: Play, wrapped: list[TextView]
) -> None:
    async with play((160, 50)) as stage:
        await answered(stage)
        stage.view(1).focus()
        await stage.pilot.pause()
        wrapped.clear()
        for _ in range(2):
            stage.app.main.action_show_rejected()
        assert places(stage, wrapped) == [1, 1]
        await settled(stage)
        assert places(stage, wrapped) == [1, 1]


async def test_panes_behind_tabs_are_wrapped_when_they_are_shown(
    play: Play, wrapped: list[TextView]
) -> None:
    async with play((60, 24)) as stage:
        await answered(stage)
        wrapped.clear()
        await stage.press("x")
        await settled(stage)
        assert places(stage, wrapped) == [stage.app.main.grid.current] == [1]
        await stage.press("2")
        assert places(stage, wrapped)[:2] == [1, 2] and " lie" not in stage.text
