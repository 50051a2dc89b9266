"""The network of EAGLE: a decoder layer, or several, over the target's features.

EAGLE-1 and 2 (2401.15077, 2406.16858) concatenate the next token's embedding and the feature after
the target's final norm, predict the next feature, and use the target's lm_head. EAGLE-3
(2503.01840) reads the inputs of some of the target's layers, has its own norm and lm_head (often
only for frequent tokens), and feeds back its own output while drafting. Further layers are those of
a Llama: only the first reads tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

from decoding.checkpoints.eagle import EagleConfig, EagleWeights
from decoding.drafters.eagle_forward import EagleForward
from decoding.drafters.eagle_layer import Attend, EagleLayer, Parts, parts_of, rms_norm
from decoding.errors import InputError

_STATIC_ROPE = ("default", "linear", "llama3", "yarn")


class EagleHead(nn.Module):
    """An EAGLE head, for training (batches, gradients) and decoding. The caller does the attention.

    `embedding` [V, H] is used if the head has none of its own; `target_logits` maps EAGLE-1's
    features to logits. Neither is part of this module's state.
    """

    def __init__(
        self, config: EagleConfig, embedding: Tensor, target_logits: Callable[[Tensor], Tensor]
    ) -> None:
        super().__init__()
        self.config = config
        c = config
        self._frozen = (embedding, target_logits)  # in a tuple, to keep it out of the state
        self._rotary = (rotary_of(config),)  # in a tuple: it stays in float32
        eagle3 = c.version == "eagle3"
        fused = len(c.aux_layers) * c.target_hidden if eagle3 else c.hidden + c.target_hidden
        self.fc = nn.Linear(fused, c.hidden, bias=c.fc_bias) if c.fc else None
        layers = [EagleLayer(config, index) for index in range(c.layers)]
        self.layers: Sequence[EagleLayer] = nn.ModuleList(layers)  # type: ignore[assignment]
        norms = dict.fromkeys(("embedding", "hidden", "output") if eagle3 else (), c.hidden)
        if c.norm_before_fc:
            norms |= {"aux": fused}
        if c.fc_norm:
            norms |= {f"aux{i}": c.target_hidden for i in range(len(c.aux_layers))}
        self.norms = nn.ParameterDict({k: nn.Parameter(torch.ones(n)) for k, n in norms.items()})
        self.lm_head = nn.Linear(c.hidden, c.draft_vocab, bias=False) if eagle3 else None
        self.own_embedding: nn.Parameter | None = None
        self.d2t: Tensor | None
        self.register_buffer("d2t", None)

    def hidden(self, features: Tensor, fuse: Callable[[Tensor], Tensor] | None = None) -> Tensor:
        """Compute the layer's input [..., H] from the target's features [..., F], which EAGLE-3
        fuses, by `fuse` in place of `fc`."""
        c = self.config
        if c.version == "eagle1":
            return features
        if c.norm_before_fc:
            features = self._norm(features, "aux")
        if c.fc_norm:
            parts = features.chunk(len(c.aux_layers), dim=-1)
            features = torch.cat([self._norm(p, f"aux{i}") for i, p in enumerate(parts)], dim=-1)
        fuse = fuse or self.fc
        return features if fuse is None else fuse(features)

    def forward(
        self, tokens: Tensor, hidden: Tensor, positions: Tensor, attend: Sequence[Attend]
    ) -> Tensor:
        """Run tokens [B, n] (target ids, each the one *after* its feature) and hidden [B, n, H]
        (from `hidden` or from this method) at `positions` [n] -> the next hidden [B, n, H]. Each
        layer has its own `attend`."""
        c = self.config
        embedded = functional.embedding(tokens, self.embedding)
        if c.version == "eagle1":
            assert self.fc is not None
            x = inputs = self.fc(torch.cat([embedded, hidden], dim=-1))
        else:
            normed = self._norm(hidden, "hidden")
            inputs = torch.cat([self._norm(embedded, "embedding"), normed], dim=-1)
            x = normed if c.norm_before_residual else hidden
        like = self.layers[0].norms["mlp"]  # as precise as the weights
        rotation = self._rotary[0](like, positions[None])
        for layer, attend_in in zip(self.layers, attend, strict=True):
            x = layer(x, inputs, rotation, attend_in)
            inputs = None
        return self._norm(x, "output") if c.norm_output else x

    @cached_property
    def drafting(self) -> EagleForward:
        """The same network for one sequence and without gradients."""
        return EagleForward(self, *self._rotary)

    def logits(self, hidden: Tensor) -> Tensor:
        """Compute the logits of draft ids, [..., H] -> [..., draft_vocab]."""
        if self.lm_head is None:
            return self._frozen[1](hidden)
        normed = hidden if self.config.norm_output else self._norm(hidden, "output")
        return self.lm_head(normed)  # type: ignore[no-any-return]

    def target_ids(self, ids: Tensor) -> Tensor:
        """Map draft ids to the target's."""
        return ids if self.d2t is None else ids + self.d2t[ids]

    @property
    def embedding(self) -> Tensor:
        return self._frozen[0] if self.own_embedding is None else self.own_embedding

    @property
    def nbytes(self) -> int:
        """Bytes of its own tensors, without those shared with the target."""
        return sum(tensor.nbytes for tensor in (*self.parameters(), *self.buffers()))

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> EagleHead:
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        self._rotary[0].to(self.layers[0].norms["mlp"].device)
        self.__dict__.pop("drafting", None)  # it has views of the old weights
        return self

    def _norm(self, x: Tensor, name: str) -> Tensor:
        return rms_norm(x, self.norms[name], self.config.norm_eps)

    @classmethod
    def build(
        cls, weights: EagleWeights, embedding: Tensor, target_logits: Callable[[Tensor], Tensor]
    ) -> EagleHead:
        """Build the head with its weights, in float32 on the CPU. `embedding` [V, H] is the
        target's.

        Raises InputError if a tensor is missing, unknown or does not have the config's shape.
        """
        head = cls(weights.config, embedding, target_logits)
        rest = dict(weights.tensors)

        def take(name: str, shape: tuple[int, ...]) -> Tensor:
            if name not in rest:
                raise InputError(f"the EAGLE head lacks the tensor {name} {list(shape)}")
            tensor = rest.pop(name)
            if tuple(tensor.shape) != shape:
                raise InputError(
                    f"the EAGLE head's {name} is {list(tensor.shape)}, its config and this target "
                    f"need {list(shape)}"
                )
            return tensor

        with torch.no_grad():
            for parameter, parts in head.parts():
                split = [size for _, size in parts]
                for piece, (name, _) in zip(parameter.split(split), parts, strict=True):
                    piece.copy_(take(name, tuple(piece.shape)))
        if "embed_tokens.weight" in rest:
            own = take("embed_tokens.weight", (weights.config.vocab, weights.config.hidden))
            head.own_embedding = nn.Parameter(own.float(), requires_grad=False)
        elif embedding.shape[1] != weights.config.hidden:
            raise InputError(
                f"the EAGLE head is {weights.config.hidden} wide and has no embedding; the "
                f"target's is {embedding.shape[1]} wide: it was made for another model"
            )
        if "d2t" in rest:
            head.d2t = take("d2t", (weights.config.draft_vocab,)).long()
        if rest:
            raise InputError(f"the EAGLE head has an unknown tensor {min(rest)}")
        return head

    def tensors(self) -> dict[str, Tensor]:
        """Return its tensors by the names of `EagleWeights`, in float32 on the CPU."""
        named: dict[str, Tensor] = {}
        for parameter, parts in self.parts():
            pieces = parameter.detach().float().cpu().split([size for _, size in parts])
            named |= {name: piece.clone() for (name, _), piece in zip(parts, pieces, strict=True)}
        if self.own_embedding is not None:
            named["embed_tokens.weight"] = self.own_embedding.detach().float().cpu()
        if self.d2t is not None:
            named["d2t"] = self.d2t.cpu()
        return named

    def parts(self) -> Parts:
        """Return each fused parameter with the tensors that it consists of, by the names of
        `EagleWeights`."""
        c = self.config
        return [
            *parts_of(self.fc, [("fc", c.hidden)]),
            *(
                (parameter, [(f"{f'layers.{i}.' if i else ''}{n}", size) for n, size in parts])
                for i, layer in enumerate(self.layers)
                for parameter, parts in layer.parts()
            ),
            *parts_of(self.lm_head, [("lm_head", c.draft_vocab)]),
            *((norm, [(f"{_norm_name(n)}.weight", len(norm))]) for n, norm in self.norms.items()),
        ]


def rotary_of(config: EagleConfig) -> LlamaRotaryEmbedding:
    """Make transformers' rotary module for the head. Raises InputError for frequencies that depend
    on the length of the sequence."""
    kind = config.rope.get("rope_type", "default")
    if kind not in _STATIC_ROPE:
        raise InputError(
            f"the EAGLE head's rope_type is {kind}, which is not supported; only "
            f"{', '.join(_STATIC_ROPE)} are"
        )
    llama: Any = LlamaConfig(
        hidden_size=config.heads * config.head_dim,  # whatever the width is
        num_attention_heads=config.heads,
        head_dim=config.head_dim,
        max_position_embeddings=config.max_positions,
        rope_parameters=dict(config.rope),
    )
    return LlamaRotaryEmbedding(llama)


def _norm_name(name: str) -> str:
    names: Mapping[str, str] = {
        "embedding": "input_layernorm",
        "hidden": "hidden_norm",
        "output": "norm",
        "aux": "input_norm",
    }
    return names.get(name) or f"fc_norm.{name.removeprefix('aux')}"
