"""Parses --server: addresses of serving engines, each with a name for its lane."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from urllib.parse import SplitResult, urlsplit

from app.strategies.lane_spec import Endpoint, LaneSpec, unique_name
from app.strategies.registry import SERVER

_NAMED = re.compile(r"([\w.-]+)=(.*)", re.DOTALL)


def parse_servers(
    texts: Sequence[str], model: str | None = None, taken: Collection[str] = ()
) -> tuple[LaneSpec, ...]:
    """Return a lane for each "URL", "URL#MODEL" or "NAME=URL". `taken` are names of other lanes.
    Raises ValueError; its message never quotes an address, which may contain a password."""
    lanes: list[LaneSpec] = []
    for text in texts:
        named = _NAMED.fullmatch(text.strip())
        name, url = named.groups() if named else ("", text.strip())
        endpoint = parse_endpoint(url, model)
        names = [*taken, *(lane.name for lane in lanes)]
        model_name = urlsplit(url).fragment.rpartition("/")[2]
        own = unique_name(name or model_name or urlsplit(endpoint.url).netloc, names)
        lanes.append(LaneSpec(SERVER.name, own, endpoint=endpoint))
    return tuple(lanes)


def parse_endpoint(url: str, model: str | None = None) -> Endpoint:
    """Return a server's address, with any part of the API's path, and the model after a # in it, or
    else `model`. Raises ValueError as `parse_servers`."""
    parts = _checked(url)
    return Endpoint(_base(parts), parts.fragment or model)


def _checked(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ValueError("a server's address must be like http://localhost:8000") from error
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise ValueError("a server's address must begin with http:// or https:// and a host")
    if parts.username is not None or parts.query:
        raise ValueError(
            "a server's address must have no password or query; a key comes from "
            "SPECCHAT_SERVER_KEY or OPENAI_API_KEY in the environment"
        )
    if not url.isascii() or not url.isprintable() or " " in url:
        raise ValueError("a server's address must be of plain ASCII characters")
    return parts


def _base(parts: SplitResult) -> str:
    """The address up to /v1, which may be missing or followed by an endpoint's path."""
    path = parts.path.rstrip("/")
    for ending in ("/chat/completions", "/completions", "/models"):
        path = path.removesuffix(ending)
    return f"{parts.scheme}://{parts.netloc}{path.removesuffix('/v1')}/v1"
