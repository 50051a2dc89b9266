"""The loaded models that lanes share: the target with its tokenizer, and its drafters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Any

import torch
from transformers import PreTrainedTokenizerBase

from app.config.model_options import ModelOptions
from app.models.library import title_of
from app.models.tuning import pass_cost
from app.strategies.lane_spec import LaneSpec
from app.strategies.registry import STRATEGIES
from app.text.unicode import require_unicode
from decoding.cost.curve import Curve
from decoding.cost.measure import PROMPT, SIZES, pass_seconds
from decoding.errors import InputError
from decoding.model.target import Target
from decoding.tokenizing.detokenizer import LONGEST_TOKEN, text_of
from decoding.tokenizing.stopping import Stop
from decoding.trees.static import Choices, parse_choices

# The cost curve, a few dozen passes, is only measured if a target pass takes at most so many
# seconds. On a GPU a pass takes long to launch kernel by kernel, whatever its size.
MEASURE_BELOW_SECONDS, MEASURE_BELOW_SECONDS_CUDA = 0.02, 0.06


@dataclass(eq=False)
class LoadedModels:
    """A target with its tokenizer and its drafters. `missing` has a reason for each strategy that
    can't run."""

    name: str
    target: Target
    tokenizer: PreTrainedTokenizerBase
    render: Callable[[Sequence[dict[str, str]], Mapping[str, Any]], str]  # into the chat template
    threads: int
    options: ModelOptions  # sources of the drafters, loaded when a lane needs them
    drafters: dict[str, Any] = field(default_factory=dict)  # Target, MedusaHeads, ... by role
    draft_tokenizer: PreTrainedTokenizerBase | None = None  # where it is not the target's
    medusa_choices: Choices = ()
    eagle_choices: Choices = ()
    notes: dict[str, str] = field(default_factory=dict)  # by role: how its checkpoint was read
    gguf_files: dict[str, str] = field(default_factory=dict)  # by role: the name, if it is one
    missing: dict[str, str] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()  # logits processors of the model's generation_config
    sampling: dict[str, Any] = field(default_factory=dict)  # settings that its authors recommend
    bias: Mapping[int, float] = field(default_factory=dict)  # of logits, by id
    eos: frozenset[int] = field(default_factory=frozenset)
    # for lanes with a checkpoint of their own, by role and checkpoint
    views: dict[tuple[str, str], LoadedModels] = field(default_factory=dict)

    def seen_by(self, spec: LaneSpec) -> LoadedModels:
        """Return the models for a lane. If it has a checkpoint of its own, that replaces the one of
        its role; it may not be loaded yet."""
        role = STRATEGIES[spec.strategy].role
        if spec.checkpoint is None or role is None:
            return self
        view = self.views.get((role, spec.checkpoint))
        if view is None:
            view = copy(self)  # keeps the target's cost curve
            drafters = {**self.options.drafters, role: spec.checkpoint}
            view.options = replace(self.options, drafters=drafters)
            view.drafters, view.notes, view.gguf_files, view.missing = {}, {}, {}, {}
            view.draft_tokenizer = None
            view.medusa_choices = chosen_paths(self.options.medusa_choices)
            self.views[role, spec.checkpoint] = view
        return view

    def needs_loading(self, strategy: str) -> bool:
        """Return whether a strategy's drafter is neither loaded nor known to be missing."""
        role = STRATEGIES[strategy].role
        return role is not None and role not in self.drafters and strategy not in self.missing

    def drop_unused(self, lanes: Iterable[LaneSpec]) -> bool:
        """Drop the drafters that none of the `lanes` uses; returns whether there are any."""
        used = {(STRATEGIES[spec.strategy].role, spec.checkpoint) for spec in lanes}
        roles = [role for role in self.drafters if (role, None) not in used]
        views = [view for view in self.views if view not in used]
        for role in roles:
            del self.drafters[role]
        for view in views:
            del self.views[view]
        drafters = chain(self.drafters, *(view.drafters for view in self.views.values()))
        if (roles or views) and not {"eagle", "eagle1"}.intersection(drafters):
            self.target.release_features()
        return bool(roles or views)

    def why_missing(self, lanes: Iterable[LaneSpec]) -> dict[str, str]:
        """Return the reasons of the lanes that can't run, by name."""
        reasons = {spec.name: self.seen_by(spec).missing.get(spec.strategy) for spec in lanes}
        return {name: why for name, why in reasons.items() if why is not None}

    @property
    def title(self) -> str:
        return title_of(self.name)

    @cached_property
    def verify_cost(self) -> Curve:
        """Seconds of a target pass over n nodes on this machine, kept from an earlier start or
        measured on first access."""
        return pass_cost(self.target, self.options.threads)

    @property
    def quick_cost(self) -> Curve | None:
        """`verify_cost` if already measured or quick to measure; else None."""
        return self.verify_cost if "verify_cost" in self.__dict__ or self._quick else None

    @cached_property
    def _quick(self) -> bool:
        """Whether measuring is quick. Cached, as on a slow machine one pass takes seconds."""
        long_enough = self.context >= PROMPT + SIZES[-1]
        quick = MEASURE_BELOW_SECONDS_CUDA if self.on_gpu else MEASURE_BELOW_SECONDS
        return long_enough and pass_seconds(self.target, 1) <= quick

    @property
    def on_gpu(self) -> bool:
        return self.target.device.type == "cuda"

    @property
    def device(self) -> str:
        return str(self.target.device)

    @property
    def dtype(self) -> str:
        return str(self.target.dtype).removeprefix("torch.")

    @property
    def precision(self) -> str:
        """The precision of the weights, and of keys and values if that differs."""
        kept = self.target.kv_cache
        return self.dtype if kept == "none" else f"{self.dtype}, {kept} cache"

    @property
    def context(self) -> int:
        return self.target.context

    @property
    def facts(self) -> dict[str, Any]:
        """Target, device and precision for a document."""
        return {
            "target": self.name,
            "device": self.device,
            "dtype": self.dtype,
            "kv_cache": self.target.kv_cache,
            "threads": self.threads,
        }

    def encode(self, messages: Sequence[dict[str, str]], raw: bool = False) -> list[int]:
        """Return ids of a conversation in the tokenizer's chat template, up to where the answer
        begins. With `raw`, or without a template, only the messages' contents. Raises InputError
        for a template that fails, and for text that is much too long."""
        characters = sum(len(message["content"]) for message in messages)
        if characters > LONGEST_TOKEN * self.context:  # tokenizing it would take minutes
            raise InputError(
                f"the prompt has {characters} characters, far more than the model's context of "
                f"{self.context} tokens holds: shorten it"
            )
        if raw or not self.tokenizer.chat_template:
            text = "\n".join(message["content"] for message in messages)
            return input_ids(self.tokenizer(text))
        arguments = self.options.template_args
        try:
            text = self.render(messages, arguments)
        except ValueError as error:
            raise InputError(
                f"the model's chat template can't take this conversation: {error}"
            ) from error
        require_unicode(text, "what the model's chat template makes of this conversation")
        return input_ids(self.tokenizer(text, add_special_tokens=False))

    def decode(self, ids: Sequence[int]) -> str:
        return text_of(self.tokenizer, ids)

    def stop(self, ignore_eos: bool, texts: tuple[str, ...]) -> Stop:
        """Stop at the model's end-of-sequence tokens, unless these are ignored, and at `texts`."""
        return Stop(frozenset() if ignore_eos else self.eos, texts, self.decode)

    @torch.inference_mode()
    def logit_gap(
        self, ids: Sequence[int], a: int, b: int, cancelled: Callable[[], bool] = lambda: False
    ) -> float:
        """Absolute difference of the target's logits of tokens `a` and `b` after `ids`. Raises
        InterruptedError if `cancelled()`."""
        logits = self.target.prefill(self.target.new_cache(), ids, cancelled).logits[0].float()
        return abs(float(logits[a] - logits[b]))


def chosen_paths(choices: str | None) -> Choices:
    return parse_choices(choices) if choices else ()


def input_ids(encoded: Any) -> list[int]:
    return [int(i) for i in encoded["input_ids"]]
