from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from decoding.training import muon
from decoding.training.conversations import IGNORED, Example
from decoding.training.draft import train_draft
from decoding.training.draft_attach import attach_draft
from decoding.training.eagle import train_eagle
from decoding.training.eagle_attach import attach_eagle
from decoding.training.muon import Muon, orthogonalize
from decoding.training.train_config import TrainConfig
from tests.support.families import build


def test_orthogonalize_brings_all_singular_values_near_one() -> None:
    torch.manual_seed(0)
    for shape in ((3, 24, 64), (3, 64, 24), (2, 16, 16)):
        matrices = torch.randn(shape)
        values = torch.linalg.svdvals(orthogonalize(matrices))
        assert values.min() > 0.3 and values.max() < 1.3
        # and keeps the singular vectors: the product with the matrix stays symmetric positive
        u, _, vh = torch.linalg.svd(matrices, full_matrices=False)
        inner = u.mT @ orthogonalize(matrices) @ vh.mT
        off_diagonal = inner - torch.diag_embed(torch.diagonal(inner, dim1=-2, dim2=-1))
        assert off_diagonal.abs().max() < 0.05


def test_steps_are_those_of_torch() -> None:
    """Up to the bfloat16 that torch's own computes in."""
    torch.manual_seed(1)
    shapes = ((12, 20), (12, 20), (20, 12))
    ours = [nn.Parameter(torch.randn(shape)) for shape in shapes]
    theirs = [nn.Parameter(p.detach().clone()) for p in ours]
    start = [p.detach().clone() for p in ours]
    one = Muon(ours, lr=0.1, weight_decay=0.1)
    other = torch.optim.Muon(theirs, lr=0.1, weight_decay=0.1, adjust_lr_fn="match_rms_adamw")
    for _ in range(4):
        for a, b in zip(ours, theirs, strict=True):
            a.grad = torch.randn_like(a)
            b.grad = a.grad.clone()
        one.step()
        other.step()
    for a, b, before in zip(ours, theirs, start, strict=True):
        assert (a - b).norm() < 0.02 * (a - before).norm()


def test_a_stack_of_matrices_goes_as_each_of_them() -> None:
    torch.manual_seed(2)
    stack = nn.Parameter(torch.randn(2, 3, 12, 20))
    apart = [nn.Parameter(matrix.clone()) for matrix in stack.detach().flatten(0, 1)]
    one, other = Muon([stack], lr=0.1, weight_decay=0.1), Muon(apart, lr=0.1, weight_decay=0.1)
    for _ in range(3):
        stack.grad = torch.randn_like(stack)
        for matrix, grad in zip(apart, stack.grad.flatten(0, 1), strict=True):
            matrix.grad = grad.clone()
        one.step()
        other.step()
    together = torch.stack([matrix.detach() for matrix in apart])
    assert torch.allclose(stack.detach().flatten(0, 1), together, atol=1e-5)


def test_the_parts_of_a_fused_matrix_go_as_matrices_of_their_own() -> None:
    torch.manual_seed(3)
    rows = {"qkv": (16, 8, 8), "gate_up": (24, 24)}
    fused = {name: nn.Parameter(torch.randn(sum(sizes), 12)) for name, sizes in rows.items()}
    apart = [
        nn.Parameter(part.clone())
        for name, sizes in rows.items() for part in fused[name].detach().split(sizes)
    ]  # fmt: skip
    parts: dict[Tensor, tuple[int, ...]] = {fused[name]: rows[name] for name in rows}
    one, other = Muon([*fused.values()], lr=0.1, fused=parts), Muon(apart, lr=0.1)
    for _ in range(3):
        grads = [torch.randn_like(parameter) for parameter in apart]
        for parameter, grad in zip(apart, grads, strict=True):
            parameter.grad = grad
        fused["qkv"].grad, fused["gate_up"].grad = torch.cat(grads[:3]), torch.cat(grads[3:])
        one.step()
        other.step()
    together = torch.cat([parameter.detach() for parameter in apart])
    assert torch.allclose(torch.cat([*fused.values()]), together, atol=1e-5)


EXAMPLES: Any = [Example((3, 1, 4, 1, 5, 9, 2, 6), (IGNORED, IGNORED, 4, 1, 5, 9, 2, 6))]


def train_an_eagle_head(config: TrainConfig, work: Path) -> set[tuple[int, int]]:
    """Returns the shapes of some of its matrices."""
    target = build("llama")
    head = attach_eagle(target, "eagle3", aux_layers=[0, 1, 2])
    train_eagle(target, head, EXAMPLES, EXAMPLES, config, work)
    names = ("q_proj", "k_proj", "v_proj", "gate_proj", "up_proj")
    of_layer = {name.split(".")[1]: tuple(t.shape) for name, t in head.tensors.items()
                if name.startswith(("self_attn", "mlp"))}  # fmt: skip
    return {(rows, columns) for rows, columns in map(of_layer.__getitem__, names)}


def train_a_draft_of_phi(config: TrainConfig, work: Path) -> set[tuple[int, int]]:
    target = build("phi3")
    train_draft(target, attach_draft(target, 1), EXAMPLES, EXAMPLES, config, work)
    c: Any = target.config
    size = c.hidden_size // c.num_attention_heads
    rows = (c.hidden_size, size * c.num_key_value_heads, c.intermediate_size)
    return {(each, c.hidden_size) for each in rows}


@pytest.mark.parametrize("train", [train_an_eagle_head, train_a_draft_of_phi])
def test_what_is_trained_names_its_fused_matrices(
    train: Callable[[TrainConfig, Path], set[tuple[int, int]]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shapes = set()

    def spy(matrices: Tensor) -> Tensor:
        shapes.add(tuple(matrices.shape[1:]))
        return orthogonalize(matrices)

    monkeypatch.setattr(muon, "orthogonalize", spy)
    parts = train(TrainConfig(steps=1, evaluate_every=1, muon_lr=0.01, batch_size=1), tmp_path)
    assert parts <= shapes
    assert not {(2 * rows, columns) for rows, columns in parts} & shapes - parts
