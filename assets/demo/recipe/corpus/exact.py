"""Exact copies of anything: words of all the answers in any order, orders, codes, addresses,
e-mails, mistakes, lists; and the same words in capitals, in another order, numbered, or one for
another.

The texts of `copying.py` are mostly sentences, so that a model may guess the next word. Here hardly
a word follows from the one before: what comes next stands only in the question. Each answer is made
by a rule from the text.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from functools import cache

from assets.demo.recipe.corpus import copying, daily, rewriting, subjects
from assets.demo.recipe.corpus.copying import Job
from assets.demo.recipe.corpus.text import Conversation, alternative, chat, listed, sentence
from assets.demo.recipe.corpus.wordplay import plural_of

Maker = Callable[[random.Random], Job]
PUNCTUATION = re.compile(r"[.,;:!?]")


@cache
def lexicon() -> tuple[str, ...]:
    """Every word of the hand-written answers, however rare, and of the lists."""
    own = {word for pool in daily.POOLS.values() for word in pool if word.islower()}
    found = set(re.findall(r"(?<!['-])\b[a-z]{2,14}\b(?!['-])", daily._answers())) | own
    return tuple(sorted(found | set(daily.common())))


def word(rng: random.Random) -> str:
    """A word: any, a common one, or one that nobody knows."""
    way = rng.random()
    if way < 0.6:
        return rng.choice(lexicon())
    return rng.choice(daily.common()) if way < 0.93 else subjects.made_up(rng)


def words(rng: random.Random, least: int = 1, most: int = 8) -> list[str]:
    """So many different words."""
    count = rng.randint(least, most)
    return list(dict.fromkeys(word(rng) for _ in range(4 * count)))[:count]


def name(rng: random.Random) -> str:
    return subjects.rare_name(rng) if rng.random() < 0.4 else rng.choice(daily.NAMES)


def last_name(rng: random.Random) -> str:
    if rng.random() < 0.4:
        return subjects.made_up(rng).capitalize()
    return rng.choice(subjects.LAST_NAMES)


def digits(rng: random.Random, count: int) -> str:
    return "".join(rng.choices("0123456789", k=count))


def letters(rng: random.Random, count: int) -> str:
    return "".join(rng.choices("ABCDEFGHJKLMNPQRSTUVWXYZ", k=count))


def number(rng: random.Random) -> str:
    """A number as it is written somewhere."""
    way = rng.randrange(9)
    if way < 3:
        return str(rng.randrange(10 ** rng.randint(1, 6)))
    if way == 3:
        return f"{rng.randrange(1000)}.{digits(rng, rng.randint(1, 3))}"
    if way == 4:
        return f"{rng.randint(1, 999)},{digits(rng, 3)}"
    if way == 5:
        return rng.choice("$£€") + rng.choice((str(rng.randrange(900)), f"{rng.randrange(90)}.99"))
    if way == 6:
        return f"{rng.randint(1, 100)}%"
    if way == 7:
        return f"-{rng.randrange(100)}"
    return digits(rng, rng.randint(3, 12))


def code(rng: random.Random) -> str:
    """A number of an order, a flight, a version, a colour, a password."""
    mixed = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz23456789"
    ways: tuple[Callable[[], str], ...] = (
        lambda: f"#{digits(rng, rng.randint(2, 6))}",
        lambda: f"{letters(rng, rng.randint(1, 3))}{digits(rng, rng.randint(1, 5))}",
        lambda: f"{letters(rng, 2)}-{digits(rng, rng.randint(2, 5))}",
        lambda: f"{letters(rng, 2)}-{digits(rng, 3)}-{letters(rng, 1)}",
        lambda: "".join(rng.choices(mixed, k=rng.randint(4, 12))),
        lambda: f"v{rng.randint(0, 9)}.{rng.randint(0, 20)}.{rng.randint(0, 9)}",
        lambda: ".".join(str(rng.randrange(256)) for _ in range(4)),
        lambda: f"#{rng.randrange(1 << 24):06x}",
        lambda: f"{rng.choice(lexicon())}_{rng.choice(lexicon())}{rng.randrange(100)}",
        lambda: f"{rng.choice(lexicon())}-{rng.choice(lexicon())}-{digits(rng, 2)}",
        lambda: f"{digits(rng, 4)} {digits(rng, 4)} {digits(rng, 4)}",
        lambda: "".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(2, 9))),
        lambda: (
            f"{letters(rng, 1)}{digits(rng, 1)}{letters(rng, 1)} {digits(rng, 1)}{letters(rng, 2)}"
        ),
        lambda: "".join(rng.choices("01", k=rng.randint(4, 12))),
    )
    return rng.choice(ways)()


def contact(rng: random.Random) -> str:
    """An e-mail, a page, a telephone number, an address."""
    first, last = name(rng), last_name(rng)
    low, place = first.lower(), rng.choice(lexicon())
    end = rng.choice(("com", "org", "net", "co.uk", "de", "edu", "io"))
    host = rng.choice(("example", "mail", "post", "work", place, last.lower()))
    street = f"{rng.randint(1, 250)}{rng.choice(('', '', '', 'a', 'b'))} "
    street += rng.choice((last, sentence(place), rng.choice(("Mill", "Church", "High", "Park"))))
    street += rng.choice((" Street", " Road", " Lane", " Avenue", " Square", " Close"))
    code_ = f"{letters(rng, 2)}{rng.randint(1, 19)} {rng.randint(1, 9)}{letters(rng, 2)}"
    ways = (
        f"{low}.{last.lower()}@{host}.{end}",
        f"{low}{rng.randrange(100)}@{host}.{end}",
        f"{place}@{host}.{end}",
        f"www.{place}.{end}",
        f"https://{host}.{end}/{place}",
        f"https://{host}.{end}/{place}/{rng.choice(lexicon())}?id={rng.randrange(1000)}",
        f"@{low}_{place}",
        f"#{place}{rng.choice(lexicon())}",
        f"+{rng.randint(1, 99)} {digits(rng, 3)} {digits(rng, 6)}",
        f"0{digits(rng, 4)} {digits(rng, 6)}",
        f"({digits(rng, 3)}) 555-{digits(rng, 4)}",
        street,
        f"{first} {last}, {street}, {rng.choice(subjects.CITIES)}",
        f"{street}, {rng.choice(subjects.CITIES)} {code_}",
        f"{first} {last}\n{street}\n{rng.choice(subjects.CITIES)} {code_}",
        f"/home/{low}/{place}.txt",
        f"C:\\{place}\\{rng.choice(lexicon())}.doc",
        f"{place}.{rng.choice(('py', 'md', 'csv', 'pdf', 'json'))}",
    )
    return rng.choice(ways)


def date(rng: random.Random) -> str:
    day, month, year = rng.randint(1, 28), rng.choice(daily.MONTHS), rng.randint(1900, 2040)
    at = daily.MONTHS.index(month) + 1
    hour, minute = rng.randint(0, 23), rng.randrange(60)
    return rng.choice(
        (
            f"{day} {month} {year}",
            f"{month} {day}, {year}",
            f"{day:02}/{at:02}/{year}",
            str(year),
            f"{year}-{at:02}-{day:02}",
            f"{day}.{at}.{year}",
            f"{month} {day}",
            f"{hour}:{minute:02}",
            f"{hour % 12 + 1}:{minute:02} {rng.choice(('am', 'pm'))}",
            f"{rng.choice(daily.DAYS)}, {day} {month}",
            f"{rng.choice(daily.DAYS)} at {hour % 12 + 1}",
            f"{hour:02}:{minute:02}:{rng.randrange(60):02}",
        )
    )


PAPERS = ("order", "ticket", "invoice", "item", "parcel", "case", "ref", "no.")
UNITS = ("g", "kg", "ml", "cm", "km", "m", "litres", "pieces")
SIZES = ("S", "M", "L", "XL", "XS", "XXL")


def field(rng: random.Random) -> str:
    """One thing that stands on an order, a ticket, a form."""
    noun = rng.choice(daily.THINGS)
    town = rng.choice(subjects.CITIES)
    one = rng.choice(lexicon())
    ways: tuple[Callable[[], str], ...] = (
        lambda: f"{one} {code(rng)}",
        lambda: f"{one} {number(rng)}",
        lambda: one,
        lambda: noun,
        lambda: f"{rng.choice(PAPERS)} {code(rng)}",
        lambda: rng.choice(subjects.COLOURS),
        lambda: f"size {rng.choice(SIZES)}",
        lambda: f"size {rng.randint(28, 50)}",
        lambda: f"{rng.choice(lexicon())} to {town}",
        lambda: f"{rng.randint(2, 40)} x {noun}",
        lambda: f"{rng.randint(2, 40)} {plural_of(noun)}",
        lambda: f"{rng.choice(subjects.COLOURS)} {noun}",
        lambda: f"for {name(rng)}",
        lambda: f"by {rng.choice(daily.DAYS)}",
        lambda: f"room {rng.randint(1, 400)}",
        lambda: (
            f"{rng.choice(('gate', 'seat', 'row', 'floor', 'platform', 'box', 'page'))} {code(rng)}"
        ),
        lambda: number(rng),
        lambda: date(rng),
        lambda: town,
        lambda: name(rng),
        lambda: f"{name(rng)} {last_name(rng)}",
        lambda: f"from {town}",
        lambda: f"not {one}",
        lambda: f"{one}: {rng.choice((noun, number(rng), name(rng), rng.choice(lexicon())))}",
        lambda: f"{rng.randint(1, 900)} {rng.choice(UNITS)}",
        lambda: f"{rng.choice(daily.ADJECTIVES)} {rng.choice(lexicon())}",
        lambda: f"qty {rng.randint(1, 99)}",
    )
    return rng.choice(ways)()


def record(rng: random.Random) -> str:
    """A row of such things."""
    between = rng.choice((", ",) * 8 + ("; ", " / ", " | ", " - ", " + ", ","))
    found = [field(rng) for _ in range(rng.randint(2, 6))]
    return between.join(found) + ("." if rng.random() < 0.12 else "")


def salad(rng: random.Random) -> str:
    """Words that have nothing to do with each other."""
    found = words(rng, 1, 9)
    way = rng.random()
    if way < 0.5:
        return " ".join(found)
    if way < 0.75:
        return ", ".join(found)
    if way < 0.83:
        return sentence(" ".join(found)) + rng.choice(".!?")
    return rng.choice(("-", " - ", " / ", "; ", " + ", "_", " > ", " and ", "...")).join(found)


def marked(rng: random.Random) -> str:
    """Words in mixed case and with many signs."""
    found = words(rng, 2, 7)
    for at in range(len(found)):
        way = rng.random()
        if way < 0.25:
            found[at] = found[at].upper()
        elif way < 0.45:
            found[at] = found[at].capitalize()
        elif way < 0.5:
            found[at] = found[at][:-1] + found[at][-1].upper()
        elif way < 0.56:
            found[at] = "".join(c.upper() if i % 2 else c for i, c in enumerate(found[at]))
        elif way < 0.62:
            around = rng.choice(("()", "[]", "{}", "<>", "**", "''"))
            found[at] = f"{around[0]}{found[at]}{around[1]}"
        elif way < 0.72:
            found[at] = rng.choice((number(rng), name(rng), rng.choice("&+=@*/?!")))
        elif way < 0.92:
            found[at] += rng.choice(
                (",", ",", ".", "!", "?", ";", ":", "...", "!!", "?!", " -", " :)")
            )
    return " ".join(found)


SUMS = (
    "{a} + {b} = {c}",
    "({a} - {b}) * {c}",
    "x = {a}; y = {b}",
    "f(x) = {a}x + {b}",
    "{w} != {v}",
    "{a} < {b} < {c}",
    "{w}[{a}]",
    "{w}({v}, {a})",
    '{{"{w}": {a}}}',
    "<b>{w}</b>",
    "{w}={v}&{u}={a}",
    "{a}:{b}:{c}",
    "{w}.{v}()",
    "[{a}, {b}, {c}]",
    "if {w} > {a}: {v}",
    "{w}: {v}, {u}: {a}",
    "** {w} **",
    "~{w}~",
    "{w}/{v}/{u}",
    "{w} -> {v} -> {u}",
    "-{w} --{v} {a}",
    "^_^ {w}",
    ":-) {w} <3",
)


def formula(rng: random.Random) -> str:
    w, v, u = (words(rng, 3, 3) * 3)[:3]
    a, b, c = (rng.randrange(10 ** rng.randint(1, 3)) for _ in range(3))
    return rng.choice(SUMS).format(a=a, b=b, c=c, w=w, v=v, u=u)


ACCENTED = (
    "café",
    "naïve",
    "Zoë",
    "José",
    "München",
    "Köln",
    "Málaga",
    "crème brûlée",
    "São Paulo",
    "Renée",
    "Łódź",
    "Ångström",
    "señor",
    "piñata",
    "über",
    "déjà vu",
    "Chloë",
    "François",
)


def mistaken(rng: random.Random) -> str:
    """A sentence full of mistakes, or one that somebody hardly understands: to be left as it is."""
    text = rewriting.line(rng, 10)
    way = rng.random()
    if way < 0.6:
        return rewriting.sloppy(rng, rewriting.with_slips(rng, text))
    if way < 0.8:
        return rewriting.odd_words(rng)
    if way < 0.9:
        return f"{rng.choice(ACCENTED)} {' '.join(words(rng, 1, 4))}"
    return rewriting.grammar(rng).text


def rows(rng: random.Random) -> str:
    """Some lines: a list, numbered or not."""
    count = rng.randint(2, 6)
    items = [
        rng.choice((field, lambda r: " ".join(words(r, 1, 3)), field))(rng) for _ in range(count)
    ]
    way = rng.random()
    if way < 0.3:
        items = [f"{n}. {item}" for n, item in enumerate(items, 1)]
    elif way < 0.5:
        items = [f"- {item}" for item in items]
    elif way < 0.6:
        items = [f"{word(rng)}: {item}" for item in items]
    return "\n".join(items)


def message(rng: random.Random) -> str:
    """What somebody sends, with one thing of the kinds above in it."""
    form = rng.choice(MESSAGES)
    for slot, make in (
        ("{r}", field),
        ("{k}", code),
        ("{c}", contact),
        ("{d}", date),
        ("{n}", name),
        ("{w}", word),
        ("{x}", number),
    ):
        while slot in form:
            form = form.replace(slot, make(rng), 1)
    return form


MESSAGES = (
    "please send {r} to {n}",
    "call {n} at {d}",
    "my code is {k}",
    "the password is {k}",
    "write to {c} before {d}",
    "Meeting with {n} on {d}, bring {r}.",
    "Your order {k} has been shipped.",
    "{n}: {w} {w} {w}",
    "Invoice {k}, due on {d}, total {x}",
    "Flight {k} leaves on {d}.",
    "Reply to {n} with the word {w}",
    "{w}! {w}! {w}!",
    "The {w} of {n} is {w}.",
    "Dear {n}, {w} {w}. Yours, {n}",
    "{n} paid {x} for {r}",
    "Visit {c} for more.",
    "Password: {k}",
    "Name: {n}, Code: {k}",
    "Ticket {k}: {w} {w}",
    "I live at {c}",
    "Do not {w} the {w}!",
    "the {w} is {w} and the {w} is {w}",
    "{w} means {w}",
    "who is {n} {w}?",
    "Room {x}, {d}, {n}",
    "{d}: {r}",
    "{n} said: {w} {w}",
    "{k} {k} {k}",
    "{x} {w}, {x} {w}",
    "{w} {x} {w} {x}",
    "the {w} said {w} to the {w}",
    "{n} and {n} {w} in {d}",
    "no {w}, only {w}",
    "my {w} is called {n}",
    "Welcome, {n}! Your number is {x}.",
    "{n} ({x}) - {w}",
    "Buy {r}, {r} and {r}",
    "Send {x} to {n}, ref {k}",
    "Parcel {k} to {c}",
    "{n}, born {d}, {w}",
    "I am {n} and I love {w}",
    "{w} you later, {n}",
    "what a {w} {w}",
)


def paragraph(rng: random.Random) -> str:
    """Some whole sentences, with a line of the things above among them."""
    found = [rewriting.line(rng) for _ in range(rng.randint(2, 5))]
    for make in rng.sample((record, message, marked, salad), rng.choice((0, 1, 1, 2))):
        found.insert(rng.randint(0, len(found)), make(rng))
    return rng.choice((" ", " ", "\n")).join(found)


def figures(rng: random.Random) -> str:
    """A row of numbers."""
    size = 10 ** rng.randint(1, 5)
    found = [str(rng.randrange(size)) for _ in range(rng.randint(2, 10))]
    return rng.choice((" ", ", ", "-", " / ", "")).join(found)


def anything(rng: random.Random) -> str:
    makers = (
        salad,
        salad,
        salad,
        record,
        record,
        record,
        message,
        message,
        message,
        marked,
        marked,
        code,
        contact,
        date,
        formula,
        mistaken,
        rows,
        _names,
        paragraph,
        paragraph,
        figures,
    )
    return rng.choice(makers)(rng)


def _names(rng: random.Random) -> str:
    found = [
        f"{name(rng)} {last_name(rng)}" if rng.random() < 0.5 else name(rng)
        for _ in range(rng.randint(1, 5))
    ]
    return ", ".join(found) if rng.random() < 0.6 else listed(found)


def repeat(rng: random.Random) -> Job:
    text = anything(rng)
    return Job("repeat", text, text)


def short(rng: random.Random) -> str:
    """A few words on one line without signs."""
    way = rng.random()
    if way < 0.22:
        return word(rng)
    if way < 0.6:
        return " ".join(words(rng, 2, 6))
    if way < 0.78:
        return daily.note(rng)
    return rewriting.line(rng, 9).rstrip(".").lower() if way < 0.9 else message(rng)


def upper(rng: random.Random) -> Job:
    text = short(rng)
    text = sentence(text) if rng.random() < 0.2 else text
    return Job("upper", text, text.upper())


def lower(rng: random.Random) -> Job:
    text = short(rng)
    text = text.upper() if rng.random() < 0.75 else marked(rng)
    return Job("lower", text, text.lower())


def title(rng: random.Random) -> Job:
    text = " ".join(words(rng, 2, 7)) if rng.random() < 0.6 else daily.note(rng)
    text = text.upper() if rng.random() < 0.1 else text
    return Job("title", text, " ".join(one.capitalize() for one in text.split()))


def capital(rng: random.Random) -> Job:
    """Only the first letter large."""
    text = " ".join(words(rng, 1, 7))
    return Job("capital first", text, sentence(text))


def whole(text: str, old: str, new: str) -> str:
    """As `copying.whole_words`, with a hyphen as a part of a word."""
    return re.sub(rf"(?<![\w'-]){re.escape(old)}(?![\w'-])", lambda _: new, text)


def replaced(rng: random.Random) -> Job:
    """One word for another, once or wherever it stands."""
    found = words(rng, 2, 8)
    old = rng.choice(found)
    new = rng.choice((word, word, name, number))(rng)
    if rng.random() < 0.35:
        for _ in range(rng.choice((1, 1, 2))):
            found.insert(rng.randint(0, len(found)), old)
    text = rng.choice((" ", " ", ", ")).join(found)
    if rng.random() < 0.3:
        text = message(rng)
        inner = [one for one in re.findall(r"[A-Za-z]{3,}", text) if whole(text, one, "@") != text]
        if not inner:
            return replaced(rng)
        old = rng.choice(inner)
    if re.search(rf"\b{re.escape(new)}\b", text) or "@" in text or "\n" in text:
        return replaced(rng)
    if re.search(rf"\b[Aa]n? {old}\b", text):
        return replaced(rng)
    return Job("word", text, whole(text, old, new), old, new)


def exchanged(rng: random.Random) -> Job:
    """Two words that change places."""
    found = words(rng, 2, 7)
    if len(found) < 2:
        return exchanged(rng)
    a, b = rng.sample(range(len(found)), 2)
    other = found[:]
    other[a], other[b] = found[b], found[a]
    between = rng.choice((" ", ", "))
    return Job("exchange two", between.join(found), between.join(other), found[a], found[b])


def removed(rng: random.Random) -> Job:
    found = words(rng, 3, 8)
    gone = rng.choice(found)
    between = rng.choice((" ", ", "))
    left = [one for one in found if one != gone]
    return Job("delete", between.join(found), between.join(left), gone)


def added(rng: random.Random) -> Job:
    found, new = words(rng, 2, 6), word(rng)
    if new in found:
        return added(rng)
    at = rng.randrange(len(found))
    way, between = rng.random(), rng.choice((" ", ", "))
    text = between.join(found)
    if way < 0.4:
        return Job("add end", text, f"{text}{between}{new}", new)
    before = way < 0.7
    put = [*found[: at + (not before)], new, *found[at + (not before) :]]
    kind = "insert before" if before else "insert after"
    return Job(kind, text, between.join(put), new, found[at])


def reversed_(rng: random.Random) -> Job:
    found = words(rng, 2, 7)
    if len(found) < 2:
        return reversed_(rng)
    between = rng.choice((" ", " ", ", "))
    return Job(rng.choice(("order", "turn")), between.join(found), between.join(reversed(found)))


def things(rng: random.Random) -> list[str]:
    return [rng.choice((field, word, word, name))(rng) for _ in range(rng.randint(2, 7))]


def rowed(rng: random.Random) -> Job:
    """Things on one line, made a list, numbered or not."""
    found = [one for one in dict.fromkeys(things(rng)) if "," not in one]
    if len(found) < 2:
        return rowed(rng)
    numbered = rng.random() < 0.5
    shown = [f"{n}. {one}" if numbered else f"- {one}" for n, one in enumerate(found, 1)]
    text = ", ".join(found) if rng.random() < 0.7 else listed(found)
    if any(" and " in one for one in found):
        return rowed(rng)
    return Job("number row" if numbered else "bullet row", text, "\n".join(shown))


def lined(rng: random.Random) -> Job:
    """Lines that are numbered, marked, joined to one."""
    found = things(rng)
    kind = rng.choice(("number", "bullets", "row"))
    shown = {
        "number": "\n".join(f"{n}. {one}" for n, one in enumerate(found, 1)),
        "bullets": "\n".join(f"- {one}" for one in found),
        "row": ", ".join(found),
    }
    return Job(kind, "\n".join(found), shown[kind])


def counted(rng: random.Random) -> Job:
    found = words(rng, 2, 10)
    shown = ", ".join(f"{n} {one}" for n, one in enumerate(found, 1))
    return Job(
        "count words", " ".join(found), f"{shown}: {len(found)} word{'s' * (len(found) > 1)}."
    )


def nth(rng: random.Random) -> Job:
    found = words(rng, 2, 8)
    if len(found) < 2:
        return nth(rng)
    at = rng.choice((0, 0, len(found) - 1, len(found) - 1, rng.randrange(min(6, len(found)))))
    text = " ".join(found)
    if at == len(found) - 1:
        return Job("nth word", text, f'The last word is "{found[-1]}".', nth="last")
    if at == 0:
        return Job("nth word", text, f'The first word is "{found[0]}".', nth="first")
    shown = ", ".join(f"{n} {one}" for n, one in enumerate(found[: at + 1], 1))
    answer = f'{shown}: the {rewriting.NTH[at]} word is "{found[at]}".'
    return Job("nth word", text, answer, nth=rewriting.NTH[at])


def signs(rng: random.Random) -> Job:
    """Signs for spaces, no signs, no spaces, quotes, brackets, the first letters."""
    kind = rng.choice(
        (
            "dashes",
            "commas",
            "wordlines",
            "underscores",
            "nospaces",
            "nosigns",
            "brackets",
            "quotes",
            "square",
            "semicolons",
            "twice",
            "three",
        )
    )
    found = words(rng, 2, 6)
    text = " ".join(found)
    if kind == "nosigns":
        text = message(rng) if rng.random() < 0.3 else rewriting.line(rng, 10)
        if not PUNCTUATION.search(text) or re.search(r"\w[.:,]\w|[-@#/\\']|\n", text):
            return signs(rng)
        return Job(kind, text, PUNCTUATION.sub("", text))
    if kind == "semicolons":
        text = ", ".join(found)
        return Job(kind, text, "; ".join(found))
    done = {
        "dashes": "-".join(found),
        "commas": ", ".join(found),
        "wordlines": "\n".join(found),
        "underscores": "_".join(found),
        "nospaces": "".join(found),
        "brackets": f"({text})",
        "quotes": f'"{text}"',
        "square": f"[{text}]",
        "twice": f"{text}\n{text}",
        "three": f"{text}\n{text}\n{text}",
    }
    return Job(kind, text, done[kind])


def spaces(rng: random.Random) -> Job:
    """Words with too many spaces between them."""
    text = rewriting.line(rng, 10) if rng.random() < 0.5 else " ".join(words(rng, 2, 7))
    if " " not in text:
        return spaces(rng)
    wide = re.sub(" ", lambda _: " " * rng.choice((1, 2, 2, 3, 4)), text)
    return Job("spaces", wide, text) if wide != text else spaces(rng)


def initials(rng: random.Random) -> Job:
    """The first letters, word by word."""
    found = words(rng, 2, 6)
    shown = ", ".join(f"{one[0].upper()} for {one}" for one in found)
    return Job("initials", " ".join(found), f"{shown}: {''.join(one[0].upper() for one in found)}.")


def anded(rng: random.Random) -> Job:
    """A row with "and" before the last thing."""
    found = [one for one in dict.fromkeys(things(rng)) if not re.search(r",| and |\n", one)]
    if len(found) < 2:
        return anded(rng)
    between = rng.choice((", ", ", ", "\n"))
    return Job("row and", between.join(found), listed(found))


def spelled(rng: random.Random) -> Job:
    """The letters of a word, in capitals."""
    text = word(rng)
    return Job("spell large", text, "-".join(text.upper()))


# Two wishes at once: what is done with the words, and what with the text then.
FIRSTS = (
    ("reverse", ("reverse the words", "put the words in the opposite order")),
    ("replace", ("replace {a} with {b}", "change {a} to {b}", "write {b} instead of {a}")),
    ("remove", ("leave out {a}", "remove {a}", "delete the word {a}")),
    ("first", ("take only the first word", "keep only the first word")),
    ("last", ("take only the last word", "keep only the last word")),
    ("copy", ("copy this", "repeat this", "write this", "say this")),
)
THENS = (
    ("upper", ("write it in capitals", "put it in capital letters", "make it upper case")),
    ("twice", ("write it twice", "say it two times", "repeat it twice")),
    ("quotes", ("put quotation marks around it", "put it in quotes")),
    ("brackets", ("put it in brackets", "put brackets around it")),
    ("lines", ("put each word on its own line", "write one word per line")),
    ("dashes", ("join the words with dashes", "put dashes between the words")),
    ("stop", ("put a full stop at the end", "end it with a full stop")),
)


def both(rng: random.Random) -> tuple[Job, str]:
    """Two wishes in one, and the wish itself: `reverse the words and write it in capitals`."""
    found = words(rng, 3, 6)
    if len(found) < 3:
        return both(rng)
    a, b = rng.choice(found), word(rng)
    if b in found:
        return both(rng)
    (first, say_first), (then, say_then) = rng.choice(FIRSTS), rng.choice(THENS)
    kept = {
        "reverse": found[::-1],
        "replace": [b if one == a else one for one in found],
        "remove": [one for one in found if one != a],
        "first": found[:1],
        "last": found[-1:],
        "copy": found,
    }[first]
    text = " ".join(kept)
    answer = {
        "upper": text.upper(),
        "twice": f"{text}\n{text}",
        "quotes": f'"{text}"',
        "brackets": f"({text})",
        "lines": "\n".join(kept),
        "dashes": "-".join(kept),
        "stop": f"{text}.",
    }[then]
    one, two = rng.choice(say_first), rng.choice(say_then)
    between = rng.choice((" and ", " and ", ", then ", " and then ", ", and "))
    wish = f"{one}{between}{two}".replace("{a}", a).replace("{b}", b)
    before = rng.random() < 0.75
    if before and rng.random() < 0.5:
        wish = sentence(wish)
    shown = f"{wish}: {' '.join(found)}" if before else f"{' '.join(found)}\n{wish}"
    return Job("both", shown, answer, a, b, nth=f"{first} {then}"), wish


MAKERS: dict[Maker, float] = {
    repeat: 46,
    upper: 22,
    lower: 6,
    title: 4,
    capital: 2,
    replaced: 8,
    exchanged: 3,
    removed: 4,
    added: 4,
    reversed_: 4,
    rowed: 5,
    lined: 3,
    counted: 3,
    nth: 4,
    signs: 6,
    initials: 2,
    anded: 2,
    spaces: 2,
    spelled: 3,
}
KINDS, WEIGHTS = tuple(MAKERS), tuple(MAKERS.values())
GAME = (
    "[repeat|copy] [everything|all|whatever|what] i [say|type|write][ from now on| please|]",
    "[i say something and you repeat it|i will say something, and you repeat it]",
    "[say after me|repeat after me]",
    "[lets|let us|let's] play a game, [you repeat what i say|i say it and you copy it]",
    "[can|could|will] you [repeat|copy] what i [say|write][ next|]",
    "[echo me|be my echo|be an echo|play parrot|be a parrot|echo mode]",
    "i will give you [a text|some words|a sentence], [just copy it|repeat it exactly]",
    "[repeat the next message|copy my next message|say my next words back]",
)
READY = "I am ready. Whatever you write next, I repeat it."
STOPS = ("stop", "ok, stop", "enough", "stop repeating", "thank you, that is enough", "stop it now")
STOPPED = "All right, I have stopped repeating. What shall we do next?"


def game(rng: random.Random) -> Conversation:
    """First the wish, then the text alone, often one after another."""
    start = " ".join(alternative(rng, rng.choice(GAME)).split())
    talk = [sentence(start) + rng.choice((".", ".", "!")) if rng.random() < 0.5 else start, READY]
    for _ in range(rng.choice((1, 1, 2, 2, 3, 4))):
        text = rng.choice((salad, message, record, daily.note, rewriting.line))(rng)
        talk += [text, text]
    if rng.random() < 0.15:
        talk += [rng.choice(STOPS), STOPPED]
    return chat(*talk)


def job(rng: random.Random) -> Job:
    return rng.choices(KINDS, WEIGHTS)[0](rng)


def sample(rng: random.Random, held_out: bool = False) -> Conversation:
    if rng.random() < 0.05 and not held_out:
        return game(rng)
    if rng.random() < 0.05 and not held_out:
        two, _ = both(rng)
        return chat(two.text, two.answer)
    todo = job(rng)
    talk = [rewriting.asked(rng, todo, held_out), todo.answer]
    way = rng.random()
    if held_out:
        return chat(*talk)
    if way < 0.12 and todo.kind in ("repeat", "upper", "word", "order", "turn"):
        talk += copying.follow(rng, todo.kind, todo.answer)
    elif way < 0.3:
        for _ in range(rng.choice((1, 1, 2))):
            other = job(rng)
            talk += [rewriting.asked(rng, other), other.answer]
    return chat(*talk)
