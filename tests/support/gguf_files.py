"""A folder's Llama as a GGUF file, as llama.cpp's converter writes it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gguf
import numpy as np
from safetensors.torch import load_file

_NAMES = {
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "lm_head": "output",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
}
Array = np.ndarray[Any, Any]


def write_gguf(folder: Path, file: Path, kind: str = "F32") -> dict[str, Array]:
    """Write the model and the tokenizer of a folder; matrices as `kind` where their rows are whole
    blocks of it. Returns the tensors, by their names in the folder, as they read when
    dequantized."""
    config = json.loads((folder / "config.json").read_text())
    writer = gguf.GGUFWriter(file, "llama")
    writer.add_name("tiny")
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_rope_freq_base(config["rope_parameters"]["rope_theta"])
    width = config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"]
    writer.add_rope_dimension_count(width)
    writer.add_key_length(width)
    writer.add_value_length(width)
    writer.add_vocab_size(config["vocab_size"])
    _add_tokenizer(writer, folder, config)
    heads = {"q": config["num_attention_heads"], "k": config["num_key_value_heads"]}
    quant = gguf.GGMLQuantizationType[kind]
    block, _ = gguf.GGML_QUANT_SIZES[quant]
    written = {}
    for name, tensor in load_file(folder / "model.safetensors").items():
        array = tensor.float().numpy()
        other = _gguf_name(name)
        if array.ndim == 1 or array.shape[-1] % block:
            writer.add_tensor(other, _interleaved(other, array, heads))
            written[name] = array
            continue
        # rows are quantized one by one, so that their order makes no difference
        packed = gguf.quantize(_interleaved(other, array, heads), quant)
        writer.add_tensor(other, packed, raw_dtype=quant)
        written[name] = gguf.dequantize(gguf.quantize(array, quant), quant)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return written


def _gguf_name(name: str) -> str:
    stem = name.removesuffix(".weight")
    if stem.startswith("model.layers."):
        _, _, layer, part = stem.split(".", 3)
        return f"blk.{layer}.{_NAMES[part]}.weight"
    return f"{_NAMES[stem]}.weight"


def _interleaved(name: str, array: Array, heads: dict[str, int]) -> Array:
    """llama.cpp turns neighbours, Hugging Face halves: rows of queries and keys change places."""
    for part, count in heads.items():
        if f"attn_{part}." in name:
            halves = array.reshape(count, 2, -1, array.shape[1])
            return np.ascontiguousarray(halves.swapaxes(1, 2).reshape(array.shape))
    return array


def _add_tokenizer(writer: gguf.GGUFWriter, folder: Path, config: dict[str, Any]) -> None:
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    special = {token["id"] for token in tokenizer["added_tokens"]}
    vocab = tokenizer["model"]["vocab"]
    ids = {token["id"]: token["content"] for token in tokenizer["added_tokens"]}
    ids |= {number: token for token, number in vocab.items()}
    writer.add_tokenizer_model("gpt2")
    digits = "Digits" in json.dumps(tokenizer["pre_tokenizer"])  # each one by itself
    writer.add_tokenizer_pre("smollm" if digits else "gpt-2")
    writer.add_token_list([ids[i] for i in range(len(ids))])
    kinds = (gguf.TokenType.CONTROL, gguf.TokenType.NORMAL)
    writer.add_token_types([kinds[i not in special] for i in range(len(ids))])
    merges = tokenizer["model"]["merges"]
    writer.add_token_merges([each if isinstance(each, str) else " ".join(each) for each in merges])
    eos = config["eos_token_id"]
    writer.add_bos_token_id(config["bos_token_id"])
    writer.add_eos_token_id(eos[0] if isinstance(eos, list) else eos)
    writer.add_add_bos_token(False)
    writer.add_chat_template((folder / "chat_template.jinja").read_text())
