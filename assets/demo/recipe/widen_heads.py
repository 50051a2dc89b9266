"""EAGLE heads for a widened target: they begin with what the heads of the narrow one have learned.

    python -m assets.demo.recipe.widen_heads --heads DIR --hidden 256 --out DIR

As `pretrain.py --start-from` widens a target. They still have to learn: the target has gone on
since it was widened.
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

WRITE_HIDDEN = ("fc", "o_proj", "down_proj")  # their rows are dimensions of the hidden state
READ_HIDDEN = ("fc", "q_proj", "k_proj", "v_proj", "gate_proj", "up_proj", "lm_head")
SCALE = 0.02  # of what reads the new dimensions


def widened(name: str, value: torch.Tensor, narrow: int, wide: int) -> torch.Tensor:
    """One of the heads' tensors for hidden states of `wide` numbers instead of `narrow`. What
    writes the new ones is zero, and so is what `fc` reads of the target's."""
    kind = name.split(".")[-2]
    if "norm" in kind:  # its mean of squares is over more numbers, and the new ones are 0 at first
        longer = value.float().mean().expand(wide).clone()
        longer[:narrow] = value
        return (longer * math.sqrt(narrow / wide)).to(value.dtype)
    if kind in READ_HIDDEN and value.ndim == 2:
        blocks = value.float().unflatten(1, (-1, narrow))  # several inputs, one after the other
        more = torch.zeros(len(value), blocks.shape[1], wide - narrow)
        if kind != "fc":
            more.normal_(std=SCALE)
        value = torch.cat((blocks, more), dim=2).flatten(1).to(value.dtype)
    if kind in WRITE_HIDDEN:
        value = torch.cat((value, value.new_zeros(wide - narrow, *value.shape[1:])))
    return value


def widen(heads: Path, wide: int, out: Path) -> None:
    """Write the heads in `heads` to `out`, for hidden states of `wide` numbers."""
    torch.manual_seed(0)
    config = json.loads((heads / "config.json").read_text())
    narrow = config["hidden_size"]
    shutil.copytree(heads, out)
    (out / "config.json").write_text(json.dumps(config | {"hidden_size": wide}, indent=2) + "\n")
    weights = load_file(heads / "model.safetensors")
    vocabulary = ("d2t", "t2d")
    save_file(
        {
            name: value if name in vocabulary else widened(name, value, narrow, wide)
            for name, value in weights.items()
        },
        out / "model.safetensors",
        metadata={"format": "pt"},
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--heads", type=Path, required=True)
    parser.add_argument("--hidden", type=int, required=True)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    widen(args.heads, args.hidden, args.out)


if __name__ == "__main__":
    main()
