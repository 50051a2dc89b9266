"""Small Python functions and what the words of the language mean.

The functions stand in `functions.txt` with the names that may vary, a reason and a call that shows
what comes out, the short programs in `snippets.txt`, where `$w` and `$n` are a word and a number to
be drawn; what words such as list and loop mean stands in `answers/code.txt`.
"""

from __future__ import annotations

import ast
import random
import re
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from string import Template

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
    short: str = ""  # the body in one line, where it takes more

    def written(self, names: tuple[str, ...]) -> str:
        """The code with these names for what it is given."""
        return self.filled(self.code, names)

    @staticmethod
    def filled(code: str, names: tuple[str, ...]) -> str:
        return re.sub(r"\$(\d)", lambda match: names[int(match[1]) - 1], code)


def read_functions(path: Path) -> list[Function]:
    found = []
    for block in re.split(r"^# ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        match = re.fullmatch(
            r"(\w+)\ntask: ([^\n]*)\nnames: ([^\n]*)\n(.*)\n"
            r"why: ([^\n]*)\n(?:short: ([^\n]*)\n)?show: ([^\n]*?\)) = ([^\n]*)",
            block.strip(),
            flags=re.DOTALL,
        )
        if match is None:
            raise ValueError(f"{path.name}: {block.partition(chr(10))[0]!r} is not complete")
        name, tasks, names, code, why, short, call, result = match.groups()
        found.append(
            Function(
                name,
                tuple(task.strip() for task in tasks.split(";")),
                tuple(tuple(choice.split()) for choice in names.split("|")),
                code,
                why,
                call,
                result,
                short or "",
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
    said = told(out)
    if "range(" in lines and "for" in lines:
        said += " The indented line is run once for each value."
    question = sentence(rng.choice(ASK_PROGRAM).format(task=task, does=does(task)))
    answer = f"Here are a few lines of Python for that:\n\n```python\n{lines}\n```\n\n{said}"
    return Asked(question, question, answer, tuple(re.findall(r"\d+", task)))


@dataclass(frozen=True, slots=True)
class Snippet:
    """A short program: what it does in several words, its lines, and why they do it."""

    name: str
    tasks: tuple[str, ...]
    code: str
    why: str


def read_snippets(path: Path) -> list[Snippet]:
    found = []
    for block in re.split(r"^# ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        form = r"([^\n]+)\ntask: ([^\n]*)\n(.*)\nwhy: ([^\n]*)"
        match = re.fullmatch(form, block.strip(), re.DOTALL)
        if match is None:
            raise ValueError(f"{path.name}: {block.partition(chr(10))[0]!r} is not complete")
        name, tasks, code, why = match.groups()
        found.append(Snippet(name, tuple(task.strip() for task in tasks.split(";")), code, why))
    return found


SNIPPETS = read_snippets(Path(__file__).parent / "snippets.txt")
WORDS = (
    "hello", "hi", "cat", "apple", "banana", "moon", "dog", "fizz", "tea", "rain", "house",
    "python",
    "bang", "star", "book", "boom", "yes", "level", "anna", "ping", "tree", "cake", "fish", "sun",
)  # fmt: skip
SOMEBODY = ("Tom", "Mia", "Ben", "Anna", "Leo", "Nora", "Sam", "Ella", "Max", "Zoe", "Omar", "Lucy")
# What waits, asks, or gives something else each time.
UNTOLD = re.compile(r"input\(|open\(|sleep\(|random|today|now\(|time\(|Path|urlopen")


def _values(rng: random.Random) -> dict[str, object]:
    (word, other), (one, two) = rng.sample(WORDS, 2), rng.sample(SOMEBODY, 2)
    k, n = rng.sample(range(2, 8), 2)
    b = rng.randint(9, 30)
    return {
        "w": word, "v": other, "p": one, "q": two, "k": k, "n": n, "b": b, "k1": k + 1, "n1": n + 1,
        "b1": b + 1, "n8": n + 8,
    }  # fmt: skip


def told(out: list[str]) -> str:
    """What a program prints, in words; of many lines only the first and the last."""
    if len(set(out)) == 1 < len(out):
        return f"It prints {len(out)} lines, and each of them is {out[0]}."
    if len(out) > SHOWN:
        return f"It prints {len(out)} lines, from {out[0]} to {out[-1]}."
    said = listed(out)
    return f"It prints {said}" + ("" if said[-1] in ".!" else ".")


ASK_SNIPPET = (
    "Write a program that {does}.", "write a program which {does}", "a python program that {does}",
    "Write a small Python program that {does}.", "Write a script that {does}.", "how to {task}?",
    "Give me code to {task}.", "How can I {task} in Python?", "Can you show me how to {task}?",
    "Could you write Python code that {does}?", "I want to {task} in Python.", "{task} (python)",
    "show me a program that {does}", "Write Python that {does}.", "how do i {task}? (python)",
    "I need a Python script to {task}.", "what is the python code to {task}?",
    "How does one {task} in Python?", "Python snippet to {task}", "short python code to {task}",
)  # fmt: skip


def snippets(rng: random.Random) -> Asked:
    return _snippet(rng)[0]


def _snippet(rng: random.Random) -> tuple[Asked, str, str]:
    """A short program as asked for, its lines, and why they do what they do."""
    one = rng.choice(SNIPPETS)
    # What was said in the task must be what the lines have.
    values = _values(rng)
    texts = (rng.choice(one.tasks), one.code, one.why)
    task, lines, why = (Template(text).safe_substitute(values) for text in texts)
    said = ""
    if not UNTOLD.search(lines):
        with redirect_stdout(StringIO()) as printed:
            exec(lines, {"__name__": "__main__"})
        said = f" {told(printed.getvalue().splitlines())}"
    question = sentence(rng.choice(ASK_PROGRAM + ASK_SNIPPET).format(task=task, does=does(task)))
    answer = f"Here is how to {task}:\n\n```python\n{lines}\n```\n\n{why}{said}"
    keep = (*re.findall(r"\d+", task), str(values["w"]) if str(values["w"]) in task else "")
    return Asked(question, question, answer, keep), lines, why


# --- what is asked of code that was shown -------------------------------------------------------

DOCSTRING = (
    "now add a docstring", "add a docstring", "with a docstring please", "and with a docstring?",
    "Can you add a docstring?", "now with a docstring", "Please add a docstring to it.",
    "give it a docstring", "can it have a docstring?", "document it",
    "please document the function",
)  # fmt: skip
COMMENT = (
    "now with a comment", "add a comment", "with comments please", "can you add a comment?",
    "Please comment it.", "now with comments", "add comments", "put a comment in", "comment it",
    "Can you comment the code?", "and with a comment?", "now add a comment that explains it",
)  # fmt: skip
SHORTER = (
    "can you make it shorter?", "make it shorter", "shorter please", "shorter?",
    "is there a shorter way?",
    "Can that be done in fewer lines?", "can you write it shorter", "in one line?",
    "simpler please",
    "can you do that in one line?", "now shorter", "a shorter version please",
    "is there an easier way?",
)  # fmt: skip
CALL = (
    "how do I call it?", "how do i use it?", "how do I call this?",
    "and how do I call that function?",
    "how to call it", "show me how to call it", "How do I use this function?", "how do i run it",
    "Can you show me a call?", "give me an example call", "an example please", "show me an example",
    "how is it used?", "now call it", "and how do i use that?", "how can i test it?",
)  # fmt: skip
PRINTS = (
    "what does it print for {x}?", "what does it give for {x}?", "and for {x}?",
    "what is it for {x}?",
    "what comes out for {x}?", "what does it return for {x}?", "what would it give for {x}?",
    "what if I give it {x}?", "and with {x}?", "what do i get for {x}?", "what about {x}?",
)  # fmt: skip
EXPLAIN = (
    "explain it", "how does it work?", "can you explain that?", "what does it do?",
    "explain please",
    "explain the code", "I do not understand it.", "how does that work", "why does that work?",
    "what does this code do?", "please explain the code", "and what does that mean?",
)  # fmt: skip
RENAME = (
    "call it {x}", "rename it to {x}", "can you call it {x}?", "now name the function {x}",
    "please rename the function to {x}", "and with the name {x}?", "change the name to {x}",
)  # fmt: skip
NEW_NAMES = (
    "calc",
    "run",
    "work",
    "compute",
    "do_it",
    "helper",
    "my_function",
    "foo",
    "solve",
    "f",
)


def _fenced(lines: str) -> str:
    return f"```python\n{lines}\n```"


def _under_def(lines: str, more: str) -> str:
    """The function with one more line at the head of its body."""
    return re.sub(r"(?m)^(def .*)$", lambda match: f"{match[1]}\n    {more}", lines, count=1)


def _other_call(rng: random.Random, function: Function) -> tuple[str, str] | None:
    """Other values to call a function with, as they are said, and the call."""
    try:
        found = ast.literal_eval(f"[{function.call.partition('(')[2][:-1]}]")
    except (SyntaxError, ValueError):
        return None
    values: list[object] = []
    for value in found:
        if type(value) is int:
            values.append(rng.randint(1, 12))
        elif type(value) is str and len(value) > 1 and value.isalpha():
            values.append(rng.choice(WORDS))
        else:
            return None
    if not values or len(values) > 2:
        return None
    said = listed(str(value) for value in values)
    return said, f"{function.name}({', '.join(map(repr, values))})"


def after_function(
    rng: random.Random, function: Function, names: tuple[str, ...]
) -> tuple[str, str]:
    """What may be asked of a function that was shown, and the answer."""
    lines = function.written(names)
    way = rng.choice(("docstring", "docstring", "comment", "comment", "shorter", "shorter", "call",
                      "call", "prints", "prints", "explain", "rename"))  # fmt: skip
    if way == "prints":
        other = _other_call(rng, function)
        world: dict[str, object] = {}
        exec(lines, world)
        if other is not None and "random" not in lines:
            try:
                result = repr(eval(other[1], world))
            except (ArithmeticError, IndexError, ValueError, TypeError):
                result = ""
            if result and len(result) < (6 if "." in result else 40):
                return rng.choice(PRINTS).format(x=other[0]), f"{other[1]} gives {result}."
        way = "call"
    if way == "docstring":
        more = f'"""{sentence(does(function.tasks[0]))}."""'
        said = "With a docstring, which says what the function does:"
        return rng.choice(DOCSTRING), f"{said}\n\n{_fenced(_under_def(lines, more))}"
    if way == "comment":
        more = f"# {function.why}"
        said = "With a comment, which Python skips:"
        return rng.choice(COMMENT), f"{said}\n\n{_fenced(_under_def(lines, more))}"
    if way == "shorter":
        if function.short:
            head = next(line for line in lines.split("\n") if line.startswith("def "))
            brief = f"{head}\n    {function.filled(function.short, names)}"
            return rng.choice(SHORTER), f"Yes, this does the same:\n\n{_fenced(brief)}"
        if lines.count("\n") == 1:
            said = "It is as short as it can be: one line that says what comes back."
            return rng.choice(SHORTER), f"{said}\n\n{_fenced(lines)}"
        way = "explain"
    if way == "explain":
        said = f"{function.why} For example, {function.call} gives {function.result}."
        return rng.choice(EXPLAIN), said
    if way == "rename":
        new = rng.choice(NEW_NAMES)
        renamed = re.sub(rf"\b{function.name}\b", new, lines)
        return rng.choice(RENAME).format(x=new), f"Here it is as {new}:\n\n{_fenced(renamed)}"
    call = _fenced(f"print({function.call})")
    said = f"You call it by its name, with what it shall work on:\n\n{call}"
    shown_ = function.result.strip("'") if function.result[0] == "'" else function.result
    return rng.choice(CALL), f"{said}\n\nThis prints {shown_}."


def _function_talk(rng: random.Random) -> Conversation:
    """A function, and one or two things that are asked of it."""
    function = rng.choice(FUNCTIONS)
    names = function.names[0]
    task = rng.choice(function.tasks)
    words = {"task": task, "does": does(task)}
    while reserved(question := sentence(rng.choice(ASK_FUNCTION).format_map(words))):
        pass
    turns = [typed(rng, Asked("", question, "")), shown(function, names)]
    for _ in range(rng.choice((1, 1, 1, 2))):
        more, answer = after_function(rng, function, names)
        if answer not in turns:
            turns += [_lightly(rng, more), answer]
    return chat(*turns)


def _lightly(rng: random.Random, question: str) -> str:
    way = rng.random()
    if way > 0.5:
        question = sentence(question)
    return question.rstrip("?.") if way < 0.6 and way > 0.3 else question


def _snippet_talk(rng: random.Random) -> Conversation:
    """A short program, and what is asked of it."""
    asked, lines, why = _snippet(rng)
    while reserved(asked.key):
        asked, lines, why = _snippet(rng)
    if rng.random() < 0.5:
        commented = _fenced(f"# {why}\n{lines}")
        more, answer = rng.choice(COMMENT), f"With a comment, which Python skips:\n\n{commented}"
    else:
        more, answer = rng.choice(EXPLAIN), asked.answer.rpartition("```\n\n")[2]
    return chat(typed(rng, asked), asked.answer, _lightly(rng, more), answer)


OTHER_LANGUAGES = (
    "Java", "C", "C++", "Rust", "Go", "JavaScript", "Ruby", "Swift", "Haskell", "PHP", "Kotlin",
    "Perl", "TypeScript", "Lua", "Fortran", "assembly", "Scala", "COBOL", "Prolog",
)  # fmt: skip
ASK_OTHER = (
    "Write a function in {g}.", "Can you write {g}?", "Do you know {g}?", "How do I {task} in {g}?",
    "Write a {g} program.", "{task} in {g}", "Write {g} code to {task}.",
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


KINDS = Kinds({functions: 8, programs: 3, snippets: 9, refusals: 1})


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
    if way < 0.42 and not held_out:
        return _function_talk(rng) if rng.random() < 0.7 else _snippet_talk(rng)
    asked = KINDS.draw(rng, held_out)
    return chat(typed(rng, asked), asked.answer)
