"""What is no EAGLE head, or not for this target, is refused in one line that says so."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from decoding.checkpoints.eagle_fit import TargetShape
from decoding.checkpoints.eagle_read import read_eagle
from decoding.drafters.eagle_head import EagleHead
from decoding.errors import InputError
from tests.support.eagle_folders import AUX, KNOWN, TARGET, Folder, H, V, made


def without(name: str) -> Callable[[Folder], None]:
    def change(f: Folder) -> None:
        del f.tensors[name]

    return change


def put(name: str, tensor: Tensor) -> Callable[[Folder], None]:
    return lambda f: f.tensors.update({name: tensor})


def say(**config: Any) -> Callable[[Folder], None]:
    return lambda f: f.config.update(config)


def only(*names: str) -> Callable[[Folder], None]:
    def change(f: Folder) -> None:
        f.tensors = {name: torch.zeros(2, 2) for name in names}

    return change


def repeated_token(f: Folder) -> None:
    f.tensors["d2t"][1] = f.tensors["d2t"][0] - 1


def unchanged(f: Folder) -> None:
    pass


REFUSED: dict[str, tuple[str, Callable[[Folder], None], TargetShape, str]] = {
    "other width": (
        "safeailab",
        unchanged,
        replace(TARGET, hidden=24),
        "the draft is 16 wide, this target 24: it was made for another model",
    ),
    "other width, EAGLE-1 with an embedding": (
        "eagle1",
        unchanged,
        replace(TARGET, hidden=24),
        "the draft is 16 wide, this target 24: it was made for another model",
    ),
    "other width, own embedding": (
        "specforge",
        unchanged,
        replace(TARGET, hidden=24),
        "fuses 48 features (fc), 3 layers of this target have 72: it was made for another",
    ),
    "other number of layers": (
        "modelopt",
        unchanged,
        replace(TARGET, layers=12),
        "reads the inputs of layers [4, 6, 15], this target has 0 to 11: it was made for another",
    ),
    "more layers than fc has room for": (
        "speculators",
        say(**{AUX: [1, 2, 3, 4]}),
        TARGET,
        "fuses 48 features (fc), 4 layers of this target have 64",
    ),
    "other vocabulary, by the embedding": (
        "eagle1",
        unchanged,
        replace(TARGET, vocab=31),
        "embeds 29 tokens, this target has 31: it was made for another model",
    ),
    "other vocabulary, by t2d": (
        "safeailab",
        unchanged,
        replace(TARGET, vocab=31),
        "knows 29 tokens (t2d), this target has 31: it was made for another model",
    ),
    "other vocabulary, by d2t": (
        "modelopt",
        put("d2t", torch.full((KNOWN,), 20)),
        TARGET,
        "names token 30 (d2t), this target has 29: it was made for another model",
    ),
    "other vocabulary, by lm_head": (
        "speculators qwen3",
        unchanged,
        replace(TARGET, vocab=20),
        "has 29 logits (lm_head), this target 20: it was made for another model",
    ),
    "no map": ("modelopt", without("d2t"), TARGET, "d2t is missing; with 11 rows in lm_head"),
    "short map": ("modelopt", put("d2t", torch.zeros(4)), TARGET, "d2t is [4]; with 11 rows"),
    "a token twice": ("modelopt", repeated_token, TARGET, "d2t gives two rows of lm_head the same"),
    "maps that disagree": (
        "safeailab",
        put("t2d", torch.ones(V, dtype=torch.bool)),
        TARGET,
        "t2d marks other tokens than d2t names",
    ),
    "two layers of EAGLE-1": (
        "eagle1",
        put("layers.1.mlp.up_proj.weight", torch.zeros(2, 2)),
        TARGET,
        "the draft has 2 layers, and the first no hidden_norm as in EAGLE-3: EAGLE-1 of several",
    ),
    "a plain model": (
        "eagle1",
        only("model.layers.0.mlp.up_proj.weight", "lm_head.weight"),
        TARGET,
        "holds no EAGLE head (no tensor like layers.0.self_attn.q_proj.weight)",
    ),
    "Medusa": (
        "eagle1",
        only("0.0.linear.weight"),
        TARGET,
        "holds Medusa heads, no EAGLE head",
    ),
    "Medusa of vLLM": (
        "eagle1",
        only("blocks.0.layers.0.weight", "lm_heads.0.weight"),
        TARGET,
        "holds Medusa heads, no EAGLE head",
    ),
    "ModelOpt's training checkpoint": (
        "eagle1",
        only("eagle_module.fc.weight", "model.embed_tokens.weight"),
        TARGET,
        "is a training checkpoint of ModelOpt",
    ),
    "another speculator": (
        "speculators",
        say(speculators_model_type="peagle"),
        TARGET,
        "is a speculator of type peagle, which is not supported; only eagle3 is",
    ),
    "a layer of another kind": (
        "speculators",
        lambda f: f.config["transformer_layer_config"].update(model_type="gemma3_text"),
        TARGET,
        "layer is of type gemma3_text, which is not supported; only llama and qwen3 are",
    ),
    "the last hidden state alone": (
        "modelopt",
        say(eagle_config={"use_aux_hidden_state": False}),
        TARGET,
        "(use_aux_hidden_state is false in its config.json) is not supported",
    ),
    "layers that are no numbers": (
        "speculators",
        say(**{AUX: ["two"]}),
        TARGET,
        f"{AUX} in config.json must be a list of numbers",
    ),
    "no heads": (
        "eagle1",
        say(num_attention_heads=None),
        TARGET,
        "32 rows of q_proj and 16 of k_proj don't make heads",
    ),
    "half a rope": (
        "safeailab",
        say(partial_rotary_factor=0.5),
        TARGET,
        "config.json asks for a rope over parts of a head",
    ),
    "a rope without its factor": (
        "safeailab",
        say(rope_scaling={"rope_type": "yarn"}),
        TARGET,
        "config.json lacks factor for a rope of type yarn",
    ),
    "a rope of nonsense": (
        "modelopt",
        say(rope_scaling={"rope_type": "linear", "factor": -1}),
        TARGET,
        "config.json: rope: factor is -1, and must be a number above 0",
    ),
    "unknown activation": ("safeailab", say(hidden_act="nope"), TARGET, "unknown hidden_act nope"),
    "no matrix": (
        "safeailab",
        without("midlayer.self_attn.k_proj.weight"),
        TARGET,
        "the EAGLE head lacks a matrix self_attn.k_proj.weight",
    ),
    "a depth that is no number": (
        "specforge",
        say(speculative_num_steps="five"),
        TARGET,
        "config.json: speculative_num_steps: gamma must be a whole number, not 'five'",
    ),
    "a depth that is a truth value": (
        "specforge",
        say(speculative_num_steps=True),
        TARGET,
        "config.json: speculative_num_steps: gamma must be a whole number, not True",
    ),
    "a tree without nodes": (
        "eagle1",
        say(speculative_num_draft_tokens=1),
        TARGET,
        "speculative_num_draft_tokens: eagle_total_tokens must be 2 or more, at most 1024, not 1",
    ),
    "no fc": ("safeailab", without("fc.weight"), TARGET, "lacks a matrix fc.weight"),
    # from here on EagleHead.build refuses
    "no norm": (
        "safeailab",
        without("midlayer.hidden_norm.weight"),
        TARGET,
        "lacks the tensor hidden_norm.weight [16]",
    ),
    "no bias": ("eagle1", without("fc.bias"), TARGET, "lacks the tensor fc.bias [16]"),
    "unknown tensor": (
        "modelopt",
        put("layers.0.self_attn.q_proj.weight_scale", torch.zeros(2, 2)),
        TARGET,
        "has an unknown tensor self_attn.q_proj.weight_scale",
    ),
    "a layer cut off": (
        "two layers",
        without("layers.1.mlp.down_proj.weight"),
        TARGET,
        "lacks the tensor layers.1.mlp.down_proj.weight [16, 20]",
    ),
    "a second layer that reads tokens too": (
        "two layers",
        put("layers.1.self_attn.q_proj.weight", torch.zeros(32, 2 * H)),
        TARGET,
        "layers.1.self_attn.q_proj.weight is [32, 32], its config and this target need [32, 16]",
    ),
    "a norm that the config switches off": (
        "speculators",
        say(fc_norm=False),
        TARGET,
        "has an unknown tensor fc_norm.0.weight",
    ),
    "EAGLE-3 that is not a number": (
        "safeailab",
        put("midlayer.mlp.down_proj.weight", torch.full((H, 20), torch.nan).half()),
        TARGET,
        "its tensor midlayer.mlp.down_proj.weight is not all numbers (NaN or infinite): its wei",
    ),
    "EAGLE-1 with an infinite number": (
        "eagle1",
        put("fc.weight", torch.zeros(H, 2 * H).index_fill(1, torch.tensor(3), -torch.inf)),
        TARGET,
        "its tensor fc.weight is not all numbers (NaN or infinite): its weights are damaged",
    ),
    "wrong shape": (
        "safeailab",
        put("midlayer.mlp.down_proj.weight", torch.zeros(H, 3)),
        TARGET,
        "mlp.down_proj.weight is [16, 3], its config and this target need [16, 20]",
    ),
    "EAGLE-1's fc of another target": (
        "eagle1",
        put("fc.weight", torch.zeros(H, 3 * H)),
        TARGET,
        "fc.weight is [16, 48], its config and this target need [16, 32]",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_does_not_fit_is_refused_in_one_line(case: str, tmp_path: Path) -> None:
    name, change, target, line = REFUSED[case]
    f = made(name)
    change(f)
    folder = f.store(tmp_path / "draft")
    with pytest.raises(InputError, match=re.escape(line)) as refused:
        embedding = torch.zeros(target.vocab, target.hidden)
        EagleHead.build(read_eagle(folder, target), embedding, lambda x: x)
    assert "\n" not in str(refused.value)
