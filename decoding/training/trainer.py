"""A Trainer for drafters: batches of similar length, checkpoints for any number of processes, and
the best weights at the end."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence, Sized
from contextlib import AbstractContextManager
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar, cast

import torch
from accelerate.utils import broadcast_object_list
from safetensors.torch import load_file
from torch import nn
from torch.distributed.fsdp import FSDPModule
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LambdaLR, LRScheduler
from torch.utils.data import Dataset
from transformers import (
    EvalPrediction,
    PrinterCallback,
    Trainer,
    TrainerCallback,
    TrainerControl,
    TrainerState,
    TrainingArguments,
)
from transformers.integrations.integration_utils import TensorBoardCallback

from decoding.errors import InputError
from decoding.training.conversations import Example
from decoding.training.features import collate_features, lengths_of
from decoding.training.length_grouped import LengthGrouped
from decoding.training.memory import keep_freed_memory
from decoding.training.precision import has_fast_bfloat16
from decoding.training.processes import is_first_process
from decoding.training.readable_log import ReadableLog
from decoding.training.sharding import full_tensor, save_full_state, shard_like, shard_rest
from decoding.training.train_config import TrainConfig, checkpoints, newest_checkpoint

Trained = TypeVar("Trained")


class HeadTrainer(Trainer):
    """Batches hold conversations of similar length, because padding costs as much as text; each of
    several processes takes a part of every batch. The counts of a model's `running` are logged with
    the loss. Checkpoints are the same for any number of processes, also of a sharded model."""

    def __init__(self, model: nn.Module, **more: Any) -> None:
        super().__init__(model=model, **more)
        if isinstance(model, FSDPModule):  # not to be copied to all processes
            prepare = self.accelerator.prepare_model
            self.accelerator.prepare_model = lambda model, **_: prepare(
                model, device_placement=False, evaluation_mode=True
            )

    def _get_train_sampler(self, train_dataset: Any = None) -> LengthGrouped:
        lengths = lengths_of(self.train_dataset)
        return LengthGrouped(lengths, self._train_batch_size, self.args.seed)

    def autocast_smart_context_manager(
        self, cache_enabled: bool | None = True
    ) -> AbstractContextManager[Any]:
        """Bfloat16 in training, where that is fast. An evaluation computes as decoding does: in
        rounded logits near ties are hits or misses that decoding does not have."""
        device, model = self.args.device, cast(nn.Module, self.model)
        rounds = model.training and has_fast_bfloat16(device)
        return torch.autocast(device.type, torch.bfloat16, rounds)

    def get_batch_samples(self, *args: Any, **more: Any) -> tuple[list[Any], Any]:
        samples, items = super().get_batch_samples(*args, **more)
        if samples:
            model: Any = self.model
            model.begin_step([batch["labels"].to(self.args.device) for batch in samples])
        return samples, items

    def _run_epoch(self, *args: Any, **more: Any) -> None:
        if self.state.global_step < self.state.max_steps:  # also if it is resumed at its end
            super()._run_epoch(*args, **more)  # type: ignore[no-untyped-call]

    def log(self, logs: dict[str, Any], start_time: float | None = None) -> None:
        if "loss" in logs:
            model: Any = self.model
            logs |= model.running.collect()
        self._require_numbers(logs)
        super().log(logs, start_time)

    def _require_numbers(self, logs: Mapping[str, Any]) -> None:
        """Raise InputError if a loss is none. Evaluations are logged before what they are of is
        saved, so that no checkpoint has such weights."""
        losses = {name: value for name, value in logs.items() if "loss" in name}
        if not all(map(math.isfinite, losses.values())):
            raise InputError(
                f"at step {self.state.global_step} the loss is no longer a number: begin anew with "
                f"a learning rate below {self.args.learning_rate:g}"
            )

    def create_optimizer(self, model: Any = None) -> Optimizer:
        optimizer: Optimizer = super().create_optimizer(model)
        save_full_state(optimizer)
        return optimizer

    def create_scheduler(
        self, num_training_steps: int, optimizer: Optimizer | None = None
    ) -> LRScheduler:
        if self.lr_scheduler is None:
            warmup = self.args.get_warmup_steps(num_training_steps)
            factor = partial(rate_factor, warmup=warmup, steps=num_training_steps)
            self.lr_scheduler = LambdaLR(cast(Optimizer, optimizer or self.optimizer), factor)
            self._created_lr_scheduler = True
        return self.lr_scheduler

    def save_model(self, output_dir: str | None = None, _internal_call: bool = False) -> None:
        model: Any = self.model
        # Each parameter once, also if it is shared, because safetensors rejects shared tensors.
        weights = {name: full_tensor(p.detach()) for name, p in model.named_parameters()}
        if self.args.should_save:
            self._save(output_dir, state_dict=weights)

    def _save_optimizer_and_scheduler(self, output_dir: str) -> None:
        optimizer: Any = self.optimizer
        if not self.args.should_save:
            optimizer.state_dict()  # gathered by all, saved by one
        super()._save_optimizer_and_scheduler(output_dir)

    @torch.no_grad()
    def _load_from_checkpoint(self, resume_from_checkpoint: str, model: Any = None) -> None:
        model, file = self.model, Path(resume_from_checkpoint, "model.safetensors")
        saved, mine = load_file(file), dict(model.named_parameters())
        if {n: t.shape for n, t in saved.items()} != {n: p.shape for n, p in mine.items()}:
            raise InputError(f"{file} is of other heads: choose a new folder")
        for name, parameter in mine.items():
            parameter.copy_(shard_like(saved[name].to(parameter.device), parameter))

    def _load_best_model(self) -> None:
        self._load_from_checkpoint(str(self.state.best_model_checkpoint))


def train(
    model: nn.Module,
    data: Dataset[Example],
    held_out: Dataset[Example],
    config: TrainConfig,
    work: Path,
    resume: bool,
    *,
    device: torch.device,
    optimizer: Callable[[], Optimizer | None],
    metrics: Callable[[EvalPrediction], dict[str, float]],
    describe: Callable[[Mapping[str, Any]], str],
    served: Callable[[Trained], float] | None,
    trained: Callable[[], Trained],
    best: str | None = None,
    **arguments: Any,
) -> list[dict[str, Any]]:
    """Train `model`; returns the log entries of its evaluations on `held_out`. They have `metrics`
    and, if given, τ as `served` measures it of the weights `trained` so far. With `best` the
    weights of the highest served τ are restored at the end, or else of the highest value of this
    metric; `kept` says of each entry whether its weights are those at the end. The first entry is
    of the weights it began with, which are not kept: a line on stderr says if they were better.
    Checkpoints go to `work`; `resume` continues from the newest one there. If `config` shards the
    model, its weights are whole again at the end."""

    def measured(prediction: EvalPrediction) -> dict[str, float]:
        measures = metrics(prediction)
        if served is None:
            return measures
        # What is learned next does not depend on whether anything is served.
        with torch.random.fork_rng([device] if device.type == "cuda" else []):
            weights = trained()
            # The processes must agree on the best weights, and rounding may differ between them.
            τ = [served(weights) if is_first_process() else 0.0]
        broadcast_object_list(τ)
        return measures | {"served": τ[0]}

    if device.type == "cpu":
        keep_freed_memory()
    if config.shard:
        shard_rest(model, device)
    if best:
        arguments |= {
            "load_best_model_at_end": True,
            "metric_for_best_model": "served" if served else best,
            "greater_is_better": True,
        }
    begun = newest_checkpoint(work) if resume else None
    training_arguments = config.arguments(work, device, eval_on_start=begun is None, **arguments)
    config.require_full_batch(len(cast(Sized, data)), training_arguments.world_size)
    longest = max(chain(lengths_of(data), lengths_of(held_out)), default=0)
    trainer = HeadTrainer(
        model=model,
        args=training_arguments,
        train_dataset=data,
        eval_dataset=held_out,
        data_collator=partial(collate_features, limit=longest),
        compute_metrics=measured,
        optimizers=(optimizer(), None),
        callbacks=[ReadableLog(describe, config.stage), _BestSoFar(), *_tensorboard(config)],
    )
    trainer.remove_callback(PrinterCallback)
    trainer.train(resume_from_checkpoint=begun)
    if isinstance(model, FSDPModule):
        model.unshard()
    state = trainer.state
    last = state.best_global_step if best else state.global_step
    logged = [entry for entry in state.log_history if "eval_loss" in entry]
    entries = [entry | {"kept": entry["step"] == last} for entry in logged]
    if state.is_world_process_zero:
        _warn_if_worse(entries, "served" if served else best, describe)
    return entries


def rate_factor(step: int, *, warmup: int, steps: int) -> float:
    """Return the share of the learning rate in a step, counted from 0: a linear warm-up, then a
    cosine to 0. The Trainer's own begins at 0, so that its first step learns nothing."""
    if step < warmup:
        return (step + 1) / warmup
    return (1 + math.cos(math.pi * (step - warmup) / max(steps - warmup, 1))) / 2


def _warn_if_worse(
    entries: Sequence[Mapping[str, Any]],
    metric: str | None,
    describe: Callable[[Mapping[str, Any]], str],
) -> None:
    kept = next((entry for entry in entries if entry["kept"]), None)
    first = next((entry for entry in entries if entry["step"] == 0), None)
    if metric is None or kept is None or first is None:
        return
    if first[f"eval_{metric}"] > kept[f"eval_{metric}"]:
        before, now = (
            f"served τ {entry['eval_served']:.2f}" if metric == "served" else describe(entry)
            for entry in (first, kept)
        )
        print(
            f"the weights that training began with were better ({before}, now {now}): a lower "
            "learning rate may help",
            file=sys.stderr,
        )


def _tensorboard(config: TrainConfig) -> list[TrainerCallback]:
    if config.tensorboard is None:
        return []
    board = TensorBoardCallback()
    board.logging_dir = str(config.tensorboard)
    return [board]


class _BestSoFar(TrainerCallback):
    """Finds the best checkpoint of a resumed training by the metric of now. The state has only the
    best value, and that may be of another one: without the target at hand no τ is served."""

    def on_train_begin(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        **kwargs: object,
    ) -> None:
        metric = f"eval_{args.metric_for_best_model}"
        kept = checkpoints(Path(str(args.output_dir)))
        values = {int(each["step"]): each[metric] for each in state.log_history if metric in each}
        best = max(kept.keys() & values, key=values.__getitem__, default=None)
        state.best_global_step = best
        state.best_metric = None if best is None else values[best]
        state.best_model_checkpoint = None if best is None else str(kept[best])
