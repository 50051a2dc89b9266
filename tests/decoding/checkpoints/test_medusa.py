"""Medusa folders in every dialect, written here as the dialects are described, read back, and asked
for logits."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor

from decoding.checkpoints.files import read_tensors
from decoding.checkpoints.medusa import WRITABLE, MedusaWeights, read_medusa, write_medusa
from decoding.drafters.medusa_heads import MedusaHeads
from decoding.errors import InputError
from decoding.model.target import Target
from tests.support.families import VOCAB as V
from tests.support.families import build

K, L, H = 3, 2, 32


@cache
def target() -> Target:
    return Target(build("llama"))


def heads(own: bool = True) -> MedusaWeights:
    torch.manual_seed(1)
    return MedusaWeights(
        "v0.1",
        0.2 * torch.randn(K, L, H, H),
        torch.randn(K, L, H),
        torch.randn(K, V, H) if own else None,
    )


def reference(w: MedusaWeights, x: Tensor) -> Tensor:
    """The formula, head by head in double precision: x + SiLU(W x + b) for every layer, then the
    lm_head."""
    shared = target().model.get_output_embeddings().weight.detach()
    logits = []
    for i in range(K):
        y = x.double()
        for j in range(L):
            z = y @ w.weights[i, j].double().T + w.biases[i, j].double()
            y = y + z / (1 + torch.exp(-z))
        own = shared if w.lm_heads is None else w.lm_heads[i]
        logits.append(y @ own.double().T)
    return torch.stack(logits)


def assert_same_logits(folder: Path, w: MedusaWeights) -> MedusaHeads:
    loaded = MedusaHeads(read_medusa(folder, H, V), target())
    x = torch.randn(5, H)
    expected = reference(w, x).float()
    torch.testing.assert_close(loaded.logits(x), expected, atol=1e-5, rtol=1e-5)
    return loaded


# Per dialect: the file and the config that its own writer makes, and the tensors' names.
FILES = {
    "v0.1": "medusa_lm_head.pt",
    "v2": "medusa_lm_head.safetensors",
    "merged": "model.safetensors",
    "modelopt": "model.safetensors",
    "trtllm": "rank0.safetensors",
    "vllm": "model.safetensors",
}
CONFIGS: dict[str, dict[str, Any]] = {
    "v0.1": {"medusa_num_heads": K, "medusa_num_layers": L, "base_model_name_or_path": "a/b"},
    "v2": {"medusa_num_heads": K, "medusa_num_layers": L, "version": "2"},
    "merged": {"model_type": "llama", "num_attention_heads": 4, "medusa_num_heads": K},
    "modelopt": {
        "architectures": ["MedusaLlamaForCausalLM"],
        "medusa": {"num_medusa_heads": K, "num_medusa_layers": L},
    },
    "trtllm": {"num_medusa_heads": K, "num_medusa_layers": L},
    "vllm": {
        "model_type": "medusa",
        "architectures": ["MedusaModel"],
        "num_heads": K,
        "num_hidden_layers": L,
        "medusa_fc_bias": True,
    },
}
RESIDUAL = {
    "v0.1": "{i}.{j}.linear",
    "v2": "{i}.{j}.linear",
    "merged": "medusa_head.{i}.{j}.linear",
    "modelopt": "medusa_heads.{i}.{j}.linear",
    "trtllm": "medusa_heads.{i}.medusa_layers.{j}.linear",
    "vllm": "blocks.{i}.layers.{j}",
}
OWN = {
    "v0.1": "{i}.2.weight",
    "merged": "medusa_head.{i}.2.weight",
    "modelopt": "medusa_heads.{i}.2.weight",
    "trtllm": "medusa_heads.{i}.lm_head.weight",
    "vllm": "lm_heads.{i}.weight",
}


def named(dialect: str, w: MedusaWeights) -> dict[str, Tensor]:
    out = {}
    for i in range(K):
        for j in range(L):
            stem = RESIDUAL[dialect].format(i=i, j=j)
            out[stem + ".weight"], out[stem + ".bias"] = w.weights[i, j], w.biases[i, j]
        if w.lm_heads is not None:
            out[OWN[dialect].format(i=i)] = w.lm_heads[i]
    return {name: tensor.clone() for name, tensor in out.items()}


def store(folder: Path, dialect: str, tensors: dict[str, Tensor], **config: Any) -> Path:
    folder.mkdir()
    path = folder / FILES[dialect]
    if path.suffix == ".pt":
        torch.save(tensors, path)
    else:
        save_file(tensors, path)
    (folder / "config.json").write_text(json.dumps(CONFIGS[dialect] | config))
    return folder


@pytest.mark.parametrize("dialect", FILES)
def test_every_dialect_is_detected_and_gives_the_formulas_logits(
    dialect: str, tmp_path: Path
) -> None:
    w = heads(own=dialect in OWN)
    tensors = named(dialect, w)
    if dialect in ("merged", "modelopt"):  # the base model stands in the same files
        tensors["model.layers.0.mlp.up_proj.weight"] = torch.zeros(2, 2)
    folder = store(tmp_path / "heads", dialect, tensors)
    read = read_medusa(folder, H, V)
    assert read.dialect == dialect
    assert (read.heads, read.layers, read.hidden) == (K, L, H)
    assert (read.lm_heads is None) == (dialect == "v2")
    assert_same_logits(folder, w)


def test_counts_come_from_the_tensors_not_from_the_config(tmp_path: Path) -> None:
    config = {"medusa_num_heads": 5, "medusa_num_layers": 1}
    read = read_medusa(store(tmp_path / "h", "v0.1", named("v0.1", heads()), **config), H, V)
    assert (read.heads, read.layers) == (K, L)


@pytest.mark.parametrize("dialect", WRITABLE)
def test_what_is_written_reads_back(dialect: Any, tmp_path: Path) -> None:
    w = heads(own=dialect != "v2")
    w.accuracy = ((0.5, 0.25), (0.25, 0.125), (0.125, 0.0625))
    w.choices = ((0,), (0, 0), (1,))
    write_medusa(w, tmp_path / "out", dialect, "some/target")
    read = read_medusa(tmp_path / "out", H, V)
    assert read.dialect == dialect and read.accuracy == w.accuracy
    assert read.choices == w.choices
    assert torch.equal(read.weights, w.weights) and torch.equal(read.biases, w.biases)
    assert (read.lm_heads is None) == (w.lm_heads is None)
    if w.lm_heads is not None and read.lm_heads is not None:
        assert torch.equal(read.lm_heads, w.lm_heads)


def test_a_tree_that_is_none(tmp_path: Path) -> None:
    folder = store(tmp_path / "h", "v0.1", named("v0.1", heads()), medusa_choices=[[0], [-1]])
    with pytest.raises(InputError, match=r"medusa_choices: \[-1\] is no path of ranks"):
        read_medusa(folder, H, V)


def test_vllm_without_biases_and_with_one_lm_head_for_all(tmp_path: Path) -> None:
    w = heads()
    assert w.lm_heads is not None
    tensors = {
        name: tensor
        for name, tensor in named("vllm", w).items()
        if not name.endswith("bias") and not name.startswith(("lm_heads.1", "lm_heads.2"))
    }
    config = {"original_lm_head": True, "medusa_fc_bias": False}
    w.biases, w.lm_heads = torch.zeros(K, L, H), w.lm_heads[:1].expand(K, -1, -1)
    assert_same_logits(store(tmp_path / "h", "vllm", tensors, **config), w)


def test_vllm_with_a_truncated_vocabulary_guesses_the_targets_ids(tmp_path: Path) -> None:
    w, token_map = heads(), torch.tensor([0, 3, 5, 9, 60])
    w.lm_heads = torch.randn(K, len(token_map), H)
    tensors = named("vllm", w) | {"token_map": token_map}
    config = {"vocab_size": V, "truncated_vocab_size": len(token_map)}
    loaded = assert_same_logits(store(tmp_path / "h", "vllm", tensors, **config), w)
    x = torch.randn(4, H)
    assert torch.equal(loaded.guesses(x, 2), token_map[reference(w, x).topk(2).indices])


def test_only_vllm_can_say_that_a_vocabulary_is_truncated(tmp_path: Path) -> None:
    w = heads()
    w.token_map = torch.tensor([0, 3, 5, 9, 60])
    w.lm_heads = torch.randn(K, len(w.token_map), H)
    with pytest.raises(InputError, match="token_map.*dialect v0.1 can't express"):
        write_medusa(w, tmp_path / "v0.1", "v0.1", "some/target")
    assert not (tmp_path / "v0.1").exists()
    w.save_pretrained(tmp_path / "out")
    read = read_medusa(tmp_path / "out", H, V)
    assert read.dialect == "vllm" and read.token_map is not None
    assert torch.equal(read.token_map, w.token_map)


TOKEN_MAPS = {
    "beyond the vocabulary": (torch.tensor([0, 3, V]), f"names token {V}, this target has {V}"),
    "negative": (torch.tensor([0, -1]), f"names token -1, this target has {V}"),
    "no row": (torch.tensor(4), r"is int64 \[\], it must be a list"),
    "no ids": (torch.tensor([0.0, 3.0]), r"is float32 \[2\], it must be a list"),
}


@pytest.mark.parametrize("case", TOKEN_MAPS)
def test_a_token_map_of_other_tokens_is_refused(case: str, tmp_path: Path) -> None:
    token_map, line = TOKEN_MAPS[case]
    w = heads()
    w.lm_heads = torch.randn(K, token_map.numel(), H)
    folder = store(tmp_path / "h", "vllm", named("vllm", w) | {"token_map": token_map})
    with pytest.raises(InputError, match=f"token_map {line}"):
        read_medusa(folder, H, V)


@pytest.mark.parametrize("accuracy", [[[1.5]], [[-0.1]], [[float("nan")]]])
def test_accuracies_that_are_no_shares_are_refused(accuracy: Any, tmp_path: Path) -> None:
    folder = store(tmp_path / "h", "v0.1", named("v0.1", heads()), medusa_accuracy=accuracy)
    with pytest.raises(InputError, match="medusa_accuracy must hold shares from 0 to 1"):
        read_medusa(folder, H, V)


def _without(name: str) -> Any:
    return lambda tensors: {n: t for n, t in tensors.items() if n != name}


BROKEN = {
    "missing weight": (_without("1.0.linear.weight"), "head 1, layer 0 has no weight"),
    "missing bias": (_without("2.1.linear.bias"), "head 2, layer 1 has no bias"),
    "missing lm_head": (_without("1.2.weight"), "head 1 has no lm_head"),
    "unknown tensor": (lambda t: t | {"0.norm": torch.zeros(1)}, "unknown tensor 0.norm"),
    "not a number": (
        lambda t: t | {"1.0.linear.bias": torch.full((H,), torch.nan)},
        "its tensor 1.0.linear.bias is not all numbers (NaN or infinite): its weights are damaged",
    ),
    "other hidden size": (
        lambda t: t | {"0.0.linear.weight": torch.zeros(4, 4)},
        "head 0, layer 0, weight is [4, 4], this target needs [32, 32]",
    ),
    "other vocabulary": (
        lambda t: t | {"1.2.weight": torch.zeros(7, H)},
        "lm_head of head 1 is [7, 32], this target needs [61, 32]",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_folders_are_refused_by_the_tensors_name(case: str, tmp_path: Path) -> None:
    breaking, line = BROKEN[case]
    folder = store(tmp_path / "h", "v0.1", breaking(named("v0.1", heads())))
    with pytest.raises(InputError, match=re.escape(line)) as refused:
        read_medusa(folder, H, V)
    assert "\n" not in str(refused.value)


def test_a_damaged_pickle(tmp_path: Path) -> None:
    file = tmp_path / "pytorch_model.bin"
    torch.save({"0.0.linear.weight": torch.ones(2, 2)}, file)
    storage, text = b"ctorch\nFloatStorage\n", b"X\x0f\0\0\0" + b"x" * 15
    data = file.read_bytes()
    assert data.count(storage) == 1 and len(storage) == len(text)
    file.write_bytes(data.replace(storage, text))
    with pytest.raises(InputError, match=f"can't read {file}: 'str' object has no attribute"):
        read_tensors(tmp_path, bool)


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
