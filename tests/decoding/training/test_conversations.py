"""What of a conversation is learned: the target's words, no more and no less."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

from app.cli.heads.training_data import conversations_of
from decoding.errors import InputError
from decoding.params import Params
from decoding.training.conversations import (
    IGNORED,
    encode_conversation,
    rendered,
    vocabulary_digest,
)
from decoding.training.data import Record, in_chat_form
from decoding.training.distill import answer
from tests.support.answered import always

HELLO = {"role": "user", "content": "Hello"}
ANSWER = {"role": "assistant", "content": "Hi there."}
# Leaves out what was thought in earlier turns, as Qwen3's and R1's templates do.
FORGETFUL = """{% for m in messages %}<|{{ m.role }}|>{% if loop.last %}{{ m.content }}{% else %}\
{{ m.content.split("</think>")[-1] }}{% endif %}<|end|>{% endfor %}\
{% if add_generation_prompt %}<|assistant|>{% endif %}"""


def learned(record: Record, tokenizer: Any, vocabulary: str = "") -> str:
    example = encode_conversation(record, tokenizer, vocabulary)
    return str(tokenizer.decode([label for label in example.labels if label != IGNORED]))


def test_a_cut_answer_is_not_taught_to_end(tokenizer: PreTrainedTokenizerFast) -> None:
    record = {"messages": [HELLO, ANSWER], "finish_reason": "stop"}
    assert learned(record, tokenizer).startswith("Hi there.<|end|>")
    cut = record | {"finish_reason": "length"}
    assert learned(cut, tokenizer) == "Hi there."
    assert len(encode_conversation(cut, tokenizer).ids) < len(
        encode_conversation(record, tokenizer).ids
    )


def test_a_newline_behind_an_answer_is_not_taught(
    tokenizer: PreTrainedTokenizerFast, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = {"messages": [HELLO, ANSWER, HELLO, {"role": "assistant", "content": "Again?\n"}]}
    template = FORGETFUL.replace("<|end|>", "<|end|>\n")  # as ChatML's
    monkeypatch.setattr(tokenizer, "chat_template", template)
    assert learned(record, tokenizer) == "Hi there.<|end|>Again?\n<|end|>"
    assert learned(record | {"finish_reason": "length"}, tokenizer) == "Hi there.<|end|>Again?\n"
    unmarked = FORGETFUL.replace("<|end|>", "{{ '\\n' }}")  # then it is all that ends a turn
    monkeypatch.setattr(tokenizer, "chat_template", unmarked)
    assert learned({"messages": [HELLO, ANSWER]}, tokenizer) == "Hi there.\n"


def test_given_messages_are_not_learned(tokenizer: PreTrainedTokenizerFast) -> None:
    record = {"messages": [HELLO, ANSWER, HELLO, {"role": "assistant", "content": "Again?"}]}
    assert learned(record, tokenizer) == "Hi there.<|end|>Again?<|end|>"
    assert learned(record | {"given_messages": 2}, tokenizer) == "Again?<|end|>"


def test_turns_that_the_template_rewrites_are_not_learned(
    tokenizer: PreTrainedTokenizerFast, monkeypatch: pytest.MonkeyPatch
) -> None:
    thought = {"role": "assistant", "content": "I think.</think>Hi there."}
    record = {"messages": [HELLO, thought, HELLO, thought]}
    monkeypatch.setattr(tokenizer, "chat_template", FORGETFUL)
    assert learned(record, tokenizer) == "I think.</think>Hi there.<|end|>"
    opened = FORGETFUL.replace("<|assistant|>", "<|assistant|>So:")
    monkeypatch.setattr(tokenizer, "chat_template", opened)
    assert learned(record, tokenizer) == "I think.</think>Hi there.<|end|>"


def test_a_conversation_that_the_template_refuses_is_named(
    tokenizer: PreTrainedTokenizerFast, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As Gemma's does with system prompts."""
    refusing = (
        "{% if m.role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}"
    )
    refused_template = FORGETFUL.replace("%}<|", "%}" + refusing + "<|", 1)
    monkeypatch.setattr(tokenizer, "chat_template", refused_template)
    assert learned({"messages": [HELLO, ANSWER]}, tokenizer)
    system = {"role": "system", "content": "Be a fox. " * 20}
    with pytest.raises(InputError) as refused:
        learned({"messages": [system, HELLO, ANSWER]}, tokenizer)
    words = "of system, user, assistant, which begins 'Be a fox. Be a fox"
    assert words in str(refused.value) and str(refused.value).endswith("System role not supported")


def test_a_turn_is_rendered_twice_at_most(
    tokenizer: PreTrainedTokenizerFast, monkeypatch: pytest.MonkeyPatch
) -> None:
    render, calls = type(tokenizer).apply_chat_template, []

    def counted(*arguments: Any, **options: Any) -> Any:
        calls.append(arguments)
        return render(*arguments, **options)

    monkeypatch.setattr(type(tokenizer), "apply_chat_template", counted)
    assert learned({"messages": [HELLO, ANSWER] * 3}, tokenizer).count("Hi there.<|end|>") == 3
    assert len(calls) == 6


def test_what_the_target_said_is_learned_by_its_ids(
    model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast
) -> None:
    """A random model says bytes that no text gives back."""
    (record,) = answer(model, tokenizer, [([], ["Hello", "And?"])], Params(max_new_tokens=8))
    record["vocabulary"] = vocabulary_digest(tokenizer)
    start, end = record["answers"][-1]
    said = record["ids"][start:end]
    example = encode_conversation(record, tokenizer, record["vocabulary"])
    assert list(example.ids) == record["ids"] and list(example.labels[start:end]) == said
    assert list(rendered(tokenizer, record["messages"], False))[start:end] != said
    # not where the ids mean something else, nor where the text was changed
    by_text = encode_conversation(record, tokenizer)
    assert by_text != example
    assert encode_conversation(record | {"vocabulary": "x"}, tokenizer, "y") == by_text
    record["messages"][-1]["content"] = "edited"
    assert "edited" in learned(record, tokenizer, record["vocabulary"])


@pytest.mark.parametrize("spelled", [True, False])
def test_an_earlier_answer_that_became_other_ids_is_not_learned(
    spelled: bool, model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    parts = list("Hi there.") if spelled else ["Hi there."]
    said = [id for part in (*parts, "<|end|>") for id in tokenizer(part)["input_ids"]]
    monkeypatch.setattr("decoding.training.distill.generate", always(said))
    (both,) = answer(model, tokenizer, [([], ["Hello", "And?"])], Params())
    assert len(both["answers"]) == (1 if spelled else 2)


def test_any_answer_may_be_edited(
    model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = tokenizer("Hi there.<|end|>")["input_ids"]
    monkeypatch.setattr("decoding.training.distill.generate", always(said))
    (record,) = answer(model, tokenizer, [([], ["Hello", "And?"])], Params())
    vocabulary = record["vocabulary"] = vocabulary_digest(tokenizer)
    assert list(encode_conversation(record, tokenizer, vocabulary).ids) == record["ids"]
    for turn in (1, 3):
        messages = [dict(message) for message in record["messages"]]
        messages[turn]["content"] = "edited"
        assert "edited" in learned(record | {"messages": messages}, tokenizer, vocabulary)


def test_nothing_held_out_is_learned(
    model: LlamaForCausalLM,
    tokenizer: PreTrainedTokenizerFast,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also not where a file is repeated, or repeats itself. A record is written out once to be told
    from others: there may be millions."""
    path = tmp_path / "data.jsonl"
    lines = [json.dumps({"text": f"text {n % 61} of many"}) for n in range(70)]
    path.write_text("\n".join(lines))
    dumps = Mock(wraps=json.dumps)
    monkeypatch.setattr("app.cli.heads.training_data.json.dumps", dumps)
    kept, held_out, _ = conversations_of([f"{path}:2"], None, model, tokenizer, 64)
    assert dumps.call_count == 2 * len(lines)
    both = {kept[i].ids for i in range(len(kept))} & {held_out[i].ids for i in range(len(held_out))}
    assert not both and len(held_out) == 4 and len(kept) > 120


def test_a_prompt_that_is_held_out_is_not_learned_with_another_answer(
    model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, tmp_path: Path
) -> None:
    path = tmp_path / "data.jsonl"
    records: list[Record] = [
        {"id": n, "messages": [{"role": "user", "content": f"Hello {n % 30}"},
                               {"role": "assistant", "content": f"Hi, the {n}th."}]}
        for n in range(60)
    ]  # fmt: skip
    path.write_text("\n".join(map(json.dumps, records)))
    kept, held_out, measured = conversations_of([str(path)], None, model, tokenizer, 64)
    assert [record["id"] for record in measured] == [0, 20]
    assert (len(held_out), len(kept)) == (2, 56)
    path.write_text(json.dumps({"messages": [ANSWER, HELLO]}) + "\n" + path.read_text())
    _, _, measured = conversations_of([str(path)], None, model, tokenizer, 64)
    assert len(measured) == 2 and measured[0]["messages"] == [ANSWER, HELLO]


def test_prompts_of_both_files_are_counted(
    model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    data, held_out = str(tmp_path / "data.jsonl"), str(tmp_path / "held-out.jsonl")
    records = [{"messages": [{"role": "user", "content": f"{n}"}, ANSWER]} for n in range(6)]
    Path(data).write_text("\n".join(map(json.dumps, records[:4])))
    for first, said in ((3, "1 of 3 prompts of --held-out are in --data too\n"), (4, "")):
        Path(held_out).write_text("\n".join(map(json.dumps, records[first:])))
        conversations_of([data], [held_out], model, tokenizer, 64)
        assert capsys.readouterr().err == said


def test_what_is_too_long_to_learn_from_is_not_dropped_in_silence(
    model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    path = tmp_path / "data.jsonl"
    records = [
        {"messages": [{"role": "user", "content": "Hello " * times}, ANSWER]}
        for times in (1, 2, 3, 40, 50)
    ]
    path.write_text("\n".join(map(json.dumps, records)))
    kept, _, _ = conversations_of([str(path)], None, model, tokenizer, 32)
    assert len(kept) == 2
    said = "2 of 4 conversations hold no answer within 32 tokens: left out"
    assert said in capsys.readouterr().err
    conversations_of([str(path)], None, model, tokenizer, 512)
    assert "2 of 4 conversations hold no answer within 128 tokens" in capsys.readouterr().err
    path.write_text("\n".join(map(json.dumps, records[:3])))
    conversations_of([str(path)], None, model, tokenizer, 32)
    assert not capsys.readouterr().err


def test_sharegpt_is_read() -> None:
    turns = [{"from": "human", "value": "Hello"}, {"from": "gpt", "value": "Hi there."}]
    record = {"conversations": turns, "id": "a"}
    assert in_chat_form(record, "f:1") == {"id": "a", "messages": [HELLO, ANSWER]}
    anteater = {"system": "Be kind.", "conversations": [{"from": "User", "value": "Hello"}]}
    assert in_chat_form(anteater, "f:1")["messages"] == [
        {"role": "system", "content": "Be kind."}, HELLO
    ]  # fmt: skip
    with pytest.raises(InputError, match="f:1: a turn of conversations"):
        in_chat_form({"conversations": [{"from": "a bird", "value": ""}]}, "f:1")


@pytest.mark.parametrize("prompt", ["", "<think>", "<think>\n"])
def test_reasoning_is_learned_though_the_template_drops_that_of_all_answers(
    tokenizer: PreTrainedTokenizerFast, monkeypatch: pytest.MonkeyPatch, prompt: str
) -> None:
    """As DeepSeek-R1's does, whose prompts open it."""
    template = """{% for m in messages %}<|{{ m.role }}|>{{ m.content.split("</think>")[-1] }}\
<|end|>{% endfor %}{% if add_generation_prompt %}<|assistant|>PROMPT{% endif %}"""
    monkeypatch.setattr(tokenizer, "chat_template", template.replace("PROMPT", prompt))
    said = "<think>\nA greeting.</think>Hi there."
    thought = {"role": "assistant", "content": said}
    record = {"messages": [HELLO, ANSWER, HELLO, thought], "finish_reason": "stop"}
    wanted = said.removeprefix(prompt)
    assert learned(record, tokenizer) == wanted + "<|end|>"
    assert learned(record | {"finish_reason": "length"}, tokenizer) == wanted
    before = rendered(tokenizer, [HELLO, ANSWER, HELLO], True)
    assert encode_conversation(record, tokenizer).ids[: len(before)] == tuple(before)
    assert learned(record | {"given_messages": 4}, tokenizer) == ""
