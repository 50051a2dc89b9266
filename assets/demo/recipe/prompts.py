"""The questions that the target answers for its drafters to learn from.

    python -m assets.demo.recipe.prompts --data OUT/corpus/train.jsonl --out OUT/prompts.jsonl

Conversations of a corpus that the target was not trained on, the app's examples as different people
type them, and long conversations joined from the rest: drafters that have seen none guess badly
where a conversation has filled half of the context.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from app.models.assets import examples
from decoding.jsonl import Record, jsonl_lines

LONG_TURNS = 6


def asked(record: Record) -> list[str]:
    """The user's turns of a conversation."""
    return [message["content"] for message in record["messages"] if message["role"] == "user"]


def spellings(question: str) -> list[str]:
    """A question with and without its capital letter and its mark."""
    bare = question.rstrip("?.!")
    return list(dict.fromkeys((question, question.lower(), bare, bare.lower())))


def questions(records: Sequence[Record], count: int, long: int) -> Iterator[list[str]]:
    """`count` conversations, the examples, and `long` conversations of LONG_TURNS turns, or as many
    as there are turns for."""
    yield from map(asked, records[:count])
    for example in examples():
        yield from ([typed] for turn in example.turns for typed in spellings(turn))
    rest = (turn for record in records[count:] for turn in asked(record))
    for _ in range(long):
        if turns := list(islice(rest, LONG_TURNS)):
            yield turns


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--count", type=int, default=2300)
    parser.add_argument("--long", type=int, default=200)
    args = parser.parse_args()
    records = [record for _, record in jsonl_lines(args.data)]
    with args.out.open("w", encoding="utf-8") as out:
        for turns in questions(records, args.count, args.long):
            messages = [{"role": "user", "content": turn} for turn in turns]
            out.write(json.dumps({"messages": messages}, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
