"""A client for serving engines: streamed answers over HTTP, with timeouts and retries."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

import httpx2

from app.servers.acceptance import Counters, drafting_between, is_list, read_counters
from app.servers.answer import AnswerStream, Ending, Piece
from app.servers.errors import KEYS, ServerError, api_key, quoted
from app.servers.protocol import Question, error_message, extras, read_chunk
from app.servers.sampling import NAMED, TRANSFORMERS
from app.servers.usage import Drafting
from app.strategies.lane_spec import Endpoint
from app.version import VERSION
from decoding.json_text import parse_json

RETRIED = (429, 502, 503, 504)  # statuses of errors that may pass
REFUSED = (400, 422)  # statuses of a server that may not know a field
LONGEST_ERROR = 1 << 16  # bytes read of an error's body
LONGEST_COUNTERS = 1 << 23
_TRANSFORMERS_PATHS = {"/v1/chat/completions", "/load_model", "/reset"}
_BEFORE_AN_ANSWER = (httpx2.ConnectTimeout, httpx2.NetworkError, httpx2.RemoteProtocolError)
LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Timeouts in seconds: for a connection, for metadata, for the first piece of an answer (a long
    prompt, a queue), and between two pieces; and the waits before retries."""

    connect: float = 5.0
    metadata: float = 5.0
    first: float = 300.0
    silence: float = 60.0
    retries: tuple[float, ...] = (0.5, 1.5)


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """What a server reports about itself: the engine's name or "", the ids of its models, and the
    first one's context."""

    engine: str = ""
    models: tuple[str, ...] = ()
    context: int | None = None


class Server:
    """A client for one server; all calls run on one event loop. The key from the environment is
    only sent to this address, as redirects are not followed."""

    def __init__(self, endpoint: Endpoint, timeouts: Timeouts | None = None) -> None:
        self.endpoint = endpoint
        self.info: ServerInfo | None = None
        self._timeouts = timeouts or Timeouts()
        self._key = api_key()
        self._extras = True  # send `extras`, until the server has answered only without them
        self._counts = True  # the server may have counters
        headers = {"User-Agent": f"specchat/{VERSION}"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        self._client = httpx2.AsyncClient(
            headers=headers,
            timeout=httpx2.Timeout(None, connect=self._timeouts.connect),
            limits=httpx2.Limits(max_connections=None),
        )

    async def aclose(self) -> None:
        """Close the connections. No call may follow."""
        await self._client.aclose()

    @property
    def model(self) -> str | None:
        """The model to request: the given one, or the server's first."""
        if self.endpoint.model or self.info is None:
            return self.endpoint.model
        return next(iter(self.info.models), None)

    @property
    def here(self) -> bool:
        """Whether it runs on this machine."""
        return urlsplit(self.endpoint.url).hostname in LOOPBACK

    @property
    def _root(self) -> str:
        return self.endpoint.url.removesuffix("/v1")

    async def fetch_info(self) -> ServerInfo:
        """Request the list of models, which a server may not have. Errors that may pass, as while
        the engine loads, are retried. Raises ServerError if it does not answer, is still not ready,
        or rejects the key."""
        with self._clear_errors():
            response = await self._list_models()
        if response.status in (401, 403, *RETRIED):
            raise ServerError(self._refusal(response), response.status)
        info = _info(response.text) if response.status == 200 else ServerInfo()
        if info.engine not in NAMED and await self._is_transformers():
            info = replace(info, engine=TRANSFORMERS)
        self.info = info
        return info

    async def _list_models(self) -> _Reply:
        waits = iter(self._timeouts.retries)
        while True:
            try:
                async with asyncio.timeout(self._timeouts.metadata):
                    response = await self._get(f"{self.endpoint.url}/models", LONGEST_COUNTERS)
            except _BEFORE_AN_ANSWER:
                if (wait := next(waits, None)) is None:
                    raise
            else:
                if response.status not in RETRIED or (wait := next(waits, None)) is None:
                    return response
            await asyncio.sleep(wait)

    async def _is_transformers(self) -> bool:
        """Whether it is `transformers serve`, which does not give its name."""
        try:
            async with asyncio.timeout(self._timeouts.metadata):
                response = await self._get(f"{self._root}/openapi.json", LONGEST_COUNTERS)
            paths = parse_json(response.text)["paths"]
        except (TimeoutError, httpx2.HTTPError, ValueError, TypeError, KeyError):
            return False
        return isinstance(paths, dict) and paths.keys() >= _TRANSFORMERS_PATHS

    async def answer(
        self,
        question: Question,
        on_piece: Callable[[Piece], None],
        counters: bool = True,
        on_request: Callable[[float], None] = lambda at: None,
    ) -> Ending:
        """Pass each piece to `on_piece` as it arrives, and the time of the request to `on_request`.
        The server's `counters` are not used for one of several simultaneous answers. Raises
        ServerError."""
        with self._clear_errors():
            info = self.info or await self.fetch_info()
            before = await self.counters() if counters else None
            body = question.body(self.model, info.engine)
            async with self._stream(question.path, body, info.engine) as (response, at):
                on_request(at)
                ending = await self._read(response, question, on_piece)
            if before is None:
                return ending
            return await self._with_counters(ending, before)

    async def _with_counters(self, ending: Ending, before: Counters) -> Ending:
        """The ending with what the counters say of its drafts, if they say more than the chunks."""
        usage, note = ending.usage, ending.note
        reported = usage.drafting
        if reported is not None and reported.tested is not None:
            return ending
        counted = await self.drafting_since(before, usage.tokens)
        if counted is None:
            return ending
        if reported is None:
            note = note or "acceptance by the server's counters"
        elif (counted.drafted, counted.accepted) != (reported.drafted, reported.accepted):
            return ending  # others were answered as well
        return replace(ending, usage=replace(usage, drafting=counted), note=note)

    # The stream

    @asynccontextmanager
    async def _stream(
        self, path: str, body: dict[str, Any], engine: str
    ) -> AsyncIterator[tuple[httpx2.Response, float]]:
        """The response with the stream, and the time of the request. Errors that may pass are
        retried, until the response begins."""
        waits = iter(self._timeouts.retries)
        with_extras = self._extras
        while True:
            sent = body | (extras(engine) if with_extras else {})
            request = self._client.build_request(
                "POST",
                f"{self.endpoint.url}/{path}",
                json=sent,
                headers={"Accept": "text/event-stream"},
            )
            at = time.perf_counter()
            try:
                async with asyncio.timeout(self._timeouts.first):
                    response = await self._client.send(request, stream=True)
            except _BEFORE_AN_ANSWER:
                if (wait := next(waits, None)) is None:
                    raise
                await asyncio.sleep(wait)
                continue
            try:
                if response.status_code == 200:
                    self._extras = with_extras
                    yield response, at
                    return
                refusal = await self._reply(response, LONGEST_ERROR)
            finally:
                await response.aclose()
            if refusal.status in REFUSED and with_extras:
                with_extras = False
            elif refusal.status in RETRIED and (wait := next(waits, None)) is not None:
                await asyncio.sleep(wait)
            else:
                raise ServerError(self._refusal(refusal), refusal.status)

    async def _read(
        self, response: httpx2.Response, question: Question, on_piece: Callable[[Piece], None]
    ) -> Ending:
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "text/event-stream":
            what = quoted(kind, self._key) or "something unnamed"
            raise ServerError(f"the server sent {what} and not a stream of events", 200)
        response.encoding = "utf-8-sig"  # events are UTF-8, whatever is named, after a BOM or not
        answer = AnswerStream(question.params.max_new_tokens)
        loop, timeouts = asyncio.get_running_loop(), self._timeouts
        try:
            async with asyncio.timeout(timeouts.first) as limit:
                async for event in httpx2.EventSource(response):  # at most a MiB each
                    now = time.perf_counter()
                    if event.data.strip() == "[DONE]":
                        answer.done = True
                        break
                    if piece := answer.add(read_chunk(event.data, self._key), now):
                        on_piece(piece)
                        limit.reschedule(loop.time() + timeouts.silence)
                    if answer.finished:  # only counts may follow: don't wait long
                        limit.reschedule(loop.time() + timeouts.metadata)
                    if answer.overlong:
                        break
                if not answer.pieces:
                    on_piece(Piece("", 1, time.perf_counter()))  # an answer may be empty
        except (TimeoutError, httpx2.NetworkError, httpx2.RemoteProtocolError) as error:
            if answer.finished:
                return answer.ending()
            if not isinstance(error, TimeoutError):
                raise
            waited = timeouts.silence if answer.pieces else timeouts.first
            raise ServerError(f"nothing came for {waited:g} seconds") from error
        return answer.ending()

    # Counters

    async def counters(self) -> Counters | None:
        """Return the server's counters of drafts; None if it has none."""
        text = await self._metrics()
        if text is None or not (counters := read_counters(text)):
            return None
        return {} if is_list(text) else counters

    async def drafting_since(self, before: Counters, tokens: int | None) -> Drafting | None:
        """Return the drafts counted since `before`; None if the server also answered others than
        ours, which have `tokens` tokens."""
        text = await self._metrics()
        return None if text is None else drafting_between(before, read_counters(text), tokens)

    async def _metrics(self) -> str | None:
        """The text of /metrics; None if there is none, and then it is not requested again."""
        if not self._counts:
            return None
        try:
            async with asyncio.timeout(self._timeouts.metadata):
                response = await self._get(f"{self._root}/metrics", LONGEST_COUNTERS)
        except (TimeoutError, httpx2.HTTPError):
            response = _Reply(0, "")
        self._counts = response.status == 200
        return response.text if self._counts else None

    # Replies and errors

    async def _get(self, url: str, most: int) -> _Reply:
        try:
            return await self._get_once(url, most)
        except (httpx2.ReadError, httpx2.RemoteProtocolError):
            # The server may have closed the connection after its last reply.
            return await self._get_once(url, most)

    async def _get_once(self, url: str, most: int) -> _Reply:
        async with self._client.stream("GET", url) as response:
            return await self._reply(response, most)

    async def _reply(self, response: httpx2.Response, most: int) -> _Reply:
        """The response with at most `most` bytes of its body."""
        data = b""
        async with asyncio.timeout(self._timeouts.metadata):
            async for part in response.aiter_bytes():
                data += part
                if len(data) > most:
                    break
        return _Reply(response.status_code, data[:most].decode("utf-8", "replace"))

    def _refusal(self, reply: _Reply) -> str:
        """One line on an error response, with the server's own text."""
        try:
            message = error_message(parse_json(reply.text))
        except ValueError:
            message = reply.text
        message = quoted(message, self._key)
        status = httpx2.codes.get_reason_phrase(reply.status)
        line = f"{reply.status} {status}".strip() + (f": {message}" if message else "")
        if reply.status in (401, 403):
            names = " or ".join(KEYS)
            line += "; is the key right?" if self._key else f"; a key comes from {names}"
        elif 300 <= reply.status < 400:
            line += "; redirects are not followed: give --server the address itself"
        elif reply.status == 404:
            line += "; is that the address up to /v1, and the model's name?"
        return line

    @contextmanager
    def _clear_errors(self) -> Iterator[None]:
        """Turn errors of the network libraries into a ServerError of one line."""
        try:
            yield
        except (TimeoutError, httpx2.TimeoutException) as error:
            raise ServerError("the server does not answer in time") from error
        except httpx2.ConnectError as error:
            line = f"no server answers at {self.endpoint.url}: {quoted(str(error), self._key)}"
            raise ServerError(line) from error
        except (httpx2.NetworkError, httpx2.RemoteProtocolError) as error:
            raise ServerError("the connection was lost in the middle of the answer") from error
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError) as error:
            message = quoted(str(error), self._key) or type(error).__name__
            raise ServerError(f"unexpected response from the server: {message}") from error


@dataclass(frozen=True, slots=True)
class _Reply:
    status: int
    text: str


def _info(text: str) -> ServerInfo:
    """Parse the list of models; unknown if it can't be parsed."""
    try:
        reply = parse_json(text)
    except ValueError:
        return ServerInfo()
    listed = reply.get("data") if isinstance(reply, dict) else None
    models = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    ids = tuple(str(each["id"]) for each in models if isinstance(each.get("id"), str))
    if not ids:
        return ServerInfo()
    first = models[0]
    meta = first.get("meta")
    contexts = (first.get("max_model_len"), meta.get("n_ctx") if isinstance(meta, dict) else None)
    context = next((n for n in contexts if isinstance(n, int) and 0 < n < 1 << 31), None)
    return ServerInfo(str(first.get("owned_by") or "").lower(), ids, context)
