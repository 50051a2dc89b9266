"""The kernels compute what their docstrings say, in Triton's interpreter on a CPU. It does not
multiply bfloat16; `python -m tests.cuda_check kernels` runs these tests' functions on a GPU."""

from __future__ import annotations

from types import ModuleType

import pytest
import torch
from torch import Tensor
from torch.nn.functional import rms_norm, silu

CASES = {  # heads, key heads, rows, width, rows in the cache, its capacity
    "one row": (8, 2, 1, 64, 100, 256),
    "a tree": (8, 2, 5, 64, 100, 300),
    "one key a head": (4, 4, 40, 96, 130, 200),
    "several blocks": (32, 8, 60, 128, 70, 512),
    "a long prefix": (2, 1, 3, 16, 900, 1024),
}
CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def kernels() -> ModuleType:
    pytest.importorskip("triton", reason="Triton is for Linux")
    from decoding.model import triton_kernels

    return triton_kernels


def attention_error(
    kernels: ModuleType, case: str, dtype: torch.dtype, device: torch.device
) -> float:
    """Of rows that see the prefix, themselves and, but for the last, the row before them. The last
    one of several sees nothing."""
    heads, kv_heads, rows, dim, length, capacity = CASES[case]
    torch.manual_seed(0)
    query = torch.randn(1, rows, heads, dim, dtype=dtype, device=device).transpose(1, 2)
    store = torch.randn(2, 1, kv_heads, capacity + 10, dim, dtype=dtype, device=device)
    key, value = store[:, :, :, :capacity].unbind(0)
    group, past = heads // kv_heads, length - rows
    mask = torch.full((group, rows, capacity), torch.finfo(dtype).min, dtype=dtype, device=device)
    mask[..., :past] = 0
    for row in range(rows):
        mask[:, row, past + max(row - 1, 0) : past + row + 1] = 0
    if rows > 1:
        mask[:, -1] = torch.finfo(dtype).min
    found = kernels.attend(query, key, value, mask.view(1, 1, group * rows, -1), dim**-0.5)
    assert found.isfinite().all()
    wide = [each.float().repeat_interleave(group, 1) for each in (key, value)]
    scores = query.float() @ wide[0].mT * dim**-0.5 + mask[0].float()
    expected = (scores.softmax(-1) @ wide[1]).transpose(1, 2)
    seeing = max(rows - 1, 1)
    return float((found.float() - expected)[:, :seeing].abs().max())


def rotation_error(kernels: ModuleType, dtype: torch.dtype, device: torch.device) -> float:
    rows, heads, kv_heads, dim, capacity = 5, 8, 2, 64, 40
    columns = (heads + 2 * kv_heads) * dim
    torch.manual_seed(0)
    qkv = torch.randn(rows, columns, dtype=dtype, device=device)
    cos, sin = torch.randn(rows, 2, columns, dtype=dtype, device=device).unbind(1)
    partner = torch.randperm(columns, device=device)
    store = torch.zeros(2 * kv_heads, capacity, dim, dtype=dtype, device=device)
    at = torch.tensor([7, 3, 9, 30, 39], device=device)
    queries = kernels.rotate(qkv, partner, cos, sin, store, at, heads)
    turned = qkv.float() * cos.float() + qkv[:, partner].float() * sin.float()
    kept = turned[:, heads * dim :].view(rows, -1, dim).transpose(0, 1)
    expected = torch.zeros_like(store, dtype=torch.float32).index_copy_(1, at, kept)
    of_queries = queries.float().view(rows, -1) - turned[:, : heads * dim]
    return float(
        torch.cat([of_queries.flatten(), (store.float() - expected).flatten()]).abs().max()
    )


def gate_error(kernels: ModuleType, dtype: torch.dtype, device: torch.device) -> float:
    torch.manual_seed(0)
    gate_up = torch.randn(5, 1400, dtype=dtype, device=device)
    gate, up = gate_up.float().chunk(2, -1)
    error: Tensor = (kernels.silu_times(gate_up).float() - silu(gate) * up).abs().max()
    return float(error)


def norm_error(kernels: ModuleType, dtype: torch.dtype, device: torch.device) -> float:
    torch.manual_seed(0)
    x = torch.randn(5, 900, dtype=dtype, device=device)[:, :700]
    gain = torch.randn(700, dtype=dtype, device=device)
    expected = rms_norm(x.float(), (700,), gain.float(), 1e-5)
    return float((kernels.rms_norm(x, gain, 1e-5).float() - expected).abs().max())


@pytest.mark.parametrize("case", CASES)
def test_attention(kernels: ModuleType, case: str) -> None:
    assert attention_error(kernels, case, torch.float16, CPU) < 2e-3


def test_rotation(kernels: ModuleType) -> None:
    assert rotation_error(kernels, torch.float16, CPU) < 5e-3


def test_gate(kernels: ModuleType) -> None:
    assert gate_error(kernels, torch.float16, CPU) < 5e-3


def test_norm(kernels: ModuleType) -> None:
    assert norm_error(kernels, torch.float16, CPU) < 5e-3
