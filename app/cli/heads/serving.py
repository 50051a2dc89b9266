"""Serves what is being trained: τ of the real decoder on a few held-out prompts."""

from __future__ import annotations

from collections.abc import Sequence

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from decoding.drafters.base import Drafter
from decoding.model.target import Target
from decoding.params import Params
from decoding.tokenizing.stopping import Stop, eos_ids
from decoding.training.conversations import rendered
from decoding.training.data import Record
from decoding.training.evaluate import answer_prompts, stats_of

_PROMPTS = 24
_TOKENS = 64  # an answer


class ServedSample:
    """The first turns of held-out conversations, the same ones at each evaluation."""

    def __init__(
        self,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        records: Sequence[Record],
        gamma: int,
    ) -> None:
        self.target = Target(model)
        first_turns = [
            rendered(tokenizer, [m], prompt=True)
            for record in records
            if (m := (record.get("messages") or [{}])[0]).get("role") == "user"
        ]
        fitting = [ids for ids in first_turns if len(ids) < self.target.context]
        # Spread over all of them: distilled conversations stand by length.
        self.prompts = fitting[:: max(1, len(fitting) // _PROMPTS)][:_PROMPTS]
        self._stop = Stop(eos_ids(model, tokenizer))
        self._params = Params(gamma=gamma, max_new_tokens=_TOKENS)

    def tokens_per_pass(self, drafter: Drafter) -> float:
        answers = answer_prompts(self.target, drafter, self.prompts, self._params, self._stop)
        return stats_of(answers).tokens_per_pass or 0.0
