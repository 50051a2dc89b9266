"""`specchat serve`."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Annotated

import typer

from app.cli.commands.shared_options import Flags, settings_of, with_settings
from app.cli.options import integer, text
from decoding.errors import InputError


@with_settings
def serve(
    flags: Flags,
    host: Annotated[str, text(help="Address to listen on.")] = "localhost",
    port: Annotated[int, integer(min=1, max=65535, help="Port to listen on.")] = 8000,
    public_url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Address in the browser, if different (proxy)."),
    ] = None,
) -> None:
    """Open the screen in a web page (extra: serve)."""
    from app.cli.screen_settings import keymap_of, theme_of

    settings = settings_of(flags)
    theme_of(settings)
    keymap_of(settings)
    if public_url is not None and not public_url.startswith(("http://", "https://")):
        raise InputError(f"--public-url: begin it with http:// or https://, not '{public_url}'")
    if find_spec("textual_serve") is None:
        raise InputError("serve needs textual-serve: pip install 'specchat[serve]'")
    from app.cli.serve import serve_screen

    serve_screen(flags, host, port, public_url)
