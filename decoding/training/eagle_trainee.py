"""An EAGLE draft that learns on a frozen target.

EAGLE-1 (2401.15077) learns the next feature and the target's distribution over it; EAGLE-3
(2503.01840) only the distribution, over several steps of drafting on its own outputs
(`eagle_unroll`). Both learn where a draft is asked for: behind a token of an answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import PreTrainedModel

from decoding.checkpoints.eagle import EagleWeights
from decoding.drafters.eagle_head import EagleHead
from decoding.model.target import logits_of
from decoding.training.conversations import IGNORED
from decoding.training.eagle_loss import SoftCrossEntropy
from decoding.training.eagle_unroll import unroll
from decoding.training.features import features_of

STEPS = 7  # of training-time test
_DECAY = 0.8  # weight of each step relative to the one before
_NOISE = 0.1  # on EAGLE-1's features, either way
_LOGITS = 0.1  # weight of EAGLE-1's cross entropy beside its feature loss


@dataclass(frozen=True, slots=True, eq=False)
class Supervision:
    """What the target says at N places of a batch: those with a token of an answer that is not its
    last. `batch` and `at` [N] are the places in order, `probabilities` [N, draft vocab] of the next
    token, `best` [N] the likeliest of all tokens, `known` [N] whether the draft's vocabulary has
    that one, `followed` [N] whether the text goes on with it.

    Draft r begins at the row before place r, whose token is its root.
    """

    batch: Tensor
    at: Tensor
    probabilities: Tensor
    best: Tensor
    known: Tensor
    followed: Tensor

    def drafts(self, step: int) -> Tensor:
        """The drafts whose step has an answer here: that of place r + step, in the same answer."""
        last = max(len(self.at) - step, 0)
        same = self.batch[step:] == self.batch[:last]
        near = self.at[step:] == self.at[:last] + step
        return (same & near).nonzero()[:, 0]


class Trainee(nn.Module):
    """A draft that learns on a frozen target; only the draft belongs to its state."""

    def __init__(self, target: PreTrainedModel, weights: EagleWeights, steps: int = STEPS) -> None:
        super().__init__()
        self._frozen = (target.requires_grad_(False).eval(),)  # in a tuple: not a submodule
        embedding: Any = target.get_input_embeddings().weight
        self._target_logits = partial(logits_of, target)
        self.head = EagleHead.build(weights, embedding, self._target_logits).to(target.device)
        self._steps = steps
        self._eagle3 = weights.config.version == "eagle3"
        known = torch.arange(weights.config.draft_vocab, device=target.device)
        self._vocabulary = None if self.head.d2t is None else self.head.target_ids(known)

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        labels: Tensor,
        final: Tensor | None = None,
        taps: Tensor | None = None,
    ) -> dict[str, Tensor]:
        """`loss`, and outside training `hits` and `counts` [batch, steps]: how often the draft said
        what the target says, of the times that it had done so at all steps before. The target runs
        where its states `final` (and `taps`) are not given."""
        if final is None:
            taps, final = features_of(self._frozen[0], input_ids, self.head.config.taps)
        final = final.float()
        features = final if taps is None else taps.float()
        if self.training and not self._eagle3:
            # The paper's noise is for long texts and falls with their length; more would drown
            # short ones.
            noise = _NOISE * min(1.0, 512 / features.shape[1])
            features = features + torch.empty_like(features).uniform_(-noise, noise)
        said = labels != IGNORED
        said[:, 0] = False  # no feature comes before it
        lesson = self._lesson(final, said, input_ids)
        texts = len(labels)
        alive = torch.ones_like(lesson.known)  # drafts that were right at all steps so far
        losses, hits, counts = [], [], []
        steps = self._steps if self._eagle3 or not self.training else 1
        outs = unroll(self.head, input_ids, features, lesson.batch, lesson.at - 1, steps)
        for k, out in enumerate(outs):
            drafts = lesson.drafts(k)
            told = drafts + k
            logits = self.head.logits(out[drafts])
            if self._eagle3:
                losses.append(_DECAY**k * _cross_entropy(logits, lesson, told))
            elif k == 0:
                true = final[lesson.batch, lesson.at]
                losses.append(functional.smooth_l1_loss(out.float(), true.float()))
                losses.append(_LOGITS * _cross_entropy(logits, lesson, told))
            if not self.training:
                alive &= torch.zeros_like(alive).index_fill_(0, drafts, True)
                counts.append(lesson.batch[alive].bincount(minlength=texts))
                alive[drafts] &= self.head.target_ids(logits.argmax(-1)) == lesson.best[told]
                hits.append(lesson.batch[alive].bincount(minlength=texts))
                # Where the text goes another way than the target, what follows says nothing.
                alive[drafts] &= lesson.followed[told]
        result = {"loss": torch.stack(losses).sum()}
        if not self.training:
            result |= {"hits": torch.stack(hits, 1), "counts": torch.stack(counts, 1)}
        return result

    @torch.no_grad()
    def _lesson(self, final: Tensor, said: Tensor, ids: Tensor) -> Supervision:
        batch, at = (said[:, :-1] & said[:, 1:]).nonzero(as_tuple=True)
        logits = self._target_logits(final[batch, at]).float()
        best = logits.argmax(-1)
        known = torch.ones_like(best, dtype=torch.bool)
        if self._vocabulary is not None:
            known = torch.isin(best, self._vocabulary)
            logits = logits[:, self._vocabulary]
        return Supervision(batch, at, logits.softmax(-1), best, known, ids[batch, at + 1] == best)


def _cross_entropy(logits: Tensor, lesson: Supervision, told: Tensor) -> Tensor:
    """Mean soft cross entropy over the places `told` whose best token is known."""
    weights = lesson.known[told].float()
    weights /= weights.sum().clamp_min(1)
    apply: Any = SoftCrossEntropy.apply
    loss: Tensor = apply(logits, lesson.probabilities, told, weights)
    return loss
