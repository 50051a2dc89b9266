"""Detects what a checkpoint holds and in which dialect, from its config and the names and shapes of
its tensors. Shared by listing and loading models; imports no torch."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal

CheckpointKind = Literal["model", "medusa", "eagle3", "eagle1"]
DrafterKind = Literal["medusa", "eagle", "draft"]
MedusaDialect = Literal["v0.1", "merged", "v2", "modelopt", "trtllm", "vllm"]
EagleDialect = Literal["eagle1", "eagle3", "modelopt", "speculators"]
EagleVersion = Literal["eagle1", "eagle3"]  # EAGLE-2 is EAGLE-1's head with a dynamic tree

AUX_LAYERS_KEY = "eagle_aux_hidden_state_layer_ids"

# Per dialect: the names of a residual layer's tensors (head, layer, part) and of a head's lm_head.
# v2 has the names of v0.1, without lm_heads.
MEDUSA_NAMES: dict[MedusaDialect, tuple[re.Pattern[str], re.Pattern[str]]] = {
    "trtllm": (
        re.compile(r"medusa_heads\.(\d+)\.medusa_layers\.(\d+)\.linear\.(weight|bias)"),
        re.compile(r"medusa_heads\.(\d+)\.lm_head\.weight"),
    ),
    "modelopt": (
        re.compile(r"medusa_heads\.(\d+)\.(\d+)\.linear\.(weight|bias)"),
        re.compile(r"medusa_heads\.(\d+)\.\d+\.weight"),
    ),
    "merged": (
        re.compile(r"medusa_head\.(\d+)\.(\d+)\.linear\.(weight|bias)"),
        re.compile(r"medusa_head\.(\d+)\.\d+\.weight"),
    ),
    "vllm": (
        re.compile(r"blocks\.(\d+)\.layers\.(\d+)\.(weight|bias)"),
        re.compile(r"lm_heads\.(\d+)\.weight"),
    ),
    "v0.1": (re.compile(r"(\d+)\.(\d+)\.linear\.(weight|bias)"), re.compile(r"(\d+)\.\d+\.weight")),
}
MERGED_HEADS = re.compile(r"medusa_heads?\.")  # beside the tensors of a whole model
EAGLE_LAYER = re.compile(r"(midlayer|layers\.\d+)\.")
_EAGLE3_FIRST = re.compile(r"(midlayer|layers\.0)\.hidden_norm\.")  # of several layers
_EAGLE3 = re.compile(r"midlayer\.|layers\.0\.hidden_norm\.|(norm|lm_head)\.weight$|d2t$|t2d$")


def medusa_dialect(names: Iterable[str]) -> MedusaDialect | None:
    """Return the first dialect that has a residual layer among `names`."""
    names = list(names)
    for dialect, (residual, _) in MEDUSA_NAMES.items():
        if any(residual.fullmatch(name) for name in names):
            return dialect
    return None


def eagle_layers(names: Iterable[str]) -> list[str]:
    """Return the names of an EAGLE head's decoder layers, in order: midlayer, layers.0, ..."""
    found = {match[1] for name in names if (match := EAGLE_LAYER.match(name))}
    return sorted(found, key=lambda name: int(name.partition(".")[2] or -1))


def eagle_version(names: Iterable[str]) -> EagleVersion | None:
    """Return the version of an EAGLE head; None if there is none. With several decoder layers it is
    one of EAGLE-3 or a model."""
    names = list(names)
    layers = eagle_layers(names)
    if len(layers) > 1:
        return "eagle3" if any(_EAGLE3_FIRST.match(name) for name in names) else None
    if not layers:
        return None
    return "eagle3" if any(_EAGLE3.match(name) for name in names) else "eagle1"


def eagle3_dialect(config: Mapping[str, Any]) -> EagleDialect:
    """Return the dialect of an EAGLE-3 head."""
    if "transformer_layer_config" in config:
        return "speculators"
    return "modelopt" if "use_last_layernorm" in (config.get("eagle_config") or {}) else "eagle3"


def is_eagle_training(names: Iterable[str]) -> bool:
    """Return whether these are a target and its EAGLE head in a training checkpoint of ModelOpt,
    whose config tells nothing of the head."""
    return any(name.startswith("eagle_module.") for name in names)


def is_whole_model(config: Mapping[str, Any]) -> bool:
    """Return whether this is the config of a model, perhaps with Medusa heads in it. One of only
    heads has no attention; published ones of models lack medusa_num_heads."""
    return "num_attention_heads" in config


def detect_drafter(config: Mapping[str, Any], names: Collection[str]) -> DrafterKind:
    """Return what tensors of these names draft with: Medusa heads of any dialect, also inside a
    model; else a draft model; else an EAGLE head, if it is any."""
    if medusa_dialect(names) is not None:
        return "medusa"
    kind = detect_kind(config, dict.fromkeys(names, ()))
    return "draft" if kind == "model" and not is_eagle_training(names) else "eagle"


def detect_kind(
    config: Mapping[str, Any], shapes: Mapping[str, Sequence[int]]
) -> CheckpointKind | None:
    """Return what a folder with this config.json and these tensors holds; None if neither a model
    nor heads. Shapes can't be read from old .pt files; then the config alone decides."""
    if any(name.startswith("model.") for name in shapes):
        return "model"
    if "medusa_num_heads" in config or medusa_dialect(shapes):
        return "medusa"
    if version := eagle_version(shapes):
        return version
    if "draft_vocab_size" in config:
        return "eagle3"
    architectures = config.get("architectures") or [""]
    return "model" if str(architectures[0]).endswith(("ForCausalLM", "LMHeadModel")) else None


def vocabulary_size(shapes: Mapping[str, Sequence[int]]) -> int | None:
    """Return how many tokens the target has that heads with these tensors were made for; None if
    the tensors don't tell."""
    dialect = medusa_dialect(shapes)
    if dialect is not None:
        own = MEDUSA_NAMES[dialect][1]
        rows = (s[0] for name, s in shapes.items() if own.fullmatch(name))
        return None if "token_map" in shapes else next(rows, None)
    telling = ["t2d", "embed_tokens.weight", *([] if "d2t" in shapes else ["lm_head.weight"])]
    return next((shapes[name][0] for name in telling if shapes.get(name)), None)


def feature_width(
    kind: CheckpointKind, config: Mapping[str, Any], shapes: Mapping[str, Sequence[int]]
) -> int | None:
    """Return the width of the target's hidden states that a head reads, from its tensors; None if
    unknown."""
    if kind == "medusa":
        dialect = medusa_dialect(shapes)
        residual = MEDUSA_NAMES[dialect][0] if dialect else None
        return next((s[0] for name, s in shapes.items() if residual and residual.match(name)), None)
    if kind == "model" or "fc.weight" not in shapes:
        return None
    # fc reads a token's embedding and the final state, or the states of several layers
    parts = 2
    if kind == "eagle3":
        ids = config.get(AUX_LAYERS_KEY) or (config.get("eagle_config") or {}).get(AUX_LAYERS_KEY)
        parts = len(ids) if ids else 3
    return shapes["fc.weight"][1] // parts
