"""Warped distributions are those of transformers' `generate`, and draws follow them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from transformers import GenerationConfig

from decoding.decoder import Decoder
from decoding.drafters.base import Drafter
from decoding.drafters.draft_model import DraftModel
from decoding.drafters.lookup import Lookup
from decoding.params import Params, SamplingParams
from decoding.verification.noise import exponential
from decoding.verification.sampling import (
    NO_TOKEN,
    TOP_SIZES,
    exponential_race,
    next_tokens,
    probabilities,
)
from tests.support.chi_square import assert_drawn_from
from tests.support.families import VOCAB, draft, reference, target
from tests.support.paper_target import warped
from tests.support.random_trees import RandomTrees
from tests.support.seeded import seeded

SETTINGS = [
    SamplingParams(temperature, top_k, top_p, min_p)
    for temperature in (0.3, 0.7, 1.0, 1.5)
    for top_k, top_p, min_p in [
        (0, 1.0, 0.0),
        (5, 1.0, 0.0),
        (1, 1.0, 0.0),
        (1000, 1.0, 0.0),
        (0, 0.8, 0.0),
        (0, 1e-6, 0.0),
        (0, 1.0, 0.2),
        (0, 1.0, 1.0),
        (20, 0.9, 0.05),
        (3, 0.5, 0.5),
    ]
]


def name(sampling: SamplingParams) -> str:
    return f"t{sampling.temperature}-k{sampling.top_k}-p{sampling.top_p}-m{sampling.min_p}"


@pytest.mark.parametrize("number", [int, np.int64, np.float32])
def test_settings_may_be_numbers_of_any_kind(number: Callable[[int], Any]) -> None:
    top_k = 5 if number is np.float32 else number(5)
    found = probabilities(logits_like(), SamplingParams(number(2), top_k))
    assert found.equal(probabilities(logits_like(), SamplingParams(2.0, 5)))


def logits_like() -> Tensor:
    """Peaked, ordinary and nearly flat rows."""
    generator = torch.Generator().manual_seed(0)
    rows = torch.randn(8, VOCAB, generator=generator)
    return rows * torch.tensor([6.0, 4.0, 3.0, 2.0, 1.0, 0.5, 0.1, 0.01])[:, None]


def generates_own(logits: Tensor, sampling: SamplingParams) -> Tensor:
    """What `generate(do_sample=True)` would draw from."""
    config = GenerationConfig(
        do_sample=True,
        temperature=sampling.temperature,
        top_k=sampling.top_k,
        top_p=sampling.top_p,
        min_p=sampling.min_p or None,
    )
    model: Any = reference("llama")
    processors = model._get_logits_processor(config, input_ids_seq_length=1)
    scores: Tensor = processors(torch.zeros(len(logits), 1, dtype=torch.long), logits)
    return scores.softmax(-1)


@pytest.mark.parametrize("sampling", SETTINGS, ids=name)
def test_probabilities_are_those_of_generate(sampling: SamplingParams) -> None:
    got = probabilities(logits_like(), sampling)
    torch.testing.assert_close(got, generates_own(logits_like(), sampling), rtol=0, atol=1e-6)
    assert torch.equal(got > 0, generates_own(logits_like(), sampling) > 0)


@pytest.mark.parametrize("sampling", SETTINGS, ids=name)
def test_probabilities_are_those_of_the_definitions(sampling: SamplingParams) -> None:
    """The tests of losslessness stand on these definitions."""
    for row in logits_like():
        expected = torch.tensor(warped(tuple(row.tolist()), sampling))
        got = probabilities(row[None], sampling)[0]
        torch.testing.assert_close(got, expected, rtol=0, atol=1e-5)


LARGE = 5 * TOP_SIZES[-1]


def large_logits(sharpness: float) -> Tensor:
    """Rows of whose tokens few, many or nearly all are likely."""
    rows = torch.randn(6, LARGE, generator=torch.Generator().manual_seed(1))
    return rows * torch.tensor([1.0, 3.0, 0.3, 1.0, 0.1, 2.0])[:, None] * sharpness


@pytest.mark.parametrize("sharpness", [6.0, 2.0, 0.5, 0.01], ids=str)
@pytest.mark.parametrize(
    "top_k, top_p, min_p",
    [
        (0, 0.9, 0.0),
        (0, 0.999, 0.0),
        (50, 0.8, 0.0),
        (0, 1e-6, 0.0),
        (0, 1e-46, 0.0),
        (300, 0.9, 0.01),
    ],
    ids=str,
)
def test_a_large_vocabulary_is_cut_at_the_same_place(
    sharpness: float, top_k: int, top_p: float, min_p: float
) -> None:
    """By its likeliest tokens alone where that is certain, and else by all of them: rows of both
    kinds stand in one call. What is drawn is the same either way."""
    rows, sampling = large_logits(sharpness), SamplingParams(0.9, top_k, top_p, min_p)
    got, wanted = probabilities(rows, sampling), generates_own(rows, sampling)
    # sums in another order: at most the last token may fall on the other side
    torch.testing.assert_close(got, wanted, rtol=0, atol=1e-5)
    assert ((got > 0) ^ (wanted > 0)).sum(-1).max() <= 1
    for row, p in zip(rows, got, strict=True):
        noise = seeded(3, LARGE)
        assert next_tokens(row[None], sampling, noise) == exponential_race(p[None], noise.ahead(1))


@pytest.mark.parametrize("top_k", [1, 50, TOP_SIZES[0] - 1, TOP_SIZES[0], TOP_SIZES[-1], LARGE])
def test_tokens_as_likely_as_the_last_of_top_k_stay(top_k: int) -> None:
    """In half precision there are many."""
    rows, sampling = large_logits(1.0).bfloat16(), SamplingParams(1.0, top_k)
    got, wanted = probabilities(rows, sampling), generates_own(rows.float(), sampling)
    torch.testing.assert_close(got, wanted, rtol=0, atol=1e-6)
    assert torch.equal(got > 0, wanted > 0)


def test_what_is_no_number_is_not_drawn_from_a_large_vocabulary() -> None:
    rows = large_logits(6.0)
    rows[0, 7], rows[2, 9], rows[3] = torch.nan, torch.inf, -torch.inf
    drawn = [int(next_tokens(row[None], SamplingParams(1.0, 5), seeded(0, LARGE))) for row in rows]
    assert [token == NO_TOKEN for token in drawn] == [True, False, True, True, False, False]


def test_half_precision_logits_are_warped_in_float32() -> None:
    logits = logits_like().bfloat16()
    sampling = SamplingParams(0.7, top_p=0.9)
    got = probabilities(logits, sampling)
    assert got.dtype == torch.float32
    assert torch.equal(got, probabilities(logits.float(), sampling))


def test_the_logits_themselves_stay_as_they_are() -> None:
    logits, before = logits_like(), logits_like()
    for sampling in SETTINGS:
        probabilities(logits, sampling)
    assert torch.equal(logits, before)


def test_greedy_puts_all_mass_on_the_argmax_and_ignores_the_rest() -> None:
    greedy = SamplingParams(0.0, top_k=3, top_p=0.5, min_p=0.5)
    rows = probabilities(logits_like(), greedy)
    assert torch.equal(rows.argmax(-1), logits_like().argmax(-1))
    assert torch.equal(rows.sum(-1), torch.ones(8)) and int((rows > 0).sum()) == 8
    picked = next_tokens(logits_like(), greedy, seeded(0, VOCAB))
    assert torch.equal(picked, logits_like().argmax(-1))


@pytest.mark.parametrize(
    "weights",
    [[0.5, 0.3, 0.2], [1.0, 0.0, 3.0, 0.0], [1e-3, 0.999], [0.0, 0.0, 1.0], [0.25] * 4],
    ids=str,
)
def test_draws_are_unbiased(weights: list[float]) -> None:
    generator = torch.Generator().manual_seed(1)
    rows = torch.tensor(weights).repeat(40_000, 1)
    drawn = exponential_race(rows, exponential(rows, generator))
    total = sum(weights)
    assert_drawn_from(drawn.tolist(), {i: w / total for i, w in enumerate(weights)})


def test_rows_of_one_call_are_drawn_independently() -> None:
    generator = torch.Generator().manual_seed(2)
    rows = torch.tensor([[0.6, 0.4]] * 2)
    pairs = [
        tuple(exponential_race(rows, exponential(rows, generator)).tolist()) for _ in range(8000)
    ]
    both = {(a, b): float(rows[0, a] * rows[1, b]) for a in range(2) for b in range(2)}
    assert_drawn_from(pairs, both)


@pytest.mark.parametrize("noise", [0.0, 1e-45, 100.0])
def test_a_probability_of_zero_is_never_drawn(
    noise: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even where the noise is as extreme as rounding may make it."""
    monkeypatch.setattr(Tensor, "exponential_", lambda self, generator: self.fill_(noise))
    weights = torch.zeros(3, 50)
    weights[0, 49], weights[1, 20], weights[2, 7] = 1.0, 1e-30, 0.5
    assert exponential_race(weights, exponential(weights, torch.Generator())).tolist() == [
        49,
        20,
        7,
    ]


DRAFTERS: dict[str, Callable[[], Drafter | None]] = {
    "none": lambda: None,
    "draft": lambda: DraftModel(draft("llama"), VOCAB),
    "lookup": lambda: Lookup(torch.device("cpu")),
    "trees": lambda: RandomTrees(VOCAB, 3),
}


@pytest.mark.parametrize("strategy", DRAFTERS)
def test_the_same_seed_gives_the_same_ids(strategy: str) -> None:
    params = Params(SamplingParams(temperature=1.0, top_p=0.95), gamma=3, max_new_tokens=16)

    def answer(seed: int) -> list[int]:
        decoder = Decoder(target("llama"), DRAFTERS[strategy]())
        for _ in decoder.generate([3, 4, 3, 4], params, seed):
            pass
        return decoder.generated

    assert answer(5) == answer(5)
    assert answer(5) != answer(6)


@pytest.mark.parametrize(
    "values",
    [
        {"temperature": -0.1},
        {"temperature": float("nan")},
        {"temperature": float("inf")},
        {"top_k": -1},
        {"top_p": 0.0},
        {"top_p": 1.1},
        {"top_p": float("nan")},
        {"min_p": -0.1},
        {"min_p": 1.1},
    ],
    ids=str,
)
def test_settings_that_mean_nothing_are_refused(values: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(values))} must be"):
        SamplingParams(**values)  # type: ignore[arg-type]


@pytest.mark.parametrize("temperature", [1e-4, 1e-10, 1e-30])
def test_the_smallest_temperatures_are_greedy_in_effect(temperature: float) -> None:
    rows = probabilities(logits_like(), SamplingParams(temperature=temperature))
    assert torch.equal(rows.argmax(-1), logits_like().argmax(-1))
    torch.testing.assert_close(rows.max(-1).values, torch.ones(8), rtol=0, atol=0.2)
