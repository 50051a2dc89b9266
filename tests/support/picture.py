"""The picture in the README: the real app on the demo family, drawn by itself.

python -m tests.support.picture assets/specchat.svg
"""

from __future__ import annotations

import argparse
import asyncio
from functools import partial
from pathlib import Path

from app.config.settings import load_settings
from app.engine.process import SessionProcess
from app.engine.session import Session
from app.engine.session_config import SessionConfig
from app.tui.actions.export import screen_svg
from app.tui.app import SpecchatApp
from app.tui.state.startup import Startup

PROMPT = "What is speculative decoding?"


async def draw(out: Path, prompt: str, strategies: str, columns: int, rows: int) -> None:
    settings = load_settings({"strategies": strategies, "max_new_tokens": 80, "seed": 1})
    make = partial(Session, config=SessionConfig(params=settings.params, seed=1))
    session = SessionProcess(make, settings.models, settings.lanes)
    app = SpecchatApp(session, Startup(params=settings.params, seed=1))
    async with app.run_test(size=(columns, rows)) as pilot:
        while not app.state.loaded:
            await pilot.pause(0.1)
        app.main.prompt.write(prompt)
        for key in ("enter", "f5", "f5"):  # once more twice: the scoreboard has medians
            await pilot.press(key)
            await pilot.pause(0.5)
            while app.state.running:
                await pilot.pause(0.1)
        await pilot.pause(0.5)  # the figures' last update
        out.write_text(screen_svg(app), encoding="utf-8")
        app.exit()
    session.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--prompt", default=PROMPT)
    parser.add_argument("--strategies", default="ar,draft,medusa,eagle")
    parser.add_argument("--size", type=int, nargs=2, default=(104, 34))
    args = parser.parse_args()
    asyncio.run(draw(args.out, args.prompt, args.strategies, *args.size))


if __name__ == "__main__":
    main()
