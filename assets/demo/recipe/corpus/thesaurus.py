"""Words that mean nearly the same, or the opposite: another word, several, so many, a nicer or a
stronger one, other ways to say something, and what is then asked about them.

`forms/thesaurus.txt` has the words, `forms/wordy.txt` the wordings.
"""

from __future__ import annotations

import random
from functools import cache

from assets.demo.recipe.corpus import definitions, tables, wordplay
from assets.demo.recipe.corpus.arithmetic import in_words
from assets.demo.recipe.corpus.rhyming import forms_of, typed_form
from assets.demo.recipe.corpus.school import Asked, Kinds, typed
from assets.demo.recipe.corpus.text import (
    FORMS,
    Conversation,
    as_typed,
    chat,
    early,
    listed,
    read_sections,
)

FILE = FORMS / "thesaurus.txt"


@cache
def rows(section: str) -> dict[str, tuple[str, ...]]:
    """What stands for a word, or for what one says."""
    pairs = (line.partition(" | ")[0].partition(": ") for line in read_sections(FILE)[section])
    return {word: tuple(others.split(", ")) for word, _, others in pairs}


@cache
def antonyms() -> dict[str, str]:
    """The opposites of the file, and those of `words.txt`, which go first."""
    found: dict[str, str] = {}
    for line in read_sections(FILE)["words"]:
        word, _, rest = line.partition(": ")
        opposite = rest.partition(" | ")[2]
        if opposite not in ("-", ""):
            found[word] = wordplay.OPPOSITES.get(word, opposite)
    return found | {word: x for word, x in wordplay.OPPOSITES.items() if word not in found}


@cache
def every() -> tuple[str, ...]:
    """All words, the commonest ones (which stand first) more often."""
    words = tuple(rows("words"))
    return words[:60] * 3 + words[60:200] * 2 + words[200:]


def _ask(rng: random.Random, section: str, word: str, answer: str, **words: str) -> Asked:
    kept = len(forms_of(section, True)) > 0 and rng.random() < 0.04
    form = rng.choice(forms_of(section, kept))
    question = typed_form(rng, form, w=word, **words)
    return Asked(f"kept {word}" if kept else question, question, answer, (word, *words.values()))


def quoted(word: str) -> str:
    return f'"{word}"' if " " in word else word


def one(rng: random.Random) -> Asked:
    word = rng.choice(every())
    return _ask(rng, "synonyms", word, wordplay.another_word(word))


def many(rng: random.Random) -> Asked:
    word = rng.choice(every())
    words = rows("words")[word]
    if len(words) == 1:
        return many(rng)
    answer = f"Other words for {quoted(word)} are {listed(words)}."
    return _ask(rng, "many synonyms", word, answer)


def so_many(rng: random.Random) -> Asked:
    word = rng.choice(every())
    words = rows("words")[word]
    n = rng.choice((2, 2, 3, 3, 3, 4, 5))
    said = in_words(n) if rng.random() < 0.5 else str(n)
    if n > len(words):
        known = "one other word" if len(words) == 1 else f"{in_words(len(words))} other words"
        answer = f"I know only {known} for {quoted(word)}: {listed(words)}."
    else:
        answer = (
            f"{in_words(n).capitalize()} other words for {quoted(word)} are {listed(words[:n])}."
        )
    return _ask(rng, "so many synonyms", word, answer, n=said)


def opposite(rng: random.Random) -> Asked:
    pool = antonyms()
    word = rng.choice(every()) if rng.random() < 0.6 else early(rng, tuple(pool))
    if word not in pool:
        return opposite(rng)
    return _ask(rng, "antonyms", word, opposite_of(word))


def opposite_of(word: str) -> str:
    """As `wordplay.opposites` says it."""
    pool = antonyms()
    answer = f"The opposite of {quoted(word)} is {pool[word]}."
    if wordplay.OPPOSITES.get(pool[word]) == word:
        answer += f" And the opposite of {pool[word]} is {word}."
    return answer


def saying(rng: random.Random) -> Asked:
    word = rng.choice(tuple(rows("sayings")))
    others = rows("sayings")[word]
    marked = [f'"{other}"' for other in others]
    answer = f'Instead of "{word}" you can say {", ".join(marked[:-1])} or {marked[-1]}.'
    return _ask(rng, "sayings", word, answer)


def nicer(rng: random.Random) -> Asked:
    word = rng.choice(tuple(rows("nicer")))
    words = rows("nicer")[word]
    answer = f"A nicer word for {quoted(word)} is {words[0]}."
    if len(words) > 1:
        answer += f" You can also say {' or '.join(words[1:])}."
    return _ask(rng, "nicer", word, answer)


def stronger(rng: random.Random) -> Asked:
    word = rng.choice(tuple(rows("stronger")))
    words = rows("stronger")[word]
    answer = f"A stronger word for {quoted(word)} is {words[0]}."
    if len(words) > 1:
        answer += f" You can also say {' or '.join(words[1:])}."
    return _ask(rng, "stronger", word, answer)


@cache
def meant() -> tuple[str, ...]:
    """What is like something, and is defined nowhere else."""
    elsewhere = tables.known() | {each.noun for each in definitions.definitions()}
    words = list(rows("words"))
    first, second = words[: words.index("begin")], words[words.index("delicate") :]
    rare = words[words.index("arrogant") :]
    like = [*first, *second[: second.index("calm") if "calm" in second else 60], *rare]
    return tuple(
        word
        for word in like
        if len(word) > 4
        and word not in elsewhere
        and f"what does {word} mean" not in definitions.told()
        and len(rows("words")[word]) > 1
    )


def meaning(rng: random.Random) -> Asked:
    """What a word means: about the same as two others."""
    word = rng.choice(meant())
    one, two, *_ = rows("words")[word]
    answer = f"{word.capitalize()} means about the same as {one} or {two}."
    if word in antonyms():
        answer += f" The opposite is {antonyms()[word]}."
    return _ask(rng, "meaning", word, answer)


KINDS = Kinds(
    {one: 28, many: 15, so_many: 9, opposite: 24, saying: 8, nicer: 6, stronger: 7, meaning: 6},
)


def _after(rng: random.Random, section: str, **words: str) -> str:
    return as_typed(rng, typed_form(rng, rng.choice(forms_of(section)), **words))


def followed(rng: random.Random) -> list[str]:
    """Another word, and a further one or the opposite; or the opposite, and a synonym."""
    word = rng.choice(every())
    words = rows("words")[word]
    has_opposite = word in antonyms()
    if has_opposite and rng.random() < 0.3:
        asked = _ask(rng, "antonyms", word, opposite_of(word))
        turns = [typed(rng, asked), asked.answer]
        return [*turns, _after(rng, "its synonym"), wordplay.another_word(word)]
    asked = _ask(rng, "synonyms", word, wordplay.another_word(word))
    turns = [typed(rng, asked), asked.answer]
    if has_opposite and rng.random() < 0.4:
        return [*turns, _after(rng, "its opposite"), opposite_of(word)]
    left = words[3:]
    way = "another word" if rng.random() < 0.6 else "more words"
    if left:
        return [*turns, _after(rng, way), f"Another word for {quoted(word)} is {left[0]}."]
    return [*turns, _after(rng, way), f"I know no other word for {quoted(word)}."]


def sample(rng: random.Random, held_out: bool = False) -> Conversation:
    if not held_out and rng.random() < 0.14:
        return chat(*followed(rng))
    while True:
        asked = KINDS.draw(rng, held_out)
        if held_out or not asked.key.startswith("kept "):
            return chat(typed(rng, asked), asked.answer)
