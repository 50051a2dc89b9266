"""A checkpoint is loaded whole, or refused in one line that names what is wrong."""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers as tf
from safetensors.torch import load_file, save_file
from torch import Tensor

from app.config.model_options import ModelOptions
from app.models.load_models import _shortened_context
from app.models.loading import load_model, load_target, load_tokenizer
from decoding.decoder import Decoder
from decoding.errors import InputError
from decoding.model.target import Target
from decoding.params import Params
from tests.conftest import FamilyFolders
from tests.support.families import DELTA, SHAPE, SLIDING, VOCAB, build, filled, greedy_ids
from tests.support.random_trees import RandomTrees

UP = "model.layers.1.mlp.up_proj.weight"
Tensors = dict[str, Tensor]


@pytest.fixture
def folder(family_folders: FamilyFolders, tmp_path: Path) -> Path:
    shutil.copytree(family_folders.target, tmp_path / "model")
    return tmp_path / "model"


@pytest.mark.parametrize(
    "error",
    [torch.OutOfMemoryError("CUDA out of memory"), RuntimeError("CUBLAS_STATUS_ALLOC_FAILED")],
)
@pytest.mark.parametrize("where", ["the first pass", "the self-test"])
def test_a_model_whose_passes_have_no_room_does_not_fit(
    folder: Path, monkeypatch: pytest.MonkeyPatch, where: str, error: Exception
) -> None:
    """Not one that is not supported."""

    def full(*args: object, **kwargs: object) -> None:
        raise error

    if where == "the first pass":
        monkeypatch.setattr(tf.LlamaModel, "forward", full)
    else:
        monkeypatch.setattr("decoding.model.self_test._run", full)
    with pytest.raises(InputError, match="does not fit into the memory of cpu"):
        load_target(str(folder), ModelOptions(str(folder), device="cpu", dtype="float32"))


def change_config(folder: Path, **changes: Any) -> None:
    config = json.loads((folder / "config.json").read_text()) | changes
    (folder / "config.json").write_text(json.dumps(config))


def lose_one(tensors: Tensors) -> None:
    del tensors[UP]


def rename_all(tensors: Tensors) -> None:
    for name in list(tensors):
        tensors[f"foo.{name}"] = tensors.pop(name)


def pack_one(tensors: Tensors) -> None:
    tensors["model.layers.1.mlp.up_proj.trellis"] = tensors.pop(UP)


def add_a_scale(tensors: Tensors) -> None:
    tensors[f"{UP}_scale_inv"] = torch.ones(1)


def cut_one(tensors: Tensors) -> None:
    tensors[UP] = tensors[UP][:40].clone()


@pytest.mark.parametrize(
    ("spoil", "line"),
    [
        (lose_one, f"it lacks {UP}$"),
        (rename_all, "it lacks .* and 20 more, has unknown tensors: foo.* and 20 more$"),
        (pack_one, f"it lacks {UP}, has unknown tensors: model.layers.1.mlp.up_proj.trellis$"),
        (add_a_scale, f"has unknown tensors: {UP}_scale_inv"),
        (cut_one, f"has another shape of {UP}$"),
    ],
)
def test_other_tensors_than_the_models(
    folder: Path, spoil: Callable[[Tensors], None], line: str
) -> None:
    file = folder / "model.safetensors"
    tensors = load_file(file)
    spoil(tensors)
    save_file(tensors, file, metadata={"format": "pt"})
    with pytest.raises(InputError, match=line):
        load_target(str(folder), ModelOptions())


def test_weights_that_are_not_numbers_are_those_of_a_named_model(folder: Path) -> None:
    """The target's and the draft model's are loaded alike."""
    file = folder / "model.safetensors"
    tensors = load_file(file)
    save_file(tensors | {UP: tensors[UP] * torch.nan}, file, metadata={"format": "pt"})
    with pytest.raises(InputError, match=f"^{re.escape(str(folder))}: .* are not numbers"):
        load_target(str(folder), ModelOptions())


@pytest.mark.parametrize("kind", [torch.int32, torch.bool, torch.complex64, torch.float8_e4m3fn])
@pytest.mark.parametrize("named", [None, {}, {"quant_method": ["x"]}, {"quant_method": "exl9"}])
def test_packed_weights_are_not_taken_for_numbers(
    folder: Path, kind: torch.dtype, named: dict[str, Any] | None
) -> None:
    file = folder / "model.safetensors"
    tensors = load_file(file)
    tensors[UP] = tensors[UP].to(kind)
    save_file(tensors, file, metadata={"format": "pt"})
    if named is not None:
        change_config(folder, quantization_config=named)
    with pytest.raises(InputError, match=f"{UP} is .*, and config.json names no quantization"):
        load_target(str(folder), ModelOptions())


@pytest.mark.parametrize("kind", [torch.int64, torch.bool, torch.float32])
def test_packed_weights_in_a_pickled_checkpoint(folder: Path, kind: torch.dtype) -> None:
    tensors = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    tensors[UP] = tensors[UP].to(kind)
    torch.save(tensors, folder / "pytorch_model.bin")
    if kind.is_floating_point:
        assert load_target(str(folder), ModelOptions()).dtype == torch.float32
        return
    with pytest.raises(InputError, match=f"{UP} is .*, and config.json names no quantization"):
        load_target(str(folder), ModelOptions())


def test_more_layers_than_tensors_are_not_built(folder: Path) -> None:
    change_config(folder, num_hidden_layers=10**9)
    with pytest.raises(InputError, match="has 1000000000 layers, and its weights are 21 tensors"):
        load_target(str(folder), ModelOptions())


def test_a_config_that_no_forward_pass_can_take(folder: Path) -> None:
    change_config(folder, rms_norm_eps=-1.0)
    with pytest.raises(InputError, match="no model can be built from its config.json: math domain"):
        load_target(str(folder), ModelOptions())


def test_an_activation_that_nobody_knows(folder: Path) -> None:
    change_config(folder, hidden_act="foo")
    with pytest.raises(
        InputError, match="hidden_act in config.json is 'foo', which transformers d"
    ):
        load_target(str(folder), ModelOptions())


def test_no_heads_of_attention(folder: Path) -> None:
    change_config(folder, num_attention_heads=0)
    with pytest.raises(InputError, match="num_attention_heads in config.json is 0: fix it"):
        load_target(str(folder), ModelOptions())


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("{no", "can't read the {file} of .*: Expecting property name"),
        ("{}", "the {file} of .* has no weight_map, which names each tensor's file: copy or"),
        ("[]", "the {file} of .* has no weight_map"),
        ('{"weight_map": [1]}', "the {file} of .* has no weight_map"),
    ],
)
@pytest.mark.parametrize("kind", ["model.safetensors", "pytorch_model.bin"])
def test_a_broken_list_of_files(folder: Path, kind: str, text: str, line: str) -> None:
    (folder / "model.safetensors").rename(folder / "model-00001-of-00001.safetensors")
    (folder / f"{kind}.index.json").write_text(text)
    with pytest.raises(InputError, match=line.replace("{file}", f"{kind}.index.json")):
        load_target(str(folder), ModelOptions())


POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 123\n"


@pytest.mark.parametrize("name", ["model.safetensors", "pytorch_model.bin"])
def test_what_git_lfs_did_not_fetch(folder: Path, name: str) -> None:
    (folder / "other.safetensors").write_text(POINTER)  # is not needed
    load_target(str(folder), ModelOptions())
    (folder / "other.safetensors").unlink()
    (folder / "model.safetensors").unlink()
    (folder / name).write_text(POINTER)
    with pytest.raises(InputError, match=f"{name}: it is a Git LFS pointer, .* `git lfs pull`"):
        load_target(str(folder), ModelOptions())


def test_heads_among_the_tensors_are_no_strangers(folder: Path) -> None:
    file = folder / "model.safetensors"
    save_file(load_file(file) | {"medusa_head.0.0.linear.bias": torch.zeros(32)}, file)
    assert load_target(str(folder), ModelOptions()).hidden_size == 32


YARN: dict[str, Any] = {
    "rope_type": "yarn",
    "rope_theta": 10000.0,
    "factor": 4.0,
    "original_max_position_embeddings": 128,
}


def test_yarn_stretches_the_context(folder: Path) -> None:
    change_config(folder, rope_parameters=YARN)
    assert load_target(str(folder), ModelOptions()).context == 512


def test_yarn_without_a_factor_stretches_from_the_original_length_to_the_stated(
    folder: Path,
) -> None:
    change_config(folder, rope_parameters={**YARN, "factor": None}, max_position_embeddings=256)
    assert load_target(str(folder), ModelOptions()).context == 256


def test_a_context_of_nothing(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text()) | {"max_position_embeddings": -5}
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(InputError, match="max_position_embeddings"):
        load_target(str(folder), ModelOptions())


# The text of multimodal models

VISION: dict[str, Any] = {
    "hidden_size": 16,
    "intermediate_size": 64,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "image_size": 28,
    "patch_size": 14,
}
QWEN_VISION: dict[str, Any] = {
    "depth": 1,
    "hidden_size": 16,
    "intermediate_size": 24,
    "num_heads": 2,
    "out_hidden_size": 32,
}
QWEN_TOKENS: dict[str, Any] = {
    "image_token_id": 50,
    "video_token_id": 51,
    "vision_start_token_id": 52,
    "vision_end_token_id": 53,
}
MROPE: dict[str, Any] = {"rope_type": "default", "mrope_section": [1, 1, 2], "rope_theta": 1e4}
# By kind: the class, the config of its text, and the rest.
MULTIMODAL: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "gemma3": (
        tf.Gemma3ForConditionalGeneration,
        lambda: tf.Gemma3TextConfig(
            **SHAPE,
            sliding_window=SLIDING,
            query_pre_attn_scalar=8,
            layer_types=["sliding_attention", "full_attention", "sliding_attention"],
        ),
        {"vision_config": VISION, "mm_tokens_per_image": 4},
    ),
    "mistral3": (
        tf.Mistral3ForConditionalGeneration,
        lambda: tf.MistralConfig(**SHAPE),
        {"vision_config": {"model_type": "pixtral", **VISION}},
    ),
    "llava": (
        tf.LlavaForConditionalGeneration,
        lambda: tf.LlamaConfig(**SHAPE),
        {"vision_config": {"model_type": "clip_vision_model", **VISION}},
    ),
    "qwen2_5_vl": (
        tf.Qwen2_5_VLForConditionalGeneration,
        lambda: tf.Qwen2_5_VLTextConfig(**SHAPE, rope_parameters=MROPE),
        {"vision_config": {**QWEN_VISION, "fullatt_block_indexes": [0]}, **QWEN_TOKENS},
    ),
    "qwen3_vl": (
        tf.Qwen3VLForConditionalGeneration,
        lambda: tf.Qwen3VLTextConfig(**SHAPE, rope_parameters=MROPE),
        {"vision_config": {**QWEN_VISION, "deepstack_visual_indexes": [0]}, **QWEN_TOKENS},
    ),
    "qwen3_5": (
        tf.Qwen3_5ForConditionalGeneration,
        lambda: tf.Qwen3_5TextConfig(**SHAPE, **DELTA),
        {"vision_config": QWEN_VISION, **QWEN_TOKENS},
    ),
    "llama4": (
        tf.Llama4ForConditionalGeneration,
        lambda: tf.Llama4TextConfig(
            **SHAPE,
            intermediate_size_mlp=48,
            num_local_experts=2,
            attention_chunk_size=SLIDING,
            layer_types=["chunked_attention", "full_attention", "chunked_attention"],
        ),
        {
            "vision_config": {
                **VISION,
                "vision_output_dim": 16,
                "projector_input_dim": 16,
                "projector_output_dim": 16,
            }
        },
    ),
}


BROKEN = {("llama4", "5.24.0")}  # its forward reads an attribute that its text model has not


@pytest.mark.parametrize("kind", MULTIMODAL)
def test_the_text_of_multimodal_models(kind: str, tmp_path: Path) -> None:
    """Exact, and without what sees images."""
    if (kind, tf.__version__) in BROKEN:
        pytest.skip(f"transformers {tf.__version__} can't run {kind} itself")
    model_class, text, more = MULTIMODAL[kind]
    torch.manual_seed(0)
    whole: Any = filled(model_class(model_class.config_class(text_config=text().to_dict(), **more)))
    whole.save_pretrained(tmp_path)
    target = load_target(str(tmp_path), ModelOptions(device="cpu"))
    assert target.nbytes < whole.get_memory_footprint()
    prompt = [(7 * i + 3) % 48 for i in range(SLIDING + 5)]
    truth = greedy_ids(whole, prompt, 12)
    for drafter in (None, RandomTrees(VOCAB, 7, len(prompt), truth)):
        decoder = Decoder(target, drafter)
        for _ in decoder.generate(prompt, Params(gamma=4, max_new_tokens=12)):
            pass
        assert decoder.generated == truth


# What is no model of text


def config_of(kind: str, **more: object) -> str:
    return json.dumps({"model_type": kind, **more})


OTHERS: dict[str, tuple[dict[str, str], str]] = {
    "multimodal": (
        {"config.json": config_of("clip")},
        "clip is a multimodal model; specchat runs those alone that answer images with text",
    ),
    "encoder-decoder": (
        {"config.json": config_of("t5")},
        "t5 is an encoder-decoder model; specchat runs decoder-only models",
    ),
    "something else": (
        {"config.json": config_of("vit")},
        "vit is no language model that goes on with a text",
    ),
    "PEFT": (
        {"adapter_config.json": "{}"},
        "does not name its base model .*: give its base: --",
    ),
    "PEFT beside a model": (
        {"adapter_config.json": "{}", "config.json": config_of("llama")},
        "holds a PEFT adapter beside its model",
    ),
    "nothing": ({}, "has no config.json"),
    "broken": ({"config.json": "{"}, "can't read the config.json of .*not a valid JSON"),
    "deep": ({"config.json": "[" * 100_000}, "can't read the config.json of"),
    "wrong type": (
        {"config.json": config_of("llama", max_position_embeddings="long")},
        "can't read the config.json of .*max_position_embeddings.*int",
    ),
}


@pytest.mark.parametrize("case", OTHERS)
def test_what_is_no_model_of_text(tmp_path: Path, case: str) -> None:
    files, line = OTHERS[case]
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=line) as refused:
        load_model(str(tmp_path), ModelOptions())
    assert "\n" not in str(refused.value) and "tokenizer" not in str(refused.value)


@pytest.mark.parametrize("text", ["{", "[5]", ""])
def test_a_broken_generation_config(folder: Path, text: str) -> None:
    (folder / "generation_config.json").write_text(text)
    with pytest.raises(InputError, match="can't read the generation_config.json of"):
        load_target(str(folder), ModelOptions())


def test_a_rope_that_nobody_knows(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    config["rope_parameters"] = {"rope_type": "nonsense", "rope_theta": 10000.0}
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(
        InputError, match="rope_type in config.json is 'nonsense', which transformers does"
    ):
        load_target(str(folder), ModelOptions())


@pytest.mark.parametrize(
    ("rope", "line"),
    [
        ({"rope_type": "yarn"}, "of .*: Missing required keys in `rope_parameters` .*'factor'}$"),
        ({"rope_type": "linear", "rope_theta": 1e4}, "Missing required keys .*'factor'}$"),
    ],
)
def test_a_rope_that_lacks_something(folder: Path, rope: dict[str, Any], line: str) -> None:
    change_config(folder, rope_parameters=rope)
    with pytest.raises(InputError, match=line):
        load_target(str(folder), ModelOptions())


@pytest.mark.parametrize(
    ("rope", "line"),
    [
        ({"rope_type": "linear", "factor": -1}, "factor is -1, and must be a number above 0"),
        # transformers itself says: '<' not supported between instances of 'str' and 'int'
        ({**YARN, "beta_fast": "abc"}, "beta_fast is 'abc', and must be a number"),
        ({**YARN, "original_max_position_embeddings": 0}, "is 0, and must be a number above 1"),
        (
            {"rope_type": "longrope", "short_factor": [1.0], "long_factor": [2.0] * 4},
            "short_factor has length 1, and must have 4",
        ),
    ],
)
def test_a_rope_of_nonsense(folder: Path, rope: dict[str, Any], line: str) -> None:
    change_config(folder, rope_parameters=rope)
    with pytest.raises(InputError, match=f"^can't read the config.json of .*: rope_.*: .*{line}"):
        load_target(str(folder), ModelOptions())


@pytest.mark.parametrize("stub", [False, True])
def test_a_folder_without_a_tokenizer(folder: Path, stub: bool) -> None:
    (folder / "tokenizer.json").unlink()
    line = "it has no tokenizer.json, nor another file that"
    if stub:
        pytest.importorskip("sentencepiece")
        (folder / "tokenizer.model").write_bytes(b"stub")
        line = "it is no SentencePiece model, and transformers says"
    with pytest.raises(InputError, match=line):
        load_tokenizer(str(folder), ModelOptions())


def test_a_pickle_that_runs_code(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    torch.save({"x": Path.cwd}, folder / "pytorch_model.bin")
    with pytest.raises(InputError, match="a pickle that is not only tensors") as refused:
        load_target(str(folder), ModelOptions())
    assert "weights_only=False" not in str(refused.value)


# The hub


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: Path) -> Path:
    """A cache with org/model, and a network that never answers."""
    kept = tmp_path / "hub" / "models--org--model"
    (kept / "refs").mkdir(parents=True)
    (kept / "refs" / "main").write_text("abc")
    shutil.copytree(folder, kept / "snapshots" / "abc")

    def hang(*arguments: object, **named: object) -> None:
        time.sleep(30)

    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr("huggingface_hub._snapshot_download.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr("socket.getaddrinfo", hang)
    monkeypatch.setattr("app.models.hub.PROBE_SECONDS", 0.2)
    return kept / "snapshots" / "abc"


def test_what_is_in_the_cache_needs_no_network(hub: Path) -> None:
    begun = time.perf_counter()
    assert load_target("org/model", ModelOptions()).context == 128
    assert load_tokenizer("org/model", ModelOptions()).vocab_size
    assert time.perf_counter() - begun < 10


@pytest.mark.parametrize("lost", ["model.safetensors", "config.json"])
def test_what_is_not_whole_in_the_cache_is_asked_for_once(hub: Path, lost: str) -> None:
    (hub / lost).unlink()
    begun = time.perf_counter()
    with pytest.raises(InputError, match="org/model is incomplete in the cache, and https://hugg"):
        load_target("org/model", ModelOptions())
    assert time.perf_counter() - begun < 10


def test_an_id_that_was_never_seen(hub: Path) -> None:
    begun = time.perf_counter()
    with pytest.raises(
        InputError, match="org/other is neither a folder nor in the .* cache, .*models`"
    ):
        load_tokenizer("org/other", ModelOptions())
    assert time.perf_counter() - begun < 10


def test_a_context_that_ends_with_its_window_is_said() -> None:
    """Else a long prompt is refused, and nobody knows why."""
    target = Target(build("mistral"))
    assert _shortened_context(target) == ""
    target.window = None  # as the self test leaves it
    assert f"the attention window of {SLIDING} tokens" in _shortened_context(target)
    assert _shortened_context(Target(build("llama"))) == ""
