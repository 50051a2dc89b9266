"""A draft model's chains: as long as they are asked for, or as it is sure of them."""

from __future__ import annotations

from dataclasses import replace

import torch

from decoding.cost.curve import Line
from decoding.cost.model import CostModel
from decoding.drafters.base import DraftContext
from decoding.drafters.draft_model import DraftModel
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
