"""One lane: what became of each token, and text that adds up."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace
from typing import Any

import pytest

from app.config.overrides import parse_strategies
from app.engine.comparison import first_divergence
from app.engine.lane import Lane
from app.engine.turn import answer_seed
from app.models.loaded import LoadedModels
from app.strategies.lane_spec import LaneSpec
from app.text.token_event import TokenEvent
from decoding.model.target import Target
from decoding.params import Params, SamplingParams
from decoding.round import Round, TokenFate
from decoding.tokenizing.stopping import Stop
from tests.support.families import build

DISCARDED = (TokenFate.REJECTED, TokenFate.DROPPED)
PROMPT = "the quick brown fox and the quick"


def lane_of(family: LoadedModels, strategy: str) -> Lane:
    return Lane(parse_strategies(strategy)[0], family)


def play(
    lane: Lane, params: Params, seed: int = 0, stop: Stop | None = None
) -> tuple[TokenEvent, list[tuple[Round, tuple[TokenEvent, ...]]]]:
    ids = lane.models.encode([{"role": "user", "content": PROMPT}])
    first = lane.start(ids, params, seed, stop or Stop(decode=lane.models.decode))
    rounds = []
    while not lane.finished:
        record = lane.step(params)
        rounds.append((record, lane.events(record)))
    return first, rounds


def test_what_recurrent_layers_mean_for_a_lane_that_drafts(family: LoadedModels) -> None:
    hybrid = dataclasses.replace(family, target=Target(build("lfm2")))
    assert "a chain is verified, not a tree" in (lane_of(hybrid, "lookup").info(True).note or "")
    assert lane_of(hybrid, "ar").info(True).note is None
    assert lane_of(hybrid, "draft-only").info(True).note is None
    assert lane_of(family, "lookup").info(True).note is None


@pytest.mark.parametrize("temperature", [0.0, 1.0])
@pytest.mark.parametrize("strategy", ["ar", "draft", "draft-only", "lookup", "draft:gamma=1"])
def test_every_token_has_its_fate(family: LoadedModels, strategy: str, temperature: float) -> None:
    params = Params(SamplingParams(temperature), gamma=4, max_new_tokens=40)
    first, rounds = play(lane_of(family, strategy), params)
    assert first.fate is TokenFate.FIRST and first.node == -1
    for record, events in rounds:
        accepted = [e for e in events if e.fate is TokenFate.ACCEPTED]
        discarded = [e for e in events if e.fate in DISCARDED]
        (own,) = [e for e in events if e not in accepted and e not in discarded]
        # the order of the screen: what was accepted, where the path died, the target's own token
        assert events == (*accepted, *discarded, own)
        assert [e.id for e in (*accepted, own)] == list(record.emitted)
        assert [e.node for e in accepted] == list(record.accepted)
        assert all(record.tokens[e.node] == e.id for e in (*accepted, *discarded))
        assert [e.fate for e in discarded[:1]] == [TokenFate.REJECTED][: len(discarded)]
        assert all(e.fate is TokenFate.DROPPED for e in discarded[1:])
        assert len(accepted) + len(discarded) == record.drafted  # these drafters propose chains
        if not record.drafted:
            assert own.fate is TokenFate.PLAIN
        else:
            assert own.fate is (TokenFate.CORRECTION if discarded else TokenFate.BONUS)
        assert {e.round for e in events} == {record.index}
    if strategy == "draft":
        fates = {e.fate for _, events in rounds for e in events}
        assert {TokenFate.ACCEPTED, TokenFate.REJECTED, TokenFate.CORRECTION} <= fates


def pieces(first: TokenEvent, rounds: list[tuple[Round, tuple[TokenEvent, ...]]]) -> str:
    told = [first, *(e for _, events in rounds for e in events if e.fate not in DISCARDED)]
    return "".join(e.text for e in told)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("strategy", ["ar", "draft", "lookup"])
def test_pieces_add_up_to_the_lanes_text(family: LoadedModels, strategy: str, seed: int) -> None:
    """Even if the last character was never completed: at a high temperature many are not."""
    lane = lane_of(family, strategy)
    first, rounds = play(lane, Params(SamplingParams(1.5), gamma=4, max_new_tokens=1 + seed), seed)
    assert pieces(first, rounds) == lane.text
    ids = [first.id, *(i for record, _ in rounds for i in record.emitted)]
    assert ids == lane.ids and len(ids) == 1 + seed


@pytest.mark.parametrize("length", [1, 2, 5])
@pytest.mark.parametrize("strategy", ["ar", "draft"])
def test_pieces_leave_a_stop_text_out(family: LoadedModels, strategy: str, length: int) -> None:
    params = Params(gamma=4, max_new_tokens=20)
    lane = lane_of(family, strategy)
    play(lane, params)
    whole = lane.text
    for at in range(0, len(whole) - length, 3):
        wanted = whole[at : at + length]
        if "\ufffd" in wanted:
            continue
        first, rounds = play(lane, params, stop=Stop(texts=(wanted,), decode=family.decode))
        assert lane.finished == "stop"
        assert lane.text == whole[: whole.index(wanted)]
        # only what earlier rounds have shown of it already can't be taken back
        shown = pieces(first, rounds).removeprefix(lane.text)
        assert wanted.startswith(shown) and len(shown) < length


def test_a_tree_shows_the_first_path_behind_what_was_accepted(family: LoadedModels) -> None:
    lane = lane_of(family, "ar")
    play(lane, Params(max_new_tokens=1))
    record = Round(
        index=0,
        tokens=(10, 20, 21, 30, 31, 32, 40),
        parents=(-1, 0, 0, 2, 2, 1, 3),
        accepted=(2,),
        emitted=(21, 50),
        tested=2,
        draft_seconds=0.0,
        verify_seconds=0.0,
        accept_seconds=0.0,
        total_seconds=0.0,
    )

    def fates(record: Round) -> list[tuple[int, TokenFate, int]]:
        return [(e.id, e.fate, e.node) for e in lane.events(record)]

    assert fates(record) == [
        (21, TokenFate.ACCEPTED, 2),
        (30, TokenFate.REJECTED, 3),
        (40, TokenFate.DROPPED, 6),
        (50, TokenFate.CORRECTION, -1),
    ]
    whole = dataclasses.replace(record, accepted=(2, 3, 6), emitted=(21, 30, 40, 50), tested=3)
    assert [fate for _, fate, _ in fates(whole)] == [TokenFate.ACCEPTED] * 3 + [TokenFate.BONUS]
    # cut by the end of the generation: nothing was rejected, there is no token of the target's own
    cut = dataclasses.replace(record, accepted=(2,), emitted=(21,), tested=1)
    assert fates(cut) == [(21, TokenFate.ACCEPTED, 2)]


def test_figures_belong_to_the_current_answer(family: LoadedModels) -> None:
    lane = lane_of(family, "draft")
    for _ in range(2):
        _, rounds = play(lane, Params(gamma=4, max_new_tokens=20))
        assert len(lane.ids) == 20
        assert lane.stats.emitted == 19
        assert lane.stats.passes == lane.target_passes == len(rounds) == len(lane.rounds)
        assert lane.ttft_seconds > 0


def test_the_draft_alone_makes_no_pass_of_the_target(family: LoadedModels) -> None:
    lane = lane_of(family, "draft-only")
    play(lane, Params(max_new_tokens=5))
    assert lane.target_passes == 0 and lane.stats.passes == 4


@pytest.mark.parametrize("strategy", ["draft", "draft-only"])
def test_without_a_draft_model_the_lane_says_why(family: LoadedModels, strategy: str) -> None:
    alone = dataclasses.replace(
        family,
        drafters={},
        missing=dict.fromkeys(("draft", "draft-only"), "no draft model: give one"),
    )
    lane = Lane(LaneSpec(strategy, strategy), alone)
    info = lane.info(enabled=True)
    assert not lane.available
    assert not info.available
    assert info.reason == "no draft model: give one"


def test_a_pinned_gamma_is_the_lanes_own(family: LoadedModels) -> None:
    lane = lane_of(family, "draft:gamma=2")
    assert lane.info(True).overrides == {"gamma": 2}
    _, rounds = play(lane, Params(gamma=5, max_new_tokens=12))
    assert max(record.drafted for record, _ in rounds) == 2


@pytest.mark.parametrize("tokens", [1, 2])
def test_a_lane_of_very_short_answers_warms_up(family: LoadedModels, tokens: int) -> None:
    lane = lane_of(family, f"lookup:max-new-tokens={tokens}")
    lane.warm_up()
    assert lane.finished == "length"


def test_seeds_differ_by_run_and_use() -> None:
    seeds = {answer_seed(s, run, use) for s in (1, 2) for run in (0, 1) for use in ("", "proof")}
    assert len(seeds) == 8
    assert all(0 <= seed < 2**63 for seed in seeds)
    assert answer_seed(1, 0) == answer_seed(1, 0)


@pytest.mark.parametrize(
    "ids, reference, index",
    [
        ([], [], None),
        ([1, 2], [1, 2], None),
        ([1, 3], [1, 2], 1),
        ([1], [1, 2], 1),
        ([1, 2], [], 0),
    ],
    ids=str,
)
def test_first_divergence(ids: list[int], reference: list[int], index: int | None) -> None:
    def ended(ids: list[int], reason: str) -> Any:
        return SimpleNamespace(ids=ids, finished=reason)

    assert first_divergence(ended(ids, "stop"), ended(reference, "stop")) == index
    # what a length cut short is compared as far as it goes
    cut = None if len(ids) != len(reference) else index
    assert first_divergence(ended(ids, "length"), ended(reference, "length")) == cut
