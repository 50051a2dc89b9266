"""An answer that was stopped goes on: the same ids as without the stop, in a race and in turn."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from app.engine.commands import (
    AnswerSoFar,
    OpenConversation,
    ResumeAnswer,
    Run,
    SetEnabled,
    Stop,
    Turn,
)
from app.engine.events import (
    Finished,
    Prefilled,
    RoundFinished,
    RunContinued,
    RunFinished,
    RunRejected,
    RunStarted,
)
from app.history.recording import Recording
from decoding.params import Params, SamplingParams
from tests.support.listening import LONG, Listener, Open, ids_of, of, reason_of

LANES = ("ar", "draft", "lookup")
PROMPT = "a very long answer"
SAMPLED = Params(SamplingParams(temperature=0.9), gamma=3, max_new_tokens=90)


def stop_after(listener: Listener, lane: str, rounds: int, prompt: str = PROMPT) -> list[Any]:
    listener.forget()
    listener.session.send(Run(prompt))
    listener.wait(RoundFinished, rounds, lambda event: event.lane == lane)
    listener.session.send(Stop())
    return listener.rest()


def ending(events: list[Any], lane: str) -> Any:
    """How the lane came to its end at last."""
    return of(events, Finished, lane)[-1]


def answers(events: list[Any]) -> dict[str, AnswerSoFar]:
    """As the screen keeps them."""
    found = {}
    for first in of(events, Prefilled):
        steps = of(events, RoundFinished, first.lane)
        end = ending(events, first.lane)
        found[first.lane] = AnswerSoFar(
            first.first.id,
            tuple(step.round for step in steps),
            tuple(step.params or Params() for step in steps),
            None if end.reason == "stopped" else end.reason,
            end.metrics.speedup if end.metrics else None,
            first.sampled,
        )
    return found


def go_on(listener: Listener, events: list[Any], *lanes: str) -> list[Any]:
    """Everything that is heard of the turn, from its beginning."""
    known = answers(events)
    stopped = [lane for lane in LANES if lane not in known or known[lane].finished is None]
    listener.forget()
    ids = of(events, RunStarted)[0].prompt_ids
    listener.session.send(ResumeAnswer(ids, lanes or tuple(stopped), known, 7))
    return [*events, *listener.rest()]


@pytest.mark.parametrize("schedule", ["race", "fair"])
@pytest.mark.parametrize("params", [LONG, SAMPLED], ids=["greedy", "sampled"])
def test_a_stopped_answer_goes_on_as_if_it_had_run_through(
    open_session: Open, lockstep: None, schedule: str, params: Params
) -> None:
    whole = open_session(schedule=schedule, params=params)
    whole.loaded()
    truth = whole.turn(PROMPT)

    listener = open_session(schedule=schedule, params=params)
    listener.loaded()
    events = stop_after(listener, "ar", 2)
    assert events[-1].stopped and reason_of(events, "ar") == "stopped"
    heard = go_on(listener, events)
    assert [e.lanes for e in of(heard, RunContinued)] == [LANES]
    assert not heard[-1].stopped and len(of(heard, RunStarted)) == 1
    for lane in ("ar", "lookup") if params is SAMPLED else LANES:
        assert ids_of(heard, lane) == ids_of(truth, lane)
        assert [e.round.index for e in of(heard, RoundFinished, lane)] == [
            *range(len(of(truth, RoundFinished, lane)))
        ]
        assert reason_of(heard, lane) == reason_of(truth, lane)
        end, plain = ending(heard, lane), ending(truth, lane)
        assert end.metrics.tokens == plain.metrics.tokens
        assert end.metrics.passes == plain.metrics.passes
        assert end.matches_ar is plain.matches_ar


def test_a_sampled_first_token_is_not_drawn_a_second_time(
    open_session: Open, lockstep: None
) -> None:
    """Of an answer that was left before its first round."""
    whole = open_session(params=SAMPLED)
    whole.loaded()
    truth = whole.turn(PROMPT)
    only_first = {
        lane: replace(answer, rounds=(), params=(), finished=None, speedup=None)
        for lane, answer in answers(truth).items()
    }
    listener = open_session(params=SAMPLED)
    listener.loaded()
    (started,) = of(truth, RunStarted)
    listener.session.send(OpenConversation((Turn(PROMPT, started.run, {"ar": "something"}),), 7))
    listener.session.send(ResumeAnswer(started.prompt_ids, ("ar", "lookup"), only_first, 7))
    heard = listener.rest()
    for lane in ("ar", "lookup"):
        assert [token.id for event in of(heard, RoundFinished, lane) for token in event.tokens] == [
            token.id for event in of(truth, RoundFinished, lane) for token in event.tokens
        ]


def test_twice_stopped_and_a_lane_that_was_done_is_compared(
    open_session: Open, lockstep: None
) -> None:
    listener = open_session(params=LONG)  # fair: the autoregressive lane is done first
    listener.loaded()
    events = stop_after(listener, "draft", 2)
    assert reason_of(events, "ar") == "length" and not of(events, Prefilled, "lookup")
    known = answers(events)
    listener.forget()
    listener.session.send(ResumeAnswer(of(events, RunStarted)[0].prompt_ids, LANES[1:], known, 7))
    listener.wait(RoundFinished, 2, lambda event: event.lane == "draft")
    listener.session.send(Stop())
    events += listener.rest()
    heard = go_on(listener, events)
    assert len(of(heard, Prefilled)) == 3
    for lane in LANES[1:]:
        end = ending(heard, lane)
        assert end.reason == "length" and end.matches_ar is True and end.metrics.speedup
        assert ids_of(heard, lane) == ids_of(heard, "ar")


@pytest.mark.parametrize("schedule", ["race", "fair"])
def test_after_a_restart_from_what_was_recorded(
    open_session: Open, lockstep: None, schedule: str
) -> None:
    listener = open_session(schedule=schedule, params=LONG)
    loaded = listener.loaded()
    events = stop_after(listener, "ar", 3)
    other = open_session(schedule=schedule, params=LONG)
    other.loaded()
    run = of(events, RunStarted)[0].run
    other.session.send(OpenConversation((Turn(PROMPT, run, {"ar": "something"}),), 7))
    heard = go_on(other, events)
    truth = open_session(schedule=schedule, params=LONG)
    truth.loaded()
    told = truth.turn(PROMPT)
    for lane in LANES:
        assert ids_of(heard, lane) == ids_of(told, lane)
        assert reason_of(heard, lane) == "length"
        assert ending(heard, lane).matches_ar is (None if lane == "ar" else True)

    recording = Recording("2026-01-01", {})
    for event in (loaded, *heard):
        if not isinstance(event, RunContinued):
            recording.add(event)
    (turn,) = recording.turns
    assert not turn.stopped
    for lane, record in turn.lanes.items():
        assert record.ids == ids_of(heard, lane) and record.finished == "length"
    read = [*turn.events()]
    for lane in LANES:
        live = ending(heard, lane).metrics.speedup
        assert ending(read, lane).metrics.speedup == pytest.approx(live)


def test_the_next_question_follows_the_whole_answer(open_session: Open, lockstep: None) -> None:
    short = Params(gamma=3, max_new_tokens=20)
    listener = open_session(params=short, schedule="race")
    listener.loaded()
    truth = open_session(params=short, schedule="race")
    truth.loaded()
    truth.turn(PROMPT)
    go_on(listener, stop_after(listener, "ar", 2))
    again, plain = listener.turn("and more"), truth.turn("and more")
    assert of(again, RunStarted)[0].prompt_ids == of(plain, RunStarted)[0].prompt_ids
    assert ids_of(again, "ar") == ids_of(plain, "ar")


def test_a_lane_that_is_off_by_then_stays_stopped(open_session: Open, lockstep: None) -> None:
    listener = open_session(params=LONG, schedule="race")
    listener.loaded()
    events = stop_after(listener, "ar", 2)
    listener.session.send(SetEnabled("draft", False))
    heard = go_on(listener, events)
    assert reason_of(heard, "draft") == "stopped" and reason_of(heard, "ar") == "length"


def test_without_an_answer_there_is_nothing_to_go_on_with(open_session: Open) -> None:
    listener = open_session()
    listener.loaded()
    listener.session.send(ResumeAnswer((1, 2), ("ar",), {}, 7))
    refused = listener.rest()[-1]
    assert refused == RunRejected("", "there is no answer to continue")
    end = listener.turn("the lazy dog")[-1]
    assert isinstance(end, RunFinished) and not end.stopped
