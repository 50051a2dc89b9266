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
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint
from torch.utils.data import Dataset
from transformers import EvalPrediction, PreTrainedModel

from decoding.model.target import logits_of
from decoding.training.conversations import IGNORED, Example, collate
from decoding.training.evaluate import Answer
from decoding.training.features import features_of, plain_attention
from decoding.training.log import rates
from decoding.training.losses import Loss, likeliest, token_loss
from decoding.training.optimizers import optimizer_of
from decoding.training.quantize import fake_quantize_linears
from decoding.training.sharding import shard_layers, whole
from decoding.training.train_config import TrainConfig
from decoding.training.trainer import RunningCounts, per_process, train

_LOGITS = 2**25  # in memory at a time, for each model


@dataclass(frozen=True, slots=True)
class DraftReport:
    """A draft model after `step` training steps. `agreement`: how often its likeliest token is the
    target's; `overlap`: 1 - TVD; `served`: τ with the real decoder (None: not measured)."""

    step: int
    agreement: float
    overlap: float
    served: float | None


class DraftTrainingModel(nn.Module):
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

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, labels: Tensor, final: Tensor | None = None
    ) -> dict[str, Tensor]:
        """`loss`, and in evaluation `hits`, `overlap` and `counts` [batch]: the number of answer
        tokens where both models have the same argmax, the sum of 1 - TVD, and the number of tokens.
        The target runs unless its states `final` are given."""
        target, draft = self._target[0], self.draft
        if self.training:
            self.running.read(attention_mask)
        is_answer = labels[:, 1:] != IGNORED
        if final is None:
            final = features_of(target, input_ids, ())[1]
        teacher = final[:, :-1][is_answer]
        with plain_attention(draft):
            out = draft.get_decoder()(input_ids=input_ids, use_cache=False)
        student = out.last_hidden_state[:, :-1][is_answer]
        tokens = labels[:, 1:][is_answer]
        rows = max(_LOGITS // draft.get_output_embeddings().weight.shape[0], 1)
        several = len(student) > rows
        slices = [slice(start, start + rows) for start in range(0, max(len(student), 1), rows)]
        parts = [self._compare(student[s], teacher[s], tokens[s], several) for s in slices]
        losses, *found = zip(*parts, strict=True)
        right, shared = map(torch.cat, found)
        count = torch.tensor(len(right), device=right.device)
        result = {"loss": torch.stack(losses).sum() / per_process(count)}
        if self.training:
            self.running.add(0, right, result["loss"])
        else:
            text = is_answer.nonzero()[:, 0]
            for name, values in (("hits", right.float()), ("overlap", shared)):
                none = torch.zeros(len(labels), device=values.device)
                result[name] = none.index_add_(0, text, values)
            result["counts"] = is_answer.sum(1)
        return result

    def _compare(
        self, student: Tensor, teacher: Tensor, tokens: Tensor, recompute: bool
    ) -> tuple[Tensor, Tensor, Tensor]:
        """From the hidden states [n, H] of both models before `tokens` [n]: the sum of the losses,
        whether they have the same argmax [n], and 1 - TVD [n]. With `recompute` the logits are not
        kept for the backward pass."""
        if recompute and self.training:
            found: Any = checkpoint(
                self._compare, student, teacher, tokens, False, use_reentrant=False
            )
            return found  # type: ignore[no-any-return]
        target, draft = self._target[0], self.draft
        q, p = logits_of(draft, student), logits_of(target, teacher)
        vocab = min(q.shape[-1], p.shape[-1])  # either may be padded
        q, p = q[..., :vocab], p[..., :vocab]
        with torch.no_grad():
            right = likeliest(q) == likeliest(p)
            p = p.float().softmax(-1)
            shared = p.new_zeros(len(p))
            if not self.training:
                shared = torch.minimum(q.float().softmax(-1), p).sum(-1)
        rows = torch.arange(len(q), device=q.device)
        targets, weights = tokens if self._loss == "ce" else p, torch.ones_like(shared)
        return token_loss(self._loss, q, targets, rows, weights), right, shared


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
        fake_quantize_linears(draft, config.qat)
    draft.float()
    learner = copy.deepcopy(draft) if config.shard else draft  # shards can't be served or written
    if config.shard:
        shard_layers(learner)
    model = DraftTrainingModel(target, learner, config.loss or "kl")

    @torch.no_grad()
    def trained() -> PreTrainedModel:
        if config.shard:
            for mine, learned in zip(draft.parameters(), learner.parameters(), strict=True):
                mine.copy_(whole(learned))
        return draft

    def metrics(prediction: EvalPrediction) -> dict[str, float]:
        hits, overlap, counts = (float(part.sum()) for part in prediction.predictions)
        return {
            "agreement": round(hits / max(counts, 1), 5),
            "overlap": round(overlap / max(counts, 1), 5),
        }

    logged = train(
        model, data, held_out, config, work, resume,
        device=target.device,
        optimizer=lambda: optimizer_of(
            learner, config.lr, config.muon_lr, ("lm_head", "embed", "wte")
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


@torch.no_grad()
def draft_agreement(
    target: PreTrainedModel, draft: PreTrainedModel, answers: Iterable[Answer]
) -> tuple[float, float]:
    """How often the draft's likeliest token is the target's, and 1 - TVD, along the target's
    `answers`."""
    model = DraftTrainingModel(target, draft).eval()
    sums = torch.zeros(3)
    for answer in answers:
        if answer.ids:
            batch = collate([Example.of_answer(answer.prompt, answer.ids)])
            found = model(**{name: t.to(target.device) for name, t in batch.items()})
            sums += torch.cat([found[name] for name in ("hits", "overlap", "counts")]).cpu()
    hits, overlap, count = sums.tolist()
    return hits / max(count, 1), overlap / max(count, 1)


def _describe(entry: Mapping[str, Any]) -> str:
    report = _report({"step": 0, **entry})
    return f"right {rates([report.agreement])} · 1-TVD {rates([report.overlap])}"


def _report(entry: Mapping[str, Any]) -> DraftReport:
    return DraftReport(
        entry["step"], entry["eval_agreement"], entry["eval_overlap"], entry.get("eval_served")
    )
