"""Self-distillation data: the target's own answers to prompts, as chat JSONL.

Output records are `{"messages", "finish_reason"}` with the number of `given_messages` before the
first turn to answer, that of generated `tokens`, the `ids` of the conversation, the ranges of the
`answers` in them, a digest of their `vocabulary`, and `made_by`, a digest of the target, the
prompts and the settings. The same call again continues after the last complete batch.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from decoding.errors import InputError
from decoding.model.architecture import context_of
from decoding.model.lean import LeanForward
from decoding.params import Params
from decoding.tokenizing.reasoning import CLOSE, OPEN, Reasoning
from decoding.tokenizing.stopping import eos_ids
from decoding.training.answer_file import Conversation as Conversation
from decoding.training.answer_file import Message, drop_reasoning, keep_only, lines_so_far
from decoding.training.conversations import rendered, special_ids, vocabulary_digest
from decoding.training.data import Record, digest
from decoding.training.features import target_digest
from decoding.training.log import Progress
from decoding.training.passes import LeanPasses, Passes, lean_forward_of
from decoding.verification.sampling import probabilities


@torch.no_grad()
def generate(
    model: PreTrainedModel,
    prompts: Sequence[list[int]],
    eos: Collection[int],
    params: Params,
    generator: torch.Generator | None = None,
    report_tokens: Callable[[int], None] = lambda tokens: None,
    lean: LeanForward | None = None,
) -> list[list[int]]:
    """Continue a batch of prompts (left-padded); EOS ids end an answer and are part of it. Calls
    `report_tokens` after each pass with the number of tokens so far. `lean`: see
    `lean_forward_of`.

    Finished rows are removed from the batch whenever half of it is finished.
    """
    device, width = model.device, max(len(prompt) for prompt in prompts)
    ids = torch.tensor([[0] * (width - len(p)) + p for p in prompts], device=device)
    mask = torch.tensor([[0] * (width - len(p)) + [1] * len(p) for p in prompts], device=device)
    positions = (mask.cumsum(-1) - 1).clamp(min=0)
    run = Passes(model) if lean is None else LeanPasses(model, lean)
    rows = list(range(len(prompts)))
    answers: list[list[int]] = [[] for _ in prompts]
    open_rows = set(rows)
    limit = context_of(model.config.get_text_config(decoder=True))
    sampling = params.sampling
    for _ in range(params.max_new_tokens):
        logits = run(ids, mask, positions)
        if sampling.greedy:
            chosen = logits.argmax(-1, keepdim=True)
        else:
            chosen = torch.multinomial(probabilities(logits, sampling), 1, generator=generator)
        for row, token in zip(rows, chosen[:, 0].tolist(), strict=True):
            if row in open_rows:
                answers[row].append(token)
                if token in eos or len(prompts[row]) + len(answers[row]) >= limit:
                    open_rows.remove(row)
        if not open_rows:
            break
        report_tokens(sum(map(len, answers)))
        if 2 * len(open_rows) <= len(rows):
            keep = torch.tensor(
                [i for i, row in enumerate(rows) if row in open_rows], device=device
            )
            rows = [row for row in rows if row in open_rows]
            run.keep(keep)
            chosen, mask, positions = chosen[keep], mask[keep], positions[keep]
        ids = chosen
        # Rows that reached the context go on unread, without positions that the model has not.
        positions = (positions[:, -1:] + 1).clamp(max=limit - 1)
        mask = torch.cat([mask, mask.new_ones(len(rows), 1)], dim=1)
    return answers


def answer(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    conversations: Sequence[Conversation],
    params: Params,
    generator: torch.Generator | None = None,
    reasoning: Reasoning = "keep",
    report_tokens: Callable[[int], None] = lambda tokens: None,
    lean: LeanForward | None = None,
) -> list[Record]:
    """Answer all open user turns of a batch of conversations, one turn after the other. Calls
    `report_tokens` and takes `lean` as `generate` does.

    A conversation ends early if an answer was cut off (finish_reason "length") or a turn does not
    fit in the context: a first prompt without room stays unanswered. With `reasoning` dropped an
    answer that is nothing else is left out.
    """
    eos = eos_ids(model, tokenizer)
    special = eos | special_ids(tokenizer)
    if reasoning == "drop":
        special -= {tokenizer.get_vocab().get(mark) for mark in (OPEN, CLOSE)}
    limit = context_of(model.config.get_text_config(decoder=True))
    records: list[Record] = [
        {
            "messages": list(history),
            "finish_reason": "stop",
            "given_messages": len(history),
            "tokens": 0,
            "ids": [],
            "answers": [],
        }
        for history, _ in conversations
    ]
    unanswered = [
        (record, turns) for record, (_, turns) in zip(records, conversations, strict=True)
    ]
    earlier = 0  # tokens of the turns before

    def report_all(tokens: int) -> None:
        report_tokens(earlier + tokens)

    for turn in range(max(len(turns) for _, turns in conversations)):
        batch: list[tuple[Record, list[str], list[Message], list[int]]] = []
        for record, turns in unanswered:
            if turn < len(turns) and record["finish_reason"] == "stop":
                messages = [*record["messages"], {"role": "user", "content": turns[turn]}]
                ids = list(rendered(tokenizer, messages, prompt=True))
                if len(ids) < limit:
                    batch.append((record, turns, messages, ids))
                elif turn == 0:  # no room for any answer
                    record |= {"messages": messages, "finish_reason": "length"}
        if not batch:
            break
        unanswered = [(record, turns) for record, turns, *_ in batch]
        prompts = [ids for *_, ids in batch]
        answers = generate(model, prompts, eos, params, generator, report_all, lean)
        earlier += sum(map(len, answers))
        for (record, _, messages, prompt), ids in zip(batch, answers, strict=True):
            text = tokenizer.decode([token for token in ids if token not in special])
            record["tokens"] += len(ids)
            record["messages"] = [*messages, {"role": "assistant", "content": text}]
            record["finish_reason"] = "stop" if ids[-1] in eos else "length"
            if reasoning == "drop":
                opened = str(tokenizer.decode(prompt)).rstrip().endswith(OPEN)
                drop_reasoning(record, f"{OPEN if opened else ''}{text}")
            if "ids" not in record:
                continue
            # Earlier answers were encoded again; those whose ids changed must not be learned.
            encoded = record["ids"]
            record["answers"] = [
                *([a, b] for a, b in record["answers"] if encoded[a:b] == prompt[a:b]),
                [len(prompt), len(prompt) + len(ids)],
            ]
            record["ids"] = prompt + ids
    return records


def distill(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    conversations: Iterable[Conversation],
    out: Path,
    params: Params,
    batch_size: int = 64,
    seed: int = 0,
    reasoning: Reasoning = "keep",
    template: str = "",
) -> int:
    """Answer each conversation's open turns in order, and append the answers to `out` batch by
    batch; returns the number of records in it.

    Prompts of similar length share a batch, so the output is sorted by length. `template` is the
    tokenizer's chat template if that is not its own. Raises InputError if `out` holds anything but
    the first of the same answers, and then does not change it; and for penalties, which do not act
    here.
    """
    if params.sampling.penalizes:
        raise InputError("answers are distilled without penalties: leave them out")
    open_turns = sorted(conversations, key=_characters)
    sampling = params.sampling
    temperature, top_p = sampling.temperature, sampling.top_p
    made = [target_digest(model), open_turns, params.max_new_tokens, temperature]
    # The random numbers of a prompt depend on its batch.
    made += [batch_size, seed] if temperature else []
    made += [top_p] if top_p < 1 else []
    made += [sampling.top_k, sampling.min_p] if sampling.top_k or sampling.min_p else []
    made += [template] if template else []
    made_by = digest(made + ([reasoning] if reasoning == "drop" else []))
    lines = lines_so_far(out, made_by, len(open_turns))
    whole = len(lines) == len(open_turns)
    first = len(lines) if whole else len(lines) - len(lines) % batch_size
    keep_only(out, lines[:first])
    marks = {"vocabulary": vocabulary_digest(tokenizer), "made_by": made_by}
    progress = Progress(first, len(open_turns))
    lean = lean_forward_of(model)
    with out.open("a", encoding="utf-8") as file:
        for start in range(first, len(open_turns), batch_size):
            generator = torch.Generator(model.device).manual_seed(seed * 1_000_003 + start)
            batch = open_turns[start : start + batch_size]
            answered = answer(
                model, tokenizer, batch, params, generator, reasoning, progress.report_unfinished,
                lean,
            )  # fmt: skip
            file.write("".join(json.dumps(record | marks) + "\n" for record in answered))
            file.flush()
            progress.add(len(batch), sum(record["tokens"] for record in answered))
    return len(open_turns)


def _characters(conversation: Conversation) -> int:
    history, turns = conversation
    return sum(len(message["content"]) for message in history) + sum(map(len, turns))
