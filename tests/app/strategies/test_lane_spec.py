"""The settings that act on a lane."""

from __future__ import annotations

import pytest

from app.strategies.lane_spec import LaneSpec
from app.tui.state.lane_state import LaneState
from decoding.params import Params
from tests.support.scripted import lane

TYPICAL = Params(acceptance="typical", gamma=3)


def test_overrides_replace_the_settings_of_the_run() -> None:
    assert LaneSpec("medusa", "medusa", {"gamma": 7}).effective_params(TYPICAL).gamma == 7


@pytest.mark.parametrize("strategy", ["ar", "draft", "lookup", "eagle", "server"])
def test_typical_acceptance_is_medusas_alone(strategy: str) -> None:
    assert LaneSpec(strategy, strategy).effective_params(TYPICAL) == Params(gamma=3)
    assert LaneSpec("medusa", "medusa").effective_params(TYPICAL) == TYPICAL


@pytest.mark.parametrize(("strategy", "rule"), [("draft", "exact"), ("medusa", "typical")])
def test_the_screen_says_what_the_engine_does(strategy: str, rule: str) -> None:
    assert LaneState(lane(strategy), True).effective_params(TYPICAL).acceptance == rule
