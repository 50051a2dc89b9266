"""A report as one HTML page that needs no network, or its plots alone as SVG or PNG."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.report.plots import require_plots, write_figure
from app.text.terminal_text import harmless
from decoding.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KINDS = (".html", ".svg", ".png")


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page: sentences, then a table (its heading first), then text to paste."""

    title: str
    sentences: Sequence[str] = ()
    table: Sequence[Sequence[str]] = ()
    snippets: Sequence[tuple[str, str]] = field(default=())  # what it is, and the text


def check_report(path: Path) -> None:
    """Before anything is measured: raises InputError if no report can be written there."""
    require_plots()
    if path.suffix.lower() not in KINDS:
        raise InputError(f"--report {path}: name a file that ends in {', '.join(KINDS)}")
    if not path.parent.is_dir():
        raise InputError(f"--report {path}: there is no folder {path.parent}")


def write_report(
    path: Path,
    title: str,
    sections: Sequence[Section],
    document: dict[str, Any],
    draw: Callable[[dict[str, Any]], Figure],
) -> None:
    """Write the plots that `draw` makes of `document`, with `sections` below them where `path` is a
    page. Raises InputError if it can't be written."""
    figure = draw(document)
    kind = path.suffix.lower().removeprefix(".")
    data = _page(title, sections, figure) if kind == "html" else write_figure(figure, kind)
    try:
        path.write_bytes(data)
    except OSError as error:
        raise InputError(f"can't write {path}: {error.strerror or error}") from error


def _page(title: str, sections: Sequence[Section], figure: Figure) -> bytes:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
    )
    svg = write_figure(figure, "svg").decode()
    plots = svg[svg.index("<svg") :]  # without the prologue of a file of its own
    page = environment.get_template("page.html.jinja").render(
        title=title, sections=sections, plots=plots
    )
    return harmless(page).encode()
