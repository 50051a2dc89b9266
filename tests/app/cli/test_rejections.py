"""Which drafts are rejected, over the prompts of a file."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from app.engine.lane import Lane
from tests.conftest import FamilyFolders, Specchat

PROMPTS = "\n".join(json.dumps({"prompt": text}) for text in ("the fox", "lazy dog", "and"))


def test_the_list_and_the_shares_of_each_lane_that_drafts(
    specchat: Specchat, family_folders: FamilyFolders
) -> None:
    arguments = (
        "rejections", "--target", family_folders.target, "--draft", family_folders.draft,
        "--prompts", "-", "--strategies", "ar,draft:gamma=3,lookup,medusa",
        "--max-new-tokens", "24", "--ignore-eos",
    )  # fmt: skip
    done = specchat(*arguments, "--json", stdin=PROMPTS)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["prompts"] == 3 and "medusa" in document["unavailable"]
    assert [lane["lane"] for lane in document["lanes"]] == ["draft:gamma=3", "lookup"]
    lane = document["lanes"][0]
    listed, tested = lane["rejections"], lane["tested"]
    assert 0 < len(listed) < tested and {row["prompt"] for row in listed} == {0, 1, 2}
    assert lane["acceptance_rate"] == pytest.approx(1 - len(listed) / tested)
    for shares in ("by_level", "by_kind", "by_place"):
        assert sum(row["tested"] for row in lane[shares]) == tested
        accepted = sum(row["tested"] * row["accepted"] for row in lane[shares])
        assert accepted == pytest.approx(tested - len(listed))
    assert [row["level"] for row in lane["by_level"]] == [1, 2, 3]
    assert [row["place"] for row in lane["by_place"]] == ["first 8 tokens", "later tokens"]
    for row in listed:
        assert row["drafted_id"] != row["wanted_id"] and row["rank"] != 1
        assert 0 < row["p"] < 1 and 0 < row["q"] <= 1 and row["entropy"] > 0
    assert sum(each["guesses"] for each in lane["calibration"]) == tested

    table = specchat(*arguments, "--most", "2", stdin=PROMPTS).stdout
    assert f"[draft:gamma=3] {len(listed)} of {tested} tested drafts rejected, 3 prompts" in table
    assert f"most confident first (2 of {len(listed)}, --json has all)" in table
    assert max(len(line) for line in table.splitlines() if line[:1] != "[") <= 80
    assert "by level" in table and "by place" in table and "[medusa] not available" in table


def test_a_lane_that_never_drafted_says_so(
    specchat: Specchat, family_folders: FamilyFolders
) -> None:
    done = specchat(
        "rejections", "--target", family_folders.target, "--draft", family_folders.draft,
        "--prompts", "-", "--strategies", "draft", "--max-new-tokens", "8", "--gamma", "0",
        stdin=PROMPTS,
    )  # fmt: skip
    assert done.returncode == 0 and done.stdout.startswith("[draft] nothing was drafted, 3 prompts")


def test_ctrl_c_keeps_what_was_answered(
    specchat: Specchat, family_folders: FamilyFolders, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin = Lane.start
    begun: list[None] = []

    def start(self: Lane, *arguments: Any) -> Any:
        begun.append(None)
        if len(begun) == 2:
            raise KeyboardInterrupt
        return begin(self, *arguments)

    monkeypatch.setattr(Lane, "start", start)
    done = specchat(
        "rejections", "--target", family_folders.target, "--draft", family_folders.draft,
        "--prompts", "-", "--strategies", "draft", "--max-new-tokens", "8", "--json",
        stdin=PROMPTS,
    )  # fmt: skip
    assert done.returncode == 130
    (lane,) = json.loads(done.stdout)["lanes"]
    assert lane["prompts"] == 1


@pytest.mark.parametrize(
    ("lanes", "why"),
    [
        (("--strategies", "ar"), "add one"),
        (("--server", "http://localhost:1"), "a server does not say which .* were rejected"),
    ],
)
def test_where_nothing_drafts_nothing_is_loaded(
    specchat: Specchat, monkeypatch: pytest.MonkeyPatch, lanes: tuple[str, str], why: str
) -> None:
    monkeypatch.setattr("app.cli.rejections.load_models", lambda *_: pytest.fail("it was loaded"))
    done = specchat("rejections", "--prompt", "the", *lanes)
    assert done.returncode == 2
    assert re.fullmatch(f"specchat: no lane drafts: {why}\n", done.stderr)


def test_servers_are_left_out(
    specchat: Specchat, family_folders: FamilyFolders, server_url: str
) -> None:
    """Nobody says of them which token was rejected, or sets what they draft."""
    asked = (
        "--target", family_folders.target, "--strategies", "ar,lookup:gamma=3",
        "--server", f"fox={server_url}/plain", "--prompt", "the", "--max-new-tokens", "6", "--json",
    )  # fmt: skip
    for command in (("rejections",), ("advise", "--seconds", "1")):
        done = specchat(*command, *asked)
        assert done.returncode == 0, done.stderr
        assert list(json.loads(done.stdout)["unavailable"]) == ["fox"]


def test_a_lane_that_breaks_leaves_the_others(
    specchat: Specchat, family_folders: FamilyFolders, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = Lane.step

    def broken(lane: Lane, params: object) -> object:
        if lane.spec.strategy == "lookup":
            raise RuntimeError("out of order")
        return step(lane, params)  # type: ignore[arg-type]

    freed: list[str] = []
    monkeypatch.setattr(Lane, "step", broken)
    monkeypatch.setattr(Lane, "free_caches", lambda lane: freed.append(lane.spec.name))
    done = specchat(
        "rejections", "--target", family_folders.target, "--draft", family_folders.draft,
        "--prompt", "the fox", "--strategies", "lookup,draft", "--max-new-tokens", "8",
    )  # fmt: skip
    assert done.returncode == 1
    first, second = done.stdout.splitlines()[:2]
    assert first == "[lookup] nothing was drafted, 0 prompts"
    assert second == "failed: RuntimeError: out of order" and freed == ["lookup"]
    assert "[draft]" in done.stdout and "by level" in done.stdout
