"""The training model of an EAGLE head on a frozen target.

EAGLE-1 (2401.15077) learns the next feature and the target's distribution after it; EAGLE-3
(2503.01840) only the distribution, over several steps of drafting on its own outputs
(`eagle_unroll`). Both are only trained on the tokens of answers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from transformers import PreTrainedModel

from decoding.checkpoints.eagle import EagleWeights, draft_tokens
from decoding.drafters.eagle_head import EagleHead
from decoding.model.output_head import logits_of
from decoding.training.conversations import IGNORED
from decoding.training.eagle_unroll import unroll
from decoding.training.features import features_of
from decoding.training.losses import Loss, likeliest, token_loss
from decoding.training.shapes import pad_rows
from decoding.training.training_model import RunningCounts, TrainingModel

STEPS = 7  # of training-time test
_DECAY = 0.8  # weight of each step relative to the one before
_NOISE = 0.1  # amplitude of uniform noise on EAGLE-1's features
_LOGITS = 0.1  # weight of EAGLE-1's cross entropy beside its feature loss
_TARGET_LOGITS = 2**26  # of the target at a time


@dataclass(frozen=True, slots=True, eq=False)
class Supervision:
    """The target's predictions at N positions of a batch: at every token of an answer but its last.
    `batch` and `at` [N] are row and column, in order; `targets` of the next token, probabilities
    [N, draft vocab] or, for ce, the text's own [N]; `best` [N] the likeliest of all tokens; `known`
    [N] whether the draft vocabulary has it (for ce the text's own); `followed` [N] whether the text
    goes on with it.

    Draft r begins at the row before position r, whose token is its root.
    """

    batch: Tensor
    at: Tensor
    targets: Tensor
    best: Tensor
    known: Tensor
    followed: Tensor

    def drafts(self, step: int) -> Tensor:
        """Indices of the drafts trained at `step`: position r + step is in the same answer."""
        last = max(len(self.at) - step, 0)
        same = self.batch[step:] == self.batch[:last]
        near = self.at[step:] == self.at[:last] + step
        return (same & near).nonzero()[:, 0]


class EagleTrainingModel(TrainingModel):
    """An EAGLE head and its frozen target; the state dict holds the head alone."""

    def __init__(
        self, target: PreTrainedModel, weights: EagleWeights, steps: int = STEPS, loss: Loss = "kl"
    ) -> None:
        super().__init__()
        self._loss = loss
        self._frozen = (target.requires_grad_(False).eval(),)  # in a tuple: not a submodule
        embedding: Any = target.get_input_embeddings().weight
        self._target_logits = partial(logits_of, target)
        self._vocab_size = len(embedding)
        self.head = EagleHead.build(weights, embedding, self._target_logits).to(target.device)
        self._steps = steps
        self.running = RunningCounts(steps, target.device)
        self._eagle3 = weights.config.version == "eagle3"
        d2t = self.head.d2t
        self._vocabulary = None if d2t is None else draft_tokens(d2t)

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        labels: Tensor,
        final: Tensor | None = None,
        aux_hidden_states: Tensor | None = None,
    ) -> dict[str, Tensor]:
        """`loss`, and in evaluation `hits` and `counts` [batch, steps]: how often the draft agreed
        with the target, given that it did at all earlier steps. The target runs unless its states
        `final` (and `aux_hidden_states`) are given."""
        if self.training:
            self.running.count_tokens(attention_mask)
        if final is None:
            aux_hidden_states, final = features_of(
                self._frozen[0], input_ids, self.head.config.aux_layers
            )
        final = final.float()
        features = final if aux_hidden_states is None else aux_hidden_states.float()
        if self.training and not self._eagle3:
            # The paper's noise decreases with the length of long texts; on short ones it would be
            # too strong.
            noise = _NOISE * min(1.0, 512 / features.shape[1])
            features = features + torch.empty_like(features).uniform_(-noise, noise)
        supervision = self._supervise(final, _supervised(labels), input_ids)
        divisors, texts = self.divisors_for(labels), len(labels)
        alive = torch.ones_like(supervision.known)  # drafts that were right at all steps so far
        losses, hits, counts = [], [], []
        steps = self._steps if self._eagle3 or not self.training else 1
        outs = unroll(self.head, input_ids, features, supervision.batch, supervision.at - 1, steps)
        for k, out in enumerate(outs):
            drafts = supervision.drafts(k)
            target_positions = drafts + k
            logits = self.head.logits(pad_rows(out[drafts]))
            likely = self.head.target_ids(likeliest(logits)[: len(drafts)])
            agrees = likely == supervision.best[target_positions]
            if self._eagle3 or k == 0:
                loss = self._mean_loss(logits, supervision, target_positions, divisors[k])
                losses.append((_DECAY**k if self._eagle3 else _LOGITS) * loss)
            if not self._eagle3 and k == 0:
                true = final[supervision.batch, supervision.at]
                out = out[: len(true)]
                apart = functional.smooth_l1_loss(out.float(), true.float(), reduction="sum")
                losses.append(apart / (divisors[k] * true.shape[-1]))
            if self.training:
                self.running.add(k, agrees, loss)
            else:
                alive &= torch.zeros_like(alive).index_fill_(0, drafts, True)
                counts.append(supervision.batch[alive].bincount(minlength=texts))
                alive[drafts] &= agrees
                hits.append(supervision.batch[alive].bincount(minlength=texts))
                # After a token that is not the target's choice, later steps can't be compared.
                alive[drafts] &= supervision.followed[target_positions]
        result = {"loss": torch.stack(losses).sum()}
        if not self.training:
            result |= {"hits": torch.stack(hits, 1), "counts": torch.stack(counts, 1)}
        return result

    def counts(self, labels: Tensor) -> Tensor:
        """Return the number of drafts that are trained at each step."""
        supervised = alive = _supervised(labels)
        counts = [alive.sum()]
        for step in range(1, self._steps):
            alive = alive[:, :-1] & supervised[:, step:]
            counts.append(alive.sum())
        return torch.stack(counts)

    @torch.no_grad()
    def _supervise(self, final: Tensor, supervised: Tensor, ids: Tensor) -> Supervision:
        batch, at = supervised.nonzero(as_tuple=True)
        tokens = ids[batch, at + 1]
        size = max(_TARGET_LOGITS // self._vocab_size, 1)  # rows at a time
        blocks = zip(batch.split(size), at.split(size), strict=True)
        seen = []
        for rows in blocks:
            states = final[rows]
            logits = self._target_logits(pad_rows(states))[: len(states)].float()
            seen.append((likeliest(logits), self._beliefs(logits)))
        best, targets = (torch.cat(parts) for parts in zip(*seen, strict=True))
        if self._loss == "ce":
            targets = tokens
        known = torch.ones_like(best, dtype=torch.bool)
        if self._vocabulary is not None:
            known = torch.isin(tokens if self._loss == "ce" else best, self._vocabulary)
            if self._loss == "ce":
                targets = (tokens[:, None] == self._vocabulary).int().argmax(-1)
        return Supervision(batch, at, targets, best, known, tokens == best)

    def _beliefs(self, logits: Tensor) -> Tensor:
        """The target's probabilities [n, draft vocab] by its logits [n, V]; [n, 0] for ce, which
        needs none."""
        if self._loss == "ce":
            return logits[:, :0]
        if self._vocabulary is None:
            return logits.softmax(-1)
        if self._loss in ("tvd", "lk"):  # tokens outside the draft vocabulary are rejected
            return logits.softmax(-1)[:, self._vocabulary]
        return logits[:, self._vocabulary].softmax(-1)

    def _mean_loss(
        self, logits: Tensor, supervision: Supervision, target_positions: Tensor, divisor: Tensor
    ) -> Tensor:
        """The sum over those `target_positions` whose token is in the draft vocabulary, by the
        number of all: which these are is known only after the target has run."""
        weights = supervision.known[target_positions] / divisor
        return token_loss(self._loss, logits, supervision.targets, target_positions, weights)


def _supervised(labels: Tensor) -> Tensor:
    """[batch, length - 1]: where drafts begin, at every token of an answer but its last."""
    is_answer = labels != IGNORED
    is_answer[:, 0] = False  # no feature comes before it
    return is_answer[:, :-1] & is_answer[:, 1:]
