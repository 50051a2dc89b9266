"""Lanes of servers in a session: beside lanes that decode here, or alone."""

from __future__ import annotations

from pathlib import Path
from queue import Queue
from typing import Any

import pytest

from app.config.model_options import ModelOptions
from app.config.servers import parse_servers
from app.engine.commands import (
    AddLane,
    Pause,
    RemoveLane,
    Run,
    SetEnabled,
    SetOverrides,
    SetParams,
    SetSchedule,
    StartAdvice,
    StartSamplingTest,
    Stop,
)
from app.engine.events import (
    Advice,
    Event,
    Finished,
    Prefilled,
    RoundFinished,
    RunFinished,
    RunStarted,
    SamplingTest,
)
from app.engine.session import Session
from app.engine.session_config import SessionConfig
from app.history.document import conversation_document
from app.history.log import read_log
from app.history.parse_document import read_document
from app.history.recorder import Recorder
from app.history.store import Store
from app.servers.client import Server
from app.strategies.lane_spec import LaneSpec
from app.text.terminal_text import as_json
from decoding.params import Params, SamplingParams
from tests.support.fake_server import PIECES
from tests.support.hostile import HOSTILE
from tests.support.listening import DEADLINE, Listener, Open, lanes_of, of, reason_of

TEXT = "".join(PIECES)
FAULTS = ("dies", "stops", "closes", "status-401", "status-404", "status-500", "chunks", "nojson",
          "page", "breaks", "array")  # fmt: skip


@pytest.fixture
def beside(open_session: Open, server_url: str) -> Any:
    """Starts a session with local lanes and servers of these kinds."""

    def start(*kinds: str, local: str = "ar,draft", **settings: Any) -> Listener:
        texts = [f"{kind}={server_url}/{kind}" for kind in kinds]
        return open_session(local, servers=parse_servers(texts), **settings)

    return start


def text_of(events: list[Event], lane: str) -> str:
    first = "".join(event.first.text for event in of(events, Prefilled, lane))
    rounds = of(events, RoundFinished, lane)
    return first + "".join(token.text for event in rounds for token in event.tokens)


@pytest.mark.parametrize("schedule", ["race", "fair"])
def test_a_server_answers_beside_local_lanes(beside: Any, schedule: str) -> None:
    session = beside("vllm", schedule=schedule)
    loaded = session.loaded()
    info = loaded.lanes[-1]
    assert (info.name, info.strategy, info.available) == ("vllm", "server", True)
    assert "fox-1b" in info.note and "on this machine" in info.note
    events = session.turn("the quick")
    assert lanes_of(events) == ("ar", "draft", "vllm")
    assert text_of(events, "vllm") == TEXT and reason_of(events, "vllm") == "stop"
    assert all(reason_of(events, lane) == "length" for lane in ("ar", "draft"))
    metrics = of(events, Finished, "vllm")[-1].metrics
    assert metrics is not None
    assert metrics.tokens == 11 and metrics.acceptance_rate == 6 / 9
    assert metrics.tokens_per_pass == 2.5 and metrics.histogram == (1, 1, 1, 1)
    assert metrics.speedup is None  # another machine's speed is none
    assert of(events, Finished, "vllm")[-1].same_text is False
    assert of(events, Finished, "draft")[-1].matches_ar is not None


@pytest.mark.parametrize(("own", "same"), [({}, False), ({"repetition_penalty": 1.5}, None)])
def test_texts_are_compared_where_the_same_penalties_act(
    beside: Any, own: dict[str, float], same: bool | None
) -> None:
    session = beside("vllm", params=Params(SamplingParams(repetition_penalty=1.2)))
    session.loaded()
    session.session.send(SetOverrides("vllm", own))
    assert of(session.turn("the quick"), Finished, "vllm")[-1].same_text is same


@pytest.mark.parametrize("kind", FAULTS)
def test_its_faults_leave_the_other_lanes_running(beside: Any, kind: str) -> None:
    session = beside(kind, schedule="race")
    session.loaded()
    events = session.turn("the quick")
    ended = of(events, Finished, kind)[-1]
    assert ended.reason == "error" and ended.message and "\n" not in ended.message
    assert all(reason_of(events, lane) == "length" for lane in ("ar", "draft"))
    again = session.turn("and once more")
    assert reason_of(again, "ar") == "length"


def test_a_server_that_is_gone_when_models_are_loaded_is_a_lane_all_the_same(
    open_session: Open,
) -> None:
    session = open_session("ar", servers=parse_servers(["gone=http://127.0.0.1:9"]))
    assert session.loaded().lanes[-1].available
    events = session.turn("the quick")
    assert "no server answers" in (of(events, Finished, "gone")[-1].message or "")
    assert reason_of(events, "ar") == "length"


def test_a_slow_server_does_not_hold_the_others_up(beside: Any) -> None:
    """They are done long before its first word; stopping ends it at once."""
    session = beside("mute", schedule="race")
    session.loaded()
    session.session.send(Run("the quick"))
    session.wait(Finished, such=lambda event: event.lane == "draft")
    session.session.send(Stop())
    events = session.rest()
    assert reason_of(events, "mute") == "stopped"
    assert of(events, RunFinished)[-1].stopped


def test_in_turns_a_server_that_falls_silent_is_waited_for_no_longer(
    beside: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.engine.server_lane.SILENT_SECONDS", 0.05)
    session = beside("mute", "vllm", local="ar", schedule="fair")
    session.loaded()
    session.session.send(Run("the quick"))
    ended = session.wait(Finished, such=lambda event: event.lane == "vllm")
    assert ended.reason == "stop"
    session.session.send(Stop())
    assert reason_of(session.rest(), "mute") == "stopped"


def test_an_endless_server_can_be_stopped_and_switched_off(beside: Any) -> None:
    session = beside("endless", local="ar", params=Params(max_new_tokens=10_000), schedule="race")
    session.loaded()
    session.session.send(Run("the quick"))
    session.wait(RoundFinished, count=3, such=lambda event: event.lane == "endless")
    session.session.send(SetEnabled("endless", False))
    ended = session.wait(Finished, such=lambda event: event.lane == "endless")
    assert ended.reason == "stopped"
    session.session.send(Stop())
    session.rest()


def test_the_connections_of_a_removed_lane_are_closed(
    beside: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: Queue[Server] = Queue()

    async def aclose(server: Server) -> None:
        closed.put(server)

    monkeypatch.setattr(Server, "aclose", aclose)
    session = beside("vllm", local="ar")
    session.loaded()
    session.session.send(RemoveLane("vllm"))
    assert "vllm" in closed.get(timeout=DEADLINE).endpoint.url


def test_in_a_pause_it_waits_to_be_shown(beside: Any) -> None:
    session = beside("paced-30-10", local="ar", schedule="race", params=Params(max_new_tokens=64))
    session.loaded()
    session.session.send(Run("the quick"))
    session.wait(Prefilled, such=lambda event: event.lane == "paced-30-10")
    session.session.send(Pause(True))
    session.session.send(Pause(False))
    events = session.rest()
    assert len(of(events, RoundFinished, "paced-30-10")) == 29


def test_servers_that_were_asked_go_on_when_lanes_begin_to_take_turns(beside: Any) -> None:
    kinds = ("paced-30-10", "paced-20-10")
    session = beside(*kinds, local="ar", schedule="race", params=Params(max_new_tokens=64))
    session.loaded()
    session.session.send(Run("the quick"))
    session.wait(Prefilled, such=lambda event: event.lane == kinds[1])
    session.session.send(SetSchedule("fair"))
    events = session.rest()
    assert [reason_of(events, kind) for kind in kinds] == ["stop", "stop"]


def test_alone_no_model_is_loaded(server_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing but the question and the settings is needed; what would need a model says so."""
    monkeypatch.setattr("app.engine.lanes.load_models", lambda *_: pytest.fail("loads a model"))
    specs = parse_servers([f"fox={server_url}/vllm", f"echo={server_url}/echo"])
    config = SessionConfig(params=Params(max_new_tokens=12), seed=7, system="Be kind.")
    session = Listener(Session(ModelOptions(), specs, config))
    session.session.open()
    loaded = session.loaded()
    assert (loaded.target, loaded.device, loaded.hardware) == ("fox-1b", "server", "server")
    assert loaded.context == 2048 and not loaded.weights
    events = session.turn("Hello")
    assert text_of(events, "fox") == TEXT
    assert of(events, RunStarted)[0].prompt_ids == ()
    session.session.send(SetParams(Params(SamplingParams(0.5), max_new_tokens=12)))
    sent = text_of(session.turn("And then?"), "echo")
    assert '"temperature": 0.5' in sent
    for part in ("Be kind.", "Hello", TEXT, "And then?"):
        assert part in sent
    session.session.send(StartSamplingTest("fox", 2))
    assert "this lane is a server" in (session.wait(SamplingTest).note or "")
    session.session.send(StartAdvice(1.0))
    assert "no model is loaded here" in (session.wait(Advice).note or "")
    session.session.send(AddLane(LaneSpec("ar", "ar"), None))
    assert lanes_of(session.turn("Still there?")) == ("fox", "echo")
    session.session.close()


def test_it_is_kept_replayed_and_exported_like_other_lanes(
    beside: Any, store: Store, tmp_path: Path
) -> None:
    session = beside("vllm", "escapes", local="ar")
    recorder = Recorder(store, {"family": "demo"})
    session.loaded()
    session.turn("the quick")
    recorder.record(session.heard)
    recorder.close()
    assert recorder.path is not None and recorder.problem is None
    recording = read_log(recorder.path.read_bytes(), recorder.path)
    document = conversation_document(recording)
    lanes = {lane["lane"]: lane for lane in document["runs"][0]["lanes"]}
    told = lanes["vllm"]
    assert told["text"] == TEXT and told["token_ids"] == [] and told["tokens"] == 11
    assert (told["drafted"], told["accepted"], told["tested"]) == (12, 6, 9)
    assert told["server"]["url"].endswith("/vllm/v1") and told["same_text"] is False
    assert lanes["escapes"]["text"].startswith(HOSTILE)
    again = conversation_document(read_document(document, tmp_path))
    assert as_json(again) == as_json(document)
    for event in recording.turns[0].events():
        if isinstance(event, Finished) and event.lane == "vllm":
            assert event.metrics and event.metrics.acceptance_rate == 6 / 9
