"""Stories with two heroes: brothers, sisters, friends, or two of any kind.

The plots (`story_data/pairs.txt`) are written like those of `plots`, but tell of `{A}` and `{B}`,
two `{kin}`; `clause:` has what a request may say of them.
"""

from __future__ import annotations

import random
import re
from functools import cache
from zlib import crc32

from assets.demo.recipe.corpus.plots import (
    DATA,
    Plot,
    asked_name,
    hero_nouns,
    place_rows,
    read_plot,
    render,
)
from assets.demo.recipe.corpus.stories import RESERVED_ONE_IN
from assets.demo.recipe.corpus.tales import title_of
from assets.demo.recipe.corpus.text import (
    Conversation,
    chat,
    listed,
    mostly_first,
    typed_with,
    with_article,
)
from assets.demo.recipe.corpus.wordplay import plural_of

# What two of a kind are called, and who they are.
KIN = (
    ("brothers", "he", "he"), ("brothers", "he", "he"), ("sisters", "she", "she"),
    ("sisters", "she", "she"), ("friends", "he", "she"), ("friends", "she", "she"),
    ("friends", "he", "he"), ("children", "he", "she"), ("twins", "she", "he"),
    ("boys", "he", "he"), ("girls", "she", "she"), ("cousins", "she", "he"),
    ("siblings", "she", "he"), ("neighbours", "he", "she"), ("princesses", "she", "she"),
    ("kids", "she", "he"),
)  # fmt: skip
MIXED = (
    "a brother and a sister",
    "a boy and a girl",
    "a boy and his sister",
    "a girl and her brother",
)
ASKS = (
    "Tell me a {kind}story about {two}.", "Write a {kind}story about {two}.",
    "A {kind}story about {two}", "{kind}story about {two}", "a {kind}story about {two} pls",
    "Write me a {kind}story about {two}.", "Can you tell me a {kind}story about {two}?",
    "Make up a {kind}story about {two}.", "I want a {kind}story about {two}.",
    "Please write a {kind}story about {two}.", "Tell a {kind}story about {two}, please.",
    "A {kind}story with {two}, please.", "Once upon a time there were {two}",
    "Tell us a {kind}tale about {two}.", "Write a {kind}fairy tale about {two}.",
)  # fmt: skip
RESERVED_ASKS = (
    "Please tell a {kind}story of {two}.", "How about a {kind}story with {two}?",
)  # fmt: skip
BEGINNINGS = (
    "Once upon a time, there were", "Once upon a time, there were", "There once were",
    "Once there were",
)  # fmt: skip
WAYS = ("", "", "", "", "short ", "short ", "tiny ", "little ", "bedtime ", "funny ", "nice ")


@cache
def plots() -> tuple[Plot, ...]:
    text = (DATA / "pairs.txt").read_text(encoding="utf-8")
    return tuple(read_plot(block) for block in re.split(r"^# ", text, flags=re.MULTILINE)[1:])


def sample(rng: random.Random, held_out: bool = False) -> Conversation:
    """A request for a story about two, and the story."""
    while True:
        reserved_wording = held_out and rng.random() < 0.2
        request, answer, key = _told(rng, RESERVED_ASKS if reserved_wording else ASKS)
        if held_out == (reserved_wording or crc32(key.encode()) % RESERVED_ONE_IN == 0):
            return chat(request, answer)


def _told(rng: random.Random, asks: tuple[str, ...]) -> tuple[str, str, str]:
    """A request, the story, and what of them may be kept back."""
    plot = rng.choice(plots())
    kin, one, other = rng.choice(KIN)
    if rng.random() < 0.2:
        kin = plural_of(rng.choice(hero_nouns("animal", "fantasy", "adult")))
    two = "twins" if kin == "twins" else f"two {kin}"
    if (
        {one, other} == {"he", "she"}
        and rng.random() < 0.3
        and kin in ("siblings", "children", "twins")
    ):
        two = rng.choice(MIXED)
    a, b = asked_name(rng, one), asked_name(rng, other)
    while a[0] == b[0]:
        b = asked_name(rng, other)
    row = rng.choice([row for row in place_rows() if row[5] not in ("under", "asked")])
    context = {
        "A": a, "B": b, "kin": kin, "where": row[2], "along": row[3], **_drawn(rng, plot),
    }  # fmt: skip
    asked = two
    if rng.random() < 0.4:
        asked += rng.choice((" named ", " named ", " called ", ", ")) + listed((a, b))
    if plot.clauses and rng.random() < 0.75:
        asked += f" {render(rng.choice(plot.clauses), context, rng)}"
    way = rng.choice(WAYS)
    asks = tuple(ask for ask in asks if not way or "{kind}" in ask)
    request = rng.choice(asks).replace("{kind}", way).replace("{two}", asked)
    key = f"{kin}/{plot.name}/{a}"
    if way == "tiny ":
        request = typed_with(rng, request, a, b)
        return request, render(mostly_first(rng, plot.shorts), context, rng), key
    lines = [f"{rng.choice(BEGINNINGS)} {two} named {a} and {b} who lived {context['where']}."]
    for beat in plot.beats:
        lines.append(render(mostly_first(rng, beat.forms), context, rng))
    middle = len(lines) // 2
    text = " ".join(lines)
    if way != "short ":
        text = f"{' '.join(lines[:middle])}\n\n{' '.join(lines[middle:])}"
    if request.startswith("Write") and rng.random() < 0.5:
        text = f"{title_of(rng, plot, context)}\n\n{text}"
    return typed_with(rng, request, a, b), text, key


def _drawn(rng: random.Random, plot: Plot) -> dict[str, str]:
    """What the plot lets be chosen, with its article."""
    found = {}
    for let, entries in plot.lets.items():
        for number, value in enumerate(rng.choice(entries), start=1):
            found[let + (str(number) if number > 1 else "")] = render(value, {}, rng)
        found[f"a_{let}"] = with_article(found[let])
    return found
