"""Pictures of all tokens in a round's tree, for whoever looks at it."""

from __future__ import annotations

import pytest
from listening import of

from app.events import Stepped
from app.family import Family
from app.lane import Lane
from app.settings import parse_strategies
from app.turn import TurnRunner
from decoding.params import Params, SamplingParams
from decoding.stopping import Stop


def steps(family: Family, strategies: str, watched: str, temperature: float) -> list[Stepped]:
    lanes = [Lane(spec, family) for spec in parse_strategies(strategies)]
    for lane in lanes:
        lane.watch(lane.spec.name == watched)
    events: list[object] = []
    ids = family.encode([{"role": "user", "content": "the quick brown fox and the quick"}])
    runner = TurnRunner(lanes, ids, 3, 0, Stop(), events.append, lambda: False)
    params = Params(SamplingParams(temperature), gamma=3, max_new_tokens=12)
    enabled = {lane.spec.name: True for lane in lanes}
    while due := runner.due("fair", enabled):
        runner.advance(due, params)
    return of(events, Stepped)  # type: ignore[arg-type]


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_watched_rounds_have_the_text_of_every_token(family: Family, temperature: float) -> None:
    for event in steps(family, "ar,draft,lookup", "draft", temperature):
        record = event.round
        if event.lane == "draft":
            assert set(event.pieces) == {*record.tokens, *record.chosen, *record.emitted}
            assert len(record.p) == len(record.tokens)
        else:
            assert not event.pieces and not record.p


def test_looking_changes_nothing(family: Family) -> None:
    seen = steps(family, "ar,draft", "draft", 1.0)
    unseen = steps(family, "ar,draft", "", 1.0)
    assert [event.tokens for event in seen] == [event.tokens for event in unseen]
