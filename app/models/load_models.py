"""Loads the target and the drafters of lanes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from transformers import PreTrainedTokenizerBase

from app.config.model_options import ModelOptions
from app.models.chat_template import prepare_template, render_prompt
from app.models.checkpoint import find_checkpoint
from app.models.download import has_tokenizer, local_folder
from app.models.hub import display_name
from app.models.library import with_demo
from app.models.limited_process import LimitedProcess
from app.models.loaded import LoadedModels, chosen_paths, input_ids
from app.models.loading import load_target, load_tokenizer
from app.models.sampling_defaults import ignored_settings, sampling_defaults
from app.models.tuning import medusa_tree, tune, tune_head
from app.progress import Progress, silent
from app.strategies.lane_spec import LaneSpec
from app.strategies.registry import DRAFT_ONLY, STRATEGIES
from app.strategies.roles import HEADS, ROLES
from app.text.numbers import whole_number
from decoding.checkpoints.dialects import detect_kind
from decoding.checkpoints.eagle_fit import TargetShape
from decoding.checkpoints.eagle_read import read_eagle, require_eagle
from decoding.checkpoints.files import read_config
from decoding.checkpoints.headers import read_tensor_names
from decoding.checkpoints.medusa import is_merged, read_medusa, require_medusa
from decoding.checkpoints.quantized import precision_of
from decoding.drafters.eagle import drafting_head
from decoding.drafters.eagle_head import EagleHead
from decoding.drafters.medusa_heads import MedusaHeads
from decoding.errors import InputError
from decoding.model.architecture import window_of
from decoding.model.target import Target
from decoding.tokenizing.stopping import eos_ids
from decoding.tokenizing.vocabulary import first_difference
from decoding.trees.static import require_ranks

ONE_OF_EACH = tuple(LaneSpec(name, name) for name in STRATEGIES)


def load_models(
    options: ModelOptions, progress: Progress = silent, lanes: Collection[LaneSpec] = ONE_OF_EACH
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
    render = LimitedProcess(partial(render_prompt, tokenizer))  # a fork while memory is small
    refuse_other_drafters(options, lanes, progress)
    progress(_called("target", source), 0.1)
    target = load_target(source, options, progress)
    target.kv_cache = options.kv_cache
    checkpoint = find_checkpoint(source, options.adapter)
    if note := "; ".join(filter(None, (checkpoint.note, _shortened_context(target)))):
        notes["target"] = note
    _leave_out_padding(target, tokenizer)
    bias = biased_ids(options.logit_bias, tokenizer, target.unpadded_vocab_size)
    target.set_logit_bias(bias)
    progress("target: threads and memory layout", 0.7)
    threads = tune(target, options.threads)
    models = LoadedModels(
        source,
        target,
        tokenizer,
        render,
        threads,
        options,
        medusa_choices=choices,
        eagle_choices=eagle_choices,
        notes=notes,
        ignored=ignored_settings(target.model.generation_config),
        sampling=sampling_defaults(checkpoint.folder),
        bias=bias,
        eos=eos_ids(target.model, tokenizer),
    )
    if checkpoint.gguf_file is not None:
        models.gguf_files["target"] = checkpoint.gguf_file
    for spec in lanes:
        load_drafter(models.seen_by(spec), spec.strategy, progress)
    return models


def _shortened_context(target: Target) -> str:
    """Say so if the self test ended the context with the attention window."""
    named = window_of(target.config)
    if named is None or target.window is not None:
        return ""
    return (
        f"its class does not apply the attention window of {named.size} tokens that its config "
        "names: the context ends there"
    )


def refuse_other_drafters(
    options: ModelOptions, lanes: Collection[LaneSpec], progress: Progress = silent
) -> None:
    """Raise InputError for a folder that holds no drafter of its role, as far as names of tensors
    tell: before the target is loaded, which may take minutes."""
    for spec in lanes:
        role = STRATEGIES[spec.strategy].role
        source = spec.checkpoint or options.drafters.get(role or "")
        if role is None or source is None:
            continue
        if role == "draft":
            folder = find_checkpoint(source, options.of_draft.adapter, progress).folder
        else:
            folder = local_folder(source, progress)
        names = read_tensor_names(folder)
        if names is None:
            continue
        config = read_config(folder)
        if role == "medusa":
            require_medusa(folder, names)
        elif role != "draft":
            require_eagle(folder, names, config)
        elif (kind := detect_kind(config, dict.fromkeys(names, ()))) not in ("model", None):
            given = next(name for name in HEADS if kind in ROLES[name].kinds)
            raise InputError(f"{source} holds no draft model: give it with --{given}")


def load_drafter(models: LoadedModels, strategy: str, progress: Progress) -> None:
    """Load a strategy's drafter unless that is done; if the options name none, record that in
    `models.missing`. Raises InputError."""
    role = STRATEGIES[strategy].role
    if role is None or not models.needs_loading(strategy):
        return
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


def _load_draft(models: LoadedModels, source: str, role: str, progress: Progress) -> Target:
    options = models.options.of_draft
    draft_tokenizer = load_tokenizer(source, options, progress)
    difference = first_difference(models.tokenizer, draft_tokenizer)
    draft = load_target(source, options)
    _leave_out_padding(draft, draft_tokenizer if difference else models.tokenizer)
    checkpoint = find_checkpoint(source, options.adapter)
    if checkpoint.gguf_file is not None:
        models.gguf_files[role] = checkpoint.gguf_file
    precision = precision_of(read_config(checkpoint.folder))
    notes = [checkpoint.note or (f"{precision} weights" if precision else "")]
    if difference:
        models.draft_tokenizer = draft_tokenizer
        models.missing[DRAFT_ONLY.name] = "the draft model has another tokenizer than the target"
        notes.append(f"drafts as text: another tokenizer ({difference})")
    elif draft.vocab_size < models.target.unpadded_vocab_size:
        raise InputError(
            f"the draft model {source} has {draft.vocab_size} logits for "
            f"{models.target.unpadded_vocab_size} tokens"
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
        number = whole_number(text, tokens - 1)
        if number is None and text.isascii() and text.isdecimal():
            raise InputError(f"--logit-bias: there is no token {text:.20}, ids end at {tokens - 1}")
        ids = input_ids(tokenizer(text, add_special_tokens=False)) if number is None else [number]
        if len(ids) != 1:
            raise InputError(
                f"--logit-bias: '{text}' is {len(ids)} tokens {ids}: give them one by one, by id"
            )
        if ids[0] >= tokens:
            raise InputError(f"--logit-bias: there is no token {ids[0]}, ids end at {tokens - 1}")
        found[ids[0]] = found.get(ids[0], 0.0) + value
    return found


def _leave_out_padding(model: Target, tokenizer: PreTrainedTokenizerBase) -> None:
    """Many models pad their vocabulary: logits beyond the tokenizer's ids must not be sampled."""
    known = 1 + max(tokenizer.get_vocab().values(), default=-1)
    model.unpadded_vocab_size = min(known or model.vocab_size, model.vocab_size)


def _load_medusa(models: LoadedModels, source: str, role: str, progress: Progress) -> MedusaHeads:
    target = models.target
    folder = local_folder(source, progress)
    if precision := precision_of(read_config(folder)):
        models.notes[role] = f"{precision} weights"
    weights = read_medusa(folder, target.hidden_size, target.vocab_size)
    heads = MedusaHeads(weights, target)
    models.medusa_choices = models.medusa_choices or weights.choices
    require_ranks(models.medusa_choices, heads.vocab)
    models.medusa_choices = models.medusa_choices or medusa_tree(
        heads, target, models.options.threads, models.verify_cost
    )
    return heads


def _load_eagle(models: LoadedModels, source: str, role: str, progress: Progress) -> EagleHead:
    target = models.target
    folder = local_folder(source, progress)
    weights = read_eagle(folder, TargetShape.of(target))
    config = weights.config
    if config.version not in ROLES[role].kinds:
        raise InputError(f"--{role} {folder} is an EAGLE-3 head: give it with --eagle")
    try:
        head = drafting_head(weights, target)
    except (TypeError, ValueError, ArithmeticError, LookupError) as error:
        raise InputError(f"{folder}: no head can be built from its config.json: {error}") from error
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
