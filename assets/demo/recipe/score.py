"""Score a demo target on what it was never trained on: reserved wordings, sums, unknown questions.

    python -m assets.demo.recipe.score --target DIR --data OUT/heldout.jsonl [--per-category 40]
        [--prompts FILE.jsonl] [--temperature 0.8] [--show 3]

Prints one JSON line a category: how many answers end by themselves, how many fall into a loop, and
where right and wrong can be told apart, how many are right. A sum is right if it ends in the
reference's number, a fact or an explanation if nine tenths of it are in the order of one of the
taught answers, a question that cannot be known if the answer says so. `--prompts` answers a list of
prompts instead and prints them to be read: `{"prompt": ...}` or `{"turns": [...]}` a line.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from assets.demo.recipe.answers import open_turns
from assets.demo.recipe.corpus.text import ANSWERS, read_topics
from decoding.params import Params, SamplingParams
from decoding.training.data import Record
from decoding.training.distill import answer

BATCH = 32
DOES_NOT_KNOW = re.compile(
    r"(?:do|did|does|have|could|can|was|am|is|will|would)(?: not|n't)\b"
    r"|cannot|\bnever\b|\bonly\b|\bno idea\b|\bnothing about\b|\bbeyond me\b"
    r"|\btoo (?:big|large|hard|long)\b",
    re.IGNORECASE,
)


def loops(text: str, length: int = 8, times: int = 3) -> bool:
    """Whether some `length` words in a row stand in the text `times` times."""
    words = text.split()
    seen: dict[tuple[str, ...], int] = defaultdict(int)
    for start in range(len(words) - length + 1):
        key = tuple(words[start : start + length])
        seen[key] += 1
        if seen[key] >= times:
            return True
    return False


def same_number(said: str, reference: str) -> bool:
    """Both end in the same number."""
    ours, theirs = (re.findall(r"-?\d+", text) for text in (said, reference))
    return bool(theirs) and ours[-1:] == theirs[-1:]


def says_one_of(said: str, answers: Sequence[str]) -> bool:
    words = said.split()
    return any(SequenceMatcher(None, words, each.split()).ratio() >= 0.9 for each in answers)


class Judge:
    """Right or wrong, by category; None where only a reader can tell."""

    def __init__(self) -> None:
        self._answers: dict[str, tuple[str, ...]] = {}
        for path in ANSWERS.glob("*.txt"):
            for topic in read_topics(path):
                for each in topic.answers:
                    self._answers[each] = topic.answers

    def right(self, category: str, said: str, reference: str) -> bool | None:
        if category == "arithmetic":
            return same_number(said, reference)
        if category in ("facts", "subject"):
            return says_one_of(said, self._answers.get(reference, (reference,)))
        if category == "unknown":
            return DOES_NOT_KNOW.search(said) is not None
        if category == "copying":
            return said.strip() == reference.strip()
        return None


def answered(
    target: Path, records: Sequence[Record], temperature: float, longest: int
) -> Iterator[tuple[Record, Record]]:
    """Each record with the model's own answer to its last user turn."""
    model = AutoModelForCausalLM.from_pretrained(target, dtype=torch.float32).eval()
    tokenizer = AutoTokenizer.from_pretrained(target)
    params = Params(SamplingParams(temperature), max_new_tokens=longest)
    asked = [open_turns(record) for record in records]
    yield from zip(records, answer(model, tokenizer, asked, params, BATCH), strict=True)


def held_out(path: Path, per_category: int) -> list[Record]:
    """The first conversations of each category, shortest last turns and all."""
    taken: dict[str, list[Record]] = defaultdict(list)
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            if len(taken[record["category"]]) < per_category:
                taken[record["category"]].append(record)
    return [record for records in taken.values() for record in records]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", type=Path, required=True)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--prompts", type=Path)
    parser.add_argument("--per-category", type=int, default=40)
    parser.add_argument("--temperature", type=float, default=0.0)
    parser.add_argument("--max-new-tokens", type=int, default=320)
    parser.add_argument("--show", type=int, default=0, help="answers a category to be read")
    args = parser.parse_args()
    if args.prompts:
        lines = args.prompts.read_text(encoding="utf-8").splitlines()
        records = [json.loads(line) for line in lines if line.strip()]
    else:
        records = held_out(args.data, args.per_category)
    judge = Judge()
    counts: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for record, given in answered(args.target, records, args.temperature, args.max_new_tokens):
        category = record.get("category", "prompts")
        said, tally = given["messages"][-1]["content"], counts[category]
        tally["answers"] += 1
        tally["ended"] += given["finish_reason"] == "stop"
        tally["loops"] += loops(said)
        tally["words"] += len(said.split())
        right = None
        if "messages" in record and record["messages"][-1]["role"] == "assistant":
            right = judge.right(category, said, record["messages"][-1]["content"])
        if right is not None:
            tally["right"] += right
            tally["judged"] += 1
        if args.prompts or tally["answers"] <= args.show:
            mark = {True: " [right]", False: " [wrong]", None: ""}[right]
            texts = [message["content"] for message in given["messages"]]
            turns = zip(texts[::2], texts[1::2], strict=True)
            print("\n\n".join(f"> {asked}\n{said}" for asked, said in turns) + f"{mark}\n")
    for category, tally in counts.items():
        print(json.dumps({"category": category, **tally}))


if __name__ == "__main__":
    main()
