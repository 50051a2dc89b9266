"""EAGLE folders as each dialect's own writers leave them, of random tensors."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor

from decoding.checkpoints.eagle import EagleWeights
from decoding.checkpoints.eagle_fit import TargetShape
from decoding.checkpoints.eagle_read import read_eagle

# The target, and what every draft has of its own: width of a head, heads, key heads, MLP, tokens.
H, V, L = 16, 29, 16
D, HEADS, KV, MLP, KNOWN = 8, 4, 2, 20, 11
TARGET = TargetShape(hidden=H, vocab=V, layers=L)
AUX = "eagle_aux_hidden_state_layer_ids"
LLAMA3 = {
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 32,
}


@dataclass
class Folder:
    """A checkpoint as it lies on disk, and what its dialect says about it."""

    dialect: str
    config: dict[str, Any]
    tensors: dict[str, Tensor]
    prefix: str = "layers.0."
    aux_layers: list[int] = field(default_factory=list)
    theta: float = 10000.0
    eps: float = 1e-6
    normed_residual: bool = False
    layers: int = 1
    pickled: bool = False

    def store(self, folder: Path) -> Path:
        folder.mkdir(exist_ok=True)
        if self.pickled:
            torch.save(self.tensors, folder / "pytorch_model.bin")
        else:
            save_file(self.tensors, folder / "model.safetensors")
        (folder / "config.json").write_text(json.dumps(self.config))
        return folder

    def get(self, name: str) -> Tensor | None:
        tensor = self.tensors.get(f"{self.prefix}{name}", self.tensors.get(name))
        return None if tensor is None else tensor.float()

    def __getitem__(self, name: str) -> Tensor:
        tensor = self.get(name)
        assert tensor is not None, name
        return tensor


def matrix(rows: int, columns: int) -> Tensor:
    return torch.randn(rows, columns) / math.sqrt(columns)


def scale(size: int) -> Tensor:
    return 1 + 0.3 * torch.randn(size)


def layer(prefix: str, width: int, inputs: int, norms: tuple[str, ...]) -> dict[str, Tensor]:
    return {
        f"{prefix}self_attn.q_proj.weight": matrix(HEADS * D, inputs),
        f"{prefix}self_attn.k_proj.weight": matrix(KV * D, inputs),
        f"{prefix}self_attn.v_proj.weight": matrix(KV * D, inputs),
        f"{prefix}self_attn.o_proj.weight": matrix(width, HEADS * D),
        f"{prefix}mlp.gate_proj.weight": matrix(MLP, width),
        f"{prefix}mlp.up_proj.weight": matrix(MLP, width),
        f"{prefix}mlp.down_proj.weight": matrix(width, MLP),
        **{f"{prefix}{norm}.weight": scale(width) for norm in norms},
    }


def eagle3_tensors(prefix: str, width: int = H, rows: int = KNOWN) -> dict[str, Tensor]:
    norms = ("input_layernorm", "hidden_norm", "post_attention_layernorm")
    return {
        "fc.weight": matrix(width, 3 * H),
        **layer(prefix, width, 2 * width, norms),
        "norm.weight": scale(width),
        "lm_head.weight": matrix(rows, width),
    }


def maps(ids: Tensor) -> dict[str, Tensor]:
    marks = torch.zeros(V, dtype=torch.bool)
    marks[ids] = True
    return {"d2t": ids - torch.arange(len(ids)), "t2d": marks}


def some_ids(ordered: bool = True) -> Tensor:
    ids = torch.randperm(V)[:KNOWN]
    return ids.sort().values if ordered else ids


LLAMA = {
    "model_type": "llama",
    "hidden_act": "silu",
    "hidden_size": H,
    "num_attention_heads": HEADS,
    "num_key_value_heads": KV,
    "num_hidden_layers": 1,
    "max_position_embeddings": 64,
    "rms_norm_eps": 1e-6,
    "vocab_size": V,
}


def eagle1() -> Folder:
    """SafeAILab for Vicuna: a pickle with an embedding and a bias that the config doesn't name."""
    tensors = {
        "embed_tokens.weight": matrix(V, H),
        "fc.weight": matrix(H, 2 * H),
        "fc.bias": torch.randn(H),
        **layer("layers.0.", H, H, ("post_attention_layernorm",)),
    }
    config = LLAMA | {"architectures": ["LlamaForCausalLM"], "pad_token_id": 0}
    return Folder("eagle1", config, tensors, pickled=True)


def eagle1_llama3() -> Folder:
    """For Llama 3 no bias, for Qwen 2 one in the attention; without an embedding."""
    tensors = {
        "fc.weight": matrix(H, 2 * H),
        **layer("layers.0.", H, H, ("post_attention_layernorm",)),
    }
    for name, rows in {"q": HEADS * D, "k": KV * D, "v": KV * D}.items():
        tensors[f"layers.0.self_attn.{name}_proj.bias"] = torch.randn(rows)
    config = LLAMA | {"rope_theta": 500000.0, "bias": False, "qkv_bias": True, "rms_norm_eps": 1e-5}
    return Folder("eagle1", config, tensors, theta=5e5, eps=1e-5)


def safeailab() -> Folder:
    """EAGLE-3 by its authors: nothing about layers, and here the frequent tokens in any order."""
    tensors = eagle3_tensors("midlayer.") | maps(some_ids(ordered=False))
    # published configs are wrong: sizes are those of the tensors
    config = LLAMA | {"draft_vocab_size": 32000, "intermediate_size": 14336, "hidden_size": 4096}
    config |= {"num_key_value_heads": 8, "vocab_size": 128256}
    return Folder("eagle3", config, tensors, "midlayer.", [2, 8, 13], pickled=True)


def specforge() -> Folder:
    """Narrower than its target, so with an embedding of its own; SGLang adds 1 to such layers."""
    tensors = eagle3_tensors("midlayer.", width=12) | maps(some_ids())
    tensors["embed_tokens.weight"] = matrix(V, 12)
    config = LLAMA | {
        "architectures": ["LlamaForCausalLMEagle3"],
        "hidden_size": 12,
        "target_hidden_size": H,
        "head_dim": D,
        "num_attention_heads": 7,  # wrong, and not needed
        "rope_theta": 1000000.0,
        "rope_scaling": None,
        "rms_norm_eps": 1e-5,
        "draft_vocab_size": KNOWN,
        "eagle_config": {AUX: [1, 7, 12], "use_aux_hidden_state": True},
    }
    return Folder("eagle3", config, tensors, "midlayer.", [2, 8, 13], theta=1e6, eps=1e-5)


def modelopt(prefix: str = "layers.0.") -> Folder:
    """No t2d; layers are counted by their outputs, and not the usual ones here."""
    tensors = eagle3_tensors(prefix) | {"d2t": maps(some_ids(ordered=False))["d2t"]}
    config = LLAMA | {
        "architectures": ["LlamaForCausalLMEagle3"],
        "head_dim": D,
        "rope_theta": 20000.0,
        "rope_scaling": {"rope_type": "default"},
        "attention_bias": None,
        "mlp_bias": None,
        "draft_vocab_size": KNOWN,
        "eagle_config": {
            AUX: [3, 5, 14],
            "use_aux_hidden_state": True,
            "use_input_layernorm_in_first_layer": True,
            "use_last_layernorm": True,
            "use_mtp_layernorm": False,
        },
    }
    return Folder("modelopt", config, tensors, prefix, [4, 6, 15], theta=2e4)


def modelopt_biased() -> Folder:
    """An older one, with the biases that its config can ask for."""
    f = modelopt("midlayer.")
    rows = {"q": HEADS * D, "k": KV * D, "v": KV * D, "o": H}
    f.tensors |= {f"midlayer.self_attn.{n}_proj.bias": torch.randn(rows[n]) for n in rows}
    rows = {"gate": MLP, "up": MLP, "down": H}
    f.tensors |= {f"midlayer.mlp.{n}_proj.bias": torch.randn(rows[n]) for n in rows}
    f.config |= {"attention_bias": True, "mlp_bias": True}
    return f


def speculators() -> Folder:
    """A Llama layer with a residual of normed features, in the spelling of transformers 5."""
    tensors = eagle3_tensors("layers.0.") | maps(some_ids())
    tensors |= {"embed_tokens.weight": matrix(V, H)}
    tensors |= {f"fc_norm.{i}.weight": scale(H) for i in range(3)}
    tensors |= {"verifier_norm.weight": scale(H), "verifier_lm_head.weight": matrix(KNOWN, H)}
    llama = {k: v for k, v in LLAMA.items() if k != "rope_theta"}
    config = {
        "architectures": ["Eagle3Speculator"],
        "auto_map": {"": "eagle3.Eagle3SpeculatorConfig"},
        "speculators_model_type": "eagle3",
        "draft_vocab_size": KNOWN,
        "norm_before_residual": True,
        "fc_norm": True,
        "norm_before_fc": False,
        "target_hidden_size": None,
        AUX: [1, 6, 14],
        "transformer_layer_config": llama
        | {"rope_parameters": {"rope_type": "default", "rope_theta": 500000.0}, "head_dim": D},
    }
    return Folder(
        "speculators", config, tensors, aux_layers=[1, 6, 14], theta=5e5, normed_residual=True
    )


def speculators_qwen3() -> Folder:
    """A Qwen3 layer that knows all tokens, fed its normed output, with all features normed as one,
    biases, and no word about the layers; in the spelling of transformers 4."""
    tensors = eagle3_tensors("layers.0.", rows=V) | {"input_norm.weight": scale(3 * H)}
    tensors |= {f"layers.0.self_attn.{name}_norm.weight": scale(D) for name in "qk"}
    for name, rows in {"q": HEADS * D, "k": KV * D, "v": KV * D, "o": H}.items():
        tensors[f"layers.0.self_attn.{name}_proj.bias"] = torch.randn(rows)
    config = {
        "architectures": ["Eagle3DraftModel"],
        "speculators_model_type": "eagle3",
        "draft_vocab_size": V,
        "norm_before_residual": False,
        "norm_before_fc": True,
        "norm_output": True,
        AUX: None,
        "transformer_layer_config": LLAMA
        | {"model_type": "qwen3", "rope_theta": 1000000.0, "attention_bias": True},
    }
    return Folder("speculators", config, tensors, aux_layers=[2, 8, 13], theta=1e6)


def speculators_layers() -> Folder:
    """As `speculators_qwen3`, of three layers: all but the first are plain ones."""
    f = speculators_qwen3()
    f.layers = 3
    for prefix in ("layers.1.", "layers.2."):
        f.tensors |= layer(prefix, H, H, ("input_layernorm", "post_attention_layernorm"))
        f.tensors |= {f"{prefix}self_attn.{name}_norm.weight": scale(D) for name in "qk"}
        for name, rows in {"q": HEADS * D, "k": KV * D, "v": KV * D, "o": H}.items():
            f.tensors[f"{prefix}self_attn.{name}_proj.bias"] = torch.randn(rows)
    f.config["transformer_layer_config"] |= {"num_hidden_layers": 3}
    return f


def vllm_layers() -> Folder:
    """Two layers without the frame of speculators, as vLLM takes them too."""
    f = safeailab()
    f.tensors |= layer("layers.1.", H, H, ("input_layernorm", "post_attention_layernorm"))
    f.layers = 2
    return f


FOLDERS: dict[str, Callable[[], Folder]] = {
    "eagle1": eagle1,
    "eagle1 llama3": eagle1_llama3,
    "safeailab": safeailab,
    "specforge": specforge,
    "modelopt": modelopt,
    "modelopt biased": modelopt_biased,
    "speculators": speculators,
    "speculators qwen3": speculators_qwen3,
    "speculators of three layers": speculators_layers,
    "two layers": vllm_layers,
}


def made(name: str) -> Folder:
    torch.manual_seed(1 + list(FOLDERS).index(name))
    return FOLDERS[name]()


def read_with(tmp_path: Path, name: str, **config: Any) -> EagleWeights:
    """The folder of that name, its config changed."""
    f = made(name)
    f.config |= config
    return read_eagle(f.store(tmp_path / "draft"), TARGET)
