"""Options of the commands that measure: sweeps, load, and pages with plots."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from app.report.page import Report

SweepValues = Annotated[
    list[str] | None,
    typer.Option(
        help="Measure each lane with each of these values: gamma=1,2,4; may be repeated.",
        metavar="SETTING=VALUES",
    ),
]

Concurrency = Annotated[
    int,
    typer.Option(min=1, max=1024, metavar="N", help="Simultaneous prompts per --server."),
]

ReportFile = Annotated[
    Path | None,
    typer.Option(
        help="Also write a page with plots; with .svg or .png only the plots (extra: report).",
        metavar="FILE.html",
    ),
]


def require_writable(report: Path | None) -> None:
    """Raise InputError if the report can't be written, before anything is measured."""
    if report is not None:
        from app.report.page import check_report

        check_report(report)


@contextmanager
def reported(file: Path | None, report: Callable[[], Report]) -> Iterator[None]:
    """Write a report after what is done with this; also where that fails, as it may to print."""
    try:
        yield
    finally:
        if file is not None:
            from app.report.page import write_report

            write_report(file, report())
