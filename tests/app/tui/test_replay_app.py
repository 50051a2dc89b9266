"""The screen of a replay."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from textual.pilot import Pilot

from app.tui.replay.app import ReplayApp
from app.tui.state.startup import Startup
from app.tui.widgets.slider import Slider
from tests.support.conversation import recording
from tests.support.stage import Clock, restyled


class Screen:
    def __init__(self, app: ReplayApp, clock: Clock, pilot: Pilot[None]) -> None:
        self.app, self.clock, self.pilot = app, clock, pilot

    async def after(self, seconds: float) -> str:
        self.clock.now += seconds
        await self.app.pump()
        await self.pilot.pause()
        return self.text

    async def press(self, *keys: str) -> str:
        for key in keys:
            await self.pilot.press(key)
            await self.pilot.pause()
        return await self.after(0.0)

    @property
    def text(self) -> str:
        strips = self.app.screen._compositor.render_strips()
        return "\n".join(strip.text for strip in strips)


@asynccontextmanager
async def opened(size: tuple[int, int] = (100, 30)) -> AsyncIterator[Screen]:
    clock = Clock()
    app = ReplayApp(recording(), Startup(clock=clock), timed=False)
    async with app.run_test(size=size) as pilot:
        app.player.open()
        yield Screen(app, clock, pilot)


async def test_it_plays() -> None:
    async with opened() as screen:
        text = await screen.after(0.025)
        assert "Space Pause" in text
        assert "› Count!" in text and "● 1 ar running 0/2" in text
        assert "▶ ──" in text and " of 1.20 s · 1×" in text and "seven" not in text
        text = await screen.after(0.08)
        assert "Four seven five" in text and "draft at its context limit" in text
        text = await screen.after(2.0)
        assert "› And on?" in text and "Please.  (after 2 Draft model)" in text
        assert "2 Draft model γ2*" in text and "1st" not in text and "200.0 tok/s 2.00×" in text
        assert "no heads: give --medusa DIR" in text and "■ ━━" in text
        assert "Space Play again" in text
        assert "▶ " in await screen.press("space")
        await screen.after(3.0)
        assert screen.app.state.lanes["draft:gamma=2"].tree == "wide"  # as its rounds had it


async def test_pause_step_speed_and_again() -> None:
    async with opened() as screen:
        await screen.after(0.0)
        assert "‖ " in await screen.press("space")
        assert "seven" not in await screen.after(9.0)
        assert "seven" in await screen.press("n")
        assert "‖ 1 ar paused 0/2" in screen.text
        text = await screen.press("escape")  # the rest of the turn
        assert "draft at its context limit" in text and "‖ ━" in text
        assert "And on?" not in await screen.after(9.0)
        assert "· 2×" in await screen.press("plus")
        text = await screen.press("f5")
        assert "seven" not in text and "▶ ──" in text


async def test_sliders_show_what_was_set() -> None:
    async with opened() as screen:
        await screen.after(9.0)
        values = {slider.id: slider.value for slider in screen.app.query(Slider)}
        assert (values["gamma"], values["temperature"]) == (2, 0.5)


async def test_the_tree_has_its_probabilities_and_texts() -> None:
    async with opened() as screen:
        await screen.after(0.09)
        text = await screen.press("tab", "v")
        assert "Tree · 2 Draft model · round 1 of 1" in text
        assert "eight" in text and "nine" in text and ".125" in text and "three" in text


async def test_the_lens_and_the_token_panel_know_what_was_recorded() -> None:
    async with opened() as screen:
        await screen.after(0.105)
        text = await screen.press("space", "l")
        assert "probability ≥.9 ≥.5 ≥.2 ≥.05 <.05" in text and "not recorded" in text
        while not restyled(screen.app.main):  # panes without the focus are coloured later
            await screen.pilot.pause(0.01)
        pane = screen.app.main.grid.pane_of("draft:gamma=2")
        wrapper = pane.view.body.wrapper
        runs = [(text, str(ink)) for line in wrapper.closed for text, ink in line.runs]
        assert (" seven", "step2") in runs and (" five", "step4") in runs
        pane.view.focus()
        text = await screen.press("shift+right", "w")
        assert "correction: it replaces" in text and "✓ " in text


async def test_no_key_is_named_that_would_ask_again() -> None:
    async with opened() as screen:
        await screen.after(9.0)
        await screen.press("escape", "Z")
        await screen.pilot.pause(1.0)
        words = " ".join(screen.text.split())
        assert "tokens are too few to tell." in words and "F5" not in words


async def test_nobody_can_be_asked() -> None:
    async with opened() as screen:
        text = await screen.press("i", "slash", "g", "f2", "f3", "m", "a", "ctrl+n", "x")
        assert "Ask something" not in text and "Resume" not in text
        assert screen.app.state.schedule == "fair"
        await screen.press("f1")
        text = screen.text
        assert "Play slower" in text and "Keys of the prompt" not in text
        assert "example prompt" not in text


async def test_keys_that_do_nothing_say_so() -> None:
    async with opened() as screen:
        await screen.after(0.0)
        for key, label in (
            *((each, each) for each in "iueamofgtpkbq"), ("delete", "Delete"), ("enter", "Enter"),
            *((f"f{n}", f"F{n}") for n in (2, 3, 4, 6, 7, 8)),
            *((f"ctrl+{each}", f"Ctrl+{each.upper()}") for each in "nrzys"),
        ):  # fmt: skip
            assert f"{label} does nothing in a replay" in await screen.press(key), key
        for key in ("v", "s", "space", "n", "left_square_bracket", "minus", "1", "tab", "escape"):
            assert "nothing in a replay" not in await screen.press(key), key
        await screen.press("slash", "i")  # typed into the search line
        assert "nothing in a replay" not in screen.text


async def test_a_small_terminal_is_enough() -> None:
    async with opened((60, 24)) as screen:
        text = await screen.after(9.0)
        assert "1 ar ✓ 100 tok/s  2 draft:gamma=2 ✓ 200" in text and "■ ━━" in text
