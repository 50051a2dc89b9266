"""Write the corpus: what the demo family is trained on, what it is measured on, and prompts alone.

    python -m assets.demo.recipe.corpus.build --out OUT [--conversations 200000] [--real FILE ...]
        [--share SOURCE=PERCENT ...] [--joined FIRST AGAIN]

`OUT/train.jsonl` holds conversations in OpenAI chat form, `OUT/heldout.jsonl` some that training
never sees (reserved wordings, stories and sums), each with its `category`. The same options give
the same files, byte for byte.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from assets.demo.recipe.corpus import (
    amended,
    arithmetic,
    asked,
    brief,
    called,
    chatting,
    claims,
    code,
    code_turns,
    compared,
    copying,
    counted,
    deducing,
    definitions,
    effects,
    exact,
    facts,
    figures,
    first,
    grammar,
    knowledge,
    leaning,
    lists,
    logic,
    manners,
    mending,
    named,
    naming,
    odd,
    pairs,
    particulars,
    passages,
    personal,
    plainer,
    random_text,
    recall,
    reckoning,
    retold,
    rewriting,
    rhymes,
    rhyming,
    short,
    small,
    stories,
    subject,
    tables,
    thesaurus,
    told,
    trait_verse,
    turns,
    unknown,
    verse,
    wished,
    wordplay,
)
from assets.demo.recipe.corpus.text import Conversation

Sample = Callable[[random.Random, bool], Conversation]

RECIPE = Path(__file__).parent.parent
# The lists of first prompts by which a version was judged.
JUDGED = (3, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17)
LONGEST = 3000  # characters of a message: longer ones do not fit the context

# How often there is a conversation about something else before one, and before two or more that
# have been joined so: people ask one thing after another, up to the end of the context.
JOINED = (0.2, 0.5)

# Weights of the sources among the conversations. Stories are four times as long as the others.
SOURCES: dict[str, tuple[float, Sample]] = {
    "first": (44, first.sample),
    "subject": (20, subject.sample),
    "facts": (24, facts.sample),
    "definitions": (13, definitions.sample),
    "called": (10, called.sample),
    "stories": (2.5, stories.sample),
    "named": (6.5, named.sample),
    "particulars": (5, particulars.sample),
    "told": (10, told.sample),
    "wished": (14, wished.sample),
    "pairs": (2, pairs.sample),
    "rhymes": (4, rhymes.sample),
    "verse": (7, verse.sample),
    "trait_verse": (6, trait_verse.sample),
    "small": (9, small.sample),
    "arithmetic": (9, arithmetic.sample),
    "reckoning": (14, reckoning.sample),
    "wordplay": (5, wordplay.sample),
    "rhyming": (6, rhyming.sample),
    "thesaurus": (6, thesaurus.sample),
    "grammar": (6, grammar.sample),
    "tables": (5, tables.sample),
    "lists": (2.5, lists.sample),
    "naming": (8, naming.sample),
    "amended": (8, amended.sample),
    "turns": (8, turns.sample),
    "logic": (5, logic.sample),
    "deducing": (4, deducing.sample),
    "code": (3, code.sample),
    "code_turns": (4, code_turns.sample),
    "manners": (3, manners.sample),
    "personal": (6, personal.sample),
    "recall": (6, recall.sample),
    "chatting": (20, chatting.sample),
    "unknown": (9, unknown.sample),
    "copying": (8, copying.sample),
    "exact": (9, exact.sample),
    "mending": (8, mending.sample),
    "retold": (8, retold.sample),
    "plainer": (6, plainer.sample),
    "rewriting": (12, rewriting.sample),
    "passages": (5, passages.sample),
    "short": (6, short.sample),
    "leaning": (9, leaning.sample),
    "odd": (2, odd.sample),
    "brief": (10, brief.sample),
    "knowledge": (12, knowledge.sample),
    "asked": (14, asked.sample),
    "effects": (7, effects.sample),
    "claims": (3, claims.sample),
    "compared": (4, compared.sample),
    "counted": (2, counted.sample),
    "figures": (2, figures.sample),
    "random": (0.4, random_text.sample),
}


@cache
def judged() -> frozenset[str]:
    """The prompts of strangers by which the model is judged: what is written here for no answer
    of its own is not trained by chance either."""
    files = (RECIPE / f"first_prompts_{number}.jsonl" for number in JUDGED)
    lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    records = [json.loads(line) for line in lines]
    turns = [turn for record in records for turn in record.get("turns") or [record["prompt"]]]
    return frozenset(map(unknown.plain, turns)) - unknown.TAUGHT


def _spoils(messages: Conversation) -> bool:
    return any(unknown.plain(message["content"]) in judged() for message in messages[::2])


def conversations(
    count: int,
    seed: int,
    held_out: bool = False,
    shares: Mapping[str, float] | None = None,
    joined: Sequence[float] = JOINED,
) -> Iterator[dict[str, object]]:
    """`shares` replaces some of the weights in SOURCES, `joined` the shares of JOINED."""
    rng = random.Random(f"{seed}/{held_out}")
    weights = {name: weight for name, (weight, _) in SOURCES.items()} | dict(shares or {})
    names, by = list(SOURCES), [weights[name] for name in SOURCES]
    for name in rng.choices(names, by, k=count):
        while _spoils(messages := SOURCES[name][1](rng, held_out)):
            pass
        likely, again = (0.0, 0.0) if held_out else joined
        while rng.random() < likely:
            (other,) = rng.choices(names, by)
            while _spoils(before := SOURCES[other][1](rng, held_out)):
                pass
            messages, likely = [*before, *messages], again
        yield {"category": name, "messages": messages}


def real_texts(files: list[Path], seed: int) -> Iterator[dict[str, object]]:
    """Conversations of other people's making, such as tales in the public domain."""
    for file in files:
        opener = gzip.open if file.suffix == ".gz" else open
        with opener(file, "rt", encoding="utf-8") as lines:
            for line in lines:
                record = json.loads(line)
                messages = record.get("messages", [])
                if messages and all(len(message["content"]) < LONGEST for message in messages):
                    yield {"category": "real", "messages": messages}


def parse_share(text: str) -> tuple[str, float]:
    """`stories=12` -> ("stories", 12.0)."""
    name, _, percent = text.partition("=")
    if name not in SOURCES:
        raise argparse.ArgumentTypeError(f"no source {name!r}; there are {', '.join(SOURCES)}")
    return name, float(percent)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--conversations", type=int, default=200_000)
    parser.add_argument("--held-out", type=int, default=2_000)
    parser.add_argument("--real", type=Path, nargs="*", default=[], metavar="FILE")
    parser.add_argument("--real-repeat", type=int, default=16)
    parser.add_argument(
        "--share", type=parse_share, nargs="*", default=[], metavar="SOURCE=PERCENT",
        help="other shares of the training text, as for the last part of a training",
    )  # fmt: skip
    parser.add_argument(
        "--joined", type=float, nargs=2, default=JOINED, metavar=("FIRST", "AGAIN"),
        help="how often another conversation goes before one, and before those that were joined; "
        "0.12 0.9 fills half of the text with long ones (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    sizes: Counter[str] = Counter()
    for name, records in (
        ("heldout", conversations(args.held_out, args.seed, held_out=True)),
        (
            "train",
            conversations(
                args.conversations, args.seed, shares=dict(args.share), joined=args.joined
            ),
        ),
    ):
        with (args.out / f"{name}.jsonl").open("w", encoding="utf-8") as out:
            for record in records:
                line = json.dumps(record, ensure_ascii=False)
                sizes[f"{name}/{record['category']}"] += len(line)
                out.write(line + "\n")
            if name == "train":
                for record in list(real_texts(args.real, args.seed)) * args.real_repeat:
                    line = json.dumps(record, ensure_ascii=False)
                    sizes["train/real"] += len(line)
                    out.write(line + "\n")
    total = sum(size for key, size in sizes.items() if key.startswith("train/"))
    for key, size in sorted(sizes.items()):
        if key.startswith("train/"):
            print(f"{key:20} {size / 1e6:7.1f} MB {size / total:6.1%}")


if __name__ == "__main__":
    main()
