"""`specchat heads quantize`: the same heads, draft model or both with smaller weights."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

from app.cli.heads.evaluation import Task, comparison, evaluate, weight_bytes
from app.cli.heads.target import load
from app.cli.terminal import print_output, say
from app.text.units import format_bytes
from decoding.checkpoints.files import read_config, read_tensors, write_checkpoint
from decoding.checkpoints.kind import drafter_kind
from decoding.checkpoints.medusa import is_merged
from decoding.checkpoints.quantized import Precision, quantization_config
from decoding.errors import InputError
from decoding.training.draft import divergence
from decoding.training.quantize import quantize

_BESIDE = (".json", ".jinja", ".model", ".txt")  # a model's tokenizer and settings


def quantize_to(heads: Path, to: Precision, out: Path, task: Task | None) -> None:
    """Write the heads with quantized weights, in their dialect, and what that changed as the `task`
    measures it. Heads merged with their model are measured on it. Raises InputError."""
    kind = drafter_kind(heads)
    config = read_config(heads)
    merged = kind == "medusa" and is_merged(heads)
    if "quantization_config" in config:
        raise InputError(f"{heads} is quantized already: give the heads that it was made from")
    tensors = quantize(read_tensors(heads, lambda name: True), to)
    whole = merged or kind != "medusa" or (heads / "model.safetensors").exists()
    file = "model.safetensors" if whole else "medusa_lm_head.safetensors"
    write_checkpoint(out, file, tensors, config | quantization_config(to))
    if merged or kind == "draft":
        for path in heads.iterdir():
            known = path.name == "config.json" or path.name.endswith(".index.json")
            if path.suffix in _BESIDE and not known:
                shutil.copy(path, out)
    before, after = weight_bytes(heads), weight_bytes(out)
    say(f"{to} weights in {out}: {format_bytes(after)}, were {format_bytes(before)}")
    if task is not None:
        both = [
            (name, evaluate(replace(task, target=str(each)) if merged else task, each))
            for name, each in (("before", heads), (to, out))
        ]
        if merged:
            reference, _ = load(task.target, task.device)
            for _, found in both:
                model, _ = load(str(found.heads), task.device)
                found.facts.update(divergence(reference, model, both[0][1].answers))
        print_output(comparison(both))
