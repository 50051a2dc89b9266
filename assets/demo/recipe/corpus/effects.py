"""What raises or lowers what in decoding, and why: "does a higher temperature lower the
acceptance rate", "what happens to the memory if I quantize", "what makes it faster".

What it teaches: the direction. A yes stands only before what is so, whichever way it was asked,
and the reason follows. `forms/effects.txt` has the effects.
"""

from __future__ import annotations

import random
import re
import zlib
from dataclasses import dataclass
from functools import cache

from assets.demo.recipe.corpus.brief import taken
from assets.demo.recipe.corpus.text import (
    FORMS,
    Conversation,
    alternative,
    chat,
    listed,
    read_sections,
    sentence,
    typed_with,
)

# Of each figure: its name, other names, what is the case when it is higher, and when it is lower.
FIGURES: dict[str, tuple[str, tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = {
    "acceptance": (
        "the acceptance rate", ("the acceptance", "alpha", "the share of accepted tokens", "α"),
        ("more guesses get accepted", "more tokens are accepted", "more drafts fit",
         "the drafter is right more often"),
        ("fewer guesses get accepted", "fewer tokens are accepted", "fewer drafts fit",
         "the drafter is wrong more often", "less tokens get accepted"),
    ),
    "tau": (
        "the number of tokens per pass", ("tau", "τ", "the number of tokens per round"),
        ("there are more tokens per pass", "a round gives more tokens"),
        ("there are fewer tokens per pass", "a round gives fewer tokens"),
    ),
    "speed": (
        "the speed", ("the number of tokens per second", "tok/s", "the decoding speed"),
        ("it gets faster", "the answer comes sooner", "there are more tokens per second"),
        ("it gets slower", "the answer comes later", "there are fewer tokens per second"),
    ),
    "speedup": (
        "the speedup", ("the gain of drafting", "the × number", "the advantage of drafting"),
        ("drafting helps more", "the speedup gets larger"),
        ("drafting helps less", "the speedup gets smaller"),
    ),
    "variety": (
        "the variety of the text", ("the randomness", "the variety"),
        ("the text gets more varied", "the text gets more random"),
        ("the text gets less varied", "the text gets duller"),
    ),
    "mistakes": (
        "the number of mistakes", ("the error rate", "the number of errors"),
        ("there are more mistakes", "the model is wrong more often"),
        ("there are fewer mistakes", "the model is wrong less often"),
    ),
    "rejected": (
        "the number of rejected guesses",
        ("the share of rejected tokens", "the number of struck out words"),
        ("more guesses are rejected", "more tokens are struck out"),
        ("fewer guesses are rejected", "fewer tokens are struck out"),
    ),
    "ttft": (
        "the wait for the first token", ("the TTFT", "ttft", "the time to the first token"),
        ("the first token comes later", "i wait longer for the first token"),
        ("the first token comes sooner", "i wait less for the first token"),
    ),
    "memory": (
        "the use of memory", ("the memory use", "the need for memory", "the RAM it needs"),
        ("it needs more memory", "more memory is used"),
        ("it needs less memory", "less memory is used"),
    ),
    "quality": (
        "the quality of the text", ("the quality", "the quality of the answers"),
        ("the answers get better", "the text gets better"),
        ("the answers get worse", "the text gets worse"),
    ),
    "drafting": (
        "the time for guessing", ("the cost of drafting", "the drafting time"),
        ("guessing takes longer", "drafting gets slower"),
        ("guessing takes less time", "drafting gets quicker"),
    ),
    "check": (
        "the time for a check", ("the cost of verifying", "the time of a pass"),
        ("checking takes longer",), ("checking takes less time",),
    ),
    "throughput": (
        "the throughput", ("the text of all users together",),
        ("a server writes more text in all",), ("a server writes less text in all",),
    ),
    "latency": (
        "the wait for the answer", ("the latency", "the waiting time"),
        ("one waits longer for the answer", "the answer takes longer"),
        ("one waits less for the answer", "the answer takes less time"),
    ),
    "energy": (
        "the use of energy", ("the energy", "the power it needs", "the electricity bill"),
        ("it needs more energy", "more power is used"),
        ("it needs less energy", "less power is used"),
    ),
    "computing": (
        "the amount of computing", ("the computing work",),
        ("more is computed",), ("less is computed",),
    ),
    "lookup": (
        "the gain of prompt lookup", ("the speedup of lookup",),
        ("prompt lookup helps more",), ("prompt lookup helps less",),
    ),
    "certainty": (
        "the certainty of the figures", ("the trust in the figures",),
        ("the figures get surer",), ("the figures get less sure",),
    ),
    "length": (
        "the length of the answer", ("the answer's length",),
        ("the answer gets longer",), ("the answer gets shorter",),
    ),
    "passes": (
        "the number of passes", ("the number of steps of the large model",),
        ("more passes are needed",), ("fewer passes are needed",),
    ),
}  # fmt: skip

# {m} is more or less of something, {d} what one does for it, {g} doing it, {f} the figure.
OPEN = (
    "what does {m} do to {f}", "what does {g} do to {f}", "how does {g} [affect|change] {f}",
    "what happens to {f} with {m}", "how does {m} affect {f}",
    "what happens to {f} if i {d}", "what effect does {m} have on {f}", "{m}: what about {f}",
    "how does {f} change if i {d}", "if i {d}, what happens to {f}", "{f} when i {d}",
    "does {m} change {f}, and [how|which way|in which direction]", "what is {f} like with {m}",
    "i want to {d}. [what happens to|what about|does that change] {f}",
    "what will {f} do when i {d}", "effect of {m} on {f}",
    "[how|in what way] is {f} changed by {m}",
    "should i {d}? [i care about|it is about] {f}", "is {f} [up or down|higher or lower] with {m}",
)  # fmt: skip
ASK_UP = (
    "does {m} [raise|increase] {f}", "is {f} higher with {m}", "does {g} [raise|increase] {f}",
    "will {f} go up if i {d}",
    "does {f} rise when i {d}", "{m} [raises|increases] {f}, right",
    "is it true that {m} raises {f}", "can i raise {f} if i {d}",
    "{m} = higher {n}, [true|correct]",
)  # fmt: skip
ASK_DOWN = (
    "does {m} [lower|reduce|decrease] {f}", "is {f} lower with {m}", "does {g} [lower|reduce] {f}",
    "will {f} go down if i {d}",
    "does {f} fall when i {d}", "{m} [lowers|reduces] {f}, right",
    "is it true that {m} lowers {f}", "can i lower {f} if i {d}", "{m} = lower {n}, [true|correct]",
)  # fmt: skip
ASK_ANY = (
    "does {m} change {f}", "does {m} [affect|influence] {f}", "does {g} change {f}",
    "is {f} [changed|affected] by {m}",
    "does {f} depend on {t}", "will {f} change if i {d}", "has {t} anything to do with {f}",
    "does {t} matter for {f}",
)  # fmt: skip
PLAIN = (
    "is it so that {p} with {m}", "{p} with {m}, [right|true|correct]", "if i {d}, {p}, right",
    "{p} if i {d}, [is that right|true|correct]", "with {m} {p}, yes or no",
    "is it true that {p} with {m}", "i heard that {p} with {m}", "would you say {p} with {m}",
    "my colleague says that {p} when i {d}", "is it correct that {p} if i {d}",
    "does {g} mean that {p}", "when {g}, {p}, [right|true]", "is it right that {g} means {p}",
    "{g} means that {p}, or not", "{m} means that {p}, or not", "do you agree that {p} with {m}",
)  # fmt: skip
WHY = (
    "why does {m} {v} {f}", "why is {f} {c} with {m}", "{m} {v}s {f}, why",
    "explain why {m} {v}s {f}", "[what is|tell me] the reason that {m} {v}s {f}",
    "why is it that {m} {v}s {f}", "how come {f} is {c} when i {d}",
)  # fmt: skip
WHAT = (
    "what {v}s {f}", "how can i {v} {f}", "what {v}s {f} most", "how do i {v} {f}",
    "what can i do to {v} {f}", "ways to {v} {f}", "what [makes|gets] {f} {c}",
    "[tell me|list] what {v}s {f}", "which things {v} {f}", "i want to {v} {f}, how",
    "what do i have to do to {v} {f}", "on what does {f} depend",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Effect:
    """What more or less of a thing does to a figure: 1 raises it, -1 lowers it, 0 leaves it, and
    2 is both, as the case may be."""

    thing: str
    said: tuple[str, ...]  # more or less of it
    does: tuple[str, ...]
    figure: str
    sign: int
    why: str


@cache
def effects() -> tuple[Effect, ...]:
    """Raises KeyError for an unknown figure."""
    found = []
    for thing, lines in read_sections(FORMS / "effects.txt").items():
        fields = dict(line.split(": ", 1) for line in lines)
        more, less, do, undo = (
            tuple(fields.pop(key).split(" | ")) for key in ("more", "less", "do", "undo")
        )
        for figure, text in fields.items():
            FIGURES[figure]
            sign = {"+": 1, "-": -1, "=": 0, "~": 2}[text[0]]
            up, slash, down = text[2:].partition(" / ")
            found.append(Effect(thing, more, do, figure, sign, up))
            other = sign if sign in (0, 2) else -sign
            found.append(Effect(thing, less, undo, figure, other, down if slash else up))
    return tuple(found)


def verb(sign: int, many: bool) -> str:
    """`raises`, `lowers`, or `does not change`."""
    if sign == 0:
        return "do not change" if many else "does not change"
    return ("raise" if sign > 0 else "lower") + ("" if many else "s")


def plural(name: str) -> bool:
    """Whether `name` is followed by `raise` and not by `raises`."""
    return (
        re.match(r"(more|fewer) [\w-]+ ?\w*s\b|fewer|many|more (threads|lanes|users)", name)
        is not None
    )


def states(effect: Effect, name: str) -> str:
    """`a higher temperature lowers the acceptance rate: it is harder to guess`."""
    figure = FIGURES[effect.figure][0]
    if effect.sign == 2:
        return f"with {name} it depends: {effect.why}."
    return f"{name} {verb(effect.sign, plural(name))} {figure}: {effect.why}."


def _kept(*parts: str) -> bool:
    return zlib.crc32("/".join(parts).encode()) % 14 == 0


DOUBLED = ("set", "put", "let", "get", "run", "distil")


def doing(does: str) -> str:
    """`raising the temperature` for `raise the temperature`."""
    verb, _, rest = does.partition(" ")
    stem = verb + verb[-1] if verb in DOUBLED else verb.removesuffix("e")
    return f"{stem}ing {rest}"


def _filled(rng: random.Random, form: str, effect: Effect, name: str) -> str:
    figure, others, *_ = FIGURES[effect.figure]
    of = figure if rng.random() < 0.6 else rng.choice(others)
    bare = re.sub(r"^the ", "", figure)
    thing = re.sub(r"^(more|less|fewer|an?) ", "", effect.thing)
    does = rng.choice(effect.does)
    words = {"m": name, "d": does, "g": doing(does), "f": of, "n": bare, "t": thing}
    form = " ".join(alternative(rng, form).split())
    for key, word in words.items():
        form = form.replace(f"{{{key}}}", word)
    if plural(name):
        form = re.sub(rf"^does {re.escape(name)}", f"do {name}", form)
        form = re.sub(
            rf"{re.escape(name)} (raise|lower|increase|reduce|mean)s\b", rf"{name} \1", form
        )
        form = form.replace(f"does {name}", f"do {name}")
    return form


def opened(rng: random.Random, effect: Effect, name: str) -> tuple[str, str]:
    """What happens to the figure."""
    return _filled(rng, rng.choice(OPEN), effect, name), sentence(states(effect, name))


def decided(rng: random.Random, effect: Effect, name: str) -> tuple[str, str]:
    """Whether it is so, asked this way or the other."""
    way = rng.choice((1, -1))
    if effect.sign == 2:
        form = rng.choice(rng.choice((ASK_UP, ASK_ANY, PLAIN)))
        form = form.replace("{p}", rng.choice(FIGURES[effect.figure][2]))
        return _filled(rng, form, effect, name), f"It depends: {effect.why}."
    if effect.sign == 0 and rng.random() < 0.5:
        way = 0
    elif effect.sign and rng.random() < 0.15:
        return _filled(rng, rng.choice(ASK_ANY), effect, name), f"Yes, {states(effect, name)}"
    if way == 0:
        form = rng.choice(ASK_ANY)
    elif rng.random() < 0.5:
        form = rng.choice(ASK_UP if way > 0 else ASK_DOWN)
    else:
        case = rng.choice(FIGURES[effect.figure][2 if way > 0 else 3])
        form = rng.choice(PLAIN).replace("{p}", case)
    yes = effect.sign == way != 0
    return _filled(rng, form, effect, name), f"{'Yes' if yes else 'No'}, {states(effect, name)}"


def reasoned(rng: random.Random, effect: Effect, name: str) -> tuple[str, str]:
    """Why it is so; now and then of what is not so."""
    right = rng.random() < 0.8
    sign = (
        effect.sign
        if right and effect.sign
        else rng.choice([s for s in (1, -1) if s != effect.sign])
    )
    figure = FIGURES[effect.figure][0]
    form = rng.choice(WHY).replace("{c}", "higher" if sign > 0 else "lower")
    form = form.replace("{v}", verb(sign, True))
    text = _filled(rng, form, effect, name)
    if sign == effect.sign:
        return text, f"Because {effect.why}."
    many = plural(name)
    return text, (
        f"{'They do' if many else 'It does'} not: {name} {verb(effect.sign, many)} {figure}, "
        f"because {effect.why}."
    )


def causes(figure: str, sign: int) -> list[str]:
    """What raises or lowers a figure."""
    return [
        effect.said[0] for effect in effects() if (effect.figure, effect.sign) == (figure, sign)
    ]


def caused(rng: random.Random, effect: Effect, name: str) -> tuple[str, str]:
    """What raises or lowers the figure: at most four things."""
    sign = effect.sign
    figure, others, *_ = FIGURES[effect.figure]
    things = causes(effect.figure, sign)[:4]
    form = rng.choice(WHAT[:-1]).replace("{v}", "raise" if sign > 0 else "lower")
    form = form.replace("{c}", "higher" if sign > 0 else "lower")
    of = figure if rng.random() < 0.7 else rng.choice(others)
    text = " ".join(alternative(rng, form.replace("{f}", of)).split())
    word = "raise" if sign > 0 else "lower"
    many = len(things) > 1 or plural(things[0])
    return text, f"{sentence(listed(things))} {word}{'' if many else 's'} {figure}."


WAYS = {opened: 5, decided: 10, reasoned: 4, caused: 1.5}
TOO = ("and {m}", "and {m}?", "what about {m}", "and if i {d}", "and when i {d}", "how about {m}")
AND = ("and {f}", "and {f}?", "what about {f}", "and what about {f}", "does it also change {f}")


def _asked(rng: random.Random, held_out: bool) -> tuple[Effect, str, str, str]:
    while True:
        effect = rng.choice(effects())
        (way,) = rng.choices(tuple(WAYS), tuple(WAYS.values()))
        if (way is caused and effect.sign == 0) or (way in (caused, reasoned) and effect.sign == 2):
            continue
        name = effect.said[int(len(effect.said) * rng.random() ** 1.8)]
        if _kept(effect.thing, effect.figure, way.__name__) != held_out:
            continue
        question, answer = way(rng, effect, name)
        if not taken(question):
            return effect, name, question, answer


def typed(rng: random.Random, text: str, *keep: str) -> str:
    asks = re.search(
        r"(?i)(^|[,.:] )(what|how|why|does|do|is|will|can|should|would|which|in which|right|true|"
        r"correct|yes or no|or not|on what|has)\b", text
    )  # fmt: skip
    if text[-1] not in "?.!" and asks and rng.random() < 0.75:
        text += "?"
    if rng.random() < 0.55:
        text = re.sub(r"([.?!] )([a-z])", lambda match: match[1] + match[2].upper(), sentence(text))
        text = re.sub(r"\bi\b", "I", text)
    return typed_with(rng, text, *keep)


def sample(rng: random.Random, held_out: bool = False) -> Conversation:
    effect, name, question, answer = _asked(rng, held_out)
    keep = re.findall(
        r"higher|lower|larger|smaller|more|less|fewer|not|raise|longer|shorter", question
    )
    texts = [typed(rng, question, *keep), answer]
    no_reason = ": " not in answer and not answer.startswith("Because")
    while not held_out and not no_reason and len(texts) < 6 and rng.random() < 0.35:
        if rng.random() < 0.5:  # the other way round, or another thing that does the same figure
            others = [
                other for other in effects()
                if other.figure == effect.figure and other.said != effect.said
            ]  # fmt: skip
            others += [other for other in others if other.thing == effect.thing] * len(others)
            effect = rng.choice(others)
            name = effect.said[0]
            form = rng.choice(TOO)
        else:
            others = [
                other for other in effects()
                if other.said == effect.said and other.figure != effect.figure
            ]  # fmt: skip
            if not others:
                break
            effect = rng.choice(others)
            form = rng.choice(AND)
        text = _filled(rng, form, effect, name)
        if states(effect, name) in " ".join(texts):
            break
        texts += [sentence(text) if rng.random() < 0.4 else text, sentence(states(effect, name))]
    return chat(*texts)
