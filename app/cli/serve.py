"""`specchat serve`: the screen in a web page, by Textual's own server (the extra `serve`).

Each page has a process of its own. Whoever can open the page can use the app, so it is only for
this machine unless another host is asked for, and for no page of another origin in any case.
"""

from __future__ import annotations

import asyncio
import logging
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from aiohttp import web
from textual_serve.server import Server

from app.cli.terminal import say
from app.servers.client import LOOPBACK
from decoding.errors import InputError

PAGES = Path(__file__).with_name("pages")


def serve_screen(flags: Mapping[str, Any], host: str, port: int, public_url: str | None) -> None:
    """Serve until Ctrl+C. `flags` are those of the screen, by name. Raises InputError."""
    try:
        asyncio.run(_bind(host, port))  # before it says where it is
    except (OSError, UnicodeError) as error:  # UnicodeError: what no host is called
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise InputError(
            f"can't serve on {host}:{port}: {reason}; choose another --port or --host"
        ) from error
    # -P: not the folder it is started in, which may have a package of the same name
    command = shlex.join((sys.executable, "-P", "-m", "app", "chat", *arguments(flags)))
    ScreenServer(command, host, port, "specchat", public_url, templates_path=PAGES).serve()


async def _bind(host: str, port: int) -> None:
    """Try whether the address can be had, as the server will. Raises OSError and UnicodeError."""
    loop = asyncio.get_running_loop()
    (await loop.create_server(asyncio.Protocol, host, port, start_serving=False)).close()


def arguments(flags: Mapping[str, Any]) -> list[str]:
    """Return the options that give these flags."""
    words: list[str] = []
    for name, value in flags.items():
        option = name.replace("_", "-")
        if isinstance(value, bool):
            words.append(f"--{option}" if value else f"--no-{option}")
        else:
            values = value if isinstance(value, list | tuple) else (value,)
            words += [f"--{option}={each}" for each in values]
    return words


class ScreenServer(Server):
    """Prints its address, and refuses connections from pages of other origins."""

    def initialize_logging(self) -> None:
        logging.basicConfig(level=logging.WARNING, format="%(message)s", stream=sys.stderr)

    async def on_startup(self, app: web.Application) -> None:
        say(
            f"specchat is at {self.public_url} (Ctrl+C ends it); each page loads the models for "
            "itself"
        )

    async def handle_websocket(self, request: web.Request) -> web.WebSocketResponse:
        # Otherwise any page could type here, also by DNS rebinding.
        if not self._is_ours(request):
            raise web.HTTPForbidden(text="not from this page")
        return await super().handle_websocket(request)

    def _is_ours(self, request: web.Request) -> bool:
        origin = request.headers.get("Origin", "")
        if _origin(origin) == _origin(self.public_url):  # proxies need not forward the host
            return True
        asked = urlsplit(f"//{request.host}")
        if self.host in LOOPBACK and asked.hostname not in LOOPBACK:
            return False
        return urlsplit(origin).netloc == asked.netloc


def _origin(url: str) -> tuple[str, str]:
    """Scheme and host of a URL, with the port if it is not the scheme's own."""
    parts = urlsplit(url.lower())
    usual = {"http": ":80", "https": ":443"}.get(parts.scheme, "")
    return parts.scheme, parts.netloc.removesuffix(usual)
