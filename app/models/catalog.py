"""Finds the models on this machine and the drafters that fit each, from config.json and the names
and shapes of the tensors: without weights, torch or network."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from app.config.model_options import ModelOptions
from app.models.download import is_whole
from app.models.hub import cached_folder, cached_repos, display_name, hub_id, repo_cache
from app.strategies.registry import STRATEGIES
from app.strategies.roles import HEADS, ROLES
from app.text.repo_name import Repo
from decoding.checkpoints.dialects import MERGED_HEADS, detect_kind, feature_width
from decoding.checkpoints.headers import read_tensor_shapes
from decoding.errors import InputError
from decoding.json_text import read_json

# By kind of checkpoint: "model", or the role of such heads.
_KINDS = {"model": "model", **{ROLES[name].kinds[0]: name for name in HEADS}}


@dataclass(frozen=True, slots=True)
class CheckpointInfo:
    """A folder with a model or heads. `source` is its path, `size` in bytes. `hidden` is the width
    of the features, the model's own or those that the heads read; 0 if unknown."""

    source: str
    name: str
    kind: str  # model, or the role of its heads
    size: int
    hidden: int
    vocab: int = 0
    layers: int = 0
    merged: bool = False  # a model with Medusa heads inside
    base: str = ""  # the target that its config.json names


@dataclass(frozen=True, slots=True)
class DrafterStatus:
    """A strategy's checkpoint: its `source` (folder or hub id), or one line of `advice` on how to
    make one."""

    strategy: str
    source: str | None
    advice: str = ""


def inspect_folder(folder: Path) -> CheckpointInfo | None:
    """Return the checkpoint in a folder; None if it is neither a causal LM nor heads."""
    try:
        return _inspect(folder)
    except Exception:  # any file may be broken
        return None


def _inspect(folder: Path) -> CheckpointInfo | None:
    config = read_json(folder / "config.json")
    shapes = read_tensor_shapes(folder)
    size = sum(path.stat().st_size for path in folder.iterdir() if path.is_file())
    detected = detect_kind(config, shapes)
    if detected is None:
        return None
    kind = _KINDS[detected]
    if kind == "model" and not _has_weights(folder):  # a download that was interrupted
        return None
    text = config.get("text_config") or config.get("transformer_layer_config") or config
    hidden = int(text.get("hidden_size") or text.get("n_embd") or 0)
    width = feature_width(detected, config, shapes)
    hidden = hidden if width is None else width
    layers = int(text.get("num_hidden_layers") or text.get("n_layer") or 0)
    vocab = int(text.get("vocab_size") or 0)
    base = str(config.get("base_model_name_or_path") or "")
    merged = kind == "model" and any(map(MERGED_HEADS.match, shapes))
    return CheckpointInfo(
        str(folder), display_name(str(folder)), kind, size, hidden, vocab, layers, merged, base
    )


def _has_weights(folder: Path) -> bool:
    return is_whole(folder) or any(folder.glob("*.gguf"))


def cached_checkpoints() -> list[CheckpointInfo]:
    """Return the checkpoints in the Hugging Face cache by name: the main revision of each, or else
    its newest. Repositories that can't be read are skipped; huggingface_hub's own scan would give
    up the whole cache."""
    folders = []
    for repo in cached_repos():
        with suppress(OSError, ValueError):
            folders.append(cached_folder(repo) or _newest_snapshot(repo))
    found = [inspect_folder(folder) for folder in folders if folder]
    return sorted((each for each in found if each), key=lambda each: each.name.lower())


def _newest_snapshot(repo: Repo) -> Path | None:
    """May raise OSError."""
    snapshots = [each for each in (repo_cache(repo) / "snapshots").iterdir() if each.is_dir()]
    return max(snapshots, key=lambda each: each.stat().st_mtime, default=None)


def siblings(target: Path) -> list[CheckpointInfo]:
    """Checkpoints in the folders beside the target's and inside it."""
    try:
        folders = [path for path in (*target.parent.iterdir(), *target.iterdir()) if path.is_dir()]
    except OSError:
        return []
    found = (inspect_folder(folder) for folder in folders if folder != target)
    return [each for each in found if each]


def draft_for(target: CheckpointInfo, others: Iterable[CheckpointInfo]) -> CheckpointInfo | None:
    """Return the largest model with the target's vocabulary that is at most half its size."""
    smaller = [
        each
        for each in others
        if each.kind == "model" and each.size <= target.size / 2 and each.source != target.source
    ]
    for each in sorted(smaller, key=lambda each: -each.size):
        vocabulary = vocabulary_of(each.source)
        if vocabulary is not None and vocabulary == vocabulary_of(target.source):
            return each
    return None


@cache
def vocabulary_of(source: str) -> int | None:
    """Return a hash of the tokens and their ids; None without a readable tokenizer.json."""
    try:
        tokenizer = read_json(Path(source) / "tokenizer.json")
        vocabulary = tokenizer["model"]["vocab"]
        pairs = vocabulary.items() if isinstance(vocabulary, dict) else map(tuple, vocabulary)
        return hash(frozenset(pairs))
    except Exception:  # files of others may hold anything
        return None


def fill_in_drafters(
    options: ModelOptions, elsewhere: Sequence[CheckpointInfo] = ()
) -> ModelOptions:
    """Fill in drafters that `options` do not name with those that fit the target, from its
    `siblings` and from `elsewhere`."""
    target = inspect_folder(Path(str(options.target)))
    if target is None:
        return options
    others = [*siblings(Path(target.source)), *elsewhere]
    found = {
        role: each.source
        for role in HEADS
        for each in reversed(others)  # the first one that fits
        if each.kind == role and _fits(each, target)
    }
    if "draft" not in options.drafters and (draft := draft_for(target, others)):
        found["draft"] = draft.source
    if target.merged:
        found["medusa"] = target.source
    return replace(options, drafters={**found, **options.drafters})


def _fits(heads: CheckpointInfo, target: CheckpointInfo) -> bool:
    if not heads.hidden and heads.base:  # an old .pt: no shapes to read
        return heads.base in (target.source, target.name)
    return heads.hidden == target.hidden and heads.vocab in (0, target.vocab)


def drafter_status(options: ModelOptions) -> list[DrafterStatus]:
    """For each strategy that needs a checkpoint: its source, or the command that makes one."""
    target = hub_id(str(options.target)) or options.target
    found = {}
    for each in STRATEGIES.values():
        if each.role:
            source = options.drafters.get(each.role)
            advice = "" if source else each.advice.format(target=target)
            found[each.role] = DrafterStatus(each.role, source, advice)
    return list(found.values())


def resolve_model_folder(text: str) -> CheckpointInfo:
    """Inspect the folder that a user typed. Raises InputError if it holds no causal LM."""
    try:
        folder = Path(text).expanduser().absolute()
        exists = folder.is_dir()
    except (OSError, RuntimeError):  # name too long, unknown user, no permission
        exists = False
    if not exists:
        raise InputError(f"no folder {text}")
    found = inspect_folder(folder)
    if found is None and (folder / "config.json").is_file() and not _has_weights(folder):
        raise InputError(f"{text} has a config.json but not all of the model's weights")
    if found is None and (any(folder.glob("*.gguf")) or (folder / "adapter_config.json").is_file()):
        raise InputError(f"{text} holds a GGUF file or an adapter: start with --target {text}")
    if found is None or found.kind != "model":
        what = "no causal language model" if found is None else "heads, no model to draft for"
        raise InputError(f"{text} holds {what}")
    return found
