"""`specchat heads export --verify`: the logits of what was written, by another package and by
ours."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor
from transformers import PreTrainedModel

from app.cli.heads import foreign_reader
from app.cli.heads.target import shape_of, target_shape
from app.text.plural import pluralize
from decoding.checkpoints.eagle_read import read_eagle
from decoding.checkpoints.medusa import read_medusa
from decoding.drafters.eagle_head import EagleHead
from decoding.drafters.medusa_heads import MedusaHeads
from decoding.errors import InputError
from decoding.model.target import Target
from decoding.training.eagle_unroll import unroll

TOLERANCE = 1e-4  # of the largest logit
ROWS = 128  # what speculators' attention of several steps takes a multiple of
# What reads each dialect outside its engine: the package, and what to install.
PACKAGES = {
    "speculators": ("speculators", "speculators"),
    "eagle3": ("speculators", "speculators"),
    "modelopt": ("speculators", "speculators"),
    "v0.1": ("modelopt", "nvidia-modelopt"),
}


def require_reader(python: Path, dialect: str) -> None:
    """Raise InputError unless that Python has a package that reads the dialect."""
    if dialect not in PACKAGES:
        raise InputError(
            f"--verify: no package but its engine reads {dialect}; speculators reads EAGLE-3, "
            "nvidia-modelopt Medusa heads with lm_heads of their own"
        )
    package, project = PACKAGES[dialect]
    try:
        found = subprocess.run([python, "-I", "-c", f"import {package}"], capture_output=True)
    except OSError as error:
        raise InputError(f"--verify: can't run {python}: {error.strerror}") from error
    if found.returncode:
        raise InputError(f"--verify: {python} has no {package}: {python} -m pip install {project}")


def verify(python: Path, dialect: str, out: Path, model: PreTrainedModel, target: str) -> str:
    """Compare the logits of the heads in `out`, in float32; returns a sentence. Raises InputError
    if they differ."""
    package, _ = PACKAGES[dialect]
    generator = torch.Generator().manual_seed(0)
    hidden, vocab = shape_of(model)
    ids = torch.randint(vocab, (ROWS + 1,), generator=generator)
    layers: Sequence[int] = ()
    with torch.no_grad():
        if package == "modelopt":
            features = torch.randn(ROWS, hidden, generator=generator)
            weights = read_medusa(out, hidden, vocab)
            own = list(MedusaHeads(weights, Target(model.float())).logits(features))
        else:
            head = read_eagle(out, target_shape(model))
            layers = head.config.aux_layers
            width = len(layers) * head.config.target_hidden
            features = torch.randn(ROWS + 1, width, generator=generator)
            module: Any = model.get_input_embeddings()
            built = EagleHead.build(head, module.weight.float(), lambda hidden: hidden).float()
            own = _steps(built, ids, features)
    theirs = _foreign(python, package, out, target, {"ids": ids, "features": features}, layers)
    # At step k of EAGLE the last k rows have no token.
    pairs = [(mine, their[: len(mine)]) for mine, their in zip(own, theirs, strict=True)]
    apart = max(float((mine - their).abs().max() / mine.abs().max()) for mine, their in pairs)
    if not apart <= TOLERANCE:
        raise InputError(f"{package} computes other logits from {out}: {apart:.2g} of the largest")
    what = "head" if package == "modelopt" else "step"
    return (
        f"{package} computes the same logits of {pluralize(len(own), what)}: they differ by at "
        f"most {apart:.1e} of the largest"
    )


def _steps(head: EagleHead, ids: Tensor, features: Tensor) -> list[Tensor]:
    """The logits of the first steps of drafts from all rows, without those past the text."""
    start = torch.arange(len(ids) - 1)
    outs = unroll(
        head, ids[None], features[None], torch.zeros_like(start), start, foreign_reader.STEPS
    )
    return [head.logits(hidden[: len(start) - k]) for k, hidden in enumerate(outs)]


def _foreign(
    python: Path,
    package: str,
    out: Path,
    target: str,
    given: dict[str, Tensor],
    layers: Sequence[int],
) -> Tensor:
    with tempfile.TemporaryDirectory() as folder:
        question, answer = Path(folder, "given.safetensors"), Path(folder, "answer.safetensors")
        save_file(given, question)
        script = str(foreign_reader.__file__)
        given_to = (script, package, out, target, question, answer, *layers)
        done = subprocess.run([python, "-I", *map(str, given_to)], capture_output=True, text=True)
        if done.returncode:
            lines = done.stderr.strip().splitlines() or ["it says nothing"]
            raise InputError(f"{package} can't read {out}: {lines[-1]}")
        return load_file(answer)["logits"]
