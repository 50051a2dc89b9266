"""A server over real HTTP: what is sent, what is heard, and every way in which it can fail."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any
from urllib.request import urlopen

import pytest

from app.servers.answer import Ending, Piece
from app.servers.client import Server, ServerInfo, Timeouts
from app.servers.errors import ServerError
from app.servers.event_loop_thread import EventLoopThread
from app.servers.protocol import Question
from app.servers.sampling import sampling_fields
from app.servers.usage import Drafting
from app.strategies.lane_spec import Endpoint
from decoding.errors import InputError
from decoding.params import Params, SamplingParams
from tests.support import fake_server
from tests.support.fake_server import KEY, PIECES
from tests.support.hostile import obeyed

QUESTION = Question([{"role": "user", "content": "Who sleeps?"}], Params(), seed=1 << 40)
HASTY = Timeouts(connect=2.0, metadata=1.0, first=0.6, silence=0.4, retries=(0.01, 0.01))
KNOWN = Drafting(drafted=12, accepted=6, passes=4, tested=9, histogram=(1, 1, 1, 1))
DEADLINE = 20.0

Answer = tuple[str, Ending]
Ask = Callable[..., Answer]


@pytest.fixture
def loop_thread() -> Iterator[EventLoopThread]:
    loop_thread = EventLoopThread()
    yield loop_thread
    loop_thread.close()


@pytest.fixture
def ask(server_url: str, loop_thread: EventLoopThread) -> Ask:
    """Asks a kind of server, and returns what it said and how that ended."""

    def asked(kind: str, question: Question = QUESTION, timeouts: Timeouts = HASTY) -> Answer:
        server = Server(Endpoint(f"{server_url}/{kind}/v1"), timeouts)
        pieces: list[Piece] = []
        work = loop_thread.submit(server.answer(question, pieces.append))
        ending = work.result(DEADLINE)
        return "".join(piece.text for piece in pieces), ending

    return asked


def test_an_answer(ask: Ask) -> None:
    text, ending = ask("plain")
    assert text == "".join(PIECES)
    assert ending.reason == "stop" and ending.note is None
    assert (ending.usage.tokens, ending.usage.prompt_tokens) == (11, 3)


def test_it_sends_the_conversation_and_the_settings(ask: Ask) -> None:
    sampling = SamplingParams(0.7, top_k=40, top_p=0.9, min_p=0.05)
    question = replace(
        QUESTION, params=Params(sampling, max_new_tokens=9), stop=("\n\n",), ignore_eos=True
    )
    sent = json.loads(ask("echo", question)[0])
    assert sent == {
        "model": "fox-1b",
        "messages": [{"role": "user", "content": "Who sleeps?"}],
        "stream": True,
        "stream_options": {"include_usage": True, "continuous_usage_stats": True},
        "max_tokens": 9,
        "temperature": 0.7,
        "top_p": 0.9,
        "top_k": 40,
        "min_p": 0.05,
        "repetition_penalty": 1.0,
        "presence_penalty": 0.0,
        "seed": 0,  # of 31 bits, that every engine takes
        "stop": ["\n\n"],
        "ignore_eos": True,
    }


def test_greedy_it_sends_nothing_that_has_no_effect(ask: Ask) -> None:
    sent = json.loads(ask("echo")[0])
    assert sent["temperature"] == 0.0
    assert not sent.keys() & {"top_p", "top_k", "min_p", "stop", "ignore_eos"}


SAMPLED = replace(QUESTION, params=Params(SamplingParams(0.7)))


@pytest.mark.parametrize("engine", ["sglang", "llamacpp", "transformers"])
def test_settings_are_those_of_the_engine(ask: Ask, engine: str) -> None:
    sent = json.loads(ask(f"echo-{engine}", SAMPLED)[0])
    expected = sampling_fields(SAMPLED.params.sampling, engine)
    assert len(expected) > 2 and sent.items() >= expected.items()


def test_a_prompt_that_is_refused_takes_no_option_along(
    server_url: str, loop_thread: EventLoopThread
) -> None:
    server = Server(Endpoint(f"{server_url}/strict/v1"), HASTY)
    pieces: list[Piece] = []
    long = replace(QUESTION, messages=[{"role": "user", "content": "fox " * 200}])
    with pytest.raises(ServerError, match="the prompt is too long"):
        loop_thread.submit(server.answer(long, pieces.append)).result(DEADLINE)
    loop_thread.submit(server.answer(QUESTION, pieces.append)).result(DEADLINE)
    assert "stream_options" in json.loads(pieces[0].text)


def test_raw_text_goes_without_a_template(ask: Ask) -> None:
    sent = json.loads(ask("echo", replace(QUESTION, raw=True))[0])
    assert sent["prompt"] == "Who sleeps?" and "messages" not in sent


@pytest.mark.parametrize(
    "kind, expected",
    [
        ("vllm", KNOWN),
        ("sglang", KNOWN),
        ("llamacpp", Drafting(12, 6)),
        ("lmstudio", Drafting(12, 6)),
        ("tensorrt", Drafting(0, 6, passes=4)),
        ("counters", KNOWN),
        ("shared", None),
        ("counters-llamacpp", KNOWN),  # the counters say more than the chunks
        ("shared-llamacpp", Drafting(12, 6)),
        ("plain", None),
    ],
)
def test_acceptance_is_what_the_engine_tells(
    ask: Ask, kind: str, expected: Drafting | None
) -> None:
    assert ask(kind)[1].usage.drafting == expected


def test_tokens_of_a_piece_where_the_server_counts_them(
    server_url: str, loop_thread: EventLoopThread
) -> None:
    pieces: list[Piece] = []
    server = Server(Endpoint(f"{server_url}/counting/v1"), HASTY)
    loop_thread.submit(server.answer(QUESTION, pieces.append)).result(DEADLINE)
    assert [piece.tokens for piece in pieces] == [1, 3, 4, 3]


def test_a_server_that_counts_nothing(ask: Ask) -> None:
    ending = ask("nousage")[1]
    assert ending.reason == "length" and ending.usage.tokens is None
    assert ending.note == "the server counts no tokens: its pieces of text are counted"


def test_reasoning_that_comes_apart_stands_between_tags(ask: Ask) -> None:
    assert ask("reasons")[0] == "<think>\na fox rests\n</think>\n\nIt sleeps."


def test_an_empty_answer_is_one(ask: Ask) -> None:
    assert ask("empty")[0] == ""


@pytest.mark.parametrize("kind", ["picky", "busy", "nolist", "odd", "silentend", "capitals"])
def test_what_can_be_lived_with(ask: Ask, kind: str) -> None:
    """Options refused, a model that is being loaded, no list of models, values of wrong types, a
    connection that stays: the answer is there."""
    assert ask(kind)[0]


def test_events_are_utf8_with_or_without_a_byte_order_mark(ask: Ask) -> None:
    assert ask("marked")[0] == "é"


FAULTS = {
    "status-400": "400 Bad Request: no a",
    "status-404": "is that the address up to /v1, and the model's name?",
    "status-500": "500 Internal Server Error: no a",
    "status-503": "503 Service Unavailable",
    "moved": "302 Found; redirects are not followed",
    "dies": "the connection was lost in the middle of the answer",
    "stops": "the connection ended in the middle of the answer",
    "closes": "the connection was lost",
    "mute": "does not answer in time",
    "stalls": "nothing came for 0.4 seconds",
    "babbles": "nothing came for 0.6 seconds",
    "comments": "nothing came for 0.6 seconds",
    "longline": "unexpected response from the server",
    "chunks": "connection was lost",
    "nojson": "the server sent invalid JSON: {a",
    "array": "the server sent JSON that is not an object: [1, 2]",
    "deep": "the server sent invalid JSON",
    "page": "the server sent text/html and not a stream of events",
    "breaks": "out of memory a",
    "locked": "401 Unauthorized: Wrong key:; a key comes from SPECCHAT_SERVER_KEY or",
}


@pytest.mark.parametrize("kind", FAULTS)
def test_a_fault_is_one_clear_line(ask: Ask, kind: str) -> None:
    begun = time.monotonic()
    with pytest.raises(ServerError) as caught:
        ask(kind)
    line = str(caught.value)
    assert FAULTS[kind] in line and "\n" not in line
    assert not obeyed(line) and len(line) < 400
    assert time.monotonic() - begun < 10


def test_nobody_there(loop_thread: EventLoopThread) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        server = Server(Endpoint(f"http://127.0.0.1:{unused.getsockname()[1]}/v1"), HASTY)
        with pytest.raises(ServerError, match="no server answers at http://127.0.0.1"):
            loop_thread.submit(server.answer(QUESTION, lambda piece: None)).result(DEADLINE)


def test_a_server_that_does_not_listen_yet_is_asked_again(loop_thread: EventLoopThread) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = Server(Endpoint(f"http://127.0.0.1:{port}/plain/v1"), Timeouts(retries=(0.1,) * 100))
    first_contact = loop_thread.submit(server.fetch_info())
    time.sleep(0.2)
    assert not first_contact.done()
    with fake_server.Server(port) as engine:
        threading.Thread(target=engine.serve_forever, daemon=True).start()
        assert first_contact.result(DEADLINE).models == ("fox-1b", "fox-2b")
        engine.shutdown()


def test_the_list_of_models_is_asked_for_again_while_the_engine_loads(
    ask: Ask, server_url: str, loop_thread: EventLoopThread
) -> None:
    def first_contact(kind: str) -> ServerInfo:
        server = Server(Endpoint(f"{server_url}/{kind}/v1"), HASTY)
        return loop_thread.submit(server.fetch_info()).result(DEADLINE)

    assert first_contact("loads-info-3").models == ("fox-1b", "fox-2b")
    assert ask("loads-answer-3")[0] == "".join(PIECES)
    with pytest.raises(ServerError, match="503 Service Unavailable: Loading model") as caught:
        first_contact("loads-info-4")
    assert caught.value.status == 503


def test_an_answer_without_an_end_is_cut(ask: Ask) -> None:
    text, ending = ask("endless", replace(QUESTION, params=Params(max_new_tokens=8)))
    assert ending.reason == "length" and len(text) < 100
    assert ending.note == "the server went on beyond the longest answer, and was stopped"


def test_text_that_no_file_can_hold_is_replaced(ask: Ask) -> None:
    assert ask("escapes")[0].endswith("\ufffd lone")


def test_the_key_comes_from_the_environment(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "another")
    monkeypatch.setenv("SPECCHAT_SERVER_KEY", KEY)
    assert ask("locked")[0]


def test_a_wrong_key_is_never_shown(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "wrong-secret")
    with pytest.raises(ServerError, match="Wrong key: Bearer …; is the key right") as caught:
        ask("locked")
    assert "wrong-secret" not in str(caught.value)


@pytest.mark.parametrize("key", ["two words", "line\nbreak", "schlüssel"])
def test_what_can_be_no_key_is_refused_unseen(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPECCHAT_SERVER_KEY", key)
    with pytest.raises(InputError, match="SPECCHAT_SERVER_KEY") as caught:
        Server(Endpoint("http://localhost/v1"))
    assert key not in str(caught.value)


def test_a_loop_that_is_no_longer_needed_is_closed() -> None:
    loop_thread = EventLoopThread()

    async def running() -> tuple[asyncio.AbstractEventLoop, threading.Thread]:
        return asyncio.get_running_loop(), threading.current_thread()

    loop, thread = loop_thread.submit(running()).result(9)
    loop_thread.close()
    thread.join(9)
    assert loop.is_closed()


def test_cancelling_closes_the_stream(server_url: str, loop_thread: EventLoopThread) -> None:
    """The server notices, as its next write fails."""
    before = clients_that_left(server_url, "endless")
    server = Server(Endpoint(f"{server_url}/endless/v1"))
    pieces: list[Piece] = []
    question = replace(QUESTION, params=Params(max_new_tokens=100_000))
    work = loop_thread.submit(server.answer(question, pieces.append))
    while len(pieces) < 3:
        time.sleep(0.005)
    work.cancel()
    time.sleep(0.05)
    count = len(pieces)
    time.sleep(0.05)
    assert work.cancelled() and len(pieces) == count
    until = time.monotonic() + DEADLINE
    while clients_that_left(server_url, "endless") == before:
        assert time.monotonic() < until
        time.sleep(0.01)


def clients_that_left(url: str, kind: str) -> int:
    with urlopen(f"{url}/{kind}/left") as reply:
        return int(reply.read())


def test_its_speed_is_that_of_a_bare_client(ask: Ask, server_url: str) -> None:
    kind, count = "paced-50-30", 50
    bare = bare_client(server_url, kind)
    ending = ask(kind, timeouts=Timeouts())[1]
    assert ending.usage.tokens == count
    assert (count - 1) / ending.usage.seconds == pytest.approx((count - 1) / bare, rel=0.05)


def bare_client(url: str, kind: str) -> float:
    """Seconds from the first line with text to the last one, read off the socket."""
    body = json.dumps({"stream": True, "messages": []}).encode()
    host, _, port = url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port))) as connection:
        head = f"POST /{kind}/v1/chat/completions HTTP/1.1\r\nContent-Length: {len(body)}\r\n\r\n"
        connection.sendall(head.encode() + body)
        times: list[float] = []
        for line in connection.makefile("rb"):
            if not line.startswith(b"data: {"):
                continue
            chunk: Any = json.loads(line[len(b"data: ") :])
            if chunk["choices"] and chunk["choices"][0]["delta"].get("content"):
                times.append(time.perf_counter())
        return times[-1] - times[0]
