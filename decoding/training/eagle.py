"""Trains EAGLE heads on a frozen target, and evaluates them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import mul
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import Dataset
from transformers import EvalPrediction, PreTrainedModel

from decoding.checkpoints.eagle import EagleWeights
from decoding.drafters.eagle_head import EagleHead
from decoding.training.conversations import Example, collate
from decoding.training.eagle_model import STEPS, EagleTrainingModel
from decoding.training.evaluate import Answer
from decoding.training.log import rates
from decoding.training.optimizers import optimizer_of
from decoding.training.quantize import fake_quantize_layers, rounded
from decoding.training.train_config import TrainConfig
from decoding.training.trainer import train


@dataclass(frozen=True, slots=True)
class EagleReport:
    """A head after `step` training steps. `accuracy[k]`: its top-1 agreement with the target at
    drafting step k, given that all earlier steps agreed; `simulated`: τ of a chain with these
    accuracies; `served`: τ with the real decoder (None: not measured); `kept`: whether training
    ended with these weights."""

    step: int
    accuracy: tuple[float, ...]
    simulated: float
    served: float | None
    kept: bool = False


def train_eagle(
    target: PreTrainedModel,
    weights: EagleWeights,
    data: Dataset[Example],
    held_out: Dataset[Example],
    config: TrainConfig,
    work: Path,
    resume: bool = False,
    served: Callable[[EagleWeights], float] | None = None,
    steps: int = STEPS,
) -> tuple[EagleWeights, list[EagleReport]]:
    """Train the head; returns the best evaluated weights and a report of each evaluation on
    `held_out`.

    The best have the highest `served` (tokens per target pass with these weights; see
    `answer_prompts`), or else the highest simulated τ. `steps` are those of training-time test, for
    EAGLE-1 only of the evaluation. Checkpoints with the optimizer state go to `work`; `resume`
    continues from the newest one there.
    """
    model = EagleTrainingModel(target, weights, steps, config.loss or "kl")
    if config.qat:
        fake_quantize_layers(model.head, config.qat)

    def trained() -> EagleWeights:
        return EagleWeights(weights.dialect, weights.config, model.head.tensors(), weights.notes)

    def as_served() -> EagleWeights:
        found = trained()
        if config.qat:  # as the head computes here, and as it will be read
            found.tensors = rounded(found.tensors, config.qat)
        return found

    logged = train(
        model, data, held_out, config, work, resume,
        device=target.device,
        optimizer=lambda: optimizer_of(model, config.lr, config.muon_lr, fused=_fused(model.head)),
        metrics=_chain_metrics,
        describe=_describe,
        served=served,
        trained=as_served,
        best="simulated",
        adam_beta2=0.95,
        max_grad_norm=0.5,
    )  # fmt: skip
    return trained(), [_report(entry, steps) for entry in logged]


@torch.no_grad()
def chain_accuracy(
    target: PreTrainedModel, weights: EagleWeights, answers: Iterable[Answer], steps: int = STEPS
) -> tuple[float, ...]:
    """Return top-1 agreement with the target at each drafting step, given that all earlier steps
    agreed, along the target's `answers`."""
    model = EagleTrainingModel(target, weights, steps).eval()
    hits, counts = torch.zeros(steps), torch.zeros(steps)
    for answer in answers:
        example = Example.of_answer(answer.prompt, answer.ids)
        batch = {name: t.to(target.device) for name, t in collate([example]).items()}
        found = model(**batch)
        hits += found["hits"].sum(0).cpu()
        counts += found["counts"].sum(0).cpu()
    return tuple((hits / counts.clamp_min(1)).tolist())


def simulated_length(accuracy: Sequence[float]) -> float:
    """τ of a chain with these conditional accuracies: 1 (the bonus token) and the expected number
    of accepted tokens, Σ_k Π_{j≤k} accuracy_j."""
    return 1 + math.fsum(accumulate(accuracy, mul))


def _fused(head: EagleHead) -> dict[Tensor, list[int]]:
    """The rows of the matrices that each parameter consists of."""
    return {parameter: [size for _, size in parts] for parameter, parts in head.parts()}


def _chain_metrics(prediction: EvalPrediction) -> dict[str, float]:
    hits, counts = (torch.as_tensor(part).sum(0) for part in prediction.predictions)
    rates = (hits / counts.clamp_min(1)).tolist()
    found = {f"step{k}": round(rate, 5) for k, rate in enumerate(rates)}
    return found | {"simulated": round(simulated_length(rates), 5)}


def _describe(entry: Mapping[str, Any]) -> str:
    steps = sum(name.startswith("eval_step") and name[9:].isdigit() for name in entry)
    report = _report({"step": 0, **entry}, steps)
    return f"right {rates(report.accuracy)} · chain τ {report.simulated:.2f}"


def _report(entry: Mapping[str, Any], steps: int) -> EagleReport:
    accuracy = tuple(entry[f"eval_step{k}"] for k in range(steps))
    return EagleReport(
        entry["step"],
        accuracy,
        entry["eval_simulated"],
        entry.get("eval_served"),
        entry.get("kept", False),
    )
