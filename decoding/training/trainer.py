"""A Trainer for drafters: batches of similar length, and a readable log."""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable, Mapping, Sequence, Sized
from contextlib import AbstractContextManager
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar, cast

import torch
from safetensors.torch import load_file
from torch import Tensor, distributed, nn
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
from decoding.training.log import LOG, losses, rates, time_left
from decoding.training.memory import keep_freed_memory
from decoding.training.precision import has_fast_bfloat16
from decoding.training.sharding import full_tensor, save_full_state, shard_like, shard_rest
from decoding.training.train_config import TrainConfig, checkpoints, newest_checkpoint

Trained = TypeVar("Trained")


class TrainingModel(nn.Module):
    """A drafter's loss has parts, each a mean over tokens of answers. In training it is one over
    all batches of a step: else tokens in batches of short answers would weigh more."""

    def __init__(self) -> None:
        super().__init__()
        self._divisors: Tensor | None = None  # of the current step

    def counts(self, labels: Tensor) -> Tensor:
        """Return how many tokens of a batch with these labels each part of the loss is over
        [parts]."""
        raise NotImplementedError

    def begin_step(self, batches: Sequence[Tensor]) -> None:
        """Take the labels of the batches that make up the next step."""
        total = torch.stack([self.counts(labels) for labels in batches]).sum(0)
        # The Trainer divides each batch's loss by the number of batches.
        self._divisors = per_process(total) / len(batches)

    def divisors_for(self, labels: Tensor) -> Tensor:
        """Return the divisors of the sums of a batch, [parts]: the step's, or out of training its
        own."""
        if self.training and self._divisors is not None:
            return self._divisors.to(labels.device)
        return per_process(self.counts(labels))


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
            return measures | {"served": served(trained())}

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
        callbacks=[_ReadableLog(describe, config.stage), _BestSoFar(), *_tensorboard(config)],
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


class RunningCounts:
    """Counts on the device how often each head or drafting step was right, its losses, and the
    tokens read, since the last `collect`."""

    def __init__(self, heads: int, device: torch.device) -> None:
        self._hits = torch.zeros(heads, device=device)
        self._total = torch.zeros(heads, device=device)
        self._losses = torch.zeros(heads, device=device)
        self._batches = torch.zeros(heads, device=device)
        self._tokens = torch.zeros(1, device=device)

    @torch.no_grad()
    def add(self, head: int, right: Tensor, loss: Tensor) -> None:
        """`loss` is the batch's sum by a divisor of `TrainingModel`."""
        self._hits[head] += right.sum()
        self._total[head] += right.numel()
        self._losses[head] += loss.detach()
        self._batches[head] += 1

    def count_tokens(self, attention_mask: Tensor) -> None:
        self._tokens += attention_mask.sum()

    def collect(self) -> dict[str, float]:
        """`accuracy_1` and `loss_1` of the first head or step, and so on, and the number of
        `tokens`, over all processes; resets the counts."""
        by_head = (self._hits, self._total, self._losses, self._batches)
        counts = torch.cat([*by_head, self._tokens])
        for count in (*by_head, self._tokens):
            count.zero_()
        if distributed.is_initialized():
            distributed.all_reduce(counts)
        means: dict[str, float] = {"tokens": int(counts[-1])}
        rows = counts[:-1].view(4, -1).T.tolist()
        for head, (right, total, loss, batches) in enumerate(rows, 1):
            if total:
                means[f"accuracy_{head}"] = round(right / total, 3)
                means[f"loss_{head}"] = round(loss / batches, 4)
        return means


def rate_factor(step: int, *, warmup: int, steps: int) -> float:
    """Return the share of the learning rate in a step, counted from 0: a linear warm-up, then a
    cosine to 0. The Trainer's own begins at 0, so that its first step learns nothing."""
    if step < warmup:
        return (step + 1) / warmup
    return (1 + math.cos(math.pi * (step - warmup) / max(steps - warmup, 1))) / 2


def per_process(count: Tensor) -> Tensor:
    """Return the divisor of a process's sum, such that the mean of all processes' gradients equals
    that of one process with the whole batch."""
    if distributed.is_initialized():
        count = count.clone().float()
        distributed.all_reduce(count)
        return count.clamp_min(1) / distributed.get_world_size()
    return count.clamp_min(1)


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


class _ReadableLog(TrainerCallback):
    """Writes one line per report to stderr and, as JSON for `training_log`, beside the
    checkpoints."""

    def __init__(self, describe: Callable[[Mapping[str, Any]], str], stage: str) -> None:
        self._describe = describe
        self._stage = stage
        self._began = (0, 0.0)  # step, time
        self._learning_since = 0.0
        self._tokens = 0
        self._learned = 0.0  # seconds, without those of evaluations

    def on_train_begin(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        **kwargs: object,
    ) -> None:
        self._learning_since = time.monotonic()
        self._began = (state.global_step, self._learning_since)

    def on_evaluate(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        **kwargs: object,
    ) -> None:
        self._learning_since = time.monotonic()
        if state.global_step == self._began[0]:
            self._began = (state.global_step, self._learning_since)

    def on_log(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        logs: Mapping[str, Any] | None = None,
        **kwargs: object,
    ) -> None:
        if not state.is_world_process_zero or not logs:
            return
        step, steps = state.global_step, state.max_steps
        entry: dict[str, Any] = {"time": time.time(), "step": step, "steps": steps}
        entry |= {"stage": self._stage} if self._stage else {}
        if "loss" in logs:
            entry |= {"loss": logs["loss"], "tokens": logs["tokens"]}
            for name, by_head in (("losses", "loss_"), ("accuracy", "accuracy_")):
                entry[name] = [value for key, value in logs.items() if key.startswith(by_head)]
            line = f"step {step}/{steps} · {self._line(state, entry, logs['learning_rate'])}"
        elif "eval_loss" in logs:
            words, served = self._describe(logs), logs.get("eval_served")
            words += "" if served is None else f" · served τ {served:.2f}"
            line = f"step {step} held out · {words}"
            entry |= {"held_out": words, "served": served}
        else:
            return
        print(line, file=sys.stderr, flush=True)
        work = Path(str(args.output_dir))
        work.mkdir(parents=True, exist_ok=True)
        with (work / LOG).open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")

    def _line(self, state: TrainerState, entry: Mapping[str, Any], lr: float) -> str:
        first, began = self._began
        now = time.monotonic()
        self._tokens += entry["tokens"]
        self._learned += now - self._learning_since
        self._learning_since = now
        left = (now - began) / max(state.global_step - first, 1)
        left *= state.max_steps - state.global_step
        rate = self._tokens / self._learned
        return (
            f"loss {losses(entry)} · right {rates(entry['accuracy'])} · lr {lr:.1e} · "
            f"{rate:,.0f} tokens/s · {time_left(left, self._stage)}"
        )
