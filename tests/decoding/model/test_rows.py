"""No row of a cache is computed twice or copied: a round runs its tree, a turn its new ids."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import torch

from decoding.decoder import Decoder
from decoding.drafters.draft_model import DraftModel
from decoding.drafters.lookup import Lookup
from decoding.model.cache import TreeCache
from decoding.model.target import Target
from decoding.params import Params
from tests.support.families import CONTEXT, VOCAB, build, draft, hf_greedy, target
from tests.support.random_trees import RandomTrees

PROMPT = [3, 7, 9, 11, 2, 3, 7]


@contextmanager
def rows_of(model: Target) -> Iterator[list[int]]:
    """How many rows each of its passes has."""
    passes: list[int] = []
    hook = model.model.get_input_embeddings().register_forward_pre_hook(
        lambda module, args: passes.append(args[0].shape[-1])
    )
    try:
        yield passes
    finally:
        hook.remove()


def addresses(cache: TreeCache) -> list[int]:
    return [t.data_ptr() for t in cache._stores]


@pytest.mark.parametrize("strategy", ["none", "lookup", "trees"])
def test_a_round_runs_its_tree_once_and_nothing_else(strategy: str) -> None:
    truth = hf_greedy("llama", PROMPT, 24)
    drafter = {
        "none": None,
        "lookup": Lookup(torch.device("cpu")),
        "trees": RandomTrees(VOCAB, 1, len(PROMPT), truth),
    }[strategy]
    decoder = Decoder(target("llama"), drafter)
    with rows_of(target("llama")) as passes:
        decoder.start(PROMPT, Params(), 0)
        assert passes == [len(PROMPT)]
        while not decoder.finished:
            passes.clear()
            record = decoder.step(Params(gamma=4, max_new_tokens=24))
            assert passes == [1 + record.drafted]
    assert decoder.generated == truth


@pytest.mark.parametrize("noise", [0.0, 0.03, 0.3], ids=["always-right", "often-right", "wrong"])
@pytest.mark.parametrize("gamma", [1, 2, 5])
def test_the_draft_model_makes_gamma_passes_and_the_first_has_one_or_two_rows(
    gamma: int, noise: float
) -> None:
    model = draft("llama", noise)
    decoder = Decoder(target("llama"), DraftModel(model, VOCAB))
    params = Params(gamma=gamma, max_new_tokens=24)
    with rows_of(model) as drafted, rows_of(target("llama")) as verified:
        decoder.start(PROMPT, params, 0)
        assert drafted == [len(PROMPT) - 1]  # the last id comes along in the first round
        whole = True
        while not decoder.finished:
            drafted.clear()
            verified.clear()
            record = decoder.step(params)
            assert verified == [1 + record.drafted]
            assert len(drafted) == record.drafted
            if drafted:
                assert drafted[0] == (2 if whole else 1)
                assert set(drafted[1:]) <= {1}
            whole = len(record.accepted) == record.drafted
    assert decoder.generated == hf_greedy("llama", PROMPT, 24)


def test_the_cache_stays_where_it_is() -> None:
    trees = RandomTrees(VOCAB, 1, len(PROMPT), hf_greedy("gemma2", PROMPT, 40))
    drafting = DraftModel(draft("gemma2"), VOCAB)
    for drafter in (trees, drafting):
        decoder = Decoder(target("gemma2"), drafter)
        params = Params(gamma=4, max_new_tokens=40)
        decoder.start(PROMPT, params, 0)
        caches = [decoder._cache] + ([drafting._cache] if drafter is drafting else [])
        before = [addresses(cache) for cache in caches]
        while not decoder.finished:
            decoder.step(params)
        assert [addresses(cache) for cache in caches] == before


@pytest.mark.parametrize("gamma", [0, 1, 4])
@pytest.mark.parametrize("strategy", ["none", "lookup", "draft", "trees"])
def test_a_second_turn_computes_only_what_is_new(strategy: str, gamma: int) -> None:
    model = draft("llama")
    truth = hf_greedy("llama", PROMPT, 12)
    drafter = {
        "none": None,
        "lookup": Lookup(torch.device("cpu")),
        "draft": DraftModel(model, VOCAB),
        "trees": RandomTrees(VOCAB, 1, len(PROMPT), truth),
    }[strategy]
    decoder = Decoder(target("llama"), drafter)
    params = Params(gamma=gamma, max_new_tokens=12)
    for _ in decoder.generate(PROMPT, params):
        pass
    # the conversation goes on with another ending of the answer
    second = [*PROMPT, *truth[:-2], 40, 41, 42]
    with rows_of(model) as drafted, rows_of(target("llama")) as passes:
        decoder.start(second, params, 0)
        assert passes == [3]
        if strategy == "draft" and gamma:  # a chain accepted whole leaves its last row to the next
            assert drafted in ([2], [3])
    if isinstance(drafter, RandomTrees):
        drafter.prompt, drafter.truth = len(second), hf_greedy("llama", second, 12)
    while not decoder.finished:
        decoder.step(params)
    assert decoder.generated == hf_greedy("llama", second, 12)


@pytest.mark.parametrize(
    "second",
    [PROMPT, PROMPT[:3], [9, 9, 9], [*PROMPT[:3], 30], [*PROMPT, 30]],
    ids=["same", "shorter", "other", "branch", "longer"],
)
@pytest.mark.parametrize("strategy", ["none", "draft", "lookup"])
def test_any_prompt_may_follow(strategy: str, second: list[int]) -> None:
    drafter = {
        "none": None,
        "draft": DraftModel(draft("mistral"), VOCAB),
        "lookup": Lookup(torch.device("cpu")),
    }[strategy]
    decoder = Decoder(target("mistral"), drafter)
    for prompt in (PROMPT, second, PROMPT):
        for _ in decoder.generate(prompt, Params(gamma=3, max_new_tokens=10)):
            pass
        assert decoder.generated == hf_greedy("mistral", prompt, 10)


def test_a_shared_prompt_is_prefilled_once() -> None:
    first = Decoder(target("llama"))
    others = [
        Decoder(target("llama"), Lookup(torch.device("cpu"))),
        Decoder(target("llama"), DraftModel(draft("llama"), VOCAB)),
    ]
    params = Params(gamma=3, max_new_tokens=12)
    with rows_of(target("llama")) as passes:
        first.start(PROMPT, params, 0)
        first.step(params)  # its cache has gone on by the time that the others begin
        for decoder in others:
            decoder.start(PROMPT, params, 0, shared=first.prompt)
        assert passes == [len(PROMPT), 1]
    for decoder in (first, *others):
        while not decoder.finished:
            decoder.step(params)
        assert decoder.generated == hf_greedy("llama", PROMPT, 12)


def test_a_shared_prompt_after_another_conversation() -> None:
    """The rows that both have stay, only the others are copied, and nothing is computed."""
    params = Params(gamma=3, max_new_tokens=12)
    first, second = Decoder(target("llama")), Decoder(target("llama"))
    second.start([*PROMPT[:4], 50, 51, 52, 53, 54], params, 0)
    first.start(PROMPT, params, 0)
    with rows_of(target("llama")) as passes:
        second.start(PROMPT, params, 0, shared=first.prompt)
        assert passes == []
    while not second.finished:
        second.step(params)
    assert second.generated == hf_greedy("llama", PROMPT, 12)


def test_a_prefill_that_was_cancelled_leaves_a_sound_cache(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("decoding.model.target.PREFILL_CHUNK", 4)
    prompt = list(range(2, 22))
    decoder = Decoder(target("llama"), DraftModel(draft("llama"), VOCAB))
    answers = iter([False, False, True])
    with pytest.raises(InterruptedError):
        decoder.start(prompt, Params(), 0, cancelled=lambda: next(answers))
    with rows_of(target("llama")) as passes:
        decoder.start(prompt, Params(), 0)
        assert passes == [4, 4, 4]  # two of five chunks were there already
    while not decoder.finished:
        decoder.step(Params(max_new_tokens=10))
    assert decoder.generated == hf_greedy("llama", prompt, 10)


# --- draft models unlike the target ----------------------------------------------------------


def resized(vocab: int, context: int = CONTEXT) -> Target:
    """The draft with another width of its logits, or a shorter context."""
    model = build("llama")
    torch.manual_seed(5)
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(torch.randn_like(weight) * 0.02)
    model.resize_token_embeddings(vocab)
    with torch.no_grad():
        model.get_output_embeddings().weight[VOCAB:] *= 50.0  # padding that shouts
    model.config.max_position_embeddings = context
    return Target(model)


@pytest.mark.parametrize(
    "width", [VOCAB - 13, VOCAB, VOCAB + 19], ids=["narrower", "same", "wider"]
)
def test_logits_padded_to_another_width(width: int) -> None:
    decoder = Decoder(target("llama"), DraftModel(resized(width), VOCAB))
    prompt = [i % (VOCAB - 13) for i in PROMPT]
    limited = hf_greedy("llama", prompt, 16)
    rounds = []
    decoder.start(prompt, Params(gamma=3, max_new_tokens=16), 0)
    while not decoder.finished:
        rounds.append(decoder.step(Params(gamma=3, max_new_tokens=16)))
    assert decoder.generated == limited
    assert all(token < VOCAB for r in rounds for token in r.tokens)


@pytest.mark.parametrize("length", [5, 17, 18, 19, 20, 21, 30])
def test_beyond_the_draft_models_context_the_lane_goes_on(length: int) -> None:
    """Prompts below, at and above a draft context of 20."""
    drafter = DraftModel(resized(VOCAB, context=20), VOCAB)
    decoder = Decoder(target("llama"), drafter)
    prompt = [(7 * i + 3) % VOCAB for i in range(length)]
    with rows_of(drafter.model) as passes:
        for _ in decoder.generate(prompt, Params(gamma=3, max_new_tokens=24)):
            assert drafter._cache.length <= 20
        assert bool(sum(passes)) == (length <= 20)  # a prompt without room is not even read
    assert decoder.generated == hf_greedy("llama", prompt, 24)
    assert drafter.note == "draft model is at its limit of 20 tokens"
    # a shorter prompt afterwards drafts again, and no longer says so
    rounds = list(decoder.generate(PROMPT, Params(gamma=3, max_new_tokens=8)))
    assert decoder.generated == hf_greedy("llama", PROMPT, 8)
    assert drafter.note is None
    assert any(r.drafted for r in rounds)
