"""Draft models: cut out of the target, then drawn to its distributions."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from transformers import (
    AutoModelForCausalLM,
    DeepseekV3ForCausalLM,
    Gemma3Config,
    Gemma3ForConditionalGeneration,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    LlavaConfig,
    LlavaForConditionalGeneration,
    MixtralConfig,
    MixtralForCausalLM,
    PreTrainedModel,
    Qwen2VLConfig,
    Qwen2VLForConditionalGeneration,
)

from decoding.errors import InputError
from decoding.model.architecture import layers_of
from decoding.model.target import Target
from decoding.training import losses
from decoding.training.conversations import IGNORED, Example, collate
from decoding.training.draft import DraftTrainingModel, divergence
from decoding.training.draft_attach import attach_draft
from decoding.training.evaluate import Answer
from tests.conftest import FamilyFolders, Specchat
from tests.decoding.model.test_classes import model_of
from tests.support.families import FAMILIES, SHAPE, build, filled

WORDS = ("the", "quick", "brown", "fox", "and", "the", "lazy", "dog")


@pytest.mark.parametrize("family", FAMILIES)
def test_all_layers_of_a_target_are_the_target(family: str) -> None:
    target = build(family)
    depth = target.config.get_text_config(decoder=True).num_hidden_layers
    ids = torch.tensor([[3, 1, 4, 1, 5]])
    expected = target(input_ids=ids).logits
    torch.testing.assert_close(attach_draft(target, depth)(input_ids=ids).logits, expected)


VISION: dict[str, Any] = {
    "hidden_size": 16,
    "intermediate_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "image_size": 28,
    "patch_size": 14,
}


def multimodal(kind: str, tied: bool) -> PreTrainedModel:
    text: dict[str, Any] = SHAPE | {"num_hidden_layers": 3}
    torch.manual_seed(0)
    if kind == "llava":
        config: Any = LlavaConfig(
            text_config=text | {"model_type": "llama"},
            vision_config=VISION | {"model_type": "clip_vision_model"},
            tie_word_embeddings=tied,
        )
        return filled(LlavaForConditionalGeneration(config))
    config = Gemma3Config(
        text_config=text | {"sliding_window": 12, "query_pre_attn_scalar": 8},
        vision_config=VISION,
        mm_tokens_per_image=4,
        tie_word_embeddings=tied,
    )
    # what the text's says of its head is not what counts
    config.text_config.tie_word_embeddings = not tied
    return filled(Gemma3ForConditionalGeneration(config))


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("kind", ["gemma3", "llava"])
def test_a_draft_of_a_multimodal_target_is_cut_from_its_text(
    kind: str, tied: bool, tmp_path: Path
) -> None:
    target: Any = multimodal(kind, tied)
    ids = torch.tensor([[3, 1, 4, 1, 5]])
    attach_draft(target, 3).save_pretrained(tmp_path)
    whole = AutoModelForCausalLM.from_pretrained(tmp_path)
    torch.testing.assert_close(whole(input_ids=ids).logits, target(input_ids=ids).logits)
    draft: Any = attach_draft(target, 2)
    last, mine = (
        dict(layers_of(model)[1][-1].named_parameters())["mlp.down_proj.weight"]
        for model in (target, draft)
    )
    assert torch.equal(mine, last)


def test_scales_that_are_no_parameters_are_copied() -> None:
    target = model_of("gemma4_text")
    for layer in layers_of(target)[1]:
        layer.layer_scalar.fill_(0.5)  # type: ignore[operator]
    ids = torch.tensor([[3, 1, 4, 1, 5]])
    expected = target(input_ids=ids).logits
    torch.testing.assert_close(attach_draft(target, 3)(input_ids=ids).logits, expected)


def test_a_text_model_that_is_not_one_alone_is_refused() -> None:
    target = Qwen2VLForConditionalGeneration(
        Qwen2VLConfig(
            text_config=SHAPE
            | {"rope_parameters": {"rope_type": "default", "mrope_section": [2, 1, 1]}},
            vision_config={"depth": 1, "embed_dim": 16, "hidden_size": 32, "num_heads": 2},
        )
    )
    with pytest.raises(InputError, match="no text model of type qwen2_vl_text alone"):
        attach_draft(target, 2)


def test_a_target_whose_layers_are_wider_than_its_embedding() -> None:
    target = model_of("opt", word_embed_proj_dim=16)
    ids = torch.tensor([[3, 1, 4, 1, 5]])
    expected = target(input_ids=ids).logits
    torch.testing.assert_close(attach_draft(target, 3)(input_ids=ids).logits, expected)
    with pytest.raises(InputError, match="^width: the target embeds tokens in 16 channels, its la"):
        attach_draft(target, 2, width=16)


def test_layers_of_several_kinds() -> None:
    """Llama 4's config lists the layers with experts, Bamba's those with attention; DeepSeek's
    counts those without experts."""
    assert attach_draft(model_of("bamba"), 3).config.attn_layer_indices == [1]
    assert attach_draft(model_of("bamba"), 2).config.attn_layer_indices == []
    target = build("llama4")
    draft = attach_draft(target, 2)
    assert draft.config.moe_layers == [0, 1]
    last: Any = target.get_decoder().get_submodule("model.layers.2.feed_forward.router")
    mine: Any = draft.get_submodule("model.layers.1.feed_forward.router")
    assert torch.equal(mine.weight, last.weight)

    torch.manual_seed(0)
    config = FAMILIES["deepseek_v3"]()[1]
    config.first_k_dense_replace, config.n_routed_experts, config.n_group = 2, 8, 2
    config.num_experts_per_tok = config.topk_group = 1
    target = DeepseekV3ForCausalLM(config)
    with pytest.raises(
        InputError, match="layer.*2 has no .*layers.1.mlp.*several kinds, take another"
    ):
        attach_draft(target, 2)
    attach_draft(target, 1)


def test_a_narrow_draft_keeps_the_largest_channels(
    make_model: Callable[[], LlamaForCausalLM],
) -> None:
    target = make_model()
    with torch.no_grad():
        target.model.embed_tokens.weight[:, [3, 7]] *= 100
        target.model.layers[1].mlp.down_proj.weight[:, 5] = 100
    draft = attach_draft(target, 1, width=2, mlp=1)
    assert (draft.config.hidden_size, draft.config.intermediate_size) == (2, 1)
    kept = target.model.embed_tokens.weight[:, [3, 7]]
    assert torch.equal(draft.get_input_embeddings().weight, kept)  # type: ignore[arg-type]
    two = attach_draft(target, 2, mlp=1)
    down = dict(two.named_parameters())["model.layers.1.mlp.down_proj.weight"]
    assert torch.equal(down, torch.full_like(down, 100))
    assert Target(draft).vocab_size == target.config.vocab_size


@pytest.mark.parametrize("family", ["llama", "phi3"])  # phi3's gate and up are one matrix
def test_the_largest_channels_of_an_mlp_that_shrinks_as_the_width_does(family: str) -> None:
    model_class, config = FAMILIES[family]()
    config.intermediate_size = inner = 2 * config.hidden_size
    target = filled(model_class(config))
    with torch.no_grad():
        for name, weight in target.named_parameters():
            if ".mlp." in name:
                of_channel = weight.mT if "down" in name else weight
                of_channel.view(-1, inner, config.hidden_size)[:, 1::2] = 100
    draft = attach_draft(target, 1, width=config.hidden_size // 2, mlp=inner // 2)
    mlp = [weight for name, weight in draft.named_parameters() if ".mlp." in name]
    assert all(torch.equal(weight, torch.full_like(weight, 100)) for weight in mlp)


def test_the_heads_of_a_narrow_draft_keep_their_size(tmp_path: Path) -> None:
    """Also if the target's config leaves it to its width; a GPT-2's always follow from that."""
    torch.manual_seed(0)
    sizes: dict[str, Any] = {name: size for name, size in SHAPE.items() if name != "head_dim"}
    target = MixtralForCausalLM(MixtralConfig(**sizes, num_local_experts=2))
    assert target.config.head_dim is None
    draft = attach_draft(target, 1, width=target.config.hidden_size // 2)
    heads = target.config.num_attention_heads
    assert draft.config.head_dim == target.config.hidden_size // heads
    draft.save_pretrained(tmp_path)
    ids = torch.tensor([[3, 1, 4]])
    again = MixtralForCausalLM.from_pretrained(tmp_path)
    torch.testing.assert_close(again(input_ids=ids).logits, draft(input_ids=ids).logits)
    other = GPT2LMHeadModel(GPT2Config(n_embd=32, n_head=4, n_layer=2, vocab_size=50))
    assert "head_dim" not in attach_draft(other, 1, width=16).config.to_dict()


def test_a_width_that_no_model_has_is_refused(model: LlamaForCausalLM) -> None:
    with pytest.raises(InputError, match="no llama can be built like that: .*not a multiple"):
        attach_draft(model, 1, width=3)


def test_more_than_the_target_has_is_refused(model: LlamaForCausalLM) -> None:
    with pytest.raises(InputError, match="^width 64: the target has 32"):
        attach_draft(model, 1, width=64)


def test_few_logits_at_a_time_give_the_same_gradients(
    make_model: Callable[[], LlamaForCausalLM], monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = collate([Example((1, 7, 8, 9, 10), (IGNORED, 7, 8, 9, 10)), Example((1, 7), (1, 7))])
    found = []
    for logits in (1 << 20, 1):
        monkeypatch.setattr(losses, "_KEPT_LOGITS", logits)
        model = DraftTrainingModel(make_model(), attach_draft(make_model(), 1)).train()
        result = model(**batch)
        result["loss"].backward()
        gradients = (p.grad for p in model.draft.parameters() if p.grad is not None)
        found.append((result["loss"], *gradients))
        assert model.running.collect()["tokens"] == 7
    assert len(found[0]) > 5
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other)


def test_agreement_along_an_answer(make_model: Callable[[], LlamaForCausalLM]) -> None:
    target = make_model()
    answers = [Answer((1, 2), (3, 4, 5), ()), Answer((1,), (), ())]
    found = divergence(target, make_model(), answers)
    assert found == pytest.approx({"agreement": 1, "overlap": 1, "kl": 0}, abs=1e-6)
    other = make_model()
    with torch.no_grad():
        other.lm_head.weight.mul_(3)
        p, q = (model(torch.tensor([[1, 2, 3, 4]])).logits[0, 1:].log_softmax(-1)
                for model in (target, other))  # fmt: skip
    kl = float((p.exp() * (p - q)).sum(-1).mean())
    assert divergence(target, other, answers)["kl"] == pytest.approx(kl, rel=1e-4) and kl > 0.01


@pytest.mark.slow
def test_convert_train_eval_run(
    specchat: Specchat, family_folders: FamilyFolders, tmp_path: Path
) -> None:
    """From a bare target to a draft lane, by the commands alone."""
    target = ("--target", family_folders.target)
    prompts, answers = tmp_path / "prompts.jsonl", tmp_path / "answers.jsonl"
    fresh, trained = tmp_path / "fresh", tmp_path / "trained"
    asked = [{"prompt": f"{a} {b}"} for a in WORDS[:4] for b in WORDS[:4]]
    prompts.write_text("\n".join(map(json.dumps, asked)))
    distill = ("heads", "distill", *target, "--prompts", str(prompts), "--out", str(answers))
    assert specchat(*distill, "--max-new-tokens", "16").returncode == 0
    size = ("--layers", "1", "--mlp", "24")
    done = specchat("heads", "convert", "draft", *target, "--out", str(fresh), *size)
    assert done.returncode == 0 and "draft model of 1 layer for" in done.stderr
    train = (
        "heads", "train", *target, "--heads", str(fresh), "--data", str(answers), "--out",
        str(trained), "--max-steps", "20", "--evaluate-every", "10", "--lr", "1e-2",
        "--device", "cpu", "--loss", "tvd", "--muon-lr", "0.01", "--keep-checkpoints",
        "--held-out", str(answers),
    )  # fmt: skip
    done = specchat(*train)
    assert done.returncode == 0, done.stderr
    _, *rows, last = done.stderr[done.stderr.index(" step    top-1") :].splitlines()
    assert [row.split()[0] for row in rows] == ["0", "10", "20"]
    assert last.startswith("trained draft") and "weights of step" in last
    assert float(rows[-1].split()[2]) > 0.1  # of random models' distributions

    prompts.write_text("\n".join(map(json.dumps, asked[::4])))
    measure = ("heads", "eval", *target, "--prompts", str(prompts), "--max-new-tokens", "8")
    before, after = (
        json.loads(specchat(*measure, "--heads", str(heads), "--json").stdout)
        for heads in (fresh, trained)
    )
    assert after["overlap"] > before["overlap"] and after["tokens_per_pass"] >= 1
    assert "1 - TVD" in specchat(*measure, "--heads", str(trained)).stdout

    run = ("run", *target, "--draft", str(trained), "--prompt", "the fox", "--json")
    done = specchat(*run, "--strategies", "ar,draft", "--max-new-tokens", "8", "--ignore-eos")
    ar, lane = json.loads(done.stdout)["runs"][0]["lanes"]
    assert lane["token_ids"] == ar["token_ids"] and lane["drafted"] > 0
    done = specchat("heads", "export", *target, "--heads", str(trained), "--to", "vllm", "--out",
                    str(tmp_path / "x"))  # fmt: skip
    assert done.returncode == 2 and "reads as it is" in done.stderr


def test_layers_are_those_of_the_text_and_not_of_a_vision_tower() -> None:
    class Seeing(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.vision, self.text = (
                nn.ModuleDict({"layers": nn.ModuleList(nn.Identity() for _ in range(3))})
                for _ in range(2)
            )
            self.config = LlamaConfig(num_hidden_layers=3)

        def get_decoder(self) -> nn.Module:
            return self.text

    model: Any = Seeing()
    assert layers_of(model) == ("text.layers", model.text["layers"])
    model.config.num_hidden_layers = 4
    with pytest.raises(InputError, match="can't be told from its modules"):
        layers_of(model)
