"""Answers of a serving engine as data to train on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from app.cli.heads import server_answers
from app.cli.heads.training_data import records_of
from app.servers.client import Server, ServerInfo
from app.servers.errors import ServerError
from decoding.training.log import Progress
from tests.conftest import Specchat
from tests.support.fake_server import KEY, PIECES

TEXT = "".join(PIECES)


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_answers, "WAITS", (0.0,) * 6)


def write(path: Path, records: list[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return str(path)


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_answers_of_a_bad_server_and_what_was_missing_of_them(
    specchat: Specchat, server_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPECCHAT_SERVER_KEY", KEY)
    prompts = write(tmp_path / "prompts.jsonl", [{"prompt": f"fox {n % 11}"} for n in range(12)])
    out = tmp_path / "answers.jsonl"
    distill = (
        "heads", "distill", "--server", f"{server_url}/flaky", "--prompts", prompts, "--out",
        str(out), "--concurrency", "3",
    )  # fmt: skip
    done = specchat(*distill)
    assert done.returncode == 0, done.stderr
    assert "12/12 conversations · " in done.stderr and "it is asked again" in done.stderr
    assert f"12 conversations in {out}: 132 tokens, 0 cut off, 1 repeated" in done.stderr
    assert KEY not in done.stderr + out.read_text()
    answers = {record["id"]: record for record in read(out)}
    assert sorted(answers) == list(range(12))
    assert answers[7]["messages"] == [
        {"role": "user", "content": "fox 7"},
        {"role": "assistant", "content": TEXT},
    ]
    assert len(records_of([str(out)])) == 12  # to learn from

    # killed: some lines and a part of one; only what is missing is asked for
    lines = out.read_bytes().splitlines(keepends=True)
    out.write_bytes(b"".join(lines[:9]) + lines[9][:30])
    asked = f"{server_url}/plain/asked"
    before = json.load(urlopen(asked))
    distill = (*distill[:3], f"{server_url}/plain", *distill[4:])
    assert specchat(*distill).returncode == 0
    assert json.load(urlopen(asked)) == before + 3
    assert {record["id"] for record in read(out)} == set(range(12))

    whole = out.read_bytes()
    refused = specchat(*distill, "--temperature", "0.5")
    assert refused.returncode == 2 and "these settings" in refused.stderr
    assert out.read_bytes() == whole


def test_a_disk_that_is_full_is_one_line(
    specchat: Specchat, server_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def add(self: Progress, records: int, tokens: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Progress, "add", add)
    prompts = write(tmp_path / "prompts.jsonl", [{"prompt": text} for text in ("one", "two")])
    distill = ("heads", "distill", "--server", f"{server_url}/echo", "--prompts", prompts)
    done = specchat(*distill, "--out", str(tmp_path / "answers.jsonl"))
    assert done.returncode != 0 and "Traceback" not in done.stderr
    assert "No space left on device" in done.stderr.splitlines()[-1]


def test_a_system_message_is_sent_where_a_prompt_has_none(
    specchat: Specchat, server_url: str, tmp_path: Path
) -> None:
    own = [{"role": "system", "content": "own"}, {"role": "user", "content": "one"}]
    prompts = write(tmp_path / "prompts.jsonl", [{"prompt": "one"}, {"messages": own}])
    out = tmp_path / "answers.jsonl"
    distill = ("heads", "distill", "--server", f"{server_url}/echo", "--prompts", prompts)
    done = specchat(*distill, "--out", str(out), "--system", "given")
    assert done.returncode == 0, done.stderr
    records = sorted(read(out), key=lambda each: each["id"])
    assert [each["messages"][0]["content"] for each in records] == ["given", "own"]
    for each in records:
        asked = json.loads(each["messages"][-1]["content"])
        assert asked["messages"] == each["messages"][:-1]
    refused = specchat(*distill, "--out", str(out), "--chat-template", "x")
    assert refused.returncode == 2 and "--chat-template is for --target" in refused.stderr


def test_turns_and_settings_are_sent(specchat: Specchat, server_url: str, tmp_path: Path) -> None:
    given = [{"role": role, "content": "before"} for role in ("user", "assistant", "user")]
    prompts = write(tmp_path / "prompts.jsonl", [{"turns": ["one", "two"]}, {"messages": given}])
    out = tmp_path / "answers.jsonl"
    distill = (
        "heads", "distill", "--server", f"{server_url}/echo", "--prompts", prompts, "--out",
        str(out), "--temperature", "0.7", "--top-p", "0.9", "--max-new-tokens", "99",
        "--server-model", "fox-2b",
    )  # fmt: skip
    done = specchat(*distill)
    assert done.returncode == 0, done.stderr
    record, with_history = sorted(read(out), key=lambda each: each["id"])
    assert (record["given_messages"], with_history["given_messages"]) == (0, 2)
    asked = json.loads(record["messages"][3]["content"])
    assert asked["messages"] == record["messages"][:3]
    assert (asked["temperature"], asked["top_p"], asked["max_tokens"]) == (0.7, 0.9, 99)
    assert asked["model"] == "fox-2b"
    first = json.loads(record["messages"][1]["content"])
    assert first["seed"] != asked["seed"]  # the turns' draws are independent
    for other in (("--top-p", "0.8"), ("--seed", "1")):
        done = specchat(*distill, *other)
        assert done.returncode == 2 and "these settings" in done.stderr


def test_prompts_that_are_refused(specchat: Specchat, server_url: str, tmp_path: Path) -> None:
    fitting, long = {"prompt": "fox"}, {"prompt": "fox " * 200}
    prompts, out = tmp_path / "prompts.jsonl", tmp_path / "answers.jsonl"
    distill = ("heads", "distill", "--prompts", write(prompts, [long, fitting]), "--out", str(out))
    done = specchat(*distill, "--server", f"{server_url}/strict")
    assert done.returncode == 0 and [record["id"] for record in read(out)] == [1]
    assert "1 of 2 prompts refused: 400 Bad Request: the prompt is too long" in done.stderr
    write(prompts, [{"turns": ["fox", "fox " * 200]}])
    out.unlink()
    assert specchat(*distill, "--server", f"{server_url}/strict").returncode == 0
    (record,) = read(out)  # what was answered is kept
    assert len(record["messages"]) == 2 and record["finish_reason"] == "stop"
    write(prompts, [long])
    out.unlink()
    done = specchat(*distill, "--server", f"{server_url}/strict")
    assert done.returncode == 2 and "the prompt is too long" in done.stderr
    done = specchat(*distill, "--server", f"{server_url}/status-404")
    assert done.returncode == 2 and "404 Not Found" in done.stderr
    done = specchat(*distill, "--server", "nowhere")
    assert done.returncode == 2 and "--server: a server's address must begin" in done.stderr
    done = specchat(*distill)
    assert done.returncode == 2 and "give --target, or --server URL" in done.stderr
    done = specchat(*distill, "--server", server_url, "--batch-size", "8")
    assert done.returncode == 2 and "--batch-size is for --target" in done.stderr


def test_a_prompt_that_is_refused_within_the_stream_is_asked_once(
    specchat: Specchat, server_url: str, tmp_path: Path
) -> None:
    prompts = write(tmp_path / "prompts.jsonl", [{"prompt": "fox " * 200}, {"prompt": "fox"}])
    out = tmp_path / "answers.jsonl"
    asked = f"{server_url}/late/asked"
    before = json.load(urlopen(asked))
    distill = ("heads", "distill", "--server", f"{server_url}/late", "--prompts", prompts)
    done = specchat(*distill, "--out", str(out))
    assert done.returncode == 0 and [record["id"] for record in read(out)] == [1]
    assert "1 of 2 prompts refused: the prompt is too long" in done.stderr
    assert json.load(urlopen(asked)) == before + 2


def test_a_prompt_at_which_the_server_fails_does_not_end_the_others(
    specchat: Specchat, server_url: str, tmp_path: Path
) -> None:
    long, out = {"prompt": "fox " * 200}, tmp_path / "answers.jsonl"
    distill = (
        "heads", "distill", "--server", f"{server_url}/chokes", "--out", str(out),
        "--concurrency", "1", "--prompts",
    )  # fmt: skip
    prompts = write(tmp_path / "prompts.jsonl", [long, long, {"prompt": "fox"}, long])
    done = specchat(*distill, prompts)
    assert done.returncode == 0 and [record["id"] for record in read(out)] == [2]
    assert "3 of 4 prompts refused: 500 Internal Server Error" in done.stderr
    out.unlink()
    write(tmp_path / "prompts.jsonl", [long, long, long, {"prompt": "fox"}])
    done = specchat(*distill, prompts)
    assert done.returncode == 2 and not read(out)  # the server is broken


def test_a_server_that_is_not_up_yet_is_waited_for(
    specchat: Specchat, server_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetch_info, tries = Server.fetch_info, []

    async def up_at_the_third(server: Server) -> ServerInfo:
        tries.append(server)
        if len(tries) < 3:
            raise ServerError(f"no server answers at {server.endpoint.url}")
        return await fetch_info(server)

    closed: list[Server] = []

    async def close(server: Server) -> None:
        await aclose(server)
        closed.append(server)

    aclose = Server.aclose
    monkeypatch.setattr(Server, "aclose", close)
    monkeypatch.setattr(Server, "fetch_info", up_at_the_third)
    prompts, out = write(tmp_path / "prompts.jsonl", [{"prompt": "fox"}]), tmp_path / "answers"
    distill = ("heads", "distill", "--server", f"{server_url}/plain", "--prompts", prompts)
    done = specchat(*distill, "--out", str(out))
    assert done.returncode == 0 and len(read(out)) == 1
    assert "no server answers" in done.stderr and "it is asked again" in done.stderr
    assert closed == tries[:1]


def test_a_server_that_loads_its_model_is_waited_for(
    specchat: Specchat, server_url: str, tmp_path: Path
) -> None:
    prompts, out = write(tmp_path / "prompts.jsonl", [{"prompt": "fox"}]), tmp_path / "answers"
    distill = ("heads", "distill", "--prompts", prompts, "--out", str(out), "--server")
    done = specchat(*distill, f"{server_url}/loads-distill-4")
    assert done.returncode == 0 and len(read(out)) == 1
    assert "503 Service Unavailable: Loading model; it is asked again" in done.stderr
    done = specchat(*distill, f"{server_url}/loads-distill-9")
    assert done.returncode == 2 and "503 Service Unavailable" in done.stderr.splitlines()[-1]


def test_reasoning_is_kept_or_dropped(
    specchat: Specchat, server_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prompts = write(tmp_path / "prompts.jsonl", [{"turns": ["fox", "dog"]}])
    for choice, said, told in (
        ("keep", "<think>\na fox rests\n</think>\n\nIt sleeps.", "1 with reasoning\n"),
        ("drop", "It sleeps.", "1 with reasoning (dropped)\n"),
    ):
        out = tmp_path / f"{choice}.jsonl"
        distill = (
            "heads", "distill", "--server", f"{server_url}/reasons", "--prompts", prompts, "--out",
            str(out), "--reasoning",
        )  # fmt: skip
        done = specchat(*distill, choice)
        assert done.returncode == 0 and done.stderr.endswith(told), done.stderr
        (record,) = read(out)
        assert [m["content"] for m in record["messages"]] == ["fox", said, "dog", said]
        other = specchat(*distill, "drop" if choice == "keep" else "keep")
        assert other.returncode == 2 and "these settings" in other.stderr
