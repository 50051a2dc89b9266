"""What a headless run makes of lanes that break, of Ctrl+C, and of a conversation."""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from app.cli import run as headless
from app.cli.main import main
from app.cli.run import RunResult
from app.config import settings as settings_module
from app.config.settings import load_settings
from app.engine.lane import Lane
from app.models.loaded import LoadedModels
from app.text.prompt_file import Request
from decoding.errors import InputError
from decoding.params import Params
from decoding.round import Round
from tests.conftest import FamilyFolders

Run = Callable[..., RunResult]
Step = Callable[[Lane, Params], Round]


@pytest.fixture(autouse=True)
def no_config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings_module, "config_file", lambda: tmp_path / "config.toml")


@pytest.fixture
def run(family_folders: FamilyFolders) -> Run:
    def run(*requests: Request, strategies: str = "lookup,ar", **flags: object) -> RunResult:
        models = {"target": family_folders.target, "draft": family_folders.draft, "threads": "1"}
        short = {"max_new_tokens": 6, "ignore_eos": True, "strategies": strategies}
        settings = load_settings({**models, **short, "seed": 1, **flags})
        return headless.run(settings, requests, trace=False)

    return run


@pytest.fixture
def broken_lookup(monkeypatch: pytest.MonkeyPatch) -> None:
    step: Step = Lane.step

    def break_down(lane: Lane, params: Params) -> Round:
        if lane.spec.strategy == "lookup":
            raise RuntimeError("out of order\nmore lines")
        return step(lane, params)

    monkeypatch.setattr(Lane, "step", break_down)


@pytest.mark.parametrize("role", ["target", "draft"])
def test_models_that_are_nowhere_are_named_before_torch_is_imported(
    run: Run, role: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "app.models.load_models", None)  # an import of it fails
    with pytest.raises(InputError, match="^no folder ./away: give a .* folder or a hub id$"):
        run(Request(turns=("the",)), strategies="ar,draft", **{role: "./away"})


@pytest.mark.usefixtures("broken_lookup")
def test_a_lane_that_breaks_is_reported_and_the_others_go_on(run: Run) -> None:
    outcome = run(Request(turns=("the fox", "the dog")))
    assert outcome.exit_code == 1
    first, second = outcome.document["runs"]
    lookup, ar = first["lanes"]
    assert set(lookup) == set(ar)
    assert lookup["available"] is True and lookup["finish_reason"] == "error"
    assert lookup["reason"] == "RuntimeError: out of order"
    assert lookup["speedup"] is None and lookup["matches_ar"] is None
    assert ar["finish_reason"] == "length" and ar["tokens"] == 6
    # lookup is listed first, but only ar has an answer to go on with
    alone = run(Request(turns=("the fox", "the dog")), strategies="ar")
    assert second["prompt_ids"] == alone.document["runs"][1]["prompt_ids"]


@pytest.mark.usefixtures("broken_lookup")
def test_a_conversation_ends_where_nobody_answers(run: Run) -> None:
    outcome = run(Request(turns=("a", "b")), Request(turns=("c",)), strategies="lookup")
    assert outcome.exit_code == 1
    assert [(r["index"], r["prompt"]) for r in outcome.document["runs"]] == [(0, "a"), (1, "c")]


def test_a_conversation_that_outgrows_the_context_breaks_in_its_second_turn(run: Run) -> None:
    outcome = run(Request(turns=("the fox", "x" * 200)))
    assert outcome.exit_code == 1
    first, second = outcome.document["runs"]
    assert [lane["finish_reason"] for lane in first["lanes"]] == ["length", "length"]
    for lane in second["lanes"]:
        assert lane["finish_reason"] == "error" and "context holds 128" in lane["reason"]
        assert lane["token_ids"] == [] and lane["ttft_seconds"] is None


def test_a_template_that_takes_no_second_turn_costs_nothing_that_was_said(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    encode = LoadedModels.encode

    def one_turn(
        family: LoadedModels, messages: Sequence[dict[str, str]], raw: bool = False
    ) -> list[int]:
        if len(messages) > 1:
            raise InputError("the model's chat template can't take this conversation: no")
        return encode(family, messages, raw)

    monkeypatch.setattr(LoadedModels, "encode", one_turn)
    outcome = run(Request(turns=("a", "b", "c")), Request(turns=("d",)), strategies="ar,medusa")
    assert outcome.exit_code == 1
    first, second, other = outcome.document["runs"]
    assert first["lanes"][0]["finish_reason"] == other["lanes"][0]["finish_reason"] == "length"
    assert (second["prompt"], second["prompt_ids"]) == ("b", [])
    ar, medusa = second["lanes"]
    assert ar["finish_reason"] == "error" and ar["reason"].startswith("the model's chat template")
    assert (ar["token_ids"], ar["text"], ar["tokens"]) == ([], "", 0)
    assert medusa["available"] is False


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_keep_what_is_done(
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
    number: signal.Signals,
) -> None:
    # They may be ignored: SIGINT in what a shell runs in the background, SIGHUP under nohup.
    default = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
    before = signal.signal(number, default)
    request.addfinalizer(lambda: signal.signal(number, before))
    step: Step = Lane.step
    steps = 0

    def interrupted(lane: Lane, params: Params) -> Round:
        nonlocal steps
        steps += 1
        if steps == 7:  # the first prompt takes five rounds
            os.kill(os.getpid(), number)
        return step(lane, params)

    monkeypatch.setattr(Lane, "step", interrupted)
    requests = [Request(input_ids=(5, 6, 7)), Request(input_ids=(8, 9))]
    monkeypatch.setattr(Lane, "warm_up", lambda lane: None)
    outcome = run(*requests, strategies="ar")
    assert outcome.exit_code == 128 + number
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    assert [r["prompt_ids"] for r in outcome.document["runs"]] == [[5, 6, 7]]


def test_a_signal_that_is_ignored_ends_nothing(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """SIGHUP is under nohup."""
    step: Step = Lane.step

    def left_alone(lane: Lane, params: Params) -> Round:
        os.kill(os.getpid(), signal.SIGHUP)
        return step(lane, params)

    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    monkeypatch.setattr(Lane, "step", left_alone)
    try:
        outcome = run(Request(input_ids=(5, 6, 7)), strategies="ar")
        assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
    assert outcome.exit_code == 0 and len(outcome.document["runs"]) == 1


def test_a_conversations_own_system_message_wins(run: Run) -> None:
    own = ({"role": "system", "content": "the cat"},)
    ids = [
        run(request, system="the dog", strategies="ar").document["runs"][0]["prompt_ids"]
        for request in (Request(turns=("fox",), history=own), Request(turns=("fox",)))
    ]
    plain = run(Request(turns=("fox",), history=own), strategies="ar").document["runs"][0]
    assert ids[0] == plain["prompt_ids"] != ids[1]


def test_a_lane_with_settings_of_its_own_is_compared_where_that_is_defined(run: Run) -> None:
    warm, short = "lookup:temperature=0.8:top-p=0.9", "lookup:max_new_tokens=3"
    outcome = run(Request(turns=("the fox",)), strategies=f"ar,lookup,{warm},{short}")
    lanes = {lane["lane"]: lane for lane in outcome.document["runs"][0]["lanes"]}
    assert lanes["lookup"]["matches_ar"] is True and lanes["lookup"]["overrides"] == {}
    assert lanes[warm]["matches_ar"] is None and lanes[warm]["overrides"]["temperature"] == 0.8
    assert lanes[short]["tokens"] == 3 and lanes[short]["matches_ar"] is True
    outcome = run(Request(turns=("the fox",)), strategies="ar:temperature=1,lookup")
    assert all(lane["matches_ar"] is None for lane in outcome.document["runs"][0]["lanes"])


def test_a_terminal_without_unicode_gets_question_marks(
    monkeypatch: pytest.MonkeyPatch, family_folders: FamilyFolders
) -> None:
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    arguments = ["run", "--prompt", "fox", "--max-new-tokens", "3", "--strategies", "ar"]
    monkeypatch.setattr(sys, "argv", ["specchat", *arguments, "--target", family_folders.target])
    monkeypatch.setattr(sys, "stdout", out)
    with pytest.raises(SystemExit) as ended:
        main()
    out.seek(0)
    assert ended.value.code == 0 and "? 1.00 ?" in out.read()  # τ
