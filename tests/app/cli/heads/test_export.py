"""Heads for other programs: every form reads back bit by bit, and says how it is served."""

from __future__ import annotations

import hashlib
import json
import shlex
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM

from app.cli.heads.checksums import write_checksums
from app.cli.heads.export import FORMATS, require_as_authors
from decoding.checkpoints.eagle_fit import TargetShape, sglang_reads_layers
from decoding.checkpoints.eagle_read import read_eagle
from decoding.checkpoints.medusa import is_merged, read_medusa
from decoding.checkpoints.quantized import quantization_config
from decoding.errors import InputError
from tests.conftest import FamilyFolders, Specchat

SHAPE = TargetShape(32, 280, 2)
KINDS = {"medusa": ["--heads", "2"], "eagle1": [], "eagle3": ["--aux-layers", "0,1"]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("heads")


def made(kind: str, specchat: Specchat, target: str, folder: Path) -> Path:
    out = folder / kind
    if not out.exists():
        convert = ("heads", "convert", kind, "--target", target, "--out", str(out))
        done = specchat(*convert, *KINDS[kind])
        assert done.returncode == 0, done.stderr
    return out


def value(words: list[str], option: str) -> str:
    return words[words.index(option) + 1]


@pytest.mark.parametrize(
    ("kind", "to"),
    [(kind, to) for kind in KINDS for to, form in FORMATS.items() if getattr(form, kind)],
)
def test_every_form(
    kind: str, to: str, specchat: Specchat, family_folders: FamilyFolders, folder: Path,
    tmp_path: Path,
) -> None:  # fmt: skip
    target, out = family_folders.target, tmp_path / "out"
    heads = made(kind, specchat, target, folder)
    command = ("heads", "export", "--target", target, "--heads", str(heads), "--to", to)
    done = specchat(*command, "--out", str(out))
    # They name outputs of layers, of which the embedding is none.
    if kind == "eagle3" and to in ("modelopt", "sglang", "tensorrt-llm"):
        assert done.returncode == 2 and "layer 0" in done.stderr
        return
    if kind == "eagle3" and to == "eagle":
        assert done.returncode == 2 and "this head has layers 0, 1: choose" in done.stderr
        return
    assert done.returncode == 0, done.stderr
    if kind == "medusa":
        before, after = read_medusa(heads, 32, 280), read_medusa(out, 32, 280)
        assert torch.equal(before.weights, after.weights)
        assert (after.lm_heads is None) == (to == "tgi")
        assert is_merged(out) == (to == "modelopt")
    else:
        config = read_eagle(heads, SHAPE).config
        if (kind, to) == ("eagle1", "vllm"):  # which knows none; it is zero yet
            config = replace(config, fc_bias=False)
        assert config == read_eagle(out, SHAPE).config
    for line in (out / "SHA256SUMS").read_text().splitlines():
        digest, name = line.split("  ")
        assert hashlib.sha256((out / name).read_bytes()).hexdigest() == digest
    engine, _, launch = done.stdout.partition("\n")
    assert bool(launch) == bool(FORMATS[to].engine)
    if "vLLM" in engine:
        config = json.loads(shlex.split(launch)[-1])
        assert (config["method"], config["model"]) == (kind.replace("1", ""), str(out))
    elif "TensorRT" in engine and kind == "medusa":
        convert, build, run = map(shlex.split, launch.splitlines())
        assert value(convert, "--medusa_model_dir") == str(out)
        assert value(convert, "--model_dir") == value(run, "--tokenizer_dir") == target
        assert value(convert, "--num_medusa_heads") == "2"
        assert value(build, "--speculative_decoding_mode") == "medusa"
        nodes = json.loads(value(run, "--medusa_choices"))
        assert nodes == [[0], [1], [2], [0, 0], [0, 1], [1, 0]]  # each after those before it
        assert value(convert, "--max_medusa_token_len") == str(len(nodes))
    elif "TensorRT" in engine:
        assert f'  speculative_model: "{out}"' in launch.splitlines()
    assert launch.strip() in (out / "README.md").read_text()
    again = specchat(*command, "--out", str(out))
    assert again.returncode == 2 and "is not empty" in again.stderr


@pytest.mark.parametrize(
    ("to", "asked", "written"),
    [
        ("sglang", [], "bfloat16"),  # an engine's dtype is the target's
        ("sglang", ["--dtype", "float16"], "float16"),
        ("eagle", [], "float32"),
    ],
)
def test_the_precision_of_an_export(
    to: str, asked: list[str], written: str, specchat: Specchat, family_folders: FamilyFolders,
    folder: Path, tmp_path: Path,
) -> None:  # fmt: skip
    heads = made("eagle1", specchat, family_folders.target, folder)
    target, out = tmp_path / "target", tmp_path / "out"
    shutil.copytree(family_folders.target, target)
    AutoModelForCausalLM.from_pretrained(target, dtype=torch.bfloat16).save_pretrained(target)
    done = specchat(
        "heads", "export", "--target", str(target), "--heads", str(heads), "--to", to,
        "--out", str(out), *(["--gamma", "3"] if to == "sglang" else []), *asked,
    )  # fmt: skip
    assert done.returncode == 0 and "read back without" in done.stderr, done.stderr
    assert (f"(eagle1, {written}, " in done.stderr) == (to == "sglang")
    assert ("--speculative-num-steps 3" in done.stdout) == (to == "sglang")
    assert {t.dtype for t in read_eagle(out, SHAPE).tensors.values()} == {getattr(torch, written)}


def test_vllm_is_not_given_a_bias_that_it_skips(
    specchat: Specchat, family_folders: FamilyFolders, folder: Path, tmp_path: Path
) -> None:
    target, learned, out = family_folders.target, tmp_path / "learned", tmp_path / "out"
    head = read_eagle(made("eagle1", specchat, target, folder), SHAPE)
    head.tensors["fc.bias"][3] = 0.5
    head.save_pretrained(learned)
    export = ("heads", "export", "--target", target, "--heads", str(learned), "--out", str(out))
    done = specchat(*export, "--to", "vllm")
    assert done.returncode == 2 and "vLLM's EAGLE-1 has no bias in fc" in done.stderr
    assert done.stderr.count("\n") == 1 and not out.exists()
    assert specchat(*export, "--to", "sglang").returncode == 0
    bare = ("heads", "convert", "eagle1", "--target", target, "--out", str(tmp_path / "bare"))
    assert specchat(*bare, "--no-fc-bias").returncode == 0
    head = read_eagle(tmp_path / "bare", SHAPE)
    assert not head.config.fc_bias and "fc.bias" not in head.tensors


def test_a_quantized_draft_model_is_for_no_engine(
    specchat: Specchat, family_folders: FamilyFolders, tmp_path: Path
) -> None:
    draft, target, out = tmp_path / "draft", family_folders.target, str(tmp_path / "out")
    shutil.copytree(family_folders.draft, draft)
    export = ("heads", "export", "--target", target, "--heads", str(draft), "--to", "vllm")
    done = specchat(*export, "--out", out)
    assert done.returncode == 2 and "every engine reads as it is" in done.stderr
    config = json.loads((draft / "config.json").read_text()) | quantization_config("int8")
    (draft / "config.json").write_text(json.dumps(config))
    done = specchat(*export, "--out", out)
    assert done.returncode == 2 and "made by heads quantize" in done.stderr


def test_checksums_are_of_files(tmp_path: Path) -> None:
    (tmp_path / ".cache").mkdir()
    (tmp_path / "config.json").write_text("{}")
    write_checksums(tmp_path)
    assert (tmp_path / "SHA256SUMS").read_text().split()[1::2] == ["config.json"]


def test_no_draft_is_longer_than_there_are_heads(
    specchat: Specchat, family_folders: FamilyFolders, folder: Path, tmp_path: Path
) -> None:
    target, out = family_folders.target, tmp_path / "out"
    heads = made("medusa", specchat, target, folder)
    command = (
        "heads", "export", "--target", target, "--heads", str(heads), "--to", "vllm", "--out",
        str(out), "--gamma",
    )  # fmt: skip
    done = specchat(*command, "17")
    assert done.returncode == 2 and "--gamma 17: " in done.stderr and not out.exists()
    assert '"num_speculative_tokens": 1}' in specchat(*command, "1").stdout


def test_the_authors_code_reads_what_it_takes_for_granted(
    specchat: Specchat, family_folders: FamilyFolders, folder: Path
) -> None:
    head = read_eagle(made("eagle3", specchat, family_folders.target, folder), SHAPE)
    config, target = replace(head.config, aux_layers=(2, 4, 5)), replace(SHAPE, layers=8)
    require_as_authors(replace(head, config=config), target)
    for other, said in (
        (replace(config, aux_layers=(2, 4, 6)), "reads layers 2, 4, 5 of this target"),
        (replace(config, head_dim=2 * config.head_dim), "the head size"),
        (replace(config, rope={**config.rope, "rope_type": "llama3"}), "llama3"),
    ):
        with pytest.raises(InputError, match=said):
            require_as_authors(replace(head, config=other), target)


def test_sglang_takes_layers_of_some_targets_for_others(
    specchat: Specchat, family_folders: FamilyFolders, folder: Path
) -> None:
    config = read_eagle(made("eagle3", specchat, family_folders.target, folder), SHAPE).config
    third, second = (replace(config, aux_layers=(first, 9, 20)) for first in (3, 2))
    assert sglang_reads_layers(third, "llama") and sglang_reads_layers(second, "deepseek_v3")
    assert not sglang_reads_layers(third, "deepseek_v3")


def test_an_embedding_that_is_not_the_targets_is_not_replaced_in_silence(
    specchat: Specchat, family_folders: FamilyFolders, tmp_path: Path
) -> None:
    target, heads = ("--target", family_folders.target), tmp_path / "heads"
    specchat("heads", "convert", "eagle1", *target, "--out", str(heads))
    file = heads / "model.safetensors"
    embedding = load_file(Path(family_folders.target) / file.name)["model.embed_tokens.weight"]
    export = ("heads", "export", *target, "--heads", str(heads), "--to", "sglang", "--out")
    for name, own in (("same", embedding), ("other", torch.randn_like(embedding))):
        save_file(load_file(file) | {"embed_tokens.weight": own}, file)
        done = specchat(*export, str(tmp_path / name))
        assert (done.returncode == 0) == (name == "same"), done.stderr
    assert "an embedding of its own" in done.stderr


def test_vllm_reads_heads_of_several_layers(
    specchat: Specchat, family_folders: FamilyFolders, tmp_path: Path
) -> None:
    target, heads = family_folders.target, tmp_path / "heads"
    specchat(
        "heads", "convert", "eagle3", "--target", target, "--out", str(heads), "--aux-layers",
        "0,1", "--layers", "2",
    )  # fmt: skip
    for to in ("vllm", "speculators"):
        out = tmp_path / to
        done = specchat(
            "heads", "export", "--target", target, "--heads", str(heads), "--to", to, "--out",
            str(out),
        )  # fmt: skip
        assert done.returncode == 0 and "(speculators" in done.stderr, done.stderr
        assert read_eagle(out, SHAPE).config == read_eagle(heads, SHAPE).config


def test_modelopt_reads_the_heads_in_the_whole_target(
    specchat: Specchat, family_folders: FamilyFolders, folder: Path, tmp_path: Path
) -> None:
    heads, target, out = tmp_path / "heads", tmp_path / "target", tmp_path / "out"
    shutil.copytree(family_folders.target, target)
    AutoModelForCausalLM.from_pretrained(target, dtype=torch.bfloat16).save_pretrained(target)
    learned = read_medusa(made("medusa", specchat, family_folders.target, folder), 32, 280)
    replace(learned, weights=torch.randn(2, 1, 32, 32)).save_pretrained(heads)
    export = ("heads", "export", "--target", str(target), "--heads", str(heads), "--to", "modelopt")
    done = specchat(*export, "--out", str(out))
    assert done.returncode == 0 and "(modelopt, bfloat16, " in done.stderr, done.stderr
    assert f"This is `{target}` itself" in (out / "README.md").read_text()
    config = json.loads((out / "config.json").read_text())
    assert config["medusa"] == {"num_medusa_heads": 2, "num_medusa_layers": 1}
    assert config["architectures"] == ["MedusaLlamaForCausalLM"]
    with safe_open(out / "model.safetensors", framework="pt") as file:
        names = set(file.keys())
    with safe_open(target / "model.safetensors", framework="pt") as file:
        bare = set(file.keys())
    parts = {"0.linear.weight", "0.linear.bias", "1.weight"}
    assert names == bare | {f"medusa_heads.{i}.{part}" for i in range(2) for part in parts}

    run = ("run", "--prompt", "the fox", "--json", "--max-new-tokens", "8", "--ignore-eos")
    lanes = ("--target", str(target), "--medusa", str(out), "--strategies", "ar,medusa")
    ar, medusa = json.loads(specchat(*run, *lanes).stdout)["runs"][0]["lanes"]
    assert medusa["drafted"] > 0 and ar["tokens"] == medusa["tokens"]
    done = specchat(*export, "--out", str(tmp_path / "x"), "--verify", "python")
    assert done.returncode == 2 and "as --to medusa writes them" in done.stderr


def test_a_single_head(specchat: Specchat, family_folders: FamilyFolders, tmp_path: Path) -> None:
    target, heads, out = ("--target", family_folders.target), tmp_path / "heads", tmp_path / "out"
    specchat("heads", "convert", "medusa", *target, "--heads", "1", "--out", str(heads))
    export = ("heads", "export", *target, "--heads", str(heads), "--to", "medusa")
    assert specchat(*export, "--out", str(out)).stderr.startswith("1 Medusa head for ")
    assert (out / "README.md").read_text().startswith("# 1 Medusa head for ")


def test_a_program_that_has_no_such_heads(
    specchat: Specchat, family_folders: FamilyFolders, folder: Path, tmp_path: Path
) -> None:
    target = family_folders.target
    heads = made("medusa", specchat, target, folder)
    done = specchat(
        "heads", "export", "--target", target, "--heads", str(heads), "--to", "sglang",
        "--out", str(tmp_path / "out"),
    )  # fmt: skip
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "choose medusa, tgi, vllm, modelopt, tensorrt-llm" in done.stderr
    assert not (tmp_path / "out").exists()


def test_sglang_finds_its_class_and_the_bias_that_it_always_has(
    specchat: Specchat, family_folders: FamilyFolders, tmp_path: Path
) -> None:
    target, heads = ("--target", family_folders.target), tmp_path / "heads"
    specchat("heads", "convert", "eagle1", *target, "--out", str(heads), "--no-fc-bias")
    export = ("heads", "export", *target, "--heads", str(heads), "--out")
    for to, named in (("sglang", "LlamaForCausalLMEagle"), ("eagle", "LlamaForCausalLM")):
        done = specchat(*export, str(tmp_path / to), "--to", to)
        assert done.returncode == 0, done.stderr
        config = json.loads((tmp_path / to / "config.json").read_text())
        assert config["architectures"] == [named]
        # a true one would give SGLang's attention biases, of any values
        assert config.get("bias") is (None if to == "sglang" else False)
    bias = read_eagle(tmp_path / "sglang", SHAPE).tensors["fc.bias"]
    assert bias.shape == (32,) and not bias.any()
    assert "fc.bias" not in read_eagle(tmp_path / "eagle", SHAPE).tensors

    head = read_eagle(heads, SHAPE)
    head.config = replace(head.config, qkv_bias=True)
    for name in ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"):
        head.tensors[f"{name}.bias"] = torch.ones(len(head.tensors[f"{name}.weight"]))
    head.save_pretrained(tmp_path / "biased")
    biased = ("heads", "export", *target, "--heads", str(tmp_path / "biased"), "--to", "sglang")
    assert specchat(*biased, "--out", str(tmp_path / "qwen")).returncode == 0
    config = json.loads((tmp_path / "qwen" / "config.json").read_text())
    assert config["architectures"] == ["Qwen2ForCausalLMEagle"]


@pytest.mark.parametrize("made_with", [("--layers", "2"), ("--own-lm-heads",)])
def test_tgi_shares_the_targets_lm_head_among_heads_of_one_layer_alone(
    made_with: tuple[str, ...], specchat: Specchat, family_folders: FamilyFolders, tmp_path: Path
) -> None:
    target, heads, out = ("--target", family_folders.target), tmp_path / "heads", tmp_path / "out"
    specchat("heads", "convert", "medusa", *target, "--out", str(heads), *made_with)
    export = ("heads", "export", *target, "--heads", str(heads), "--out", str(out), "--to", "tgi")
    done = specchat(*export)
    assert done.returncode == 0 and "(v0.1, " in done.stderr, done.stderr
    assert (out / "medusa_lm_head.safetensors").is_file()  # TGI reads no pickles
    before, after = read_medusa(heads, 32, 280), read_medusa(out, 32, 280)
    assert torch.equal(before.weights, after.weights) and after.lm_heads is not None


def test_a_draft_length_without_a_launch_command_is_refused(
    specchat: Specchat, family_folders: FamilyFolders, folder: Path, tmp_path: Path
) -> None:
    target = family_folders.target
    heads = made("medusa", specchat, target, folder)
    export = ("heads", "export", "--target", target, "--heads", str(heads), "--gamma", "1")
    done = specchat(*export, "--to", "tgi", "--out", str(tmp_path / "out"))
    assert done.returncode == 2 and "--gamma is for the launch command" in done.stderr
    assert not (tmp_path / "out").exists()


def test_vllm_reads_what_only_speculators_can_say(
    specchat: Specchat, family_folders: FamilyFolders, folder: Path, tmp_path: Path
) -> None:
    target, heads, out = family_folders.target, tmp_path / "heads", tmp_path / "out"
    head = read_eagle(made("eagle3", specchat, target, folder), SHAPE)
    head.config = replace(head.config, norm_before_residual=True)
    head.save_pretrained(heads)
    export = ("heads", "export", "--target", target, "--heads", str(heads), "--to", "vllm")
    done = specchat(*export, "--out", str(out))
    assert done.returncode == 0 and "(speculators" in done.stderr, done.stderr
    assert read_eagle(out, SHAPE).config == head.config


def test_engines_fuse_the_layers_that_a_head_reads(
    specchat: Specchat, family_folders: FamilyFolders, folder: Path, tmp_path: Path
) -> None:
    target, out = ("--target", family_folders.target), tmp_path / "out"
    heads = made("eagle3", specchat, family_folders.target, folder)
    export = ("heads", "export", *target, "--out", str(out), "--to", "vllm", "--heads")
    assert specchat(*export, str(heads)).returncode == 0
    assert json.loads((out / "config.json").read_text())["num_aux_hidden_states"] == 2
    shutil.rmtree(out)
    one = tmp_path / "one"
    specchat("heads", "convert", "eagle3", *target, "--out", str(one), "--aux-layers", "1")
    done = specchat(*export, str(one))
    assert done.returncode == 2 and "fuses several layers (fc), and this head" in done.stderr
    assert not out.exists()


def test_vllm_is_given_the_targets_lm_head_once(
    specchat: Specchat, family_folders: FamilyFolders, folder: Path, tmp_path: Path
) -> None:
    target, out = family_folders.target, tmp_path / "out"
    heads = made("medusa", specchat, target, folder)
    export = ("heads", "export", "--target", target, "--heads", str(heads), "--to", "vllm")
    assert specchat(*export, "--out", str(out), "--dtype", "bfloat16").returncode == 0
    with safe_open(out / "model.safetensors", framework="pt") as file:
        assert [name for name in file.keys() if "lm_head" in name] == ["lm_heads.0.weight"]  # noqa: SIM118
        assert file.get_tensor("lm_heads.0.weight").dtype == torch.bfloat16
    assert json.loads((out / "config.json").read_text())["original_lm_head"] is True
    own = read_medusa(out, 32, 280).lm_heads
    assert own is not None and len(own) == 2 and torch.equal(own[0], own[1])
