"""Trains a draft model on a frozen target: DistillSpec (Zhou et al. 2023, 2310.08461).

At every token of the target's answers the draft model learns the target's distribution, with one of
the `losses`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import Dataset
from transformers import EvalPrediction, PreTrainedModel

from decoding.training.conversations import IGNORED, Example, collate
from decoding.training.evaluate import Answer
from decoding.training.features import features_of, final_states
from decoding.training.log import rates
from decoding.training.losses import Loss, compare
from decoding.training.optimizers import optimizer_of
from decoding.training.quantize import fake_quantize_layers
from decoding.training.sharding import full_tensor, shard_layers
from decoding.training.train_config import TrainConfig
from decoding.training.trainer import train
from decoding.training.training_model import RunningCounts, TrainingModel


@dataclass(frozen=True, slots=True)
class DraftReport:
    """A draft model after `step` training steps. `agreement`: how often its likeliest token is the
    target's; `overlap`: 1 - TVD; `served`: τ with the real decoder (None: not measured);
    `kept`: whether training ended with these weights."""

    step: int
    agreement: float
    overlap: float
    served: float | None
    kept: bool = False


class DraftTrainingModel(TrainingModel):
    """A draft model and its frozen target, which is no submodule."""

    def __init__(self, target: PreTrainedModel, draft: PreTrainedModel, loss: Loss = "kl") -> None:
        super().__init__()
        self._target = (target.requires_grad_(False).eval(),)
        self.draft = draft
        self._loss = loss
        self.running = RunningCounts(1, target.device)

    def train(self, mode: bool = True) -> DraftTrainingModel:
        super().train(mode)
        self.draft.eval()  # without dropout, as it is served
        return self

    def counts(self, labels: Tensor) -> Tensor:
        return (labels[:, 1:] != IGNORED).sum()[None]

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, labels: Tensor, final: Tensor | None = None
    ) -> dict[str, Tensor]:
        """`loss`, and in evaluation `hits`, `overlap`, `kl` and `counts` [batch]: the number of
        answer tokens where both models have the same argmax, the sums of 1 - TVD and of KL(p, q),
        and the number of tokens. The target runs unless its states `final` are given."""
        target, draft = self._target[0], self.draft
        if self.training:
            self.running.count_tokens(attention_mask)
        is_answer = labels[:, 1:] != IGNORED
        if final is None:
            _, final = features_of(target, input_ids, ())
        states = final[:, :-1][is_answer]
        draft_states = final_states(draft, input_ids)[:, :-1][is_answer]
        tokens = labels[:, 1:][is_answer]
        compared = compare(target, draft, states, draft_states, tokens, self._loss, self.training)
        right = compared.right
        result = {"loss": compared.loss / self.divisors_for(labels)[0]}
        if self.training:
            self.running.add(0, right, result["loss"])
        else:
            text = is_answer.nonzero()[:, 0]
            measures = {"hits": right.float(), "overlap": compared.overlap, "kl": compared.kl}
            for name, values in measures.items():
                none = torch.zeros(len(labels), device=values.device)
                result[name] = none.index_add_(0, text, values)
            result["counts"] = is_answer.sum(1)
        return result


def train_draft(
    target: PreTrainedModel,
    draft: PreTrainedModel,
    data: Dataset[Example],
    held_out: Dataset[Example],
    config: TrainConfig,
    work: Path,
    resume: bool = False,
    served: Callable[[PreTrainedModel], float] | None = None,
) -> list[DraftReport]:
    """Train the draft model in place, and end with the best evaluated weights. Returns a report of
    each evaluation on `held_out`.

    The best has the highest `served` (tokens per target pass with this draft model), or else the
    highest agreement. Checkpoints with the optimizer state go to `work`; `resume` continues from
    the newest one there.
    """
    if config.qat:
        fake_quantize_layers(draft, config.qat)
    draft.float()
    learner = copy.deepcopy(draft) if config.shard else draft  # shards can't be served or written
    if config.shard:
        shard_layers(learner)
    model = DraftTrainingModel(target, learner, config.loss or "kl")

    @torch.no_grad()
    def trained() -> PreTrainedModel:
        if config.shard:
            for mine, learned in zip(draft.parameters(), learner.parameters(), strict=True):
                mine.copy_(full_tensor(learned))
        return draft

    def metrics(prediction: EvalPrediction) -> dict[str, float]:
        hits, overlap, _, counts = (float(part.sum()) for part in prediction.predictions)
        return {
            "agreement": round(hits / max(counts, 1), 5),
            "overlap": round(overlap / max(counts, 1), 5),
        }

    logged = train(
        model, data, held_out, config, work, resume,
        device=target.device,
        optimizer=lambda: optimizer_of(
            learner, config.lr, config.muon_lr, ("lm_head", "embed", "wte"), _fused(learner)
        ),
        metrics=metrics,
        describe=_describe,
        served=served,
        trained=trained,
        best="agreement",
        adam_beta2=0.95,
    )  # fmt: skip
    trained()
    return [_report(entry) for entry in logged]


def _fused(draft: PreTrainedModel) -> dict[Tensor, list[int]]:
    """The rows of the matrices that those of families such as Phi-3 consist of."""
    config: Any = draft.config.get_text_config(decoder=True)
    fused: dict[Tensor, list[int]] = {}
    for name, parameter in draft.named_parameters():
        if name.endswith(".gate_up_proj.weight"):
            fused[parameter] = [len(parameter) // 2] * 2
        elif name.endswith(".qkv_proj.weight"):
            queries, keys = config.num_attention_heads, config.num_key_value_heads
            size = len(parameter) // (queries + 2 * keys)
            fused[parameter] = [size * heads for heads in (queries, keys, keys)]
    return fused


@torch.no_grad()
def divergence(
    target: PreTrainedModel, draft: PreTrainedModel, answers: Iterable[Answer]
) -> dict[str, float]:
    """`agreement`, how often the draft's likeliest token is the target's; `overlap`, 1 - TVD; and
    `kl`, the KL divergence from the target in nats; along the `answers`."""
    model = DraftTrainingModel(target, draft).eval()
    names = ("hits", "overlap", "kl", "counts")
    sums = torch.zeros(len(names))
    for answer in answers:
        if answer.ids:
            batch = collate([Example.of_answer(answer.prompt, answer.ids)])
            out = model(**{name: t.to(target.device) for name, t in batch.items()})
            sums += torch.cat([out[name] for name in names]).cpu()
    rates = (sums / sums[-1].clamp_min(1)).tolist()
    return dict(zip(("agreement", "overlap", "kl"), rates, strict=False))


def _describe(entry: Mapping[str, Any]) -> str:
    report = _report({"step": 0, **entry})
    return f"right {rates([report.agreement])} · 1-TVD {rates([report.overlap])}"


def _report(entry: Mapping[str, Any]) -> DraftReport:
    return DraftReport(
        entry["step"],
        entry["eval_agreement"],
        entry["eval_overlap"],
        entry.get("eval_served"),
        entry.get("kept", False),
    )
