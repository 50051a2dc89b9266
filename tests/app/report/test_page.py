"""Reports: pages that need no network, and plots alone."""

from __future__ import annotations

import os
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from matplotlib.container import ErrorbarContainer

from app.report import plots
from app.report.page import Report, Section, check_report, write_report
from app.report.plots import bench_figure
from app.report.scoreboard import scoreboard_report
from app.report.spread import Spread
from app.report.verdict import LaneScore
from decoding.errors import InputError

ROWS = [
    {"name": name, "strategy": name.partition(":")[0], "checkpoint": None, "overrides": pins,
     "speedup": speedup, "speedup_low": speedup - 0.1, "speedup_high": speedup + 0.2}
    for name, pins, speedup in (
        ("ar", {}, 1.0), ("draft:gamma=2", {"gamma": 2}, 1.5), ("draft:gamma=4", {"gamma": 4}, 1.8)
    )
]  # fmt: skip
DOCUMENT = {"contestants": ROWS, "sweep": {"gamma": (2, 4)}}


class Tags(HTMLParser):
    """The tags that a page opens, and whether all that must be closed are."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.seen.append(tag)
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        self.seen.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_a_page_holds_everything_and_needs_no_network(tmp_path: Path) -> None:
    sections = [
        Section("First", ["Use <b>draft</b>."], [["lane", "tok/s"], ["ar", "12.0"]]),
        Section("To paste", snippets=[("vLLM", "vllm serve 'a & b'")]),
    ]
    write_report(tmp_path / "out.html", Report("A report", sections, DOCUMENT, bench_figure))
    page = (tmp_path / "out.html").read_text(encoding="utf-8")
    tags = Tags()
    tags.feed(page)
    assert tags.open == [] and {"svg", "table", "pre", "path"} <= set(tags.seen)
    assert "script" not in tags.seen and "link" not in tags.seen and "img" not in tags.seen
    targets = re.findall(r"""(?:src|href)\s*=\s*["']([^"']*)|url\(([^)]*)\)""", page)
    assert targets and all("".join(target).startswith("#") for target in targets)
    assert "Use &lt;b&gt;draft&lt;/b&gt;." in page and "a &amp; b" in page
    assert "Speedup over gamma" in page and "draft:gamma=4" in page  # text stays text


@pytest.mark.parametrize(("name", "begins"), [("a.svg", b"<?xml"), ("a.PNG", b"\x89PNG")])
def test_plots_alone(name: str, begins: bytes, tmp_path: Path) -> None:
    write_report(tmp_path / name, Report("", [], DOCUMENT, bench_figure))
    assert (tmp_path / name).read_bytes().startswith(begins)


def test_a_bar_has_a_range_only_where_there_is_one() -> None:
    once = [{**row, "speedup_low": row["speedup"], "speedup_high": row["speedup"]} for row in ROWS]
    for rows, ranges in ((ROWS, len(ROWS)), (once, 0)):
        axis = bench_figure({**DOCUMENT, "contestants": rows, "sweep": {}}).axes[0]
        drawn = [each for each in axis.containers if isinstance(each, ErrorbarContainer)]
        assert len(drawn) == ranges


def test_a_scoreboard_has_a_range_of_several_runs() -> None:
    once, thrice = Spread(2.0, 2.0, 2.0, 1), Spread(2.0, 1.5, 2.5, 3)
    tables = {}
    for runs in (once, thrice):
        score = LaneScore(number=2, title="Draft model", speed=runs, speedup=runs)
        report = scoreboard_report("Hello", [score], [], "demo")
        tables[runs.count] = report.sections[0].table
        assert ("the lowest" in report.sections[1].sentences[0]) is (runs.count > 1)
    assert "low-high" not in tables[1][0] and not any("-" in cell for cell in tables[1][1])
    assert tables[3][1][tables[3][0].index("low-high")] == "1.50-2.50"


def test_each_checkpoint_has_a_line_of_its_own() -> None:
    rows = [
        {**row, "checkpoint": checkpoint} for checkpoint in ("a/one", "b/two") for row in ROWS[1:]
    ]
    axis = bench_figure({**DOCUMENT, "contestants": rows}).axes[1]
    assert axis.get_legend_handles_labels()[1] == ["draft:one", "draft:two"]
    points = [line for line in axis.lines if line.get_marker() in ("o", "s")]
    assert [np.asarray(line.get_xdata()).tolist() for line in points] == [[2, 4], [2, 4]]


def test_an_older_report_stays_where_the_new_one_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.svg"
    path.write_text("older")

    def fail(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space left on device: .*a.svg"):
        write_report(path, Report("", [], DOCUMENT, bench_figure))
    assert path.read_text() == "older"


def test_what_cannot_be_written_is_said_before_anything_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_report(tmp_path / "a.html")
    with pytest.raises(InputError, match="ends in .html, .svg, .png"):
        check_report(tmp_path / "a.pdf")
    with pytest.raises(InputError, match="there is no folder"):
        check_report(tmp_path / "gone" / "a.html")
    (tmp_path / "b.html").mkdir()
    with pytest.raises(InputError, match="b.html: it is a folder"):
        check_report(tmp_path / "b.html")
    with monkeypatch.context() as patch:
        patch.setattr(os, "access", lambda path, mode: path != tmp_path)
        with pytest.raises(InputError, match="the folder .* can't be written to"):
            check_report(tmp_path / "a.html")
    monkeypatch.setattr(plots, "NEEDED", ("matplotlib", "a_library_that_nobody_has"))
    with pytest.raises(InputError, match=r"pip install 'specchat\[report\]'"):
        check_report(tmp_path / "a.html")
