"""Formats advice for the screen: measured lanes as bars, the verdict, configurations to paste."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from rich.cells import cell_len
from textual.content import Content

from app.report.advice_text import advice_sections, fastest_first
from app.text.terminal_text import visible
from app.tui.format.bars import bar
from app.tui.format.parts import fitted

MIN_BAR, MIN_NAME = 8, 14  # cells


def advice_lines(document: Mapping[str, Any], width: int) -> list[Content]:
    """Return the whole document in `width` cells. Snippets that can be copied are numbered."""
    lines: list[Content] = []
    pays = any(row["name"] for row in document["best"])
    for section, best in zip_longest(advice_sections(dict(document)), document["best"]):
        if lines or len(document["best"]) > 1:
            space = [Content("")] if lines else []
            lines += [*space, *_wrapped(section.title, "bold $primary", width)]
        sentences = [*section.sentences]
        if best is not None:  # the other sections are remarks
            speedups = [
                row["speedup"] for row in fastest_first(dict(document), best["temperature"])
            ]
            lines += _wrapped(sentences.pop(0), "bold $success" if pays else "bold", width)
            lines += [Content(""), *table_lines(section.table, speedups, width), Content("")]
        for text in sentences:
            lines += _wrapped(text, "" if best is not None else "$quiet", width)
        for number, (what, text) in enumerate(section.snippets, 1):
            lines += [Content(""), *_wrapped(f"{number} {what}", "$foreground", width)]
            lines += _wrapped(text, "$accepted", width, indent=2)
    return lines


def snippets(document: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the snippets that can be copied, in the order of their numbers on the screen."""
    return [each for section in advice_sections(dict(document)) for each in section.snippets]


def table_lines(
    table: Sequence[Sequence[str]], speedups: Sequence[float | None], width: int
) -> Iterator[Content]:
    """Yield the table with a bar for the speedup of each row. The last columns are left out if
    there is no room for them."""
    columns = [*zip(*table, strict=True)][1:]
    widths = [max(map(cell_len, column)) for column in columns]
    names = max(cell_len(row[0]) for row in table[1:])
    least = min(names, MIN_NAME) + 1 + MIN_BAR
    shown = list(range(len(columns)))
    while len(shown) > 1 and least + _cells(widths, shown) > width:
        shown.pop()
    room = width - 1 - _cells(widths, shown)  # for a name and a bar
    name_cells = min(names, max(room - MIN_BAR, MIN_NAME))
    bar_cells = max(room - name_cells, 1)
    top = max((speedup for speedup in speedups if speedup), default=1.0)
    bars = [0.0, *((speedup or 0.0) / top for speedup in speedups)]
    for number, (row, part) in enumerate(zip(table, bars, strict=True)):
        name = fitted(row[0] if number else "", name_cells)
        drawn = bar(part, bar_cells) if part else " " * bar_cells
        cells = "".join(f"  {row[1 + n]:>{widths[n]}}" for n in shown)
        style = "$foreground" if number else "$quiet"
        yield Content.assemble((f"{name} ", style), (drawn, "$accepted"), (cells, style))


def _cells(widths: Sequence[int], shown: Sequence[int]) -> int:
    return sum(widths[column] + 2 for column in shown)


def _wrapped(text: str, style: str, width: int, indent: int = 0) -> list[Content]:
    space = " " * indent
    return [
        Content.assemble(space, (line.plain, style))
        for part in visible(text).split("\n")
        for line in Content(part).wrap(max(width - indent, 2))
    ]
