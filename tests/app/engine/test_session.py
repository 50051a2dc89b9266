"""The session: events in order, and every command as the screen gives it."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from typing import Any

import pytest

from app.config.model_options import ModelOptions
from app.engine.commands import (
    OpenConversation,
    Pause,
    Run,
    RunAgain,
    SetEnabled,
    SetLeader,
    SetParams,
    SetSchedule,
    SetSeed,
    StepRound,
    Stop,
    Turn,
)
from app.engine.events import (
    Finished,
    LoadFailed,
    Loading,
    Prefilled,
    RoundFinished,
    RunFinished,
    RunRejected,
    RunStarted,
)
from app.engine.lane import Lane
from app.engine.worker import Worker
from app.models.loaded import LoadedModels
from decoding.cost.measure import SIZES
from decoding.params import Params, SamplingParams
from tests.support.listening import DEADLINE, LONG, Listener, Open, ids_of, lanes_of, of, reason_of

LANES = ("ar", "draft", "lookup")


@pytest.fixture
def conversations(monkeypatch: pytest.MonkeyPatch) -> list[list[tuple[str, str]]]:
    """What every turn gave to the model, as (role, content)."""
    seen: list[list[tuple[str, str]]] = []
    encode = LoadedModels.encode

    def noting(self: LoadedModels, messages: Any, raw: bool = False) -> list[int]:
        seen.append([(m["role"], m["content"]) for m in messages])
        return encode(self, messages, raw)

    monkeypatch.setattr(LoadedModels, "encode", noting)
    return seen


def text_of(events: list[Any], lane: str) -> str:
    """Of an answer without unfinished characters."""
    pieces = [e.first.text for e in of(events, Prefilled, lane)]
    for event in of(events, RoundFinished, lane):
        pieces += [t.text for t in event.tokens if t.fate not in ("rejected", "dropped")]
    return "".join(pieces)


def test_loading_then_one_turn_in_order(open_session: Open) -> None:
    listener = open_session()
    loaded = listener.loaded()
    assert [lane.name for lane in loaded.lanes] == list(LANES)
    assert all(lane.available and lane.enabled for lane in loaded.lanes)
    assert (loaded.device, loaded.dtype, loaded.threads) == ("cpu", "float32", 1)
    assert {type(e) for e in listener.heard[:-1]} == {Loading}

    events = listener.turn("the quick brown fox")
    started = events[0]
    assert isinstance(started, RunStarted)
    assert (started.run, started.turn, started.prompt) == (0, 0, "the quick brown fox")
    assert started.seed == 7 and started.lanes == LANES
    assert isinstance(events[-1], RunFinished) and not events[-1].stopped
    for lane in LANES:
        kinds = [type(e) for e in events if getattr(e, "lane", None) == lane]
        assert kinds[0] is Prefilled and kinds[-1] is Finished
        assert set(kinds[1:-1]) == {RoundFinished}
        assert ids_of(events, lane) == ids_of(events, "ar")


def test_what_passes_cost_and_what_is_in_memory(open_session: Open) -> None:
    listener = open_session()
    loaded = listener.loaded()
    sizes, seconds = zip(*loaded.pass_costs, strict=True)
    assert sizes == SIZES and seconds == tuple(sorted(seconds)) and seconds[0] > 0
    assert set(loaded.weights) == {"target", "draft"}
    assert loaded.weights["target"] == loaded.weights["draft"] > 1000
    before = loaded.memory
    assert before is not None and before.device is None and before.process > 10**7
    assert before.caches["draft"] > before.caches["ar"] == before.caches["lookup"] > 0
    listener.turn("a very long answer")
    after = listener.wait(RunFinished).memory
    assert after is not None
    assert after.caches == before.caches  # its rows had room where they were


def test_what_would_take_long_to_measure_is_not(
    family: LoadedModels, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow, quick = replace(family), replace(family)
    monkeypatch.setattr("app.models.loaded.MEASURE_BELOW_SECONDS", 0.0)
    assert slow.quick_cost is None
    monkeypatch.setattr("app.models.loaded.MEASURE_BELOW_SECONDS", 9.0)
    assert slow.quick_cost is None  # trying it is not done twice either
    assert quick.quick_cost is quick.verify_cost
    assert slow.verify_cost is slow.quick_cost  # it is known by now


def test_nothing_is_lost_that_was_asked_for_while_loading(open_session: Open) -> None:
    listener = open_session()
    listener.session.send(Run("the lazy dog"))
    events = listener.rest()
    assert reason_of(events, "ar") == "length"


@pytest.mark.parametrize(
    "role, source, line",
    [
        ("target", "/no/such/folder", "no folder /no/such/folder"),
        ("draft", "./missing", "no folder ./missing"),
    ],
    ids=["target", "draft"],
)
def test_what_cannot_be_loaded_is_said_in_one_line(
    open_session: Open,
    options: ModelOptions,
    family_folders: Any,
    role: str,
    source: str,
    line: str,
) -> None:
    other: dict[str, Any] = {"target": source} if role == "target" else {"drafters": {role: source}}
    listener = open_session(options=replace(options, **other))
    message = listener.wait(LoadFailed).message
    assert line in message and "\n" not in message
    listener.session.send(Run("too late"))  # nothing breaks
    listener.session.close()


def test_an_unexpected_failure_of_loading_is_told_in_one_line(
    open_session: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    def load(*_: Any) -> None:
        raise RuntimeError("shapes differ\nthese are all of them: ...")

    monkeypatch.setattr("app.engine.lanes.load_models", load)
    failed = open_session("ar").wait(LoadFailed)
    assert failed.message == "loading failed: RuntimeError: shapes differ"


def test_an_unexpected_failure_of_encoding_is_told_with_its_kind(
    open_session: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    def encode(*_: Any) -> None:
        raise KeyError("role")

    monkeypatch.setattr(LoadedModels, "encode", encode)
    listener = open_session("ar")
    listener.loaded()
    (rejected,) = listener.turn("the fox")
    assert isinstance(rejected, RunRejected) and rejected.message == "KeyError: 'role'"


def test_without_a_draft_its_lane_is_not_available(
    open_session: Open, options: ModelOptions
) -> None:
    listener = open_session(options=replace(options, drafters={}))
    draft = listener.loaded().lanes[1]
    assert not draft.available
    assert draft.reason == "no draft model: give one with --draft"
    assert lanes_of(listener.turn("the dog")) == ("ar", "lookup")


# --- the conversation ------------------------------------------------------------------------


def test_the_conversation_goes_on_with_the_leaders_answer(
    open_session: Open, conversations: list[list[tuple[str, str]]]
) -> None:
    params = Params(SamplingParams(0.7), gamma=3, max_new_tokens=8)
    listener = open_session(params=params, system="be brief")
    listener.loaded()
    first = listener.turn("the fox")
    listener.session.send(SetLeader("draft"))
    second = listener.turn("the dog")
    assert conversations[0] == [("system", "be brief"), ("user", "the fox")]
    system, asked, answered, asks = conversations[1]
    assert (system, asked, asks) == (*conversations[0], ("user", "the dog"))
    assert answered[0] == "assistant"
    assert answered[1].startswith(text_of(first, "draft"))
    assert text_of(first, "draft") != text_of(first, "ar")
    assert of(second, RunStarted)[0].turn == 1


def test_a_new_conversation_forgets(
    open_session: Open, conversations: list[list[tuple[str, str]]]
) -> None:
    listener = open_session()
    listener.loaded()
    listener.turn("the fox")
    listener.session.send(OpenConversation())
    events = listener.turn("the dog")
    assert conversations[-1] == [("user", "the dog")]
    assert of(events, RunStarted)[0].turn == 0
    assert reason_of(events, "ar") == "length"


def test_once_more_gives_the_same_ids_and_replaces_the_answer(
    open_session: Open, conversations: list[list[tuple[str, str]]]
) -> None:
    listener = open_session(params=Params(SamplingParams(1.0), 3, 12))
    listener.loaded()
    listener.turn("the fox")
    second = listener.turn("the dog")
    again = listener.turn()
    for lane in LANES:
        assert ids_of(again, lane) == ids_of(second, lane)
    assert of(again, RunStarted) == of(second, RunStarted)
    assert conversations[2] == conversations[1]
    listener.turn("the fox")
    assert len(conversations[3]) == 5  # two turns and the new prompt
    assert [role for role, _ in conversations[3]].count("assistant") == 2


def test_another_answer_is_drawn_anew_and_replaces_the_last_one(
    open_session: Open, conversations: list[list[tuple[str, str]]]
) -> None:
    listener = open_session(params=Params(SamplingParams(1.0), 3, 12))
    listener.loaded()
    listener.turn("the fox")
    second = listener.turn("the dog")
    listener.forget()
    listener.session.send(RunAgain(redraw=True))
    other = listener.rest()
    assert ids_of(other, "ar") != ids_of(second, "ar")
    (was,), (now,) = of(second, RunStarted), of(other, RunStarted)
    assert (now.turn, now.prompt, now.replaces) == (was.turn, was.prompt, was.run)
    assert now.run not in (was.run, now.replaces)
    assert conversations[2] == conversations[1]
    assert ids_of(listener.turn(), "ar") == ids_of(other, "ar")  # once more is of this one
    listener.turn("the fox")
    assert len(conversations[4]) == 5


def test_a_chosen_seed_is_that_of_the_next_runs_and_conversations(open_session: Open) -> None:
    listener = open_session(params=Params(SamplingParams(1.0), 3, 12))
    listener.loaded()
    first = listener.turn("the dog")
    (started,) = of(first, RunStarted)
    listener.session.send(SetSeed(8))
    other = listener.turn()
    assert of(other, RunStarted)[0].seed == 8 and ids_of(other, "ar") != ids_of(first, "ar")
    listener.session.send(SetSeed(started.seed))
    assert ids_of(listener.turn(), "ar") == ids_of(first, "ar")
    listener.session.send(SetSeed(8))
    listener.session.send(OpenConversation())
    anew = listener.turn("the dog")
    assert of(anew, RunStarted)[0].seed == 8 and ids_of(anew, "ar") == ids_of(other, "ar")


def test_the_same_seed_and_questions_give_the_same_answers(open_session: Open) -> None:
    listener = open_session(params=Params(SamplingParams(1.0), 3, 12))
    listener.loaded()
    first, second = listener.turn("the fox"), listener.turn("the fox")
    listener.session.send(OpenConversation())
    assert ids_of(listener.turn("the fox"), "ar") == ids_of(first, "ar") != ids_of(second, "ar")


def test_no_run_has_the_number_of_another_whichever_conversation_it_is_in(
    open_session: Open,
) -> None:
    """Logs and undo tell runs apart by it."""
    listener = open_session("ar", first_run=4)
    listener.loaded()
    runs = [started_by(listener, "the fox")]
    listener.session.send(OpenConversation())
    runs.append(started_by(listener, "the fox"))
    listener.session.send(OpenConversation((Turn("the fox", 1, {"ar": "runs"}),), 7))
    runs.append(started_by(listener, "the dog"))
    listener.session.send(OpenConversation((Turn("the fox", 8, {"ar": "runs"}),), 7))
    runs.append(started_by(listener, "the dog"))
    assert runs == [4, 5, 6, 9]


def started_by(listener: Listener, prompt: str) -> int:
    return of(listener.turn(prompt), RunStarted)[0].run


def test_a_lane_that_never_began_has_no_answer_in_this_turn(
    open_session: Open, conversations: list[list[tuple[str, str]]]
) -> None:
    """It still has the ids of the turn before."""
    listener = open_session("ar,lookup")
    listener.loaded()
    listener.turn("the fox")
    listener.session.send(Pause(True))
    listener.forget()
    listener.session.send(Run("the dog"))
    listener.session.send(StepRound())
    stepped = listener.wait(RoundFinished)
    assert stepped.lane == "ar"
    listener.session.send(Stop())
    said = listener.rest()
    listener.session.send(Pause(False))
    listener.session.send(SetLeader("lookup"))
    assert of(listener.turn("and then"), RunStarted)[0].leader == "ar"  # lookup had said nothing
    answers = [content for role, content in conversations[-1] if role == "assistant"]
    assert answers[1] == text_of(said, "ar")


# --- pause, step, stop -----------------------------------------------------------------------


def test_a_step_is_exactly_one_round(open_session: Open) -> None:
    listener = open_session()
    listener.loaded()
    listener.session.send(Pause(True))
    listener.session.send(Run("the fox"))
    for count in range(1, 4):
        listener.session.send(StepRound())
        listener.wait(RoundFinished, count)
    time.sleep(0.1)  # nothing more may come
    listener.forget()
    assert len(of(listener.heard, RoundFinished)) == 3
    listener.session.send(Pause(False))
    assert reason_of(listener.rest(), "lookup") == "length"


def test_steps_from_before_the_pause_do_not_count(open_session: Open) -> None:
    listener = open_session()
    listener.loaded()
    listener.session.send(StepRound())
    listener.session.send(Pause(True))
    listener.session.send(Run("the fox"))
    listener.wait(RunStarted)
    time.sleep(0.1)
    listener.forget()
    assert not of(listener.heard, RoundFinished)


@pytest.mark.usefixtures("lockstep")
@pytest.mark.parametrize("schedule", ["fair", "race"])
def test_stop_ends_the_turn_and_keeps_what_was_said(
    open_session: Open, schedule: str, conversations: list[list[tuple[str, str]]]
) -> None:
    listener = open_session(params=LONG, schedule=schedule)
    listener.loaded()
    listener.session.send(Run("the fox"))
    listener.wait(RoundFinished, 4)
    listener.session.send(Stop())
    events = listener.rest()
    assert len(of(events, RoundFinished)) <= 5  # one may have been under way
    assert of(events, RunFinished)[0].stopped
    assert {reason_of(events, lane) for lane in LANES} == {"stopped"}
    listener.session.send(SetParams(Params(max_new_tokens=4)))
    assert reason_of(listener.turn("the dog"), "ar") == "length"
    assert conversations[-1][1][1].startswith(text_of(events, "ar"))


@pytest.mark.usefixtures("lockstep")
def test_stop_and_at_once_another_prompt(open_session: Open) -> None:
    listener = open_session("ar", params=LONG)
    listener.loaded()
    listener.session.send(Run("the fox"))
    listener.wait(RoundFinished, 2)
    listener.session.send(Stop())
    listener.session.send(Run("the dog"))
    assert listener.wait(RunFinished).stopped
    assert listener.wait(RunStarted, 2).prompt == "the dog"


@pytest.mark.usefixtures("lockstep")
def test_a_new_conversation_and_at_once_a_prompt(open_session: Open) -> None:
    listener = open_session("ar", params=LONG)
    listener.loaded()
    listener.session.send(Run("the fox"))
    listener.wait(RoundFinished, 2)
    listener.session.send(OpenConversation())
    listener.session.send(Run("the dog"))
    assert listener.wait(RunFinished).stopped
    assert listener.wait(RunStarted, 2).turn == 0


def test_stop_ends_a_pause(open_session: Open) -> None:
    listener = open_session(params=LONG)
    listener.loaded()
    listener.session.send(Pause(True))
    listener.session.send(Run("the fox"))
    listener.session.send(StepRound())
    listener.wait(RoundFinished)
    listener.session.send(Stop())
    assert of(listener.rest(), RunFinished)[0].stopped


# --- settings on the way ---------------------------------------------------------------------


@pytest.mark.usefixtures("lockstep")
def test_a_lane_that_is_switched_off_stops_and_the_others_go_on(open_session: Open) -> None:
    listener = open_session()
    listener.loaded()
    listener.session.send(Run("the fox"))
    listener.wait(RoundFinished, 2)
    listener.session.send(SetEnabled("ar", False))
    events = listener.rest()
    assert [reason_of(events, lane) for lane in LANES] == ["stopped", "length", "length"]
    assert lanes_of(listener.turn("the dog")) == ("draft", "lookup")
    listener.session.send(SetEnabled("ar", True))
    assert lanes_of(listener.turn("the dog")) == LANES


def test_settings_act_at_the_next_round(open_session: Open) -> None:
    listener = open_session("draft", params=Params(gamma=1, max_new_tokens=40))
    listener.loaded()
    listener.session.send(Pause(True))
    listener.session.send(Run("the fox"))
    for count, gamma in enumerate([1, 5, 0, 3], 1):
        listener.session.send(SetParams(Params(gamma=gamma, max_new_tokens=40)))
        listener.session.send(StepRound())
        assert listener.wait(RoundFinished, count).round.drafted == gamma


def test_steps_of_chosen_lanes_while_paused(open_session: Open) -> None:
    """In fair mode too nobody has to wait for the lanes before."""
    listener = open_session(params=LONG)
    listener.loaded()
    listener.session.send(Pause(True))
    listener.session.send(Run("the fox"))
    for lane in ("lookup", *LANES):
        listener.session.send(StepRound(lane))
    listener.wait(RoundFinished, 4)
    assert [e.lane for e in of(listener.heard, RoundFinished)] == ["lookup", *LANES]
    listener.session.send(Stop())


def test_race_lets_the_lanes_alternate(open_session: Open) -> None:
    listener = open_session(schedule="race", params=Params(gamma=2, max_new_tokens=30))
    listener.loaded()
    events = listener.turn("the fox")
    order = [e.lane for e in events if isinstance(e, RoundFinished)]
    assert set(order[:3]) == set(LANES)
    listener.session.send(SetSchedule("fair"))
    order = [e.lane for e in listener.turn("the dog") if isinstance(e, RoundFinished)]
    assert order == sorted(order, key=LANES.index)


# --- refused, broken, closed -----------------------------------------------------------------


def test_a_prompt_that_is_too_long_changes_nothing(
    open_session: Open, conversations: list[list[tuple[str, str]]]
) -> None:
    listener = open_session()
    listener.loaded()
    first = of(listener.turn("fox " * 200), RunRejected)[0]
    assert first.message.startswith("the question has") and not first.suggests_new_conversation
    assert first.message.endswith(": shorten it")
    listener.turn("the fox")
    events = listener.turn("fox " * 200)
    assert [type(e) for e in events] == [RunRejected]
    (refused,) = of(events, RunRejected)
    assert refused.prompt == "fox " * 200 and refused.suggests_new_conversation
    assert refused.message.endswith("the model's context holds 128: shorten it or begin a new one")
    assert of(listener.turn("the dog"), RunStarted)[0].turn == 1
    assert [role for role, _ in conversations[-1]] == ["user", "assistant", "user"]


def test_a_prompt_with_a_token_that_the_model_lacks_is_rejected(
    open_session: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many tokenizers got a padding token that the model has no row for."""
    monkeypatch.setattr(LoadedModels, "encode", lambda *_: [3, 280])
    listener = open_session("ar")
    listener.loaded()
    (rejected,) = listener.turn("the fox")
    assert isinstance(rejected, RunRejected)
    assert rejected.message.startswith("this conversation has the token id 280")


def test_with_every_lane_off_there_is_nothing_to_run(open_session: Open) -> None:
    listener = open_session("ar")
    listener.loaded()
    listener.session.send(SetEnabled("ar", False))
    (refused,) = listener.turn("the fox")
    assert isinstance(refused, RunRejected) and "no lane" in refused.message


def test_a_broken_lane_is_an_error_and_the_next_turn_works(
    open_session: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    listener = open_session()
    listener.loaded()
    step, broken = Lane.step, threading.Event()
    broken.set()

    def flaky(self: Lane, params: Params) -> Any:
        if self.spec.name == "draft" and broken.is_set():
            raise RuntimeError("no luck")
        return step(self, params)

    monkeypatch.setattr(Lane, "step", flaky)
    events = listener.turn("the fox")
    assert [reason_of(events, lane) for lane in LANES] == ["length", "error", "length"]
    assert of(events, Finished, "draft")[0].message == "RuntimeError: no luck"
    broken.clear()
    events = listener.turn("the dog")
    assert {reason_of(events, lane) for lane in LANES} == {"length"}
    assert ids_of(events, "draft") == ids_of(events, "ar")


def decode_threads() -> int:
    return sum(t.name == "specchat-decode" for t in threading.enumerate())


@pytest.mark.usefixtures("lockstep")
@pytest.mark.parametrize("moment", ["loading", "idle", "running", "paused"])
def test_close_never_waits_and_the_thread_ends(
    open_session: Open, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, closed = Worker.run, threading.Event()

    def linger(self: Worker) -> None:
        run(self)
        closed.wait(DEADLINE)

    monkeypatch.setattr(Worker, "run", linger)
    before = decode_threads()
    listener = open_session(params=LONG)
    if moment != "loading":
        listener.loaded()
    if moment == "paused":
        listener.session.send(Pause(True))
    if moment in ("running", "paused"):
        listener.session.send(Run("the fox"))
        listener.wait(RunStarted)
    begun = time.monotonic()
    listener.session.close()
    assert time.monotonic() - begun < DEADLINE / 2
    closed.set()
    while decode_threads() > before and time.monotonic() - begun < DEADLINE:
        time.sleep(0.005)
    assert decode_threads() <= before


def test_a_prompt_that_is_stopped_before_it_began_comes_back(open_session: Open) -> None:
    listener = open_session()  # still loading: the thread can't have taken the prompt
    listener.session.send(Run("the fox"))
    listener.session.send(Stop())
    assert listener.wait(RunRejected).prompt == "the fox"
    listener.loaded()
    assert reason_of(listener.turn("the dog"), "ar") == "length"


def test_a_lane_that_is_switched_off_in_a_pause_ends_at_once(open_session: Open) -> None:
    listener = open_session()
    listener.loaded()
    listener.session.send(Pause(True))
    listener.session.send(Run("the fox"))
    listener.session.send(StepRound())
    listener.wait(RoundFinished)
    listener.session.send(SetEnabled("ar", False))
    assert listener.wait(Finished, such=lambda e: e.lane == "ar").reason == "stopped"
    assert len(of(listener.heard, RoundFinished)) == 1  # and it is still a pause
    listener.session.send(Pause(False))
    assert reason_of(listener.rest(), "lookup") == "length"


def test_the_speedup_waits_for_this_turns_baseline(open_session: Open) -> None:
    listener = open_session("lookup,ar")
    listener.loaded()
    listener.turn("the fox")
    second = of(listener.turn("the dog"), RoundFinished, "lookup")
    assert second and all(event.metrics.speedup is None for event in second)


def test_turns_without_an_answer_are_left_out(
    open_session: Open, conversations: list[list[tuple[str, str]]]
) -> None:
    listener = open_session()
    listener.loaded()
    listener.session.send(Pause(True))
    listener.session.send(Run("the fox"))
    listener.wait(RunStarted)
    listener.session.send(Stop())
    listener.wait(RunFinished)
    listener.session.send(Pause(False))
    listener.turn("the dog")
    assert conversations[-1] == [("user", "the dog")]
