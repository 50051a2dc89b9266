"""`specchat replay`. Heavy imports are deferred, so that --help is instant."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from app.cli.options import file as file_option
from app.cli.options import number
from app.cli.terminal import require_terminal
from decoding.errors import InputError


def replay(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A conversation, exported as JSON.")],
    speed: Annotated[
        float | None,
        number(help="Playback speed, as a factor (default: slow for short runs; --cast: 1)."),
    ] = None,
    cast: Annotated[Path | None, file_option(help="Write an asciicast to FILE instead.")] = None,
    size: Annotated[
        str, typer.Option(metavar="WxH", help="Size of the asciicast: columns x rows.")
    ] = "100x30",
) -> None:
    """Play an exported conversation. Needs no model."""
    from app.history.parse_document import read_recording

    recording = read_recording(file)
    if speed is not None and not 0.01 <= speed <= 100:
        raise InputError(f"--speed: from 0.01 to 100, not {speed:g}")
    if cast is not None:
        from app.tui.replay.asciicast import parse_size, write_cast

        write_cast(recording, cast, parse_size(size), speed or 1.0)
        return
    require_terminal("specchat replay FILE --cast OUT")
    from app.cli.screen_settings import keymap_of, settings_from, theme_of
    from app.tui.replay.app import run_replay

    settings = settings_from({})
    raise typer.Exit(run_replay(recording, speed, theme_of(settings), keymap_of(settings)))
