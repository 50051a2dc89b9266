"""Medusa heads are trained as they will be stored and served."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import LlamaForCausalLM

from decoding.checkpoints.medusa import MedusaWeights, read_medusa, write_medusa
from decoding.checkpoints.quantized import Precision, dequantized
from decoding.drafters.medusa_heads import MedusaHeads
from decoding.model.target import Target
from decoding.training.conversations import Example
from decoding.training.evaluate import Answer, medusa_accuracy
from decoding.training.medusa import MedusaTrainingModel, train_medusa
from decoding.training.medusa_attach import attach_medusa
from decoding.training.train_config import TrainConfig
from tests.decoding.model.test_classes import model_of
from tests.support.families import build

TEXTS = torch.randint(5, 60, (24, 16), generator=torch.Generator().manual_seed(0)).tolist()
DATA: Any = [Example.of_answer(text[:2], text[2:]) for text in TEXTS]


@pytest.fixture
def target() -> LlamaForCausalLM:
    model: Any = build("llama")
    return model  # type: ignore[no-any-return]


def test_heads_stored_in_half_precision_learn_as_others_do(
    target: LlamaForCausalLM, tmp_path: Path
) -> None:
    found = []
    for stored in (torch.float32, torch.float16):
        heads = attach_medusa(target, 2, own_lm_heads=True)
        heads.lm_heads = _own(heads).half().to(stored)  # the same numbers
        heads.weights, heads.biases = heads.weights.to(stored), heads.biases.to(stored)
        config = TrainConfig(steps=3, lr=1e-3, batch_size=8, evaluate_every=3)
        work = tmp_path / str(stored)
        found.append(train_medusa(target, heads, DATA, DATA[:4], config, work))
    one, other = found
    assert bool(one.weights.any()) and torch.equal(one.weights, other.weights)
    assert torch.equal(_own(one), _own(other))


def test_accuracy_while_training_is_that_along_the_targets_answers(
    target: LlamaForCausalLM, tmp_path: Path
) -> None:
    answers = [Answer(text[:6], text[6:], ()) for text in TEXTS]
    data: Any = [Example.of_answer(answer.prompt, answer.ids) for answer in answers]
    config = TrainConfig(steps=4, lr=1e-2, warmup=0.0, batch_size=8, evaluate_every=4)
    heads = train_medusa(target, attach_medusa(target, 3), data, data, config, tmp_path)
    served = Target(target)
    table = medusa_accuracy(served, MedusaHeads(heads, served), answers)
    assert table.any()
    torch.testing.assert_close(torch.tensor(heads.accuracy), table, atol=1e-5, rtol=0)


def test_heads_of_a_target_whose_layers_are_wider_than_its_features(tmp_path: Path) -> None:
    model = model_of("opt", word_embed_proj_dim=16)
    attach_medusa(model, heads=2).save_pretrained(tmp_path)
    target = Target(model)
    heads = MedusaHeads(read_medusa(tmp_path, target.hidden_size, target.vocab_size), target)
    assert heads.logits(torch.zeros(1, 16), 2).shape == (2, 1, target.vocab_size)


def test_training_keeps_the_tree(target: LlamaForCausalLM, tmp_path: Path) -> None:
    heads = replace(attach_medusa(target, 2), choices=((0,), (1,), (0, 0)))
    config = TrainConfig(steps=1, batch_size=8, evaluate_every=1)
    trained = train_medusa(target, heads, DATA, DATA[:4], config, tmp_path)
    assert trained.choices == heads.choices and trained.accuracy


@pytest.mark.parametrize("precision", ["int8", "int4"])
def test_what_is_trained_rounded_is_served_as_it_will_be_read(
    precision: Precision, target: LlamaForCausalLM, tmp_path: Path
) -> None:
    pytest.importorskip("torchao")
    from decoding.training.quantize import quantize

    heads = attach_medusa(target, 2, own_lm_heads=True)
    heads.weights += 0.2 * torch.randn_like(heads.weights)
    model = MedusaTrainingModel(target, heads, qat=precision)
    served = model.served(heads)
    assert torch.equal(model.trained(heads, None).weights, heads.weights)

    write_medusa(heads, tmp_path, "vllm", "")
    hidden, vocab = heads.hidden, target.config.vocab_size
    read = read_medusa(tmp_path, hidden, vocab)
    names = {f"{i}.{part}.weight": (i, part) for i in range(2) for part in ("0.linear", "1")}
    stored = {
        name: read.weights[i, 0] if part == "0.linear" else _own(read)[i]
        for name, (i, part) in names.items()
    }
    later = dequantized(quantize(stored, precision))
    for name, (i, part) in names.items():
        now = served.weights[i, 0] if part == "0.linear" else _own(served)[i]
        assert torch.equal(now, later[name]) and not torch.equal(now, stored[name]), name

    x = torch.randn(5, hidden)
    for k in range(2):  # and it learns by the same logits
        expected = MedusaHeads(served, Target(target)).guesses(x, 3)[k]
        assert torch.equal(model._logits(k, x).topk(3).indices, expected)


def _own(heads: MedusaWeights) -> Tensor:
    assert heads.lm_heads is not None
    return heads.lm_heads


def test_tokens_per_second_are_those_of_training(
    target: LlamaForCausalLM,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A batch of 8 texts takes a second here, an evaluation 100."""
    now = 0.0
    states = MedusaTrainingModel._states

    def learn(model: MedusaTrainingModel, *arguments: Any) -> tuple[Tensor, Tensor]:
        nonlocal now
        now += model.training
        return states(model, *arguments)

    def served(weights: MedusaWeights) -> float:
        nonlocal now
        now += 100
        return 1.0

    monkeypatch.setattr(MedusaTrainingModel, "_states", learn)
    monkeypatch.setattr("decoding.training.readable_log.time.monotonic", lambda: now)
    config = TrainConfig(steps=4, batch_size=8, evaluate_every=2)
    train_medusa(target, attach_medusa(target, 2), DATA, DATA[:4], config, tmp_path, served=served)
    said = capsys.readouterr().err
    assert re.findall(r"([\d,]+) tokens/s", said) == ["128"] * 4
    assert re.findall(r"· (\S+ \S+) left", said)[2] == "34 s"  # evaluations go on to take time
