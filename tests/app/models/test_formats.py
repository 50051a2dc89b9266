"""Models in other formats than Hugging Face's own folders: GGUF files and PEFT adapters."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from peft import LoraConfig, PeftModel, PromptTuningConfig, get_peft_model
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM

from app.config.model_options import ModelOptions
from app.engine.candidates import candidates
from app.engine.experiment import Experiment
from app.engine.lane import Lane
from app.models.load_models import load_models
from app.models.loading import load_model, load_target, load_tokenizer
from app.progress import silent
from app.strategies.lane_spec import LaneSpec
from decoding.errors import InputError
from decoding.params import Params
from decoding.tokenizing.stopping import Stop
from tests.conftest import FamilyFolders
from tests.support.gguf_files import write_gguf

IDS = torch.tensor([[0, 2, 40, 41, 42, 43, 3]])


@torch.inference_mode()
def logits(model: Any) -> torch.Tensor:
    found: torch.Tensor = model(IDS).logits
    return found


# GGUF


@pytest.mark.parametrize("kind", ["F32", "Q8_0"])
def test_a_gguf_file_is_the_model_that_it_was_made_from(
    family_folders: FamilyFolders, tmp_path: Path, kind: str
) -> None:
    folder = Path(family_folders.target)
    tensors = write_gguf(folder, tmp_path / "tiny.gguf", kind)
    expected = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    expected.load_state_dict({name: torch.tensor(each) for name, each in tensors.items()})
    for source in (tmp_path, tmp_path / "tiny.gguf"):
        model = load_model(str(source), ModelOptions())
        torch.testing.assert_close(logits(model), logits(expected))
        assert load_target(str(source), ModelOptions()).context == 128


def test_a_gguf_file_is_answered_with(family_folders: FamilyFolders, tmp_path: Path) -> None:
    write_gguf(Path(family_folders.target), tmp_path / "tiny.gguf")
    options = ModelOptions(str(tmp_path / "tiny.gguf"), {"draft": family_folders.draft}, threads=1)
    models = load_models(options, lanes=(LaneSpec("ar", "ar"), LaneSpec("draft", "draft")))
    original = load_models(ModelOptions(family_folders.target, threads=1), lanes=())
    ids = models.encode([{"role": "user", "content": "the lazy fox"}])
    assert ids == original.encode([{"role": "user", "content": "the lazy fox"}])
    assert models.notes["target"] == "dequantized from tiny.gguf" and models.eos == {1}
    assert models.gguf_files == {"target": "tiny.gguf"}
    answers = []
    for strategy in ("ar", "draft"):
        lane = Lane(LaneSpec(strategy, strategy), models)
        lane.generate(ids, Params(max_new_tokens=12), 0, Stop())
        answers.append(lane.ids)
    assert answers[0] == answers[1]
    assert Lane(LaneSpec("ar", "ar"), models).info(True).note == "dequantized from tiny.gguf"


def test_gguf_files_that_are_refused(
    family_folders: FamilyFolders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def line(source: Path, **options: Any) -> str:
        with pytest.raises(InputError) as refused:
            load_model(str(source), ModelOptions(**options))
        assert "\n" not in str(refused.value)
        return str(refused.value)

    (tmp_path / "broken-Q4_0.gguf").write_bytes(b"GGUF" + bytes(40))
    assert "can't read the broken-Q4_0.gguf of" in line(tmp_path)
    shutil.copy(tmp_path / "broken-Q4_0.gguf", tmp_path / "broken-Q8_0.gguf")
    assert line(tmp_path).endswith(
        "holds several GGUF files, name one: broken-Q4_0.gguf, broken-Q8_0.gguf"
    )
    assert "--quantize can't take" in line(tmp_path / "broken-Q4_0.gguf", quantize="nf4")
    (tmp_path / "big-00001-of-00002.gguf").write_bytes(b"GGUF")
    assert "is a part of a GGUF file" in line(tmp_path / "big-00001-of-00002.gguf")
    assert "is a file" in line(Path(family_folders.target) / "model.safetensors")
    monkeypatch.setattr("app.models.model_config.is_gguf_available", lambda: False)
    assert line(tmp_path / "broken-Q4_0.gguf").endswith("pip install 'specchat[gguf]'")


# PEFT


def make_adapter(base: str, folder: Path, name: str = "adapter", **config: Any) -> Path:
    model = AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32)
    wanted = LoraConfig(r=4, target_modules=["q_proj", "v_proj", "up_proj"], **config)
    adapted = get_peft_model(model, wanted)
    torch.manual_seed(0)
    for parameter_name, parameter in adapted.named_parameters():
        if "lora_" in parameter_name:
            parameter.data.normal_(0.0, 0.3)
    adapted.save_pretrained(str(folder / name))
    return folder / name


def greedy(model: Any, count: int = 12) -> list[int]:
    out = model.generate(
        IDS, attention_mask=torch.ones_like(IDS), do_sample=False, max_new_tokens=count,
        eos_token_id=None, pad_token_id=0,
    )  # fmt: skip
    return out[0, IDS.shape[1] :].tolist()  # type: ignore[no-any-return]


def answer(options: ModelOptions, strategy: str) -> list[int]:
    models = load_models(options, lanes=(LaneSpec(strategy, strategy),))
    lane = Lane(LaneSpec(strategy, strategy), models)
    lane.generate(IDS[0].tolist(), Params(max_new_tokens=12), 0, Stop())
    return lane.ids


def test_an_adapter_answers_as_peft_merges_it(
    family_folders: FamilyFolders, tmp_path: Path
) -> None:
    target, draft = family_folders.target, family_folders.draft
    adapter = make_adapter(target, tmp_path)
    base = AutoModelForCausalLM.from_pretrained(target, dtype=torch.float32)
    plain = greedy(base)
    expected = greedy(PeftModel.from_pretrained(base, str(adapter)).merge_and_unload())
    assert expected != plain

    alone = ModelOptions(str(adapter), {"draft": draft}, threads=1)
    beside = ModelOptions(target, {"draft": draft}, adapter=str(adapter), threads=1)
    assert answer(alone, "ar") == answer(beside, "draft") == expected
    assert load_models(alone, lanes=()).notes["target"] == "with the adapter adapter merged"
    of_draft = ModelOptions(target, {"draft": draft}, draft_adapter=str(adapter), threads=1)
    assert answer(of_draft, "draft") == plain
    merged = load_models(of_draft, lanes=(LaneSpec("draft", "draft"),))
    assert merged.notes["draft"] == "with the adapter adapter merged"
    weights = merged.drafters["draft"].model.model.layers[0].self_attn.v_proj.weight
    untouched = load_file(Path(draft) / "model.safetensors")
    assert not weights.equal(untouched["model.layers.0.self_attn.v_proj.weight"])


def test_what_is_to_be_pasted_for_engines_says_what_was_merged(
    family_folders: FamilyFolders, tmp_path: Path
) -> None:
    adapter = str(make_adapter(family_folders.target, tmp_path))
    drafter = {"draft": family_folders.draft}
    options = ModelOptions(family_folders.target, drafter, adapter=adapter, threads=1)
    lanes, params = [LaneSpec("draft", "draft", {"gamma": 2})], Params(max_new_tokens=4)
    models = load_models(options, lanes=lanes)
    prompts, tried = [IDS[0].tolist()], candidates(lanes, models, params)
    outcome = Experiment(models, tried, prompts, params, Stop(), 0, 0.1, silent).run()
    told = "measured: the target, with the adapter adapter merged"
    assert [config.changed for config in outcome.serving] == [told] * 2
    assert {config.trust_remote_code for config in outcome.serving} == {False}
    models.notes["draft"] = "int8 weights"
    models.options = replace(
        models.options, quantize="nf4", quantize_draft="int8", trust_remote_code=True
    )
    models.gguf_files["target"] = "tiny.gguf"
    outcome = Experiment(models, tried, prompts, params, Stop(), 0, 0.1, silent).run()
    both = f"{told}; measured: the draft model, int8 weights"
    assert {config.strategy.name: config.changed for config in outcome.serving} == {
        "draft": both, "ar": told
    }  # fmt: skip
    loaded = {
        (each.strategy.name, each.quantize, each.quantize_draft, each.target_gguf)
        for each in outcome.serving
    }
    assert loaded == {("ar", "nf4", "none", "tiny.gguf"), ("draft", "nf4", "int8", "tiny.gguf")}
    assert all(config.trust_remote_code for config in outcome.serving)


def test_an_adapters_own_tokenizer_is_taken(family_folders: FamilyFolders, tmp_path: Path) -> None:
    adapter = make_adapter(family_folders.target, tmp_path)
    tokenizer = load_tokenizer(family_folders.target, ModelOptions())
    assert load_tokenizer(str(adapter), ModelOptions()).chat_template == tokenizer.chat_template
    tokenizer.chat_template = "other"
    tokenizer.save_pretrained(str(adapter))
    assert load_tokenizer(str(adapter), ModelOptions()).chat_template == "other"


def test_adapters_that_are_refused(
    family_folders: FamilyFolders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def line(source: object, **options: Any) -> str:
        with pytest.raises(InputError) as refused:
            load_target(str(source), ModelOptions(**options))
        assert "\n" not in str(refused.value)
        return str(refused.value)

    target = family_folders.target
    adapter = make_adapter(target, tmp_path)
    assert "is an adapter itself" in line(adapter, adapter=str(adapter))
    assert "has no adapter_config.json" in line(target, adapter=target)
    assert "can't be merged into quantized weights" in line(adapter, quantize="int8")

    config = json.loads((adapter / "adapter_config.json").read_text())
    for base, why in (
        ("./gone", "is a PEFT adapter of ./gone: no folder ./gone"),
        (None, "does not name its base model"),
    ):
        changed = config | {"base_model_name_or_path": base}
        (adapter / "adapter_config.json").write_text(json.dumps(changed))
        told = line(adapter)
        assert why in told and told.endswith(f"give its base: --target BASE --adapter {adapter}")
    (adapter / "adapter_config.json").write_text(json.dumps(config))

    another = tmp_path / "another"
    shutil.copytree(adapter, another)
    for base in (str(adapter), str(another)):  # itself, or one more
        changed = config | {"base_model_name_or_path": base}
        (adapter / "adapter_config.json").write_text(json.dumps(changed))
        assert "that is an adapter itself, merge it first" in line(adapter)
    (adapter / "adapter_config.json").write_text(json.dumps(config))

    tensors = load_file(adapter / "adapter_model.safetensors")
    (another / "adapter_model.safetensors").unlink()
    assert "the adapter another has no weights" in line(another)
    torch.save({"x": Path.cwd}, another / "adapter_model.bin")
    assert "a pickle that is not only tensors, and might run anything" in line(another)
    first = min(tensors)
    as_ints = {name: tensor.int() for name, tensor in tensors.items()}
    save_file(as_ints, adapter / "adapter_model.safetensors")
    assert f"{first} is I32, and no float" in line(adapter)
    save_file(
        {n: t for n, t in tensors.items() if n != first}, adapter / "adapter_model.safetensors"
    )
    assert "the adapter adapter does not fit: it lacks" in line(adapter)
    save_file(tensors | {first: torch.zeros(3, 3)}, adapter / "adapter_model.safetensors")
    assert "the adapter adapter can't be merged: Error" in line(adapter)

    model = AutoModelForCausalLM.from_pretrained(target, dtype=torch.float32)
    prompt = get_peft_model(model, PromptTuningConfig("CAUSAL_LM", num_virtual_tokens=2))
    prompt.save_pretrained(str(tmp_path / "prompt"))
    assert "changes the prompt, not the weights" in line(tmp_path / "prompt")

    monkeypatch.setattr("app.models.adapter.find_spec", lambda name: None)
    assert line(adapter).endswith("pip install 'specchat[peft]'")
