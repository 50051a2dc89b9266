from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import LlamaForCausalLM, PreTrainedTokenizerFast
from transformers.cache_utils import DynamicLayer

from decoding.params import Params, SamplingParams
from decoding.tokenizing.stopping import eos_ids
from decoding.training.conversations import rendered
from decoding.training.passes import LeanPasses, Passes, PreallocatedLayer, lean_forward_of
from decoding.verification.sampling import probabilities
from tests.support.answered import answers_to
from tests.support.chi_square import assert_drawn_from
from tests.support.families import HYBRIDS, build, hf_greedy


@pytest.mark.parametrize("lean", [False, True])
@pytest.mark.parametrize(("count", "batch_size"), [(1, 1), (5, 5), (9, 1), (9, 2), (20, 5)])
def test_batched_answers_are_those_of_transformers(
    model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, count: int, batch_size: int,
    lean: bool,
) -> None:  # fmt: skip
    asked = [[{"role": "user", "content": "Hi" + " there" * (7 * i % 20)}] for i in range(count)]
    prompts = [list(rendered(tokenizer, messages, prompt=True)) for messages in asked]
    theirs: Any = model
    # Some ordinary tokens end an answer too, so that rows leave the batch at different times.
    eos = {*eos_ids(model, tokenizer), *range(6, 60)}
    params = Params(max_new_tokens=30)
    ours = lean_forward_of(deepcopy(model)) if lean else None
    answers = answers_to(model, prompts, eos, params, batch_size, ours)
    for prompt, got in zip(prompts, answers, strict=True):
        expected = theirs.generate(
            torch.tensor([prompt]), attention_mask=torch.ones(1, len(prompt)), max_new_tokens=30,
            do_sample=False, eos_token_id=sorted(eos),
        )  # fmt: skip
        assert got == expected[0, len(prompt) :].tolist()


@pytest.mark.parametrize("family", ["gpt2", "gemma3", *HYBRIDS])
def test_answers_of_models_with_windows_or_states_or_neither(family: str) -> None:
    prompts = [[3, 7, 9, 11, 2, 3, 7] * 2, [3], [7, 3], [3] * 9, [2, 3]]
    eos = set(range(0, 300, 7))
    answers = answers_to(build(family), prompts, eos, Params(max_new_tokens=16), batch_size=2)
    for prompt, got in zip(prompts, answers, strict=True):
        expected = hf_greedy(family, prompt, 16)
        ends = [i + 1 for i, token in enumerate(expected) if token in eos]
        assert got == expected[: min(ends, default=16)]


@pytest.mark.parametrize("lean", [False, True])
def test_others_take_the_place_of_what_is_finished(
    model: LlamaForCausalLM, lean: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of one long answer and many short ones, which the context cuts off."""
    kind, rows = LeanPasses if lean else Passes, list[int]()
    call = kind.__call__

    def counted(self: Any, ids: Tensor, *more: Tensor) -> Tensor:
        if ids.shape[1] == 1:
            rows.append(len(ids))
        return call(self, ids, *more)

    monkeypatch.setattr(kind, "__call__", counted)
    prompts = [[5, 7, 9], *([6 + i % 9] * (124 + i % 3) for i in range(30))]
    ours = lean_forward_of(deepcopy(model)) if lean else None
    answers = answers_to(model, prompts, set(), Params(max_new_tokens=40), 4, ours)
    assert [len(answer) for answer in answers[:7]] == [40, 4, 3, 2, 4, 3, 2]
    assert sum(rows) < 1.2 * sum(len(answer) - 1 for answer in answers)
    assert sum(map(len, answers)) / len(rows) > 2.5


@pytest.mark.parametrize("lean", [False, True])
def test_answers_of_one_token(model: LlamaForCausalLM, lean: bool) -> None:
    ours = lean_forward_of(deepcopy(model)) if lean else None
    prompts = [[3 + i % 5] * (1 + 4 * i) for i in range(9)]
    every = set(range(model.config.vocab_size))
    answers = answers_to(model, prompts, every, Params(max_new_tokens=9), 4, ours)
    assert [len(answer) for answer in answers] == [1] * 9


def test_sampled_answers_have_the_distribution_of_the_target(model: LlamaForCausalLM) -> None:
    """Also of the tokens that follow the first, and whatever else is in the batch."""
    sampling = SamplingParams(temperature=1.3, top_k=8)
    params, prompt = Params(sampling, max_new_tokens=2), [3, 7, 9]
    answers = answers_to(model, [prompt] * 4000, set(), params, batch_size=512)
    with torch.no_grad():
        logits = model(torch.tensor([prompt])).logits[0, -1:]
        first = probabilities(logits, sampling)[0]
        likeliest = int(first.argmax())
        logits = model(torch.tensor([[*prompt, likeliest]])).logits[0, -1:]
        second = probabilities(logits, sampling)[0]
    assert_drawn_from([a for a, _ in answers], dict(enumerate(first.tolist())))
    following = [b for a, b in answers if a == likeliest]
    assert len(following) > 300
    assert_drawn_from(following, dict(enumerate(second.tolist())))


@pytest.mark.parametrize("batch_size", [1, 3, 8])
def test_an_answer_does_not_depend_on_what_else_is_in_the_batch(
    model: LlamaForCausalLM, batch_size: int
) -> None:
    params = Params(SamplingParams(1.0), max_new_tokens=12)
    prompts = [[3 + i] * (1 + i % 5) for i in range(8)]
    alone = answers_to(model, prompts, {9, 11, 40}, params, 1)
    assert answers_to(model, prompts, {9, 11, 40}, params, batch_size) == alone


def test_keys_and_values_are_appended_in_place() -> None:
    """As transformers' own layer does by copies, of any numbers of rows, also when rows of the
    batch have left."""
    ours, theirs = PreallocatedLayer(), DynamicLayer()
    places = []
    for rows in (7, 1, 1, 1, 5, 1):
        new = [torch.randn(3, 2, rows, width) for width in (4, 6)]
        mine, expected = ours.update(*new), theirs.update(*new)
        assert all(map(torch.equal, mine, expected))
        places.append(mine[0].data_ptr())
    assert len(set(places)) < 4  # of six updates
    keep: Any = torch.tensor([2, 0])
    for layer in (ours, theirs):
        layer.reorder_cache(keep)
    new = [torch.randn(2, 2, 1, width) for width in (4, 6)]
    assert all(map(torch.equal, ours.update(*new), theirs.update(*new)))
    assert ours.get_seq_length() == theirs.get_seq_length() == 17


def test_generation_stops_at_the_context_limit(model: LlamaForCausalLM) -> None:
    assert len(answers_to(model, [[1] * 120], set(), Params(max_new_tokens=50))[0]) == 8


def test_a_row_at_the_context_limit_does_not_end_the_others() -> None:
    model = build("gpt2")  # positions are learned: there are no others
    limit = model.config.n_positions
    prompts = [[3] * (limit - 2), [3], [5]]
    answers = answers_to(model, prompts, set(), Params(max_new_tokens=6))
    assert answers == [hf_greedy("gpt2", prompt, min(6, limit - len(prompt))) for prompt in prompts]


def test_of_the_likeliest_tokens_alone(model: LlamaForCausalLM) -> None:
    prompts = [[1, 2, 3], [4, 5]]
    narrow = Params(SamplingParams(temperature=1.0, top_p=1e-6), max_new_tokens=8)
    greedy = Params(max_new_tokens=8)
    assert answers_to(model, prompts, set(), narrow) == answers_to(model, prompts, set(), greedy)
