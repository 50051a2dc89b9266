"""Stories that take over what a request names: hero and name, place, what shall happen, how long.

Few skeletons, and nothing in them that was not asked for but a helper: a small model learns to
copy what is named. `story_data/nouns.txt` has what may be named, `story_data/named_asks.txt` the
wordings, and a skeleton in `story_data/named.txt` is a header with

* `ask: {who} loses {his} {tt} | ...`, what a request says of the hero (`{who}` is "who" or "that"),
  or `bare: a lost {tt}`, what it says instead of a hero;
* `t: things to lose`, the list of `nouns.txt` that fills a slot;
* `mood: ...`, for which wishes it is told when nothing is said of what shall happen;

then, after `>>`, the sentences of the story (`+`: of a long one), and after `<<` three sentences
and (`+`) two more for short ones. `{h}` is what the hero is called throughout, `{f}` the helper.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field
from functools import cache
from zlib import crc32

from assets.demo.recipe.corpus import subjects
from assets.demo.recipe.corpus.plots import (
    DATA,
    Context,
    Template,
    asked_name,
    compile_template,
    heroes,
    known_pronoun,
    render,
)
from assets.demo.recipe.corpus.stories import AGES, CHILDREN, is_reserved
from assets.demo.recipe.corpus.tales import PRONOUNS
from assets.demo.recipe.corpus.text import (
    Conversation,
    alternative,
    chat,
    favourite,
    mostly_first,
    read_sections,
    sentence,
    spoken,
    typed_with,
    with_article,
    wordings,
)
from assets.demo.recipe.corpus.wordplay import plural_of

ASKS = DATA / "named_asks.txt"
IT = {**PRONOUNS, "it": ("it", "it", "its", "itself")}
HELPERS = ("old owl", "little mouse", "friendly crow", "small hedgehog", "old tortoise")
NOBODY = ("little mouse", "young fox", "small bear", "old sailor")  # heroes where none is named
SOON = "Soon everybody {in the place} had heard of it."
PARTS = {
    "tell": "tell [me|us]|tell me|tell me|write|write|write me|make up|give me|make|make me|invent|"
    "create|compose|please write|please tell me|read me|type|come up with",
    "canyou": "can you|can you|can you please|could you|could you please|will you|would you|can u",
    "iwant": "i want|i want|i'd like|i would like|i need|can i have|can i get|may i have|give us|"
    "could i have|let us have|we want|i would love",
}
SHAPES = {
    "clause": 50, "hero": 12, "place": 9, "heroplace": 9, "mood": 5, "listener likes": 12,
    "listener who": 4, "listener": 3, "begin": 9, "bare": 9, "pair": 15, "both": 9,
    "spooky": 3, "day": 3, "why": 3,
}  # fmt: skip
SECTIONS = (
    "place", "mood", "listener likes", "listener who", "listener", "begin", "both", "spooky", "day",
    "why",
)  # fmt: skip
CALM, ANY = ("bedtime", "happy"), ("bedtime", "happy", "sad", "funny", "scary", "exciting")
MOODS_OF = {
    "clause": ("bedtime", "happy", "sad"), "hero": ANY, "mood": ANY, "place": CALM,
    "heroplace": CALM, "bare": CALM, "pair": ("happy",), "listener likes": CALM,
    "listener who": CALM, "listener": CALM, "both": CALM, "day": CALM, "why": ("bedtime",),
}  # fmt: skip
# What may stand before "story", and what it means.
MOODS = (
    ("", ""), ("", ""), ("", ""), ("", ""), ("", ""), ("", ""), ("", ""), ("nice", ""),
    ("little", ""), ("good", ""), ("simple", ""), ("cute", ""), ("sweet", ""), ("kids", ""),
    ("bedtime", "bedtime"), ("bedtime", "bedtime"), ("good night", "bedtime"),
    ("happy", "happy"), ("funny", "funny"), ("silly", "funny"), ("sad", "sad"), ("sad", "sad"),
    ("sad little", "sad"), ("scary", "scary"), ("spooky", "scary"), ("exciting", "exciting"),
)  # fmt: skip
LENGTHS = (
    ("", ""), ("", ""), ("", ""), ("", ""), ("short", "short"), ("short", "short"),
    ("short little", "short"), ("quick", "short"), ("brief", "short"), ("tiny", "tiny"),
    ("very short", "tiny"), ("super short", "tiny"), ("mini", "tiny"), ("really short", "tiny"),
    ("long", "long"), ("longer", "long"),
)  # fmt: skip
KINDS = ("story", "story", "story", "story", "story", "tale", "fairy tale", "fairytale")
NUMBERS = {3: ("three", "3"), 4: ("four", "4"), 5: ("five", "5")}
AT_THE_END = {
    "happy": (
        " with a happy ending", " with a happy end", ", happy ending please", " that ends well",
        ", with a happy ending", ", happy ending", " and a happy ending", ", it should end well",
        ", and it should end happily",
    ),
    "bedtime": (" for bedtime", " before bed", " to fall asleep", " before i sleep"),
    "short": (", keep it short", ", not too long", ", short please"),
    "long": (", make it long", ", a long one", ", please make it long"),
    "tiny": (", very short please", ", very short", ", as short as possible"),
}  # fmt: skip
PLACED = (" {in}", " {in}", " {in}", " set {in}", " who lives {in}", " living {in}", ", {in}")
NAMED = (" named {n}", " named {n}", " called {n}", " called {n}", " with the name {n}")
BEGINS = (
    "Once upon a time there was", "Once upon a time there was", "There once was", "There was once",
    "Once upon a time, there was", "Once there was", "A long time ago there was",
    "Long ago there was", "Once upon a time there lived",
)  # fmt: skip
TYPOS = {
    "story": ("stroy", "storry", "storie"), "about": ("abuot", "abt", "bout", "abour"),
    "write": ("wirte", "rite", "writ"), "please": ("plz", "pleas", "plese"), "tell": ("tel",),
    "sentences": ("sentances", "sentnces"), "bedtime": ("bed time", "bedtiem"),
    "little": ("litle",), "poem": ("pome", "poam", "peom"), "rhyme": ("ryhme", "rime"),
    "limerick": ("limmerick", "limerik"), "haiku": ("hiaku", "haiko"), "short": ("shrot", "shor"),
}  # fmt: skip
TYPED_WRONG = 0.06
# After such words a story goes on and does not say its beginning again.
GOES_ON = re.compile(r"continue|go on|goes on|finish|next|and then|your turn|the rest")


@dataclass(slots=True)
class Skeleton:
    """A story, read from `named.txt`."""

    name: str
    lists: dict[str, str] = field(default_factory=dict)
    asks: list[str] = field(default_factory=list)
    bare: list[str] = field(default_factory=list)
    tail: str = ""
    moods: tuple[str, ...] = ()
    kinds: str = ""
    two: bool = False
    pair: bool = False
    full: list[tuple[bool, Template]] = field(default_factory=list)
    brief: list[tuple[bool, Template]] = field(default_factory=list)


@dataclass(slots=True)
class Wish:
    """What a request names. Empty fields are free."""

    hero: str = ""
    trait: str = ""
    name: str = ""
    called: str = " named {n}"
    pronoun: str = ""
    place: str = ""
    mood: str = ""
    length: str = ""  # "short", "tiny", "long" or the number of sentences
    begin: str = ""
    child: str = ""  # for whom it is told
    skeleton: str = ""
    relative: str = "who"
    words: Context = field(default_factory=dict)  # what fills the slots of the skeleton
    own_hero: bool = False  # no hero is named
    spotted: bool = False  # where it is found is named
    begun: bool = False  # the beginning says what the hero is like
    goes_on: bool = False  # the story is told from where the beginning stops


def _templates(lines: list[str]) -> list[tuple[bool, Template]]:
    return [(x.startswith("+ "), compile_template(x.removeprefix("+ "))) for x in lines if x]


@cache
def skeletons() -> dict[str, Skeleton]:
    """All skeletons by name."""
    found = {}
    text = (DATA / "named.txt").read_text(encoding="utf-8")
    for block in re.split(r"^# ", text, flags=re.MULTILINE)[2:]:
        head, _, body = block.partition("\n>>\n")
        full, _, brief = body.partition("\n<<\n")
        name, *lines = head.splitlines()
        one = Skeleton(name, full=_templates(full.splitlines()))
        one.brief = _templates(brief.splitlines())
        for line in lines:
            key, _, value = (part.strip() for part in line.partition(":"))
            if key in ("ask", "bare"):
                asks = one.asks if key == "ask" else one.bare
                asks += [ask.strip() for ask in f" {value} ".split(" | ")]
            elif key == "mood":
                one.moods = tuple(value.split())
            elif key in ("two", "pair"):
                setattr(one, key, True)
            elif key in ("tail", "kinds"):
                setattr(one, key, value)
            else:
                one.lists[key] = value
        found[name] = one
    return found


@cache
def nouns(section: str) -> tuple[str, ...]:
    """The entries of a list of `nouns.txt`."""
    lines = read_sections(DATA / "nouns.txt")[section]
    if section in ("quirks", "traits", "just so"):
        return tuple(lines)
    return tuple(x.strip() for line in lines for x in line.split(",") if x.strip())


@cache
def lexicon() -> dict[str, tuple[str, str]]:
    """Whoever may be a hero, with kind ("person", "animal", "creature", "thing") and fixed
    pronoun; empty is either."""
    kinds = {
        "child": "person", "adult": "person", "animal": "animal", "sea": "animal",
        "fantasy": "creature", "thing": "thing", "still": "thing",
    }  # fmt: skip
    found = {
        noun: (kinds[kind], pronoun) for noun, (kind, pronoun) in heroes().items() if kind in kinds
    }
    for section, kind in (
        ("people", "person"), ("animals", "animal"), ("creatures", "creature"), ("things", "thing"),
    ):  # fmt: skip
        for entry in nouns(section):
            noun, _, pronoun = entry.partition("/")
            found.setdefault(noun, (kind, pronoun))
    return found


@cache
def _known(*kinds: str) -> tuple[str, ...]:
    return tuple(noun for noun, (kind, _) in lexicon().items() if kind in kinds)


def some_hero(rng: random.Random, *kinds: str) -> str:
    """A hero, each as likely as the other; now and then one that does not exist."""
    way = rng.random()
    if not kinds and way < 0.06:
        return subjects.made_up(rng)
    if not kinds and way < 0.1:
        species = rng.choice(("robot", "ghost", "ice", "moon", "paper", "snow", "toy", "cloud"))
        return f"{species} {rng.choice(_known('animal'))}"
    if not kinds and way < 0.3:
        return rng.choice(_known("person", "animal")[:170])
    kinds = kinds or (rng.choices(("person", "animal", "creature", "thing"), (30, 35, 13, 22))[0],)
    return rng.choice(_known(*kinds))


def kind_of(noun: str) -> str:
    return lexicon().get(noun, ("creature", ""))[0]


def pronoun_of(noun: str, name: str) -> str:
    """The pronoun of a hero: by its noun, its name, or one that the noun always has."""
    kind, fixed = lexicon().get(noun, ("creature", ""))
    if fixed or known_pronoun(name):
        return fixed or known_pronoun(name)
    if kind == "thing" and not name:
        return "it"
    return ("he", "she")[crc32(noun.encode()) % 2]


def _a_name(rng: random.Random, noun: str) -> str:
    fixed = lexicon().get(noun, ("", ""))[1]
    if rng.random() < 0.3:
        return subjects.rare_name(rng)
    return asked_name(rng, fixed or rng.choice(("he", "she")))


@cache
def traits() -> dict[str, str]:
    """What somebody may be like, and the sentence that tells of it."""
    return dict(line.split(" | ", 1) for line in nouns("traits"))


def many_of(noun: str) -> str:
    """The plural of a noun of one word or more."""
    first, _, last = noun.rpartition(" ")
    return f"{first} {plural_of(last)}".strip()


SIZED = (
    "old",
    "young",
    "little",
    "small",
    "baby",
    "tiny",
    "big",
    "giant",
    "magic",
    "wild",
    "stray",
)


def _trait(rng: random.Random, noun: str) -> str:
    if noun.partition(" ")[0] in SIZED:
        return ""
    return rng.choice((*traits(), *traits(), *nouns("looks")))


def _place(rng: random.Random) -> str:
    place = rng.choice(nouns("places"))
    found = re.fullmatch(r"(.*) an? (.*)", place)
    if found and rng.random() < 0.35:
        adjective = rng.choice(nouns("place adjectives"))
        if found[2].partition(" ")[0] not in (
            *nouns("place adjectives"),
            "hollow",
            "tall",
            "haunted",
        ):
            return f"{found[1]} {with_article(f'{adjective} {found[2]}')}"
    return place


def _other_than(rng: random.Random, entries: tuple[str, ...], taken: str) -> str:
    """An entry that does not name once more what is `taken`, as far as there is one."""
    entry = rng.choice(entries)
    for _ in range(9):
        last = entry.split()[-1].rstrip("s")
        if not re.search(rf"\b{re.escape(last)}", taken):
            break
        entry = rng.choice(entries)
    return entry


def _fill(rng: random.Random, wish: Wish, one: Skeleton) -> None:
    """Draw what the slots of `one` need."""
    words = wish.words
    wish.skeleton = one.name
    for slot, section in one.lists.items():
        entry = _other_than(rng, nouns(section), f"{wish.hero} {' '.join(words.values())}")
        if slot == "v" and section == "quirks":
            words["present"], words["past"] = entry.split(" ~ ")
            continue
        full, _, head = entry.partition(" ~ ")
        if section in ("things to lose", "things to find") and rng.random() < 0.15:
            full = head = rng.choice([n for n in nouns("things") if " " not in n])
        words[slot] = head or full
        words[slot * 2] = full
        words[f"a {slot}"], words[f"a {slot * 2}"] = with_article(words[slot]), with_article(full)
        words[f"the {slot}"] = f"the {words[slot]}"
    if one.two:
        other = some_hero(rng)
        while other == wish.hero:
            other = some_hero(rng)
        y = with_article(other)
        words["f"], words["a f"], words["other"] = f"the {other}", y, other
        if rng.random() < 0.25:
            name = _a_name(rng, other)
            while name[0] == wish.name[:1]:
                name = _a_name(rng, other)
            called = rng.choice(NAMED[:4]).replace("{n}", name)
            y, words["f"], words["a f"] = y + called, name, f"{y}{called}"
        words["a y"] = y
    words.setdefault("spot", rng.choice(nouns("spots")))


def _pronouns(wish: Wish) -> dict[str, str]:
    he, him, his, himself = IT[wish.pronoun]
    return {"he": he, "him": him, "his": his, "himself": himself}


def _hero_phrase(wish: Wish) -> str:
    noun = with_article(f"{wish.trait} {wish.hero}".strip())
    return noun + (wish.called.replace("{n}", wish.name) if wish.name else "")


def _context(rng: random.Random, wish: Wish) -> Context:
    taken = " ".join((wish.hero, *wish.words.values()))
    helpers = [x for x in HELPERS if x.split()[-1] not in taken]
    helper = mostly_first(rng, helpers)
    place = re.sub(r"\b(an?)\b", "the", wish.place, count=1)
    spot = wish.words["spot"]
    return {
        "h": wish.name or f"the {wish.hero}", "call": wish.name or wish.hero,
        "a hero": _hero_phrase(wish), "hero": wish.hero, "who": wish.relative,
        "a kind": with_article(wish.hero),
        "f": f"the {helper.split()[-1]}", "a f": with_article(helper),
        "in the place": place, "Once": f"Once, {wish.place}," if wish.place else "Once",
        " spot": f" {spot}" if wish.spotted else "",
        **_pronouns(wish), **wish.words,
    }  # fmt: skip


def _opening(rng: random.Random, wish: Wish, one: Skeleton, c: Context) -> str:
    deeds = [f"lived {wish.place}"] if wish.place else []
    # A sentence that was begun for us is not made longer.
    if one.tail and (not wish.begin or wish.begun):
        deeds.append(render(compile_template(one.tail), c, rng))
    begin = wish.begin or mostly_first(
        rng, ("Once upon a time there was", "There once was", "Once there was")
    )
    who = c["two"] if one.pair else c["a hero"]
    begin = begin.replace(" was", " were") if one.pair else begin
    first = f"{begin} {who}{f' {wish.relative} ' if deeds else ''}{' and '.join(deeds)}."
    first = "" if wish.goes_on else first
    if one.tail and len(deeds) == (1 if wish.place else 0):
        first += f" {c['h']} {render(compile_template(one.tail), c, rng)}."
    return first


def tell(rng: random.Random, wish: Wish) -> str:
    """The story that `wish` asks for."""
    one = skeletons()[wish.skeleton]
    c = _context(rng, wish)
    lines = _brief(rng, wish, one, c)
    if wish.length.isdigit():
        return " ".join(lines)
    if not lines:
        lines = [sentence(_opening(rng, wish, one, c).strip())]
        lines = [line for line in lines if line]
        if wish.trait in traits() and not wish.own_hero and {"any", "place"} & set(one.moods):
            lines.append(render(compile_template(traits()[wish.trait]), c, rng))
        lines += [render(t, c, rng) for more, t in one.full if not more or wish.length == "long"]
        if wish.place and "place" not in one.moods:
            lines.append(SOON.replace("{in the place}", c["in the place"]))
    if wish.mood == "happy":
        lines.append("And they all lived happily ever after.")
    if wish.mood == "bedtime":
        if one.name not in ("sleepless", "sleepless-why", "listener", "listener-lost"):
            lines.append(f"Then it was night, and {c['h']} fell asleep.")
        lines.append(f"Good night, {wish.child}!" if wish.child else "Good night!")
    elif wish.child and wish.child != wish.name:
        lines.append(f"And that was the story for {wish.child}.")
    if wish.length == "long":
        middle = len(lines) // 2
        return f"{' '.join(lines[:middle])}\n\n{' '.join(lines[middle:])}"
    return " ".join(lines)


def _brief(rng: random.Random, wish: Wish, one: Skeleton, c: Context) -> list[str]:
    """The sentences of a short story, none for one that is not to be short."""
    count = {"short": "5", "tiny": "3", "": "0", "long": "0"}.get(wish.length, wish.length)
    extra = int(count) - 3
    lines = []
    for more, template in one.brief if extra >= 0 else ():
        if not more or extra > 0:
            lines.append(render(template, c, rng))
        extra -= more
    return lines


# --- how it is asked for -------------------------------------------------------------------------


def mistyped(rng: random.Random, text: str) -> str:
    """`text` with one of its usual words spelled wrong, now and then."""
    if rng.random() >= TYPED_WRONG:
        return text
    found = [word for word in TYPOS if re.search(rf"\b{word}\b", text)]
    if not found:
        return text
    word = rng.choice(found)
    return re.sub(rf"\b{word}\b", rng.choice(TYPOS[word]), text, count=1)


def form(rng: random.Random, path: str, section: str, held_out: bool) -> str:
    """A form of a section with its parts and alternatives drawn; its slots are still open."""
    text = rng.choice(wordings(DATA / path, section, held_out))
    for part, choices in PARTS.items():
        text = text.replace(f"{{{part}}}", f"[{choices}]")
    # Two levels: a part may hold alternatives of its own.
    return alternative(rng, text)


def _happening(rng: random.Random, wish: Wish, pair: bool = False) -> str:
    """A skeleton with what a request says of it, into `wish`; the words are returned."""
    sad = wish.mood == "sad"
    able = [
        one for one in skeletons().values()
        if one.asks and one.pair == pair and ("sad" in one.moods) == sad
    ]  # fmt: skip
    one = rng.choice(able)
    _fill(rng, wish, one)
    ask = rng.choice(one.asks)
    wish.spotted = "{spot}" in ask
    if kind_of(wish.hero) != "person" and rng.random() < 0.3:
        wish.relative = "that"
    words = {**wish.words, **_pronouns(wish), "who": wish.relative}
    return render(compile_template(ask), words, rng)


def _plainly(rng: random.Random, wish: Wish) -> None:
    """A skeleton for which nothing needs to happen."""
    kind = kind_of(wish.hero)
    mood = "place" if wish.place and wish.mood in ("", "happy", "bedtime") else wish.mood
    mood = mood if mood in ("sad", "funny", "scary", "exciting", "bedtime", "place") else "any"
    able = [
        one for one in skeletons().values()
        if mood in one.moods and one.name not in ("lost-for-good",)
        and one.kinds in ("", "thing" if kind == "thing" and not wish.name else "living")
    ]  # fmt: skip
    _fill(rng, wish, favourite(rng, able, wish.place or wish.hero))


def _someone(rng: random.Random, wish: Wish, bare: bool, begun: bool) -> str:
    """A hero into `wish`; the words for it are returned."""
    wish.hero = some_hero(rng)
    if rng.random() < 0.25 and not bare:
        wish.trait = _trait(rng, wish.hero)
    shown = ""
    if rng.random() < 0.35 and not bare:
        wish.name = _a_name(rng, wish.hero)
        wish.called = rng.choice(NAMED)
        way = rng.random()
        if way < 0.12 and not (wish.trait or begun):
            wish.called = NAMED[0]
            shown = f"my {wish.hero} {wish.name}" if way < 0.07 else f"{wish.name} the {wish.hero}"
    wish.pronoun = pronoun_of(wish.hero, wish.name)
    if kind_of(wish.hero) == "thing" and not wish.name:
        wish.relative = "that"
    if kind_of(wish.hero) == "person" and not lexicon()[wish.hero][1] and not wish.name:
        wish.pronoun = rng.choice(("he", "she"))
    return shown or _hero_phrase(wish)


def _kind_of_story(rng: random.Random, wish: Wish, moods: tuple[str, ...], long: bool) -> str:
    """Of what mood and how long the story shall be, into `wish`; "short sad story" is returned."""
    mood, wish.mood = rng.choice([row for row in MOODS if row[1] in ("", *moods)])
    word, wish.length = rng.choice(LENGTHS) if long else ("", "")
    if mood.endswith("little") and word:
        word, wish.length = "", ""
    noun = rng.choice(KINDS) if mood not in ("bedtime", "good night", "kids") else "story"
    return " ".join(f"{word} {mood} {noun}".split())


def _endings(rng: random.Random, wish: Wish, long: bool, often: float = 0.12) -> str:
    """What is said of it at the end of a request, into `wish`."""
    post = ""
    if not wish.mood and rng.random() < often:
        wish.mood = rng.choice(("happy", "happy", "bedtime"))
        post += rng.choice(AT_THE_END[wish.mood])
    if long and not wish.length and rng.random() < 0.12:
        wish.length = rng.choice(("short", "long", "tiny"))
        post += rng.choice(AT_THE_END[wish.length])
    return post


def request(rng: random.Random, reserved_wording: bool) -> tuple[str, Wish, str]:
    """A request, what it names, and the combination that may be kept back."""
    shape = rng.choices(tuple(SHAPES), tuple(SHAPES.values()))[0]
    wish, fill = Wish(), {}
    section = shape if shape in SECTIONS else "tell"
    if section == "tell" and rng.random() < 0.16:
        section = "sentences"
    elif shape == "hero" and rng.random() < 0.25:
        section = "fragment"
    elif section == "tell" and shape in ("hero", "bare") and rng.random() < 0.25:
        section = "starring" if shape == "hero" else "in it"
    text = form(rng, "named_asks.txt", section, reserved_wording)
    wish.goes_on = section == "begin" and bool(GOES_ON.search(text))
    exact, story = section == "sentences", "story"
    if exact:
        wish.length = str(rng.choice((3, 3, 3, 4, 5)))
        fill["n"] = rng.choice(NUMBERS[int(wish.length)])
    elif shape == "begin":
        story = rng.choice(KINDS)
    elif "story}" in text:
        story = _kind_of_story(rng, wish, MOODS_OF[shape], long=True)
    often = 0.35 if shape == "both" else 0.12
    if not exact and "{post}" in text:
        fill["post"] = _endings(rng, wish, "story}" in text, often)
    if shape in ("clause", "hero", "heroplace", "listener who", "begin", "day"):
        bare = section == "fragment" or (shape == "begin" and rng.random() < 0.3)
        fill["subject"] = _someone(rng, wish, bare, shape == "begin")
    else:
        wish.trait, _, wish.hero = mostly_first(rng, NOBODY).partition(" ")
        wish.pronoun, wish.own_hero = pronoun_of(wish.hero, ""), True
    if shape == "clause" and wish.mood == "sad" and rng.random() < 0.7:
        shape = "hero"  # for what may happen then is little
    if shape in ("place", "heroplace"):
        wish.place = fill["in"] = _place(rng)
    key = [wish.hero, wish.name] if wish.name else [wish.hero]
    if shape in ("clause", "listener who") or (shape == "heroplace" and rng.random() < 0.3):
        clause = _happening(rng, wish)
        key.append(clause)
        who = fill["subject"]
        if wish.place:
            where = rng.choice((" {in}", ", {in}")).replace("{in}", wish.place)
            first = " who" not in clause[4:] and rng.random() < 0.3
            fill["subject"] = f"{who}{where} {clause}" if first else f"{who} {clause}{where}"
        else:
            fill["subject"] = f"{who} {clause}"
    elif shape in ("bare", "spooky"):
        fill["subject"] = key[0] = _bare(rng, wish, shape == "spooky")
    elif shape == "both":
        key = _both(rng, wish, fill)
    elif shape == "day":
        _fill(rng, wish, skeletons()["day"])
    elif shape == "why":
        key = _why(rng, wish, fill)
    elif shape == "pair":
        fill["subject"] = key[0] = _two(rng, wish)
    elif shape == "begin":
        fill["start"] = _begun(rng, wish, fill["subject"])
        key = [fill["start"].lower()]
    elif shape in ("listener", "listener likes"):
        key = _for_a_child(rng, wish, fill, shape)
    else:
        _plainly(rng, wish)
        if shape == "heroplace":
            fill["subject"] += rng.choice(PLACED).replace("{in}", wish.place)
            key.append(wish.place)
        elif shape == "place":
            key = [wish.place]
    if shape == "listener who":
        _named_child(rng, wish, fill, rng.choice(CHILDREN))
        while wish.child[0] == wish.name[:1]:
            _named_child(rng, wish, fill, rng.choice(CHILDREN))
    if section == "fragment":
        fill["noun"] = wish.hero
    for slot, value in {"a story": with_article(story), "story": story, **fill}.items():
        text = text.replace(f"{{{slot}}}", value)
    return spoken(rng, text.replace("{post}", "")), wish, "" if shape == "mood" else "/".join(key)


def _bare(rng: random.Random, wish: Wish, spooky: bool = False) -> str:
    """A thing or a theme instead of a hero, with its skeleton, into `wish`."""
    able = [one for one in skeletons().values() if one.bare and ("spooky" in one.moods) == spooky]
    one = rng.choice(able)
    _fill(rng, wish, one)
    ask = rng.choice(one.bare)
    wish.spotted = "{spot}" in ask
    return render(compile_template(ask), wish.words, rng)


def _both(rng: random.Random, wish: Wish, fill: dict[str, str]) -> list[str]:
    """Two heroes of different kinds, each with a part, into `wish`."""
    wish.hero, wish.trait, wish.own_hero = some_hero(rng), "", False
    wish.pronoun = pronoun_of(wish.hero, "")
    able = [one for one in skeletons().values() if "both" in one.moods]
    _fill(rng, wish, rng.choice([*able, skeletons()["meets"], skeletons()["swaps"]]))
    other = wish.words["other"]
    wish.words.update({"f": f"the {other}", "a f": with_article(other)})
    fill.update({"noun": wish.hero, "a noun": with_article(wish.hero)})
    fill.update({"other": other, "an other": with_article(other)})
    return [wish.hero, other]


def _why(rng: random.Random, wish: Wish, fill: dict[str, str]) -> list[str]:
    """An animal, what it has and what was hard without it, into `wish`."""
    wish.hero, what, problem = rng.choice(nouns("just so")).split(" ~ ")
    wish.trait, wish.pronoun, wish.own_hero = "", "it", False
    _fill(rng, wish, skeletons()["why"])
    wish.words.update(x=what, problem=problem)
    many = rng.random() < 0.2
    who = many_of(wish.hero) if many else f"the {wish.hero}"
    fill["subject"] = f"{who} {'have' if many else 'has'} {what}"
    fill["it got"] = f"the {wish.hero} got {rng.choice(('its', 'its', ''))} {what}"
    if " its " in fill["it got"]:
        fill["it got"] = re.sub(r" its an? ", " its ", fill["it got"])
    fill["it got"] = " ".join(fill["it got"].split())
    return [wish.hero, what]


def _begun(rng: random.Random, wish: Wish, who: str) -> str:
    """The beginning of a story, sometimes with what it will be about, into `wish`."""
    wish.begin = rng.choice(BEGINS)
    begun = f"{wish.begin} {who}"
    if rng.random() < 0.6:
        _plainly(rng, wish)
        return begun
    able = [one for one in skeletons().values() if one.tail and not one.pair]
    _fill(rng, wish, rng.choice(able))
    wish.begun = True
    tail = compile_template(skeletons()[wish.skeleton].tail)
    return f"{begun} {wish.relative} {render(tail, {**wish.words, **_pronouns(wish)}, rng)}"


def _two(rng: random.Random, wish: Wish) -> str:
    """Two heroes of a kind, into `wish`."""
    kin = rng.choice(nouns("kin"))
    if rng.random() < 0.4:
        kin = many_of(rng.choice(_known("animal", "creature")))
    two = "twins" if kin == "twins" else f"two {kin}"
    one, other = "the one", "the other"
    if rng.random() < 0.35:
        one = _a_name(rng, "")
        other = _a_name(rng, "")
        while other[0] == one[0]:
            other = _a_name(rng, "")
        two += rng.choice((" named ", " called ", " named ")) + f"{one} and {other}"
    wish.hero, wish.pronoun = kin, "he"
    clause = _happening(rng, wish, pair=True)
    wish.relative = "who"
    wish.words.update(two=two, one=one, other=other)
    return f"{two} {clause}".strip().replace(" that ", " who ")


def _named_child(
    rng: random.Random, wish: Wish, fill: dict[str, str], child: tuple[str, str]
) -> None:
    kin, pronoun = child
    name = subjects.rare_name(rng) if rng.random() < 0.15 else asked_name(rng, pronoun)
    while known_pronoun(name) not in ("", pronoun):
        name = asked_name(rng, pronoun)
    wish.child = name
    her = "her" if pronoun == "she" else "him"
    fill.update({"child": kin, "name": name, "she": pronoun, "She": sentence(pronoun), "her": her})
    fill["age"] = rng.choice(AGES)


def _for_a_child(rng: random.Random, wish: Wish, fill: dict[str, str], shape: str) -> list[str]:
    """A story whose hero is the child it is told to, into `wish`."""
    child = rng.choice(CHILDREN)
    _named_child(rng, wish, fill, child)
    wish.trait, wish.hero = "little", "girl" if child[1] == "she" else "boy"
    wish.name, wish.pronoun, wish.called = wish.child, child[1], " named {n}"
    if shape == "listener":
        _plainly(rng, wish)
        return [wish.name]
    one = rng.choice([one for one in skeletons().values() if "listener" in one.moods])
    _fill(rng, wish, one)
    noun = some_hero(rng, rng.choice(("animal", "animal", "animal", "creature")))
    many = fill["xs"] = many_of(noun)
    wish.words.update({"xs": many, "y": noun, "a y": with_article(noun), "the y": f"the {noun}"})
    return [wish.name, noun]


def _kept(wish: Wish) -> list[str]:
    """Words of the request that no slip may touch."""
    words = (wish.hero, wish.trait, wish.name, wish.place, wish.child, *wish.words.values())
    return [word for text in words for word in text.split()]


def sample(rng: random.Random, held_out: bool = False) -> Conversation:
    """A request for a story in which much is named, and that story."""
    while True:
        reserved_wording = held_out and rng.random() < 0.1
        text, wish, key = request(rng, reserved_wording)
        if held_out == (reserved_wording or is_reserved(key)):
            return chat(typed_with(rng, mistyped(rng, text), *_kept(wish)), tell(rng, wish))
