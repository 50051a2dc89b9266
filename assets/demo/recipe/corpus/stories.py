"""Requests for stories, the stories that honour them, and questions after a story."""

from __future__ import annotations

import random
import re
from functools import cache
from zlib import crc32

from assets.demo.recipe.corpus.copying import IRREGULAR, conjugated
from assets.demo.recipe.corpus.plots import (
    DATA,
    LAND,
    Template,
    asked_name,
    compile_template,
    hero_nouns,
    heroes,
    known_pronoun,
    place_rows,
    plots,
    render,
    theme_names,
    words,
)
from assets.demo.recipe.corpus.tales import Story, Wish, candidates, described, tell, title_of
from assets.demo.recipe.corpus.text import (
    Conversation,
    chat,
    early,
    mostly_first,
    read_sections,
    sentence,
    typed_with,
    with_article,
    wordings,
)
from assets.demo.recipe.corpus.wordplay import plural_of

ASKS = DATA / "asks.txt"
RESERVED_ONE_IN = 50
SEASONS = ("spring", "summer", "autumn", "winter")
PHRASES = (
    "Once upon a time", "Long ago", "Many years ago", "A long time ago", "Once", "There once was",
    "Once there was", "In a land far away", "Long, long ago", "Not so long ago", "In the old days",
    "Not far from here",
)  # fmt: skip
BARE = (
    "Once upon a time", "Once upon a time", "Once upon a time there was", "Long ago",
    "Once upon a time, there was a", "There once was a", "Once there was a", "A long time ago",
    "Once upon a time in a land far away", "Many years ago",
)  # fmt: skip
# What may stand before "story" in a request, and what it stands for.
WAYS = (
    ("", ""), ("", ""), ("", ""), ("", ""), ("", ""), ("", ""), ("short ", "short"),
    ("short ", "short"), ("short ", "short"), ("little ", "short"), ("nice ", ""), ("good ", ""),
    ("long ", "long"), ("bedtime ", "bedtime"), ("funny ", "funny"),
)  # fmt: skip


@cache
def clauses() -> dict[str, list[Template]]:
    """What a request may want to happen, by the name of the plot."""
    by_plot = read_sections(DATA / "wishes.txt")
    return {name: [compile_template(line) for line in lines] for name, lines in by_plot.items()}


def _any_hero(rng: random.Random) -> str:
    """A hero, the dear old ones more often than the rare ones."""
    way = rng.random()
    if way < 0.45:
        return rng.choice(
            ("dog", "cat", "girl", "boy", "dragon", "robot", "bear", "fox", "rabbit", "king",
             "princess", "mouse", "owl", "horse", "knight")
        )  # fmt: skip
    if way < 0.7:
        return early(rng, hero_nouns("animal"))
    if way < 0.95:
        return rng.choice(hero_nouns("child", "adult", "fantasy", "thing"))
    return rng.choice(hero_nouns("sea", "still", "sky"))


def is_reserved(*parts: str) -> bool:
    return crc32("/".join(parts).encode()) % RESERVED_ONE_IN == 0


KINDS = (
    ("any", 12), ("hero", 26), ("trait", 10), ("named", 24), ("two", 12), ("place", 6),
    ("heroplace", 12), ("season", 4), ("theme", 8), ("herotheme", 3), ("thing", 5),
    ("herothing", 3), ("begin", 5), ("three", 14), ("continue", 4), ("bare", 9), ("mood", 4),
    ("child", 20), ("plot", 150), ("word", 9), ("line", 12), ("words", 9), ("pet", 10),
)  # fmt: skip
KIND_NAMES = tuple(kind for kind, _ in KINDS)
KIND_WEIGHTS = tuple(weight for _, weight in KINDS)
# Plots in which much can be wished for: what is wished must be taken over from the request.
OPEN_PLOTS = {
    "learn": 9, "lose": 9, "key": 4, "fear": 7, "dream": 9, "trouble": 6, "learning": 2,
    "become": 12, "lost-way": 9, "thief": 9, "magic-find": 9, "trip": 9, "only-eats": 7,
    "refuse": 7, "save": 7, "special": 6, "visit": 5, "likes": 9, "hates": 7, "sneeze": 4,
    "collect": 7, "turns-into": 7, "forgets": 6, "misses": 6, "odd": 2, "can": 8, "finds": 9,
}  # fmt: skip
DOES = ("who ", "that ")
# "a robot gardener", "a cat detective": what somebody with a job may be.
SPECIES = (
    "robot", "cat", "dog", "mouse", "bear", "fox", "owl", "penguin", "rabbit", "ghost", "dragon",
    "monkey", "pig", "elephant", "duck",
)  # fmt: skip
NO_JOBS = frozenset((
    "king", "queen", "prince", "princess", "uncle", "aunt", "grandmother", "grandfather", "grandma",
    "grandpa", "mother", "father", "old man", "old woman", "emperor", "king of the mice", "tourist",
    "traveller",
))  # fmt: skip
WITH_WISH = 0.5  # of the very short stories: something that shall happen
VEHICLES = ("tractor", "digger", "train", "fire engine", "truck", "rocket", "bus", "car")
PETS = (
    "dog", "cat", "hamster", "rabbit", "parrot", "pony", "horse", "mouse", "hen", "goat", "kitten",
    "sheep", "cow", "pig", "donkey", "duck", "goldfish", "teddy bear", "tractor", "car", "bicycle",
)  # fmt: skip
# Children for whom a story is wanted, and their pronoun.
CHILDREN = (
    ("daughter", "she"), ("son", "he"), ("little girl", "she"), ("little boy", "he"),
    ("niece", "she"), ("nephew", "he"), ("granddaughter", "she"), ("grandson", "he"),
    ("kid", "he"), ("child", "she"), ("little sister", "she"), ("little brother", "he"),
)  # fmt: skip
AGES = ("three", "four", "five", "six", "seven", "3", "4", "5", "6", "7", "five years old")
HELPERS = (
    ", with {x}", " and {x}", " and is helped by {x}", ", and {x} helps {him}",
    ". {x} should help {him}", ". {x} helps {him}.", ". There should be {x} too.",
    ". With {x}, please.", " with the help of {x}",
)  # fmt: skip
# Requests whose wordings come from the list of another kind.
WORDING = {"trait": "hero", "named": "hero", "two": "hero", "mood": "any", "plot": "hero"}


def _species(rng: random.Random, hero: str) -> str:
    """What a hero with a job is, now and then."""
    has_job = heroes()[hero][0] == "adult" and hero not in NO_JOBS
    return rng.choice(SPECIES) if has_job and rng.random() < 0.3 else ""


def _wanted(rng: random.Random, wish: Wish) -> None:
    """Something that shall happen in the story, into `wish`."""
    names = [*clauses()]
    wish.plot = rng.choices(names, [OPEN_PLOTS.get(name, 1) for name in names])[0]
    wish.clause = rng.choice(clauses()[wish.plot])


def _request(rng: random.Random, reserved_wording: bool) -> tuple[str, Wish, str] | None:
    """A request, what it asks for, and the combination that may be reserved; None if no plot can
    honour it."""
    kind = rng.choices(KIND_NAMES, KIND_WEIGHTS)[0]
    wish = Wish(hero=_any_hero(rng))
    noun_kind, fixed = heroes()[wish.hero]
    fill: dict[str, str] = {"x": with_article(wish.hero), "hero": wish.hero}
    if kind in ("named", "two", "plot") and rng.random() < 0.2 and not wish.hero.startswith("old "):
        wish.trait = rng.choice(words()["traits-asked"])
        fill["x"] = with_article(f"{wish.trait} {wish.hero}")
    key = ""
    way, meaning = rng.choice(WAYS)
    if kind == "three":
        way, meaning = rng.choice(
            (("", ""), ("", ""), ("funny ", "funny"), ("scary ", "spooky"), ("sad ", "sad"),
             ("bedtime ", "bedtime"), ("ghost ", "spooky"), ("spooky ", "spooky"))
        )  # fmt: skip
    if kind == "mood":
        way, meaning = rng.choice(
            (("bedtime ", "bedtime"), ("funny ", "funny"), ("sad ", "sad"),
             ("scary ", "spooky"), ("spooky ", "spooky"), ("ghost ", "spooky"),
             ("exciting ", "adventure"), ("adventure ", "adventure"),
             ("good-night ", "bedtime"), ("long ", "long"), ("moral ", "moral"))
        )  # fmt: skip
    if kind == "bare":
        phrase = rng.choice(BARE)
        named = rng.random() < 0.4 and (phrase.endswith((" a", " was")) or phrase == BARE[0])
        if named:
            start = phrase.removesuffix(" a").removesuffix(" there was").rstrip(",")
            start = start if start.endswith(" was") else f"{start} there was"
            wish.phrase, text = start, f"{start} {with_article(wish.hero)}"
            wish.trait = "" if rng.random() < 0.7 else rng.choice(words()["traits"])
            if wish.trait:
                text = f"{start} {described(wish.trait, wish.hero)}"
            if rng.random() < 0.3:
                wish.name = asked_name(rng, fixed or rng.choice(("he", "she")))
                text += f" named {wish.name}"
            text += rng.choice(("", "", "", " who", " who", " that"))
            key = f"bare/{wish.trait}/{wish.hero}"
        else:
            text = phrase
            wish.phrase = phrase.removesuffix(" a").removesuffix(" in a land far away")
            wish.phrase = "In a land far away" if "land" in phrase else wish.phrase
        text += rng.choice(("", "", "", "...", " ..."))
        if reserved_wording:
            return None
        return (text, wish, key) if candidates(wish) else None
    if kind == "trait":
        plot_traits = sorted({trait for plot in plots() for trait in plot.traits})
        wish.trait = rng.choice(words()["traits-asked"] if rng.random() < 0.5 else plot_traits)
        if wish.hero.startswith("old "):
            return None
        wish.trait = _species(rng, wish.hero) or wish.trait
        fill["x"] = with_article(f"{wish.trait} {wish.hero}")
        key = f"{wish.trait}/{wish.hero}"
    elif kind == "word":
        wish.trait = _species(rng, wish.hero)
        fill["hero"] = f"{wish.trait} {wish.hero}".strip()
    elif kind == "named":
        pronoun = fixed or rng.choice(("he", "she"))
        wish.name = asked_name(rng, pronoun)
        fill["x"] += rng.choice((" named ", " named ", " called ", " with the name ")) + wish.name
        key = f"{wish.hero}/{wish.name}"
    elif kind == "child":
        child, pronoun = rng.choice(CHILDREN)
        wish.hero = early(rng, hero_nouns("animal"))
        if rng.random() < 0.2:
            wish.hero = rng.choice(VEHICLES if rng.random() < 0.6 else hero_nouns("fantasy", "sea"))
        if rng.random() < 0.2:
            wish.trait = rng.choice(("little", "small", "brave", "shy", "clever", "funny", "lazy"))
        wish.name = fill["name"] = asked_name(rng, pronoun)
        if known_pronoun(wish.name) != pronoun or heroes()[wish.hero][1] not in ("", pronoun):
            return None
        fill["x"] = with_article(f"{wish.trait} {wish.hero}".strip())
        girl = "girl" if pronoun == "she" else "boy"
        fill.update(child=child, girl=girl, xs=plural_of(wish.hero), four=rng.choice(AGES))
        fill.update(she=pronoun, her="her" if pronoun == "she" else "him", She=sentence(pronoun))
        key = f"child/{wish.hero}/{wish.name}"
    elif kind == "two":
        pool = (noun_kind,) if noun_kind == "sea" else LAND
        wish.friend = rng.choice(hero_nouns(*pool))
        if wish.friend == wish.hero or noun_kind in ("still", "sky"):
            return None
        key = f"{wish.hero}+{wish.friend}"
        if rng.random() < 0.15:
            wish.name = asked_name(rng, fixed or rng.choice(("he", "she")))
            fill["x"] += f" named {wish.name}"
        if rng.random() < 0.3:
            wish.friend_trait = rng.choice(words()["traits-asked"])
        friend = described(wish.friend_trait, wish.friend)
        # The hero's pronoun is known when the story is told.
        fill["x"] += f" and {rng.choice((friend, friend, f'{{his}} {wish.friend}'))}"
        if rng.random() < 0.15:
            fill["x"] = f"the friendship between {fill['x']}"
    elif kind == "plot":
        _wanted(rng, wish)
        if rng.random() < 0.35:
            wish.name = asked_name(rng, fixed or rng.choice(("he", "she")))
            fill["x"] += rng.choice((" named ", " named ", " called ")) + wish.name
        helped = ""
        if rng.random() < 0.2:
            wish.friend = rng.choice(hero_nouns("sea" if noun_kind == "sea" else "animal"))
            if wish.friend == wish.hero:
                return None
            helped = rng.choice(HELPERS).replace("{x}", with_article(wish.friend))
        fill["who"] = fill["x"]
        fill["x"] += " {clause}"
        if helped.startswith("."):
            fill["end"] = sentence(helped[2:])
        else:
            fill["x"] += helped
        key = f"{wish.hero}:{wish.plot}"
    elif kind in ("place", "heroplace"):
        wish.place = rng.choice(place_rows())
        if kind == "place" and wish.place[5] == "asked":
            return None
        under = wish.place[5] == "under"
        if (noun_kind == "sea") != under or noun_kind in ("still", "sky"):
            return None
        fill.update(topic=wish.place[0])
        fill["in"] = wish.place[1]
        key = f"{wish.hero if kind == 'heroplace' else ''}@{wish.place[0]}"
        key = key if kind == "heroplace" else ""
    elif kind == "season":
        wish.season = fill["season"] = rng.choice(SEASONS)
        if noun_kind in ("sea", "sky"):
            return None
    elif kind in ("theme", "herotheme"):
        wish.theme = fill["theme"] = rng.choice(theme_names())
        key = f"{wish.hero}#{wish.theme}" if kind == "herotheme" else ""
    elif kind in ("thing", "herothing"):
        wish.thing = rng.choice(words()["treasures-water" if noun_kind == "sea" else "treasures"])
        short = wish.thing.split()[-1]
        lost = rng.random() < 0.5
        wish.plot = "lost-treasure" if lost else ""
        named_thing = rng.choice((short, wish.thing))
        fill["lost"] = f"lost {named_thing}" if lost else named_thing
        fill["a lost"] = with_article(f"lost {named_thing}" if lost else named_thing)
        key = f"{wish.hero if kind == 'herothing' else ''}*{wish.thing}*{lost}"
    elif kind == "begin":
        wish.phrase = fill["phrase"] = rng.choice(PHRASES)
    elif kind == "three":
        wish.length = "three"
        if rng.random() < WITH_WISH:
            _wanted(rng, wish)
            fill["x"] += " {clause}"
    elif kind == "line":
        wish.plot, wish.begins = "odd", True
    elif kind == "words":
        wish.friend, wish.thing = rng.choice(hero_nouns(*LAND)), rng.choice(words()["treasures"])
        if noun_kind not in LAND or wish.friend == wish.hero:
            return None
        fill["f"], fill["a thing"] = with_article(wish.friend), with_article(wish.thing)
        fill.update(friend=wish.friend, thing=wish.thing)
        key = f"{wish.hero}+{wish.friend}*{wish.thing}"
    elif kind == "pet":
        wish.hero = rng.choice(PETS)
        pronoun = rng.choice(("he", "she"))
        wish.name = fill["name"] = asked_name(rng, pronoun)
        fill.update(hero=wish.hero)
        key = f"{wish.hero}/{wish.name}"
    elif kind == "continue":
        wish.goes_on = True
        wish.name = asked_name(rng, fixed or rng.choice(("he", "she")))
        wish.trait = rng.choice(words()["traits"])
        begin = rng.choice(("Once upon a time there was", "Once upon a time, there was",
                            "There once was", "Once there was", "Long ago there was"))  # fmt: skip
        fill["start"] = f"{begin} {described(wish.trait, wish.hero)} named {wish.name}."
        key = f"{wish.hero}/{wish.name}"
    section = WORDING.get(kind, kind)
    deed = kind == "plot" and isinstance(wish.clause[0], str) and wish.clause[0].startswith(DOES)
    if deed and not (wish.friend and "end" not in fill) and rng.random() < 0.35:
        section = "scene"
    elif (deed or kind == "two") and rng.random() < 0.25:
        section = "deed"
    template = rng.choice(wordings(ASKS, section, reserved_wording))
    while kind == "three" and wish.clause and "{x}" not in template:
        template = rng.choice(wordings(ASKS, section, reserved_wording))
    wish.begins = "{line}" in template
    if kind == "child" and "{x}" not in template:
        wish.trait = ""
    if kind == "child" and not ("{x}" in template or "{xs}" in template):
        wish.hero = fill["girl"]  # the story is about the child
    if "{kind}" not in template:
        way, meaning = "", ""
    if meaning in ("short", "long"):
        wish.length = meaning
    elif meaning == "moral":
        wish.moral, way = True, ""
    elif meaning:
        wish.mood = meaning
    text = sentence(template.replace("{who}", fill.pop("who", "")))
    if "end" in fill:
        text = f"{text.rstrip('.?! ')}. {fill.pop('end')}"
    for name, value in (*fill.items(), ("kind", way)):
        text = text.replace(f"{{{name}}}", value)
    if meaning == "spooky" and rng.random() < 0.3:
        text = f"{text.rstrip('.?!')}, but not too scary."
    if kind == "mood" and meaning == "sad" and rng.random() < 0.6:
        text = f"{text.rstrip('.?!')} with a happy ending."
    if wish.moral or (kind in ("any", "hero", "trait", "mood") and rng.random() < 0.06):
        if " story" in text and meaning != "sad":
            wish.moral = True
            text = f"{text.rstrip('.?! ')} with a moral."
        elif wish.moral:
            return None
    if re.search(r"\b[Aa] (?:adventure|exciting)\b", text):
        text = re.sub(r"\b([Aa]) (adventure|exciting)\b", r"\1n \2", text)
    text = re.sub(r"\b([Aa]) (autumn)\b", r"\1n \2", text)
    wish.title = template.startswith("Write") and wish.length != "three"
    return (text, wish, key) if candidates(wish) else None


AS_TOLD = 0.12  # of the wishes: as of somebody known, "the fox who lost his hat"
_PAST = dict(IRREGULAR.values()) | {
    "cannot": "could not", "can't": "couldn't", "can": "could", "does": "did", "doesn't": "didn't",
    "won't": "would not", "steals": "stole", "catches": "caught", "flies": "flew",
    "drives": "drove",
    "wakes": "woke", "fights": "fought", "builds": "built", "makes": "made", "gets": "got",
    "beats": "beat", "brags": "bragged", "hears": "heard", "hides": "hid", "swaps": "swapped",
    "tells": "told", "quarrels": "quarrelled",
}  # fmt: skip


def in_the_past(clause: str) -> str:
    """`who lost his hat` for `who loses his hat`; as it is where there is more than one verb."""
    who, _, rest = clause.partition(" ")
    verb, _, rest = rest.partition(" ")
    regular = re.fullmatch("[a-z]+[^s]s", verb) and verb not in ("always", "was")
    several = re.search(r"\b(and|when|nobody|where|why)\b", rest)
    if who not in ("who", "that") or several or not (verb in _PAST or regular):
        return clause
    base = re.sub("ies$", "y", verb) if verb.endswith("ies") else re.sub("(?<=sh)es$|s$", "", verb)
    return f"{who} {_PAST.get(verb) or conjugated(base, True, False)} {rest}"


def _typed(rng: random.Random, text: str, wish: Wish, *keep: str) -> str:
    """`text` as typed, without a slip in what is wished for."""
    thing = wish.thing.split(" ")[-1]
    names = (wish.name, wish.hero, wish.friend)
    return typed_with(rng, text, *names, wish.trait, thing, wish.season, *keep)


def _follow_up(rng: random.Random, wish: Wish, story: Story, held_out: bool) -> tuple[str, str]:
    """A question after a story, and its answer."""
    c, plot = story.context, story.plot
    way = rng.random()
    if way < 0.3 and plot.asks:
        asked, answer = rng.choice(plot.asks)
        return render(asked, c, rng), render(answer, c, rng)
    section = rng.choice(("another", "shorter", "moral", "who", "name", "where", "friend", "title",
                          "thanks", "another", "name", "who"))  # fmt: skip
    if section == "friend" and (not plot.has_friend or c["F"] not in story.text):
        section = "who"
    if section == "where" and (c["where"] not in story.text or heroes()[wish.hero][0] == "sky"):
        section = "name"
    if section == "shorter" and wish.length == "three":
        section = "moral"
    question = rng.choice(wordings(ASKS, section, held_out))
    for key, value in (("H", c["H"]), ("F", c["F"]), ("hero", wish.hero)):
        question = question.replace(f"{{{key}}}", value)
    question = question.replace("{x}", with_article(wish.hero))
    if section == "another":
        again = Wish(hero=wish.hero, length=wish.length, mood=wish.mood)
        return question, tell(rng, again).text
    if section == "shorter":
        return question, render(mostly_first(rng, plot.shorts), c, rng)
    if section == "moral":
        return question, f"The moral is: {render(mostly_first(rng, plot.morals), c, rng)}"
    if section == "who":
        about = render(plot.about, c, rng)
        return question, f"The story is about {c['H']} the {wish.hero}, {about}."
    if section == "name":
        return question, f"The {wish.hero}'s name was {c['H']}."
    if section == "where":
        return question, f"{c['H']} {c['lived']} {c['where']}."
    if section == "friend":
        return question, f"{c['F']} is {c['a friend']} in the story about {c['H']} the {wish.hero}."
    if section == "title":
        return question, f'A good title is "{title_of(rng, plot, c)}".'
    return question, rng.choice(
        (
            f"You are welcome! I am glad that you liked the story of {c['H']} the {wish.hero}.",
            f"Thank you! I liked telling you about {c['H']} the {wish.hero}.",
        )
    )


def sample(rng: random.Random, held_out: bool = False) -> Conversation:
    """A request for a story and the story, sometimes with a question after it."""
    while True:
        reserved_wording = held_out and rng.random() < 0.02
        request = _request(rng, reserved_wording)
        if request is None:
            continue
        text, wish, key = request
        if held_out == (reserved_wording or (bool(key) and is_reserved(key))):
            break
    story = tell(rng, wish)
    clause = render(wish.clause, story.context, rng)
    one = with_article(f"{wish.trait} {wish.hero}".strip())
    if "{clause}" in text and one in text and rng.random() < AS_TOLD:
        told = in_the_past(clause)
        if told != clause:
            clause, text = told, text.replace(one, f"the {one.partition(' ')[2]}", 1)
    strange = story.context.get("strange", "")
    for name, value in (
        ("clause", clause), ("does", clause.partition(" ")[2]), ("strange", strange),
        ("line", sentence(f"{strange}.")),
    ):  # fmt: skip
        text = text.replace(f"{{{name}}}", value)
    for name in ("he", "him", "his"):
        text = text.replace(f"{{{name}}}", story.context[name])
    text = text.replace("{His}", sentence(story.context["his"]))
    turns = [_typed(rng, text, wish, strange), story.text]
    if rng.random() < 0.15:
        question, answer = _follow_up(rng, wish, story, held_out)
        turns += [_typed(rng, question, Wish(hero=wish.hero, name=story.context["H"])), answer]
    return chat(*turns)
