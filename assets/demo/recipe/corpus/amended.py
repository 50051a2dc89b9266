"""Wishes that change: what is taken back in the middle of a message or right after the answer, and
lists that are changed step by step.

A message that names one thing and then another ("what is the capital of France, no, of Spain") is
answered for the last one alone. A list, named by the model or given by the user, is sorted,
turned round, made longer and shorter, one of its things replaced, two of them swapped: all that
stays has to be copied, none may get lost. The things come from many kinds, so that no list is
learned by heart.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from functools import cache

from assets.demo.recipe.corpus import (
    arithmetic,
    definitions,
    facts,
    named,
    naming,
    subjects,
    thesaurus,
    wished,
    wordplay,
)
from assets.demo.recipe.corpus.arithmetic import in_words
from assets.demo.recipe.corpus.school import Asked, reserved
from assets.demo.recipe.corpus.text import (
    Conversation,
    alternative,
    chat,
    early,
    listed,
    sentence,
    typed_with,
    with_article,
)

# --- taken back ----------------------------------------------------------------------------------

# Between the first thing and the one that is meant.
BUT = (
    "... no wait, ",
    "... no, wait, ",
    ", no wait, ",
    ", no, I meant ",
    ", no i mean ",
    ", i mean ",
    ", sorry, ",
    " - sorry, ",
    ", sorry I meant ",
    ", oops, ",
    ", no, ",
    "? No, ",
    "... no, ",
    ", actually ",
    " no ",
    ", ah no, ",
    ", scratch that, ",
    ", make that ",
    ", or rather ",
    "... hmm, no, ",
    ", wrong, ",
    ", uh, ",
    ", I meant to say ",
    " wait no ",
    ". Sorry, ",
    ". I mean ",
    "... wait, ",
    ", oh no, ",
    ", not that, ",
    ", correction: ",
    " sorry i mean ",
)
BUT_KEPT = (", no hold on, ", ", or no, better ")
# Between a whole question and another.
ANEW = (
    "... no wait, {q}",
    ". No, wait: {q}",
    " - actually no, {q}",
    ". Forget it, {q}",
    ". Oh no, {q}",
    "? never mind. {q}",
    "... sorry, I mean: {q}",
    ". Sorry, wrong question. {q}",
    "... no. {q}",
    ". Or better: {q}",
    " hmm no, {q}",
    ". Scratch that. {q}",
    "... ah, forget that, {q}",
    ". No, first: {q}",
    ". Wait, I meant: {q}",
    ". No no, {q}",
    " ... or rather {q}",
    ". Sorry, not that. {q}",
    ", ignore that, {q}",
)
# After an answer.
THEN = (
    "no, I meant {y}",
    "sorry, I meant {y}",
    "no, {y}",
    "oops, I meant {y}",
    "not {x}, {y}",
    "i meant {y}",
    "no not {x}, {y}!",
    "sorry, not {x} but {y}",
    "wrong, I wanted {y}",
    "I said {x} but I meant {y}",
    "ah sorry, {y}",
    "I meant {y}, not {x}",
    "{y}, sorry",
    "wait, I meant {y}",
    "not {x}. {y}",
    "no no, {y}",
    "i mean {y} of course",
    "typo, I meant {y}",
)


@cache
def capitals() -> dict[str, str]:
    return {row[0]: f"The capital of {row[0]} is {row[1]}." for row in facts.rows(facts.COUNTRIES)}


@cache
def foods() -> dict[str, str]:
    return {row[1]: f"{sentence(row[1])} eat {row[3]}." for row in facts.animals()}


@cache
def things() -> dict[str, str]:
    return {x.one: x.text for x in definitions.definitions()}


@cache
def opposites() -> dict[str, str]:
    return {word: thesaurus.opposite_of(word) for word in thesaurus.antonyms()}


@cache
def synonyms() -> dict[str, str]:
    return {word: wordplay.another_word(word) for word in thesaurus.rows("words")}


@cache
def rhymes() -> dict[str, str]:
    return {word: wordplay.rhyming(word) for word in wordplay.RHYMES}


@cache
def plurals() -> dict[str, str]:
    found = {}
    for word, many in {**wordplay.REGULAR, **wordplay.PLURALS}.items():
        more = f"One {word}, two {many}."
        if many == word:
            more = f"The word stays the same: one {word}, two {many}."
        found[word] = f"The plural of {word} is {many}. {more}"
    return found


@cache
def sounds() -> dict[str, str]:
    found = {}
    for name, verb, sound in wordplay.SOUNDS:
        found[with_article(name)] = f"{sentence(with_article(name))} {verb}. It says {sound}."
    return found


@cache
def babies() -> dict[str, str]:
    found = {}
    for name, young in wordplay.BABIES.items():
        text = f"A baby {name} is called {with_article(young)}."
        if name in wordplay.HOMES:
            text += (
                f" {sentence(with_article(name))} lives in {with_article(wordplay.HOMES[name])}."
            )
        found[name] = text
    return found


# What is asked, with the things and answers, and how often.
FRAMES: tuple[tuple[Callable[[], dict[str, str]], float, tuple[str, ...]], ...] = (
    (
        capitals,
        10,
        (
            "what is the capital of {x}",
            "capital of {x}",
            "whats the capital of {x}",
            "tell me the capital of {x}",
            "the capital of {x}",
            "which city is the capital of {x}",
            "do you know the capital of {x}",
            "name the capital of {x}",
        ),
    ),
    (
        things,
        16,
        (
            "what is {x}",
            "explain {x}",
            "explain briefly what {x}",
            "tell me what {x}",
            "what is {x}",
            "can you explain {x}",
            "tell me about {x}",
            "describe {x}",
            "explain to me what {x}",
            "i want to know what {x}",
            "tell me what {x}",
        ),
    ),
    (
        opposites,
        10,
        (
            "what is the opposite of {x}",
            "opposite of {x}",
            "the opposite of {x}",
            "tell me the opposite of {x}",
            "antonym of {x}",
            "whats the opposite of {x}",
        ),
    ),
    (
        synonyms,
        8,
        (
            "another word for {x}",
            "what is another word for {x}",
            "a synonym for {x}",
            "synonym of {x}",
            "give me a synonym for {x}",
        ),
    ),
    (
        rhymes,
        7,
        (
            "what rhymes with {x}",
            "words that rhyme with {x}",
            "what words rhyme with {x}",
            "find rhymes for {x}",
            "tell me what rhymes with {x}",
        ),
    ),
    (
        plurals,
        5,
        (
            "what is the plural of {x}",
            "plural of {x}",
            "the plural of {x}",
            "how do you write the plural of {x}",
        ),
    ),
    (
        sounds,
        4,
        ("what sound does {x} make", "which sound does {x} make", "what does {x} say"),
    ),
    (
        babies,
        3,
        ("what is a baby {x} called", "what do you call a baby {x}", "name of a baby {x}"),
    ),
    (
        foods,
        7,
        (
            "what do {x} eat",
            "tell me what {x} eat",
            "what do {x} feed on",
            "do you know what {x} eat",
        ),
    ),
)


def _ends(text: str, mark: str) -> str:
    return text if text[-1] in ".?!" else text + mark


def _marked(rng: random.Random, text: str) -> str:
    asks = re.match(r"(?i)(what|which|do|can|how)", text)
    text = sentence(text) if rng.random() < 0.5 else text
    return text + "?" if asks and rng.random() < 0.5 else text


def frame(rng: random.Random) -> tuple[tuple[str, ...], str, str, dict[str, str]]:
    """Wordings, two things that they may ask about, and the answers."""
    of, _, forms = rng.choices(FRAMES, [weight for _, weight, _ in FRAMES])[0]
    answers = of()
    names = tuple(answers)
    one, other = early(rng, names), early(rng, names)
    if of is not things and rng.random() < 0.6:
        one, other = rng.choice(names), rng.choice(names)
    if one == other or answers[one] == answers[other]:
        return frame(rng)
    return forms, one, other, answers


def in_the_middle(rng: random.Random, kept: bool) -> Asked:
    """One thing, taken back, and another."""
    forms, one, other, answers = frame(rng)
    form = rng.choice(forms)
    but = rng.choice(BUT_KEPT if kept else BUT)
    head, _, tail = form.partition("{x}")
    if form.endswith("what {x}"):  # "what X is", where X may have broken off
        first, last = rng.choice((("", " is"), (" is", " is"), ("", " is")))
        what = "what " if rng.random() < 0.5 else ""
        if re.search("[^s]s$", other) and not other.startswith(("a ", "an ")):
            last = " are"
        text = f"{head}{one}{first}{but}{what}{other}{last}"
    elif rng.random() < 0.14 and not tail:
        text = f"{head}{one} {rng.choice(('sorry not', 'no, not', 'sorry, not'))} {one} but {other}"
    else:
        before = ""
        if head.endswith((" of ", " for ", " with ")) and rng.random() < 0.3:
            before = head.split()[-1] + " "
        text = f"{head}{one}{but}{before}{other}{tail}"
        if tail and rng.random() < 0.5:  # "what do cows eat, no, pigs"
            text = f"{head}{one}{tail}{but}{other}"
    return Asked(f"{one}/{other}", _marked(rng, text), answers[other], (one, other))


def afterwards(rng: random.Random) -> list[str]:
    """An answer, and then what was meant."""
    forms, one, other, answers = frame(rng)
    form = rng.choice([form for form in forms if not form.endswith("what {x}")])
    then = rng.choice(THEN).replace("{x}", one).replace("{y}", other)
    then = sentence(then) if rng.random() < 0.4 else then
    asked = typed_with(rng, _marked(rng, form.replace("{x}", one)), one)
    return [asked, answers[one], typed_with(rng, then, other), answers[other]]


def _anything(rng: random.Random) -> Asked:
    way = rng.random()
    if way < 0.2:
        return rng.choice((arithmetic.sums, arithmetic.differences, arithmetic.products))(rng)
    if way < 0.32:
        return thesaurus.one(rng)
    if way < 0.42:
        return wordplay.animals(rng)
    if way < 0.6:
        return naming.listing(rng)[0]
    forms, one, _, answers = frame(rng)
    form = rng.choice([form for form in forms if not form.endswith("what {x}")])
    text = form.replace("{x}", one)
    return Asked(text, _marked(rng, text), answers[one], (one,))


def anew(rng: random.Random) -> Asked:
    """A whole question, and instead of it another one."""
    first, second = _anything(rng), _anything(rng)
    if first.answer == second.answer or "\n" in first.question + second.question:
        return anew(rng)
    question = second.question
    joined = rng.choice(ANEW)
    inside = not joined.startswith((".", "?")) or ": " in joined or ", {q}" in joined
    # A sum keeps its letters.
    if inside and re.match(r"[A-Z][a-z]+ ", question) and not question.startswith("I "):
        question = question[0].lower() + question[1:]
    text = first.question.rstrip(" .?!") + joined.replace("{q}", question)
    return Asked(second.key, text, second.answer, (*first.keep, *second.keep))


def numbers(rng: random.Random) -> Asked:
    """A sum with another number, a list with another number or of another kind."""
    if rng.random() < 0.45:
        a, b, c = rng.randint(2, 60), rng.randint(2, 40), rng.randint(2, 40)
        if b == c:
            return numbers(rng)
        sign = rng.choice("++-")
        if sign == "-" and a < max(b, c):
            a += 40
        but = rng.choice([x for x in BUT if x != " no "])
        start = rng.choice(("what is ", "", "whats ", "", "calculate ", "how much is "))
        right = f"{c}" if rng.random() < 0.5 else f"{a} {sign} {c}"
        text = f"{start}{a} {sign} {b}{but}{right}"
        answer = arithmetic.solved(a, sign, c)
        return Asked(f"{a}{sign}{c}", _marked(rng, text), answer, (str(a), str(b), str(c)))
    groups = [x for x in naming.kinds() if x not in naming.UNCOUNTED and len(naming.kinds()[x]) > 5]
    first = (
        "animals",
        "fruits",
        "vegetables",
        "countries",
        "birds",
        "colours",
        "cities",
        "flowers",
    )
    group = rng.choice(first) if rng.random() < 0.5 else rng.choice(groups)
    n = rng.randint(2, min(6, len(naming.kinds()[group])))
    start = rng.choice(("name ", "list ", "give me ", "tell me ", "", "can you name ", "i need "))
    but = rng.choice([x for x in BUT if x not in (" no ", ", uh, ")])
    said = in_words if rng.random() < 0.5 else str
    if rng.random() < 0.5:
        wrong = rng.choice([x for x in range(2, 9) if x != n])
        if rng.random() < 0.5:
            text = f"{start}{said(wrong)} {group}{but}{said(n)}"
        else:
            text = f"{start}{said(wrong)}{but}{said(n)} {group}"
    else:
        wrong_group = rng.choice([x for x in first if x != group])
        text = f"{start}{said(n)} {wrong_group}{but}{group}"
    answer = naming.named(group, list(naming.kinds()[group][:n]))
    return Asked(f"{group}/{n}", _marked(rng, text), answer, (group,))


def story(rng: random.Random) -> Asked:
    """A story about somebody, no, somebody else."""
    wish = wished.drawn(rng)
    while wish.kind.startswith("all") and not wish.both:
        wish = wished.drawn(rng)
    asked = wished.request(rng, wish, False)
    right = wish.hero.plain
    wrong = named.some_hero(rng, "animal", "person")
    if right not in asked or wrong in asked:
        return story(rng)
    but = rng.choice([x for x in BUT if "that" not in x and x != " no "])
    text = asked.replace(right, f"{with_article(wrong)}{but}{right}", 1)
    return Asked(f"{wrong}/{right}", text, wished.told(wish), tuple(wished.kept_words(wish)))


# --- lists ---------------------------------------------------------------------------------------


@cache
def items_of() -> dict[str, tuple[str, ...]]:
    """Kinds of things that a user may list."""
    found: dict[str, tuple[str, ...]] = {}
    for group, items in naming.kinds().items():
        plain = tuple(x for x in items if len(x.split()) < 3 and re.fullmatch(r"[A-Za-z' -]+", x))
        if len(plain) > 6:
            found[group] = plain
    found["foods"] = tuple(x for x in named.nouns("foods") if " " not in x)
    found["things"] = tuple(x for x in named.nouns("things") if " " not in x)
    found["names"] = tuple(dict.fromkeys((*subjects.WOMEN, *subjects.MEN)))
    return found


GIVEN = (
    "my list: {l}",
    "Here is my list: {l}",
    "shopping list: {l}",
    "I have {l}",
    "my list is {l}",
    "remember this list: {l}",
    "these are my things: {l}",
    "list: {l}",
    "I need {l}",
    "keep this list: {l}",
    "to buy: {l}",
    "we invited {l}",
    "note this down: {l}",
    "{l}",
)
SORT = (
    "in alphabetical order",
    "now put them in alphabetical order",
    "sort them",
    "sort it from a to z",
    "sort the list",
    "alphabetically please",
    "now alphabetically",
    "put these in alphabetical order",
    "can you sort them by letter?",
    "order them a-z",
    "sort them alphabetically",
    "put them in abc order",
    "arrange them alphabetically",
    "from a to z please",
)
SORT_GIVEN = (
    "sort these: {l}",
    "put in alphabetical order: {l}",
    "alphabetical order: {l}",
    "sort {l}",
    "sort this list alphabetically: {l}",
    "{l} - sort them",
    "{l} in alphabetical order please",
    "order these a to z: {l}",
    "can you sort these words: {l}",
    "arrange alphabetically: {l}",
    "put {l} in alphabetical order",
    "sort from a to z: {l}",
)
BACK = (
    "the other way round",
    "now backwards",
    "reverse it",
    "from the last to the first",
    "in reverse order",
    "now turn it round",
    "reverse the list",
)
ADD = (
    "add {x}",
    "and {x}",
    "put {x} on it too",
    "add {x} please",
    "I forgot {x}",
    "also {x}",
    "add {x} to the list",
    "plus {x}",
    "and {x} as well",
)
DROP = (
    "no {x}",
    "without {x}",
    "take out {x}",
    "remove {x}",
    "delete {x}",
    "but no {x}",
    "leave out {x}",
    "I don't need {x}",
    "cross out {x}",
    "{x} is wrong, take it out",
)
SWAP = (
    "{y} instead of {x}",
    "replace {x} with {y}",
    "change {x} to {y}",
    "not {x}, {y}",
    "take {y} instead of {x}",
    "swap {x} for {y}",
    "no {x} but {y}",
    "put {y} for {x}",
)
HOW_MANY = ("how many are that?", "count them", "how many are on it", "how many things is that")
SHOW = (
    "show me the list",
    "say it again",
    "what is on the list now?",
    "the list please",
    "read it back",
    "the whole list again",
)
NTH = ("what is the {o} one?", "which one is the {o}", "the {o} one?", "tell me the {o} one")
LINES = ("one on each line", "as bullet points", "each on its own line", "with dashes please")
NUMBERED = ("number them", "as a numbered list", "with numbers")
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")


def _typed(rng: random.Random, forms: Sequence[str], **words: str) -> str:
    text = alternative(rng, rng.choice(forms))
    for key, word in words.items():
        text = text.replace(f"{{{key}}}", word)
    text = sentence(text) if rng.random() < 0.35 else text
    return text if rng.random() < 0.8 else text.rstrip("?") + rng.choice((" pls", " please", "."))


def in_order(items: Sequence[str], given: bool = False) -> str:
    """As `naming` says it, or `wordplay` of words that are given."""
    if given:
        order = sorted(items, key=str.lower)
        letters = listed(item[0].lower() for item in order)
        return f"In alphabetical order, the words are {listed(order)}. They begin with {letters}."
    return f"In alphabetical order: {', '.join(sorted(items, key=str.lower))}."


def drawn_items(rng: random.Random) -> list[str]:
    pool = items_of()[rng.choice(tuple(items_of()))]
    if rng.random() < 0.25:
        other = items_of()[rng.choice(tuple(items_of()))]
        pool = tuple(dict.fromkeys((*pool[:12], *other[:12])))
    return rng.sample(pool, min(len(pool) - 2, rng.choice((3, 3, 4, 4, 4, 5, 5, 6, 7))))


def sort_given(rng: random.Random) -> Asked:
    items = drawn_items(rng)
    shown = ", ".join(items) if rng.random() < 0.75 else listed(items)
    text = rng.choice(SORT_GIVEN).replace("{l}", shown)
    return Asked(
        shown, sentence(text) if rng.random() < 0.4 else text, in_order(items, True), tuple(items)
    )


def changed(rng: random.Random) -> list[str]:
    """A list that is named or given, and what is then done with it, step by step."""
    given = rng.random() < 0.5
    if not given:
        asked, _, items, left = naming.listing(rng)
        if len(items) < 3 or reserved(asked.key):
            return changed(rng)
        items, extra = list(items), list(left)
        turns = [typed_with(rng, asked.question, *asked.keep), asked.answer]
    else:
        items = drawn_items(rng)
        extra = [x for x in drawn_items(rng) if x not in items]
        shown = ", ".join(items) if rng.random() < 0.6 else listed(items)
        turns = [
            rng.choice(GIVEN).replace("{l}", shown),
            f"Your list has {in_words(len(items))} things: {listed(items)}.",
        ]
    before = ""
    for step in range(rng.choice((1, 1, 2, 2, 3, 4))):
        ways = ["sort"] * 8 + ["back", "add", "add", "swap", "swap", "nth", "lines", "numbered"]
        # Of a list that the model named, `naming` says these otherwise.
        ways += ["drop", "drop", "show", "many"] * given
        ways = [way for way in ways if way != before]
        if step == 0 and rng.random() < 0.35:
            ways = ["sort"] if before != "sort" else ways
        before = way = rng.choice(ways)
        x = rng.choice(items)
        if way == "sort":
            items = sorted(items, key=str.lower)
            turns += [_typed(rng, SORT), in_order(items)]
        elif way == "back":
            items = items[::-1]
            turns += [_typed(rng, BACK), f"In reverse order: {', '.join(items)}."]
        elif way == "add":
            new = [y for y in extra if y not in items][:1]
            if not new:
                continue
            items = items + new
            turns += [_typed(rng, ADD, x=new[0]), f"Now the list is: {listed(items)}."]
        elif way == "drop" and len(items) > 2:
            items = [y for y in items if y != x]
            turns += [_typed(rng, DROP, x=x), f"Now the list is: {listed(items)}."]
        elif way == "swap":
            new = [y for y in extra if y not in items][:1]
            if not new:
                continue
            items = [new[0] if y == x else y for y in items]
            turns += [_typed(rng, SWAP, x=x, y=new[0]), f"Now the list is: {listed(items)}."]
        elif way == "show":
            turns += [_typed(rng, SHOW), f"The list is: {listed(items)}."]
        elif way == "many":
            turns += [_typed(rng, HOW_MANY), f"These are {in_words(len(items))}: {listed(items)}."]
        elif way == "nth":
            at = rng.randrange(min(len(items), 6))
            ask = _typed(rng, NTH, o=ORDINALS[at])
            turns += [ask, f"The {ORDINALS[at]} one is {items[at]}."]
        elif way == "lines":
            turns += [_typed(rng, LINES), "\n".join(f"- {y}" for y in items)]
        elif way == "numbered":
            turns += [_typed(rng, NUMBERED), "\n".join(f"{i}. {y}" for i, y in enumerate(items, 1))]
    return turns


def sample(rng: random.Random, held_out: bool = False) -> Conversation:
    """A wish that changes, and the answer to what it has become."""
    while True:
        way = rng.random()
        if way < 0.3 and not held_out:
            turns = changed(rng)
            if len(turns) > 2:
                return chat(*turns)
            continue
        if way < 0.38 and not held_out:
            return chat(*afterwards(rng))
        kept = held_out and rng.random() < 0.1
        if way < 0.64:
            asked = in_the_middle(rng, kept)
        elif way < 0.74:
            asked = anew(rng)
        elif way < 0.84:
            asked = numbers(rng)
        elif way < 0.89:
            asked = story(rng)
        else:
            asked = sort_given(rng)
        if held_out == (kept or reserved(asked.key)):
            return chat(typed_with(rng, asked.question, *asked.keep), asked.answer)
