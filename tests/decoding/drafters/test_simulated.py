"""A drafter of known quality."""

from __future__ import annotations

import torch

from decoding.decoder import Decoder
from decoding.drafters.simulated import Simulated
from decoding.model.target import Target
from decoding.params import Params
from decoding.stats import Stats
from tests.support.families import build

PROMPT = [3, 1, 4, 1, 5]


def test_it_is_right_as_often_as_it_should_be_and_changes_nothing() -> None:
    target = Target(build("llama"))
    params = Params(max_new_tokens=500, gamma=3)
    plain = Decoder(target)
    list(plain.generate(PROMPT, params))
    drafter = Simulated(torch.device("cpu"), 0.8)
    drafter.answer = plain.generated
    decoder = Decoder(target, drafter)
    stats = Stats.of(decoder.generate(PROMPT, params))
    assert decoder.generated == plain.generated
    assert stats.acceptance_rate is not None and abs(stats.acceptance_rate - 0.8) < 0.05


def test_it_has_nothing_to_say_after_the_answer() -> None:
    target = Target(build("llama"))
    drafter = Simulated(torch.device("cpu"), 1.0)
    decoder = Decoder(target, drafter)
    assert all(not record.drafted for record in decoder.generate(PROMPT, Params(max_new_tokens=5)))
