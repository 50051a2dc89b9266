"""Hugging Face's own `generate`, which lanes are compared with."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any, Literal

import torch
from transformers import (
    GenerationConfig,
    PreTrainedModel,
    StoppingCriteria,
    StoppingCriteriaList,
)

from app.config.settings import Settings
from app.engine.contest import Contestant
from app.models.library import with_demo
from app.models.loaded import LoadedModels
from app.models.loading import load_model
from app.report.answer import Answer
from decoding.errors import InputError
from decoding.model.clock import synchronize
from decoding.stats import Stats

Peer = Literal["hf", "hf-assisted"]


def peer_contestants(
    settings: Settings, models: LoadedModels, peers: Sequence[Peer]
) -> dict[str, Contestant]:
    """Make contestants of `generate` with the target's weights, its own attention and its own
    cache. The settings are such that all peers can have them, with a draft model for
    "hf-assisted". Raises InputError."""
    if not peers:
        return {}
    assistant = None
    if "hf-assisted" in peers:
        if models.draft_tokenizer is not None:
            raise InputError("--peers hf-assisted needs a draft model with the target's tokenizer")
        draft = with_demo(settings.models).drafters["draft"]
        assistant = load_model(draft, settings.models.of_draft)
    # On a CPU a copy, because the target's weights have another memory layout.
    own = None
    if models.target.device.type == "cpu":
        own = load_model(models.name, settings.models)
    # generate would take up the penalties in the model's own one.
    (own or models.target.model).generation_config = GenerationConfig()

    def contestant(helper: PreTrainedModel | None) -> Contestant:
        def answer(ids: Sequence[int], index: int) -> Answer:
            with models.target.as_loaded() if own is None else nullcontext(own) as model:
                return _generated(model, helper, ids, index, settings, models)

        return answer

    helpers = {"hf": None, "hf-assisted": assistant}
    return {name: contestant(helpers[name]) for name in peers}


def _generated(
    model: Any,
    helper: PreTrainedModel | None,
    ids: Sequence[int],
    index: int,
    settings: Settings,
    models: LoadedModels,
) -> Answer:
    ticks = _Ticks()
    prompt = torch.tensor([list(ids)], device=model.device)
    out = model.generate(
        prompt,
        attention_mask=torch.ones_like(prompt),
        do_sample=False,
        max_new_tokens=min(settings.max_new_tokens, models.context + 1 - len(ids)),
        eos_token_id=None if settings.ignore_eos else sorted(models.eos),
        pad_token_id=0,
        stopping_criteria=StoppingCriteriaList([ticks]),
        assistant_model=helper,
    )
    synchronize(model.device)
    seconds = time.perf_counter() - ticks.first
    tokens = out.shape[1] - ticks.length_at_first
    return Answer(index, tokens, seconds, out[0, len(ids) :].tolist(), Stats())


class _Ticks(StoppingCriteria):
    """Records when the first tokens arrived; never stops generation."""

    def __init__(self) -> None:
        self.first = 0.0
        self.length_at_first = 0

    def __call__(self, input_ids: Any, scores: Any, **kwargs: Any) -> Any:
        if not self.first:
            self.first, self.length_at_first = time.perf_counter(), input_ids.shape[1]
        return torch.zeros(input_ids.shape[0], dtype=torch.bool, device=input_ids.device)
