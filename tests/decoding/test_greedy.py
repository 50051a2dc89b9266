"""Greedy output of every strategy equals Hugging Face's `generate(do_sample=False)`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import cycle
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from transformers import PreTrainedModel

from decoding.cost.auto_gamma import AutoGamma
from decoding.cost.curve import Line
from decoding.cost.model import CostModel
from decoding.decoder import Decoder
from decoding.drafters.base import Drafter
from decoding.drafters.draft_model import DraftModel
from decoding.drafters.lookup import Lookup
from decoding.errors import InputError
from decoding.model import target as target_module
from decoding.model.target import Target
from decoding.params import Params, SamplingParams
from decoding.round import Round
from tests.support.families import (
    CONTEXT,
    FAMILIES,
    HYBRIDS,
    SLIDING,
    VOCAB,
    build,
    draft,
    hf_greedy,
    target,
)
from tests.support.random_trees import Oracle, RandomTrees

NEW = 16
ONE = (5,)
REPETITIVE = (3, 7, 9, 11, 2, 3, 7)
LONG = tuple((7 * i + 3) % VOCAB for i in range(3 * SLIDING))
STRATEGIES = ("none", "lookup", "draft", "trees")


def drafter_of(strategy: str, family: str, prompt: Sequence[int], new: int = NEW) -> Drafter | None:
    shared = target(family)
    if strategy == "lookup":
        return Lookup(shared.device)
    if strategy == "draft":
        return DraftModel(draft(family), shared.vocab_size)
    if strategy == "trees":
        return RandomTrees(VOCAB, 7, len(prompt), hf_greedy(family, prompt, new))
    return None


def answer(decoder: Decoder, prompt: Sequence[int], params: Params) -> list[int]:
    for _ in decoder.generate(prompt, params):
        pass
    return decoder.generated


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("family", [*FAMILIES, *HYBRIDS])
def test_every_family_and_strategy(family: str, strategy: str) -> None:
    cases: tuple[tuple[Sequence[int], int | None], ...] = ((ONE, 4), (REPETITIVE, 2), (LONG, 9))
    if strategy == "none":
        cases = ((ONE, None), (REPETITIVE, 0), (LONG, 4))
    for prompt, gamma in cases:
        decoder = Decoder(target(family), drafter_of(strategy, family, prompt))
        ids = answer(decoder, prompt, Params(gamma=gamma, max_new_tokens=NEW))
        assert ids == hf_greedy(family, prompt, NEW), f"{len(prompt)} ids, gamma {gamma}"
        assert decoder.finished == "length"


@pytest.mark.parametrize("gamma", [0, 1, 2, 4, 9])
@pytest.mark.parametrize("strategy", STRATEGIES[1:])
def test_every_gamma(strategy: str, gamma: int) -> None:
    decoder = Decoder(target("qwen2"), drafter_of(strategy, "qwen2", REPETITIVE))
    rounds = list(decoder.generate(REPETITIVE, Params(gamma=gamma, max_new_tokens=NEW)))
    assert decoder.generated == hf_greedy("qwen2", REPETITIVE, NEW)
    assert all(len(r.accepted) <= gamma for r in rounds)
    assert sum(len(r.emitted) for r in rounds) == NEW - 1


class Chooser:
    """In the place of AutoGamma: another gamma every round, none for a while among them."""

    costs = None

    def __init__(self, verify_cost: object) -> None:
        self.gammas = cycle((0, 3, 1, 0, 0, 5, 2))
        self.seen: list[Round] = []

    def choose(self, default: int, ends_drafts: bool) -> int:
        return next(self.gammas)

    def observe(self, record: Round) -> None:
        self.seen.append(record)


def test_what_passes_cost_is_measured_outside_of_every_round(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    measuring = 0.0

    def measured() -> None:
        nonlocal measuring
        measuring += 9000.0

    clock = SimpleNamespace(perf_counter=lambda: time.perf_counter() + measuring)
    monkeypatch.setattr("decoding.decoder.time", clock)
    decoder = Decoder(target("qwen2"), drafter_of("draft", "qwen2", REPETITIVE), measured)
    rounds = list(decoder.generate(REPETITIVE, Params(gamma="auto", max_new_tokens=NEW)))
    assert measuring and all(record.total_seconds < 9000.0 for record in rounds)


def test_a_draft_model_ends_its_drafts_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    def costs(auto: AutoGamma) -> list[float]:
        auto.costs = CostModel(Line(0.0, 0.2), lambda nodes: 1.0)  # of any machine
        return [1.0, 2.0]

    monkeypatch.setattr("decoding.cost.auto_gamma.WARM_UP", 1)
    monkeypatch.setattr(AutoGamma, "speeds", costs)
    decoder = Decoder(target("qwen2"), drafter_of("draft", "qwen2", REPETITIVE))
    rounds = list(decoder.generate(REPETITIVE, Params(gamma="auto", max_new_tokens=NEW)))
    assert decoder.generated == hf_greedy("qwen2", REPETITIVE, NEW)
    assert any(0 < r.shape.depth < r.gamma for r in rounds[:-1])


@pytest.mark.parametrize("strategy", STRATEGIES[1:])
def test_a_gamma_that_is_chosen_round_by_round(
    strategy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("decoding.decoder.AutoGamma", Chooser)
    decoder = Decoder(target("qwen2"), drafter_of(strategy, "qwen2", REPETITIVE))
    rounds = list(decoder.generate(REPETITIVE, Params(gamma="auto", max_new_tokens=NEW)))
    assert decoder.generated == hf_greedy("qwen2", REPETITIVE, NEW)
    assert [r.gamma for r in rounds][:3] == [0, 3, 1]
    assert all(r.shape.depth <= r.gamma for r in rounds)
    chooser = decoder._auto
    assert isinstance(chooser, Chooser) and chooser.seen == rounds


@pytest.mark.parametrize("strategy", ["draft", "trees"])
def test_drafts_are_both_accepted_and_rejected(strategy: str) -> None:
    """Else the tests above prove little."""
    decoder = Decoder(target("llama"), drafter_of(strategy, "llama", REPETITIVE))
    rounds = list(decoder.generate(REPETITIVE, Params(gamma=4, max_new_tokens=NEW)))
    assert any(r.accepted for r in rounds)
    assert any(r.tested > len(r.accepted) for r in rounds)
    if strategy == "trees":
        assert any(list(r.accepted) != list(range(1, len(r.accepted) + 1)) for r in rounds)


@pytest.mark.parametrize("new", [1, 2, 3, 5])
@pytest.mark.parametrize("gamma", [1, 4, 9])
def test_max_new_tokens_is_never_overrun(gamma: int, new: int) -> None:
    truth = hf_greedy("llama", REPETITIVE, NEW)
    oracle = Oracle(len(REPETITIVE), truth)
    decoder = Decoder(target("llama"), oracle)
    rounds = list(decoder.generate(REPETITIVE, Params(gamma=gamma, max_new_tokens=new)))
    assert decoder.generated == truth[:new]
    assert decoder.finished == "length"
    # every draft that was asked for could still be emitted, with a bonus behind it
    assert all(r.drafted < len(r.emitted) for r in rounds)


def test_a_generation_that_has_ended_takes_no_step() -> None:
    decoder = Decoder(target("llama"))
    answer(decoder, ONE, Params(max_new_tokens=2))
    with pytest.raises(RuntimeError, match="ended"):
        decoder.step(Params())


def test_a_generation_that_has_not_started_takes_no_step() -> None:
    with pytest.raises(RuntimeError, match="call `start`"):
        Decoder(target("llama")).step(Params())


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("family", ["llama", "llama-dynamic", "gemma3", "gpt2", "opt"])
def test_up_to_the_context_limit(family: str, strategy: str) -> None:
    prompt = [(5 * i + 1) % VOCAB for i in range(CONTEXT - 9)]
    want = hf_greedy(family, prompt, 10)  # the last one needs no row of its own
    decoder = Decoder(target(family), drafter_of(strategy, family, prompt, 10))
    assert answer(decoder, prompt, Params(gamma=4, max_new_tokens=50)) == want
    assert decoder.finished == "length"


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_prompt_that_fills_the_context_gives_one_token(strategy: str) -> None:
    prompt = [(5 * i + 1) % VOCAB for i in range(CONTEXT)]
    decoder = Decoder(target("gpt2"), drafter_of(strategy, "gpt2", prompt, 1))
    assert answer(decoder, prompt, Params()) == hf_greedy("gpt2", prompt, 1)
    assert decoder.finished == "length"


@pytest.mark.parametrize(
    "prompt, message",
    [
        ([], "the prompt is empty"),
        ([1] * (CONTEXT + 1), "97 tokens.*holds 96"),
        ([1, VOCAB], f"the token id {VOCAB}, the model's ids are 0 to {VOCAB - 1}: use"),
        ([1, -2], "the token id -2"),
    ],
    ids=["empty", "too-long", "beyond the vocabulary", "negative"],
)
def test_prompts_that_cannot_be_answered(prompt: list[int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Decoder(target("llama")).start(prompt, Params(), 0)


@pytest.mark.parametrize("length", [3, 4, 5, 8, 9, 30])
@pytest.mark.parametrize("family", ["llama", "gemma2", "mistral"])
def test_prefill_in_chunks(family: str, length: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(target_module, "PREFILL_CHUNK", 4)
    prompt = LONG[:length]
    decoder = Decoder(target(family), drafter_of("draft", family, prompt))
    assert answer(decoder, prompt, Params(gamma=2, max_new_tokens=8)) == hf_greedy(
        family, prompt, 8
    )


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_cache_that_grows_on_the_way(strategy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    new_cache = Target.new_cache
    monkeypatch.setattr(Target, "new_cache", lambda self, capacity=1: new_cache(self, capacity))
    decoder = Decoder(target("gemma2"), drafter_of(strategy, "gemma2", REPETITIVE))
    ids = answer(decoder, REPETITIVE, Params(gamma=3, max_new_tokens=NEW))
    assert ids == hf_greedy("gemma2", REPETITIVE, NEW)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_settings_that_change_between_rounds(strategy: str) -> None:
    """gamma, max_new_tokens and warpers that greedy ignores."""
    decoder = Decoder(target("qwen3"), drafter_of(strategy, "qwen3", REPETITIVE))
    decoder.start(REPETITIVE, Params(gamma=3, max_new_tokens=2), 0)
    for gamma in [3, 0, 9, 1, None, 2] * 4:
        if decoder.finished:
            break
        sampling = SamplingParams(top_k=gamma or 0, top_p=0.5)
        decoder.step(Params(sampling, gamma=gamma, max_new_tokens=NEW))
    assert decoder.generated == hf_greedy("qwen3", REPETITIVE, len(decoder.generated))
    assert len(decoder.generated) > 6


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_greedy_after_sampled_rounds_continues_exactly(strategy: str) -> None:
    decoder = Decoder(target("llama"), drafter_of(strategy, "llama", REPETITIVE))
    hot = Params(SamplingParams(temperature=1.5), gamma=3)
    decoder.start(REPETITIVE, hot, seed=3)
    for _ in range(4):
        decoder.step(hot)
    sampled = list(decoder.generated)
    while not decoder.finished:
        decoder.step(Params(gamma=3, max_new_tokens=len(sampled) + 8))
    assert decoder.generated[len(sampled) :] == hf_greedy("llama", [*REPETITIVE, *sampled], 8)


def test_fewer_tokens_than_there_are_already_end_the_generation() -> None:
    decoder = Decoder(target("llama"), drafter_of("draft", "llama", REPETITIVE))
    params = Params(gamma=2, max_new_tokens=NEW)
    decoder.start(REPETITIVE, params, 0)
    for _ in range(3):
        decoder.step(params)
    before = list(decoder.generated)
    record = decoder.step(Params(gamma=2, max_new_tokens=2))
    assert decoder.finished == "length"
    assert decoder.generated == before
    assert record.emitted == () and record.accepted == () and record.tested == 0


@pytest.mark.parametrize("strategy", ["lookup", "draft", "trees"])
def test_token_id_0_is_a_token_like_others(strategy: str) -> None:
    """Padding uses id 0 elsewhere; here the model says it again and again."""
    plain, new = Target(fond_of_zero()), 24
    prompt = [0, 0, 3, 0]
    zeros: Any = fond_of_zero()
    truth = [int(i) for i in zeros.generate(
        torch.tensor([prompt]), attention_mask=torch.ones(1, 4, dtype=torch.long),
        do_sample=False, max_new_tokens=new, pad_token_id=1,
    )[0, 4:]]  # fmt: skip
    assert truth.count(0) > 4 and len(set(truth)) > 4
    drafters: dict[str, Drafter] = {
        "lookup": Lookup(plain.device),
        "draft": DraftModel(Target(fond_of_zero()), plain.vocab_size),
        "trees": RandomTrees(2, 3, len(prompt), truth),
    }
    decoder = Decoder(plain, drafters[strategy])
    assert answer(decoder, prompt, Params(gamma=4, max_new_tokens=new)) == truth


def fond_of_zero() -> PreTrainedModel:
    model = build("llama")
    with torch.no_grad():
        head = model.get_output_embeddings().weight
        head[0] = 1.5 * head[3]
    return model
