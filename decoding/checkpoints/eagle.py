"""EAGLE heads in memory, in one form for all dialects. Li et al. 2024 (2401.15077, 2406.16858),
2025 (2503.01840)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from torch import Tensor

from decoding.checkpoints.dialects import EagleVersion


@dataclass(frozen=True, slots=True)
class EagleConfig:
    """The architecture of an EAGLE head.

    `aux_layers`: the target's layers whose *inputs* are the features of EAGLE-3 (Hugging Face's
    `hidden_states[i]`), low to high; () for EAGLE-1, which reads the states after the final norm.
    `fc` False: these are as wide as the draft and need no fc. `rope`: transformers'
    `rope_parameters` of the *draft*. `draft_vocab` rows of the lm_head
    (EAGLE-3) may be fewer than `vocab`, the target's. The `norm_*` switches and `fc_norm` are
    those of speculators: the residual is the normed feature, the aux hidden states are normed
    together or each before fc, the normed output is what is fed back. `qk_norm`: queries and keys
    are normed, as in Qwen3.
    """

    version: EagleVersion
    target_hidden: int
    hidden: int
    intermediate: int
    heads: int
    kv_heads: int
    head_dim: int
    vocab: int
    draft_vocab: int
    aux_layers: tuple[int, ...] = ()
    activation: str = "silu"
    norm_eps: float = 1e-6
    rope: Mapping[str, Any] = field(
        default_factory=lambda: {"rope_type": "default", "rope_theta": 10000.0}
    )
    max_positions: int = 2048
    fc: bool = True
    fc_bias: bool = False
    qkv_bias: bool = False
    o_bias: bool = False
    mlp_bias: bool = False
    qk_norm: bool = False
    norm_before_residual: bool = False
    norm_before_fc: bool = False
    fc_norm: bool = False
    norm_output: bool = False


@dataclass(slots=True, eq=False)
class EagleWeights:
    """A head: its config and its tensors by these names, each followed by `.weight` or `.bias`.

    Both: `fc`, `self_attn.{q,k,v,o}_proj`, `mlp.{gate,up,down}_proj`, `post_attention_layernorm`;
    `embed_tokens` where it has an embedding of its own, else the target's is used. EAGLE-3 also:
    `input_layernorm`, `hidden_norm`, `norm`, `lm_head`; where asked for `self_attn.{q,k}_norm`,
    `input_norm` (norm_before_fc), `fc_norm.{i}` (fc_norm); and `d2t` int64 [draft_vocab], the
    offset of each draft id to its target id, where the vocabularies differ.

    `dialect` is the one it was read from, `notes` tell the user how it was read.
    """

    dialect: str
    config: EagleConfig
    tensors: dict[str, Tensor]
    notes: tuple[str, ...] = ()

    def save_pretrained(self, folder: str | Path, target: str = "") -> None:
        """Write the head for the model called `target` in the authors' dialect, for
        `Eagle.from_pretrained`. Raises InputError for a head that it can't express."""
        from decoding.checkpoints.eagle_write import write_eagle

        write_eagle(self, Path(folder), self.config.version, target)
