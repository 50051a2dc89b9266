"""The target's hidden states for training drafters, computed on the fly or cached on disk.

A cache is a folder of safetensors shards, each with the rows of some conversations (`ids`,
`labels`, and in the target's precision `final` and `aux_hidden_states`), and an `index.json` that
identifies the data and the target. Shards are memory-mapped: a batch reads only its own rows.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import save
from torch import Tensor
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import Dataset
from transformers import PreTrainedModel

from decoding.errors import InputError
from decoding.files import remove_partial, write_atomically
from decoding.json_text import parse_json
from decoding.model import attention
from decoding.model.architecture import decoder_of, hook_inputs
from decoding.training.conversations import Example, collate
from decoding.training.data import digest
from decoding.training.log import Progress

_INDEX = "index.json"
# A shard's most conversations and bytes. While it is made it is in memory several times.
_SHARD, _SHARD_BYTES = 256, 1 << 29
_BATCH = 8  # conversations per pass when a cache is written


def features_of(
    target: PreTrainedModel, ids: Tensor, aux_layers: Sequence[int]
) -> tuple[Tensor | None, Tensor]:
    """ids [B, n], right-padded -> the concatenated inputs of `aux_layers` [B, n, T * H] (None
    without any), and the states after the final norm [B, n, H]."""
    inputs: dict[int, Tensor] = {}
    hooks = hook_inputs(target, aux_layers, inputs.__setitem__) if aux_layers else []
    try:
        with torch.no_grad():
            final = final_states(target, ids)
    finally:
        for hook in hooks:
            hook.remove()
    aux = [inputs[layer].to(final.device) for layer in aux_layers]
    return torch.cat(aux, dim=-1) if aux else None, final


def final_states(model: PreTrainedModel, ids: Tensor) -> Tensor:
    """ids [B, n], right-padded -> the states after the final norm [B, n, H]."""
    with plain_attention(model):
        # No mask is needed: causal attention does not see the padding after a text.
        out = decoder_of(model)(input_ids=ids, use_cache=False)
    states: Tensor = out.last_hidden_state
    return states


@contextmanager
def plain_attention(model: PreTrainedModel) -> Iterator[None]:
    """Use transformers' own attention: that of decoding takes one sequence and explicit masks."""
    if model.config._attn_implementation != attention.NAME:
        yield
        return
    # Eager: SDPA has no sinks (gpt-oss) and no softcap (Gemma 2).
    model.set_attn_implementation("sdpa" if model._supports_sdpa else "eager")
    try:
        yield
    finally:
        model.set_attn_implementation(attention.NAME)


@dataclass(frozen=True, slots=True, eq=False)
class FeatureExample(Example):
    """An example with the target's states: `final` [n, H], and for EAGLE-3 `aux_hidden_states`
    [n, T * H]."""

    aux_hidden_states: Tensor | None
    final: Tensor


def collate_features(examples: Sequence[Example], limit: int = 0) -> dict[str, Tensor]:
    """Like `collate`, with `final` and `aux_hidden_states` of examples with features,
    zero-padded."""
    batch = collate(examples, limit)
    columns = batch["input_ids"].shape[1]
    cached = [example for example in examples if isinstance(example, FeatureExample)]
    if cached:
        batch["final"] = _padded([e.final for e in cached], columns)
        aux = [e.aux_hidden_states for e in cached if e.aux_hidden_states is not None]
        if aux:
            batch["aux_hidden_states"] = _padded(aux, columns)
    return batch


def _padded(states: list[Tensor], columns: int) -> Tensor:
    """States [n, ...] of texts -> [batch, columns, ...]."""
    together = pad_sequence(states, batch_first=True)
    return functional.pad(together, (0, 0, 0, columns - together.shape[1]))


class FeatureCache(Dataset[Example]):
    """The conversations of a complete cache; features are read on access. Each shard is opened
    once in a process and stays mapped: the features are views of it, and must not be changed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        index = parse_json((folder / _INDEX).read_text(encoding="utf-8"))
        self.lengths: list[int] = index["lengths"]
        self._shard: int = index["shard"]
        self._starts = [0, *accumulate(self.lengths)]  # rows before each conversation
        self._opened: dict[int, dict[str, Any]] = {}

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_opened": {}}  # another process opens its own

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, index: int) -> FeatureExample:
        shard = index // self._shard
        before = self._starts[shard * self._shard]
        rows = slice(self._starts[index] - before, self._starts[index + 1] - before)
        tensors = {name: part[rows] for name, part in self._slices(shard).items()}
        ids, labels = (tuple(tensors[name].tolist()) for name in ("ids", "labels"))
        return FeatureExample(ids, labels, tensors.get("aux_hidden_states"), tensors["final"])

    def _slices(self, shard: int) -> dict[str, Any]:
        """The tensors of a shard by name, of which rows can be read."""
        if shard not in self._opened:
            file: Any = safe_open(_shard_path(self._folder, shard), framework="pt")
            names = file.keys()
            self._opened[shard] = {name: file.get_slice(name) for name in names}
        return self._opened[shard]


def lengths_of(data: Any) -> list[int]:
    """Return the number of ids of each conversation of a `Dataset`."""
    if isinstance(data, FeatureCache):
        return data.lengths
    return [len(data[i].ids) for i in range(len(data))]


def cache_features(
    target: PreTrainedModel,
    data: Dataset[Example],
    aux_layers: Sequence[int],
    folder: Path,
    shard: int | None = None,
) -> FeatureCache:
    """Write the features of `data` to `folder`, `shard` conversations per file (None: as many as
    take `_SHARD_BYTES` on average); continues an interrupted run. Nothing else may write to the
    folder. Raises InputError if it is for other data or another target."""
    examples = _all_of(data)
    if shard is None:
        mean = feature_bytes(target, data, aux_layers) // max(len(examples), 1)
        shard = min(max(_SHARD_BYTES // max(mean, 1), 1), _SHARD)
    made_of = {"target": target_digest(target), **_made_of(examples, aux_layers), "shard": shard}
    folder.mkdir(parents=True, exist_ok=True)
    remove_partial(folder)  # a shard may be large
    index = folder / _INDEX
    if index.exists():
        _require(index, made_of)
    else:
        lengths = [len(example.ids) for example in examples]
        write_atomically(index, json.dumps(made_of | {"lengths": lengths}), private=False)
    parts = [examples[start : start + shard] for start in range(0, len(examples), shard)]
    missing = [n for n in range(len(parts)) if not _shard_path(folder, n).exists()]
    progress = Progress(len(examples) - sum(len(parts[n]) for n in missing), len(examples))
    for number in missing:
        tensors = _shard_tensors(target, parts[number], aux_layers)
        write_atomically(_shard_path(folder, number), save(tensors), private=False)
        progress.add(len(parts[number]), len(tensors["ids"]))
    return FeatureCache(folder)


def cached_features(
    data: Dataset[Example], aux_layers: Sequence[int], folder: Path
) -> FeatureCache:
    """Return the features of `data` that `cache_features` wrote to `folder`. Raises InputError if
    they are incomplete, or for other data."""
    _require(folder / _INDEX, _made_of(_all_of(data), aux_layers))
    if not is_complete(folder):
        raise InputError(f"the features in {folder} are not complete: make them with the target")
    return FeatureCache(folder)


def is_complete(folder: Path) -> bool:
    """Return whether all shards in the folder's index exist."""
    if not (folder / _INDEX).exists():
        return False
    index = parse_json((folder / _INDEX).read_bytes())
    shards = range(-(-len(index["lengths"]) // index["shard"]))
    return all(_shard_path(folder, number).exists() for number in shards)


def feature_bytes(
    target: PreTrainedModel, data: Dataset[Example], aux_layers: Sequence[int]
) -> int:
    """Return the size of the features of `data` on disk."""
    width: int = target.get_output_embeddings().weight.shape[1]
    tokens = sum(len(example.ids) for example in _all_of(data))
    return tokens * (1 + len(aux_layers)) * width * target.dtype.itemsize


def _all_of(data: Dataset[Example]) -> list[Example]:
    return [data[i] for i in range(len(data))]  # type: ignore[arg-type]


def _made_of(examples: Sequence[Example], aux_layers: Sequence[int]) -> dict[str, object]:
    return {"aux_layers": list(aux_layers), "data": digest([(e.ids, e.labels) for e in examples])}


def _require(index: Path, made_of: Mapping[str, object]) -> None:
    """Raise InputError unless the index is for the same data and target."""
    try:
        noted = dict(parse_json(index.read_bytes()))
    except (OSError, TypeError, ValueError) as error:
        raise InputError(f"{index} is no index of features: use a new folder") from error
    for name, value in made_of.items():
        if noted.get(name) != value:
            what = "choice of layers" if name == "aux_layers" else name
            raise InputError(
                f"the features in {index.parent} are of another {what}: use a new folder"
            )


def _shard_tensors(
    target: PreTrainedModel, examples: Sequence[Example], aux_layers: Sequence[int]
) -> dict[str, Tensor]:
    """The rows of `examples` in their order, computed in batches of similar length."""
    rows: dict[str, dict[int, Tensor]] = {"final": {}, "aux_hidden_states": {}}
    by_length = sorted(range(len(examples)), key=lambda i: len(examples[i].ids))
    for start in range(0, len(examples), _BATCH):
        batch = by_length[start : start + _BATCH]
        ids = collate([examples[i] for i in batch])["input_ids"].to(target.device)
        aux, final = features_of(target, ids, aux_layers)
        for name, states in (("final", final), ("aux_hidden_states", aux)):
            if states is not None:
                for i, of_text in zip(batch, states, strict=True):
                    own = of_text[: len(examples[i].ids)]
                    rows[name][i] = own.to(target.dtype).cpu()
    tensors = {
        name: torch.cat([of_texts[i] for i in range(len(examples))])
        for name, of_texts in rows.items()
        if of_texts
    }
    for name in ("ids", "labels"):
        tensors[name] = torch.tensor([x for example in examples for x in getattr(example, name)])
    return tensors


def target_digest(target: PreTrainedModel) -> str:
    """Return a digest of the config, by which the same weights may compute something else, and of
    a few numbers of each parameter, which any training changes."""
    config = target.config.to_dict()
    for name in ("transformers_version", "_name_or_path", "dtype", "torch_dtype"):
        config.pop(name, None)
    return digest(
        [json.dumps(config, sort_keys=True, default=str)]
        + [
            (name, list(parameter.shape), parameter.detach().flatten()[:16].float().tolist())
            for name, parameter in target.named_parameters()
        ]
    )


def _shard_path(folder: Path, number: int) -> Path:
    return folder / f"features-{number:05d}.safetensors"
