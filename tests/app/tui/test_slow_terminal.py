"""A slow line gets fewer, larger pieces, so that keys act soon."""

from __future__ import annotations

import os
from queue import Queue
from types import SimpleNamespace

from textual.drivers._writer_thread import WriterThread

from app.tui.slow_terminal import has_backlog
from tests.support.scripted import prefilled
from tests.support.stage import Play


async def test_events_wait_until_the_terminal_has_drawn(play: Play) -> None:
    async with play() as stage:
        await stage.begin()
        queue: Queue[str] = Queue()
        setattr(stage.app._driver, "_writer_thread", SimpleNamespace(_queue=queue))  # noqa: B010
        queue.put("a frame")
        await stage.tell(prefilled("ar", "Paris"))
        assert "Paris" not in stage.text
        queue.get()
        await stage.tell()
        assert "Paris" in stage.text


def test_textuals_own_queue_is_found() -> None:
    with open(os.devnull, "w") as nowhere:
        thread = WriterThread(nowhere)  # not started: it takes nothing
        driver = SimpleNamespace(_writer_thread=thread)
        assert not has_backlog(driver)  # type: ignore[arg-type]
        thread.write("a frame")
        assert has_backlog(driver)  # type: ignore[arg-type]
    assert not has_backlog(None)
