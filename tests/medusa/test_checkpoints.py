"""Medusa folders in every dialect, written here as the dialects are described, and read back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor

from decoding.checkpoints.medusa import WRITABLE, MedusaWeights, read_medusa, write_medusa
from decoding.errors import InputError

K, L, H, V = 3, 2, 8, 11


def heads(own: bool = True) -> MedusaWeights:
    torch.manual_seed(1)
    return MedusaWeights(
        "v0.1",
        torch.randn(K, L, H, H),
        torch.randn(K, L, H),
        torch.randn(K, V, H) if own else None,
    )


def named(dialect: str, w: MedusaWeights) -> dict[str, Tensor]:
    """The tensors under the names that the dialect's own writer gives them."""
    stems = {
        "v0.1": "{i}.{j}.linear",
        "v2": "{i}.{j}.linear",
        "merged": "medusa_head.{i}.{j}.linear",
        "modelopt": "medusa_heads.{i}.{j}.linear",
        "trtllm": "medusa_heads.{i}.medusa_layers.{j}.linear",
        "vllm": "blocks.{i}.layers.{j}",
    }
    owns = {
        "v0.1": "{i}.2.weight",
        "merged": "medusa_head.{i}.2.weight",
        "modelopt": "medusa_heads.{i}.2.weight",
        "trtllm": "medusa_heads.{i}.lm_head.weight",
        "vllm": "lm_heads.{i}.weight",
    }
    out = {}
    for i in range(K):
        for j in range(L):
            stem = stems[dialect].format(i=i, j=j)
            out[stem + ".weight"], out[stem + ".bias"] = w.weights[i, j], w.biases[i, j]
        if dialect in owns:
            assert w.lm_heads is not None
            out[owns[dialect].format(i=i)] = w.lm_heads[i]
    return {name: tensor.clone() for name, tensor in out.items()}


def store(folder: Path, tensors: dict[str, Tensor], config: dict[str, Any] | None = None) -> Path:
    folder.mkdir(exist_ok=True)
    save_file(tensors, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(config or {}))
    return folder


@pytest.mark.parametrize("dialect", ["v0.1", "v2", "merged", "modelopt", "trtllm", "vllm"])
def test_every_dialect_is_detected_and_read(dialect: str, tmp_path: Path) -> None:
    w = heads()
    tensors = named(dialect, w)
    if dialect in ("merged", "modelopt"):  # the base model stands in the same files
        tensors["model.layers.0.mlp.up_proj.weight"] = torch.zeros(2, 2)
    read = read_medusa(store(tmp_path / "heads", tensors), H, V)
    assert read.dialect == dialect
    assert (read.heads, read.layers, read.hidden) == (K, L, H)
    assert torch.equal(read.weights, w.weights) and torch.equal(read.biases, w.biases)
    if dialect == "v2":
        assert read.lm_heads is None
    else:
        assert read.lm_heads is not None and torch.equal(read.lm_heads, w.lm_heads)


def test_counts_come_from_the_tensors_not_from_the_config(tmp_path: Path) -> None:
    config = {"medusa_num_heads": 5, "medusa_num_layers": 1}
    read = read_medusa(store(tmp_path / "h", named("v0.1", heads()), config), H, V)
    assert (read.heads, read.layers) == (K, L)


@pytest.mark.parametrize("dialect", WRITABLE)
def test_what_is_written_reads_back(dialect: Any, tmp_path: Path) -> None:
    w = heads(own=dialect != "v2")
    w.accuracy = ((0.5, 0.25), (0.25, 0.125), (0.125, 0.0625))
    write_medusa(w, tmp_path / "out", dialect, "some/target")
    read = read_medusa(tmp_path / "out", H, V)
    assert read.dialect == dialect and read.accuracy == w.accuracy
    assert torch.equal(read.weights, w.weights) and torch.equal(read.biases, w.biases)
    assert (read.lm_heads is None) == (w.lm_heads is None)
    if w.lm_heads is not None and read.lm_heads is not None:
        assert torch.equal(read.lm_heads, w.lm_heads)


def test_vllm_without_biases_and_with_one_lm_head_for_all(tmp_path: Path) -> None:
    w = heads()
    tensors = {
        name: tensor
        for name, tensor in named("vllm", w).items()
        if not name.endswith("bias") and not name.startswith(("lm_heads.1", "lm_heads.2"))
    }
    read = read_medusa(store(tmp_path / "h", tensors, {"original_lm_head": True}), H, V)
    assert not read.biases.any()
    assert read.lm_heads is not None and w.lm_heads is not None
    assert torch.equal(read.lm_heads, w.lm_heads[:1].expand(K, -1, -1))


def test_truncated_vocabulary_keeps_its_map(tmp_path: Path) -> None:
    w = heads()
    tensors = named("vllm", w) | {f"lm_heads.{i}.weight": torch.randn(4, H) for i in range(K)}
    tensors["token_map"] = torch.tensor([0, 3, 5, 9])
    read = read_medusa(store(tmp_path / "h", tensors), H, V)
    assert read.token_map is not None and read.token_map.tolist() == [0, 3, 5, 9]


def _without(name: str) -> Any:
    return lambda tensors: {n: t for n, t in tensors.items() if n != name}


BROKEN = {
    "missing weight": (_without("1.0.linear.weight"), "head 1, layer 0 has no weight"),
    "missing bias": (_without("2.1.linear.bias"), "head 2, layer 1 has no bias"),
    "missing lm_head": (_without("1.2.weight"), "head 1 has no lm_head"),
    "unknown tensor": (lambda t: t | {"0.norm": torch.zeros(1)}, "unknown tensor 0.norm"),
    "other hidden size": (
        lambda t: t | {"0.0.linear.weight": torch.zeros(4, 4)},
        "head 0, layer 0, weight is [4, 4], this target needs [8, 8]",
    ),
    "other vocabulary": (
        lambda t: t | {"1.2.weight": torch.zeros(7, H)},
        "lm_head of head 1 is [7, 8], this target needs [11, 8]",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_folders_are_refused_by_the_tensors_name(case: str, tmp_path: Path) -> None:
    breaking, line = BROKEN[case]
    folder = store(tmp_path / "h", breaking(named("v0.1", heads())))
    with pytest.raises(InputError, match=line.replace("[", r"\[").replace("]", r"\]")) as refused:
        read_medusa(folder, H, V)
    assert "\n" not in str(refused.value)


def test_pickles_are_read_with_weights_only(tmp_path: Path) -> None:
    class Evil:
        def __reduce__(self) -> tuple[Any, ...]:
            return (Path.touch, (tmp_path / "executed",))

    folder = tmp_path / "h"
    folder.mkdir()
    torch.save({"0.0.linear.weight": Evil()}, folder / "medusa_lm_head.pt")
    with pytest.raises(InputError, match="can't read"):
        read_medusa(folder, H, V)
    assert not (tmp_path / "executed").exists()
