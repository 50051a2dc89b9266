"""Target and heads trained together (Medusa-2), by the commands alone, into one merged folder."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel

from app.cli.heads.evaluation import weight_bytes
from decoding.checkpoints.medusa import MedusaWeights, is_merged, read_medusa, write_merged
from decoding.checkpoints.quantized import dequantized
from decoding.errors import InputError
from decoding.training.conversations import Example
from decoding.training.draft import divergence
from decoding.training.evaluate import Answer
from decoding.training.joint import train_joint
from decoding.training.medusa import MedusaTrainingModel
from decoding.training.medusa_attach import attach_medusa
from decoding.training.quantize import quantize
from decoding.training.train_config import TrainConfig
from tests.conftest import FamilyFolders, Specchat

WORDS = ("the", "quick", "brown", "fox", "and", "the", "lazy", "dog")


@pytest.fixture(params=["untied", "tied"])
def target(request: pytest.FixtureRequest, family_folders: FamilyFolders, tmp_path: Path) -> str:
    if request.param == "untied":
        return family_folders.target
    model = load(family_folders.target, tie_word_embeddings=True)
    model.save_pretrained(tmp_path / "tied")
    AutoTokenizer.from_pretrained(family_folders.target).save_pretrained(tmp_path / "tied")
    return str(tmp_path / "tied")


def load(folder: str | Path, **config: bool) -> PreTrainedModel:
    return AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, **config)


def losses(state: Path) -> Iterator[float]:
    for entry in json.loads(state.read_text())["log_history"]:
        if "eval_loss" in entry:
            yield entry["eval_loss"]


def write_lesson(path: Path) -> None:
    said = {"role": "assistant", "content": " ".join(WORDS)}
    asked = [{"messages": [{"role": "user", "content": word}, said]} for word in WORDS * 8]
    path.write_text("\n".join(map(json.dumps, asked)))


@pytest.mark.slow
def test_a_merged_folder_has_the_precision_of_the_target(
    specchat: Specchat, family_folders: FamilyFolders, tmp_path: Path
) -> None:
    """On a CPU a target in half precision is loaded and learns in float32."""
    target, fresh, out = (str(tmp_path / name) for name in ("target", "fresh", "out"))
    load(family_folders.target).bfloat16().save_pretrained(target)
    AutoTokenizer.from_pretrained(family_folders.target).save_pretrained(target)
    write_lesson(tmp_path / "lesson.jsonl")
    convert = ("heads", "convert", "medusa", "--target", target, "--out", fresh, "--heads", "1")
    assert specchat(*convert).returncode == 0
    done = specchat(
        "heads", "train", "--joint", "--target", target, "--heads", fresh, "--data",
        str(tmp_path / "lesson.jsonl"), "--out", out, "--max-steps", "2", "--device", "cpu",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    tensors = load_file(Path(out) / "model.safetensors")
    assert {tensor.dtype for tensor in tensors.values()} == {torch.bfloat16}
    assert AutoModelForCausalLM.from_pretrained(out, dtype="auto").dtype == torch.bfloat16


@pytest.mark.slow
def test_joint_training_ends_in_a_merged_folder(
    specchat: Specchat, target: str, tmp_path: Path
) -> None:
    fresh, lesson, out = tmp_path / "fresh", tmp_path / "lesson.jsonl", tmp_path / "out"
    write_lesson(lesson)
    convert = ("heads", "convert", "medusa", "--target", target, "--out", str(fresh))
    assert specchat(*convert, "--heads", "2").returncode == 0
    train = (
        "heads", "train", "--joint", "--target", target, "--heads", str(fresh), "--data",
        str(lesson), "--out", str(out), "--max-steps", "20", "--evaluate-every", "10", "--lr",
        "2e-2", "--target-lr", "5e-3", "--device", "cpu",
        "--keep-checkpoints",
    )  # fmt: skip
    done = specchat(*train)
    assert done.returncode == 0, done.stderr
    for stage in "12":
        assert f" left in stage {stage} of 2\n" in done.stderr

    first, *_, last = losses(out / "training" / "both" / "checkpoint-20" / "trainer_state.json")
    assert last < first
    before, after = load(target), load(out)
    assert after.config.tie_word_embeddings == before.config.tie_word_embeddings
    for a, b in zip(before.parameters(), after.parameters(), strict=True):
        assert not torch.equal(a, b)
    assert after.generation_config.eos_token_id == [1, 2]
    assert is_merged(out)
    heads = read_medusa(out, 32, 280)
    assert (heads.dialect, heads.heads, heads.layers) == ("merged", 2, 1)
    assert heads.lm_heads is not None and not torch.equal(heads.lm_heads[0], heads.lm_heads[1])
    assert len(heads.accuracy) == 2 and min(row[0] for row in heads.accuracy) > 0.5

    done = specchat(*train)  # never over another model
    assert done.returncode == 2 and "holds a training" in done.stderr

    # killed after the first checkpoint of the second stage, a resumed run ends with the same
    shutil.rmtree(out / "training" / "both" / "checkpoint-20")
    shutil.rmtree(out / "training" / "heads" / "checkpoint-20")  # that stage is done
    assert specchat(*train, "--resume").returncode == 0
    assert not (out / "training" / "heads" / "checkpoint-20").exists()
    for a, b in zip(after.parameters(), load(out).parameters(), strict=True):
        torch.testing.assert_close(a, b, atol=1e-4, rtol=1e-3)

    done = specchat(
        "run", "--medusa", str(out), "--prompt", "fox", "--json", "--strategies", "ar,medusa",
        "--max-new-tokens", "20", "--ignore-eos",
    )  # fmt: skip
    ar, medusa = json.loads(done.stdout)["runs"][0]["lanes"]
    assert medusa["token_ids"] == ar["token_ids"] and medusa["accepted"] > 0
    assert ar["text"].strip().startswith(" ".join(WORDS))  # the target itself has learned


@pytest.mark.slow
def test_a_target_that_was_trained_rounded_loses_less_by_rounding(
    family_folders: FamilyFolders, tmp_path: Path
) -> None:
    pytest.importorskip("torchao")
    torch.manual_seed(0)
    original, target = (load(family_folders.target) for _ in range(2))
    texts = torch.randint(5, 280, (496, 48)).tolist()
    data: Any = [Example.of_answer(text[:1], text[1:]) for text in texts]
    config = TrainConfig(steps=60, lr=1e-3, target_lr=1e-3, qat="int4", evaluate_every=60)
    heads = attach_medusa(target, 1, own_lm_heads=True)
    train_joint(target, heads, data[:-16], data[-16:], config, tmp_path)
    held_out = [Answer(text[:1], text[1:], ()) for text in texts[-16:]]

    def lost(model: PreTrainedModel) -> float:
        rounded = load(family_folders.target)
        rounded.load_state_dict(dequantized(quantize(model.state_dict(), "int4")))
        return divergence(original, rounded, held_out)["kl"]

    assert lost(target) < 0.85 * lost(original)


def test_target_and_heads_are_quantized_together(
    specchat: Specchat, target: str, tmp_path: Path
) -> None:
    pytest.importorskip("torchao")
    merged, small = tmp_path / "merged", tmp_path / "small"
    model = load(target)
    write_merged(
        attach_medusa(model, 2, own_lm_heads=True),
        merged,
        model,
        AutoTokenizer.from_pretrained(target),
    )
    prompts = tmp_path / "prompts.jsonl"
    prompts.write_text('{"prompt": "the fox"}\n')
    done = specchat(
        "heads", "quantize", "--heads", str(merged), "--to", "int4", "--out", str(small),
        "--target", target, "--prompts", str(prompts), "--max-new-tokens", "8", "--device", "cpu",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    titles, before, after, _ = (line.split() for line in done.stdout.splitlines())
    distance = titles.index("KL") + 2  # behind the name and the size's unit
    assert float(before[distance]) == 0 < float(after[distance])
    assert is_merged(small) and weight_bytes(small) < weight_bytes(merged) / 2

    done = specchat(
        "run", "--target", str(small), "--medusa", str(small), "--prompt", "the fox", "--json",
        "--strategies", "ar,medusa", "--max-new-tokens", "8", "--ignore-eos",
    )  # fmt: skip
    ar, medusa = json.loads(done.stdout)["runs"][0]["lanes"]
    assert medusa["token_ids"] == ar["token_ids"] and medusa["drafted"] > 0
    rounded = load(target)
    rounded.load_state_dict(dequantized(quantize(rounded.state_dict(), "int4")))
    prompt = torch.tensor([json.loads(done.stdout)["runs"][0]["prompt_ids"]])
    assert ar["token_ids"][0] == int(rounded(prompt).logits[0, -1].argmax())


def test_a_merged_model_in_several_files_is_quantized_as_one(
    specchat: Specchat, family_folders: FamilyFolders, tmp_path: Path
) -> None:
    pytest.importorskip("torchao")
    merged, small = tmp_path / "merged", tmp_path / "small"
    model = load(family_folders.target)
    tokenizer = AutoTokenizer.from_pretrained(family_folders.target)
    write_merged(attach_medusa(model, 1, own_lm_heads=True), merged, model, tokenizer)
    file = merged / "model.safetensors"
    tensors = list(load_file(file).items())
    file.unlink()
    for i in range(2):
        save_file(dict(tensors[i::2]), merged / f"model-0000{i + 1}-of-00002.safetensors")
    (merged / "model.safetensors.index.json").write_text("{}")
    quantize = ("heads", "quantize", "--heads", str(merged), "--to", "int8", "--out", str(small))
    done = specchat(*quantize)
    assert done.returncode == 0, done.stderr
    assert [path.name for path in small.glob("*.safetensors*")] == ["model.safetensors"]


def test_a_merged_folder_has_the_tree_and_the_model_stays_as_it_was(
    family_folders: FamilyFolders, tmp_path: Path
) -> None:
    tokenizer = AutoTokenizer.from_pretrained(family_folders.target)
    model = load(family_folders.target)
    before = model.config.to_dict()
    heads = attach_medusa(model, 2, own_lm_heads=True)
    heads.choices = ((0,), (0, 0), (1,))
    write_merged(heads, tmp_path / "out", model, tokenizer)
    config = model.config
    read = read_medusa(tmp_path / "out", config.hidden_size, config.vocab_size)
    assert read.choices == heads.choices and config.to_dict() == before


def test_heads_that_share_the_lm_head_are_not_merged(
    family_folders: FamilyFolders, tmp_path: Path
) -> None:
    shared = MedusaWeights("v2", torch.zeros(2, 1, 32, 32), torch.zeros(2, 1, 32))
    tokenizer = AutoTokenizer.from_pretrained(family_folders.target)
    with pytest.raises(InputError, match="share the target's lm_head"):
        write_merged(shared, tmp_path / "out", load(family_folders.target), tokenizer)


def test_heads_with_a_truncated_vocabulary_are_not_trained(family_folders: FamilyFolders) -> None:
    residual = torch.zeros(2, 1, 32, 32), torch.zeros(2, 1, 32)
    truncated = MedusaWeights("vllm", *residual, torch.zeros(2, 9, 32), torch.arange(9))
    with pytest.raises(InputError, match="token_map"):
        MedusaTrainingModel(load(family_folders.target), truncated)
