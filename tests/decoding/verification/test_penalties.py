"""Penalties depend on the path: each node of a tree gets what it would get as the end of a text.
That sampling keeps its distribution is in tests/decoding/test_lossless.py."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import torch

from decoding.decoder import Decoder
from decoding.drafters.base import Drafter
from decoding.drafters.draft_model import DraftModel
from decoding.drafters.lookup import Lookup
from decoding.params import Params, SamplingParams
from decoding.trees.draft import DraftTree
from decoding.trees.shape import TreeShape
from decoding.verification.penalties import Penalties
from tests.support.families import VOCAB, draft, hf_greedy, reference, target
from tests.support.random_trees import RandomTrees

PROMPT = (3, 7, 9, 11, 2, 3, 7)
NEW = 24


def test_a_node_is_penalized_as_the_end_of_its_path() -> None:
    torch.manual_seed(0)
    logits = torch.randn(5, 10)
    tree = DraftTree(TreeShape((-1, 0, 0, 1, 3)), torch.tensor([4, 5, 6, 7, 5]))
    sampling = SamplingParams(repetition_penalty=1.7, presence_penalty=0.4)
    found = penalized(logits, sampling, [1, 2, 3, 4], tree)
    for node in range(5):
        path = [int(tree.tokens[each]) for each in tree.shape.path(node)]
        last = logits[node : node + 1]
        row = penalized(last, sampling, [1, 2, 3, 4, *path])
        assert found[node].equal(row[0])
        assert penalized(last, sampling, [1, 2, 3, 4], torch.tensor([4, *path])).equal(row)
    assert penalized(logits, SamplingParams(temperature=0.5), [1, 2], tree) is logits


def penalized(
    logits: torch.Tensor,
    sampling: SamplingParams,
    ids: Sequence[int],
    drafted: DraftTree | torch.Tensor | None = None,
) -> torch.Tensor:
    return Penalties(2, logits.device).apply(logits, sampling, ids, drafted)


def test_what_was_seen_before_is_not_seen_again() -> None:
    """One round after the other gives what the whole text gives at once."""
    torch.manual_seed(0)
    logits, text = torch.randn(1, 10), [1, 2, 3, 2, 5, 1, 5, 7]
    sampling = SamplingParams(repetition_penalty=1.7, presence_penalty=0.4)
    penalties = Penalties(2, logits.device)
    for length in (2, 3, 6, 8):
        found = penalties.apply(logits, sampling, text[:length])
        assert found.equal(penalized(logits, sampling, text[:length]))


@pytest.mark.parametrize("strategy", ["none", "lookup", "draft", "trees"])
def test_greedy_is_generates_with_a_repetition_penalty(strategy: str) -> None:
    model: Any = reference("llama")
    prompt = torch.tensor([PROMPT])
    out = model.generate(
        prompt,
        attention_mask=torch.ones_like(prompt),
        do_sample=False,
        repetition_penalty=1.4,
        max_new_tokens=NEW,
        eos_token_id=None,
        pad_token_id=0,
    )
    expected = out[0, len(PROMPT) :].tolist()
    assert expected != hf_greedy("llama", PROMPT, NEW)
    shared = target("llama")
    drafters: dict[str, Drafter | None] = {
        "none": None,
        "lookup": Lookup(shared.device),
        "draft": DraftModel(draft("llama"), shared.vocab_size),
        "trees": RandomTrees(VOCAB, 7, len(PROMPT), expected),
    }
    decoder = Decoder(shared, drafters[strategy])
    sampling = SamplingParams(repetition_penalty=1.4)
    accepted = [
        len(record.accepted)
        for record in decoder.generate(PROMPT, Params(sampling, gamma=4, max_new_tokens=NEW))
    ]
    assert decoder.generated == expected
    assert strategy != "trees" or sum(accepted) > 5  # drafts are accepted, and rightly


def test_a_presence_penalty_counts_the_answer_alone() -> None:
    """So strong that nothing is said twice, though the prompt may be."""
    decoder = Decoder(target("llama"), DraftModel(draft("llama"), VOCAB))
    params = Params(SamplingParams(presence_penalty=2.0), gamma=3, max_new_tokens=NEW)
    plain = Params(gamma=3, max_new_tokens=NEW)
    for _ in decoder.generate(PROMPT, plain):
        pass
    repeated = NEW - len(set(decoder.generated))
    for _ in decoder.generate(PROMPT, params):
        pass
    assert NEW - len(set(decoder.generated)) < repeated


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_draft_model_drafts_with_the_penalties(temperature: float) -> None:
    """The target as its own draft model: all drafts are accepted only if both are penalized."""
    shared = target("llama")
    decoder = Decoder(shared, DraftModel(target("llama"), shared.vocab_size))
    sampling = SamplingParams(temperature, repetition_penalty=1.6, presence_penalty=0.8)
    for record in decoder.generate(PROMPT, Params(sampling, gamma=4, max_new_tokens=60), seed=3):
        assert record.cut or len(record.accepted) == record.drafted
