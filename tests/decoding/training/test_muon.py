from __future__ import annotations

import torch
from torch import nn

from decoding.training.muon import Muon, orthogonalize


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
