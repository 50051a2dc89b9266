"""The losses and their gradients are those of the formulas."""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

import pytest
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy
from transformers import LlamaForCausalLM

from decoding.training.conversations import IGNORED, Example, collate
from decoding.training.draft import DraftTrainingModel
from decoding.training.draft_attach import attach_draft
from decoding.training.eagle_attach import attach_eagle
from decoding.training.eagle_model import EagleTrainingModel
from decoding.training.losses import Loss, token_loss
from decoding.training.medusa import MedusaTrainingModel
from decoding.training.medusa_attach import attach_medusa

FORMULAS: dict[Loss, Callable[[Tensor, Tensor], Tensor]] = {
    "kl": lambda q, p: -(p * q.log()).sum(-1),
    "reverse-kl": lambda q, p: (q * (q / p).log()).sum(-1),
    "tvd": lambda q, p: 1 - torch.minimum(p, q).sum(-1),
    "lk": lambda q, p: -torch.minimum(p, q).sum(-1).log(),
    "ce": lambda q, p: -q.log().gather(1, p.argmax(-1, keepdim=True))[:, 0],
}


@pytest.mark.parametrize("loss", get_args(Loss))
def test_a_loss_and_its_gradient(loss: Loss) -> None:
    torch.manual_seed(3)
    logits = torch.randn(150, 9, requires_grad=True)
    p = (2 * torch.randn(20, 9)).softmax(-1)
    which, weights = torch.randint(20, (150,)), torch.rand(150)
    expected = FORMULAS[loss](logits.softmax(-1), p[which]) @ weights
    found = token_loss(loss, logits, p.argmax(-1) if loss == "ce" else p, which, weights)
    torch.testing.assert_close(found, expected)
    gradients = [torch.autograd.grad(each, logits)[0] for each in (found, expected)]
    torch.testing.assert_close(*gradients)


def test_a_loss_is_summed_in_float32_where_the_rest_is_in_bfloat16() -> None:
    logits, tokens = torch.zeros(1000, 9), torch.zeros(1000, dtype=torch.long)
    with torch.autocast("cpu", torch.bfloat16):
        found = token_loss("ce", logits, tokens, torch.arange(1000), torch.full((1000,), 1e-3))
    torch.testing.assert_close(found, torch.tensor(9.0).log())


def test_acceptance_of_a_sure_target_is_cross_entropy() -> None:
    """Also where hardly anything would be accepted, and the distance has no slope."""
    logits = torch.tensor([[0.0, 1.0, 30.0]], requires_grad=True)
    row, weight = torch.zeros(1, dtype=torch.long), torch.ones(1)
    lk = token_loss("lk", logits, torch.tensor([[1.0, 0.0, 0.0]]), row, weight)
    ce = token_loss("ce", logits, row, row, weight)
    torch.testing.assert_close(lk, ce)
    torch.testing.assert_close(*(torch.autograd.grad(each, logits)[0] for each in (lk, ce)))


BATCH = collate(
    [
        Example((5, 9, 8, 7, 11, 12), (IGNORED, IGNORED, 8, 7, 11, 12)),
        Example((5, 6, 10), (IGNORED, 6, 10)),
    ]
)


def test_medusa_heads_learn_what_the_target_says_that_far_ahead(
    make_model: Callable[[], LlamaForCausalLM],
) -> None:
    target = make_model()
    heads = attach_medusa(target, heads=2)
    out = target(input_ids=BATCH["input_ids"], output_hidden_states=True)
    # Untrained heads say what the target does; head k reads a row k before, from the last of a
    # prompt on.
    q, p = out.logits, out.logits.softmax(-1)
    ahead = {1: [(0, 1, 2), (0, 2, 3), (0, 3, 4), (1, 0, 1)], 2: [(0, 1, 3), (0, 2, 4)]}
    expected = sum(
        0.8 ** (k - 1) * sum(cross_entropy(q[b, t], p[b, r]) for b, t, r in rows) / len(rows)
        for k, rows in ahead.items()
    )
    found = MedusaTrainingModel(target, heads, loss="kl")(**BATCH)["loss"]
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("loss", get_args(Loss))
def test_every_kind_of_draft_learns_by_every_loss(
    loss: Loss, make_model: Callable[[], LlamaForCausalLM]
) -> None:
    target = make_model()
    known = torch.tensor([1, 8, 11, 12])  # not all of what is said
    eagle = attach_eagle(target, "eagle3", known, aux_layers=(0, 1))
    for model in (
        MedusaTrainingModel(target, attach_medusa(target, heads=2), loss=loss),
        EagleTrainingModel(target, eagle, steps=2, loss=loss),
        DraftTrainingModel(target, attach_draft(target, 1), loss),
    ):
        model.train()(**BATCH)["loss"].backward()
        gradients = [p.grad for p in model.parameters() if p.grad is not None]
        assert gradients and all(g.isfinite().all() for g in gradients)
