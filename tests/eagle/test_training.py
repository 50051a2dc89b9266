"""EAGLE drafts are trained for what they do when served."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path

import pytest
import torch
from torch import Tensor
from transformers import LlamaConfig, LlamaForCausalLM

from decoding.checkpoints.eagle import EagleWeights, Version
from decoding.drafters.eagle import Eagle, EagleTree
from decoding.drafters.eagle_head import EagleHead
from decoding.params import Params
from decoding.stopping import Stop
from decoding.target import Target
from decoding.training.conversations import IGNORED, Example
from decoding.training.distill import generate
from decoding.training.eagle import evaluate_eagle, train_eagle
from decoding.training.eagle_attach import attach_eagle, frequent_tokens
from decoding.training.eagle_unroll import unroll
from decoding.training.features import features_of
from decoding.training.schedule import Schedule

VOCAB, EOS = 40, 1
VERSIONS: tuple[Version, ...] = ("eagle1", "eagle3")
Data = list[Example]


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture
def target() -> LlamaForCausalLM:
    """Random, but sure of what it says."""
    torch.manual_seed(1)
    config = LlamaConfig(
        vocab_size=VOCAB,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=7,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=64,
        bos_token_id=0,
        eos_token_id=EOS,
    )
    model = LlamaForCausalLM(config).eval()
    with torch.no_grad():
        for weight in model.parameters():
            if weight.ndim > 1:
                weight.normal_(0.0, 0.15)
    return model


@pytest.fixture
def data(target: LlamaForCausalLM) -> Data:
    """The target's own greedy answers, the same few prompts again and again."""
    prompts = [[0, a, b] for a in range(2, 8) for b in range(2, 6)]
    answers = generate(target, prompts, {EOS}, 24)
    return [
        Example((*prompt, *answer), (*[IGNORED] * len(prompt), *answer))
        for prompt, answer in zip(prompts, answers, strict=True)
    ]


def disturbed(weights: EagleWeights) -> EagleWeights:
    """Far from its beginning, where parts of a draft may not matter yet."""
    torch.manual_seed(2)
    tensors = {
        name: tensor + 0.2 * torch.randn(tensor.shape) if tensor.is_floating_point() else tensor
        for name, tensor in weights.tensors.items()
    }
    return dataclasses.replace(weights, tensors=tensors)


@pytest.mark.parametrize("version", VERSIONS)
def test_unrolled_steps_are_those_of_decoding(version: Version, target: LlamaForCausalLM) -> None:
    target = target.double()  # then nothing but a mistake tells the two apart
    weights = disturbed(attach_eagle(target, version))
    embedding = target.get_input_embeddings().weight
    head = EagleHead.build(weights, embedding, target.lm_head).double()
    ids = torch.randint(VOCAB, (2, 16))
    taps, final = features_of(target, ids, weights.config.taps)
    features = final if taps is None else taps
    hidden = head.hidden(features)
    begun = (torch.rand(2, 15) < 0.6).nonzero(as_tuple=True)
    steps = list(unroll(head, ids, features, *begun, 4))
    for draft, (row, start) in enumerate(zip(*(part.tolist() for part in begun), strict=True)):
        keys, values = [], []

        def attend(
            q: Tensor, k: Tensor, v: Tensor, keys: list = keys, values: list = values
        ) -> Tensor:
            keys.append(k)
            values.append(v)
            past = torch.cat(keys, 2), torch.cat(values, 2)
            out = torch.nn.functional.scaled_dot_product_attention(
                q, *past, is_causal=q.shape[2] > 1, enable_gqa=True
            )
            return out.transpose(1, 2).flatten(2)

        # A cache of true rows up to `start`, then one row after the other behind it.
        rows = torch.arange(start + 1)
        tokens = ids[row : row + 1]
        out = head(tokens[:, 1 : start + 2], hidden[row : row + 1, rows], rows, attend)[:, -1:]
        for k, step in enumerate(steps):
            if start + k + 1 == len(ids[row]):
                break  # the text ends
            if k:
                at = start + k
                out = head(tokens[:, at + 1 : at + 2], out, torch.tensor([at]), attend)
            torch.testing.assert_close(step[draft], out[0, 0])


@pytest.mark.parametrize("version", VERSIONS)
def test_training_from_its_data_to_a_served_draft(
    version: Version, target: LlamaForCausalLM, data: Data, tmp_path: Path
) -> None:
    vocabulary = frequent_tokens(data, VOCAB, 30, {EOS}) if version == "eagle3" else None
    fresh = attach_eagle(target, version, vocabulary)
    decoder_target = Target(target)
    if fresh.config.taps:
        decoder_target.tap(fresh.config.taps)

    def served(weights: EagleWeights) -> float:
        embedding = target.get_input_embeddings().weight
        head = EagleHead.build(weights, embedding, decoder_target.logits).eval()
        drafter = Eagle(head, decoder_target, EagleTree(top_k=1), default_gamma=3)
        prompts = [example.ids[:3] for example in data[::6]]
        stop = Stop(frozenset({EOS}))
        stats = evaluate_eagle(decoder_target, drafter, prompts, Params(max_new_tokens=20), stop)
        return stats.tokens_per_pass or 0.0

    schedule = Schedule(steps=60, lr=1e-2, batch_size=8, evaluate_every=20, warmup=0.1)
    weights, reports = train_eagle(
        target, fresh, data, data[::3], schedule, tmp_path, served=served, steps=3
    )
    assert [report.step for report in reports] == [20, 40, 60]
    best = max(reports, key=lambda report: report.served or 0)
    assert best.accuracy[0] > 0.6 and best.served is not None and best.served > served(fresh) + 0.5
    assert served(weights) == pytest.approx(best.served)

    # killed after its second checkpoint, a resumed run ends with the same draft
    shutil.rmtree(tmp_path / "checkpoint-60")
    again, reports_again = train_eagle(
        target, fresh, data, data[::3], schedule, tmp_path, True, served, steps=3
    )
    assert reports_again == reports
    for name, tensor in weights.tensors.items():
        torch.testing.assert_close(again.tensors[name], tensor, atol=1e-5, rtol=1e-3)
