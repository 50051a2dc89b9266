"""A lane that draws what the target draws passes, one that does not is found out, and looking
changes nothing."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
import torch
from scipy.stats import chi2_contingency

from app.config.overrides import parse_strategies
from app.engine import between_turns
from app.engine.commands import (
    AddLane,
    Command,
    OpenConversation,
    Pause,
    Run,
    RunAgain,
    StartSamplingTest,
    StepRound,
    StopSamplingTest,
    Turn,
)
from app.engine.commands import Stop as StopRun
from app.engine.events import LanesChanged, RoundFinished, RunFinished, SamplingTest
from app.engine.lane import Lane
from app.engine.sampling_test import (
    GREEDY_TOKENS,
    TOKENS,
    Ids,
    StartState,
    compare_with_target,
    same_source,
)
from app.models.loaded import LoadedModels
from app.strategies.lane_spec import LaneSpec
from decoding import decoder as loop
from decoding.checkpoints.medusa import MedusaWeights
from decoding.drafters.medusa_heads import MedusaHeads
from decoding.errors import InputError
from decoding.params import Params, SamplingParams
from decoding.tokenizing.stopping import Stop
from decoding.trees.draft import Draft
from decoding.trees.static import NAMED_TREES
from decoding.verification.acceptance import Acceptance, accept
from decoding.verification.noise import Noise
from tests.support.listening import Open, ids_of, of

Sides = tuple[dict[Ids, int], dict[Ids, int]]
EVERYTHING = range(5, 115)  # whatever is said, a copy can go on from it
COLD = Params(SamplingParams(0.4), gamma=3)
PROMPT = [{"role": "user", "content": "the quick brown fox and the quick"}]


def proofs(
    family: LoadedModels, strategies: str, params: Params = COLD, count: int = 100, **place: Any
) -> list[SamplingTest]:
    (spec,) = parse_strategies(strategies)
    own = {"ids": family.encode(PROMPT), "stop": Stop(family.eos), "seed": 5, **place}
    return list(
        compare_with_target(
            Lane(spec, family), StartState(params=params, **own), count, lambda: False
        )
    )


def always(
    draft: Draft, logits: torch.Tensor, sampling: SamplingParams, noise: Noise
) -> Acceptance:
    """Everything that is drafted stays."""
    if len(draft.tree) == 1:
        return accept(draft, logits, sampling, noise)
    return Acceptance(draft, logits[-1:].argmax(-1), torch.tensor([len(draft.tree) - 1]))


@pytest.mark.slow
@pytest.mark.parametrize(
    "strategies",
    ["ar", "draft", "draft:gamma=1", "lookup", "draft:temperature=0.7:max_new_tokens=1"],
)
def test_an_exact_lane_passes(family: LoadedModels, strategies: str) -> None:
    (*_, last) = proofs(family, strategies, count=250)
    assert (last.done, last.repetitions, last.tokens) == (250, 250, TOKENS)
    assert last.p_value is not None and last.p_value > 0.01
    assert last.kinds > 5 and not last.lossy and not last.greedy and last.note is None
    for side in ("lane", "plain"):
        assert 0 < sum(getattr(outcome, side) for outcome in last.outcomes) <= 250
    assert last.context.endswith("quick")


def test_both_sides_draw_by_themselves(family: LoadedModels) -> None:
    """At one seed they would say the same, whatever they had to prove."""
    (*_, last) = proofs(family, "lookup", count=20)
    assert any(outcome.lane != outcome.plain for outcome in last.outcomes)


def test_a_broken_acceptance_is_found_out(
    family: LoadedModels, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "accept", always)
    (*_, last) = proofs(family, "lookup", ids=EVERYTHING)
    assert last.p_value is not None and last.p_value < 1e-12


def test_at_temperature_0_once_is_enough(
    family: LoadedModels, monkeypatch: pytest.MonkeyPatch
) -> None:
    (only,) = proofs(family, "draft", Params(gamma=3))
    assert (only.done, only.repetitions, only.tokens) == (1, 1, GREEDY_TOKENS)
    assert only.greedy and only.p_value is None
    assert [(each.lane, each.plain) for each in only.outcomes] == [(1, 1)]
    monkeypatch.setattr(loop, "accept", always)
    (other,) = proofs(family, "lookup", Params(gamma=3), ids=EVERYTHING)
    assert sorted((each.lane, each.plain) for each in other.outcomes) == [(0, 1), (1, 0)]


def test_the_lossy_rule_is_named_and_seen(family: LoadedModels) -> None:
    """Heads that guess what the target has just said, and a rule that takes nearly anything."""
    zeros = torch.zeros(3, 1, 32, 32)
    heads = MedusaHeads(MedusaWeights("v2", zeros, zeros[:, :, 0], None), family.target)
    known = {name: why for name, why in family.missing.items() if name != "medusa"}
    with_heads = replace(family, missing=known, medusa_choices=NAMED_TREES["chain"])
    with_heads.drafters = family.drafters | {"medusa": heads}
    loose = replace(COLD, acceptance="typical", epsilon=1e-9)
    (*_, last) = proofs(with_heads, "medusa", loose)
    assert last.lossy and last.p_value is not None and last.p_value < 1e-12
    (*_, exact) = proofs(with_heads, "medusa", COLD)
    assert not exact.lossy and exact.p_value is not None and exact.p_value > 0.01
    (*_, other) = proofs(with_heads, "draft", loose, count=3)
    assert not other.lossy  # the rule is Medusa's


def test_it_drafts_by_the_tree_that_the_lane_has(
    family: LoadedModels, monkeypatch: pytest.MonkeyPatch
) -> None:
    trees: set[tuple[str, str]] = set()
    start = Lane.start

    def noting(self: Lane, *arguments: Any) -> Any:
        trees.add((self.spec.name, self.tree))
        return start(self, *arguments)

    monkeypatch.setattr(Lane, "start", noting)
    proofs(family, "lookup", count=2, tree="wide")
    assert ("lookup", "wide") in trees and ("lookup", "default") not in trees


def test_what_proves_nothing_is_refused(family: LoadedModels) -> None:
    with pytest.raises(InputError, match="the draft model alone, with its own distribution"):
        proofs(family, "draft-only")
    with pytest.raises(InputError, match="context is full"):
        proofs(family, "draft", ids=[3] * (family.context + 1))
    (*_, last) = proofs(family, "draft", count=20, ids=[3] * family.context)
    assert last.tokens == 1 and last.done == 20


def test_answers_that_end_early_are_outcomes_as_well(family: LoadedModels) -> None:
    some = frozenset(range(0, 280, 7))
    (*_, last) = proofs(family, "draft", stop=Stop(some))
    assert last.p_value is not None and last.p_value > 0.01
    assert any(outcome.text.endswith(" (end)") for outcome in last.outcomes)
    assert any(not outcome.text.endswith(" (end)") for outcome in last.outcomes)


def test_the_test_is_scipys() -> None:
    rng = random.Random(1)
    a, b = (Counter[Ids]((rng.choice((1, 1, 2)),) * 2 for _ in range(300)) for _ in range(2))
    table = [[a[ids], b[ids]] for ids in a]
    expected = chi2_contingency(table, correction=False)
    assert same_source(a, b) == pytest.approx(expected.pvalue)
    table = [[50, 30, 20], [35, 30, 35]]
    a, b = (Counter[Ids]({(i,): n for i, n in enumerate(row)}) for row in table)
    expected = chi2_contingency(table)
    assert same_source(a, b) == pytest.approx(expected.pvalue)


def test_rare_outcomes_are_counted_together() -> None:
    alone: Sides = ({(3, 3, 3): 40}, {(3, 3, 3): 43})
    by_beginning: Sides = ({(1, 2, x): 1 for x in range(10)}, {(1, 2, x): 2 for x in range(10)})
    by_second: Sides = ({(y, 7, y): 2 for y in range(9)}, {(y, 7): 1 for y in range(9)})
    rest: Sides = ({(5, x): 1 for x in range(20, 32)}, {(x,): 1 for x in range(20, 28)})
    a, b = (
        Counter({**alone[side], **by_beginning[side], **by_second[side], **rest[side]})
        for side in (0, 1)
    )
    cells = [[40, 10, 18, 12], [43, 20, 9, 8]]
    assert same_source(a, b) == pytest.approx(chi2_contingency(cells, correction=False).pvalue)


def test_nothing_to_compare() -> None:
    assert same_source(Counter({(1,): 400}), Counter({(1,): 400})) is None
    assert same_source(Counter({(1,): 3, (2,): 1}), Counter({(1,): 2, (3,): 2})) is None


def test_the_p_value_is_uniform_among_equals() -> None:
    """Rarely small, as rarely as it says: else verdicts would be wrong more often than told."""
    rng = random.Random(0)

    def drawn() -> Counter[Ids]:
        return Counter(
            tuple(min(int(rng.expovariate(0.7)), 9) for _ in range(3)) for _ in range(200)
        )

    values = [same_source(drawn(), drawn()) or 1.0 for _ in range(300)]
    assert 0.05 <= sum(value < 0.1 for value in values) / 300 <= 0.16


# In a session


def test_a_proof_in_a_pause_changes_nothing(open_session: Open) -> None:
    def tokens(look: bool) -> list[int]:
        params = Params(SamplingParams(0.9), gamma=3, max_new_tokens=12)
        listener = open_session("draft,lookup", params=params)
        listener.loaded()
        listener.session.send(Pause(True))
        listener.session.send(Run("the quick brown fox"))
        listener.session.send(StepRound())
        listener.wait(RoundFinished)
        if look:
            listener.session.send(StartSamplingTest("draft", 30))
            last = listener.wait(SamplingTest, such=lambda e: e.done == 30)
            assert last.context
            assert not of(listener.heard, RunFinished)
        listener.session.send(Pause(False))
        return ids_of(listener.rest(), "draft")

    assert tokens(True) == tokens(False)


def test_of_a_conversation_that_was_reopened(open_session: Open) -> None:
    listener = open_session("ar,draft", params=Params(SamplingParams(0.8), max_new_tokens=6))
    listener.loaded()
    turns = (Turn("the quick", 0, {"ar": " brown fox"}), Turn("over the", 1, {"ar": " a"}))
    listener.session.send(OpenConversation(turns, 7))
    listener.session.send(StartSamplingTest("draft", 10))
    first = listener.wait(SamplingTest, such=lambda e: e.done == 10)
    assert first.context.endswith("over the")
    listener.turn()
    listener.forget()
    listener.session.send(StartSamplingTest("draft", 10))
    again = listener.wait(SamplingTest, such=lambda e: e.done == 10)
    assert (again.context, again.outcomes) == (first.context, first.outcomes)


def test_a_lane_that_waits_for_the_runs_end_does_not_end_it(open_session: Open) -> None:
    listener = open_session("ar", params=Params(SamplingParams(0.8), max_new_tokens=6))
    listener.loaded()
    listener.session.send(Pause(True))
    listener.session.send(Run("the quick brown fox"))
    listener.session.send(StepRound())
    listener.wait(RoundFinished)
    listener.session.send(AddLane(LaneSpec("draft", "draft"), None))  # must be loaded
    listener.session.send(StartSamplingTest("ar", 5))
    listener.wait(SamplingTest, such=lambda e: e.done == 5)
    assert not of(listener.heard, LanesChanged)
    listener.session.send(Pause(False))
    listener.wait(LanesChanged)


def test_after_the_run_too_and_from_its_beginning(open_session: Open) -> None:
    listener = open_session("ar,draft", params=Params(SamplingParams(0.8), max_new_tokens=6))
    listener.loaded()
    listener.session.send(StartSamplingTest("draft", 10))
    assert "nothing was asked" in (listener.wait(SamplingTest).note or "")
    listener.turn("the quick brown fox")
    listener.session.send(StartSamplingTest("nobody", 10))
    assert "no lane" in (listener.wait(SamplingTest).note or "")
    listener.forget()
    listener.session.send(StartSamplingTest("draft", 10))
    last = listener.wait(SamplingTest, such=lambda e: e.done == 10)
    assert last.context.endswith("fox")
    listener.session.send(OpenConversation())
    listener.forget()
    listener.session.send(StartSamplingTest("draft", 10))
    assert "nothing was asked" in (listener.wait(SamplingTest).note or "")


def test_from_where_a_lane_was_stopped(
    open_session: Open, lockstep: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    states = []

    def noting(lane: Lane, state: StartState, *rest: Any) -> Any:
        states.append(state)
        return compare_with_target(lane, state, *rest)

    monkeypatch.setattr(between_turns, "compare_with_target", noting)
    params = Params(SamplingParams(0.8), gamma=1, max_new_tokens=90)
    listener = open_session("ar,draft", params=params, schedule="race")
    listener.loaded()
    listener.session.send(Run("the quick brown fox"))
    listener.wait(RoundFinished, 8, such=lambda e: e.lane == "draft")
    listener.session.send(StopRun())
    listener.rest()
    listener.session.send(StartSamplingTest("draft", 2))
    assert not listener.wait(SamplingTest).context.endswith("fox")
    said = ids_of(listener.heard, "draft")
    assert said and list(states[0].ids[-states[0].answered :]) == said


@pytest.mark.parametrize("what", [StopSamplingTest(), StopRun(), Run("and on"), None])
def test_it_ends_at_once_when_anything_else_is_asked_for(
    open_session: Open, what: Command | None
) -> None:
    listener = open_session("ar,draft", params=Params(SamplingParams(0.8), max_new_tokens=6))
    listener.loaded()
    listener.turn("the quick brown fox")
    listener.session.send(StartSamplingTest("draft", 10**9))
    listener.wait(SamplingTest)
    if what is None:
        listener.session.close()
        return  # the fixture waits for the thread
    listener.session.send(what)
    if not isinstance(what, Run):
        listener.session.send(Run("and on"))
    listener.wait(RunFinished, 2)
    listener.forget()
    listener.session.send(StartSamplingTest("draft", 5))
    assert listener.wait(SamplingTest).repetitions == 5


@pytest.mark.parametrize("what", [Run("and on"), RunAgain()])
def test_one_that_has_not_begun_is_dropped(
    open_session: Open, lockstep: None, monkeypatch: pytest.MonkeyPatch, what: Command
) -> None:
    begun: list[int] = []

    def noting(
        lane: Lane, state: StartState, repetitions: int, cancelled: Callable[[], bool]
    ) -> Iterator[SamplingTest]:
        begun.append(repetitions)
        return compare_with_target(lane, state, repetitions, cancelled)

    monkeypatch.setattr(between_turns, "compare_with_target", noting)
    listener = open_session("draft")
    listener.loaded()
    listener.session.send(Run("the quick brown fox"))
    listener.wait(RoundFinished)
    listener.session.send(StartSamplingTest("draft", 7))  # waits for the run's end
    listener.session.send(what)
    listener.wait(RunFinished, 2)
    listener.session.send(StartSamplingTest("draft", 5))
    listener.wait(SamplingTest)
    assert begun == [5]


def test_going_on_ends_it_and_leaving_it_does_not_stop_the_run(open_session: Open) -> None:
    listener = open_session("draft", params=Params(SamplingParams(0.8), max_new_tokens=6))
    listener.loaded()
    listener.session.send(Pause(True))
    listener.session.send(Run("the quick brown fox"))
    for leave in (StopSamplingTest(), StepRound()):
        listener.session.send(StartSamplingTest("draft", 10**9))
        listener.wait(SamplingTest)
        listener.session.send(leave)
        listener.forget()
    listener.session.send(Pause(False))
    finished = listener.wait(RunFinished)
    assert not finished.stopped
