"""Attention within documents: the same as with a mask that keeps them apart."""

from __future__ import annotations

import random

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from assets.demo.recipe.documents import DOCUMENTS, PLACES, groups_of, lengths_of
from assets.demo.recipe.stream import Rows, TokenStream


@pytest.fixture(scope="module")
def packed() -> Rows:
    rng = random.Random(0)
    lengths = [2, 3, 7, 16, 17, 30, 61, 90, 100, 110]
    return TokenStream([[rng.randrange(1, 50) for _ in range(n)] for n in lengths]).block(0, 2, 240)


def gradients(attention: str, rows: Rows, bf16: bool) -> list[torch.Tensor]:
    """Of a loss over the ids that can be predicted, with the loss itself first."""
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=50, hidden_size=32, intermediate_size=48, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, head_dim=8,
    )  # fmt: skip
    model = LlamaForCausalLM(config)
    model.set_attn_implementation(attention)
    with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
        logits = model(input_ids=rows.ids, position_ids=rows.positions, use_cache=False).logits
    wanted, counted = rows.ids[:, 1:], rows.positions[:, 1:] > 0
    loss = torch.nn.functional.cross_entropy(logits[:, :-1][counted].float(), wanted[counted])
    return [loss.detach(), *torch.autograd.grad(loss, list(model.parameters()))]


@pytest.mark.parametrize("bf16, near", [(False, 1e-5), (True, 3e-2)])
def test_documents_attend_as_with_a_mask(packed: Rows, bf16: bool, near: float) -> None:
    masked = gradients("sdpa", packed, bf16)
    for ours, theirs in zip(gradients(DOCUMENTS, packed, bf16), masked, strict=True):
        assert (ours - theirs).norm() <= near * theirs.norm()


def test_lengths_of_documents_and_of_what_fills_up_a_row() -> None:
    positions = torch.tensor([[0, 1, 2, 0, 1, 0, 0], [0, 1, 2, 3, 4, 5, 6], [0, 1, 0, 1, 0, 1, 2]])
    assert lengths_of(positions) == [3, 2, 2, 7, 2, 2, 3]


def test_every_place_is_found_in_its_group() -> None:
    lengths = [5, 700, 2, 1500, 64, 64, 33, 1024]
    groups, found = groups_of(lengths)
    places = torch.cat([group.flatten() for group in groups])
    assert places[found].tolist() == list(range(sum(lengths)))
    assert {group.shape[1] for group in groups} == {16, 768, 2048, 64, 48, 1024}


def test_groups_have_few_different_shapes() -> None:
    rng = random.Random(0)
    shapes = set()
    for _ in range(100):
        groups, _ = groups_of([rng.randint(10, 128) for _ in range(80)])
        shapes |= {tuple(group.shape) for group in groups}
    assert all(documents % max(PLACES // length, 1) == 0 for documents, length in shapes)
    assert len(shapes) < 40  # 91 if groups are not filled up
