"""What the drafts of `folders` compute, row by row: the papers' formulas written down plainly."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from tests.support.eagle_folders import HEADS, KV, D, Folder, H


def rms(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    return x / (x.pow(2).mean(-1, keepdim=True) + eps).sqrt() * weight


def rotated(x: Tensor, theta: float) -> Tensor:
    """[rows, heads, D]: channels i and i + D/2 turn by row / theta^(2i/D)."""
    out = torch.empty_like(x)
    for row in range(x.shape[0]):
        for i in range(D // 2):
            angle = row / theta ** (2 * i / D)
            a, b = x[row, :, i], x[row, :, i + D // 2]
            out[row, :, i] = a * math.cos(angle) - b * math.sin(angle)
            out[row, :, i + D // 2] = b * math.cos(angle) + a * math.sin(angle)
    return out


def linear(f: Folder, name: str, x: Tensor) -> Tensor:
    out = x @ f[f"{name}.weight"].T
    bias = f.get(f"{name}.bias")
    return out if bias is None else out + bias


def attention(f: Folder, x: Tensor, layer: str) -> Tensor:
    q, k, v = (
        linear(f, f"{layer}self_attn.{name}_proj", x).view(len(x), -1, D)
        for name in ("q", "k", "v")
    )
    if (weight := f.get(f"{layer}self_attn.q_norm.weight")) is not None:
        q, k = rms(q, weight, f.eps), rms(k, f[f"{layer}self_attn.k_norm.weight"], f.eps)
    q, k = rotated(q, f.theta), rotated(k, f.theta)
    rows = []
    for row in range(len(x)):
        heads = []
        for head in range(HEADS):
            past = k[: row + 1, head * KV // HEADS]
            weights = (past @ q[row, head] / math.sqrt(D)).softmax(dim=0)
            heads.append(weights @ v[: row + 1, head * KV // HEADS])
        rows.append(torch.cat(heads))
    return linear(f, f"{layer}self_attn.o_proj", torch.stack(rows))


def layer_output(f: Folder, x: Tensor, residual: Tensor, layer: str = "") -> Tensor:
    x = residual + attention(f, x, layer)
    inner = rms(x, f[f"{layer}post_attention_layernorm.weight"], f.eps)
    gate, up = (linear(f, f"{layer}mlp.{name}_proj", inner) for name in ("gate", "up"))
    return x + linear(f, f"{layer}mlp.down_proj", gate * torch.sigmoid(gate) * up)


def reference(f: Folder, embedded: Tensor, features: Tensor, lm_head: Tensor) -> list[Tensor]:
    """The next hidden [n, H] and the logits of it."""
    if f.dialect == "eagle1":
        fused = linear(f, "fc", torch.cat([embedded, features], dim=-1))
        out = layer_output(f, fused, fused)
        return [out, out @ lm_head.T]
    if (weight := f.get("input_norm.weight")) is not None:
        features = rms(features, weight, f.eps)
    if "fc_norm.0.weight" in f.tensors:
        parts = [features[:, i * H : (i + 1) * H] for i in range(3)]
        normed = [rms(part, f[f"fc_norm.{i}.weight"], f.eps) for i, part in enumerate(parts)]
        features = torch.cat(normed, dim=-1)
    g = linear(f, "fc", features)
    normed_g = rms(g, f["hidden_norm.weight"], f.eps)
    x = torch.cat([rms(embedded, f["input_layernorm.weight"], f.eps), normed_g], dim=-1)
    out = layer_output(f, x, normed_g if f.normed_residual else g)
    for index in range(1, f.layers):  # a plain decoder layer
        inner = rms(out, f[f"layers.{index}.input_layernorm.weight"], f.eps)
        out = layer_output(f, inner, out, f"layers.{index}.")
    normed_out = rms(out, f["norm.weight"], f.eps)
    fed_back = normed_out if f.config.get("norm_output") else out
    return [fed_back, normed_out @ f["lm_head.weight"].T]
