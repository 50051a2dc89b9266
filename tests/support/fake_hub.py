"""A hub on this machine, for what a real one would be asked: folders as repositories."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import unquote, urlsplit

import pytest

COMMIT = "a" * 40


@dataclass
class FakeHub:
    """Repositories by name, each of one commit, which its `revisions` lead to. `refused`: names and
    the status and X-Error-Code that they are answered with."""

    repos: dict[str, Path]
    revisions: tuple[str, ...] = ("main", COMMIT)
    refused: dict[str, tuple[int, str]] = field(default_factory=dict)
    tokens: set[str] = field(default_factory=set)  # that came
    sent: list[str] = field(default_factory=list)  # files
    url: str = ""

    @contextmanager
    def serving(self) -> Iterator[FakeHub]:
        hub = self

        class Handler(BaseHTTPRequestHandler):
            def do_HEAD(self) -> None:
                self.do_GET(body=False)

            def do_GET(self, body: bool = True) -> None:
                status, headers, content = hub.answer(unquote(urlsplit(self.path).path), body)
                if token := self.headers.get("Authorization"):
                    hub.tokens.add(token)
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                if body:
                    self.wfile.write(content)

            def log_message(self, *arguments: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        Thread(target=server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{server.server_port}"
        try:
            yield self
        finally:
            server.shutdown()
            server.server_close()

    def answer(self, path: str, body: bool) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and content."""
        if path == "/":
            return 200, {}, b""
        if path.startswith("/api/models/"):
            name, what, rest = _split(path.removeprefix("/api/models/"), ("revision", "tree"))
        else:
            name, what, rest = _split(path.removeprefix("/"), ("resolve",))
        if name in self.refused:
            status, code = self.refused[name]
            return status, {"X-Error-Code": code}, b""
        if name not in self.repos:
            return 404, {"X-Error-Code": "RepoNotFound"}, b""
        revision, _, file = rest.partition("/")
        if (revision or "main") not in self.revisions:
            return 404, {"X-Error-Code": "RevisionNotFound"}, b""
        files = {path.name: path for path in sorted(self.repos[name].iterdir())}
        if what == "resolve":
            content = files[file].read_bytes()
            if body:
                self.sent.append(file)
            etag = hashlib.sha1(content).hexdigest()
            return 200, {"ETag": f'"{etag}"', "X-Repo-Commit": COMMIT}, content
        sizes = {name: path.stat().st_size for name, path in files.items()}
        found: object = {
            "id": name,
            "sha": COMMIT,
            "siblings": [{"rfilename": name, "size": size} for name, size in sizes.items()],
        }
        if what == "tree":
            found = [
                {
                    "type": "file",
                    "path": name,
                    "size": size,
                    "oid": hashlib.sha1(name.encode()).hexdigest(),
                }
                for name, size in sizes.items()
            ]
        return 200, {"Content-Type": "application/json"}, json.dumps(found).encode()


def ask_only(hub: FakeHub, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The client of the real hub asks this one, with a cache of its own."""
    files = f"{hub.url}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(cache))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", hub.url)
    monkeypatch.setattr("huggingface_hub.constants.HUGGINGFACE_CO_URL_TEMPLATE", files)


def _split(path: str, words: tuple[str, ...]) -> tuple[str, str, str]:
    """A repository's name, the first of `words` after it, and the rest."""
    parts = path.split("/")
    at = next((i for i, part in enumerate(parts) if i and part in words), len(parts))
    return "/".join(parts[:at]), "".join(parts[at : at + 1]), "/".join(parts[at + 1 :])
