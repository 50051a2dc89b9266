"""A small training loop: bfloat16 autocast, atomic checkpoints, exact resume.

Under `torchrun` every process takes its part of the rows of a step, and gradients are averaged. On
a CPU a process a core is faster than as many threads, and gives way to other work more gracefully.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path

import torch
from torch import distributed, nn

from decoding.training.memory import keep_freed_memory
from decoding.training.muon import Muon
from decoding.training.precision import has_fast_bfloat16
from decoding.training.processes import is_first_process


@dataclass(frozen=True)
class LoopConfig:
    """How to train; every field is also a command-line option (see `add_options`)."""

    steps: int = 1000
    lr: float = 2e-3
    muon_lr: float = 0.0  # above 0: weight matrices of the layers are trained by Muon
    warmup: int = 50
    decay: float = 0.25  # the last share of the steps, over which the learning rate falls
    min_lr: float = 0.02  # what it falls to, as a share of the highest
    weight_decay: float = 0.1
    clip: float = 1.0
    log_every: int = 20
    save_every: int = 200
    eval_every: int = 500
    seed: int = 0
    bf16: bool = True  # where the device is fast at it


def add_options(parser: argparse.ArgumentParser, defaults: LoopConfig | None = None) -> None:
    defaults = defaults or LoopConfig()
    for field in fields(LoopConfig):
        value = getattr(defaults, field.name)
        action = (
            {"action": argparse.BooleanOptionalAction} if value is True else {"type": type(value)}
        )
        parser.add_argument("--" + field.name.replace("_", "-"), default=value, **action)


def config_from(args: argparse.Namespace) -> LoopConfig:
    return LoopConfig(**{field.name: getattr(args, field.name) for field in fields(LoopConfig)})


def schedule(step: int, config: LoopConfig) -> float:
    """Warm-up, stable, decay (MiniCPM, 2404.06395), all linear. While it is stable nothing depends
    on the number of steps: a run can be made longer, and be ended from any of its checkpoints."""
    if step < config.warmup:
        return (step + 1) / config.warmup
    length = max(1.0, config.decay * config.steps)
    left = min(1.0, (config.steps - step) / length)
    return config.min_lr + (1 - config.min_lr) * left


def join_processes() -> None:
    """Meet the other processes, if `torchrun` started this one; to be called first."""
    if "WORLD_SIZE" in os.environ:
        distributed.init_process_group("gloo")


def own_rows(rows: torch.Tensor) -> torch.Tensor:
    """The part of a batch that this process learns from."""
    if not distributed.is_initialized():
        return rows
    return rows[distributed.get_rank() :: distributed.get_world_size()]


def average_gradients(parameters: list[nn.Parameter]) -> None:
    """The mean of all processes' gradients, in every one of them."""
    if not distributed.is_initialized():
        return
    gradients = [p.grad for p in parameters if p.grad is not None]
    together = nn.utils.parameters_to_vector(gradients)
    distributed.all_reduce(together)
    nn.utils.vector_to_parameters(together / distributed.get_world_size(), gradients)


def build_optimizers(model: nn.Module, config: LoopConfig) -> list[torch.optim.Optimizer]:
    """AdamW; with `muon_lr`, Muon for the matrices inside the layers and AdamW for the rest."""
    named = [(name, p) for name, p in model.named_parameters() if p.requires_grad]
    matrices = [p for name, p in named if p.ndim == 2 and ".layers." in f".{name}"]
    others = [p for name, p in named if not (p.ndim == 2 and ".layers." in f".{name}")]
    optimizers: list[torch.optim.Optimizer] = []
    if config.muon_lr > 0:
        together = distributed.is_initialized()
        muon = Muon(matrices, config.muon_lr, config.weight_decay, together=together)
        optimizers.append(muon)
    else:
        others = matrices + others
    decay = [p for p in others if p.ndim >= 2]
    groups = [
        {"params": decay, "weight_decay": config.weight_decay},
        {"params": [p for p in others if p.ndim < 2], "weight_decay": 0.0},
    ]
    optimizers.append(torch.optim.AdamW(groups, lr=config.lr, betas=(0.9, 0.95), fused=True))
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            group["initial_lr"] = group["lr"]
    return optimizers


def train(
    model: nn.Module,
    loss_of: Callable[[int], torch.Tensor],
    config: LoopConfig,
    out: Path,
    evaluate: Callable[[], dict[str, float]] | None = None,
    stop_at: int | None = None,
) -> dict[str, float]:
    """Run the steps that are left of `config.steps`; returns the last evaluation.

    `loss_of(step)` builds the batch of a step and gives its mean loss. The state is kept in
    `out/checkpoint.pt`, the log in `out/log.jsonl`; `stop_at` ends early, as a kill would.
    """
    out.mkdir(parents=True, exist_ok=True)
    optimizers = build_optimizers(model, config)
    first = _resume(out / "checkpoint.pt", model, optimizers)
    device = next(model.parameters()).device
    if device.type == "cpu":
        keep_freed_memory()
    half = config.bf16 and has_fast_bfloat16(device)
    parameters = [p for p in model.parameters() if p.requires_grad]
    model.train()
    # The sum of the losses stays on the device: reading each would wait for every step.
    started, since, total = time.monotonic(), 0, torch.zeros((), device=device)
    result: dict[str, float] = {}
    for step in range(first, config.steps if stop_at is None else stop_at):
        torch.manual_seed(config.seed * 1_000_003 + step)  # a resumed run draws the same numbers
        with torch.autocast(device.type, dtype=torch.bfloat16, enabled=half):
            loss = loss_of(step)
        loss.backward()
        average_gradients(parameters)
        nn.utils.clip_grad_norm_(parameters, config.clip)
        for optimizer in optimizers:
            for group in optimizer.param_groups:
                group["lr"] = group["initial_lr"] * schedule(step, config)
            optimizer.step()
            optimizer.zero_grad()
        total, since, done = total + loss.detach().float(), since + 1, step + 1
        last = done == config.steps
        if not is_first_process():
            continue
        if done % config.log_every == 0 or last:
            mean = total.item() / since  # waits for the device, so before the clock is read
            seconds = (time.monotonic() - started) / since
            _log(out, {"step": done, "loss": mean, "seconds_per_step": seconds})
            started, since, total = time.monotonic(), 0, torch.zeros_like(total)
        if evaluate is not None and (done % config.eval_every == 0 or last):
            model.eval()
            with torch.no_grad():
                result = evaluate()
            model.train()
            if result:
                _log(out, {"step": done, **result})
        if done % config.save_every == 0 or last:
            _save(out / "checkpoint.pt", done, model, optimizers)
    model.eval()
    return result


def round_to_bfloat16(model: nn.Module) -> None:
    """Round the weights in place to what a bfloat16 file will hold, still as float32. The tiny ones
    are also rounded to float16's, so that a copy in float16 needs no scaling."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(parameter.bfloat16().half().bfloat16().float())


def _log(out: Path, entry: dict[str, float]) -> None:
    line = json.dumps({key: round(value, 5) for key, value in entry.items()})
    print(line, flush=True)
    with (out / "log.jsonl").open("a", encoding="utf-8") as log:
        log.write(line + "\n")


def _save(path: Path, step: int, model: nn.Module, optimizers: list[torch.optim.Optimizer]) -> None:
    state = {
        "step": step,
        "model": model.state_dict(),
        "optimizers": [optimizer.state_dict() for optimizer in optimizers],
    }
    torch.save(state, path.with_suffix(".tmp"))
    os.replace(path.with_suffix(".tmp"), path)


def _resume(path: Path, model: nn.Module, optimizers: list[torch.optim.Optimizer]) -> int:
    if not path.exists():
        return 0
    state = torch.load(path, map_location="cpu", weights_only=True)
    model.load_state_dict(state["model"])
    if state["optimizers"] is not None:  # None after growing: they start anew
        for optimizer, saved in zip(optimizers, state["optimizers"], strict=True):
            optimizer.load_state_dict(saved)
    return int(state["step"])
