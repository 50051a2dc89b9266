"""The examples of `wide_python.txt` run, and print what their answers say."""

from __future__ import annotations

import re
from contextlib import redirect_stdout
from io import StringIO

import pytest

from assets.demo.recipe.corpus.text import ANSWERS, Topic, read_topics

EXAMPLES = [
    topic
    for topic in read_topics(ANSWERS / "wide_python.txt")
    if "```python" in topic.answers[0] and not re.search(r"input\(|sleep\(", topic.answers[0])
]


@pytest.mark.parametrize("topic", EXAMPLES, ids=[topic.name for topic in EXAMPLES])
def test_an_example_prints_what_is_said(topic: Topic) -> None:
    (lines,) = re.findall(r"```python\n(.*?)\n```", topic.answers[0], flags=re.DOTALL)
    with redirect_stdout(StringIO()) as printed:
        exec(lines, {"__name__": "__main__"})
    if not re.search(r"random|today", lines):
        said = topic.answers[0].partition("```python")[2].partition("```")[2]
        for line in printed.getvalue().splitlines():
            assert line in said, (line, said)


def test_there_are_many_examples() -> None:
    assert len(EXAMPLES) > 30
