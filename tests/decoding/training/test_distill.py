from __future__ import annotations

import itertools
import json
import re
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from torch import Tensor
from transformers import AddedToken, LlamaForCausalLM, PreTrainedTokenizerFast

from assets.demo.recipe.agreement import agreement, tokens_per_pass
from assets.demo.recipe.answers import open_turns
from decoding.errors import InputError
from decoding.model.forward import ForwardOutput
from decoding.model.lean import LeanForward
from decoding.params import Params, SamplingParams
from decoding.training.answer_file import statistics
from decoding.training.conversations import IGNORED, Conversations
from decoding.training.data import DataSource, Record, require_lesson
from decoding.training.distill import Conversation, answer, distill
from tests.support.answered import always

PROMPTS: list[Conversation] = [([], [f"Can I have {n} teas?"]) for n in range(5)]


def test_on_a_cpu_our_own_forward_answers_the_same(
    model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    run, sequences = LeanForward.run, list[int]()

    def counted(self: LeanForward, tokens: Tensor, *more: Any) -> ForwardOutput:
        sequences.append(len(tokens))
        return run(self, tokens, *more)

    params = Params(max_new_tokens=12)
    options: dict[str, Any] = {"params": params, "batch_size": 3}
    with monkeypatch.context() as patched:
        patched.setattr("decoding.training.distill.lean_forward_of", lambda _: None)
        distill(deepcopy(model), tokenizer, PROMPTS, tmp_path / "theirs", **options)
    monkeypatch.setattr(LeanForward, "run", counted)
    ours = deepcopy(model)
    distill(ours, tokenizer, PROMPTS, tmp_path / "ours", **options)
    assert ours.config._attn_implementation == model.config._attn_implementation  # not a target's
    assert {3, 2} <= set(sequences)
    assert (tmp_path / "ours").read_text() == (tmp_path / "theirs").read_text()


def test_a_conversation_is_answered_anew_from_its_last_or_first_turns() -> None:
    messages = [{"role": r, "content": r} for r in ("system", "user", "assistant")] * 2
    assert open_turns({"messages": messages}) == (messages[:4], ["user"])
    assert open_turns({"messages": messages}, 2) == ([], ["user", "user"])
    assert open_turns({"prompt": "a"}, 2) == ([], ["a"])


def test_turns_are_answered_one_after_the_other(
    model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast
) -> None:
    model.generation_config.eos_token_id = list(range(320))  # any token ends an answer
    (record,) = answer(model, tokenizer, [([], ["one", "two"])], Params(max_new_tokens=4))
    assert [m["role"] for m in record["messages"]] == ["user", "assistant"] * 2
    assert record["finish_reason"] == "stop"


def test_a_turn_that_does_not_fit_ends_its_conversation(
    model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast
) -> None:
    model.generation_config.eos_token_id = list(range(320))  # any token ends an answer
    too_long = "One tea, then. " * 30
    conversations: list[Conversation] = [
        ([], ["one", too_long, "three"]),
        ([], ["one", "two", "three"]),
    ]
    params = Params(max_new_tokens=4)
    alone = list(answer(model, tokenizer, conversations[:1], params))
    together = list(answer(model, tokenizer, conversations, params))
    assert together[:1] == alone
    assert [len(record["messages"]) for record in together] == [2, 6]


def test_a_prompt_without_room_for_an_answer_teaches_nothing(
    model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, tmp_path: Path
) -> None:
    out, long = tmp_path / "out.jsonl", [{"role": "assistant", "content": "One tea, then. " * 20}]
    distill(model, tokenizer, [(long, ["Hi"]), ([], ["Hi"])], out, Params(max_new_tokens=4))
    lines = DataSource(out).lines()
    records = []
    for line, record in lines:
        require_lesson(record, line)
        records.append(record)
    assert [record["finish_reason"] for record in records] == ["length"] * 2
    taught = Conversations(records, tokenizer, 1000)
    assert [taught[i].ids for i in range(len(taught))] == [tuple(records[0]["ids"])]


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_distilling_resumes_after_the_last_record(
    model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, tmp_path: Path, temperature: float
) -> None:
    whole, killed = tmp_path / "whole.jsonl", tmp_path / "killed.jsonl"
    params = Params(SamplingParams(temperature), max_new_tokens=4)
    options: dict[str, Any] = {"params": params, "batch_size": 2}
    assert distill(model, tokenizer, PROMPTS, whole, **options) == 5
    killed.write_bytes(whole.read_bytes()[: whole.read_bytes().index(b"\n") + 20])
    distill(model, tokenizer, PROMPTS, killed, **options)
    assert killed.read_bytes() == whole.read_bytes()
    distill(model, tokenizer, PROMPTS, killed, **options)  # nothing is left to do
    assert killed.read_bytes() == whole.read_bytes()
    assert {json.loads(line)["finish_reason"] for line in whole.open()} <= {"stop", "length"}


def test_a_long_batch_reports_its_speed_before_anything_is_done(
    model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    clock = itertools.count()  # a second between any two looks
    monkeypatch.setattr("decoding.training.log.time.monotonic", lambda: float(next(clock)))
    distill(model, tokenizer, PROMPTS, tmp_path / "out.jsonl", Params(max_new_tokens=32))
    first, *others = capsys.readouterr().err.splitlines()
    assert re.fullmatch(r"0/5 conversations · [1-9] tokens/s", first)
    assert re.fullmatch(r"5/5 conversations · \d+ tokens/s · 0 s left", others[-1])
    assert len(others) <= 8


@pytest.mark.parametrize("other", [{"top_k": 3}, {"min_p": 0.2}, {"top_p": 0.5}])
def test_a_file_is_continued_with_the_same_sampling_alone(
    other: dict[str, Any], model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast,
    tmp_path: Path,
) -> None:  # fmt: skip
    out = tmp_path / "answers.jsonl"
    params = Params(SamplingParams(temperature=0.8), max_new_tokens=2)
    distill(model, tokenizer, PROMPTS, out, params)
    changed = Params(SamplingParams(temperature=0.8, **other), max_new_tokens=2)
    with pytest.raises(InputError, match="these settings"):
        distill(model, tokenizer, PROMPTS, out, changed)
    penalized = Params(SamplingParams(presence_penalty=1.0))
    with pytest.raises(InputError, match="without penalties"):
        distill(model, tokenizer, PROMPTS, tmp_path / "other.jsonl", penalized)


def test_a_file_is_continued_with_the_same_template_alone(
    model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    out = tmp_path / "answers.jsonl"
    distill(model, tokenizer, PROMPTS, out, Params(max_new_tokens=2))
    monkeypatch.setattr(tokenizer, "chat_template", f"Arr! {tokenizer.chat_template}")
    with pytest.raises(InputError, match="these settings"):
        distill(model, tokenizer, PROMPTS, out, Params(max_new_tokens=2))


def test_greedy_tokens_per_pass() -> None:
    yes, no = True, False
    assert tokens_per_pass([yes] * 10, gamma=4) == (10, 2)
    assert tokens_per_pass([no] * 3, gamma=4) == (3, 3)
    assert tokens_per_pass([yes, yes, no, yes], gamma=4) == (4, 2)


def test_a_model_agrees_with_itself(
    model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, records: list[Record]
) -> None:
    assert agreement(model, model, tokenizer, records[:4])["agreement, all"] == 1


@pytest.mark.parametrize("special", [True, False])
def test_an_end_without_a_name_is_no_part_of_the_text(
    special: bool, model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast,
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
) -> None:  # fmt: skip
    tokenizer = deepcopy(tokenizer)
    tokenizer.add_tokens([AddedToken("<|fin|>", special=special, normalized=False)])
    end = tokenizer.get_vocab()["<|fin|>"]
    assert end not in tokenizer.all_special_ids
    model.generation_config.eos_token_id = [end]
    ids = tokenizer("Yes.<|fin|>", add_special_tokens=False)["input_ids"]
    assert ids[-1] == end
    monkeypatch.setattr("decoding.training.distill.generate", always(ids))
    out = tmp_path / "answers.jsonl"
    distill(model, tokenizer, [([], ["Tea?"])], out, Params())
    (record,) = map(json.loads, out.read_text().splitlines())
    assert record["messages"][-1]["content"] == "Yes."
    learned = Conversations([record], tokenizer, 200)
    assert [label for label in learned[0].labels if label != IGNORED] == ids


SAID = {
    "it thinks": ("<think>\nHm.\n</think>\n\nYes.<|end|>", "Yes.", "stop"),
    "it thinks no more": ("<think>\nHm.", None, "length"),
    "it only thinks": ("<think>Hm.</think><|end|>", None, "length"),
    "it answers at once": ("Yes.<|end|>", "Yes.", "stop"),
    "it was told to think": ("Hm.</think>Yes.<|end|>", "Yes.", "stop"),
    "it was told to think, and goes on": ("Hm.", None, "length"),
}


@pytest.mark.parametrize("special", [True, False])
@pytest.mark.parametrize("case", SAID)
def test_reasoning_is_dropped_or_kept(
    case: str, special: bool, model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast,
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
) -> None:  # fmt: skip
    said, content, reason = SAID[case]
    tokenizer = deepcopy(tokenizer)
    tokenizer.add_tokens(["<think>", "</think>"], special_tokens=special)
    if "told" in case:
        generation = "{% if add_generation_prompt %}"
        assert generation in tokenizer.chat_template
        tokenizer.chat_template += generation + "<think>\n{% endif %}"
    ids = tokenizer(said, add_special_tokens=False)["input_ids"]
    monkeypatch.setattr("decoding.training.distill.generate", always(ids))
    out, params = tmp_path / "answers.jsonl", Params()
    history = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello!"}]
    asked: list[Conversation] = [(history, ["Tea?", "Milk?"])]
    distill(model, tokenizer, asked, out, params, reasoning="drop")
    (record,) = map(json.loads, out.read_text().splitlines())
    answered = [m["content"] for m in record["messages"][2:] if m["role"] == "assistant"]
    assert answered == ([] if content is None else [content] * 2)
    assert record["finish_reason"] == reason
    assert record["tokens"] == len(ids) * (1 if content is None else 2)
    learned = Conversations([record], tokenizer, 200)
    if content is None:
        assert len(learned) == 0
    else:
        labels = [t for t in learned[0].labels if t != IGNORED]
        assert str(tokenizer.decode(labels)).replace("\n", "") == f"{content}<|end|>" * 2
    thinks = case != "it answers at once"
    assert statistics(out).endswith("1 with reasoning (dropped)") == thinks
    assert ("ids" in record) == (not thinks)

    with pytest.raises(InputError, match="these settings"):
        distill(model, tokenizer, asked, out, params)
    kept = tmp_path / "kept.jsonl"
    distill(model, tokenizer, asked, kept, params)
    (record,) = map(json.loads, kept.read_text().splitlines())
    start, end = record["answers"][0]
    assert record["ids"][start:end] == ids
