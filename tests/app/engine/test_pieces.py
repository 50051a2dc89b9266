"""Pictures of all tokens in a round's tree, for whoever looks at it."""

from __future__ import annotations

import pytest

from app.config.overrides import parse_strategies
from app.engine.events import Event, Prefilled, RoundFinished
from app.engine.lane import Lane
from app.engine.lane_turn import Task
from app.engine.token_events import TokenEvents
from app.engine.turn import TurnRunner, answer_seed
from app.models.loaded import LoadedModels
from app.servers.protocol import Question
from decoding.params import Params, SamplingParams
from decoding.tokenizing.stopping import Stop
from tests.support.listening import of


def steps(
    family: LoadedModels, strategies: str, watched: str, temperature: float
) -> list[RoundFinished]:
    return of(events(family, strategies, watched, temperature), RoundFinished)


def events(family: LoadedModels, strategies: str, watched: str, temperature: float) -> list[Event]:
    lanes = [Lane(spec, family) for spec in parse_strategies(strategies)]
    for lane in lanes:
        lane.record_probabilities(lane.spec.name == watched)
    told: list[Event] = []
    ids = family.encode([{"role": "user", "content": "the quick brown fox and the quick"}])
    question = Question((), Params(), answer_seed(3, 0))
    runner = TurnRunner(lanes, Task(ids, question, Stop()), told.append)
    params = Params(SamplingParams(temperature), gamma=3, max_new_tokens=12)
    while due := runner.due("fair"):
        runner.advance(due, params)
    return told


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_watched_rounds_have_the_text_of_every_token(
    family: LoadedModels, temperature: float
) -> None:
    for event in steps(family, "ar,draft,lookup", "draft", temperature):
        record = event.round
        if event.lane == "draft":
            likely = {token for top in record.top for token, _, _ in top}
            assert set(event.texts) == {
                *(*record.tokens, *record.chosen, *record.emitted), *likely,
            }  # fmt: skip
            assert len(record.p) == len(record.tokens)
        else:
            assert not event.texts and not record.p


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_watched_first_token_too(family: LoadedModels, temperature: float) -> None:
    watched, other = (
        event
        for event in events(family, "draft,lookup", "draft", temperature)
        if isinstance(event, Prefilled)
    )
    assert other.probs is None and not other.texts
    assert watched.probs and len(watched.probs.top) == 5 and watched.probs.entropy > 0.0
    assert set(watched.texts) == {token for token, _, _ in watched.probs.top}
    found = {token: (before, after) for token, before, after in watched.probs.top}
    assert found.get(watched.first.id, watched.probs.own_p) == watched.probs.own_p
    if temperature == 0.0:
        assert watched.probs.own_p[1] == 1.0 and watched.probs.top[0][0] == watched.first.id


def test_a_special_token_goes_by_its_name(family: LoadedModels) -> None:
    events = TokenEvents(family.tokenizer)
    events.first(family.encode([{"role": "user", "content": "fox"}])[-1])
    padded = family.target.vocab_size + 1
    assert events.texts([1, padded]) == {1: "</s>", padded: ""}


def test_looking_changes_nothing(family: LoadedModels) -> None:
    seen = steps(family, "ar,draft", "draft", 1.0)
    unseen = steps(family, "ar,draft", "", 1.0)
    assert [event.tokens for event in seen] == [event.tokens for event in unseen]
