"""Probabilities of an answer that is finished: asked for, worked out between two turns."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from app.engine.commands import ComputeProbabilities, RecordProbabilities, Run
from app.engine.events import (
    Event,
    Prefilled,
    ProbabilitiesComputed,
    RoundFinished,
    RunFinished,
    RunStarted,
)
from app.engine.lane import Lane
from decoding.params import Params, SamplingParams
from tests.support.listening import Listener, Open, of

PROMPT = "the quick brown fox"


def request(events: list[Event], lane: str) -> ComputeProbabilities:
    """What the screen asks for, which knows an answer by its events."""
    (started,), (first,) = of(events, RunStarted), of(events, Prefilled, lane)
    steps = of(events, RoundFinished, lane)
    return ComputeProbabilities(
        lane,
        started.run,
        started.prompt_ids,
        first.first.id,
        first.params or Params(),
        tuple(step.round for step in steps),
        tuple(step.params or Params() for step in steps),
    )


def watched(listener: Listener, lane: str) -> list[Event]:
    listener.session.send(RecordProbabilities(frozenset((lane,))))
    return listener.turn()


@pytest.mark.parametrize(
    ("lane", "tokens"), [("ar", 12), ("draft", 12), ("lookup", 12), ("draft-only", 12), ("ar", 1)]
)
def test_as_if_it_had_been_recorded(open_session: Open, lane: str, tokens: int) -> None:
    settings = Params(SamplingParams(temperature=0.9, top_k=40), gamma=3, max_new_tokens=tokens)
    listener = open_session("ar,draft,lookup,draft-only", params=settings)
    listener.loaded()
    events = listener.turn(PROMPT)
    listener.session.send(request(events, lane))
    measured = listener.wait(ProbabilitiesComputed)
    assert measured.note is None and measured.first
    again = watched(listener, lane)
    (first,), steps = of(again, Prefilled, lane), of(again, RoundFinished, lane)
    assert first.probs and measured.first.entropy == pytest.approx(first.probs.entropy, rel=1e-3)
    assert measured.first.own_p == pytest.approx(first.probs.own_p, rel=1e-3)
    for found, step in zip(measured.rounds, steps, strict=True):
        assert found.tokens == step.round.tokens
        assert found.p == pytest.approx(step.round.p, rel=1e-3, abs=1e-6)
        assert found.entropies == pytest.approx(step.round.entropies, rel=1e-3, abs=1e-6)
        assert set(step.texts) - set(step.round.tokens) <= set(measured.texts)


def test_a_new_prompt_does_not_wait_for_it(
    open_session: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is dropped: the answer that it was about is not the newest one any more."""
    listener = open_session("ar")
    listener.loaded()
    answer = request(listener.turn(PROMPT), "ar")
    asked = []

    def compute(self: Lane, answer: ComputeProbabilities, cancelled: Any) -> ProbabilitiesComputed:
        asked.append(answer)
        while not cancelled():
            pass
        raise InterruptedError

    monkeypatch.setattr(Lane, "compute_probabilities", compute)
    listener.session.send(answer)
    events = listener.turn("and the lazy dog")
    assert of(events, RoundFinished) and not of(events, ProbabilitiesComputed)
    assert not listener.session._mailbox.probabilities and len(asked) <= 1


def test_one_that_was_dropped_is_not_looked_for_among_the_others(
    open_session: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To compare whole answers takes long, and another thread may add one meanwhile."""
    listener = open_session("ar")
    listener.loaded()
    answer = request(listener.turn(PROMPT), "ar")
    waiting = listener.session._mailbox.probabilities

    class Other(ComputeProbabilities):
        def __eq__(self, other: object) -> bool:
            waiting.append(self)
            return False

    def compute(self: Lane, answer: ComputeProbabilities, cancelled: Any) -> ProbabilitiesComputed:
        waiting.clear()
        waiting.append(Other("gone", answer.run, (), 0, Params(), (), ()))
        assert cancelled()
        raise InterruptedError

    monkeypatch.setattr(Lane, "compute_probabilities", compute)
    listener.session.send(answer)
    assert listener.wait(ProbabilitiesComputed).lane == "gone"


@pytest.mark.usefixtures("lockstep")
def test_while_rounds_are_made_it_waits(open_session: Open) -> None:
    listener = open_session("ar")
    listener.loaded()
    answer = request(listener.turn(PROMPT), "ar")
    listener.forget()
    listener.session.send(Run("the fox"))
    listener.wait(RoundFinished)
    listener.session.send(answer)
    measured = listener.wait(ProbabilitiesComputed)
    assert measured.run == answer.run
    events = listener.rest()  # what was measured may be heard together with the turn's end
    assert events.index(of(events, RunFinished)[0]) < events.index(measured)


def test_what_cannot_be_measured_says_why(open_session: Open) -> None:
    listener = open_session("ar")
    listener.loaded()
    answer = request(listener.turn(PROMPT), "ar")
    listener.session.send(replace(answer, lane="gone"))
    assert listener.wait(ProbabilitiesComputed).note == "there is no lane gone"
    listener.session.send(replace(answer, prompt_ids=(1 << 20,)))
    assert listener.wait(ProbabilitiesComputed, 2).note
    assert listener.turn(PROMPT)  # it lives on
