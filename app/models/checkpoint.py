"""Resolves what a model is loaded from: a folder, a GGUF file, an adapter with its base."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from app.config.model_options import ModelOptions
from app.models.download import (
    find_source,
    gguf_among,
    has_tokenizer,
    local_folder,
    weights_among,
)
from app.progress import Progress, silent
from app.strategies.lane_spec import LaneSpec
from app.strategies.registry import STRATEGIES
from app.text.repo_name import parse_repo
from decoding.errors import InputError
from decoding.json_text import read_json


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A model's folder, the GGUF file in it to load instead of its tensors, and the folder of a
    PEFT adapter to merge into it."""

    folder: Path
    gguf_file: str | None = None
    adapter: Path | None = None

    @property
    def with_tokenizer(self) -> Path:
        """The folder of the tokenizer: an adapter's own, which may have other special tokens, is
        preferred to its base's."""
        own = self.adapter
        return own if own is not None and has_tokenizer(own) else self.folder

    @property
    def note(self) -> str:
        """What loading changes, in a few words."""
        facts = []
        if self.gguf_file is not None:
            facts.append(f"dequantized from {self.gguf_file}")
        if self.adapter is not None:
            facts.append(f"with the adapter {self.adapter.name} merged")
        return ", ".join(facts)


def find_checkpoint(
    source: str, adapter: str | None = None, progress: Progress = silent
) -> Checkpoint:
    """Return the checkpoint of a source: a model's folder or hub id, a GGUF file or a folder with
    one (org/name:Q4_K_M selects one of several in a repository), or the folder or hub id of an
    adapter that names its base. Raises InputError."""
    found = _find(source, progress)
    if adapter is None:
        return found
    if found.adapter is not None:
        raise InputError(f"{source} is an adapter itself: give its base to go with {adapter}")
    folder = local_folder(adapter, progress)
    if not _is_adapter(folder):
        raise InputError(f"{adapter} has no adapter_config.json: give the folder of a PEFT adapter")
    return replace(found, adapter=folder)


def require_sources(options: ModelOptions, lanes: Iterable[LaneSpec]) -> None:
    """Raise InputError if the target or a drafter of the `lanes` can't be found. Takes a moment,
    while loading begins with the import of torch."""
    local = [spec for spec in lanes if spec.endpoint is None]
    if local and options.target:
        _require_target(options.target)
    for spec in local:
        drafter = spec.checkpoint or options.drafters.get(STRATEGIES[spec.strategy].role or "")
        if drafter and _file(drafter) is None:
            find_source(drafter)


def _require_target(source: str) -> None:
    """Raise InputError if a source is a file or a folder without a model, or is neither, not in the
    cache, and can't be asked for."""
    if _file(source) is None:
        folder, repo = find_source(source)
        if repo is not None or (folder and _is_adapter(folder)):  # may have to be downloaded
            return
    _find(source, silent)


def _find(source: str, progress: Progress, of_adapter: bool = False) -> Checkpoint:
    file = _file(source)
    if file is not None:
        if file.suffix != ".gguf":
            raise InputError(f"{source} is a file: give the model's folder, or a .gguf file")
        return Checkpoint(file.parent, _not_split(file.name))
    folder = local_folder(source, progress, tokenizer=True)
    repo = parse_repo(source)
    quant = repo.quant if repo is not None and not Path(source).is_dir() else None
    names = [path.name for path in folder.iterdir()]
    gguf = gguf_among(names, quant)
    if quant is not None:
        return Checkpoint(folder, _one_of(source, gguf))
    if "config.json" in names and (weights_among(names) or not gguf):
        if _is_adapter(folder):
            raise InputError(
                f"{source} holds a PEFT adapter beside its model: give the adapter's folder alone "
                "with --adapter, or move adapter_config.json away to go without it"
            )
        return Checkpoint(folder)
    if _is_adapter(folder):
        if of_adapter:  # perhaps of this very one
            raise InputError("that is an adapter itself, merge it first")
        return replace(_base(source, folder, progress), adapter=folder)
    if gguf:
        return Checkpoint(folder, _one_of(source, gguf))
    raise InputError(f"{source} has no config.json: give a Hugging Face model folder")


def _file(source: str) -> Path | None:
    try:
        path = Path(source).expanduser()
        return path if path.is_file() else None
    except (OSError, RuntimeError, ValueError):  # too long, an unknown user
        return None


def _one_of(source: str, names: list[str]) -> str:
    if len(names) > 1:
        raise InputError(f"{source} holds several GGUF files, name one: {', '.join(names)}")
    return _not_split(names[0])


def _not_split(name: str) -> str:
    if re.search(r"-\d+-of-\d+\.gguf$", name):
        raise InputError(
            f"{name} is a part of a GGUF file: join them with llama-gguf-split --merge"
        )
    return name


def _is_adapter(folder: Path) -> bool:
    return (folder / "adapter_config.json").is_file()


def _base(source: str, adapter: Path, progress: Progress) -> Checkpoint:
    """The checkpoint that an adapter was trained on."""
    other = f"give its base: --target BASE --adapter {source}"
    try:
        config = read_json(adapter / "adapter_config.json")
        base = config["base_model_name_or_path"]
        revision = config.get("revision")
        if not isinstance(base, str) or not isinstance(revision, str | None):
            raise ValueError("base_model_name_or_path must be text")
        if revision is not None and not Path(base).is_dir():
            base = f"{base}@{revision}"
    except (OSError, ValueError, TypeError, LookupError, AttributeError) as error:
        raise InputError(
            f"the adapter {source} does not name its base model ({error}): {other}"
        ) from error
    try:
        return _find(base, progress, of_adapter=True)
    except InputError as error:
        raise InputError(f"{source} is a PEFT adapter of {base}: {error}; or {other}") from error
