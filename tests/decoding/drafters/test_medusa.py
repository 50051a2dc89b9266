"""Medusa in the loop: exact whatever the heads guess, and the lossy rule as it is defined."""

from __future__ import annotations

from collections import Counter

import pytest
import torch
from torch import Tensor

from decoding.checkpoints.medusa import MedusaWeights
from decoding.decoder import Decoder
from decoding.drafters.medusa import Medusa
from decoding.drafters.medusa_heads import MedusaHeads
from decoding.model.target import Target
from decoding.params import Params, SamplingParams
from decoding.training.medusa_attach import attach_medusa
from decoding.trees.draft import Draft, DraftTree
from decoding.trees.shape import TreeShape
from decoding.trees.static import NAMED_TREES, Choices, parse_choices
from decoding.verification.acceptance import accept_typical
from tests.support.families import build, hf_greedy
from tests.support.seeded import seeded

PROMPT = [3, 7, 9, 11, 2, 3, 7]


def heads_for(target: Target, count: int = 3, layers: int = 2, own: bool = True) -> MedusaHeads:
    """Heads that are right now and then: the target's own lm_head behind small residuals."""
    torch.manual_seed(5)
    hidden = int(target.config.hidden_size)
    lm_head = target.model.get_output_embeddings().weight.detach()
    weights = MedusaWeights(
        "v0.1",
        0.2 * torch.randn(count, layers, hidden, hidden),
        torch.randn(count, layers, hidden),
        lm_head.expand(count, -1, -1).clone() if own else None,
    )
    return MedusaHeads(weights, target)


def medusa(target: Target, choices: Choices, count: int = 3) -> Decoder:
    heads = heads_for(target, count)
    return Decoder(target, Medusa(heads, choices))


@pytest.mark.parametrize("family", ["llama", "gemma2", "mistral", "gpt2", "opt"])
@pytest.mark.parametrize("tree", ["chain", "small", "wide"])
def test_greedy_ids_equal_generate(family: str, tree: str) -> None:
    """Every gamma with one family, since it only cuts the tree."""
    decoder = medusa(Target(build(family)), NAMED_TREES[tree])
    for gamma in (None, 0, 1, 2, 9) if family == "llama" else (None,):
        list(decoder.generate(PROMPT, Params(max_new_tokens=24, gamma=gamma)))
        assert decoder.generated == hf_greedy(family, PROMPT, 24)


def test_trees_deeper_than_the_heads_are_trimmed_and_say_so() -> None:
    decoder = medusa(Target(build("llama")), parse_choices("[[0,0,0,0,0,0]]"), count=2)
    rounds = list(decoder.generate(PROMPT, Params(max_new_tokens=12)))
    assert max(len(r.tokens) for r in rounds) == 3
    assert decoder.drafter is not None and decoder.drafter.note == "tree trimmed to 2 heads"


def test_gamma_auto_begins_with_the_depth_of_the_present_tree() -> None:
    drafter = Medusa(heads_for(Target(build("llama"))), parse_choices("[[0]]"))
    decoder = Decoder(Target(build("llama")), drafter)
    params = Params(gamma="auto", max_new_tokens=24)
    decoder.start(PROMPT, params, 0)
    assert decoder.step(params).gamma == 1
    drafter.set_choices(NAMED_TREES["chain"])
    assert decoder.step(params).gamma == drafter.default_gamma == 3


def test_up_to_the_context_limit() -> None:
    target = Target(build("llama"))
    decoder = medusa(target, NAMED_TREES["wide"])
    prompt = PROMPT * 12
    list(decoder.generate(prompt, Params(max_new_tokens=200)))
    assert len(prompt) + len(decoder.generated) == target.context + 1
    assert decoder.finished == "length"
    autoregressive = Decoder(target)
    list(autoregressive.generate(prompt, Params(max_new_tokens=200)))
    assert decoder.generated == autoregressive.generated


@pytest.mark.parametrize("own", [True, False])
def test_head_logits_are_the_papers_formula(own: bool) -> None:
    target = Target(build("llama"))
    torch.manual_seed(2)
    hidden, state = int(target.config.hidden_size), torch.randn(int(target.config.hidden_size))
    w, b = torch.randn(3, 2, hidden, hidden), torch.randn(3, 2, hidden)
    lm = torch.randn(3, target.vocab_size, hidden)
    heads = MedusaHeads(MedusaWeights("v0.1", w, b, lm if own else None), target)
    shared = target.model.get_output_embeddings().weight
    for k in range(3):
        x = state
        for layer in range(2):
            x = x + torch.nn.functional.silu(w[k, layer] @ x + b[k, layer])
        expected = (lm[k] if own else shared) @ x
        assert torch.allclose(heads.logits(state[None])[k, 0], expected, atol=1e-3, rtol=1e-5)
    assert torch.allclose(heads.logits(state[None], 2), heads.logits(state[None])[:2])


@torch.inference_mode()
@pytest.mark.parametrize("family", ["gemma2", "cohere2"])
def test_heads_on_the_targets_lm_head_say_what_it_says_there(family: str) -> None:
    """Before training: with the final scale or softcap."""
    target = Target(build(family))
    result = target.prefill(target.new_cache(), PROMPT)
    heads = MedusaHeads(attach_medusa(target.model, 2), target)
    for logits in heads.logits(result.features[-1:]):
        torch.testing.assert_close(logits, result.logits)


def test_truncated_vocabulary_guesses_target_ids() -> None:
    target = Target(build("llama"))
    hidden = int(target.config.hidden_size)
    ids = torch.tensor([4, 8, 15])
    weights = MedusaWeights(
        "vllm",
        torch.zeros(2, 1, hidden, hidden),
        torch.zeros(2, 1, hidden),
        torch.randn(2, 3, hidden),
        ids,
    )
    guesses = MedusaHeads(weights, target).guesses(torch.randn(2, hidden), 3)
    assert guesses.shape == (2, 2, 3)
    assert all(sorted(row) == [4, 8, 15] for row in guesses.flatten(0, 1).tolist())


@pytest.mark.parametrize("token_map", [None, torch.tensor([4, 8, 15, 16, 23, 42, 50, 60])])
def test_watched_rounds_tell_what_the_heads_thought(token_map: Tensor | None) -> None:
    target = Target(build("llama"))
    hidden, vocab = int(target.config.hidden_size), 8 if token_map is not None else 61
    ids = list(range(vocab)) if token_map is None else token_map.tolist()
    torch.manual_seed(2)
    weights = MedusaWeights(
        "vllm",
        0.2 * torch.randn(3, 1, hidden, hidden),
        torch.randn(3, 1, hidden),
        torch.randn(3, vocab, hidden),
        token_map,
    )
    heads = MedusaHeads(weights, target)
    decoder = Decoder(target, Medusa(heads, NAMED_TREES["small"]))
    decoder.record_probabilities = True
    decoder.start(PROMPT, Params(), 0)
    record = decoder.step(Params())
    with torch.inference_mode():
        states = build("llama")(torch.tensor([PROMPT]), output_hidden_states=True).hidden_states
        p = heads.logits(states[-1][0, -1:])[:, 0].softmax(-1)
    depths = TreeShape(record.parents).depths
    assert record.q[0] == 1.0 and len(set(depths)) > 2
    for node in range(1, len(depths)):
        own = float(p[depths[node] - 1, ids.index(record.tokens[node])])
        assert record.q[node] == pytest.approx(own, rel=1e-3)


def _typical(
    logits: Tensor, tree: Draft, seed: int, **kwargs: float
) -> tuple[tuple[int, ...], int]:
    verdict = accept_typical(
        tree,
        logits,
        SamplingParams(kwargs.get("temperature", 1.0)),
        kwargs.get("epsilon", 0.09),
        kwargs.get("delta", 0.3),
        seeded(seed, logits.shape[1]),
    ).result
    return verdict.path, verdict.bonus


def test_typical_keeps_the_longest_plausible_path_then_the_more_likely() -> None:
    # root -> 1 (token 0), 2 (token 1); 1 -> 3 (token 2); 2 -> 4 (token 0), 5 (token 2)
    tree = Draft(DraftTree(TreeShape((-1, 0, 0, 1, 2, 2)), torch.tensor([0, 0, 1, 2, 0, 2])))
    p = torch.tensor([0.5, 0.3, 0.2])
    rows = p.log().repeat(6, 1)
    # 0.5 * 0.2 < 0.3 * 0.5
    assert _typical(rows, tree, 0, epsilon=0.09)[0] == (2, 4)
    # entropy 1.03: min(epsilon, exp(-1.03)) = 0.25 keeps tokens 0 and 1 only
    assert _typical(rows, tree, 0, epsilon=0.25, delta=1.0)[0] == (2, 4)
    assert _typical(rows, tree, 0, epsilon=0.35, delta=1.0)[0] == (1,)  # 0.357 > 0.3
    assert _typical(rows, tree, 0, epsilon=0.9, delta=1.0, temperature=0.2)[0] == (1,)


def test_typical_at_temperature_0_is_greedy() -> None:
    tree = Draft(DraftTree(TreeShape((-1, 0, 0)), torch.tensor([0, 1, 0])))
    rows = torch.tensor([0.5, 0.3, 0.2]).log().repeat(3, 1)
    assert _typical(rows, tree, 0, temperature=0.0) == ((2,), 0)


def test_the_typical_bonus_is_drawn_from_the_last_accepted_node() -> None:
    tree = Draft(DraftTree(TreeShape((-1, 0)), torch.tensor([0, 0])))
    rows = torch.tensor([[0.9, 0.05, 0.05], [0.1, 0.2, 0.7]]).log()
    draws = Counter(_typical(rows, tree, seed)[1] for seed in range(2000))
    assert draws[2] / 2000 == pytest.approx(0.7, abs=0.04)
    assert draws[1] / 2000 == pytest.approx(0.2, abs=0.04)
