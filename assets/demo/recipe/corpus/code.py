"""Small Python functions and what the words of the language mean.

The functions stand in `functions.txt` with the names that may vary, a reason and a call that shows
what comes out; what words such as list and loop mean stands in `answers/code.txt`.
"""

from __future__ import annotations

import random
import re
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from assets.demo.recipe.corpus.school import Asked, Kinds, reserved, typed
from assets.demo.recipe.corpus.text import (
    ANSWERS,
    Conversation,
    chat,
    drawn,
    listed,
    read_topics,
    sentence,
    with_article,
)


@dataclass(frozen=True, slots=True)
class Function:
    """A function: what it does in several words, sets of names, its code, why, and a call."""

    name: str
    tasks: tuple[str, ...]
    names: tuple[tuple[str, ...], ...]
    code: str
    why: str
    call: str
    result: str

    def written(self, names: tuple[str, ...]) -> str:
        """The code with these names for what it is given."""
        return re.sub(r"\$(\d)", lambda match: names[int(match[1]) - 1], self.code)


def read_functions(path: Path) -> list[Function]:
    found = []
    for block in re.split(r"^# ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        match = re.fullmatch(
            r"(\w+)\ntask: ([^\n]*)\nnames: ([^\n]*)\n(.*)\n"
            r"why: ([^\n]*)\nshow: ([^\n]*?\)) = ([^\n]*)",
            block.strip(),
            flags=re.DOTALL,
        )
        if match is None:
            raise ValueError(f"{path.name}: {block.partition(chr(10))[0]!r} is not complete")
        name, tasks, names, code, why, call, result = match.groups()
        found.append(
            Function(
                name,
                tuple(task.strip() for task in tasks.split(";")),
                tuple(tuple(choice.split()) for choice in names.split("|")),
                code,
                why,
                call,
                result,
            )  # fmt: skip
        )
    return found


FUNCTIONS = read_functions(Path(__file__).parent / "functions.txt")
TOPICS = read_topics(ANSWERS / "code.txt")

ASK_FUNCTION = (
    "Write a Python function to {task}.", "Write a function that {does}.", "{task} in Python",
    "How do I {task} in Python?", "Python function to {task}", "Python code to {task}",
    "Can you write a function that {does}?", "Show me a function that {does}.",
    "I need a function that {does}.", "How can I {task} in Python?", "Write code to {task}.",
    "Write a Python function that {does}.", "Give me Python code that {does}.",
    "Please write a function to {task}.", "How would you {task} in Python?",
    "Write Python code to {task}.", "Code a function that {does}.",
    "A function that {does}, please",
    "Show me a function to {task}.", "Can you show me a function to {task}?",
    "I need a function to {task}.", "Could you write a function to {task}?",
    "Can you {task} in Python?", "How to {task} in Python", "Program that {does}",
)  # fmt: skip
# As people type it who take the language for granted.
ASK_LOOSELY = (
    "python {task}", "{task} python", "code that {does}", "python code that {does}", "py: {task}",
    "function that {does} in python", "python function which {does}", "i need code to {task}",
    "can u write a function that {does}", "python script to {task}", "def that {does}",
    "how do you {task} with python", "python function that {does} pls", "make a function to {task}",
    "function to {task}", "show me how to {task} in python", "a small program that {does}",
    "Write me a function in Python which {does}.", "Write a short Python function that {does}.",
)  # fmt: skip
# Only the first line of a function, which is to be written to its end.
ASK_SIGNATURE = (
    "{first}", "{first}", "{first}", "{first}\n", "{start}", "Complete this function: {first}",
    "Finish this function: {first}", "Complete: {first}", "complete this: {start}",
    "```python\n{first}\n```", "Write the body of {first}", "What comes after {first}",
    "Fill in this function:\n\n{first}", "go on: {start}",
)  # fmt: skip
PARAMETERS = (
    "n", "x", "number", "num", "value", "a", "i", "k", "val", "text", "word", "s", "string",
    "numbers", "items", "values", "data", "lst", "nums", "words",
)  # fmt: skip
ASK_NAMED = (
    "Write the function {name} in Python.", "Write a function called {name}.",
    "Python function {name}", "Show me the function {name}.", "How do I write {name} in Python?",
)  # fmt: skip


def does(task: str) -> str:
    """`adds two numbers`, for `add two numbers`."""
    verb, _, rest = task.partition(" ")
    if verb.endswith(("ch", "sh", "ss", "x", "o", "z")):
        verb += "es"
    elif re.search(r"[^aeiou]y$", verb):
        verb = verb[:-1] + "ies"
    else:
        verb += "s"
    return f"{verb} {rest}".strip()


def shown(function: Function, names: tuple[str, ...]) -> str:
    """The whole answer."""
    return (
        f"Here is a function that {does(function.tasks[0])}:\n\n"
        f"```python\n{function.written(names)}\n```\n\n"
        f"{function.why} For example, {function.call} gives {function.result}."
    )


def functions(rng: random.Random) -> Asked:
    return asking_for(rng, rng.choice(FUNCTIONS))


def asking_for(rng: random.Random, function: Function) -> Asked:
    # The first names are the usual ones.
    names = function.names[0] if rng.random() < 0.6 else rng.choice(function.names)
    answer = shown(function, names)
    if rng.random() < 0.14:
        if len(names) == 1 and rng.random() < 0.5:
            used = set(re.findall(r"\w+", function.code))
            names = (rng.choice([word for word in PARAMETERS if word not in used]),)
        first = next(
            line for line in function.written(names).split("\n") if line.startswith("def ")
        )
        question = rng.choice(ASK_SIGNATURE).format(first=first, start=first.rstrip(":"))
        return Asked(question, question, shown(function, names), (question,))
    if rng.random() < 0.07:
        question = rng.choice(ASK_NAMED).format(name=function.name)
        return Asked(question, question, answer, (function.name,))
    task = rng.choice(function.tasks)
    if rng.random() < 0.25:
        question = rng.choice(ASK_LOOSELY).format(task=task, does=does(task))
    else:
        question = sentence(rng.choice(ASK_FUNCTION).format(task=task, does=does(task)))
    return Asked(question, question, answer)


ASK_PROGRAM = (
    "python: {task}", "{task} in python", "How do I {task} in Python?", "python {task}",
    "{task} python", "Write a Python program that {does}.", "Write Python code to {task}.",
    "python code that {does}", "Can you write a program that {does}?", "code to {task}",
    "how to {task} with python", "Write a few lines of Python to {task}.",
    "Show me how to {task} in Python.", "a program that {does} please", "Use Python to {task}.",
)  # fmt: skip
# What a few lines do, in several words, and the lines: {w} and {v} are words, the others numbers,
# {c}, {m} and {f} are one more than
# {b}, {n} and {e}, which is even.
PROGRAMS = (
    ("print {w} {n} times; show {w} {n} times; say {w} {n} times; repeat {w} {n} times",
     'for i in range({n}):\n    print("{w}")'),
    ("print the numbers from {a} to {b}; loop from {a} to {b}; count from {a} to {b}",
     "for n in range({a}, {c}):\n    print(n)"),
    ("print the numbers from 1 to {b}; loop from 1 to {b}; count to {b}",
     "for n in range(1, {c}):\n    print(n)"),
    ("count down from {b}; print the numbers from {b} down to 1",
     "for n in range({b}, 0, -1):\n    print(n)"),
    ("print the even numbers up to {e}; count by twos up to {e}",
     "for n in range(2, {f}, 2):\n    print(n)"),
    ("print the squares of the numbers from 1 to {n}",
     "for n in range(1, {m}):\n    print(n * n)"),
    ("print the times table of {n}; show the multiplication table of {n}",
     'for i in range(1, 11):\n    print(i, "x", {n}, "=", i * {n})'),
    ("add the numbers from 1 to {b}; sum the numbers from 1 to {b}", "print(sum(range(1, {c})))"),
    ("multiply {a} by {b}; calculate {a} times {b}", "print({a} * {b})"),
    ("print a triangle of {n} lines with stars; draw a triangle of stars with {n} lines",
     'for i in range(1, {m}):\n    print("*" * i)'),
    ("print a square of {n} by {n} stars; draw a square of stars, {n} by {n}",
     'for i in range({n}):\n    print("*" * {n})'),
    ("print the letters of {w}; loop over the letters of {w}",
     'for letter in "{w}":\n    print(letter)'),
    ("print {w} backwards; reverse the word {w}", 'print("{w}"[::-1])'),
    ("print {w} in capital letters; turn {w} into capital letters", 'print("{w}".upper())'),
    ("count the letters of {w}; print the length of {w}", 'print(len("{w}"))'),
    ("make a list of {w} and {v} and print it; loop over a list with {w} and {v}",
     'words = ["{w}", "{v}"]\nfor word in words:\n    print(word)'),
    ("sort the numbers {b}, {n} and {e}", "print(sorted([{b}, {n}, {e}]))"),
    ("find the largest of {b}, {n} and {e}; print the largest of {b}, {n} and {e}",
     "print(max({b}, {n}, {e}))"),
)  # fmt: skip
SHOWN = 6  # lines of output that are told


def programs(rng: random.Random) -> Asked:
    """A few lines that do something with given words and numbers, and what they print."""
    tasks, code = rng.choice(PROGRAMS)
    word, other = rng.sample(("hello", "hi", "cat", "apple", "banana", "moon", "dog", "yes", "tea",
                              "rain", "house", "python", "token", "star", "book"), 2)  # fmt: skip
    b = rng.randint(5, 20)
    n, even = rng.randint(2, 9), 2 * rng.randint(3, 15)
    values: dict[str, object] = {"w": word, "v": other, "a": rng.randint(2, 4)}
    values |= {"n": n, "m": n + 1, "b": b, "c": b + 1, "e": even, "f": even + 1}
    task, lines = rng.choice(tasks.split("; ")).format_map(values), code.format_map(values)
    with redirect_stdout(StringIO()) as printed:
        exec(lines, {})
    out = printed.getvalue().splitlines()
    said = f"It prints {listed(out)}."
    if len(set(out)) == 1 < len(out):
        said = f"It prints {len(out)} lines, and each of them is {out[0]}."
    elif len(out) > SHOWN:
        said = f"It prints {len(out)} lines, from {out[0]} to {out[-1]}."
    if "range(" in lines and "for" in lines:
        said += " The indented line is run once for each value."
    question = sentence(rng.choice(ASK_PROGRAM).format(task=task, does=does(task)))
    answer = f"Here are a few lines of Python for that:\n\n```python\n{lines}\n```\n\n{said}"
    return Asked(question, question, answer, tuple(re.findall(r"\d+", task)))


OTHER_LANGUAGES = (
    "Java", "C", "C++", "Rust", "Go", "JavaScript", "Ruby", "Swift", "Haskell", "PHP", "Kotlin",
    "SQL", "HTML", "CSS", "Perl", "Bash", "TypeScript", "Lua", "Fortran", "assembly",
)  # fmt: skip
ASK_OTHER = (
    "Write a function in {g}.", "Can you write {g}?", "Do you know {g}?", "How do I {task} in {g}?",
    "Write a {g} program.", "{task} in {g}", "Write {g} code to {task}.", "Hello world in {g}",
    "Show me some {g} code.", "Can you code in {g}?", "Write a {g} function that {does}.",
)  # fmt: skip
BIG = (
    "game", "web site", "chat bot", "web server", "compiler", "calculator app", "neural network",
    "chess program", "snake game", "todo app", "web scraper", "phone app", "text editor",
    "database",
    "music player", "web shop", "search engine", "mail program", "tetris game", "browser",
    "blog", "weather app", "drawing program", "quiz app", "operating system", "login page",
)  # fmt: skip
ASK_BIG = (
    "Write {a}.", "Write {a} in Python.", "Can you write {a}?", "Make {a}.", "Code {a} for me.",
    "How do I program {a}?", "Build {a} in Python.", "I need {a} in Python.", "Program {a}.",
    "Can you make {a} for me?", "Create {a}.", "Help me to write {a}.",
)  # fmt: skip
OFFERS = (
    "Shall I show you a function that {does}?", "But I could show you a function that {does}.",
    "How about a function that {does}?",
)  # fmt: skip
AGREED = (
    "Yes", "Yes, please.", "Ok", "Sure", "Yes, show me.", "Go on.", "Please do.", "Show me.",
    "All right.", "Yes, do that.",
)  # fmt: skip


def _refusal(rng: random.Random) -> tuple[Asked, Function]:
    offered = rng.choice(FUNCTIONS)
    offer = rng.choice(OFFERS).format(does=does(offered.tasks[0]))
    if rng.random() < 0.5:
        language = rng.choice(OTHER_LANGUAGES)
        task = rng.choice(rng.choice(FUNCTIONS).tasks)
        wording = rng.choice(ASK_OTHER).replace("a assembly", "an assembly")
        question = sentence(wording.format(g=language, task=task, does=does(task)))
        reason = rng.choice((
            f"I do not know {language}. Small Python functions are all the code that I learned.",
            f"Sorry, {language} is not among what I learned. I know small Python functions only.",
        ))  # fmt: skip
        keep = (language,)
    else:
        thing = rng.choice(BIG)
        a = with_article(thing)
        question = rng.choice(ASK_BIG).format(a=a)
        reason = rng.choice((
            f"{sentence(a)} is too big for me. I am a tiny model that knows small Python functions "
            "only.",
            f"I cannot write {a}, because I only learned small Python functions.",
        ))  # fmt: skip
        keep = (thing,)
    return Asked(question, question, f"{reason} {offer}", keep), offered


def refusals(rng: random.Random) -> Asked:
    return _refusal(rng)[0]


KINDS = Kinds({functions: 9, programs: 3, refusals: 1})


def sample(rng: random.Random, held_out: bool = False) -> Conversation:
    way = rng.random()
    if way < 0.22:
        return drawn(rng, TOPICS).sample(rng, held_out)
    if way < 0.27 and not held_out:  # an offer that is taken
        asked, offered = _refusal(rng)
        while reserved(asked.key):
            asked, offered = _refusal(rng)
        yes = typed(rng, Asked("", rng.choice(AGREED), ""))
        return chat(typed(rng, asked), asked.answer, yes, shown(offered, offered.names[0]))
    asked = KINDS.draw(rng, held_out)
    return chat(typed(rng, asked), asked.answer)
