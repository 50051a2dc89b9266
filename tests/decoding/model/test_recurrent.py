"""Models with recurrent layers: a rejected draft leaves no trace in their states."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch
from torch import nn

from decoding.decoder import Decoder
from decoding.drafters.base import Drafter
from decoding.drafters.draft_model import DraftModel
from decoding.drafters.eagle import EagleTree
from decoding.drafters.lookup import Lookup
from decoding.drafters.medusa import Medusa
from decoding.drafters.medusa_heads import MedusaHeads
from decoding.errors import InputError
from decoding.model.recurrent import RecurrentCache
from decoding.model.self_test import self_test
from decoding.model.target import Target
from decoding.params import Params, SamplingParams
from decoding.token_probs import score_answer
from decoding.tokenizing.stopping import Stop
from decoding.trees.draft import DraftTree
from decoding.trees.shape import TreeShape, chain
from decoding.trees.static import NAMED_TREES
from tests.decoding.drafters.test_medusa import heads_for
from tests.decoding.model.test_rows import rows_of
from tests.support.eagle_drafts import eagle
from tests.support.families import HYBRIDS, VOCAB, build, draft, hf_greedy, target
from tests.support.random_trees import Oracle, RandomTrees

PROMPT = [3, 7, 9, 11, 2, 3, 7]
NEW = 16
FAMILY = "granitemoehybrid"


def answer(decoder: Decoder, prompt: Sequence[int], gamma: int | None = 3, new: int = NEW) -> None:
    for _ in decoder.generate(prompt, Params(gamma=gamma, max_new_tokens=new)):
        pass


def drafter_of(name: str, family: str = FAMILY, prompt: Sequence[int] = PROMPT) -> Drafter | None:
    match name:
        case "lookup":
            return Lookup(torch.device("cpu"))
        case "draft":
            return DraftModel(draft(family), VOCAB)
        case "trees":
            return RandomTrees(VOCAB, 7, len(prompt), hf_greedy(family, prompt, NEW))
    return None


def test_states_go_back_to_any_row_since_the_checkpoint() -> None:
    """One pass or several, from an empty cache or behind a prefix."""
    model = target("qwen3_next")
    for before in (0, 1, 5):
        for stay in (0, 2, 5):
            for passes in ((5,), (1, 1, 1, 1, 1), (2, 3)):
                cache, plain = model.new_cache(), model.new_cache()
                rows = [*PROMPT, *PROMPT]
                if before:
                    model.prefill(cache, rows[:before])
                with torch.inference_mode():
                    cache.checkpoint(5)
                start = before
                for size in passes:
                    model.prefill(cache, rows[start : start + size])
                    start += size
                cache.truncate(before + stay)
                assert cache.length == before + stay
                got = model.prefill(cache, [40, 41]).logits
                want = model.prefill(plain, [*rows[: before + stay], 40, 41]).logits
                torch.testing.assert_close(got, want, rtol=1e-4, atol=2e-4)


def test_states_that_can_not_go_back_begin_anew() -> None:
    model = target(FAMILY)
    cache = model.new_cache()
    model.prefill(cache, PROMPT)
    cache.truncate(len(PROMPT))
    assert cache.length == len(PROMPT)
    cache.truncate(len(PROMPT) - 1)
    assert cache.length == 0
    want = model.prefill(model.new_cache(), PROMPT).logits
    torch.testing.assert_close(model.prefill(cache, PROMPT).logits, want)


def test_a_tree_is_no_chain() -> None:
    model = target(FAMILY)
    tree = DraftTree(TreeShape((-1, 0, 0)), torch.tensor([1, 2, 3]))
    with pytest.raises(ValueError, match="can't verify a tree"):
        model.forward(model.new_cache(), tree)


def test_the_self_test_finds_rejected_rows_in_the_states(monkeypatch: pytest.MonkeyPatch) -> None:
    def leave_them(cache: RecurrentCache) -> None:
        cache._at = cache.length

    monkeypatch.setattr(RecurrentCache, "_move_states", leave_them)
    for family in HYBRIDS:
        with pytest.raises(InputError, match="what follows an accepted path and the same text"):
            self_test(Target(build(family)))


def test_a_round_is_one_pass_of_its_rows_and_its_mixers_replay_what_stays() -> None:
    """No pass of the model is added, and nothing where all is accepted."""
    model = target(FAMILY)
    replayed: list[int] = []
    mixer: nn.Module = model.model.model.layers[0].mamba
    hook = mixer.register_forward_pre_hook(
        lambda module, args, kwargs: replayed.append((*args, *kwargs.values())[0].shape[1]),
        with_kwargs=True,
    )
    decoder = Decoder(model, drafter_of("trees"))
    decoder.start(PROMPT, Params(), 0)
    expected: list[int] = []
    with rows_of(model) as passes:
        while not decoder.finished:
            passes.clear()
            replayed.clear()
            record = decoder.step(Params(gamma=4, max_new_tokens=NEW))
            assert passes == [1 + record.drafted]
            assert replayed == [*expected, 1 + record.drafted]
            rejected = len(record.accepted) < record.drafted
            expected = [1 + len(record.accepted)] if rejected else []
    hook.remove()
    assert decoder.generated == hf_greedy(FAMILY, PROMPT, NEW)


@pytest.mark.parametrize("heads", ["medusa", "eagle1", "eagle3"])
@pytest.mark.parametrize("family", ["qwen3_next", "nemotron_h", "falcon_h1"])
def test_heads_draft_chains(family: str, heads: str) -> None:
    model = Target(build(family))
    if heads == "medusa":
        drafter: Drafter = Medusa(heads_for(model), NAMED_TREES["wide"])
    else:
        drafter = eagle(model, "eagle1" if heads == "eagle1" else "eagle3", EagleTree(30, 4))
    decoder = Decoder(model, drafter)
    for prompt in (PROMPT, [5], [*PROMPT, 1, 2]):
        rounds = list(decoder.generate(prompt, Params(max_new_tokens=8)))
        assert decoder.generated == hf_greedy(family, prompt, 8)
        assert all(record.shape.is_chain for record in rounds)
        assert any(record.drafted > 1 for record in rounds)


def test_the_best_chain_of_a_tree_follows_its_first_guesses() -> None:
    model = Target(build(FAMILY))
    heads: MedusaHeads = heads_for(model)
    params = Params(max_new_tokens=NEW)
    tree, line = (Decoder(model, Medusa(heads, NAMED_TREES[name])) for name in ("wide", "chain"))
    for decoder in (tree, line):
        decoder.record_probabilities = True
    for a, b in zip(tree.generate(PROMPT, params), line.generate(PROMPT, params), strict=True):
        assert (a.tokens, a.parents, a.accepted) == (b.tokens, b.parents, b.accepted)
        assert a.own_p == b.own_p and a.ranks == b.ranks


@pytest.mark.parametrize("gamma", [1, 4, 9])
@pytest.mark.parametrize("drafts", ["oracle", "draft"])
def test_an_end_anywhere_in_a_round_and_the_turn_after_it(drafts: str, gamma: int) -> None:
    truth = hf_greedy(FAMILY, PROMPT, NEW)
    for position in (0, 2, 3):
        stop = Stop(frozenset({truth[position]}))
        oracle = Oracle(len(PROMPT), truth)
        drafter: Drafter = DraftModel(draft(FAMILY), VOCAB) if drafts == "draft" else oracle
        decoder = Decoder(target(FAMILY), drafter)
        for _ in decoder.generate(PROMPT, Params(gamma=gamma, max_new_tokens=NEW), stop=stop):
            pass
        expected = hf_greedy(FAMILY, PROMPT, NEW, [truth[position]])
        assert decoder.generated == expected
        second = [*PROMPT, *expected, 40, 41]
        oracle.prompt, oracle.truth = len(second), hf_greedy(FAMILY, second, 8)
        answer(decoder, second, gamma, 8)
        assert decoder.generated == hf_greedy(FAMILY, second, 8)


@pytest.mark.parametrize("strategy", ["none", "lookup", "draft", "trees"])
def test_a_second_turn_computes_only_what_is_new(strategy: str) -> None:
    decoder = Decoder(target(FAMILY), drafter_of(strategy))
    answer(decoder, PROMPT)
    second = [*PROMPT, *decoder.generated, 40, 41, 42]
    with rows_of(target(FAMILY)) as passes:
        decoder.start(second, Params(), 0)
        assert passes == [4]  # the last token of an answer has no row yet


@pytest.mark.parametrize(
    "second",
    [PROMPT, PROMPT[:3], [9, 9, 9], [*PROMPT[:3], 30], [*PROMPT, 30]],
    ids=["same", "shorter", "other", "branch", "longer"],
)
@pytest.mark.parametrize("strategy", ["none", "draft", "lookup"])
@pytest.mark.parametrize("family", [FAMILY, "lfm2"])
def test_any_prompt_may_follow(family: str, strategy: str, second: list[int]) -> None:
    decoder = Decoder(target(family), drafter_of(strategy, family))
    for prompt in (PROMPT, second, PROMPT):
        answer(decoder, prompt, new=6)
        assert decoder.generated == hf_greedy(family, prompt, 6)


def test_a_shared_prompt_is_prefilled_once() -> None:
    first, *others = (Decoder(target(FAMILY), drafter_of(name)) for name in ("none", "draft"))
    params = Params(gamma=3, max_new_tokens=NEW)
    with rows_of(target(FAMILY)) as passes:
        first.start(PROMPT, params, 0)
        first.step(params)  # its states have gone on by the time that the others begin
        for decoder in others:
            decoder.start([5], params, 0)
            passes.clear()
            decoder.start(PROMPT, params, 0, shared=first.prompt)
            assert passes == []
    for decoder in (first, *others):
        while not decoder.finished:
            decoder.step(params)
        assert decoder.generated == hf_greedy(FAMILY, PROMPT, NEW)


def test_a_prompt_in_chunks_that_was_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("decoding.model.target.PREFILL_CHUNK", 4)
    prompt = list(range(2, 22))
    decoder = Decoder(target(FAMILY), drafter_of("draft"))
    answers = iter([False, False, True])
    with pytest.raises(InterruptedError):
        decoder.start(prompt, Params(), 0, cancelled=lambda: next(answers))
    with rows_of(target(FAMILY)) as passes:
        decoder.start(prompt, Params(), 0)
        assert passes == [4, 4, 4]  # two of five chunks were there already
    while not decoder.finished:
        decoder.step(Params(max_new_tokens=10))
    assert decoder.generated == hf_greedy(FAMILY, prompt, 10)


def test_an_answer_is_measured_afterwards_as_if_it_had_been_watched() -> None:
    model, params = target(FAMILY), Params(SamplingParams(temperature=1.2), 3, NEW)
    decoder = Decoder(model, drafter_of("draft"))
    decoder.record_probabilities = True
    watched = list(decoder.generate(PROMPT, params, seed=3))
    decoder.record_probabilities = False
    rounds = list(decoder.generate(PROMPT, params, seed=3))
    first = rounds[0].tokens[0]
    _, measured = score_answer(
        model, PROMPT, first, params.sampling, rounds, [params] * len(rounds)
    )
    for found, expected in zip(measured, watched, strict=True):
        assert found.tokens == expected.tokens
        assert found.entropies == pytest.approx(expected.entropies, rel=1e-3, abs=1e-5)
        assert found.p == pytest.approx(expected.p, rel=1e-3, abs=1e-5)


def test_what_the_cache_holds_is_counted() -> None:
    model = target("mamba2")
    cache = model.new_cache()
    assert cache.nbytes == 0  # no attention: nothing before the first pass
    model.prefill(cache, PROMPT)
    held = cache.nbytes
    model.forward(cache, DraftTree(chain(3), torch.tensor(PROMPT[:4])))
    assert cache.nbytes >= 2 * held  # the states and their copies
