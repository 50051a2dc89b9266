"""Trains Medusa heads.

Cai et al. 2024 (2401.10774): the target is frozen (Medusa-1), the loss is the heads' cross
entropies on the tokens two, three, ... positions ahead, head k weighted by 0.8^k. Other `losses`
use the target's distributions there. Or the target is trained with them (Medusa-2, see joint.py):
its own cross entropy is added, and the heads count a fifth, as in the paper.

Without the target's loss the fifth would only make the gradients so small that clipping leaves the
large first ones alone, and Adam would remember those: in 200 steps the heads come out 2 to 4%
worse.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.optim import AdamW, Optimizer
from torch.utils.data import Dataset
from transformers import EvalPrediction, PreTrainedModel

from decoding.checkpoints.medusa import MedusaWeights
from decoding.checkpoints.quantized import Precision
from decoding.errors import InputError
from decoding.model.output_head import logits_of
from decoding.training.conversations import IGNORED, Example
from decoding.training.evaluate import RANKS
from decoding.training.features import features_of, final_states
from decoding.training.log import rates
from decoding.training.losses import Loss, compare, likeliest, token_loss
from decoding.training.optimizers import optimizer_of
from decoding.training.quantize import fake_quantizer
from decoding.training.shapes import pad_rows
from decoding.training.train_config import TrainConfig
from decoding.training.trainer import train
from decoding.training.training_model import RunningCounts, TrainingModel


def require_trainable(weights: MedusaWeights) -> None:
    """Raise InputError for heads that can't be trained."""
    if weights.token_map is not None:
        raise InputError("heads with a truncated vocabulary (token_map) can't be trained")


class MedusaTrainingModel(TrainingModel):
    """Medusa heads on a target that is frozen or, if `joint`, also trained, by the distributions of
    its `teacher` or else by the answers' tokens. The state dict has only what is trained."""

    def __init__(
        self,
        target: PreTrainedModel,
        weights: MedusaWeights,
        joint: bool = False,
        qat: Precision | None = None,
        loss: Loss = "ce",
        teacher: PreTrainedModel | None = None,
    ) -> None:
        super().__init__()
        require_trainable(weights)
        self.joint = joint
        self._loss = loss
        self._rounded = fake_quantizer(qat, weights.hidden) if qat else None
        self._rounded_lm_head = fake_quantizer(qat, weights.hidden, "lm_head") if qat else None
        self._target = [target.requires_grad_(joint).eval()]  # in a list: not a submodule
        self._teacher = [teacher]
        # each parameter once, also where the lm_head is tied: safetensors takes no shared tensors
        self.of_target = nn.ParameterList(target.parameters() if joint else ())
        self.weights = _parameter(weights.weights, target.device)
        self.biases = _parameter(weights.biases, target.device)
        lm_heads = weights.lm_heads
        self.lm_heads = None if lm_heads is None else _parameter(lm_heads, target.device)
        self.running = RunningCounts(len(self.weights), target.device)

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, labels: Tensor, final: Tensor | None = None
    ) -> dict[str, Tensor]:
        """`loss`, and in evaluation `hits` [batch, heads, RANKS] (correct guesses of each rank) and
        `counts` [batch, heads] (tokens). The target runs unless its states `final` are given."""
        if self.training:
            self.running.count_tokens(attention_mask)
        losses, hits, counts = [], [], []
        divisors = self.divisors_for(labels)
        if final is None:
            hidden, own_loss = self._states(input_ids, labels, divisors[0])
            losses.append(own_loss)
        else:
            hidden = final
        # the state at t saw token t; the target predicts t+1, head k predicts t+2+k
        is_answer, *rows_of_heads = _supervised_rows(labels, len(self.weights))
        tokens = labels[:, 1:][is_answer]
        targets = tokens if self._loss == "ce" else self._probabilities(hidden[:, :-1][is_answer])
        indices = is_answer.flatten().cumsum(0).view_as(is_answer) - 1  # into `tokens`
        share = 0.2 if self.joint else 1.0
        for k, supervised in enumerate(rows_of_heads):
            # logits only for answers: they cost far more than the rest
            which = indices[:, k + 1 :][supervised]
            wanted = tokens[which]
            logits = self._logits(k, pad_rows(hidden[:, : supervised.shape[1]][supervised]))
            weights = (1 / divisors[k + 1]).expand(len(wanted))
            loss = token_loss(self._loss, logits, targets, which, weights)
            losses.append(share * 0.8**k * loss)
            if self.training:
                self.running.add(k, likeliest(logits)[: len(wanted)] == wanted, loss)
            else:
                right = logits.topk(RANKS, dim=-1).indices == wanted[:, None]
                of_row = torch.zeros(len(labels), RANKS, device=logits.device)
                hits.append(of_row.index_add_(0, supervised.nonzero()[:, 0], right.float()))
                counts.append(supervised.sum(1))
        out = {"loss": torch.stack(losses).sum()}
        if not self.training:
            out |= {"hits": torch.stack(hits, 1), "counts": torch.stack(counts, 1)}
        return out

    def counts(self, labels: Tensor) -> Tensor:
        """Count the tokens that the target learns from, then those of each head: [1 + heads]."""
        return torch.stack([rows.sum() for rows in _supervised_rows(labels, len(self.weights))])

    def _states(self, input_ids: Tensor, labels: Tensor, divisor: Tensor) -> tuple[Tensor, Tensor]:
        """The target's last states [batch, length, hidden] and its own loss, 0 if it is frozen."""
        target, teacher = self._target[0], self._teacher[0]
        if not self.joint:
            _, hidden = features_of(target, input_ids, ())
            return hidden, torch.zeros((), device=hidden.device)
        hidden = final_states(target, input_ids)
        is_answer = labels[:, 1:] != IGNORED
        states, tokens = hidden[:, :-1][is_answer], labels[:, 1:][is_answer]
        if teacher is None:
            which = torch.arange(len(states), device=states.device)
            weights = torch.ones(len(states), device=states.device)
            loss = token_loss("ce", logits_of(target, pad_rows(states)), tokens, which, weights)
        else:
            wanted = features_of(teacher, input_ids, ())[1][:, :-1][is_answer]
            loss = compare(teacher, target, wanted, states, tokens, "kl", self.training).loss
            hidden = hidden.detach()  # better guesses would cost some of the target's own answers
        return hidden, loss / divisor

    @torch.no_grad()
    def _probabilities(self, hidden: Tensor) -> Tensor:
        return logits_of(self._target[0], pad_rows(hidden))[: len(hidden)].float().softmax(-1)

    def _logits(self, k: int, x: Tensor) -> Tensor:
        for weight, bias in zip(self.weights[k], self.biases[k], strict=True):
            weight = weight if self._rounded is None else self._rounded(weight)
            x = x + functional.silu(functional.linear(x, weight.to(x.dtype), bias.to(x.dtype)))
        if self.lm_heads is not None:
            lm_head = self.lm_heads[k]
            lm_head = lm_head if self._rounded_lm_head is None else self._rounded_lm_head(lm_head)
            return functional.linear(x, lm_head.to(x.dtype))
        return logits_of(self._target[0], x)

    def trained(self, like: MedusaWeights, accuracy: Tensor | None) -> MedusaWeights:
        rows = () if accuracy is None else tuple(tuple(row) for row in accuracy.tolist())
        return replace(
            like,
            weights=self.weights.detach().float().cpu(),
            biases=self.biases.detach().float().cpu(),
            lm_heads=None if self.lm_heads is None else self.lm_heads.detach().float().cpu(),
            accuracy=rows,
        )

    @torch.no_grad()
    def served(self, like: MedusaWeights) -> MedusaWeights:
        """Return what is trained so far, rounded as the heads compute with `qat`."""
        weights = self.trained(like, None)
        if self._rounded is None or self._rounded_lm_head is None:
            return weights
        residuals = [[self._rounded(weight) for weight in head] for head in self.weights]
        weights.weights = torch.stack([torch.stack(head) for head in residuals]).float().cpu()
        if self.lm_heads is not None:
            rounded = [self._rounded_lm_head(lm_head) for lm_head in self.lm_heads]
            weights.lm_heads = torch.stack(rounded).float().cpu()
        return weights


def _supervised_rows(labels: Tensor, heads: int) -> list[Tensor]:
    """Of the target and of each head the rows [batch, length - 1 - k] whose state predicts the
    token k + 1 ahead. As when it is served, that begins at the row before an answer: in a prompt
    the heads have nothing to say."""
    is_answer = labels[:, 1:] != IGNORED
    rows = [is_answer]
    for k in range(1, heads + 1):
        rows.append(rows[-1][:, :-1] & is_answer[:, k:])
    return rows


def _parameter(stored: Tensor, device: torch.device) -> nn.Parameter:
    """Float32, because small steps vanish in half precision, or overflow it."""
    return nn.Parameter(stored.to(device, torch.float32, copy=True))


def train_medusa(
    target: PreTrainedModel,
    weights: MedusaWeights,
    data: Dataset[Example],
    held_out: Dataset[Example],
    config: TrainConfig,
    work: Path,
    resume: bool = False,
    served: Callable[[MedusaWeights], float] | None = None,
    teacher: PreTrainedModel | None = None,
) -> MedusaWeights:
    """Train the heads; returns them with their accuracies on `held_out`. With a `target_lr` the
    target is trained as well, in place, by the distributions of its `teacher` if there is one.

    `served` gives the tokens per target pass with these weights, for the log. Checkpoints and
    optimizer state go to `work`; `resume` goes on from the newest one there.
    """
    model = MedusaTrainingModel(
        target, weights, config.target_lr > 0, config.qat, config.loss or "ce", teacher
    )
    logged = train(
        model, data, held_out, config, work, resume,
        device=target.device,
        optimizer=lambda: _optimizer(model, config),
        metrics=_metrics,
        describe=partial(_describe, heads=weights.heads),
        served=served,
        trained=lambda: model.served(weights),
    )  # fmt: skip
    return model.trained(weights, _accuracy_table(logged[-1], weights.heads))


def _optimizer(model: MedusaTrainingModel, config: TrainConfig) -> Optimizer | None:
    if not model.joint:
        return optimizer_of(model, config.lr, config.muon_lr)
    # AdamW with a smaller learning rate for the target than for the heads.
    lm_heads = [] if model.lm_heads is None else [model.lm_heads]
    groups: list[dict[str, Any]] = [
        {"params": [model.weights, model.biases, *lm_heads]},
        {"params": list(model.of_target), "lr": config.target_lr},
    ]
    return AdamW(groups, lr=config.lr, weight_decay=0.0)


def _metrics(prediction: EvalPrediction) -> dict[str, float]:
    hits, counts = (torch.as_tensor(part) for part in prediction.predictions)
    rates = hits.sum(0) / counts.sum(0).clamp_min(1)[:, None]
    return {
        f"head{k}_rank{r}": round(float(rate), 5)
        for k, row in enumerate(rates)
        for r, rate in enumerate(row)
    }


def _describe(metrics: Mapping[str, Any], heads: int) -> str:
    return f"right {rates(_accuracy_table(metrics, heads)[:, 0].tolist())}"


def _accuracy_table(metrics: Mapping[str, Any], heads: int) -> Tensor:
    return torch.tensor(
        [[metrics[f"eval_head{k}_rank{r}"] for r in range(RANKS)] for k in range(heads)]
    )
