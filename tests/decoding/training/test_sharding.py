"""What is trained in parts by several processes is what one process trains, and so are its
checkpoints."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
import torch
from torch import Tensor
from transformers import LlamaForCausalLM

from decoding.errors import InputError
from decoding.training.conversations import IGNORED, Example
from decoding.training.draft import train_draft
from decoding.training.draft_attach import attach_draft
from decoding.training.eagle import train_eagle
from decoding.training.eagle_attach import attach_eagle
from decoding.training.log import training_log
from decoding.training.medusa import train_medusa
from decoding.training.medusa_attach import attach_medusa
from decoding.training.sharding import shard_layers
from decoding.training.train_config import TrainConfig
from tests.support.families import sure_llama
from tests.support.processes import in_two_processes

STEPS, EVERY = 12, 6


class Texts(torch.utils.data.Dataset[Example]):
    """Texts that count in threes, of several lengths."""

    def __len__(self) -> int:
        return 48

    def __getitem__(self, index: int) -> Example:
        ids = [(index + 1 + 3 * at) % 40 for at in range(12 + index % 5)]
        return Example(tuple(ids), (IGNORED, IGNORED, *ids[2:]))


def target() -> LlamaForCausalLM:
    return sure_llama(num_hidden_layers=3, tie_word_embeddings=True)


def medusa(config: TrainConfig, work: Path, resume: bool) -> dict[str, Tensor]:
    model = target()
    heads = attach_medusa(model, 3, 1, own_lm_heads=True)
    found = train_medusa(model, heads, Texts(), Texts(), config, work, resume)
    assert found.lm_heads is not None
    return {"weights": found.weights, "biases": found.biases, "lm_heads": found.lm_heads}


def eagle(config: TrainConfig, work: Path, resume: bool) -> dict[str, Tensor]:
    model = target()
    head = attach_eagle(model, "eagle3", aux_layers=(0, 1, 2))
    if config.shard:
        shard_layers(model)  # the frozen target too
    return dict(train_eagle(model, head, Texts(), Texts(), config, work, resume)[0].tensors)


def draft(config: TrainConfig, work: Path, resume: bool) -> dict[str, Tensor]:
    model = target()
    learner = attach_draft(model, 2, mlp=24)
    if config.shard:
        shard_layers(model)
    train_draft(model, learner, Texts(), Texts(), config, work, resume)
    return {name: parameter.detach() for name, parameter in learner.named_parameters()}


Training = Callable[[TrainConfig, Path, bool], dict[str, Tensor]]


@pytest.mark.parametrize(
    ("train", "muon_lr"),
    [
        pytest.param(medusa, 0.02, id="medusa by Muon"),
        pytest.param(eagle, 0.0, id="eagle by AdamW", marks=pytest.mark.slow),
        pytest.param(draft, 0.01, id="draft by Muon", marks=pytest.mark.slow),
    ],
)
def test_two_sharded_processes_are_one(
    train: Training, muon_lr: float, tmp_path: Path, without_fast_bfloat16: None
) -> None:
    config = partial(
        TrainConfig, steps=STEPS, evaluate_every=EVERY, lr=5e-3, muon_lr=muon_lr, batch_size=8
    )
    one = train(config(), tmp_path / "one", False)

    def work(name: str, resume: bool) -> None:
        trained = train(config(shard=True), tmp_path / name, resume)
        if torch.distributed.get_rank() == 0:
            torch.save(trained, tmp_path / f"{name}.pt")

    def both() -> None:
        work("two", False)
        work("resumed", True)

    begin_like(tmp_path / "one", tmp_path / "resumed")
    in_two_processes(both, tmp_path)
    begin_like(tmp_path / "two", tmp_path / "alone")
    alone = train(config(), tmp_path / "alone", True)

    for other in (torch.load(tmp_path / "two.pt"), torch.load(tmp_path / "resumed.pt"), alone):
        assert other.keys() == one.keys()
        for name, tensor in one.items():
            assert not isinstance(other[name], torch.distributed.tensor.DTensor)
            assert (other[name] - tensor).norm() <= 1e-3 * tensor.norm(), name
    losses, theirs = (
        [entry["loss"] for entry in training_log(tmp_path / name) if "loss" in entry]
        for name in ("one", "two")
    )
    assert len(losses) == STEPS and losses[-1] < losses[0]
    assert theirs == pytest.approx(losses, rel=1e-3)


def begin_like(done: Path, work: Path) -> None:
    """A training that was ended after the first checkpoint of another."""
    checkpoint = f"checkpoint-{EVERY}"
    shutil.copytree(done / checkpoint, work / checkpoint)


def test_checkpoints_of_other_heads_are_refused(tmp_path: Path) -> None:
    config = TrainConfig(steps=1, evaluate_every=1)
    medusa(config, tmp_path, False)
    with pytest.raises(InputError, match="of other heads"):
        eagle(config, tmp_path, True)


def test_one_process_has_nothing_to_share() -> None:
    with pytest.raises(InputError, match="start several by accelerate launch"):
        shard_layers(target())
