"""Which models are on this machine, and what drafts for which. No weights, no torch, no network:
config.json and the names and shapes of the tensors tell what a folder holds."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

from app.config.settings import ModelOptions
from app.models.hub import hub_id, shown_as
from app.strategies.registry import STRATEGIES
from decoding.checkpoints.dialects import detect_kind, feature_width
from decoding.checkpoints.headers import read_tensor_shapes
from decoding.errors import InputError

Kind = Literal["model", "medusa", "eagle", "eagle1"]


@dataclass(frozen=True, slots=True)
class CheckpointInfo:
    """A folder with a model or with heads. `size` in bytes; `hidden` is the width of the target's
    features that it has or reads, 0 where that is not known."""

    place: str
    name: str
    kind: Kind
    size: int
    hidden: int
    vocab: int = 0
    layers: int = 0
    merged: bool = False  # a model with Medusa heads inside
    base: str = ""  # the target that it says it was made for


@dataclass(frozen=True, slots=True)
class Part:
    """What a target has for one strategy: a `place`, or what to do about it, in a line."""

    strategy: str
    place: str | None
    advice: str = ""


def inspect_folder(folder: Path) -> CheckpointInfo | None:
    """What is in a folder, None where it is nothing that decodes or drafts."""
    try:
        return _look_at(folder)
    except Exception:  # files of others may hold anything
        return None


def _look_at(folder: Path) -> CheckpointInfo | None:
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    shapes = read_tensor_shapes(folder)
    size = sum(path.stat().st_size for path in folder.iterdir() if path.is_file())
    detected = detect_kind(config, shapes)
    if detected is None:
        return None
    kind: Kind = "eagle" if detected == "eagle3" else detected
    text = config.get("text_config") or config.get("transformer_layer_config") or config
    hidden = int(text.get("hidden_size") or text.get("n_embd") or 0)
    width = feature_width(detected, config, shapes)
    hidden = hidden if width is None else width
    layers = int(text.get("num_hidden_layers") or text.get("n_layer") or 0)
    vocab = int(text.get("vocab_size") or 0)
    base = str(config.get("base_model_name_or_path") or "")
    merged = kind == "model" and any(name.startswith("medusa_head.") for name in shapes)
    return CheckpointInfo(
        str(folder), shown_as(str(folder)), kind, size, hidden, vocab, layers, merged, base
    )


def cached() -> list[CheckpointInfo]:
    """What is in the Hugging Face cache, the newest revision of each."""
    from huggingface_hub import scan_cache_dir
    from huggingface_hub.errors import CacheNotFound

    try:
        repos = [repo for repo in scan_cache_dir().repos if repo.repo_type == "model"]
    except (CacheNotFound, OSError):
        return []
    whole = (repo.revisions for repo in repos if repo.revisions)  # else a download was cut off
    newest = [max(revisions, key=lambda each: each.last_modified) for revisions in whole]
    found = (inspect_folder(revision.snapshot_path) for revision in newest)
    return sorted((each for each in found if each), key=lambda each: each.name.lower())


def near(target: Path) -> list[CheckpointInfo]:
    """What lies beside a target, and in it."""
    try:
        folders = [path for path in (*target.parent.iterdir(), *target.iterdir()) if path.is_dir()]
    except OSError:
        return []
    found = (inspect_folder(folder) for folder in folders if folder != target)
    return [each for each in found if each]


def draft_for(target: CheckpointInfo, others: Iterable[CheckpointInfo]) -> CheckpointInfo | None:
    """The largest model of the same vocabulary that is at most half as large."""
    smaller = [
        each
        for each in others
        if each.kind == "model" and each.size <= target.size / 2 and each.place != target.place
    ]
    for each in sorted(smaller, key=lambda each: -each.size):
        vocabulary = vocabulary_of(each.place)
        if vocabulary is not None and vocabulary == vocabulary_of(target.place):
            return each
    return None


@cache
def vocabulary_of(place: str) -> int | None:
    """A fingerprint of the tokens and their ids, None where there is no tokenizer.json."""
    try:
        tokenizer = json.loads((Path(place) / "tokenizer.json").read_text(encoding="utf-8"))
        vocabulary = tokenizer["model"]["vocab"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    pairs = vocabulary.items() if isinstance(vocabulary, dict) else map(tuple, vocabulary)
    return hash(frozenset(pairs))


def complete(options: ModelOptions, elsewhere: Sequence[CheckpointInfo] = ()) -> ModelOptions:
    """`options` with what drafts for their target, from beside it and from `elsewhere`, in the
    places where nothing is named."""
    target = inspect_folder(Path(str(options.target)))
    if target is None:
        return options
    if target.merged:
        options = replace(options, medusa=options.medusa or target.place)
    others = [*near(Path(target.place)), *elsewhere]
    given: dict[str, Any] = {
        kind: next((each.place for each in others if _fits(each, kind, target)), None)
        for kind in ("medusa", "eagle", "eagle1")
    }
    if not options.draft and (draft := draft_for(target, others)):
        given["draft"] = draft.place
    missing = {name: place for name, place in given.items() if not getattr(options, name)}
    return replace(options, **missing)


def _fits(found: CheckpointInfo, kind: str, target: CheckpointInfo) -> bool:
    if kind == "medusa" and not found.hidden and found.base:  # an old .pt, which tells no shapes
        return found.kind == kind and found.base in (target.place, target.name)
    same_words = found.vocab in (0, target.vocab)
    return found.kind == kind and found.hidden == target.hidden and same_words


def parts(options: ModelOptions) -> list[Part]:
    """For each strategy that needs something: what it has, or the command that makes it."""
    target = hub_id(str(options.target)) or options.target
    advice = {each.role: each.advice for each in STRATEGIES.values() if each.role}
    return [
        Part(role, place, "" if place else what.format(target=target))
        for role, what in advice.items()
        for place in (getattr(options, role),)
    ]


def folder_of(text: str) -> CheckpointInfo:
    """The model in a folder as it was typed. Raises InputError."""
    try:
        folder = Path(text).expanduser().absolute()
        there = folder.is_dir()
    except (OSError, RuntimeError):  # a name too long, no such user, a place that is not ours
        there = False
    if not there:
        raise InputError(f"no folder {text}")
    found = inspect_folder(folder)
    if found is None or found.kind != "model":
        what = "no causal language model" if found is None else "heads, no model to draft for"
        raise InputError(f"{text} holds {what}")
    return found
