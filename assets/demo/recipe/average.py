"""Average the weights of models, or heads, of one run (Wortsman et al. 2022, 2203.05482: "soups").

    python -m assets.demo.recipe.average --out DIR MODEL=SHARE MODEL=SHARE ...

Two ends of a training, each with its own learning rate decay, are often better together than alone.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file


def average(parts: list[tuple[Path, float]], out: Path) -> None:
    """Write the first folder to `out`, with the mean of all folders' weights, heavy by their share.

    Raises ValueError if they have other tensors, or more than one file of weights.
    """
    total = sum(share for _, share in parts)
    (weights,) = (path.name for path in parts[0][0].glob("*.safetensors"))
    models = [(load_file(folder / weights), share / total) for folder, share in parts]
    first, _ = models[0]
    if any(model.keys() != first.keys() for model, _ in models):
        raise ValueError("the models have other tensors")
    mixed = {}
    for name, tensor in first.items():
        mean = torch.stack([model[name].float() * share for model, share in models]).sum(0)
        mixed[name] = mean.to(tensor.dtype)
    shutil.copytree(parts[0][0], out, dirs_exist_ok=True)
    save_file(mixed, out / weights, metadata={"format": "pt"})


def parse_part(text: str) -> tuple[Path, float]:
    """`OUT/target/model=0.6` -> its folder and share."""
    folder, _, share = text.rpartition("=")
    return Path(folder), float(share)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="+", type=parse_part, metavar="MODEL=SHARE")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    average(args.models, args.out)


if __name__ == "__main__":
    main()
