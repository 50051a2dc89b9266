"""Medusa-2: trains the target together with its heads.

Cai et al. 2024 (2401.10774), section 2.2.2: the loss includes the target's own cross entropy, the
target has a smaller learning rate, and the heads are first trained alone, because the large losses
of untrained heads would damage the target.

With `qat` both compute with rounded weights from the beginning, and the target learns nothing but
the distributions that it had unrounded (self-distillation).
"""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path

from torch import nn
from torch.utils.data import Dataset
from transformers import PreTrainedModel

from decoding.checkpoints.medusa import MedusaWeights, read_medusa, write_medusa
from decoding.training.conversations import Example
from decoding.training.medusa import train_medusa
from decoding.training.medusa_attach import copies_of_lm_head
from decoding.training.processes import is_first_process
from decoding.training.quantize import fake_quantize_layers
from decoding.training.train_config import TrainConfig

_STAGES = ("heads", "both")


def train_joint(
    target: PreTrainedModel,
    weights: MedusaWeights,
    data: Dataset[Example],
    held_out: Dataset[Example],
    config: TrainConfig,
    work: Path,
    resume: bool = False,
) -> MedusaWeights:
    """Train the heads alone, then, for as long again, both; the target is changed in place.

    Returns the heads with their own lm_heads and their accuracies on `held_out`. With `qat` the
    target goes on to compute rounded; its parameters are those to be quantized. Each stage has its
    checkpoints in a folder in `work`; `resume` continues from the newest one. The heads of the
    first stage, for the original target, are kept there.
    """
    precision, teacher = target.dtype, None
    if config.qat:
        teacher = copy.deepcopy(target).requires_grad_(False).eval()
        fake_quantize_layers(target, config.qat)
    target.float()  # the target's small updates would vanish in half precision
    stage = work / "heads"
    if resume and (stage / "config.json").is_file():
        heads = read_medusa(stage, weights.hidden, target.get_output_embeddings().out_features)
    else:
        # A shared lm_head (with tied weights also the embedding) would be changed by all heads.
        own = weights.lm_heads
        own = copies_of_lm_head(target, weights.heads) if own is None else own
        heads, alone = replace(weights, lm_heads=own), replace(_of(config, "heads"), target_lr=0.0)
        heads = train_medusa(target, heads, data, held_out, alone, stage, resume)
        if is_first_process():
            write_medusa(heads, stage, "v0.1", str(target.name_or_path))
    config = _of(config, "both")
    both = train_medusa(
        target, heads, data, held_out, config, work / "both", resume, teacher=teacher
    )
    nn.Module.to(target, precision)
    return both


def _of(config: TrainConfig, stage: str) -> TrainConfig:
    """The config of a stage, whose steps begin at 0 again."""
    board, number = config.tensorboard, _STAGES.index(stage) + 1
    return replace(
        config,
        tensorboard=board / stage if board else None,
        stage=f"{number} of {len(_STAGES)}",
    )
