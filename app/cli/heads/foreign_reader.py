"""Computes the logits of exported heads with another package. Run by `verify` in the Python of an
environment that has the package, which need not have specchat: nothing of it is imported.

Arguments: the package, the folder of the heads, the target, a file with what to read (`ids`,
`features`), the file to write `logits` to, and for EAGLE-3 the layers that it reads.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

STEPS = 3  # of EAGLE


def speculators(folder: Path, target: str, given: dict[str, Tensor], layers: list[int]) -> Tensor:
    """[STEPS, n - 1, V]. The authors' and ModelOpt's forms go through its converter."""
    from speculators import SpeculatorModel
    from speculators.convert.eagle.eagle3_converter import Eagle3Converter

    with tempfile.TemporaryDirectory() as converted:
        if "speculators_model_type" not in json.loads((folder / "config.json").read_text()):
            Eagle3Converter().convert(
                folder, converted, target, validate=False, eagle_aux_hidden_state_layer_ids=layers
            )
            folder = Path(converted)
        model = SpeculatorModel.from_pretrained(str(folder))
        if "embed_tokens.weight" not in load_file(folder / "model.safetensors"):
            # speculators 0.9 leaves it uninitialized, and takes the target's only where it is NaN
            model.embed_tokens.weight.fill_(torch.nan)
    model.load_verifier_weights()
    model.float().eval()
    found: list[Tensor] = []
    model.lm_head.register_forward_hook(lambda module, inputs, out: found.append(out[0]))
    ids, features = given["ids"][None], given["features"][None]
    document = torch.zeros_like(ids[:, 1:])
    model(features[:, :-1], ids[:, 1:], document, ttt_steps=STEPS)
    return torch.stack(found)


def modelopt(folder: Path, target: str, given: dict[str, Tensor], layers: list[int]) -> Tensor:
    """[heads, n, V]."""
    import modelopt.torch.speculative as mtsp
    from transformers import AutoModelForCausalLM

    config = json.loads((folder / "config.json").read_text())
    model: Any = AutoModelForCausalLM.from_pretrained(target, dtype=torch.float32)
    sizes = {name: config[name] for name in ("medusa_num_heads", "medusa_num_layers")}
    mtsp.convert(model, [("medusa", sizes)])
    model.medusa_heads.load_state_dict(torch.load(folder / "medusa_lm_head.pt", weights_only=True))
    return torch.stack([head(given["features"]) for head in model.medusa_heads])


def main() -> None:
    package, folder, target, given, answer, *layers = sys.argv[1:]
    read = {"speculators": speculators, "modelopt": modelopt}[package]
    with torch.no_grad():
        logits = read(Path(folder), target, load_file(given), [int(layer) for layer in layers])
    save_file({"logits": logits.contiguous()}, answer)


if __name__ == "__main__":
    main()
