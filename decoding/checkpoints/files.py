"""Reads and writes tensors and configs of a checkpoint folder; never executes anything in it."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from decoding.checkpoints.headers import UNFETCHED, is_lfs_pointer, regular_files
from decoding.checkpoints.quantized import dequantized
from decoding.errors import InputError, reason_for
from decoding.json_text import read_json

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

# States that trainers pickle beside the weights; some contain more than tensors.
_STATE = re.compile(r"(optimizer|scheduler|scaler|rng_state)(_\d+)?\.|training_args\.bin")
_UNREADABLE = (SafetensorError, OSError, RuntimeError, ValueError)
_UNWRITTEN = (OSError, RuntimeError, SafetensorError)
_FULL = 1 << 16  # bytes; a disk with less is full


def read_config(folder: Path) -> dict[str, Any]:
    """config.json as a dict; {} if there is none."""
    path = folder / "config.json"
    if not path.is_file():
        return {}
    try:
        config = read_json(path)
    except ValueError as error:
        raise InputError(f"{path} is not valid JSON: {error}") from error
    except OSError as error:
        raise InputError(f"can't read {path}: {reason_for(error)}") from error
    if not isinstance(config, dict):
        raise InputError(f"{path} holds no JSON object")
    return config


def read_tensors(folder: Path, wanted: Callable[[str], bool]) -> dict[str, Tensor]:
    """Return all tensors whose name is `wanted`, from safetensors if there are any, else from .bin
    and .pt files by `torch.load(weights_only=True)`. Quantized ones are converted to float32."""
    if not folder.is_dir():
        raise InputError(f"no folder {folder}: give the folder of a checkpoint")
    tensors: dict[str, Tensor] = {}
    try:
        for path in regular_files(folder, "safetensors"):
            with safe_open(path, framework="pt") as file:
                names = [name for name in file.keys() if wanted(name)]  # noqa: SIM118 (no mapping)
                tensors |= {name: file.get_tensor(name) for name in names}
        if tensors:
            return dequantized(tensors)
        for path in regular_files(folder, "bin", "pt", "pth"):
            if _STATE.match(path.name):
                continue
            loaded = _unpickled(path)
            if isinstance(loaded, dict):
                tensors |= {
                    name: value
                    for name, value in loaded.items()
                    if isinstance(value, Tensor) and wanted(str(name))
                }
    except InputError:
        raise
    except _UNREADABLE as error:
        raise _unreadable(path, error) from error
    return tensors


def require_finite(folder: Path, tensors: Mapping[str, Tensor]) -> None:
    """Raise InputError if a tensor holds NaN or infinity: the drafts would all be wrong, without a
    word. Reads each tensor once; they lie on the CPU."""
    for name, tensor in tensors.items():
        if tensor.is_floating_point() and tensor.numel():
            numbers = tensor if tensor.itemsize > 1 else tensor.float()
            lowest, highest = numbers.aminmax()  # both NaN if any is; makes no copy
            if not (lowest.isfinite() and highest.isfinite()):
                raise InputError(
                    f"{folder}: its tensor {name} is not all numbers (NaN or infinite): its "
                    "weights are damaged, download or train it again"
                )


def _unpickled(path: Path) -> object:
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # a damaged pickle may raise any
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: Exception) -> InputError:
    reason = UNFETCHED if is_lfs_pointer(path) else reason_for(error)
    return InputError(f"can't read {path}: {reason}")


def write_checkpoint(
    folder: Path, name: str, tensors: dict[str, Tensor], config: Mapping[str, Any]
) -> None:
    """Write tensors to a file, in the format of its suffix, and config.json. Raises InputError."""
    with _written_whole(folder) as part:
        if name.endswith(".safetensors"):
            save_file(tensors, part / name, metadata={"format": "pt"})
        else:
            torch.save(tensors, part / name)
        _write_config(part, config)


def write_model(
    folder: Path,
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    more: Mapping[str, Tensor] | None = None,
    architecture: str | None = None,
) -> None:
    """Write a model and its tokenizer as transformers does, with `more` tensors beside its own.
    `architecture`: the class that its config names (None: its own). Raises InputError."""
    tensors = {**model.state_dict(), **more} if more else None
    with _written_whole(folder) as part:
        model.save_pretrained(part, state_dict=tensors)
        if architecture is not None:
            _write_config(part, read_config(part) | {"architectures": [architecture]})
        tokenizer.save_pretrained(part)


def _write_config(folder: Path, config: Mapping[str, Any]) -> None:
    text = json.dumps(config, indent=2) + "\n"
    (folder / "config.json").write_text(text, encoding="utf-8")


@contextmanager
def _written_whole(folder: Path) -> Iterator[Path]:
    """A folder for the files of a checkpoint, which are then moved to `folder`, config.json last:
    if it exists, the checkpoint is complete. Raises InputError."""
    part = folder / "checkpoint.part"
    try:
        shutil.rmtree(part, ignore_errors=True)  # of a write that was killed
        part.mkdir(parents=True)
        yield part
        files = [file for file in part.rglob("*") if file.is_file()]
        for file in sorted(files, key=lambda file: file.name == "config.json"):
            # safetensors lets only the owner read: who may read the config may read the weights.
            file.chmod((part / "config.json").stat().st_mode)
            moved = folder / file.relative_to(part)
            moved.parent.mkdir(exist_ok=True)
            file.replace(moved)
    except _UNWRITTEN as error:
        # Torch names no reason when it writes to a full disk.
        full = part.exists() and shutil.disk_usage(part).free < _FULL
        reason = "No space left on device" if full else reason_for(error)
        raise InputError(f"can't write to {folder}: {reason}") from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
