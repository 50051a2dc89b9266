"""EAGLE folders of every dialect are read into the drafts that they hold."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from decoding.checkpoints.eagle_read import read_eagle
from decoding.drafters.eagle_head import EagleHead, rotary_of
from decoding.errors import InputError
from tests.support.eagle_folders import (
    AUX,
    FOLDERS,
    KNOWN,
    LLAMA3,
    TARGET,
    H,
    V,
    eagle3_tensors,
    made,
    matrix,
    read_with,
)
from tests.support.eagle_formulas import reference


def causal(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    out = functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
    return out.transpose(1, 2).flatten(2)


@pytest.mark.parametrize("name", FOLDERS)
def test_every_dialect_is_detected_and_computes_what_it_describes(
    name: str, tmp_path: Path
) -> None:
    f = made(name)
    read = read_eagle(f.store(tmp_path / "draft"), TARGET)
    assert read.dialect == f.dialect
    assert list(read.config.aux_layers) == f.aux_layers

    embedding, lm_head = torch.randn(V, H), matrix(V, H)
    head = EagleHead.build(read, embedding, lambda x: x @ lm_head.T)
    n, width = 5, H if f.dialect == "eagle1" else 3 * H
    tokens, features = torch.randint(V, (n,)), torch.randn(n, width) * 3
    own = f.get("embed_tokens.weight")
    embedded = (embedding if own is None else own)[tokens]
    expected = reference(f, embedded, features, lm_head)

    with torch.no_grad():
        hidden = head(
            tokens[None], head.hidden(features[None]), torch.arange(n), [causal] * len(head.layers)
        )
        torch.testing.assert_close(hidden[0], expected[0], atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(head.logits(hidden)[0], expected[1], atol=1e-5, rtol=1e-5)
    if "d2t" in f.tensors:
        rows = torch.arange(KNOWN)
        assert torch.equal(head.target_ids(rows), rows + f.tensors["d2t"])


def test_maps_that_say_nothing_are_left_out(tmp_path: Path) -> None:
    f = made("speculators qwen3")
    f.tensors |= {"d2t": torch.zeros(V, dtype=torch.long), "t2d": torch.ones(V, dtype=torch.bool)}
    read = read_eagle(f.store(tmp_path / "draft"), TARGET)
    assert read.config.draft_vocab == V and not {"d2t", "t2d"} & read.tensors.keys()


def test_a_map_of_the_whole_vocabulary_in_another_order_is_kept(tmp_path: Path) -> None:
    f, ids = made("speculators qwen3"), torch.arange(V).roll(3)
    f.tensors |= {"d2t": ids - torch.arange(V), "t2d": torch.ones(V, dtype=torch.bool)}
    read = read_eagle(f.store(tmp_path / "draft"), TARGET)
    assert read.config.draft_vocab == V and "t2d" not in read.tensors
    assert torch.equal(torch.arange(V) + read.tensors["d2t"], ids)


def test_nothing_in_a_folder_is_executed(tmp_path: Path) -> None:
    class Evil:
        def __reduce__(self) -> tuple[Any, ...]:
            return (Path.touch, (tmp_path / "executed",))

    folder = made("speculators").store(tmp_path / "draft")
    script = f"from pathlib import Path\nPath({str(tmp_path / 'executed')!r}).touch()\n"
    (folder / "eagle3.py").write_text(script)
    read_eagle(folder, TARGET)
    assert not (tmp_path / "executed").exists()

    pickled = tmp_path / "pickled"
    pickled.mkdir()
    torch.save({"fc.weight": Evil()}, pickled / "pytorch_model.bin")
    with pytest.raises(InputError, match="can't read"):
        read_eagle(pickled, TARGET)
    assert not (tmp_path / "executed").exists()


def test_what_a_trainer_leaves_beside_a_pickle_is_not_read(tmp_path: Path) -> None:
    folder = made("eagle1").store(tmp_path / "draft")
    torch.save({"args": TARGET}, folder / "training_args.bin")  # no mere tensors
    torch.save({"state": {}}, folder / "optimizer.pt")
    for name in ("rng_state.pth", "rng_state_1.pth"):
        torch.save({"python": Path("x")}, folder / name)
    assert read_eagle(folder, TARGET).dialect == "eagle1"


def test_what_can_not_be_read_is_named_once(tmp_path: Path) -> None:
    torch.save({"python": Path("x")}, tmp_path / "head.pt")
    with pytest.raises(InputError, match="^can't read (?!.*can't read).*might run anything"):
        read_eagle(tmp_path, TARGET)


MODELOPT = {"use_last_layernorm": True}
AUX_LAYERS = [
    # dialect, config, aux_layers, note
    ("safeailab", {}, (2, 8, 13), "aux layers not named, taken to be [2, 8, 13]"),
    ("safeailab", {AUX: [3, 9, 12]}, (3, 9, 12), None),
    ("safeailab", {AUX: [12, 3, 9]}, (3, 9, 12), None),
    (
        "safeailab",
        {"eagle_config": {AUX: [1, 7, 12]}},
        (2, 8, 13),
        "aux layers [1, 7, 12] are outputs, read as inputs [2, 8, 13]",
    ),
    (
        "safeailab",
        {"eagle_config": {AUX: [3, 8, 12]}},
        (4, 9, 13),
        "aux layers [3, 8, 12] are outputs, read as inputs [4, 9, 13]",
    ),
    # both, as we write them for vLLM and SGLang: the top level wins
    ("safeailab", {AUX: [3, 9, 12], "eagle_config": {AUX: [1, 7, 12]}}, (3, 9, 12), None),
    (
        "modelopt",
        {"eagle_config": MODELOPT | {AUX: [2, 8, 13]}},
        (3, 9, 14),
        "aux layers [2, 8, 13] are outputs, read as inputs [3, 9, 14]",
    ),
    ("modelopt", {"eagle_config": MODELOPT | {AUX: []}}, (2, 8, 13), "aux layers not named"),
    ("speculators", {AUX: [2, 8, 13]}, (2, 8, 13), None),
    ("speculators", {AUX: None}, (2, 8, 13), "aux layers not named, taken to be [2, 8, 13]"),
    (
        "speculators",
        {AUX: [1, 7, 12]},
        (1, 7, 12),
        "aux layers [1, 7, 12] read as inputs, though they look like outputs",
    ),
]


@pytest.mark.parametrize(("name", "config", "aux_layers", "note"), AUX_LAYERS)
def test_aux_layers_become_the_indices_of_hidden_states(
    name: str, config: dict[str, Any], aux_layers: tuple[int, ...], note: str | None, tmp_path: Path
) -> None:
    read = read_with(tmp_path, name, **config)
    assert read.config.aux_layers == aux_layers
    if note is None:
        assert read.notes == ()
    else:
        assert len(read.notes) == 1 and read.notes[0].startswith(note)


@pytest.mark.parametrize(
    ("ids", "aux_layers", "note"),
    [
        ([1, 7, 12], (2, 8, 13), ("aux layers [1, 7, 12] are outputs, read as inputs [2, 8, 13]",)),
        ([2, 8, 13], (2, 8, 13), ()),
        (
            [3, 8, 13],
            (3, 8, 13),
            (
                "aux layers [3, 8, 13] read as inputs, as SGLang does with models of DeepSeek's "
                "kind",
            ),
        ),
    ],
)
def test_heads_for_models_of_deepseeks_kind_may_name_inputs(
    ids: list[int], aux_layers: tuple[int, ...], note: tuple[str, ...], tmp_path: Path
) -> None:
    f = made("safeailab")
    f.config["eagle_config"] = {AUX: ids}
    read = read_eagle(f.store(tmp_path / "draft"), replace(TARGET, model_type="deepseek_v3"))
    assert (read.config.aux_layers, read.notes) == (aux_layers, note)


def test_default_taps_that_coincide_are_one(tmp_path: Path) -> None:
    f = made("safeailab")
    f.tensors["fc.weight"] = matrix(H, 2 * H)
    shallow = replace(TARGET, layers=5)  # 2, 5 // 2 and 5 - 3
    with pytest.raises(InputError, match="fuses 32 features"):
        read_eagle(f.store(tmp_path / "one"), shallow)
    assert read_eagle(f.store(tmp_path / "two"), replace(TARGET, layers=6)).config.aux_layers == (
        2,
        3,
    )


def test_a_yarn_rope_of_modelopt_is_obeyed_and_told(tmp_path: Path) -> None:
    yarn = {"type": "yarn", "factor": 32.0, "original_max_position_embeddings": 2048}
    read = read_with(tmp_path, "modelopt", rope_scaling=yarn)
    assert "rope_scaling yarn obeyed" in read.notes
    assert read.config.rope == {
        "rope_type": "yarn",
        "rope_theta": 20000.0,
        "factor": 32.0,
        "original_max_position_embeddings": 2048,
    }
    plain = replace(read.config, rope={"rope_type": "default", "rope_theta": 20000.0})
    assert not torch.allclose(rotary_of(read.config).inv_freq, rotary_of(plain).inv_freq)


def test_a_sliding_window_is_told(tmp_path: Path) -> None:
    read = read_with(tmp_path, "safeailab", layer_types=["sliding_attention"])
    assert "sliding window ignored" in read.notes


@pytest.mark.parametrize(
    ("config", "rope"),
    [
        ({}, {"rope_type": "default", "rope_theta": 10000.0}),
        ({"rope_theta": 5e5}, {"rope_type": "default", "rope_theta": 5e5}),
        (
            {"rope_theta": 5e5, "rope_scaling": {"rope_type": "llama3", **LLAMA3}},
            {"rope_type": "llama3", "rope_theta": 5e5, **LLAMA3},
        ),
        (
            {"rope_scaling": {"type": "linear", "factor": 2.0}},
            {"rope_type": "linear", "rope_theta": 10000.0, "factor": 2.0},
        ),
        (
            {"rope_parameters": {"rope_type": "llama3", "rope_theta": 5e5, **LLAMA3}},
            {"rope_type": "llama3", "rope_theta": 5e5, **LLAMA3},
        ),
    ],
)
def test_the_rope_is_the_drafts_own_in_either_spelling(
    config: dict[str, Any], rope: dict[str, Any], tmp_path: Path
) -> None:
    read = read_with(tmp_path, "safeailab", **config)
    assert read.config.rope == rope
    assert read.notes == ("aux layers not named, taken to be [2, 8, 13]",)  # nothing about the rope


def test_a_head_may_have_any_width(tmp_path: Path) -> None:
    """Not only a multiple of its number of heads, as transformers demands."""
    f = made("specforge")
    f.tensors |= eagle3_tensors("midlayer.", width=10) | {"embed_tokens.weight": matrix(V, 10)}
    read = read_eagle(f.store(tmp_path / "draft"), TARGET)
    head = EagleHead.build(read, torch.zeros(V, H), lambda x: x)
    tokens, features = torch.randint(V, (1, 3)), torch.randn(1, 3, 3 * H)
    out = head(tokens, head.hidden(features), torch.arange(3), [causal])
    assert out.shape == (1, 3, 10)
