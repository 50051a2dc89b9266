"""EAGLE heads for the small test targets, and their trees written down plainly from the papers."""

from __future__ import annotations

from typing import Any

import torch

from decoding.checkpoints.dialects import EagleVersion
from decoding.checkpoints.eagle import EagleConfig, EagleWeights
from decoding.drafters.eagle import Eagle, EagleTree
from decoding.drafters.eagle_head import EagleHead
from decoding.model.target import Target

AUX_LAYERS = (0, 1, 1)  # the small targets have two layers


def config_for(target: Target, version: EagleVersion = "eagle3", **changes: Any) -> EagleConfig:
    sizes: dict[str, Any] = {
        "version": version,
        "target_hidden": target.hidden_size,
        "hidden": target.hidden_size,
        "intermediate": 48,
        "heads": 4,
        "kv_heads": 2,
        "head_dim": 8,
        "vocab": target.vocab_size,
        "draft_vocab": target.vocab_size,
        "aux_layers": AUX_LAYERS if version == "eagle3" else (),
        "fc_bias": version == "eagle1",
    }
    return EagleConfig(**(sizes | changes))


def weights_for(config: EagleConfig, seed: int = 0, d2t: bool = False) -> EagleWeights:
    """Random tensors, large enough that guesses differ from row to row."""
    generator = torch.Generator().manual_seed(seed)
    empty = EagleHead(config, torch.zeros(config.vocab, config.hidden), lambda x: x)
    tensors = {
        name: 1 + 0.2 * torch.randn(t.shape, generator=generator)
        if t.dim() == 1
        else torch.randn(t.shape, generator=generator) * 1.5 * t.shape[1] ** -0.5
        for name, t in empty.tensors().items()
    }
    if config.hidden != config.target_hidden:
        tensors["embed_tokens.weight"] = torch.randn(
            config.vocab, config.hidden, generator=generator
        )
    if d2t:
        ids = torch.randperm(config.vocab, generator=generator)[: config.draft_vocab]
        tensors["d2t"] = ids - torch.arange(config.draft_vocab)
    return EagleWeights("test", config, tensors)


def head_for(target: Target, version: EagleVersion = "eagle3", **changes: Any) -> EagleHead:
    config = config_for(target, version, **changes)
    embedding = target.model.get_input_embeddings().weight
    weights = weights_for(config, d2t=config.draft_vocab < config.vocab)
    head = EagleHead.build(weights, embedding, target.logits)
    return head.to(target.device, target.dtype).eval()


def eagle(
    target: Target, version: EagleVersion = "eagle3", tree: EagleTree | None = None, **c: Any
) -> Eagle:
    head = head_for(target, version, **c)
    if head.config.aux_layers and not target.aux_layers:
        target.capture_layers(head.config.aux_layers)
    return Eagle(head, target, tree or EagleTree())
