"""Python functions under all kinds of names, and what is asked of them next: "how do i call it",
"what does it return for 5", "line by line", "in one line", "without a loop", "what is it called".

The name of a function is drawn, often it is one that the user made up, so that every later answer
has to take the name from the code above; what it gives is found by running it.
"""

from __future__ import annotations

import ast
import random
import re
from contextlib import redirect_stdout
from io import StringIO

from assets.demo.recipe.corpus import code
from assets.demo.recipe.corpus.code import FUNCTIONS, Function, _fenced, _under_def, does
from assets.demo.recipe.corpus.school import Asked, reserved, typed
from assets.demo.recipe.corpus.text import Conversation, alternative, chat, listed, sentence

VERBS = ("my", "do", "get", "calc", "run", "try", "make", "find", "the", "our", "new", "quick")
NOUNS = (
    "thing", "job", "value", "result", "task", "step", "helper", "work", "tool", "trick", "answer",
    "fun", "magic", "code", "test", "demo", "box", "part", "case", "math", "item", "word", "number",
    "list", "text", "apple", "cat", "moon", "robot", "bird", "stone", "river", "lamp", "cloud",
)  # fmt: skip
SHORT = ("f", "g", "foo", "bar", "func", "compute", "solve", "helper", "calc", "work", "go", "fn")
NAMED = (
    "[write|make] a [python |]function called {name} that {does}", "a function {name} that {does}",
    "[write|create] a function named {name} [which|that] {does}", "def {name} that {does}",
    "[can you|could you|please] write a function {name} that {does}", "call it {name}: a function "
    "that {does}", "python function {name} to {task}", "write {name}, a function to {task}",
    "i need a function called {name} to {task}", "function {name} in python that {does}",
    "{task} in python, [name|call] the function {name}", "make {name} which {does}",
)  # fmt: skip
CALL = (
    "how do i call it", "how do i call that", "how do i call this", "how do i use it",
    "how to call it",
    "how do i call the function", "how do i run it", "how to use it", "how do i use this function",
    "show me how to call it", "give me an example call", "an example", "[can you |]show an example",
    "example please", "now call it", "call it", "how would i use that", "and how do i use it",
    "how do u call it", "how can i call it", "[how do|can] i test it", "test it", "use it please",
    "how is it used", "example usage", "usage", "show me a call", "run it", "try it out",
    "and how do i call this function", "what do i type to use it", "how do i start it",
)  # fmt: skip
WHAT_NAME = (
    "what is the function called", "what's its name", "what is the name of the function",
    "name of it",
    "what is it called", "how is the function called", "which name has it",
    "whats the function name",
)  # fmt: skip
WHAT_DOES = (
    "what does it do", "what does this do", "what is it good for", "what does that function do",
    "what does the code do", "explain it in one sentence", "in one sentence, what does it do",
    "what is this for", "what does {name} do", "what is {name} for",
)  # fmt: skip
LINES = (
    "explain it line by line", "line by line please", "explain each line", "explain every line",
    "[can you |]explain the code", "explain", "explain it", "explain please",
    "go through it line by "
    "line", "how does it work", "what does each line do", "walk me through it", "i don't get it",
    "i don't understand the code", "please explain that code",
)  # fmt: skip
NO_LOOP = (
    "without a loop", "can you do it without a loop", "no loop please", "now without a loop",
    "is there a way without a loop", "do it without the loop", "without for",
)  # fmt: skip
ONE_LINE = (
    "in one line", "shorter", "make it shorter", "can you make it shorter", "as a one-liner",
    "[can you do|do] that in one line", "one line please", "shorter please", "simpler",
    "fewer lines",
    "is there a shorter way", "as short as possible",
)  # fmt: skip
COMMENT = (
    "add a comment", "add comments", "with a comment", "with comments please", "comment it",
    "now with a "
    "comment", "can you add a comment", "put a comment in it", "please comment the code",
)  # fmt: skip
PRINT_IT = (
    "how do i print the result", "print the result", "how do i see the result",
    "show the result on the "
    "screen", "and print it", "how do i print it", "it shows nothing", "why do i see nothing",
)  # fmt: skip
SAVE_IT = (
    "how do i save the result", "save the result in a variable", "put the result in a variable",
    "store the result", "how do i keep the result", "how do i use the result later",
)  # fmt: skip
TAKES = (
    "what are the parameters", "what does it take", "which arguments does it take",
    "what do i give it",
    "what are the arguments", "what does it need", "how many parameters has it", "what goes in",
)  # fmt: skip
AGAIN = ("again", "show it again", "once more", "the code again please", "repeat the code",
"only the "
         "code", "just the code", "just code", "code only", "without the text")  # fmt: skip
GIVES = (
    "what does it return for {x}", "what does it give for {x}", "what is the result for {x}",
    "and for "
    "{x}", "what comes out for {x}", "what would it print for {x}", "with {x}",
    "what about {x}", "what is "
    "{call}", "what does {call} return", "{call}", "what does {call} give", "try {x}",
    "run it with {x}",
    "call it with {x}", "what do i get for {x}", "and if i give it {x}", "what does {call} do",
)  # fmt: skip


def new_name(rng: random.Random, function: Function) -> str:
    """The usual name of a function, or another that somebody may give it."""
    way = rng.random()
    if way < 0.25:
        return function.name
    if way < 0.4:
        return rng.choice(SHORT)
    if way < 0.6:
        return rng.choice((f"my_{function.name}", f"{function.name}_it", f"do_{function.name}",
                           f"{function.name}2", f"get_{function.name}"))  # fmt: skip
    if way < 0.85:
        return f"{rng.choice(VERBS)}_{rng.choice(NOUNS)}"
    return f"{rng.choice(NOUNS)}{rng.choice(('', '_fn', '1', '2', '_' + rng.choice(NOUNS)))}"


def renamed(text: str, old: str, new: str) -> str:
    return re.sub(rf"\b{old}\b(?=\()", new, text)


def usable(name: str, lines: str) -> bool:
    """Whether `name` is no other word of the code."""
    words = set(re.findall(r"\w+", lines))
    return name not in words and name not in {"try", "list", "float", "int", "str", "sum", "map"}


def line_said(line: str, name: str) -> str:
    """What one line of a function does, in words."""
    text = line.strip()
    rules = (
        (r"def \w+\(\):", f"starts the function {name}, which takes nothing"),
        (r"def \w+\((.*)\):", f"starts the function {name}, and in brackets stands what it takes"),
        (r"import (\w+)", "brings in the module {0}"),
        (r"return \[.* for .*\]", "builds a list by going through all items, and gives it back"),
        (r"return None", "gives back nothing"),
        (r"return (True|False|\w+|-?\d+)", "gives back {0}"),
        (r"return .*", "works out the result and gives it back"),
        (r"if (.*):", "runs what is below it only if {0}"),
        (r"elif (.*):", "is tested when the test before failed: {0}"),
        (r"else:", "is for all other cases"),
        (r"for (.*) in range\(.*\):", "counts, with {0} as the number of the round"),
        (r"for (.*) in (\w+):", "takes one {0} after the other from {1}"),
        (r"for (.*) in .*:", "takes one {0} after the other"),
        (r"while (.*):", "repeats what is below it as long as {0}"),
        (r"print\(.*\)", "shows something on the screen"),
        (r"(\w+)\.append\((.*)\)", "puts {1} at the end of {0}"),
        (r"(\w+) \+= (.*)", "adds {1} to {0}"),
        (r"(\w+) -= (.*)", "takes {1} away from {0}"),
        (r"(\w+) \*= (.*)", "multiplies {0} by {1}"),
        (r"(\w+) = \[\]", "makes an empty list with the name {0}"),
        (r"(\w+) = \{\}", "makes an empty dictionary with the name {0}"),
        (r"(\w+) = (\w+|-?\d+)", "sets {0} to {1}"),
        (r"(\w+, \w+) = (.*)", "sets {0} to {1}"),
        (r"(\w+)\[\w+\] = .*\+ 1", "adds one to the count in {0}"),
        (r"(\w+)\[.*\], .* = .*", "swaps two items of {0}"),
        (r"(\w+)\.extend\((.*)\)", "puts all items of {1} at the end of {0}"),
        (r"(\w+) = .*", "works out {0}"),
    )
    for pattern, said in rules:
        if match := re.fullmatch(pattern, text):
            return said.replace("{0}", (match.groups() or ("",))[0]).replace(
                "{1}", match.groups()[1] if len(match.groups()) > 1 else ""
            )
    return "does a part of the work"


def explained(lines: str, name: str) -> str:
    rows = [line for line in lines.split("\n") if line.strip()]
    return "\n".join(f"Line {i} {line_said(line, name)}." for i, line in enumerate(rows, 1))


def result_of(lines: str, call: str) -> str | None:
    world: dict[str, object] = {}
    try:
        exec(lines, world)
        made = repr(eval(call, world))
    except Exception:  # whatever does not run is not told
        return None
    return made if len(made) < 50 and "object at" not in made else None


def other_call(rng: random.Random, call: str) -> tuple[str, str] | None:
    """Other values for a call, as they are said, and the call."""
    name, _, inner = call.partition("(")
    try:
        found = ast.literal_eval(f"[{inner[:-1]}]")
    except (SyntaxError, ValueError):
        return None
    values: list[object] = []
    for value in found:
        if type(value) is int:
            values.append(rng.randint(1, 12) if value < 20 else rng.randint(value // 2, value * 2))
        elif type(value) is str and len(value) > 1 and value.isalpha():
            values.append(rng.choice(code.WORDS))
        elif type(value) is list and value and all(type(x) is int for x in value):
            values.append([rng.randint(1, 9) for _ in range(rng.randint(2, 3))])
        elif type(value) is list and value and all(type(x) is str for x in value):
            values.append(rng.sample(code.WORDS, rng.randint(2, 3)))
        else:
            return None
    if not values or len(values) > 2:
        return None
    return listed(str(value) for value in values), f"{name}({', '.join(map(repr, values))})"


def _asks(rng: random.Random, forms: tuple[str, ...], **words: object) -> str:
    text = " ".join(alternative(rng, rng.choice(forms)).split())
    for slot, value in words.items():
        text = text.replace(f"{{{slot}}}", str(value))
    way = rng.random()
    if way < 0.3 and not text.startswith(tuple(str(v) for v in words.values())):
        text = sentence(text)
    if way > 0.6 and re.match(r"(?i)(and |so )?(how|what|which|can|is|why|could|do)\b", text):
        text += "?"
    return text


WAYS = ("call",) * 6 + ("gives",) * 6 + ("lines",) * 3 + ("does", "does", "name", "comment",
"comment",
        "one", "one", "loop", "print", "save", "takes", "again")  # fmt: skip


def follow(
    rng: random.Random, function: Function, lines: str, name: str, call: str, result: str
) -> tuple[str, str]:
    """What may be asked of the function above, and the answer, which takes its name from there."""
    way = rng.choice(WAYS)
    prints = "print(" in lines
    if way == "gives" and "random" not in lines and not prints:
        other = other_call(rng, call)
        made = result_of(lines, other[1]) if other else None
        if other and made is not None and made != "None":
            question = _asks(rng, GIVES, x=other[0], call=other[1])
            return question, f"{other[1]} gives {made}."
        way = "call"
    if way == "lines":
        return _asks(rng, LINES), explained(lines, name)
    if way == "does":
        return _asks(rng, WHAT_DOES, name=name), (
            f"The function {name} {does(function.tasks[0])}. For example, {call} gives {result}."
        )
    if way == "name":
        return _asks(rng, WHAT_NAME), f"The function is called {name}."
    if way == "comment":
        more = _under_def(lines, f"# {function.why}")
        return _asks(rng, COMMENT), f"With a comment, which Python skips:\n\n{_fenced(more)}"
    if way in ("one", "loop"):
        loops = re.search(r"\b(for|while)\b", lines)
        head = next(line for line in lines.split("\n") if line.startswith("def "))
        names = re.findall(r"\w+", head.partition("(")[2])
        if way == "loop" and not loops:
            return _asks(rng, NO_LOOP), (
                f"There is no loop in {name}: it works out the result at once."
            )
        if function.short:
            brief = f"{head}\n    {Function.filled(function.short, tuple(names))}"
            brief = renamed(brief, function.name, name)
            if result_of(brief, call) == result and (way == "one" or " for " not in brief):
                return _asks(rng, ONE_LINE if way == "one" else NO_LOOP), (
                    f"Yes, this does the same:\n\n{_fenced(brief)}"
                )
        if way == "one" and lines.count("\n") == 1:
            return _asks(rng, ONE_LINE), (
                f"It is as short as it can be: one line that says what comes "
                f"back.\n\n{_fenced(lines)}"
            )
        way = "call"
    if way == "print" and not prints:
        return _asks(rng, PRINT_IT), (
            f"Put the call into print:\n\n{_fenced(f'print({call})')}\n\n"
            f"This shows {result.strip(chr(39))}. Without print, a program shows nothing."
        )
    if way == "save" and not prints:
        return _asks(rng, SAVE_IT), (
            f"Give the result a name with an equals sign:\n\n"
            f"{_fenced(f'result = {call}' + chr(10) + 'print(result)')}\n\nThis prints "
            f"{result.strip(chr(39))}."
        )
    if way == "takes":
        head = next(line for line in lines.split("\n") if line.startswith("def "))
        names = re.findall(r"\w+", head.partition("(")[2].partition(")")[0])
        if names and "=" not in head:
            things = "one thing" if len(names) == 1 else f"{len(names)} things"
            return _asks(rng, TAKES), (
                f"{name} takes {things}: {listed(names)}. For example: {call}."
            )
        way = "call"
    if way == "again":
        return _asks(rng, AGAIN), _fenced(lines)
    if prints:
        shown = f"{_fenced(call)}"
        return _asks(rng, CALL), f"You call {name} by its name, like this:\n\n{shown}"
    shown = _fenced(f"print({call})")
    return _asks(rng, CALL), (
        f"You call {name} by its name, like this:\n\n{shown}\n\nThis prints "
        f"{result.strip(chr(39))}."
    )


def made(rng: random.Random, held_out: bool) -> tuple[str, str, Function, str, str, str, str]:
    """A request with its answer, and the function, its lines, name, call and result."""
    while True:
        function = rng.choice(FUNCTIONS)
        names = function.names[0] if rng.random() < 0.6 else rng.choice(function.names)
        lines = function.written(names)
        name = new_name(rng, function)
        if name != function.name and not usable(name, lines):
            continue
        task = rng.choice(function.tasks)
        words = {"task": task, "does": does(task), "name": name}
        if name == function.name and rng.random() < 0.7:
            forms = code.ASK_FUNCTION if rng.random() < 0.7 else code.ASK_LOOSELY
            question = rng.choice(forms).format_map(words)
        else:
            question = alternative(rng, rng.choice(NAMED)).format_map(words)
        if reserved(f"turns {question}") != held_out:
            continue
        lines = renamed(lines, function.name, name)
        call = renamed(function.call, function.name, name)
        answer = (
            f"Here is a function that {does(function.tasks[0])}:\n\n{_fenced(lines)}\n\n"
            f"{function.why} For example, {call} gives {function.result}."
        )
        if rng.random() < 0.4:
            question = sentence(question)
        return question, answer, function, lines, name, call, function.result


RUN = (
    "how do i run it", "how do i run this", "how do i start it", "how to run it", "how do i use it",
    "where do i put this", "how do i try it", "how can i run that", "and how do i run it",
    "where do i type that", "how do i execute it", "how do i test it",
)  # fmt: skip
PRINTED = (
    "what does it print", "what is the output", "what comes out", "output?", "what will i see",
    "what does it show", "and what does it print", "what is printed", "show the output",
)  # fmt: skip
CALL_IT = (
    "how do i call it",
    "how do i call that",
    "how do i call this function",
    "how to call it",
)
FILES = ("hello.py", "test.py", "main.py", "my_code.py", "try.py")


def program_talk(rng: random.Random) -> Conversation:
    """A short program, how it is run, what it prints and what it does."""
    while True:
        asked, lines, why = code._snippet(rng)
        if not reserved(asked.key):
            break
    turns = [typed(rng, asked), asked.answer]
    file = FILES[0] if rng.random() < 0.5 else rng.choice(FILES)
    for way in rng.sample(
        ("run", "run", "print", "explain", "only", "call"), rng.choice((1, 1, 2))
    ):
        if way == "run":
            more, said = (
                _asks(rng, RUN),
                (
                    f"Save the lines in a file, for example {file}, and type in a terminal:\n\n"
                    f"```bash\npython {file}\n```"
                ),
            )
        elif way == "print":
            if code.UNTOLD.search(lines):
                continue
            with redirect_stdout(StringIO()) as printed:
                exec(lines, {"__name__": "__main__"})
            more, said = _asks(rng, PRINTED), code.told(printed.getvalue().splitlines())
        elif way == "explain":
            more, said = _asks(rng, WHAT_DOES[:4] + LINES[3:6]), why
        elif way == "only":
            more, said = _asks(rng, AGAIN), _fenced(lines)
        else:
            if found := re.search(r"def (\w+)\(", lines):
                if "class " in lines or f"\nprint({found[1]}(" not in lines:
                    continue
                call = next(x for x in lines.split("\n") if x.startswith(f"print({found[1]}("))
                more, said = (
                    _asks(rng, CALL_IT),
                    (f"You call {found[1]} by its name, as in the last part:\n\n{_fenced(call)}"),
                )
            elif "class " in lines:
                continue
            else:
                more, said = (
                    _asks(rng, CALL_IT),
                    (
                        "There is no function to call: the lines run from top to bottom. Save them "
                        f"in a file such as {file} and type python {file} in a terminal."
                    ),
                )
        if said not in turns:
            turns += [more, said]
    return chat(*turns)


PROGRAMS = 0.18  # of the conversations


def sample(rng: random.Random, held_out: bool = False) -> Conversation:
    if not held_out and rng.random() < PROGRAMS:
        return program_talk(rng)
    question, answer, function, lines, name, call, result = made(rng, held_out)
    turns = [typed(rng, Asked("", question, "", (name,))), answer]
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3))):
        more, said = follow(rng, function, lines, name, call, result)
        if said not in turns:
            turns += [more, said]
    return chat(*turns)
