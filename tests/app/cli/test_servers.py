"""Commands with --server: alone and beside a model, under load, and with what is wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import Future
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from app.cli.lanes import open_lanes
from app.config.settings import load_settings
from app.engine.server_lane import ServerLane
from app.report.document import lane_report
from app.servers.client import ServerInfo
from app.servers.protocol import Question
from app.servers.usage import Drafting, Usage
from decoding.errors import InputError
from decoding.params import Params
from tests.conftest import FamilyFolders, Specchat
from tests.support.fake_server import KEY, PIECES
from tests.support.hostile import obeyed
from tests.support.processes import ROOT

TEXT = "".join(PIECES)


def document(done: Any) -> Any:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_run_with_a_server_alone(specchat: Specchat, server_url: str) -> None:
    done = specchat("run", "--server", f"{server_url}/vllm", "--prompt", "Hello", "--json")
    report = document(done)
    assert report["target"] == "fox-1b" and report["device"] == "server"
    assert report["dtype"] is report["threads"] is None
    (lane,) = report["runs"][0]["lanes"]
    assert lane["strategy"] == "server" and lane["text"] == TEXT and lane["token_ids"] == []
    assert lane["server"] == {"url": f"{server_url}/vllm/v1", "model": None}
    assert (lane["tokens"], lane["target_passes"], lane["tokens_per_pass"]) == (11, 4, 2.5)
    assert (lane["drafted"], lane["tested"], lane["accepted"]) == (12, 9, 6)
    assert lane["acceptance_rate"] == 6 / 9 and lane["accepted_histogram"] == [1, 1, 1, 1]
    assert lane["ttft_seconds"] > 0 and lane["tokens_per_second"] > 0
    assert lane["speedup"] is lane["matches_ar"] is lane["prefill_seconds"] is None


def server_lane(url: str) -> ServerLane:
    settings = load_settings({"server": (f"{url}/vllm",)})
    (lane,), _ = open_lanes(settings.lanes, settings, lambda line: None)
    assert isinstance(lane, ServerLane)
    return lane


def test_what_a_server_is_not_asked_has_no_figures(server_url: str) -> None:
    """Not those of the prompt before it."""
    lane = server_lane(server_url)
    lane.generate(Question([{"role": "user", "content": "Hello"}], Params(), 0))
    assert lane_report(lane, None, None, False)["text"] == TEXT
    with pytest.raises(InputError, match="not input_ids") as raised:
        lane.generate(Question([], Params(), 0))
    report = lane_report(lane, None, str(raised.value), False)
    assert (report["text"], report["tokens"]) == ("", 0)
    assert report["ttft_seconds"] is report["tokens_per_second"] is report["drafted"] is None


def test_none_accepted_is_a_report_and_not_nothing(server_url: str) -> None:
    lane = server_lane(server_url)
    for drafting, known in (
        (None, (None, None, None, None)),
        (Drafting(12, 0), (12, 0, None, 10)),
        (Drafting(12, 0, 4, 0, (3,)), (12, 0, 0, 10)),
    ):
        lane.usage = Usage(1.0, 11, drafting=drafting)
        report = lane_report(lane, None, None, False)
        names = ("drafted", "accepted", "tested", "target_passes")
        assert tuple(report[name] for name in names) == known


def test_all_servers_are_asked_before_any_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    class Reply(Future[ServerInfo]):
        def result(self, timeout: float | None = None) -> ServerInfo:
            assert asked == ["one", "two"]
            return ServerInfo()

    asked: list[str] = []

    def fetch_info(lane: ServerLane) -> Future[ServerInfo]:
        asked.append(lane.spec.name)
        return Reply()

    monkeypatch.setattr(ServerLane, "fetch_info", fetch_info)
    settings = load_settings({"server": ["one=http://localhost:1", "two=http://localhost:2"]})
    lanes, models = open_lanes(settings.lanes, settings, lambda text: None)
    assert models is None and all(lane.available for lane in lanes)


def test_a_server_alone_needs_no_torch(server_url: str) -> None:
    """In a fresh interpreter: here others have imported it."""
    code = (
        "import atexit, sys; from app.cli.main import main; "
        "atexit.register(lambda: print([n for n in ('torch', 'transformers') if n in sys.modules]))"
        "; main()"
    )
    asked = ["run", "--server", f"{server_url}/vllm", "--prompt", "Hello"]
    done = subprocess.run(
        [sys.executable, "-c", code, *asked], capture_output=True, text=True, cwd=ROOT
    )
    assert TEXT in done.stdout and done.stdout.endswith("[]\n"), done.stderr


def test_what_the_server_does_not_say_is_null(specchat: Specchat, server_url: str) -> None:
    done = specchat("run", "--server", f"{server_url}/llamacpp", "--prompt", "Hello", "--json")
    (lane,) = document(done)["runs"][0]["lanes"]
    assert (lane["drafted"], lane["accepted"], lane["tested"]) == (12, 6, None)
    assert lane["acceptance_rate"] is None and lane["target_passes"] == 4


def test_run_beside_a_model(
    specchat: Specchat, server_url: str, family_folders: FamilyFolders
) -> None:
    servers = ["--server", f"good={server_url}/plain", "--server", f"bad={server_url}/dies"]
    local = ["--target", family_folders.target, "--strategies", "ar", "--max-new-tokens", "8"]
    done = specchat("run", *servers, *local, "--prompt", "the quick", "--json")
    assert done.returncode == 1  # a lane failed
    lanes = {lane["lane"]: lane for lane in json.loads(done.stdout)["runs"][0]["lanes"]}
    assert list(lanes) == ["ar", "good", "bad"]
    assert lanes["good"]["text"] == TEXT and lanes["good"]["same_text"] is False
    assert lanes["bad"]["finish_reason"] == "error" and lanes["bad"]["text"] == "Half a"
    assert lanes["bad"]["reason"] == "the connection was lost in the middle of the answer"
    assert lanes["ar"]["tokens"] >= 1 and lanes["ar"]["server"] is None


def test_turns_go_on_from_what_the_server_said(specchat: Specchat, server_url: str) -> None:
    asked = json.dumps({"turns": ["one", "two"]})
    done = specchat(
        "run", "--server", f"{server_url}/echo", "--prompts", "-", "--json", stdin=asked
    )
    first, second = (run["lanes"][0]["text"] for run in document(done)["runs"])
    assert json.loads(second)["messages"] == [
        {"role": "user", "content": "one"},
        {"role": "assistant", "content": first},
        {"role": "user", "content": "two"},
    ]


def test_the_text_of_a_server_is_cleaned(specchat: Specchat, server_url: str) -> None:
    for kind in ("escapes", "breaks", "nojson"):
        done = specchat("run", "--server", f"x={server_url}/{kind}", "--prompt", "Hello")
        assert not obeyed(done.stdout) and not obeyed(done.stderr)


@pytest.mark.parametrize("command", ["run", "bench"])
def test_load(specchat: Specchat, server_url: str, command: str) -> None:
    asked = "\n".join(json.dumps({"prompt": f"number {n}"}) for n in range(8))
    server = f"fox={server_url}/paced-20-20"
    flags = ["--server", server, "--concurrency", "4", "--prompts", "-", "--json"]
    extra = ["--repeats", "1"] if command == "bench" else []
    report = document(specchat(command, *flags, *extra, stdin=asked))
    (load,) = report["load"]
    assert (load["lane"], load["concurrency"], load["requests"]) == ("fox", 4, 8)
    assert (load["failed"], load["tokens"]) == (0, 160)
    assert load["tokens_per_second"] == pytest.approx(160 / load["seconds"])
    # By the server's clock: on a busy machine it sends its pieces late.
    spans = json.load(urlopen(f"{server_url}/paced-20-20/spans"))
    alone, together = spans[-16:-8], spans[-8:]
    assert max(sum(a <= begun < b for a, b in together) for begun, _ in together) == 4
    begun, ended = min(a for a, _ in together), max(b for _, b in together)
    one_after_the_other = sum(b - a for a, b in together)
    assert ended - begun <= load["seconds"] < one_after_the_other
    times = load["ttft_seconds"]
    assert 0 < times["p50"] <= times["p90"] <= times["p99"]
    if command == "run":
        assert [run["lanes"][0]["tokens"] for run in report["runs"]] == [20] * 8
    else:
        (row,) = report["contestants"]
        paced = 8 * 19 / sum(b - a for a, b in alone)
        assert row["tokens_per_second"] == pytest.approx(paced, rel=0.2)
        assert row["speedup"] is None


def test_a_server_that_fails_while_it_is_measured_leaves_the_others_figures(
    specchat: Specchat, server_url: str, family_folders: FamilyFolders
) -> None:
    servers = ["--server", f"good={server_url}/plain", "--server", f"bad={server_url}/tires-3"]
    local = ["--target", family_folders.target, "--strategies", "ar", "--max-new-tokens", "4"]
    asked = ["--prompt", "the quick", "--repeats", "4"]
    done = specchat("bench", *servers, *local, *asked, "--json")
    assert done.returncode == 1, done.stderr
    report = json.loads(done.stdout)
    assert [row["name"] for row in report["contestants"]] == ["ar", "good"]
    assert list(report["failed"]) == ["bad"] and "the GPU is gone" in report["failed"]["bad"]
    assert report["contestants"][0]["tokens_per_second"] > 0
    table = specchat("bench", *servers, "--prompt", "the quick", "--repeats", "1")
    assert "bad: failed: " in table.stdout and table.returncode == 1
    alone = specchat("bench", *servers[2:], "--prompt", "the quick")
    assert alone.returncode == 2 and "bad: 500 Internal Server Error" in alone.stderr


def test_an_answer_in_one_piece_has_no_speed(specchat: Specchat, server_url: str) -> None:
    asked = ["--server", f"{server_url}/echo", "--prompt", "Hello", "--json"]
    (lane,) = document(specchat("run", *asked))["runs"][0]["lanes"]
    (row,) = document(specchat("bench", *asked, "--repeats", "2"))["contestants"]
    assert lane["tokens"] == 11 and lane["tokens_per_second"] is row["tokens_per_second"] is None


def test_load_in_words(specchat: Specchat, server_url: str) -> None:
    asked = '{"prompt": "a"}\n{"prompt": "b"}'
    flags = ["--server", f"fox={server_url}/counters", "--concurrency", "2", "--prompts", "-"]
    done = specchat("run", *flags, stdin=asked)
    assert "[fox] 2 prompts · 2 at a time" in done.stdout.replace(", ", " · ")
    assert "50% of the drafts accepted" in done.stdout and "TTFT p99" in done.stdout


WRONG = {
    "no address": (["--server", "fox"], "must begin with http:// or https://"),
    "a password": (["--server", "http://me:pass@fox"], "must have no password"),
    "a query": (["--server", "http://fox?key=pass"], "must have no password or query"),
    "a name twice as strategy": (["--strategies", "server"], "--server URL"),
    "nobody there": (["--server", "http://127.0.0.1:9"], "no lane can run: no server answers at"),
    "load of nothing": (["--concurrency", "4"], "--concurrency is for servers"),
    "no number": (["--server", "http://127.0.0.1:9", "--concurrency", "0"], "concurrency"),
    "an empty model": (["--server", "http://fox", "--server-model", ""], "--server-model"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_input_is_one_line(specchat: Specchat, case: str) -> None:
    flags, words = WRONG[case]
    done = specchat("run", "--prompt", "Hello", *flags)
    assert done.returncode == 2 and words in done.stderr
    assert done.stderr.count("\n") == 1 and "pass@" not in done.stderr


def test_ids_and_many_turns_are_not_for_every_server(specchat: Specchat, server_url: str) -> None:
    server = ["--server", f"{server_url}/plain", "--prompts", "-"]
    done = specchat("run", *server, stdin='{"input_ids": [1]}')
    assert done.returncode == 2 and "servers take text" in done.stderr
    done = specchat("run", *server, "--concurrency", "2", stdin='{"turns": ["a", "b"]}')
    assert done.returncode == 2 and "those of many turns" in done.stderr


def test_a_key_is_nowhere_in_what_is_written(
    specchat: Specchat, server_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPECCHAT_SERVER_KEY", KEY)
    done = specchat("run", "--server", f"{server_url}/locked", "--prompt", "a", "--json")
    assert document(done)["runs"][0]["lanes"][0]["text"] == TEXT
    assert KEY not in done.stdout + done.stderr


@pytest.mark.parametrize(
    "flags, names",
    [
        ({}, ["ar", "draft", "medusa", "eagle"]),
        ({"server": ["http://fox:8000"]}, ["fox:8000"]),
        ({"server": ["a=http://x", "b=http://x/v1", "http://x"]}, ["a", "b", "x"]),
        ({"server": ["http://x"], "strategies": "ar"}, ["ar", "x"]),
        ({"server": ["http://x"], "target": "m"}, ["ar", "draft", "medusa", "eagle", "x"]),
        ({"server": ["ar=http://x"], "strategies": "ar"}, ["ar", "ar#2"]),
        ({"server": ["http://x#org/big", "http://x#org/small"]}, ["big", "small"]),
    ],
)
def test_servers_are_lanes_after_the_local_ones(flags: dict[str, Any], names: list[str]) -> None:
    assert [lane.name for lane in load_settings(flags).lanes] == names


@pytest.mark.parametrize(
    "address",
    ["http://x:1", "http://x:1/", "http://x:1/v1/", "http://x:1/v1/chat/completions"],
)
def test_an_address_may_name_what_is_below_it(address: str) -> None:
    (lane,) = load_settings({"server": [address]}).lanes
    assert lane.endpoint and lane.endpoint.url == "http://x:1/v1"


def test_two_models_of_one_server(specchat: Specchat, server_url: str) -> None:
    echo = f"{server_url}/echo"
    servers = ("--server", f"{echo}#org/big", "--server", f"{echo}/v1#small", "--server", echo)
    done = specchat("run", "--prompt", "a", *servers, "--server-model", "usual", "--json")
    lanes = document(done)["runs"][0]["lanes"]
    asked = [json.loads(lane["text"])["model"] for lane in lanes]
    assert asked == [lane["server"]["model"] for lane in lanes] == ["org/big", "small", "usual"]


def test_a_server_given_alone_loads_no_model_whatever_else_is_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SPECCHAT_TARGET", "m")
    monkeypatch.setenv("SPECCHAT_STRATEGIES", "ar")
    alone = {"server": ["http://x"]}
    assert [lane.name for lane in load_settings(alone).lanes] == ["x"]
    assert [lane.name for lane in load_settings({**alone, "draft": "d"}).lanes] == ["ar", "x"]
    monkeypatch.setenv("SPECCHAT_SERVER", "fox=http://fox")
    assert [lane.name for lane in load_settings({}).lanes] == ["ar", "fox"]


def test_servers_in_the_environment_and_the_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SPECCHAT_SERVER", "fox=http://fox")
    assert [lane.name for lane in load_settings({}).lanes] == ["fox"]
    with pytest.raises(InputError, match="SPECCHAT_SERVER: a server's address must begin"):
        monkeypatch.setenv("SPECCHAT_SERVER", "fox")
        load_settings({})
