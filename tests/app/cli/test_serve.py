"""The screen in a web page."""

from __future__ import annotations

import asyncio
import errno
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from base64 import b64decode
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest
from textual.color import Color

from app.tui.themes import DARK
from tests.conftest import FamilyFolders, Specchat

pytest.importorskip("textual_serve")
import aiohttp
from aiohttp.test_utils import make_mocked_request
from matplotlib.image import imread

from app.cli.serve import PAGES, ScreenServer, arguments

ROOT = Path(__file__).parents[3]
PATIENCE = 60.0
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "chrome"))), None)
# of the picture, at least: most is background, some are the lanes' edges and a row's ground
SHARES = {"background": 0.4, "panel": 0.02, "edge": 0.001}


def test_the_screen_gets_the_options_that_were_given() -> None:
    flags = {"target": "a b", "temperature": 0.5, "keep": False, "stop": ["x", "--y"]}
    assert arguments(flags) == [
        "--target=a b", "--temperature=0.5", "--no-keep", "--stop=x", "--stop=--y",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("public", "origin", "host", "ours"),
    [
        (None, "http://localhost:8000", "localhost:8000", True),
        (None, "http://127.0.0.1:8000", "127.0.0.1:8000", True),
        (None, "http://evil.example:8000", "evil.example:8000", False),
        (None, "http://evil.example", "localhost:8000", False),
        ("https://chat.example.com", "https://chat.example.com", "localhost:8000", True),
        ("https://chat.example.com", "https://chat.example.com", "chat.example.com:443", True),
        ("https://chat.example.com:443", "https://Chat.example.com", "chat.example.com", True),
        ("https://chat.example.com", "https://evil.example.com", "localhost:8000", False),
        ("https://chat.example.com", "", "localhost:8000", False),
    ],
)
def test_only_its_own_pages_may_connect(
    public: str | None, origin: str, host: str, ours: bool
) -> None:
    server = ScreenServer("true", "localhost", 8000, "specchat", public, templates_path=PAGES)
    headers = {"Host": host, "Origin": origin}
    assert server._is_ours(make_mocked_request("GET", "/ws", headers)) is ours


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@pytest.fixture
def server(family_folders: FamilyFolders) -> Iterator[str]:
    """The address of a server with the screen."""
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "app", "serve", "--host", "127.0.0.1", "--port", str(port),
         "--target", family_folders.target, "--strategies", "ar", "--no-keep"],
        cwd=ROOT, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert process.stderr is not None
    assert f"http://127.0.0.1:{port}" in process.stderr.readline()
    until = time.monotonic() + PATIENCE
    while not listens(port) and time.monotonic() < until:  # the line comes just before it does
        time.sleep(0.05)
    yield f"127.0.0.1:{port}"
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE) == 0


def listens(port: int) -> bool:
    with socket.socket() as attempt:
        return attempt.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.slow
async def test_the_page_shows_the_screen(server: str) -> None:
    async with aiohttp.ClientSession() as session:
        async with session.get(f"http://{server}/") as page:
            text = await page.text()
        assert page.status == 200 and "specchat" in text and f"ws://{server}/ws" in text
        asked = re.findall(r"""(?:src|href)="([^"]*)""", text)
        assert len(asked) == 2 and all(f"//{server}/" in each for each in asked)  # nobody else
        headers = {"Origin": f"http://{server}"}
        url = f"ws://{server}/ws?width=100&height=30"
        async with session.ws_connect(url, headers=headers) as socket:
            shown, until = b"", time.monotonic() + PATIENCE
            while b"Autoregressive" not in shown and time.monotonic() < until:
                message = await asyncio.wait_for(socket.receive(), PATIENCE)
                shown += message.data if message.type is aiohttp.WSMsgType.BINARY else b""
            assert b"Autoregressive" in shown
        renamed = {"Host": "elsewhere.example", "Origin": "http://elsewhere.example"}
        for foreign in ({"Origin": "http://elsewhere.example"}, renamed, {}):
            with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
                await session.ws_connect(url, headers=foreign)
            assert refused.value.status == 403


@pytest.fixture
def browser(server: str, tmp_path: Path) -> Iterator[str]:
    """The address by which a headless Chromium that shows the page is told what to do."""
    assert CHROMIUM is not None
    process = subprocess.Popen(
        [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1200,800",
         "--remote-debugging-port=0", f"--user-data-dir={tmp_path}", f"http://{server}/"],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    said = (re.search(r"listening on ws://([\w.:]+)/", line) for line in process.stderr)
    yield next(address[1] for address in said if address)
    process.terminate()
    process.wait(PATIENCE)


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
async def test_a_browser_draws_the_screen(browser: str) -> None:
    async with aiohttp.ClientSession() as session:
        async with session.get(f"http://{browser}/json/list") as pages:
            (page,) = [each for each in await pages.json() if each["type"] == "page"]
        drawn = dict.fromkeys(SHARES, 0.0)
        until = time.monotonic() + PATIENCE
        async with session.ws_connect(page["webSocketDebuggerUrl"], max_msg_size=0) as tab:
            while any(drawn[each] < SHARES[each] for each in SHARES):
                assert time.monotonic() < until, drawn
                await asyncio.sleep(0.5)
                await tab.send_json({"id": 1, "method": "Page.captureScreenshot"})
                picture = (await tab.receive_json(timeout=PATIENCE))["result"]["data"]
                drawn = {name: share(b64decode(picture), name) for name in SHARES}


def share(png: bytes, name: str) -> float:
    """How much of a picture has a colour of the dark theme."""
    color = DARK.variables.get(name) or getattr(DARK, name)
    pixels = (imread(BytesIO(png))[..., :3] * 255).round()
    found: float = (pixels == Color.parse(color).rgb).all(axis=-1).mean()
    return found


@pytest.mark.parametrize(
    ("given", "complaint"),
    [(["--temperature", "-1"], "--temperature: "), (["--theme", "pink"], "--theme: ")],
)
def test_wrong_options_are_said_at_once(
    given: list[str], complaint: str, specchat: Specchat
) -> None:
    done = specchat("serve", *given)
    assert done.returncode == 2 and complaint in done.stderr and done.stderr.count("\n") == 1


def test_a_port_that_is_taken(specchat: Specchat) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = specchat("serve", "--host", "127.0.0.1", "--port", port)
    assert done.returncode == 2 and f"can't serve on 127.0.0.1:{port}" in done.stderr


def test_what_fails_later_is_not_put_down_to_the_address(
    specchat: Specchat, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(server: ScreenServer) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "/tmp/page")

    monkeypatch.setattr(ScreenServer, "serve", full)
    done = specchat("serve", "--host", "127.0.0.1", "--port", str(free_port()))
    assert done.returncode == 1
    assert done.stderr == "specchat: /tmp/page: No space left on device\n"


@pytest.mark.parametrize("host", ["no.such.host.invalid", "a..b", "192.0.2.1"])
def test_hosts_that_are_not_this_machine(host: str, specchat: Specchat) -> None:
    done = specchat("serve", "--host", host, "--port", str(free_port()))
    assert done.returncode == 2 and f"can't serve on {host}" in done.stderr
    assert done.stderr.count("\n") == 1
