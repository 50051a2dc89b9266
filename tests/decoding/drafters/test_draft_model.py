"""A draft model's chains: as long as they are asked for, or as it is sure of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from decoding.cost.chain_length import ChainLength
from decoding.cost.curve import Line
from decoding.cost.model import CostModel
from decoding.drafters.base import DraftContext
from decoding.drafters.draft_model import DraftModel
from decoding.model.forward import ForwardOutput
from decoding.params import Params, SamplingParams
from tests.support.paper_target import PaperTarget

VOCAB = 12
COSTS = CostModel(Line(0.0, 0.2), Line(1.0, 0.05))


def test_a_greedy_chain_ends_where_going_on_does_not_pay() -> None:
    drafter = DraftModel(PaperTarget(VOCAB, seed=1), VOCAB)  # type: ignore[arg-type]
    lengths = []
    for ids in ([n, n + 1, 3] for n in range(10)):
        context = DraftContext(ids, 8, Params(gamma="auto"), torch.Generator())
        drafts = []
        for costs in (None, COSTS):
            drafter.start(ids)
            draft = drafter.propose(replace(context, costs=costs))
            assert draft is not None
            drafts.append(draft.tree.tokens.tolist())
            drafter.observe(ids, 0)
        whole, ended = drafts
        assert len(whole) == 9 and whole[: len(ended)] == ended
        lengths.append(len(ended) - 1)
    assert min(lengths) < 4 and len(set(lengths)) > 1


def test_a_sampled_chain_is_as_long_as_it_is_asked_for() -> None:
    drafter = DraftModel(PaperTarget(VOCAB, seed=1), VOCAB)  # type: ignore[arg-type]
    params = Params(SamplingParams(temperature=1.0), gamma="auto")
    drafter.start([1, 2])
    draft = drafter.propose(DraftContext([1, 2], 6, params, torch.Generator(), COSTS))
    assert draft is not None and draft.tree.shape.depth == 6
    assert not drafter.ends_drafts(params)


@pytest.mark.parametrize(("context", "depth"), [(9, 1), (8, 0)])
def test_a_prompt_is_prefilled_only_if_there_is_room_for_a_draft(context: int, depth: int) -> None:
    class Short(PaperTarget):
        def prefill(self, *args: Any) -> ForwardOutput:
            assert depth, "for nothing"
            return super().prefill(*args)

    model, ids = Short(VOCAB, seed=1), [1] * 9
    model.context = context
    drafter = DraftModel(model, VOCAB)  # type: ignore[arg-type]
    drafter.start(ids)
    draft = drafter.propose(DraftContext(ids, 4, Params(), torch.Generator()))
    assert (0 if draft is None else draft.tree.shape.depth) == depth


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_ids_that_only_the_target_has_may_be_penalized_and_are_never_drafted(
    temperature: float,
) -> None:
    drafter = DraftModel(PaperTarget(VOCAB, seed=1), VOCAB + 4)  # type: ignore[arg-type]
    sampling = SamplingParams(temperature, repetition_penalty=1.4, presence_penalty=0.5)
    ids = [1, VOCAB + 1, VOCAB + 2, 3]
    drafter.start(ids)
    context = DraftContext(ids, 6, Params(sampling), torch.Generator(), prompt_length=2)
    draft = drafter.propose(context)
    assert draft is not None and draft.tree.shape.depth == 6
    assert max(draft.tree.tokens[1:].tolist()) < VOCAB
    if temperature:
        assert draft.q is not None and draft.q.shape == (6, VOCAB + 4)
        assert not draft.q[:, VOCAB:].any() and draft.q.sum(-1).allclose(torch.ones(6))


def test_a_probability_is_not_rounded_to_the_models_precision(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """0.999 would be 1 in bfloat16, and a draft that fails then infinitely unlikely."""

    def sure(ids: tuple[int, ...]) -> Tensor:
        return torch.tensor([7.0, 0.0], dtype=torch.bfloat16)

    seen: list[float] = []
    monkeypatch.setattr(ChainLength, "goes_on", lambda self, p: seen.append(p))
    model = PaperTarget(2, seed=1)
    model.logits = sure
    drafter = DraftModel(model, 2)  # type: ignore[arg-type]
    drafter.start([0, 1])
    drafter.propose(DraftContext([0, 1], 4, Params(gamma="auto"), torch.Generator(), COSTS))
    assert seen == [pytest.approx(0.99909, abs=1e-5)]
