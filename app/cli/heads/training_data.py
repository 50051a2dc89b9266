"""Reads the inputs of the `heads` commands."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from app.cli.terminal import say
from decoding.errors import InputError
from decoding.training.log import LOG

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from app.text.prompt_file import Request
    from decoding.checkpoints.eagle_fit import TargetShape
    from decoding.training.conversations import Conversations
    from decoding.training.data import Record
    from decoding.training.features import FeatureCache
    from decoding.training.train_config import TrainConfig

    Examples = Conversations | FeatureCache

ANSWERS = "answers.jsonl"  # beside the training log: one answer per evaluation
BARE_TARGET = "target"  # in a folder of features: the target without its layers


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingJob:
    """The options of `heads train` that all kinds of drafters share."""

    target: str
    heads: Path
    data: list[str]
    held_out: list[str] | None
    length: int
    out: Path
    config: TrainConfig
    resume: bool
    device: str
    features: Path | None = None
    offline: bool = False
    shard: bool = False

    @property
    def serves(self) -> bool:
        """Whether the whole target is in this process, so that drafters can be served with it."""
        return not (self.offline or self.shard)

    @property
    def work(self) -> Path:
        """The folder for checkpoints."""
        return self.out / "training"

    def begin(self) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
        """The target and its tokenizer. With `offline`, the target comes without its layers if it
        was saved so beside its features. Raises InputError, also if --out is not new or, with
        `resume`, holds no training."""
        if self.resume and not self.work.is_dir():
            raise InputError(f"{self.out} holds no training to go on with: leave --resume out")
        if not self.resume and self.work.is_dir():
            raise InputError(f"{self.out} holds a training: add --resume, or choose a new folder")
        if not self.resume:
            refuse_existing(self.out)
        if self.offline and self.features and (bare := self.features / BARE_TARGET).is_dir():
            return load(str(bare), self.device)
        model, tokenizer = load(self.target, self.device)
        if self.shard:
            from decoding.training.sharding import shard_layers

            shard_layers(model)
        return model, tokenizer

    def datasets(
        self,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        layers: Sequence[int] = (),
        length: int = sys.maxsize,
    ) -> tuple[PreTrainedModel, Examples, Examples, Sequence[Record]]:
        """The target, the datasets to train and to evaluate on (see `conversations_of`), and the
        records of the latter. With `features` they have the target's states from disk; with
        `offline` the target loses its layers once these are complete. Raises InputError."""
        length = min(self.length, length)
        learned, tested, records = conversations_of(
            self.data, self.held_out, model, tokenizer, length
        )
        if self.features is None:
            return model, learned, tested, records
        from torch import nn

        from decoding.training.draft_attach import attach_draft
        from decoding.training.features import cache_features, cached_features, feature_bytes

        parts = ((learned, self.features), (tested, self.features / "held-out"))
        has_layers = bool(model.config.get_text_config(decoder=True).num_hidden_layers)
        if has_layers and is_first_process():
            _require_disk_space(
                self.features, sum(feature_bytes(model, data, layers) for data, _ in parts)
            )
            for data, folder in parts:
                cache_features(model, data, layers, folder)
        elif has_layers:
            _wait_for([folder for _, folder in parts])
        kept = [cached_features(data, layers, folder) for data, folder in parts]
        if self.offline and has_layers:
            device, precision = model.device, model.dtype
            model = attach_draft(model, 0)
            if is_first_process():
                part = self.features / f"{BARE_TARGET}.part"
                save_model(model, tokenizer, part, self.target)
                part.rename(self.features / BARE_TARGET)
            nn.Module.to(model, device, precision)
        return model, kept[0], kept[1], records


def records_of(sources: list[str]) -> list[Record]:
    """Conversations to learn from. Raises InputError."""
    from decoding.training.data import DataSource, require_lesson

    records = []
    for source in sources:
        for line, record in DataSource.parse(source).lines():
            require_lesson(record, line)
            records.append(record)
    if not records:
        raise InputError(f"{', '.join(sources)} holds no records")
    return records


def requests_of(sources: list[str]) -> list[Request]:
    """Prompts, or conversations whose last answer is generated again. Raises InputError."""
    from app.text.prompt_file import parse_request
    from decoding.training.data import DataSource

    requests = [
        parse_request(record, line, answered=True)
        for source in sources
        for line, record in DataSource.parse(source).lines()
    ]
    if not requests:
        raise InputError(f"{', '.join(sources)} holds no prompts: give one JSON object a line")
    return requests


def conversations_of(
    data: list[str],
    held_out: list[str] | None,
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    length: int,
) -> tuple[Conversations, Conversations, Sequence[Record]]:
    """Training and evaluation conversations, and the evaluation records. Without `held_out` every
    20th different record is for evaluation. Cut at `length` tokens and the model's context."""
    from decoding.model.architecture import context_of
    from decoding.training.conversations import Conversations

    records = records_of(data)
    if held_out:
        measured = records_of(held_out)
    else:
        # A record that is repeated, by FILE:REPEAT or in a file, must not be on both sides.
        keys = [json.dumps(record, sort_keys=True) for record in records]
        different = dict(zip(keys, records, strict=True))
        apart = dict(list(different.items())[::20])
        measured = list(apart.values())
        records = [r for key, r in zip(keys, records, strict=True) if key not in apart]
    length = min(length, context_of(model.config.get_text_config(decoder=True)))
    learned = Conversations(records, tokenizer, length)
    tested = Conversations(measured, tokenizer, length)
    if not (len(learned) and len(tested)):
        raise InputError("--data holds no answers to learn from, or none are left to measure on")
    return learned, tested, measured


def load(target: str, device: str) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    from app.config.model_options import ModelOptions
    from app.models.chat_template import render_prompt
    from app.models.limits import run_limited
    from app.models.loading import load_model, load_tokenizer

    if device == "auto" and "LOCAL_RANK" in os.environ:  # a GPU for each of several processes
        import torch

        device = f"cuda:{os.environ['LOCAL_RANK']}" if torch.cuda.is_available() else device
    options = ModelOptions(target=target, device=device)
    tokenizer = load_tokenizer(target, options)
    if tokenizer.chat_template:  # tried once: there are too many records for a process each
        try:
            run_limited(lambda: render_prompt(tokenizer, [{"role": "user", "content": "Hello"}]))
        except ValueError as error:
            raise InputError(f"the model's chat template breaks: {error}") from error
    return load_model(target, options), tokenizer


def save_model(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, out: Path, like: str
) -> None:
    """Write a model in the precision of the one at `like`, a folder or hub id. Raises
    InputError."""
    from torch import float32, nn
    from transformers import AutoConfig

    from decoding.checkpoints.files import write_model

    stored = AutoConfig.from_pretrained(os.path.expanduser(like)).get_text_config(decoder=True)
    nn.Module.to(model, stored.dtype or float32)
    write_model(out, model, tokenizer)


def shape_of(model: PreTrainedModel) -> tuple[int, int]:
    """Width of the hidden states and of the logits."""
    rows, hidden = model.get_output_embeddings().weight.shape
    return hidden, rows


def target_shape(model: PreTrainedModel) -> TargetShape:
    """What an EAGLE head must fit."""
    from decoding.checkpoints.eagle_fit import TargetShape

    hidden, vocab = shape_of(model)
    # A target without layers accepts any index: the features record which were read.
    layers = model.config.get_text_config(decoder=True).num_hidden_layers or sys.maxsize
    return TargetShape(hidden, vocab, layers)


def refuse_existing(out: Path) -> None:
    """Raise InputError unless --out is a new or empty folder, so that nothing is overwritten."""
    if out.exists() and not out.is_dir():
        raise InputError(f"{out} is a file: choose a new folder for --out")
    if out.exists() and any(out.iterdir()):
        raise InputError(f"{out} is not empty: choose a new folder for --out")


def _require_disk_space(folder: Path, size: int) -> None:
    """Print the size of the features. Raises InputError if the disk has no room for them."""
    from app.text.units import format_bytes

    there = sum(path.stat().st_size for path in folder.glob("**/features-*.safetensors"))
    left = max(size - there, 0)
    say(f"features of {format_bytes(size)} in {folder}")
    free = shutil.disk_usage(next(path for path in (folder, *folder.parents) if path.exists())).free
    if left > free:
        raise InputError(f"{folder} has room for {format_bytes(free)} only: choose another folder")


def _wait_for(folders: Sequence[Path]) -> None:
    """Wait until another process has written the features."""
    from decoding.training.features import is_complete

    while not all(map(is_complete, folders)):
        time.sleep(1)


def is_first_process() -> bool:
    """Whether this is rank 0 of `torchrun` or `accelerate launch`, which writes and prints."""
    return os.environ.get("RANK", "0") == "0"


def remove_checkpoints(work: Path) -> None:
    """Remove checkpoints and logs of a finished training; other results in `work` stay."""
    for checkpoint in work.glob("**/checkpoint-*"):
        # First, so that a kill leaves none that looks whole.
        (checkpoint / "trainer_state.json").unlink(missing_ok=True)
        shutil.rmtree(checkpoint)
    for name in (LOG, ANSWERS):
        for log in work.glob(f"**/{name}"):
            log.unlink()
    with suppress(OSError):  # not empty
        work.rmdir()
