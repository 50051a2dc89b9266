"""Sampled output has the target's own distribution: the joint of the first tokens of a whole
decoder against the exact one, enumerated."""

from __future__ import annotations

import pytest
from chi_square import assert_drawn_from
from paper_target import PaperTarget
from random_trees import RandomTrees

from decoding.decoder import Decoder, Prompt
from decoding.drafters.base import Drafter
from decoding.drafters.draft_model import DraftModel
from decoding.drafters.lookup import Lookup
from decoding.params import Params, SamplingParams

VOCAB = 4
TOKENS = 4
DRAWS = 6000
PROMPT = (1, 2, 3, 1, 2)

PLAIN = SamplingParams(temperature=1.0)
COLD = SamplingParams(temperature=0.7)
HOT = SamplingParams(temperature=1.5)
TOP_P = SamplingParams(temperature=1.0, top_p=0.8)
COLD_TOP_P = SamplingParams(temperature=0.7, top_p=0.8)
HOT_TOP_P = SamplingParams(temperature=1.5, top_p=0.8)
TOP_K = SamplingParams(temperature=1.0, top_k=2)
MIN_P = SamplingParams(temperature=1.5, min_p=0.3)
ALL = SamplingParams(temperature=1.2, top_k=3, top_p=0.9, min_p=0.1)

CASES = {
    "none plain": ("none", 0, PLAIN),
    "draft 1 plain": ("draft", 1, PLAIN),
    "draft 2 cold": ("draft", 2, COLD),
    "draft 3 hot": ("draft", 3, HOT),
    "draft 2 top-p": ("draft", 2, TOP_P),
    "draft 3 cold top-p": ("draft", 3, COLD_TOP_P),
    "draft 3 top-k": ("draft", 3, TOP_K),
    "draft 1 min-p": ("draft", 1, MIN_P),
    "draft 3 all": ("draft", 3, ALL),
    "draft 2 narrower": ("narrow", 2, PLAIN),
    "draft 2 wider": ("wide", 2, TOP_P),
    "lookup 3 plain": ("lookup", 3, PLAIN),
    "lookup 2 hot top-p": ("lookup", 2, HOT_TOP_P),
    "trees plain": ("trees", 3, PLAIN),
    "trees cold top-p": ("trees", 3, COLD_TOP_P),
    "trees all": ("trees", 2, ALL),
}


def drafter_of(name: str) -> Drafter | None:
    def model(width: int) -> Drafter:
        paper = PaperTarget(width, seed=1, noise=0.8)
        return DraftModel(paper, VOCAB)  # type: ignore[arg-type]

    match name:
        case "draft":
            return model(VOCAB)
        case "narrow":
            return model(VOCAB - 1)
        case "wide":
            return model(VOCAB + 2)
        case "lookup":
            return Lookup(PaperTarget.device)
        case "trees":
            return RandomTrees(VOCAB, 5, nodes=6)
    return None


def draws(decoder: Decoder, params: Params, count: int) -> list[tuple[int, ...]]:
    found = []
    shared: Prompt | None = None
    for seed in range(count):
        decoder.start(PROMPT, params, seed, shared=shared)
        shared = decoder.prompt
        while len(decoder.generated) < TOKENS:
            decoder.step(params)
        found.append(tuple(decoder.generated[:TOKENS]))
    return found


@pytest.mark.parametrize("case", CASES)
def test_the_joint_of_the_first_tokens_is_the_targets(case: str) -> None:
    name, gamma, sampling = CASES[case]
    target = PaperTarget(VOCAB, seed=1)
    decoder = Decoder(target, drafter_of(name))  # type: ignore[arg-type]
    params = Params(sampling, gamma=gamma, max_new_tokens=20)
    found = draws(decoder, params, DRAWS)
    for count in (TOKENS, 2):
        expected = target.joint(PROMPT, count, sampling)
        assert sum(expected.values()) == pytest.approx(1.0)
        assert_drawn_from((ids[:count] for ids in found), expected)
