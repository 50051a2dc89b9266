"""Loads the models that lanes share: the target with its tokenizer, and its drafters."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from transformers import PreTrainedTokenizerBase

from app.config.model_options import ModelOptions
from app.models.chat_template import prepare_template, render_prompt
from app.models.checkpoint import find_checkpoint
from app.models.download import Progress, has_tokenizer, local_folder, silent
from app.models.hub import display_name
from app.models.library import title_of, with_demo
from app.models.limits import run_limited
from app.models.loading import ignored_settings, load_target, load_tokenizer
from app.models.sampling_defaults import sampling_defaults
from app.models.tuning import medusa_tree, pass_cost, tune, tune_head
from app.strategies.lane_spec import LaneSpec
from app.strategies.registry import DRAFT_ONLY, STRATEGIES
from app.strategies.roles import ROLES
from decoding.checkpoints.eagle_fit import TargetShape
from decoding.checkpoints.eagle_read import read_eagle
from decoding.checkpoints.files import read_config
from decoding.checkpoints.medusa import is_merged, read_medusa
from decoding.checkpoints.quantized import precision_of
from decoding.cost.curve import Curve
from decoding.cost.measure import PROMPT, SIZES, pass_seconds
from decoding.drafters.eagle import drafting_head
from decoding.drafters.eagle_head import EagleHead
from decoding.drafters.medusa import MedusaHeads
from decoding.errors import InputError
from decoding.model.target import Target
from decoding.tokenizing.detokenizer import LONGEST_TOKEN, Detokenizer
from decoding.tokenizing.stopping import Stop, eos_ids
from decoding.tokenizing.vocabulary import first_difference
from decoding.trees.static import Choices, parse_choices, require_ranks

# The cost curve, a few dozen passes, is only measured if a target pass takes at most so many
# seconds. On a GPU a pass takes long to launch kernel by kernel, whatever its size.
QUICK_PASS, QUICK_PASS_CUDA = 0.02, 0.06
ONE_OF_EACH = tuple(LaneSpec(name, name) for name in STRATEGIES)


@dataclass(eq=False)
class LoadedModels:
    """A target with its tokenizer and its drafters. `missing` has a reason for each strategy that
    can't run."""

    name: str
    target: Target
    tokenizer: PreTrainedTokenizerBase
    threads: int
    options: ModelOptions  # sources of the drafters, loaded when a lane needs them
    drafters: dict[str, Any] = field(default_factory=dict)  # Target, MedusaHeads, ... by role
    draft_tokenizer: PreTrainedTokenizerBase | None = None  # where it is not the target's
    medusa_choices: Choices = ()
    eagle_choices: Choices = ()
    notes: dict[str, str] = field(default_factory=dict)  # by role: how its checkpoint was read
    missing: dict[str, str] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()  # logits processors of the model's generation_config
    sampling: dict[str, Any] = field(default_factory=dict)  # settings that its authors recommend
    bias: Mapping[int, float] = field(default_factory=dict)  # of logits, by id
    eos: frozenset[int] = field(default_factory=frozenset)
    # for lanes with a checkpoint of their own, by role and checkpoint
    views: dict[tuple[str, str], LoadedModels] = field(default_factory=dict)

    def seen_by(self, spec: LaneSpec) -> LoadedModels:
        """The models for a lane. If it has a checkpoint of its own, that replaces the one of its
        role; it may not be loaded yet."""
        role = STRATEGIES[spec.strategy].role
        if spec.checkpoint is None or role is None:
            return self
        view = self.views.get((role, spec.checkpoint))
        if view is None:
            view = copy(self)  # keeps the target's cost curve
            drafters = {**self.options.drafters, role: spec.checkpoint}
            view.options = replace(self.options, drafters=drafters)
            view.drafters, view.notes, view.missing = {}, {}, {}
            view.draft_tokenizer = None
            view.medusa_choices = chosen_paths(self.options.medusa_choices)
            self.views[role, spec.checkpoint] = view
        return view

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
        quick = QUICK_PASS_CUDA if self.on_gpu else QUICK_PASS
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
        """Ids of a conversation in the tokenizer's chat template, up to where the answer begins.
        With `raw`, or without a template, only the messages' contents. Raises InputError for a
        template that fails, and for text that is much too long."""
        characters = sum(len(message["content"]) for message in messages)
        if characters > LONGEST_TOKEN * self.context:  # tokenizing it would take minutes
            raise InputError(
                f"the prompt has {characters} characters, far more than the model's context of "
                f"{self.context} tokens holds: shorten it"
            )
        if raw or not self.tokenizer.chat_template:
            text = "\n".join(message["content"] for message in messages)
            return _ids(self.tokenizer(text))
        arguments = self.options.template_args
        try:
            text = run_limited(lambda: render_prompt(self.tokenizer, messages, arguments))
        except ValueError as error:
            raise InputError(
                f"the model's chat template can't take this conversation: {error}"
            ) from error
        return _ids(self.tokenizer(text, add_special_tokens=False))

    def decode(self, ids: Sequence[int]) -> str:
        return str(
            self.tokenizer.decode(
                list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False
            )
        )

    def stop(self, ignore_eos: bool, texts: tuple[str, ...]) -> Stop:
        """Stop at the model's end-of-sequence tokens, unless these are ignored, and at `texts`."""
        return Stop(frozenset() if ignore_eos else self.eos, texts, self.decode)

    def token_text(self, token: int, after: Detokenizer) -> str:
        """Text of one token after the text so far; its name if it is a special token."""
        return after.preview(token) or str(self.tokenizer.convert_ids_to_tokens(token) or "")

    @torch.inference_mode()
    def logit_gap(
        self, ids: Sequence[int], a: int, b: int, cancelled: Callable[[], bool] = lambda: False
    ) -> float:
        """Absolute difference of the target's logits of tokens `a` and `b` after `ids`. Raises
        InterruptedError if `cancelled()`."""
        logits = self.target.prefill(self.target.new_cache(), ids, cancelled).logits[0].float()
        return abs(float(logits[a] - logits[b]))


def load_models(
    options: ModelOptions,
    progress: Progress = silent,
    lanes: Collection[LaneSpec] = ONE_OF_EACH,
) -> LoadedModels:
    """Load the target and the drafters of the `lanes`, from `options` or from checkpoints of their
    own. Raises InputError."""
    options = with_demo(options)
    source = vocabulary = str(options.target)
    notes = {}
    heads = options.drafters.get("medusa")
    drafts = {STRATEGIES[spec.strategy].role for spec in lanes}
    if heads and "medusa" in drafts:  # otherwise they need not be downloaded
        heads = str(local_folder(heads, progress))
    if heads and is_merged(folder := Path(heads).expanduser()):
        source = heads
        notes["medusa"] = f"{display_name(heads)} is the target, with its heads"
        if has_tokenizer(folder):  # ModelOpt saves none
            vocabulary = heads
    choices, eagle_choices = map(chosen_paths, (options.medusa_choices, options.eagle_choices))
    progress(f"tokenizer of {display_name(vocabulary)}", 0.0)
    tokenizer = load_tokenizer(vocabulary, options, progress)
    prepare_template(tokenizer, options)
    progress(_called("target", source), 0.1)
    target = load_target(source, options, progress)
    target.kv_cache = options.kv_cache
    checkpoint = find_checkpoint(source, options.adapter)
    if checkpoint.note:
        notes["target"] = checkpoint.note
    _leave_out_padding(target, tokenizer)
    bias = biased_ids(options.logit_bias, tokenizer, target.tokens)
    target.set_logit_bias(bias)
    progress("choosing threads and memory layout", 0.7)
    threads = tune(target, options.threads)
    models = LoadedModels(
        source,
        target,
        tokenizer,
        threads,
        options,
        medusa_choices=choices,
        eagle_choices=eagle_choices,
        notes=notes,
        ignored=ignored_settings(target),
        sampling=sampling_defaults(checkpoint.folder),
        bias=bias,
        eos=eos_ids(target.model, tokenizer),
    )
    for spec in lanes:
        load_drafter(models.seen_by(spec), spec.strategy, progress)
    return models


def why_missing(lanes: Iterable[LaneSpec], models: LoadedModels) -> dict[str, str]:
    """The reasons why lanes can't run, by name; without those that can."""
    reasons = {spec.name: models.seen_by(spec).missing.get(spec.strategy) for spec in lanes}
    return {name: why for name, why in reasons.items() if why is not None}


def chosen_paths(choices: str | None) -> Choices:
    return parse_choices(choices) if choices else ()


def load_drafter(models: LoadedModels, strategy: str, progress: Progress) -> None:
    """Load a strategy's drafter unless that is done; if the options name none, record that in
    `models.missing`. Raises InputError."""
    if not needs_loading(models, strategy):
        return
    role = STRATEGIES[strategy].role
    assert role is not None
    source = models.options.drafters.get(role)
    if source is None:
        models.missing[strategy] = STRATEGIES[strategy].missing
        return
    progress(_called(ROLES[role].title, source), 0.8)
    models.drafters[role] = _LOADERS[role](models, source, role, progress)


def _called(role: str, source: str) -> str:
    """A role and its source's name, without repetition ("draft draft")."""
    name = display_name(source)
    return role if name.lower() in role.lower() else f"{role} {name}"


def needs_loading(models: LoadedModels, strategy: str) -> bool:
    """Whether a strategy needs a drafter that is neither loaded nor known to be missing."""
    role = STRATEGIES[strategy].role
    return role is not None and role not in models.drafters and strategy not in models.missing


def _load_draft(models: LoadedModels, source: str, role: str, progress: Progress) -> Target:
    options = models.options.of_draft
    draft_tokenizer = load_tokenizer(source, options, progress)
    difference = first_difference(models.tokenizer, draft_tokenizer)
    draft = load_target(source, options)
    _leave_out_padding(draft, draft_tokenizer if difference else models.tokenizer)
    checkpoint = find_checkpoint(source, options.adapter)
    precision = precision_of(read_config(checkpoint.folder))
    notes = [checkpoint.note or (f"{precision} weights" if precision else "")]
    if difference:
        models.draft_tokenizer = draft_tokenizer
        models.missing[DRAFT_ONLY.name] = "the draft model has another tokenizer than the target"
        notes.append(f"drafts as text: another tokenizer ({difference})")
    elif draft.vocab_size < models.target.tokens:
        raise InputError(
            f"the draft model {source} has {draft.vocab_size} logits for "
            f"{models.target.tokens} tokens"
        )
    else:
        draft.set_logit_bias(models.bias)
    if note := "; ".join(filter(None, notes)):
        models.notes[role] = note
    tune(draft, models.threads)
    return draft


def biased_ids(
    bias: Mapping[str, float], tokenizer: PreTrainedTokenizerBase, tokens: int
) -> dict[int, float]:
    """Logit bias by id, from tokens given by id or by text. Raises InputError unless each is
    exactly one of the `tokens` ids."""
    found: dict[int, float] = {}
    for text, value in bias.items():
        ids = [int(text)] if text.isdecimal() else _ids(tokenizer(text, add_special_tokens=False))
        if len(ids) != 1:
            raise InputError(
                f"--logit-bias: '{text}' is {len(ids)} tokens {ids}: give them one by one, by id"
            )
        if not 0 <= ids[0] < tokens:
            raise InputError(f"--logit-bias: there is no token {ids[0]}, ids end at {tokens - 1}")
        found[ids[0]] = found.get(ids[0], 0.0) + value
    return found


def _leave_out_padding(model: Target, tokenizer: PreTrainedTokenizerBase) -> None:
    """Many models pad their vocabulary: logits beyond the tokenizer's ids must not be sampled."""
    known = 1 + max(tokenizer.get_vocab().values(), default=-1)
    model.tokens = min(known or model.vocab_size, model.vocab_size)


def _load_medusa(models: LoadedModels, source: str, role: str, progress: Progress) -> MedusaHeads:
    target = models.target
    folder = local_folder(source, progress)
    if precision := precision_of(read_config(folder)):
        models.notes[role] = f"{precision} weights"
    heads = MedusaHeads(read_medusa(folder, target.hidden, target.vocab_size), target)
    require_ranks(models.medusa_choices, heads.vocab)
    models.medusa_choices = models.medusa_choices or medusa_tree(
        heads, target, models.options.threads, models.verify_cost
    )
    return heads


def _load_eagle(models: LoadedModels, source: str, role: str, progress: Progress) -> EagleHead:
    target = models.target
    folder = local_folder(source, progress)
    weights = read_eagle(folder, TargetShape(target.hidden, target.vocab_size, target.depth))
    config = weights.config
    if config.version not in ROLES[role].kinds:
        raise InputError(f"--{role} {folder} is an EAGLE-3 head: give it with --eagle")
    try:
        head = drafting_head(weights, target)
    except (TypeError, ValueError, ArithmeticError, LookupError) as error:
        raise InputError(f"{folder}: no head can be built by its config.json: {error}") from error
    require_ranks(models.eagle_choices, config.draft_vocab)
    tune_head(head, target)
    target.keeps_features = True  # so that a prefill can be shared with this lane
    if config.aux_layers:
        target.capture_layers(config.aux_layers)
    facts = (f"dialect {weights.dialect}", *weights.notes)
    if config.aux_layers:
        facts = (*facts, f"reads the inputs of layers {', '.join(map(str, config.aux_layers))}")
    models.notes[role] = "; ".join(facts)
    return head


_LOADERS: Mapping[str, Callable[[LoadedModels, str, str, Progress], Any]] = {
    "draft": _load_draft,
    "medusa": _load_medusa,
    "eagle": _load_eagle,
    "eagle1": _load_eagle,
}
assert _LOADERS.keys() == ROLES.keys() - {"target"}


def _ids(encoded: Any) -> list[int]:
    return [int(i) for i in encoded["input_ids"]]
