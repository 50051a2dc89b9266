"""Settings for training drafters with the Hugging Face Trainer."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import TrainingArguments

from decoding.checkpoints.quantized import Precision
from decoding.errors import ParameterError
from decoding.json_text import parse_json
from decoding.training.losses import Loss

WARMUP = 0.05  # share of the steps


def checkpoints(work: Path) -> dict[int, Path]:
    """Return the complete checkpoints in a Trainer's folder, by their steps. Interrupted ones lack
    the state, which is written last."""
    found = {}
    for state in filter(_is_whole, work.glob("checkpoint-*/trainer_state.json")):
        step = state.parent.name.removeprefix("checkpoint-")
        if step.isdecimal():
            found[int(step)] = state.parent
    return found


def newest_checkpoint(work: Path) -> str | None:
    found = checkpoints(work)
    return str(found[max(found)]) if found else None


def _is_whole(state: Path) -> bool:
    try:
        return isinstance(parse_json(state.read_bytes()), dict)
    except (OSError, ValueError):
        return False


@dataclass(frozen=True, slots=True)
class TrainConfig:
    """Length and learning rates. `steps` 0 means whole epochs, `target_lr` 0 a frozen target, and
    `muon_lr` 0 only AdamW. `loss` None is the published one: ce for Medusa, kl for others. `qat`:
    the precision of fake quantization. `shard`: each process holds a part of what is trained.
    `warmup`: steps in which the rates rise, or below 1 their share of all. `tensorboard`: the
    folder for its event files. `stage`: which one of several, such as `1 of 2`.
    """

    steps: int = 0
    epochs: float = 1.0
    lr: float = 1e-3
    target_lr: float = 0.0
    muon_lr: float = 0.0
    batch_size: int = 8
    accumulate: int = 1
    warmup: float = WARMUP
    evaluate_every: int = 200
    seed: int = 0
    qat: Precision | None = None
    loss: Loss | None = None
    shard: bool = False
    tensorboard: Path | None = None
    stage: str = ""

    def total_steps(self, conversations: int) -> int:
        """Steps of a run over so many conversations."""
        return self.steps or round(self.epochs * conversations / self.batch_size / self.accumulate)

    def require_shares(self, processes: int) -> None:
        """Raise InputError unless so many processes can share a batch."""
        if self.batch_size % processes:
            raise ParameterError(
                "batch_size",
                f" {self.batch_size}: {processes} processes share each batch, give a multiple of "
                f"{processes}",
            )

    def require_full_batch(self, conversations: int, processes: int) -> None:
        """Raise InputError if several processes had too few conversations for a batch: Accelerate
        would fill it up with some of them again."""
        if processes > 1 and conversations < self.batch_size:
            raise ParameterError(
                "batch_size",
                f" {self.batch_size}: there are only {conversations} conversations for {processes} "
                "processes to share, give a smaller batch",
            )

    def require_steps_after_warmup(self, conversations: int) -> None:
        """Raise InputError if a run over so many conversations would end while its rates rise."""
        steps = self.total_steps(conversations)
        if self.warmup >= max(steps, 1) and self.warmup > 1:
            raise ParameterError(
                "warmup",
                f" {self.warmup:g}: the training has only {steps} steps, give fewer or a share "
                "below 1",
            )

    def arguments(self, work: Path, device: torch.device, **more: Any) -> TrainingArguments:
        """Trainer arguments: an evaluation and a checkpoint in `work` every `evaluate_every` steps,
        and `more`. Raises InputError for a batch that the processes can't share."""
        arguments = TrainingArguments(
            output_dir=str(work),
            max_steps=self.steps or -1,
            num_train_epochs=self.epochs,
            learning_rate=self.lr,
            warmup_steps=self.warmup,
            per_device_train_batch_size=self.batch_size,
            per_device_eval_batch_size=self.batch_size,
            gradient_accumulation_steps=self.accumulate,
            weight_decay=0.0,
            use_cpu=device.type == "cpu",
            eval_strategy="steps",
            eval_steps=self.evaluate_every,
            save_strategy="steps",
            save_steps=self.evaluate_every,
            save_total_limit=2,
            logging_nan_inf_filter=False,  # which would log them as 0
            logging_steps=max(self.evaluate_every // 10, 1),
            disable_tqdm=True,
            # A batch is that of the whole step, of which each process takes its part.
            accelerator_config={"split_batches": True},
            label_names=["labels"],
            remove_unused_columns=False,
            dataloader_pin_memory=device.type != "cpu",
            report_to="none",
            seed=self.seed,
            **more,
        )
        self.require_shares(arguments.world_size)
        arguments.mixed_precision = "no"  # else that of accelerate: HeadTrainer has its own
        # One GPU: replicas would lack the frozen target, which is not a submodule.
        arguments._n_gpu = min(arguments.n_gpu, 1)
        return arguments
