"""One training of `heads train`: its options, data and folders."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

from filelock import Timeout

from app.cli.heads.provenance import (
    BARE_SOURCE,
    contents,
    identity,
    read_object,
    require_same_target,
    same,
    words,
)
from app.cli.heads.target import LAYERS_BEFORE_KEY, load, save_model, use_threads
from app.cli.heads.training_data import conversations_of
from app.cli.terminal import say
from app.text.plural import pluralize
from app.text.units import format_bytes
from decoding.errors import InputError
from decoding.files import Claim, write_atomically
from decoding.training.log import ANSWERS, LOG
from decoding.training.processes import is_first_process, process_count

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from decoding.checkpoints.dialects import DrafterKind
    from decoding.training.conversations import Conversations
    from decoding.training.data import Record
    from decoding.training.draft import DraftReport
    from decoding.training.eagle import EagleReport
    from decoding.training.features import FeatureCache
    from decoding.training.train_config import TrainConfig

    Examples = Conversations | FeatureCache

LAST_WEIGHTS = "weights of the last step"
BARE_TARGET = "target"  # in a folder of features: the target without its layers
OPTIONS = "options.json"  # in the folder for checkpoints: what the training began with


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingData:
    """The files to learn from and to measure on, FILE[:REPEAT]; None to measure on: every 20th
    prompt. `length` is in tokens. `features`: the folder of the target's hidden states."""

    files: list[str]
    held_out: list[str] | None
    length: int
    features: Path | None = None
    offline: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class KindOptions:
    """The options for one kind of drafter alone: `joint` is Medusa's, the others are EAGLE's. None:
    the default."""

    joint: bool = False
    unroll: int | None = None
    draft_vocab: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingJob:
    """The options of `heads train`."""

    target: str
    heads: Path
    kind: DrafterKind
    out: Path
    data: TrainingData
    config: TrainConfig
    of_kind: KindOptions
    lr: float | None  # of --lr; None: the default of what is trained
    resume: bool
    device: str
    template: str | None = None  # of --chat-template
    threads: int | None = None

    @property
    def serves(self) -> bool:
        """Whether the whole target is in this process, so that drafters can be served with it."""
        return not (self.data.offline or self.config.shard)

    def config_with(self, default_lr: float) -> TrainConfig:
        """Return the settings of training, with the `default_lr` of what is trained unless --lr is
        given."""
        return replace(self.config, lr=default_lr if self.lr is None else self.lr)

    @property
    def work(self) -> Path:
        """The folder for checkpoints."""
        return self.out / "training"

    def how_to_continue(self) -> str:
        """Return what to do after an interruption; empty if there is no checkpoint."""
        from decoding.training.train_config import checkpoints

        if not any(map(checkpoints, (self.work, *self.work.glob("*/")))):
            return ""
        return "the same command with --resume continues from the newest checkpoint"

    def begin(self) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
        """Return the target and its tokenizer. With `offline`, the target comes without its layers
        if it was saved so beside its features. Raises InputError, also if --out is not new or, with
        `resume`, holds no training."""
        if self.resume and not self.work.is_dir():
            raise InputError(f"{self.out} holds no training to go on with: leave --resume out")
        if not self.resume and self.work.is_dir():
            raise InputError(f"{self.out} holds a training: add --resume, or choose a new folder")
        if self.resume:
            self._require_same_options()
        else:
            refuse_existing(self.out)
        self.config.require_shares(process_count())
        use_threads(self.threads)
        features = self.data.features
        if self.data.offline and features:
            bare = features / BARE_TARGET
            if (bare / "config.json").is_file():  # written last
                require_same_target(features, self.target)
                return load(str(bare), self.device, template=self.template)
        model, tokenizer = load(self.target, self.device, template=self.template)
        if self.config.shard:
            from decoding.training.sharding import process_mesh, shard_layers

            if features is None:
                shard_layers(model)
            else:
                process_mesh(model.device)  # raises if there is only one
        return model, tokenizer

    def note_options(self, device: torch.device) -> None:
        """Write down what the training on the `device` begins with, for `resume`."""
        _join_processes(device)
        wait_for_everyone()  # each has seen by now that --out is new
        if is_first_process() and not (self.work / OPTIONS).exists():
            begun = json.dumps(self._options(), indent=2) + "\n"
            write_atomically(self.work / OPTIONS, begun, private=False)

    def _options(self) -> dict[str, object]:
        """The options that decide what each step learns."""
        c = self.config
        return {
            "--target": identity(self.target),
            "--heads": identity(str(self.heads)),
            "--data": contents(self.data.files),
            "--held-out": contents(self.data.held_out or []),
            "--chat-template": contents([self.template]) if self.template else None,
            "--length": self.data.length,
            "--lr": self.lr,
            "--target-lr": c.target_lr or None,
            "--muon-lr": c.muon_lr,
            "--warmup": c.warmup,
            "--batch-size": c.batch_size,
            "--accumulate": c.accumulate,
            "--seed": c.seed,
            "--loss": c.loss,
            "--qat": c.qat,
            "--joint": self.of_kind.joint,
            "--unroll": self.of_kind.unroll,
            "--draft-vocab": self.of_kind.draft_vocab,
        }

    def _require_same_options(self) -> None:
        """Raise InputError if what was begun with other options is to go on. The optimizer keeps
        its rates, and a step in other data is another one."""
        from decoding.training.eagle_model import STEPS
        from decoding.training.train_config import WARMUP

        begun = read_object(self.work / OPTIONS)
        if not begun:  # killed before its first step
            return
        defaults = {
            "--unroll": STEPS,
            "--warmup": WARMUP,
            "--loss": "ce" if self.kind == "medusa" else "kl",
        }
        for option, now in self._options().items():
            before, default = begun.get(option), defaults.get(option)
            if not same(*(default if each is None else each for each in (before, now))):
                what = "began with"
                if (was := words(before)) == words(now):
                    was, what = "another content", "began when it had"
                raise InputError(
                    f"--resume: {option} is {words(now)}, the training in {self.out} {what} "
                    f"{was}: give the same, or a new folder for --out"
                )

    def datasets(
        self,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        layers: Sequence[int] = (),
        length: int = sys.maxsize,
    ) -> tuple[PreTrainedModel, Examples, Examples, Sequence[Record]]:
        """Return the target, the datasets to train and to evaluate on (see `conversations_of`), and
        the records of the latter. With `features` they have the target's states from disk; with
        `offline` the target loses its layers once these are complete. Raises InputError."""
        features = self.data.features
        learned, tested, records = conversations_of(
            self.data.files, self.data.held_out, model, tokenizer, min(self.data.length, length)
        )
        self.config.require_full_batch(len(learned), process_count())
        self.config.require_steps_after_warmup(len(learned))
        if features is None:
            return model, learned, tested, records
        from torch import nn

        from decoding.training.draft_attach import attach_draft
        from decoding.training.features import (
            cache_features,
            cached_features,
            feature_bytes,
            is_complete,
        )

        parts = ((learned, features), (tested, features / "held-out"))
        depth = model.config.get_text_config(decoder=True).num_hidden_layers
        has_layers = depth > 0
        if has_layers:
            with _first_process_first(model.device) as is_first:
                if is_first:
                    size = sum(feature_bytes(model, data, layers) for data, _ in parts)
                    _require_disk_space(features, size)
                    done = all(is_complete(folder) for _, folder in parts)
                    with nullcontext() if done else _alone_in(features):
                        for data, folder in parts:
                            cache_features(model, data, layers, folder)
        kept = [cached_features(data, layers, folder) for data, folder in parts]
        if self.data.offline and has_layers:
            device, precision = model.device, model.dtype
            model = attach_draft(model, 0)
            setattr(model.config, LAYERS_BEFORE_KEY, depth)
            if is_first_process():
                source = json.dumps(identity(self.target)) + "\n"
                write_atomically(features / BARE_SOURCE, source, private=False)
                save_model(model, tokenizer, features / BARE_TARGET, self.target)
            nn.Module.to(model, device, precision)
        return model, kept[0], kept[1], records


def kept_weights(reports: Sequence[EagleReport | DraftReport], else_by: str) -> str:
    """Say of which step the weights are that a training ended with: those with the best served τ,
    or with the best `else_by` where none was served."""
    kept = next((report for report in reports if report.kept), None)
    if kept is None:  # it was never evaluated
        return LAST_WEIGHTS
    best = else_by if kept.served is None else "served τ"
    evaluations = pluralize(sum(report.step > 0 for report in reports), "evaluation")
    return f"weights of step {kept.step}, the best {best} of {evaluations}"


def refuse_existing(out: Path) -> None:
    """Raise InputError unless --out is a new or empty folder, so that nothing is overwritten."""
    if out.exists() and not out.is_dir():
        raise InputError(f"{out} is a file: choose a new folder for --out")
    if out.exists() and any(out.iterdir()):
        raise InputError(f"{out} is not empty: choose a new folder for --out")
    require_place(out)


def require_place(folder: Path) -> None:
    """Raise InputError unless files can be written to the folder, or to the nearest one above it
    that there is: before any work, and not when its result is lost."""
    there = next(each for each in (folder, *folder.absolute().parents) if each.exists())
    try:
        TemporaryFile(dir=there).close()
    except OSError as error:
        raise InputError(
            f"can't write to {folder} ({error.strerror}): choose another place for --out"
        ) from error


@contextmanager
def _alone_in(features: Path) -> Iterator[None]:
    """Wait until no other training writes to the folder, as those that share it may begin
    together: the others find the features there."""
    features.mkdir(parents=True, exist_ok=True)
    claim = Claim(features / ".lock")
    try:
        claim.acquire(timeout=0)
    except Timeout:
        say(f"waiting for the training that writes the features in {features}")
        claim.acquire()
    try:
        yield
    finally:
        claim.release()


def _require_disk_space(folder: Path, size: int) -> None:
    """Print the size of the features. Raises InputError if the disk has no room for them."""
    there = sum(path.stat().st_size for path in folder.glob("**/features-*.safetensors"))
    left = max(size - there, 0)
    say(f"features of {format_bytes(size)} in {folder}")
    free = shutil.disk_usage(next(path for path in (folder, *folder.parents) if path.exists())).free
    if left > free:
        raise InputError(f"{folder} has room for {format_bytes(free)} only: choose another folder")


def _join_processes(device: torch.device) -> None:
    """Let several processes know of each other, as the Trainer would later."""
    if process_count() > 1:
        from accelerate import PartialState

        PartialState(cpu=device.type == "cpu")


@contextmanager
def _first_process_first(device: torch.device) -> Iterator[bool]:
    """Whether this is the first process, whose work the others wait for. Raises InputError in these
    if it fails."""
    first = is_first_process()
    if process_count() == 1:
        yield first
        return
    import torch
    from torch import distributed

    _join_processes(device)
    # Not by a barrier of the default group, which ends after minutes.
    patient = distributed.new_group(backend="gloo", timeout=timedelta(days=365))
    failed = torch.ones(1)
    try:
        yield first
        failed.zero_()
    finally:
        with suppress(RuntimeError):  # a process was killed
            distributed.all_reduce(failed, group=patient)
    if failed.any():
        raise InputError("the first process has failed, and says why: this one ends too")


def wait_for_everyone() -> None:
    """Wait until all processes, which have been joined, are here."""
    if process_count() > 1:
        from accelerate import PartialState

        PartialState().wait_for_everyone()


def remove_checkpoints(work: Path) -> None:
    """Remove checkpoints and logs of a finished training; other results in `work` stay."""
    for checkpoint in work.glob("**/checkpoint-*"):
        # First, so that a kill leaves none that looks whole.
        (checkpoint / "trainer_state.json").unlink(missing_ok=True)
        shutil.rmtree(checkpoint)
    for name in (LOG, ANSWERS, OPTIONS):
        for log in work.glob(f"**/{name}"):
            log.unlink()
    with suppress(OSError):  # not empty
        work.rmdir()
