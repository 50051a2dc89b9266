"""A turn: whose round is next, what the lanes share, and what becomes of a lane that breaks."""

from __future__ import annotations

import re
import weakref
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from app.config.model_options import ModelOptions
from app.config.overrides import parse_strategies
from app.engine.comparison import sampling_rule
from app.engine.events import Event, Finished, Prefilled, RoundFinished, Schedule
from app.engine.lane import Lane
from app.engine.lane_turn import LaneTurn, Task
from app.engine.memory import memory
from app.engine.turn import TurnRunner, answer_seed
from app.models.load_models import load_models
from app.models.loaded import LoadedModels
from app.servers.protocol import Question
from app.strategies.lane_spec import LaneSpec
from app.strategies.registry import MEDUSA
from decoding.errors import is_out_of_memory
from decoding.params import Params, SamplingParams
from decoding.tokenizing.stopping import Stop
from decoding.trees.draft import Draft
from decoding.verification.acceptance import Acceptance
from tests.support.listening import ids_of, of, reason_of

PARAMS = Params(gamma=3, max_new_tokens=12)
SAMPLED = Params(SamplingParams(1.0), gamma=3, max_new_tokens=12)
PROMPT = [{"role": "user", "content": "the quick brown fox and the quick"}]


def lanes_for(family: LoadedModels, strategies: str) -> list[Lane]:
    return [Lane(spec, family) for spec in parse_strategies(strategies)]


class Turn:
    """Plays a turn without a thread."""

    def __init__(self, family: LoadedModels, lanes: list[Lane], seed: int = 3, **own: Any) -> None:
        self.lanes, self.events = lanes, list[Event]()
        self.enabled = {lane.spec.name: True for lane in lanes}
        question = Question(PROMPT, PARAMS, answer_seed(seed, 0))
        task = Task(family.encode(PROMPT), question, Stop(), **own)
        self.runner = TurnRunner(lanes, task, self.events.append)

    def play(self, params: Params = PARAMS, schedule: Schedule = "fair") -> list[Event]:
        while due := self.due(schedule):
            self.runner.advance(due, params)
        return self.events

    def due(self, schedule: Schedule, wanted: str | None = None) -> LaneTurn | None:
        self.runner.stop_disabled(self.enabled.__getitem__)
        return self.runner.due(schedule, wanted)


def test_fair_plays_one_lane_after_the_other(family: LoadedModels) -> None:
    events = Turn(family, lanes_for(family, "ar,draft,lookup")).play()
    order = [e.lane for e in events if isinstance(e, RoundFinished)]
    assert order == sorted(order, key=["ar", "draft", "lookup"].index)
    for lane in ("ar", "draft", "lookup"):
        kinds = [type(e) for e in events if getattr(e, "lane", None) == lane]
        assert kinds[0] is Prefilled
        assert set(kinds[1:-1]) == {RoundFinished}
        assert kinds[-1] is Finished
        assert reason_of(events, lane) == "length"
        assert len(ids_of(events, lane)) == 12


def test_race_gives_every_lane_the_same_time(family: LoadedModels) -> None:
    """No lane is ever ahead by more than one round."""
    turn = Turn(family, lanes_for(family, "ar,draft,lookup"))
    longest = 0.0
    while all(not lane.rounds or not lane.finished for lane in turn.lanes):
        due = turn.due("race")
        assert due is not None
        turn.runner.advance(due, PARAMS)
        longest = max(longest, *(r.total_seconds for lane in turn.lanes for r in lane.rounds))
        spent = [lane.stats.decode_seconds for lane in turn.lanes if lane.rounds]
        assert max(spent) - min(spent) <= longest
    assert all(lane.rounds for lane in turn.lanes)


def test_a_lane_can_be_asked_for_its_round_out_of_turn(family: LoadedModels) -> None:
    turn = Turn(family, lanes_for(family, "ar,draft"))
    for wanted in ("draft", "draft", "ar"):
        due = turn.due("fair", wanted)
        assert due is not None
        turn.runner.advance(due, PARAMS)
    assert [e.lane for e in turn.events if isinstance(e, RoundFinished)] == ["draft", "draft", "ar"]
    turn.play()
    assert turn.due("fair", "draft") is None


def test_the_prompt_is_prefilled_once_for_the_target(family: LoadedModels) -> None:
    lanes = lanes_for(family, "ar,draft,draft-only,lookup")
    Turn(family, lanes).play()
    ar, draft, *_ = lanes
    assert [lane.prompt.copied for lane in lanes] == [False, True, False, True]
    assert draft.ttft_seconds >= ar.prompt.seconds  # as if it had been its own


def test_exact_lanes_say_what_the_autoregressive_one_says(family: LoadedModels) -> None:
    events = Turn(family, lanes_for(family, "draft,ar,lookup,draft-only")).play()
    assert ids_of(events, "draft") == ids_of(events, "ar") == ids_of(events, "lookup")
    # draft ended before there was anything to compare it with, so it is reported once more
    assert [e.matches_ar for e in of(events, Finished, "draft")] == [None, True]
    assert [e.matches_ar for e in of(events, Finished, "lookup")] == [True]
    for lane in ("ar", "draft-only"):
        assert {e.matches_ar for e in of(events, Finished, lane)} == {None}


@pytest.mark.parametrize("order", ["ar,draft", "draft,ar"])
def test_a_divergence_is_told_with_the_gap_of_the_logits(family: LoadedModels, order: str) -> None:
    lanes = {lane.spec.name: lane for lane in lanes_for(family, order)}
    decoder = lanes["draft"]._decoder
    judge, rounds = decoder._verify, []

    def second_best(draft: Draft, logits: torch.Tensor, params: Params) -> Acceptance:
        """In the third round the likeliest token behind the root is overlooked."""
        rounds.append(draft)
        if len(rounds) == 3:
            logits[0, logits[0].argmax()] = -torch.inf
        return judge(draft, logits, params)

    decoder._verify = second_best  # type: ignore[method-assign]
    events = Turn(family, list(lanes.values())).play()
    told = of(events, Finished, "draft")[-1]
    assert told.matches_ar is False and told.first_divergence is not None
    before = family.encode(PROMPT) + lanes["ar"].ids[: told.first_divergence]
    with torch.inference_mode():
        best = family.target.model(torch.tensor([before])).logits[0, -1].topk(2).values
    assert told.divergence_gap == pytest.approx(float(best[0] - best[1]), abs=1e-4)
    assert {e.divergence_gap for e in of(events, Finished, "ar")} == {None}


def test_sampled_lanes_say_the_same_where_no_draft_is_drawn(family: LoadedModels) -> None:
    """And only then are they compared."""
    lanes = "draft,ar,lookup,lookup:gamma=2,lookup:temperature=0.5"
    events = Turn(family, lanes_for(family, lanes)).play(SAMPLED)
    ends = {e.lane: e.matches_ar for e in events if isinstance(e, Finished)}
    assert ends == dict(zip(lanes.split(","), (None, None, True, True, None), strict=True))
    assert ids_of(events, "ar") != ids_of(events, "draft")


def test_draws_that_differ_have_no_gap_that_would_look_like_a_tie(family: LoadedModels) -> None:
    ar, lookup = lanes_for(family, "ar,lookup")
    judge = lookup._decoder._verify

    def wrong(draft: Draft, logits: torch.Tensor, params: Params) -> Acceptance:
        return judge(draft, -logits, params)

    lookup._decoder._verify = wrong  # type: ignore[method-assign]
    (told,) = of(Turn(family, [ar, lookup]).play(SAMPLED), Finished, "lookup")
    assert told.matches_ar is False and told.first_divergence is not None
    assert told.divergence_gap is None


def test_half_precision_compares_no_draws(options: ModelOptions) -> None:
    half = load_models(replace(options, dtype="bfloat16"))
    events = Turn(half, lanes_for(half, "ar,lookup")).play(SAMPLED)
    assert {(e.reason, e.matches_ar) for e in of(events, Finished)} == {("length", None)}


def test_lanes_that_are_done_at_once_are_compared_by_the_rule_of_that_token(
    family: LoadedModels,
) -> None:
    lanes = "ar,lookup,lookup:temperature=1"
    events = Turn(family, lanes_for(family, lanes)).play(replace(PARAMS, max_new_tokens=1))
    ends = {e.lane: e.matches_ar for e in events if isinstance(e, Finished)}
    assert ends == dict(zip(lanes.split(","), (None, True, None), strict=True))


@pytest.mark.parametrize("schedule", ["fair", "race"])
@pytest.mark.parametrize("temperature, same", [(1.0, None), (0.0, True)])
def test_a_lane_whose_sampling_changed_on_the_way_is_not_compared(
    family: LoadedModels, temperature: float, same: bool | None, schedule: Schedule
) -> None:
    """At temperature 0 nothing changed. In a race it changes in both, though not at one place."""
    before, after = (
        replace(SAMPLED, sampling=SamplingParams(temperature, top_k=k)) for k in (0, 5)
    )
    turn = Turn(family, lanes_for(family, "ar,lookup"))
    for _ in range(4):
        due = turn.due(schedule)
        assert due is not None
        turn.runner.advance(due, before)
    assert all(lane.rounds for lane in turn.lanes) == (schedule == "race")
    assert of(turn.play(after), Finished, "lookup")[-1].matches_ar is same


def test_the_lossy_rule_has_a_say_of_its_own(family: LoadedModels) -> None:
    (ar,) = lanes_for(family, "ar")
    spec = LaneSpec("medusa", "medusa")
    medusa: Any = SimpleNamespace(spec=spec, models=family, strategy=MEDUSA)
    typical = replace(SAMPLED, acceptance="typical")
    plain = sampling_rule(ar, SAMPLED)
    assert sampling_rule(ar, ar.spec.effective_params(typical)) == plain
    assert sampling_rule(medusa, SAMPLED) == plain
    assert sampling_rule(medusa, typical) is None


def test_speedup_is_over_the_autoregressive_lane(family: LoadedModels) -> None:
    events = Turn(family, lanes_for(family, "ar,draft")).play()
    ar, draft = (of(events, Finished, name)[-1].metrics for name in ("ar", "draft"))
    assert ar is not None and draft is not None
    assert ar.speedup == 1.0
    assert draft.tokens_per_second and ar.tokens_per_second
    assert draft.speedup == pytest.approx(draft.tokens_per_second / ar.tokens_per_second)
    alone = Turn(family, lanes_for(family, "draft")).play()
    metrics = of(alone, Finished, "draft")[-1].metrics
    assert metrics is not None and metrics.speedup is None


def test_in_a_race_only_the_time_counts_in_which_both_ran(family: LoadedModels) -> None:
    turn = Turn(family, lanes_for(family, "ar,draft"))
    ar, draft = turn.lanes
    while len(ar.rounds) < 3 or not draft.rounds:
        due = turn.due("race")
        assert due is not None
        turn.runner.advance(due, PARAMS)
        for lane in turn.lanes:  # even if the machine stalled a round
            lane.stats.decode_seconds = float(len(lane.rounds))
    turn.enabled["draft"] = False  # it ends before the other one
    turn.runner.stop_disabled(turn.enabled.__getitem__)
    assert turn.runner.running
    beside = ar.stats.tokens_per_second
    ar.stats.decode_seconds += 60.0  # and now the machine is slow
    metrics = of(turn.play(schedule="race"), Finished, "draft")[-1].metrics
    assert beside and metrics and metrics.tokens_per_second
    assert metrics.speedup == pytest.approx(metrics.tokens_per_second / beside)


@pytest.mark.parametrize("strategies", ["draft", "draft,ar,lookup", "lookup,draft:gamma=2,draft"])
@pytest.mark.parametrize("schedule", ["fair", "race"])
def test_a_lanes_draws_depend_on_nothing_but_its_seed(
    family: LoadedModels, strategies: str, schedule: Schedule
) -> None:
    wanted = ids_of(Turn(family, lanes_for(family, "ar,draft")).play(SAMPLED), "draft")
    got = ids_of(Turn(family, lanes_for(family, strategies)).play(SAMPLED, schedule), "draft")
    assert got == wanted
    other = ids_of(Turn(family, lanes_for(family, "draft"), seed=4).play(SAMPLED), "draft")
    assert other != wanted


@pytest.mark.parametrize("broken", ["start", "step"])
def test_a_lane_that_breaks_ends_alone(
    family: LoadedModels, broken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lanes = lanes_for(family, "ar,draft,lookup")

    def fail(*args: object, **kwargs: object) -> None:
        raise RuntimeError("out of luck\nsecond line")

    monkeypatch.setattr(lanes[1], broken, fail)
    events = Turn(family, lanes).play()
    finished = of(events, Finished, "draft")[-1]
    assert (finished.reason, finished.message) == ("error", "RuntimeError: out of luck")
    for name in ("ar", "lookup"):
        assert reason_of(events, name) == "length"
    assert of(events, Finished, "lookup")[-1].matches_ar is True


def test_when_the_first_lane_breaks_the_next_one_prefills(
    family: LoadedModels, monkeypatch: pytest.MonkeyPatch
) -> None:
    lanes = lanes_for(family, "ar,draft")
    monkeypatch.setattr(lanes[0]._decoder.target, "prefill", _failing_once(family))
    events = Turn(family, lanes).play()
    assert reason_of(events, "ar") == "error"
    assert reason_of(events, "draft") == "length"
    # and in the next turn the broken lane is whole again
    assert reason_of(Turn(family, lanes).play(), "ar") == "length"


def _failing_once(family: LoadedModels) -> Any:
    prefill, calls = family.target.prefill, []

    def flaky(*args: Any, **kwargs: Any) -> Any:
        calls.append(1)
        if len(calls) == 1:
            raise RuntimeError("once")
        return prefill(*args, **kwargs)

    return flaky


def test_a_lane_that_is_switched_off_stops_and_keeps_what_it_said(family: LoadedModels) -> None:
    turn = Turn(family, lanes_for(family, "ar,draft"))
    for _ in range(3):
        due = turn.due("fair")
        assert due is not None
        turn.runner.advance(due, PARAMS)
    turn.enabled["ar"] = False
    events = turn.play()
    assert reason_of(events, "ar") == "stopped"
    assert len(ids_of(events, "ar")) == 4
    assert reason_of(events, "draft") == "length"
    assert of(events, Finished, "draft")[-1].matches_ar is None


def test_cancelling_ends_a_prefill(family: LoadedModels, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("decoding.model.target.PREFILL_CHUNK", 2)
    answers = iter([False, True])
    turn = Turn(family, lanes_for(family, "ar"), cancelled=lambda: next(answers))
    events = turn.play()
    assert [type(e) for e in events] == [Finished]
    assert reason_of(events, "ar") == "stopped"


def test_end_stops_what_still_runs(family: LoadedModels) -> None:
    turn = Turn(family, lanes_for(family, "ar,draft"))
    due = turn.due("fair")
    assert due is not None
    turn.runner.advance(due, PARAMS)
    assert turn.runner.end() is True
    assert [reason_of(turn.events, name) for name in ("ar", "draft")] == ["stopped", "stopped"]
    assert turn.runner.end() is False


def test_a_first_token_that_ends_the_answer_needs_no_round(family: LoadedModels) -> None:
    events = Turn(family, lanes_for(family, "ar,draft")).play(Params(max_new_tokens=1))
    assert [type(e) for e in events] == [Prefilled, Finished] * 2
    assert of(events, Finished, "draft")[-1].matches_ar is True


def test_a_lane_that_samples_by_its_own_temperature_is_not_compared(family: LoadedModels) -> None:
    warm = "lookup:temperature=0.8"
    events = Turn(family, lanes_for(family, f"ar,lookup,{warm}")).play()
    ends = {e.lane: e.matches_ar for e in events if isinstance(e, Finished)}
    assert ends == {"ar": None, "lookup": True, warm: None}


def test_a_full_context_is_said(family: LoadedModels) -> None:
    events = Turn(family, lanes_for(family, "ar,lookup")).play(Params(max_new_tokens=500))
    assert [of(events, Finished, name)[0].message for name in ("ar", "lookup")] == [
        "the model's context of 128 tokens is full"
    ] * 2
    assert of(Turn(family, lanes_for(family, "ar")).play(), Finished, "ar")[0].message is None


@pytest.mark.parametrize("failing", ["ar", "draft"])  # the others share the prefill of the first
def test_a_lane_without_memory_gives_back_what_it_had_and_says_what_would_fit(
    failing: str, family: LoadedModels, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("ar", "draft", "lookup")
    lanes = lanes_for(family, ",".join(names))
    wanted = Turn(family, lanes_for(family, ",".join(names))).play()
    poor = lanes[names.index(failing)]
    step, caches = poor.step, list[Any]()

    def full(params: Params) -> Any:
        if all(lane.ids for lane in lanes):  # have begun
            cache = poor._decoder._cache
            caches.append(weakref.ref(cache))
            raise torch.OutOfMemoryError(f"CUDA out of memory, {len(poor.ids)}\nmore")
        return step(params)

    monkeypatch.setattr(poor, "step", full)
    events = Turn(family, lanes).play(schedule="race")
    assert [each() for each in caches] == [None]
    for lane in {*names} - {failing}:
        assert ids_of(events, lane) == ids_of(wanted, lane)
    end = of(events, Finished, failing)[-1]
    assert end.reason == "error" and end.message is not None
    assert re.match(
        r"out of memory: its .* are free again \(.* in total, room for about \d+ tokens of this "
        r"lane\); ask for less, switch lanes off, or load with --dtype bfloat16",
        end.message,
    )
    assert poor.text  # what was said stays
    monkeypatch.undo()
    again = Turn(family, lanes).play()
    assert ids_of(again, failing) == ids_of(wanted, failing)


def test_a_lane_without_memory_for_new_caches_leaves_the_others_alone(
    family: LoadedModels, monkeypatch: pytest.MonkeyPatch
) -> None:
    lanes = lanes_for(family, "ar,draft,lookup")
    wanted = Turn(family, lanes_for(family, "ar,draft,lookup")).play()
    draft, step = lanes[1], lanes[1].step

    def full(*params: Params) -> Any:
        if not params or len(draft.rounds) == 2:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return step(*params)

    monkeypatch.setattr(draft, "step", full)
    monkeypatch.setattr(draft, "_make_decoder", full)
    events = Turn(family, lanes).play()
    for lane in ("ar", "lookup"):
        assert ids_of(events, lane) == ids_of(wanted, lane)
    (end,) = [e for e in of(events, Finished) if e.lane == "draft"]
    assert end.reason == "error" and "remove this lane and add it again" in str(end.message)
    assert draft.text and not draft.available  # what was said stays
    assert set(memory(family, lanes).caches) == {"ar", "lookup"}
    draft.free_caches()  # once more changes nothing


@pytest.mark.parametrize(
    ("error", "full"),
    [
        (MemoryError(), True),
        (RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: 9"), True),
        (RuntimeError("CUDA error: out of memory"), True),
        (RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate`"), True),
        (RuntimeError("shapes differ"), False),
        (ValueError("out of memory"), False),
    ],
)
def test_what_running_out_of_memory_looks_like(error: Exception, full: bool) -> None:
    assert is_out_of_memory(error) == full


def test_what_can_not_be_compared_is_no_failure_of_a_lane(
    family: LoadedModels, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The gap of logits takes a second cache, for which there may be no memory."""

    def no_memory(*_: object) -> float:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(LoadedModels, "logit_gap", no_memory)
    monkeypatch.setattr("app.engine.comparison.first_divergence", lambda *_: 1)
    events = Turn(family, lanes_for(family, "ar,lookup")).play()
    (finished,) = (e for e in events if isinstance(e, Finished) and e.lane == "lookup")
    assert finished.reason != "error"
    assert finished.matches_ar is False and finished.divergence_gap is None
