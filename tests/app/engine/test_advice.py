"""Advice on the lanes of a session: measured on its own models, between two turns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from app.engine import experiment
from app.engine.candidates import GAMMAS, candidates, present_and_free
from app.engine.commands import EndAdvice, Run, SetEnabled, StartAdvice, StopAdvice
from app.engine.events import Advice, Event, RunFinished
from app.engine.experiment import Experiment
from app.engine.lane import Lane
from app.models.loaded import LoadedModels
from app.report.advice_document import Outcome, advice_document
from app.report.advice_text import format_advice
from app.strategies.lane_spec import LaneSpec
from decoding.errors import InputError
from decoding.params import Params
from tests.support.listening import Listener, Open, ids_of, of

EXAMPLES = ("the fox", "lazy dog")
SOON = StartAdvice(0.3, EXAMPLES)
FACTS: dict[str, Any] = {
    "first_turns_only": False, "unavailable": {}, "settings": {"seed": 7},
}  # fmt: skip


def ended(event: Advice) -> bool:
    return event.document is not None or event.note is not None


def document(listener: Listener) -> Mapping[str, Any]:
    result = listener.wait(Advice, such=ended)
    assert result.document is not None, result.note
    return result.document


def test_it_advises_on_the_examples_and_then_on_the_conversation(open_session: Open) -> None:
    listener = open_session("ar,draft:gamma=4,lookup,draft-only")
    listener.loaded()
    listener.session.send(SOON)
    found = document(listener)
    assert found["prompts"] == len(EXAMPLES)
    assert {row["strategy"] for row in found["measured"]} == {"ar", "draft", "lookup"}
    tried = [row["overrides"] for row in found["screened"] if row["strategy"] == "draft"]
    assert {"gamma": 4} in tried and {"gamma": 8} in tried  # the lane's own, and others
    assert {row["temperature"] for row in found["measured"]} == {0.0}
    before = listener.turn("the quick brown fox")
    listener.turn("dog")
    listener.turn("fox")
    listener.forget()
    listener.session.send(replace(SOON, temperatures=(0.0, 0.7)))
    found = document(listener)
    assert found["prompts"] == 3 and found["sweep"] == {"temperature": (0.0, 0.7)}
    assert [row["temperature"] for row in found["best"]] == [0.0, 0.7]
    assert ids_of(listener.turn(), "draft:gamma=4")  # the lanes go on as if nothing had been
    assert ids_of(before, "draft:gamma=4")


@pytest.mark.parametrize("other", [StopAdvice(), Run("the")])
def test_whatever_else_is_asked_ends_it(open_session: Open, other: StopAdvice | Run) -> None:
    listener = open_session()
    listener.loaded()
    listener.session.send(StartAdvice(600.0, EXAMPLES))
    listener.wait(Advice, such=lambda event: event.part is not None)
    listener.session.send(other)
    if isinstance(other, StopAdvice):
        listener.session.send(Run("the"))
    listener.wait(RunFinished)
    heard: list[Event] = listener.heard
    assert not any(map(ended, of(heard, Advice)))


def test_where_no_lane_drafts_it_says_so(open_session: Open) -> None:
    listener = open_session("ar,draft")
    listener.loaded()
    listener.session.send(SetEnabled("draft", False))
    listener.session.send(SOON)
    assert "no lane drafts" in str(listener.wait(Advice, such=ended).note)
    listener.forget()
    listener.session.send(SetEnabled("draft", True))
    listener.session.send(StartAdvice(0.3))
    assert "no prompt" in str(listener.wait(Advice, such=ended).note)


def test_a_lane_takes_part_as_it_is_and_without_what_is_tried() -> None:
    lanes = [
        LaneSpec("ar", "ar"),
        LaneSpec("draft", "draft", {"gamma": 4, "temperature": 0.9, "top_p": 0.5}),
        LaneSpec("draft", "draft#2"),
    ]
    names = [spec.name for spec in present_and_free(lanes, Params())]
    assert names == ["ar", "draft:top_p=0.5", "draft:gamma=4:top_p=0.5", "draft"]
    same = present_and_free(lanes[1:2], Params(gamma=4))
    assert [dict(spec.overrides) for spec in same] == [{"top_p": 0.5}]


def test_what_is_cancelled_ends_before_its_next_round(family: LoadedModels) -> None:
    lanes = [LaneSpec("ar", "ar"), LaneSpec("lookup", "lookup")]
    params, stop, rounds = Params(max_new_tokens=50), family.stop(True, ()), 0

    def cancelled() -> bool:
        nonlocal rounds
        rounds += 1
        return rounds > 20

    experiment = Experiment(
        family, candidates(lanes, family, params), [[1, 2]], params, stop, 7, 60.0,
        lambda what, part: None, cancelled,
    )  # fmt: skip
    with pytest.raises(InterruptedError):
        experiment.run()
    assert rounds == 21


def test_what_is_ended_gives_what_was_measured(
    family: LoadedModels, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(experiment, "KEPT", 0.0)  # no setting is dropped, however slow
    lanes = [LaneSpec("ar", "ar"), LaneSpec("lookup", "lookup")]
    params, stop = Params(max_new_tokens=8), family.stop(True, ())
    said = ""

    def run(until: str) -> Outcome:
        def say(what: str, part: float | None) -> None:
            nonlocal said
            said = what

        tried = candidates(lanes, family, params)
        return Experiment(
            family, tried, [[1, 2], [3]], params, stop, 7, 60.0, say, ends=lambda: until in said
        ).run()

    screened = run("screening, prompt 2")
    assert screened.only_screened and [len(each.answers) for each in screened.screened] == [1] * 5
    assert [each.strategy.name for each in screened.measured] == ["ar", "lookup"]
    text = format_advice(advice_document(screened, **family.facts, **FACTS))
    assert "5 settings screened on short answers, and ended before the best of each kind" in text
    assert "Larger batches" not in text
    said = ""
    measured = run("measuring, answer 3")
    assert measured.ended_early and not measured.only_screened
    assert [len(each.answers) for each in measured.measured] == [2, 2]
    text = format_advice(advice_document(measured, **family.facts, **FACTS))
    assert "measured on others; ended early; 2 prompts" in text and "Larger batches" not in text
    said = ""
    slow = run("screening, prompt 1 of 2: setting 3")  # before all settings have answered
    assert slow.only_screened and len(slow.screened) == len(slow.measured) == 2
    for early in ("warming up", "prompt 1 of 2: setting 1", "prompt 1 of 2: setting 2"):
        said = ""
        with pytest.raises(InterruptedError):
            run(early)


def test_a_session_ends_it_with_what_was_measured(open_session: Open) -> None:
    listener = open_session()
    listener.loaded()
    listener.session.send(StartAdvice(600.0, EXAMPLES * 10))
    listener.wait(Advice, such=lambda event: event.ready)
    listener.session.send(EndAdvice())
    assert document(listener)["ended_early"]
    listener.forget()
    listener.session.send(SOON)  # another one is not ended
    assert not document(listener)["ended_early"]


def test_a_setting_that_fails_leaves_the_others(
    family: LoadedModels, monkeypatch: pytest.MonkeyPatch
) -> None:
    lanes = [LaneSpec("ar", "ar"), LaneSpec("lookup", "lookup")]
    params, step, breaks = Params(max_new_tokens=8), Lane.step, {"lookup:gamma=16"}

    def broken(lane: Lane, params: Params) -> object:
        if lane.spec.name in breaks:
            raise RuntimeError("CUDA out of memory")
        return step(lane, params)

    def run() -> Outcome:
        tried, stop = candidates(lanes, family, params), family.stop(True, ())
        return Experiment(
            family, tried, [[1, 2]], params, stop, 7, 0.1, lambda what, part: None
        ).run()

    monkeypatch.setattr(Lane, "step", broken)
    outcome = run()
    names = [f"lookup:gamma={gamma}" for gamma in (2, 4, 8, 16)]
    assert outcome.failed == {names[3]: "RuntimeError: CUDA out of memory"}
    assert [each.name for each in outcome.screened] == ["ar", *names[:3]]
    assert [each.strategy.name for each in outcome.measured] == ["ar", "lookup"]
    breaks.update(names)
    outcome = run()
    assert outcome.failed.keys() == set(names)
    assert [each.name for each in outcome.measured] == ["ar"]
    (best,) = advice_document(outcome)["best"]
    assert best["name"] is None
    breaks.add("ar")
    with pytest.raises(InputError, match="ar: RuntimeError: CUDA out of memory"):
        run()


def test_a_lane_that_fails_while_warming_up_leaves_the_others(
    family: LoadedModels, monkeypatch: pytest.MonkeyPatch
) -> None:
    lanes = [LaneSpec("ar", "ar"), LaneSpec("suffix", "suffix"), LaneSpec("lookup", "lookup")]
    params, warm_up, breaks = Params(max_new_tokens=8), Lane.warm_up, {"suffix"}

    def broken(lane: Lane) -> None:
        if lane.spec.strategy in breaks:
            raise RuntimeError("CUDA out of memory")
        warm_up(lane)

    def run() -> Outcome:
        tried, stop = candidates(lanes, family, params), family.stop(True, ())
        return Experiment(
            family, tried, [[1, 2]], params, stop, 7, 0.1, lambda what, part: None
        ).run()

    monkeypatch.setattr(Lane, "warm_up", broken)
    outcome = run()
    assert outcome.failed == {
        f"suffix:gamma={gamma}": "RuntimeError: CUDA out of memory" for gamma in (2, 4, 8, 16)
    }
    assert [each.strategy.name for each in outcome.measured] == ["ar", "lookup"]
    breaks.add("ar")
    with pytest.raises(InputError, match="ar: RuntimeError: CUDA out of memory"):
        run()


def test_a_draft_model_is_tried_with_gamma_auto(family: LoadedModels) -> None:
    tried = candidates([LaneSpec("ar", "ar"), LaneSpec("draft", "draft")], family, Params())
    assert [each.params.gamma for each in tried] == [None, *GAMMAS, "auto"]


def test_a_slow_model_gives_shorter_answers(
    family: LoadedModels, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that the budget holds: here a pass is said to take a second."""
    monkeypatch.setattr(experiment, "pass_seconds", lambda target, nodes: 1.0)
    lanes = [LaneSpec("ar", "ar"), LaneSpec("lookup", "lookup")]
    params = Params(max_new_tokens=64)
    tried = candidates(lanes, family, params)
    finalists = Experiment(
        family, tried, [[1, 2]], params, family.stop(True, ()), 7, 150.0, lambda what, part: None
    ).compete()
    # 40% of the budget is 60 s for five settings, and less than the 150 s are left for 2 x 3.
    assert {len(each.answers[0].ids) for each in tried} <= set(range(16, 24))
    assert {len(each.answers[0].ids) for each in finalists} <= set(range(24, 33))


def test_every_setting_counts_for_the_progress(family: LoadedModels) -> None:
    """Also while a single prompt is screened, which takes most of the time."""
    lanes = [LaneSpec("ar", "ar"), LaneSpec("lookup", "lookup")]
    params, said = Params(max_new_tokens=8), list[tuple[str, float | None]]()
    tried = candidates(lanes, family, params)
    experiment = Experiment(
        family, tried, [[1, 2]], params, family.stop(True, ()), 7, 60.0,
        lambda what, part: said.append((what, part)),
    )  # fmt: skip
    experiment.compete()
    screening = [part for what, part in said if what.startswith("screening, prompt 1 of 1")]
    assert len(screening) == len(tried) == 5
    assert len(set(screening)) == 5  # each further than the one before
    assert f"screening, prompt 1 of 1: setting 5 of {len(tried)}" in dict(said)
