"""Multiply the logits of a causal LM, or of EAGLE heads for it, by a factor: sampling at a
temperature then acts as it did at that divided by the factor. Greedy decoding stays the same.

    python -m assets.demo.recipe.sharpen --factor 1.5 --out DIR MODEL

A small model leaves much probability to tokens that make no sense. The factor goes into the norm
before the lm_head, so what EAGLE-1 and Medusa heads read of a target grows, too: sharpen EAGLE-1
with its target, and train Medusa heads, which have no such norm, again.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from safetensors.torch import load_file, save_file
from torch import Tensor

FINAL_NORMS = ("model.norm.weight", "norm.weight")  # of a causal LM, of EAGLE-3 heads


def sharpen(tensors: dict[str, Tensor], factor: float) -> None:
    """Multiply the logits that these weights give, in place. Raises ValueError for other kinds of
    models."""
    norms = [name for name in FINAL_NORMS if name in tensors]
    if norms:
        _scale(tensors[norms[0]], factor)
    elif "fc.bias" in tensors:
        _sharpen_eagle1(tensors, factor)
    else:
        raise ValueError("neither a causal LM nor EAGLE heads")


def _sharpen_eagle1(tensors: dict[str, Tensor], factor: float) -> None:
    """All its hidden states grow by the factor, as those that it reads of the target have. Its
    attention has no norm before it, so the scores would grow with the square."""
    layer = "layers.0"
    fc = tensors["fc.weight"]
    _scale(fc[:, : fc.shape[1] - fc.shape[0]], factor)  # the part for embeddings, which is first
    _scale(tensors["fc.bias"], factor)
    for name in ("q_proj", "k_proj"):
        _scale(tensors[f"{layer}.self_attn.{name}.weight"], 1 / factor)
    _scale(tensors[f"{layer}.mlp.down_proj.weight"], factor)


def _scale(tensor: Tensor, factor: float) -> None:
    tensor.copy_(tensor.float() * factor)  # rounds once, also in bfloat16


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("--factor", type=float, required=True)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    (weights,) = (path.name for path in args.model.glob("*.safetensors"))
    tensors = load_file(args.model / weights)
    sharpen(tensors, args.factor)
    shutil.copytree(args.model, args.out, dirs_exist_ok=True)
    save_file(tensors, args.out / weights, metadata={"format": "pt"})


if __name__ == "__main__":
    main()
