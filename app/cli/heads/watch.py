"""`specchat heads watch`: shows a running training."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from rich.console import Console, Group
from rich.live import Live

from app.cli.terminal import print_output
from app.tui.format.training import REFRESH_SECONDS, answer_view, newest_reports, view
from app.tui.tokens.token_text import RenderMode
from decoding.errors import InputError


def watch(out: Path) -> None:
    """Show the training that writes to `out` until it is done; once if stdout is not a terminal.
    Raises InputError if there is no training."""
    entries = newest_reports(out)

    def shown(console: Console) -> Group:
        mode: RenderMode = "glyphs" if console.no_color else "colour"
        columns = console.width
        return Group(view(out, entries, columns, time.time()), answer_view(out, columns, mode))

    if not sys.stdout.isatty():
        console = Console(width=100, no_color=True, highlight=False)
        with console.capture() as text:
            console.print(shown(console))
        print_output(text.get().rstrip())
        return
    with Live(auto_refresh=False) as live:
        live.update(shown(live.console), refresh=True)
        while not _is_written(out, entries[-1]["time"]):
            time.sleep(REFRESH_SECONDS)
            try:
                entries = newest_reports(out)
            except InputError:  # it is done, and its log is removed
                break
            live.update(shown(live.console), refresh=True)
    if (out / "config.json").is_file():
        print_output(f"done: what was trained is in {out}")


def _is_written(out: Path, reported: float) -> bool:
    """Whether what was trained is there. An evaluation may follow the last step, and another stage;
    a config from before the last report is of a training that goes on."""
    try:
        return (out / "config.json").stat().st_mtime >= reported
    except OSError:
        return False
