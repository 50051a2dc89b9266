"""Measures what is being trained with the real decoder: τ on a few held-out prompts, and one answer
with the fates of its tokens."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from app.cli.heads.eval_settings import in_words, with_eval_settings
from app.cli.heads.training_job import TrainingJob
from app.cli.terminal import say
from app.engine.token_events import TokenEvents
from app.text.plural import pluralize
from decoding.drafters.base import Drafter
from decoding.model.target import Target
from decoding.params import Params
from decoding.tokenizing.stopping import Stop, eos_ids
from decoding.training.conversations import rendered
from decoding.training.data import Record
from decoding.training.evaluate import Answer, answer_prompts, stats_of
from decoding.training.log import ANSWERS
from decoding.training.processes import is_first_process
from decoding.trees.static import Choices

_PROMPTS = 24
_TOKENS = 64  # an answer
Trained = TypeVar("Trained")  # weights, or a draft model


def serving(
    job: TrainingJob,
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    records: Sequence[Record],
    drafter_of: Callable[[Trained, Target], Drafter],
    *,
    choices: Choices = (),
    aux_layers: Sequence[int] = (),
) -> Callable[[Trained], float] | None:
    """Return a function that measures τ on held-out prompts of what is being trained, with the
    drafter that `drafter_of` makes from it (Medusa with the tree `choices`); says with which
    settings. None if the job serves nothing, or if there are no prompts."""
    if not job.serves:
        return None
    params = with_eval_settings(Params(max_new_tokens=_TOKENS), job.kind)
    sample = ServedSample(model, tokenizer, records, params, job.work)
    sample.target.capture_layers(aux_layers)
    if not sample.prompts:
        return None
    if is_first_process():
        say(
            f"served τ is that of {in_words(params, job.kind, choices)}, over "
            f"{pluralize(len(sample.prompts), 'held-out prompt')} with up to {_TOKENS} tokens each"
        )
    return lambda trained: sample.tokens_per_pass(drafter_of(trained, sample.target))


class ServedSample:
    """The first turns of held-out conversations, the same ones at each evaluation. The first one's
    answers are written to `work`."""

    def __init__(
        self,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        records: Sequence[Record],
        params: Params,
        work: Path,
    ) -> None:
        self.target = Target(model)
        first_turns = [
            (messages[-1]["content"], rendered(tokenizer, messages, prompt=True))
            for record in records
            if (messages := _up_to_the_first_question(record))
        ]
        fitting = [turn for turn in first_turns if len(turn[1]) < self.target.context]
        # Spread evenly, because distilled conversations are sorted by length.
        count = min(len(fitting), _PROMPTS)
        step = (len(fitting) - 1) / max(count - 1, 1)
        sample = [fitting[round(i * step)] for i in range(count)]
        self.prompts = [ids for _, ids in sample]
        self._questions = [text for text, _ in sample]
        self._file = work / ANSWERS
        self._tokenizer = tokenizer
        self._stop = Stop(eos_ids(model, tokenizer))
        self._params = params

    def tokens_per_pass(self, drafter: Drafter) -> float:
        answers = answer_prompts(self.target, drafter, self.prompts, self._params, self._stop)
        self._write(answers[0])
        return stats_of(answers).tokens_per_pass or 0.0

    def _write(self, answer: Answer) -> None:
        events = TokenEvents(self._tokenizer)
        tokens = [events.first(answer.ids[0])]
        for record in answer.rounds:
            tokens += events.of_round(record)
        shown = [(token.text, token.fate) for token in tokens]
        line = json.dumps({"prompt": self._questions[0], "tokens": shown})
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with self._file.open("a", encoding="utf-8") as file:
            file.write(line + "\n")


def _up_to_the_first_question(record: Record) -> list[dict[str, str]]:
    """The messages that the first answer is for; none if nothing is asked."""
    messages: list[dict[str, str]] = record.get("messages") or []
    users = (number for number, each in enumerate(messages, 1) if each["role"] == "user")
    return messages[: next(users, 0)]
