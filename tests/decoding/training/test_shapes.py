"""Trainings compute products of few shapes, and learn the same from them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional
from torch.overrides import TorchFunctionMode
from transformers import LlamaForCausalLM

from decoding.training import shapes
from decoding.training.conversations import Example
from decoding.training.draft import DraftTrainingModel
from decoding.training.draft_attach import attach_draft
from decoding.training.eagle_attach import attach_eagle
from decoding.training.eagle_model import EagleTrainingModel
from decoding.training.features import FeatureExample, collate_features, features_of
from decoding.training.losses import Loss
from decoding.training.medusa import MedusaTrainingModel
from decoding.training.medusa_attach import attach_medusa
from decoding.training.shapes import COLUMNS, columns_for
from decoding.training.training_model import TrainingModel

KINDS: dict[str, Callable[[LlamaForCausalLM, Loss], TrainingModel]] = {
    "medusa": lambda target, loss: MedusaTrainingModel(target, attach_medusa(target, 2), loss=loss),
    "eagle1": lambda target, loss: EagleTrainingModel(
        target, attach_eagle(target, "eagle1"), loss=loss
    ),
    "eagle3": lambda target, loss: EagleTrainingModel(
        target, attach_eagle(target, "eagle3", aux_layers=(0, 1)), steps=3, loss=loss
    ),
    "draft": lambda target, loss: DraftTrainingModel(target, attach_draft(target, 1), loss),
}


def examples(*lengths: int) -> list[Example]:
    texts = [torch.randint(2, 40, (length,)).tolist() for length in lengths]
    return [Example.of_answer(text[:3], text[3:]) for text in texts]


class LinearRows(TorchFunctionMode):
    """Collects how many rows go through linear layers."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[int] = set()

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is functional.linear:
            self.seen.add(args[0].numel() // args[0].shape[-1])
        return func(*args, **kwargs or {})


@pytest.mark.parametrize("loss", ["kl", "ce"])
@pytest.mark.parametrize("kind", KINDS)
def test_padding_changes_nothing_that_is_learned(
    kind: str,
    loss: Loss,
    make_model: Callable[[], LlamaForCausalLM],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    target = make_model()
    model = KINDS[kind](target, loss).train()
    batch = collate_features(examples(11, 5, 7))

    def learn(given: dict[str, Tensor]) -> tuple[Tensor, list[Tensor | None], dict[str, float]]:
        model.zero_grad()
        torch.manual_seed(4)  # of EAGLE-1's noise
        found = model(**given)["loss"]
        found.backward()
        running: Any = model.running
        return found, [p.grad for p in model.parameters()], running.collect()

    plain = learn(batch)
    monkeypatch.setattr(shapes, "_compiles_kernels", lambda device: True)
    with LinearRows() as rows:
        padded = learn(batch)
    torch.testing.assert_close(padded, plain)
    assert rows.seen <= {batch["input_ids"].numel(), 64}


def test_texts_are_padded_to_few_lengths(make_model: Callable[[], LlamaForCausalLM]) -> None:
    """Also their features, but no text to more than the longest there is: the target may have no
    positions for it."""
    given = examples(5, 9)
    assert collate_features(given, limit=40)["input_ids"].shape[1] == COLUMNS
    assert collate_features(given, limit=12)["input_ids"].shape[1] == 12
    assert {columns_for(longest, 1000) for longest in range(1, 101)} == set(range(16, 113, 16))
    aux, final = features_of(make_model(), collate_features(given)["input_ids"], (0, 1))
    assert aux is not None
    cached = [
        FeatureExample(e.ids, e.labels, aux[row, : len(e.ids)], final[row, : len(e.ids)])
        for row, e in enumerate(given)
    ]
    batch = collate_features(cached, limit=40)
    for name, states in (("aux_hidden_states", aux), ("final", final)):
        for row, example in enumerate(given):
            own = states[row, : len(example.ids)]
            expected = functional.pad(own, (0, 0, 0, COLUMNS - len(own)))
            torch.testing.assert_close(batch[name][row], expected)
