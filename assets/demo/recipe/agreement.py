"""How often a draft model's first choice is the target's, along the target's own greedy answers.

    python -m assets.demo.recipe.agreement --target DIR --draft DIR --answers FILE.jsonl

`FILE` holds the target's greedy answers (see distill.py). The tokens per pass are those of greedy
speculation with a chain of gamma drafted tokens, the bonus token included.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

import torch
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from assets.demo.recipe.stream import answer_mask, encode, turn_ids
from decoding.jsonl import Record, jsonl_lines


def tokens_per_pass(matches: Sequence[bool], gamma: int) -> tuple[int, int]:
    """(tokens, passes) of greedy speculation over one answer.

    On the target's path the draft sees what the target sees, so `matches` says all: a round accepts
    the matches that follow, at most gamma of them, and adds one token of the target's.
    """
    position = passes = 0
    while position < len(matches):
        accepted = 0
        while accepted < gamma and position < len(matches) and matches[position]:
            accepted, position = accepted + 1, position + 1
        position, passes = position + 1, passes + 1
    return len(matches), passes


@torch.no_grad()
def matches_of(
    target: PreTrainedModel, draft: PreTrainedModel, ids: list[int], assistant: int, end: int
) -> list[list[bool]]:
    """For each answer in the ids: where the draft's argmax is the target's."""
    row = torch.tensor([ids[: target.config.max_position_embeddings]])
    mask = answer_mask(row, assistant, end)[0, 1:]
    same = (target(row).logits.argmax(-1) == draft(row).logits.argmax(-1))[0, :-1]
    answers: list[list[bool]] = [[]]
    for inside, equal in zip(mask.tolist(), same.tolist(), strict=True):
        if inside:
            answers[-1].append(equal)
        elif answers[-1]:
            answers.append([])
    return [answer for answer in answers if answer]


def agreement(
    target: PreTrainedModel,
    draft: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    records: Iterable[Record],
    gamma: int = 4,
) -> dict[str, float]:
    """Agreement over all answer tokens and by position in the answer, and tokens per pass."""
    assistant, end = turn_ids(tokenizer)
    hits: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    tokens = passes = 0
    for record in records:
        for answer in matches_of(target, draft, encode(record, tokenizer), assistant, end):
            # The first token comes from the prefill; speculation starts after it.
            drafted, rounds = tokens_per_pass(answer[1:], gamma)
            tokens, passes = tokens + drafted, passes + rounds
            for i, equal in enumerate(answer):
                for name in ("all", f"from {min(64, i // 16 * 16)}"):
                    hits[name][0] += equal
                    hits[name][1] += 1
    result = {f"agreement, {name}": a / n for name, (a, n) in hits.items()}
    return {
        **result,
        "tokens": hits["all"][1],
        f"tokens per pass, gamma {gamma}": tokens / max(1, passes),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", required=True)
    parser.add_argument("--draft", required=True)
    parser.add_argument("--answers", type=Path, required=True)
    parser.add_argument("--gamma", type=int, default=4)
    args = parser.parse_args()
    tokenizer = AutoTokenizer.from_pretrained(args.target)
    target, draft = (
        AutoModelForCausalLM.from_pretrained(name, dtype=torch.float32)
        for name in (args.target, args.draft)
    )
    answers = (record for _, record in jsonl_lines(args.answers))
    result = agreement(target, draft, tokenizer, answers, args.gamma)
    print(json.dumps({name: round(value, 4) for name, value in result.items()}, indent=1))


if __name__ == "__main__":
    main()
