"""Waits until the app has nothing left to do.

Textual's own wait ends when the processor has been idle for 20 ms. That is slow, and too early
where other programs keep the processor: then nothing moves for as long, with work still to do.
"""

from __future__ import annotations

import asyncio

import textual.app
import textual.pilot
from textual._context import active_app
from textual.screen import Screen

FRAME = 0.002  # seconds; for what a timer of Textual's does within a few milliseconds
MOST_PAINTS = 100  # who never stops asking to be painted is not waited for


async def quiet(min_sleep: float = 0.0, max_sleep: float = 0.0) -> None:
    """Until every message is processed, every resize and scroll has been carried out, and the
    screen is painted. Takes the arguments of Textual's and needs none."""
    app = active_app.get()
    for _ in range(MOST_PAINTS):
        await _nothing_ready()
        while app._running and app._resize_event is not None:  # a timer sees to it, sooner or later
            await asyncio.sleep(FRAME)
            await _nothing_ready()
        await app.animator.wait_until_complete()  # a jump is an animation of one frame
        if not app._running or not app._screen_stack:
            return
        # those behind a window, which paints them, are laid out by themselves
        waiting = [screen for screen in app._background_screens if _wants_layout(screen)]
        waiting += [app.screen] if _wants_paint(app.screen) else []
        if not waiting:
            return
        for screen in waiting:
            screen._on_timer_update()


async def _nothing_ready() -> None:
    """Until no callback and no task can go on: all wait for a timer, a thread or the user."""
    ready = asyncio.get_running_loop()._ready  # type: ignore[attr-defined]
    await asyncio.sleep(0)
    while ready:
        await asyncio.sleep(0)


def _wants_layout(screen: Screen[object]) -> bool:
    return bool(screen._layout_required or screen._scroll_required or screen._callbacks)


def _wants_paint(screen: Screen[object]) -> bool:
    return screen.is_current and bool(
        _wants_layout(screen)
        or screen._repaint_required
        or screen._recompose_required
        or screen._dirty_widgets
    )


for module in (textual.app, textual.pilot):
    setattr(module, "wait_for_idle", quiet)  # noqa: B010
