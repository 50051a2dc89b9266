"""Writes a report as one self-contained HTML page, as Markdown, or only its plots as SVG or PNG."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.report.plots import require_plots, write_figure
from app.text.terminal_text import harmless
from decoding.errors import InputError
from decoding.files import write_atomically

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KINDS = (".html", ".svg", ".png")
Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a report: sentences, a table (its first row is the heading), text to paste."""

    title: str
    sentences: Sequence[str] = ()
    table: Sequence[Sequence[str]] = ()
    snippets: Sequence[tuple[str, str]] = field(default=())  # what it is, and the text


def aligned(table: Sequence[Sequence[str]]) -> list[str]:
    """Return a table's lines for a terminal, with all columns but the first right-aligned."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if column else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in table
    ]


@dataclass(frozen=True, slots=True)
class Report:
    """`draw` makes the plots of `document`; `sections` are its words and tables."""

    title: str
    sections: Sequence[Section]
    document: Document
    draw: Callable[[Document], Figure]

    def render(self, kind: str) -> bytes:
        """As ".html", ".svg", ".png", or ".md" (without plots). Raises InputError if the libraries
        for plots are missing."""
        if kind == ".md":
            return _markdown(self.title, self.sections).encode()
        require_plots()
        figure = self.draw(self.document)
        if kind == ".html":
            return _page(self.title, self.sections, figure)
        return write_figure(figure, kind.removeprefix("."))


def check_report(path: Path) -> None:
    """Raise InputError if no report can be written there, before anything is measured."""
    require_plots()
    if path.suffix.lower() not in KINDS:
        raise InputError(f"--report {path}: name a file that ends in {', '.join(KINDS)}")
    if not path.parent.is_dir():
        raise InputError(f"--report {path}: there is no folder {path.parent}")
    if path.is_dir():
        raise InputError(f"--report {path}: it is a folder, name a file")
    if not os.access(path.parent, os.W_OK | os.X_OK):  # the page is written beside it first
        raise InputError(f"--report {path}: the folder {path.parent} can't be written to")


def write_report(path: Path, report: Report) -> None:
    """Write the report in the format of the path's suffix. Raises OSError."""
    write_atomically(path, report.render(path.suffix.lower()), private=False)


def _markdown(title: str, sections: Sequence[Section]) -> str:
    parts = [f"# {title}"]
    for section in sections:
        parts += [f"## {section.title}", *section.sentences]
        if section.table:
            heading, *rows = section.table
            lines = [heading, ["---", *["---:"] * (len(heading) - 1)], *rows]
            parts.append("\n".join(f"| {' | '.join(line)} |" for line in lines))
        for what, text in section.snippets:
            parts += [what, f"```\n{text}\n```"]
    return harmless("\n\n".join(parts) + "\n")


def _page(title: str, sections: Sequence[Section], figure: Figure) -> bytes:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
    )
    svg = write_figure(figure, "svg").decode()
    plots = svg[svg.index("<svg") :]  # without the XML prologue
    page = environment.get_template("page.html.jinja").render(
        title=title, sections=sections, plots=plots
    )
    return harmless(page).encode()
