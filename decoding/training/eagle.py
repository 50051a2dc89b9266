"""EAGLE drafts: train them on a frozen target, and measure what they are worth when served.

EAGLE-1 (2401.15077) learns the next feature and the target's distribution over it; EAGLE-3
(2503.01840) only the distribution, over several steps of drafting on its own outputs
(`eagle_unroll`). Both learn where a draft is asked for: behind a token of an answer.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from operator import mul
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.data import Dataset, Sampler
from transformers import (
    EvalPrediction,
    PreTrainedModel,
    Trainer,
    TrainerCallback,
    TrainerControl,
    TrainerState,
    TrainingArguments,
)
from transformers.trainer_utils import get_last_checkpoint

from decoding.checkpoints.eagle import EagleWeights
from decoding.decoder import Decoder
from decoding.drafters.base import Drafter
from decoding.drafters.eagle_head import EagleHead
from decoding.params import Params
from decoding.stats import Stats
from decoding.stopping import Stop
from decoding.target import Target
from decoding.training.conversations import IGNORED, Example, collate
from decoding.training.eagle_loss import SoftCrossEntropy
from decoding.training.eagle_unroll import unroll
from decoding.training.features import features_of
from decoding.training.schedule import Schedule

STEPS = 7  # of training-time test
_DECAY = 0.8  # weight of each step relative to the one before
_NOISE = 0.1  # on EAGLE-1's features, either way
_POOL = 50  # batches whose conversations are sorted by length
_LOGITS = 0.1  # weight of EAGLE-1's cross entropy beside its feature loss


@dataclass(frozen=True, slots=True, eq=False)
class Lesson:
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
        self.head = EagleHead.build(weights, embedding, self._target_logits).to(target.device)
        self._steps = steps
        self._eagle3 = weights.config.version == "eagle3"
        known = torch.arange(weights.config.draft_vocab, device=target.device)
        self._vocabulary = None if self.head.d2t is None else self.head.target_ids(known)

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, labels: Tensor
    ) -> dict[str, Tensor]:
        """`loss`, and outside training `hits` and `counts` [batch, steps]: how often the draft said
        what the target says, of the times that it had done so at all steps before."""
        taps, final = features_of(self._frozen[0], input_ids, self.head.config.taps)
        features = final if taps is None else taps
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
    def _lesson(self, final: Tensor, said: Tensor, ids: Tensor) -> Lesson:
        batch, at = (said[:, :-1] & said[:, 1:]).nonzero(as_tuple=True)
        logits = self._target_logits(final[batch, at]).float()
        best = logits.argmax(-1)
        known = torch.ones_like(best, dtype=torch.bool)
        if self._vocabulary is not None:
            known = torch.isin(best, self._vocabulary)
            logits = logits[:, self._vocabulary]
        return Lesson(batch, at, logits.softmax(-1), best, known, ids[batch, at + 1] == best)

    def _target_logits(self, features: Tensor) -> Tensor:
        model = self._frozen[0]
        config: Any = model.config.get_text_config(decoder=True)
        logits: Tensor = model.get_output_embeddings()(features)
        if scale := getattr(config, "logit_scale", None):  # Cohere
            logits = logits * scale
        if divisor := getattr(config, "logits_scaling", None):  # Granite
            logits = logits / divisor
        if cap := getattr(config, "final_logit_softcapping", None):  # Gemma 2
            logits = torch.tanh(logits / cap) * cap
        return logits


def _cross_entropy(logits: Tensor, lesson: Lesson, told: Tensor) -> Tensor:
    """Mean soft cross entropy over the places `told` whose best token is known."""
    weights = lesson.known[told].float()
    weights /= weights.sum().clamp_min(1)
    apply: Any = SoftCrossEntropy.apply
    loss: Tensor = apply(logits, lesson.probabilities, told, weights)
    return loss


@dataclass(frozen=True, slots=True)
class EagleReport:
    """A draft after `step` steps. `accuracy[k]`: how often it says at step k what the target says,
    once all steps before were right; `simulated` the tokens of a target pass that follow from this
    for a chain; `served` those of a real decoder (None: not measured)."""

    step: int
    accuracy: tuple[float, ...]
    simulated: float
    served: float | None


def train_eagle(
    target: PreTrainedModel,
    weights: EagleWeights,
    data: Dataset[Example],
    held_out: Dataset[Example],
    schedule: Schedule,
    work: Path,
    resume: bool = False,
    served: Callable[[EagleWeights], float] | None = None,
    steps: int = STEPS,
) -> tuple[EagleWeights, list[EagleReport]]:
    """Train the draft; returns the best of the weights that were evaluated, and a report of each
    evaluation on `held_out`.

    The best are those with the highest `served` (tokens a target pass of a draft with these
    weights; see `evaluate_eagle`), without it the highest simulated. `steps` are those of
    training-time test, for EAGLE-1 of the evaluation alone. Checkpoints and optimizer state go to
    `work`; `resume` goes on from the newest one there.
    """
    trainee = Trainee(target, weights, steps)

    def trained() -> EagleWeights:
        return EagleWeights(weights.dialect, weights.config, trainee.head.tensors(), weights.notes)

    def metrics(prediction: EvalPrediction) -> dict[str, float]:
        found = _chain_metrics(prediction)
        return found if served is None else found | {"served": served(trained())}

    arguments = schedule.arguments(
        work,
        target.device,
        adam_beta2=0.95,
        max_grad_norm=0.5,
        load_best_model_at_end=True,
        metric_for_best_model="simulated" if served is None else "served",
        greater_is_better=True,
    )
    trainer = _LengthGrouped(
        model=trainee,
        args=arguments,
        train_dataset=data,
        eval_dataset=held_out,
        data_collator=collate,
        compute_metrics=metrics,
        callbacks=[_EvaluateLast()],
    )
    trainer.train(resume_from_checkpoint=get_last_checkpoint(str(work)) if resume else None)
    logged = [entry for entry in trainer.state.log_history if "eval_simulated" in entry]
    return trained(), [_report(entry, steps) for entry in logged]


def evaluate_eagle(
    target: Target,
    drafter: Drafter,
    prompts: Sequence[Sequence[int]],
    params: Params,
    stop: Stop,
    seed: int = 0,
) -> Stats:
    """Answer each prompt with the drafter; the rounds of all. Prompt i draws from the seed
    `seed + i`."""
    decoder = Decoder(target, drafter)
    stats = Stats()
    for i, prompt in enumerate(prompts):
        for record in decoder.generate(prompt, params, seed + i, stop):
            stats.add(record)
    return stats


class _LengthGrouped(Trainer):
    """Conversations of like length share a batch: padding costs as much as text."""

    def _get_train_sampler(self, train_dataset: Any = None) -> LengthGrouped:
        data: Any = self.train_dataset
        return LengthGrouped([len(data[i].ids) for i in range(len(data))], self._train_batch_size)


class LengthGrouped(Sampler[int]):
    """Shuffled indices such that like lengths share a batch, and batches come in any order; the
    same in the same epoch, so that a resumed run goes on where it was."""

    def __init__(self, lengths: Sequence[int], batch_size: int) -> None:
        self._lengths = lengths
        self._batch_size = batch_size
        self._epoch = 0

    def set_epoch(self, epoch: int) -> None:
        self._epoch = epoch

    def __len__(self) -> int:
        return len(self._lengths)

    def __iter__(self) -> Iterator[int]:
        rng = random.Random(self._epoch)
        size, indices = self._batch_size, rng.sample(range(len(self)), len(self))
        batches = []
        for start in range(0, len(indices), _POOL * size):
            pool = sorted(indices[start : start + _POOL * size], key=self._lengths.__getitem__)
            batches += [pool[i : i + size] for i in range(0, len(pool), size)]
        rng.shuffle(batches)
        batches.sort(key=len, reverse=True)  # a batch that is not full must come last
        return chain.from_iterable(batches)


class _EvaluateLast(TrainerCallback):
    """The Trainer saves after its last step; the last weights are often the best."""

    def on_step_end(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        **kwargs: object,
    ) -> None:
        if state.global_step >= state.max_steps:
            control.should_evaluate = True


def _chain_metrics(prediction: EvalPrediction) -> dict[str, float]:
    hits, counts = (torch.as_tensor(part).sum(0) for part in prediction.predictions)
    rates = (hits / counts.clamp_min(1)).tolist()
    found = {f"step{k}": round(rate, 5) for k, rate in enumerate(rates)}
    return found | {"simulated": round(1 + sum(accumulate(rates, mul)), 5)}


def _report(entry: Mapping[str, Any], steps: int) -> EagleReport:
    accuracy = tuple(entry[f"eval_step{k}"] for k in range(steps))
    return EagleReport(entry["step"], accuracy, entry["eval_simulated"], entry.get("eval_served"))
