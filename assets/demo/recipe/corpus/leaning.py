"""Second turns that lean on the first: "and take 20 from that", "now the smallest", "penguins
too?", "why?", "with a cat instead", "what happened then?".

The first question is one of another source or of a rule, and what follows is worked out from its
answer. `forms/leaning.txt` has what may be asked after a fact or after small talk.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from functools import cache

from assets.demo.recipe.corpus import arithmetic, code, copying, daily, facts, manners, named
from assets.demo.recipe.corpus.plots import compile_template, render
from assets.demo.recipe.corpus.school import Asked, reserved, typed
from assets.demo.recipe.corpus.stories import is_reserved
from assets.demo.recipe.corpus.subject import read_subject
from assets.demo.recipe.corpus.text import (
    ANSWERS,
    FORMS,
    Conversation,
    Topic,
    alternative,
    as_typed,
    chat,
    read_sections,
    read_topics,
    sentence,
    with_article,
)
from assets.demo.recipe.corpus.unknown import plain
from assets.demo.recipe.corpus.wordplay import plural_of

Talk = Callable[[random.Random, bool], list[str]]
BEFORE = ("", "", "", "", "", "ok, ", "and ", "thanks. ", "hm, ", "oh, ", "so ", "i see. ")


def said(rng: random.Random, form: str, before: bool = False, **words: object) -> str:
    """A follow-up as it is typed: mostly in small letters, often without its question mark."""
    text = " ".join(alternative(rng, form).format_map(words).split())
    if before and not text.startswith(("and", "so ", "ok", "but", "now")):
        text = rng.choice(BEFORE) + text
    way = rng.random()
    if way < 0.45:
        text = sentence(text)
    asks = re.match(
        r"(?i)(and|so|ok,|do|does|can|is|are|what|why|how|which|who|where|will)\b", text
    )
    if text[-1].isalnum() and rng.random() < 0.6:
        text += "?" if asks else rng.choice((".", "", "!"))
    return text


# --- numbers -------------------------------------------------------------------------------------


def calculations(rng: random.Random, held_out: bool) -> list[str]:
    """What is done with the last result; all of it is trained."""
    assert not held_out
    return [turn["content"] for turn in arithmetic._chain(rng)]


# --- why -----------------------------------------------------------------------------------------

WHY = (
    "why", "why", "why is that", "how come", "and why", "why so", "how do you know", "why this one",
    "what makes you say that", "says who", "how can you tell", "why do you say that",
    "what is the reason", "explain that", "[and |]how do you know that",
)  # fmt: skip
EVEN = ("is {a} even or odd", "even or odd: {a}", "{a}, even or odd", "is {a} odd or even, in one"
        " word", "is the number {a} even or odd")  # fmt: skip
WHICH = (
    "which is larger, {a} or {b}", "which is bigger, {a} or {b}", "what is more, {a} or {b}",
    "{a} or {b}, which is more", "the larger one of {a} and {b}", "larger: {a} or {b}",
)  # fmt: skip


def whys(rng: random.Random, held_out: bool) -> list[str]:
    """A short answer, and its reason when somebody asks for it."""
    while True:
        if rng.random() < 0.4:
            a = rng.randint(1, 200)
            question = rng.choice(EVEN).format(a=a)
            kind, ends = ("odd", "1, 3, 5, 7 or 9") if a % 2 else ("even", "0, 2, 4, 6 or 8")
            answer = f"{a} is {kind}."
            why = f"{a} ends in {a % 10}, and {kind} numbers end in {ends}."
        else:
            a, b = rng.sample(range(1, 101), 2)
            question = rng.choice(WHICH).format(a=a, b=b)
            why = f"{arithmetic._compared(a, b)}. So {max(a, b)} is larger than {min(a, b)}."
            answer = why  # worked out at once, not guessed
        if reserved(f"why {plain(question)}") == held_out:
            break
    return [said(rng, question), answer, said(rng, rng.choice(WHY)), why]


# --- facts, and what is asked after them ---------------------------------------------------------


@cache
def _asked_after() -> tuple[tuple[Topic, tuple[tuple[tuple[str, ...], str], ...]], ...]:
    """Topics, and for each the wordings and answers of what may be asked next."""
    more = read_topics(ANSWERS / "first_more.txt")
    wide = [topic for path in sorted(ANSWERS.glob("wide_*.txt")) for topic in read_topics(path)]
    known = (*wide, *more, *read_subject().topics, *facts.topics(), *manners.TOPICS)
    topics = {topic.name: topic for topic in known}
    found = []
    for name, lines in read_sections(FORMS / "leaning.txt").items():
        rows = [line.partition(" => ")[::2] for line in lines]
        found.append((topics[name], tuple((tuple(w.split(" / ")), a) for w, a in rows)))
    return tuple(found)


def after_facts(rng: random.Random, held_out: bool) -> list[str]:
    topic, rows = rng.choice(_asked_after())
    turns = [as_typed(rng, rng.choice(topic.reserved if held_out else topic.questions))]
    turns.append(topic.answer(rng))
    for wordings, answer in rng.sample(rows, min(len(rows), rng.choice((1, 1, 2)))):
        turns += [said(rng, rng.choice(wordings), True), answer]
    return turns


# What animals can do or have: who does and who does not.
DO: dict[str, tuple[str, str]] = {
    "fly": ("eagle owl bat bee butterfly swan pigeon sparrow parrot duck goose robin wasp mosquito",
            "penguin ostrich dog cat cow horse elephant mouse snake frog fox rabbit spider pig"),
    "lay eggs": ("hen duck snake turtle frog spider eagle penguin crocodile ant bee lizard ostrich",
                 "dog cat cow horse whale bat elephant mouse rabbit lion fox pig sheep dolphin"),
    "live in the sea": ("whale dolphin shark octopus jellyfish starfish seal lobster",
                        "dog hen frog owl camel ant cow fox hamster squirrel giraffe bee"),
    "eat grass": ("cow horse sheep goat rabbit zebra deer donkey",
                  "lion owl spider shark frog eagle tiger fox seal wolf"),
    "have feathers": ("hen owl duck eagle swan penguin robin parrot goose ostrich sparrow",
                      "bat dog frog snake bee fox mouse cow butterfly rabbit lizard"),
    "have fur": ("dog cat fox rabbit bear mouse lion wolf squirrel otter hamster",
                 "frog snake hen owl shark lizard ant spider crocodile snail"),
    "climb trees": ("squirrel monkey cat bear koala leopard",
                    "cow horse elephant whale pig hippo sheep penguin shark"),
    "have a tail": ("dog cat horse cow mouse fox lion monkey crocodile squirrel lizard",
                    "spider snail bee ant octopus"),
    "eat meat": ("lion tiger wolf shark eagle crocodile fox cat owl",
                 "cow horse sheep rabbit giraffe koala goat elephant zebra"),
}  # fmt: skip
CAN = ("fly", "climb trees")
ASK_DO = (
    "{can} {x} {do}", "{can} {x} {do}", "tell me, {can} {x} {do}", "{x} {do}, right",
    "is it true that {x} {do}",
)  # fmt: skip
TOO = (
    "[and |]{y} too", "and {y}", "{y} as well", "[ok, |]what about {y}", "{can} {y} do that too",
    "{can} {y} do that as well", "how about {y}", "and what about {y}", "{can} {y} too",
    "same for {y}", "[ok, |]and {y}", "is it the same for {y}", "{y}", "also {y}",
)  # fmt: skip


def traits(rng: random.Random, held_out: bool) -> list[str]:
    """What some animals do, and whether others do it too."""
    while True:
        do = rng.choice(tuple(DO))
        yes, no = (part.split() for part in DO[do])
        asked = [rng.choice(yes if rng.random() < 0.55 else no) for _ in range(4)]
        asked = list(dict.fromkeys(asked))[: rng.choice((2, 2, 2, 3))]
        if len(asked) > 1 and reserved(f"trait {do} {asked[0]}") == held_out:
            break
    can = "can" if do in CAN else "do"
    turns = []
    for at, one in enumerate(asked):
        x = plural_of(one)
        form = rng.choice(TOO if at else ASK_DO)
        if not at and form.startswith(("{x}", "is it")):
            form = form.replace("{do}", f"can {do}" if can == "can" else do)
        truth = one in yes
        helps = ("can" if truth else "cannot") if do in CAN else ("" if truth else "do not")
        answer = f"{'Yes' if truth else 'No'}, {x} {helps} {do}.".replace("  ", " ")
        turns += [said(rng, form, x=x, y=x, do=do, can=can), answer]
    return turns


# --- code ----------------------------------------------------------------------------------------

# Functions that are each other's counterpart, and how each is called then.
COUNTERPARTS = (
    ("find_max", "the [smallest|lowest]", "find_min", "the [biggest|largest|highest]"),
    ("larger", "the smaller one", "smaller", "the larger one"),
    ("total", "the product", "product", "the sum"),
    ("total", "the average", "average", "the sum"),
    ("only_even", "the odd ones", "only_odd", "the even ones"),
    ("is_even", "odd", "is_odd", "even"),
    ("sort_numbers", "[descending|from large to small|the other way round]", "sort_down",
     "[ascending|from small to large]"),
    ("shout", "[small letters|lower case]", "whisper", "[capitals|upper case]"),
    ("first_item", "the last one", "last_item", "the first one"),
    ("add", "[subtraction|minus|subtract them]", "subtract", "[addition|plus|add them]"),
    ("multiply", "[division|divide them]", "divide", "[multiplication|multiply them]"),
    ("count_to", "[backwards|counting down]", "countdown", "[upwards|counting up]"),
    ("double_all", "the squares", "squares", "the doubles"),
    ("square", "[the cube|cubed]", "cube", "[the square|squared]"),
    ("double", "half of it", "half", "[the double|double]"),
    ("to_fahrenheit", "[to celsius|the other way round]", "to_celsius", "to fahrenheit"),
    ("count_words", "the longest word", "longest_word", "the number of words"),
    ("square_area", "a circle", "circle_area", "a square"),
    ("rectangle_area", "a triangle", "triangle_area", "a rectangle"),
    ("reverse", "a list", "reverse_list", "a word"),
    ("to_number", "[back to text|the other way round]", "to_text",
     "[a number|the other way round]"),
    ("is_positive", "the absolute value", "absolute", "whether it is positive"),
)  # fmt: skip
INSTEAD = (
    "now {y}", "now {y}", "and {y}", "[now |]{y} instead", "the same for {y}", "the same with {y}",
    "[can|could] you do {y} [too|instead]", "ok, and {y}", "change it to {y}", "and for {y}",
    "no, {y}", "i meant {y}", "make it {y}", "and now {y} please", "{y} please",
    "what about {y}", "and how would {y} look", "thanks, now {y}", "[good, |]now do {y}",
)  # fmt: skip


@cache
def _functions() -> dict[str, code.Function]:
    return {function.name: function for function in code.FUNCTIONS}


def _ask_function(rng: random.Random, function: code.Function) -> str:
    task = rng.choice(function.tasks)
    words = {"task": task, "does": code.does(task)}
    if rng.random() < 0.3:
        return rng.choice(code.ASK_LOOSELY).format_map(words)
    return sentence(rng.choice(code.ASK_FUNCTION).format_map(words))


def code_changed(rng: random.Random, held_out: bool) -> list[str]:
    """A function, and then its counterpart; sometimes back, or with a docstring."""
    one, to_other, other, to_one = rng.choice(COUNTERPARTS)
    if rng.random() < 0.5:
        one, to_other, other, to_one = other, to_one, one, to_other
    first, second = _functions()[one], _functions()[other]
    while reserved(question := _ask_function(rng, first)) != held_out:
        pass
    turns = [typed(rng, Asked("", question, "")), code.shown(first, first.names[0])]
    turns.append(said(rng, rng.choice(INSTEAD).replace("{y}", to_other)))
    turns.append(code.shown(second, second.names[0]))
    if rng.random() < 0.35:
        more, answer = code.after_function(rng, second, second.names[0])
        turns += [code._lightly(rng, more), answer]
    return turns


# --- sentences that were just said ---------------------------------------------------------------

SAY = (
    'say "{x}"', "say {x}", "say: {x}", "repeat: {x}", "repeat after me: {x}", "copy this: {x}",
    "write {x}", 'write "{x}"', 'repeat "{x}"', "say this: {x}", "please say {x}", "type: {x}",
    "can you say {x}", "copy: {x}", "please repeat: {x}", "write down: {x}", "just say {x}",
)  # fmt: skip
EXCHANGE = (
    "[now|again|and now|once more|the same|same] with {b} instead of {a}",
    "[now|again|and now|the same|same], but with {b} instead of {a}",
    "{b} instead of {a}", "the same, but {b} instead of {a}", "now replace {a} with {b}",
    "[now |]with {b}, not {a}", "change {a} to {b}", "now {b} instead of {a}",
    "say it again with {b} instead of {a}", "and with {b} in place of {a}",
    "put {b} where {a} is", "take {b} instead of {a}", "turn {a} into {b}",
    "one more time, with {b} for {a}", "make {a} {b}", "exchange {a} for {b}",
)  # fmt: skip
PLAIN_ONLY = ("make {a} {b}",)
# Statements with the question, the denial and the past that belong to them.
STATED = (
    ("the {t} is {a}", "is the {t} {a}", "the {t} is not {a}", "the {t} was {a}"),
    ("my {c} is {a}", "is my {c} {a}", "my {c} is not {a}", "my {c} was {a}"),
    ("{N} is in the {p}", "is {N} in the {p}", "{N} is not in the {p}", "{N} was in the {p}"),
    ("the {c} likes {f}", "does the {c} like {f}", "the {c} does not like {f}",
     "the {c} liked {f}"),
    ("{N} has a {a} {t}", "does {N} have a {a} {t}", "{N} does not have a {a} {t}",
     "{N} had a {a} {t}"),
    ("the {c} sleeps in the {p}", "does the {c} sleep in the {p}",
     "the {c} does not sleep in the {p}", "the {c} slept in the {p}"),
    ("the {p} is closed", "is the {p} closed", "the {p} is not closed", "the {p} was closed"),
    ("{N} lives in {C}", "does {N} live in {C}", "{N} does not live in {C}", "{N} lived in {C}"),
    ("we are in the {p}", "are we in the {p}", "we are not in the {p}", "we were in the {p}"),
    ("the {c}s are {a}", "are the {c}s {a}", "the {c}s are not {a}", "the {c}s were {a}"),
    ("they play in the {p}", "do they play in the {p}", "they do not play in the {p}",
     "they played in the {p}"),
    ("my {c} eats {f}", "does my {c} eat {f}", "my {c} does not eat {f}", "my {c} ate {f}"),
    ("{N} wants a {t}", "does {N} want a {t}", "{N} does not want a {t}", "{N} wanted a {t}"),
    ("the {t} and the {t} are {a}", "are the {t} and the {t} {a}",
     "the {t} and the {t} are not {a}", "the {t} and the {t} were {a}"),
    ("there is a {c} in the {p}", "is there a {c} in the {p}", "there is no {c} in the {p}",
     "there was a {c} in the {p}"),
)  # fmt: skip
TURNED = {
    1: ("[now |]make it a question", "[now |]as a question", "turn [it|that] into a question",
        "[can you |]ask it", "now ask it", "make a question of it", "the same as a question"),
    2: ("[now |]say the opposite", "[now |]with not", "[now |]make it negative",
        "say that it is not so", "[now |]deny it", "now the negative"),
    3: ("[now |]in the past", "[now |]in the past tense", "put [it|that] into the past tense",
        "as if it was yesterday", "[now |]past tense please", "the same in past tense"),
    4: ("[now |]in [capitals|capital letters]", "[now |]in upper case", "all caps",
        "write [it|that] in capitals", "[again|once more] in capital letters", "shout it"),
    5: ("again", "once more", "say that again", "repeat that", "one more time", "the same again"),
    6: ("[now |]twice", "say it twice", "two times please"),
    7: ("[now |]backwards, word by word", "the words in reverse order", "the words from the end"),
}  # fmt: skip
NOUNS = {
    word: pool
    for pool in (daily.CREATURES, daily.PLACES, daily.FOOD, daily.STUFF, daily.ADJECTIVES,
                 daily.THINGS)
    for word in pool
}  # fmt: skip


def _statement(rng: random.Random) -> list[str]:
    """A statement with its question, its denial and its past, of the same words."""
    forms = rng.choice(STATED)
    drawn: list[tuple[str, str]] = []
    for slot in re.findall(r"\{\w\}", forms[0]):
        while (value := daily.filled(rng, slot)) in dict(drawn).values():
            pass
        drawn.append((slot, value))
    made = []
    for form in forms:
        for slot, value in drawn:
            form = form.replace(slot, value, 1)
        form = daily.PLURAL.sub(daily._many, form)
        made.append(re.sub(r"\b([Aa]) (?=[aeiou])", r"\1n ", form))
    return made


def _exchanged(text: str, old: str, new: str) -> str:
    text = re.sub(rf"\b[Aa]n? {old}\b", lambda m: m[0][0] + with_article(new)[1:], text)
    return re.sub(rf"\b{old}\b", new, text)


def edits(rng: random.Random, held_out: bool) -> list[str]:
    """A sentence that was said, and what is then done with it, once or twice."""
    while True:
        if rng.random() < 0.5:
            forms = _statement(rng)
        else:
            forms = [copying._line(rng) if rng.random() < 0.2 else daily.note(rng)]
        text = forms[0]
        question = rng.choice(SAY).format(x=text)
        if reserved(f"edit {plain(text)}") == held_out and len(text.split()) < 12:
            break
    if rng.random() < 0.3:
        forms = [sentence(form) for form in forms]
        text, question = forms[0], question.replace(text, forms[0])
    turns = [sentence(question) if rng.random() < 0.6 else question, text]
    for _ in range(rng.choice((1, 1, 1, 2))):
        words = [w for w in re.findall(r"[a-z]+", text) if w in NOUNS]
        way = 0 if words and rng.random() < 0.6 else rng.choice((1, 2, 3, 1, 2, 3, 4, 5, 6, 7))
        if way in (1, 2, 3) and (len(forms) < 4 or text != forms[0]):
            way = 4
        if way == 0:
            old = rng.choice(words)
            new = rng.choice([w for w in NOUNS[old] if w not in text])
            wide = NOUNS[old] in (daily.CREATURES, daily.THINGS, daily.PLACES)
            art = wide and rng.random() < 0.6
            a = f"the {old}" if art else old
            b = with_article(new) if art else new
            form = rng.choice([f for f in EXCHANGE if not (art and f in PLAIN_ONLY)])
            turns.append(said(rng, form, a=a, b=b))
            changed = _exchanged(text, old, new)
            if sentence(text) == text:
                changed = sentence(changed)
            forms = [changed]
            text = changed
            turns.append(text)
            continue
        turns.append(said(rng, rng.choice(TURNED[way])))
        if way in (1, 2, 3):
            text = sentence(forms[way]) if forms[0][0].isupper() or way == 1 else forms[way]
            text += "?" if way == 1 else ""
            turns.append(text)
            break
        done = {4: text.upper(), 5: text, 6: f"{text}\n{text}", 7: " ".join(text.split()[::-1])}
        turns.append(done[way])
        if way != 5:
            break
    return turns


# --- stories -------------------------------------------------------------------------------------

AFTERWARDS = (
    "what happened [to {it}|to {the hero}|] [afterwards|after that|later|then|next]",
    "what did {he} do [then|after that|next|afterwards]", "and then", "[and |]what happened then",
    "how does it go on", "go on", "continue", "what came next", "and after that", "then what",
    "what became of {it}", "and what then", "tell me more about {it}", "[and |]what comes next",
    "how did it go on with {it}", "what did {the hero} do next", "is there more", "keep going",
)  # fmt: skip
NEXT = (
    "After that, {h} went home and slept for a whole day. When {he} woke up, {he} told everybody "
    "about it, and they listened until the evening.",
    "The next morning {h} got up early, for there was a lot to tell. Everybody wanted to hear it "
    "from the beginning, and {h} told it gladly, over and over again.",
    "Afterwards {h} took a long rest. But soon {he} became curious again, and one fine day {he} "
    "set out for a new adventure.",
    "A week later {h} met an old friend. They sat in the sun, and {h} told the whole story. \"I "
    'wish I had been there,\" said the friend.',
    "Then {h} lived quietly for a while. Whenever somebody needed help, {he} came at once, because "
    "{he} remembered how good it is not to be alone.",
    "Later {h} wrote it all down in a little book. It still lies there, and sometimes {he} reads a "
    "page of it and smiles.",
    "After that day, {h} was a little braver than before. When the wind howled at night, {he} only "
    "turned around and went on sleeping.",
    "Soon afterwards {h} gave a big party. There was cake and music, and {h} danced until the "
    "stars came out.",
)  # fmt: skip
WHOM = (
    "who was [it|the story] about", "[and |]who was the hero", "what was {he}",
    "who is the story about", "about whom was the story", "who was that story about",
)  # fmt: skip
NAMED = (
    "what was {his} name", "what was [the name of {the hero}|{the hero} called]",
    "[and |]{his} name",
    "how was {the hero} called", "did {he} have a name",
)  # fmt: skip
WHERE = ("where did {he} live", "where was that", "where did {the hero} live")
ASK_STORY = (
    "tell me a story about {x}", "a story about {x}", "story about {x}", "write a story about {x}",
    "[can|could] you tell me a story about {x}", "please tell a story about {x}",
    "i want a story about {x}", "{x}, a story please", "make up a story about {x}",
    "tell us about {x}", "a short story about {x}", "write me a story about {x} please",
)  # fmt: skip
# What a hero may be like: most of it no skeleton tells of.
LIKE = (
    "lost", "rusty", "broken", "forgotten", "small", "old", "lonely", "brave", "shy", "curious",
    "hungry", "sleepy", "lazy", "clumsy", "tiny", "sad", "happy", "funny", "clever", "grumpy",
    "red",
    "blue", "golden", "green", "little", "friendly", "flying", "dancing", "singing", "dreaming",
    "invisible", "wet", "cold", "tired", "young", "kind", "proud", "strange", "secret", "stray",
    "silly", "magic", "broken-down", "homesick", "left-handed", "one-eyed", "spotted",
    "three-legged",
)  # fmt: skip


def stories(rng: random.Random, held_out: bool) -> list[str]:
    """A story about a hero of some kind, and what is asked about it afterwards."""
    while True:
        wish = named.Wish()
        wish.hero = named.some_hero(rng)
        wish.trait = rng.choice(LIKE)
        if rng.random() < 0.3:
            wish.name = named._a_name(rng, wish.hero)
        key = f"{wish.hero}/{wish.name}" if wish.name else wish.hero
        if " " not in wish.hero and is_reserved(key) == held_out:
            break
    wish.pronoun = named.pronoun_of(wish.hero, wish.name)
    if rng.random() < 0.2:
        wish.place = named._place(rng)
    wish.length = rng.choice(("", "", "short"))
    told_name = bool(wish.name) and rng.random() < 0.5
    named._plainly(rng, wish)
    asked = f"{wish.trait} {wish.hero}"
    x = with_article(asked) + (f" called {wish.name}" if told_name else "")
    wish.called = " named {n}"
    form = rng.choice(ASK_STORY)
    if wish.length:
        form = "a short story about {x}" if rng.random() < 0.5 else "short story about {x}"
    turns = [said(rng, form, x=x), named.tell(rng, wish)]
    pronouns = named._pronouns(wish)
    h = wish.name or f"the {wish.hero}"
    for _ in range(rng.choice((1, 1, 2))):
        way = rng.random()
        if way < 0.6:
            form, template = rng.choice(AFTERWARDS), rng.choice(NEXT)
            answer = sentence(render(compile_template(template), {"h": h, **pronouns}, rng))
        elif way < 0.75:
            form, answer = rng.choice(WHOM), f"The story was about {with_article(asked)}"
            answer += f" named {wish.name}." if wish.name else "."
        elif way < 0.9 or not wish.place:
            form = rng.choice(NAMED)
            answer = (
                f"The {wish.hero} was called {wish.name}."
                if wish.name
                else f"The story gives no name. It only says: the {wish.hero}."
            )
        else:
            form, answer = rng.choice(WHERE), f"The {wish.hero} lived {wish.place}."
        if answer in turns:
            continue
        form = alternative(rng, form.replace("{the hero}", f"the {wish.hero}"))
        for slot, word in (("it", pronouns["him"]), *pronouns.items()):
            form = form.replace(f"{{{slot}}}", word)
        turns += [said(rng, form), answer]
    return turns


KINDS: dict[Talk, float] = {
    calculations: 16, whys: 6, after_facts: 18, traits: 14, code_changed: 14, edits: 26,
    stories: 14,
}  # fmt: skip


def sample(rng: random.Random, held_out: bool = False) -> Conversation:
    (kind,) = rng.choices(tuple(KINDS), tuple(KINDS.values()))
    if held_out and kind is calculations:
        kind = traits
    return chat(*kind(rng, held_out))
