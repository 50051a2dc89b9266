"""The rejections panel: all rejected drafts of the lane in focus, and its acceptance by level, kind
and confidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, chain, islice

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import DataTable, Static

from app.report.rejections import Rejection, Tallies, levels_of
from app.text.plural import pluralize
from app.tui.format.pane_edges import why_off
from app.tui.format.parts import Part
from app.tui.format.rejections import (
    COLUMNS,
    Column,
    calibration_lines,
    comparison_lines,
    level_name,
    ordered,
    share_lines,
)
from app.tui.format.round_labels import not_recorded, q_not_recorded
from app.tui.keys.key_names import first_key
from app.tui.state.app_state import AppState
from app.tui.state.growing import Same
from app.tui.state.lane_state import LaneState
from app.tui.widgets.block import Block
from app.tui.widgets.edge_scrollbar import EdgeScroll, EdgeScrollBarRender
from app.tui.widgets.panel import MIN_ROWS, Panel, rows_of, title_of

NOTHING_YET = "No draft yet: rejections appear with the answer."
ALL_RIGHT = "In this answer nothing was rejected: the target agreed with {}."
MAX_COMPARED = 2  # columns beside the lane's own
FROM_A_SERVER = "A server does not report which drafts were rejected."
EDGES_CELLS = 3  # of the table: frame, padding, scrollbar
SHARES_CELLS = 41  # as in the stylesheet, where both stand side by side
DRAFTS_NOTHING = "This lane does not draft, so nothing is rejected: Tab goes to one that does."


class RejectionTable(DataTable[Text]):
    BINDINGS = [
        Binding("enter", "select_cursor", "Go there", id="rejections.go",
                tooltip="To the token in the answer"),
        Binding("left", "sort(-1)", "Sort by", False, id="rejections.sort_before",
                tooltip="Sort by the previous column; a click on a heading sorts by it, a second "
                        "click reverses the order"),
        Binding("right", "sort(1)", "Sort by", False, id="rejections.sort_next",
                tooltip="Sort by the next column"),
    ]  # fmt: skip

    @dataclass
    class SortedBy(Message):
        """The user sorts by the column `step` places further."""

        step: int

    def action_sort(self, step: int) -> None:
        self.post_message(self.SortedBy(step))


class RejectionsPanel(Panel):
    NEEDS_PROBABILITIES = True
    NEEDS_DRAFTS = True
    HOLDS_LIST = True

    @dataclass
    class Chosen(Message):
        """The user selected a rejection, to be shown in the answer."""

        rejection: Rejection

    def __init__(self, *, dom_id: str) -> None:
        super().__init__(dom_id=dom_id)
        self._table: RejectionTable = RejectionTable(
            cursor_type="row", cell_padding=0, zebra_stripes=False
        )
        self._note = Static(classes="note", markup=False)
        self._shares, self._comparison, self._calibration = Block(), Block(), Block()
        self._side = EdgeScroll(
            self._note, self._shares, self._comparison, self._calibration, classes="shares"
        )
        self._column, self._reversed = 0, False
        self._found: list[Rejection] = []  # as they are listed
        self._listed: tuple[object, ...] | None = None  # what the table was filled for
        self._cells: dict[int, Text] = {}  # the first of each row, by its rejection's id()
        self._counts: list[str] = []
        self._lane: LaneState | None = None
        self._shown: tuple[object, ...] | None = None

    def compose(self) -> ComposeResult:
        yield self.top
        with Horizontal(classes="rejections"):
            yield self._table
            yield self._side
        yield self.bottom

    @on(Panel.Filled)
    def _style_scroll_bar(self) -> None:  # a bar lives in a table that is mounted
        self._table.vertical_scrollbar.renderer = EdgeScrollBarRender  # type: ignore[misc]

    @property
    def content_rows(self) -> int:
        listed = len(self._found) + 1 if self._table.display else 0
        counted = rows_of(self._side)
        both = listed + counted if self.has_class("-slim") else max(listed, counted)
        return max(MIN_ROWS, both)

    @property
    def inside(self) -> Widget:
        return self._table if self._table.display else self._side

    def show(self, state: AppState, name: str) -> None:
        lane = state.lanes[name]
        others = _others(state, lane)
        made = [(Same(each.round_events), len(each.round_events)) for each in others.values()]
        shown = (name, lane.active, self._columns, _made(state, lane), *others, *made)
        if shown != self._shown:
            self._shown, self._lane = shown, lane
            self._draw(state, lane)
        counts = [Part(count, "$foreground", rank) for rank, count in enumerate(self._counts, 2)]
        self.top.show(title_of("Rejections", state.label(name)), counts)
        missing = []
        if self._found and lane.lacks_probabilities:
            missing = [Part(not_recorded(state, lane), "$warning", 4)]
        elif self._found and (why := q_not_recorded(state, lane)):
            missing = [Part(f"q {why}", "$quiet")]
        hints = [Part(hint, "$quiet", rank) for rank, hint in enumerate(self._hints)]
        self.bottom.show(hints, missing)

    @property
    def _columns(self) -> tuple[Column, ...]:
        """The columns that fit as a whole."""
        beside = 0 if self.has_class("-slim") else SHARES_CELLS
        room = self.columns - EDGES_CELLS - beside
        ends = accumulate(column.cells for column in COLUMNS)
        return tuple(column for column, end in zip(COLUMNS, ends, strict=True) if end <= room)

    def _draw(self, state: AppState, lane: LaneState) -> None:
        drafts = lane.drafts
        tested, rejected = drafts.tallies.tested, drafts.rejected
        self._counts = [f"{len(rejected)} of {tested} tested"] if tested else []
        note = ""
        if not lane.active:
            note = why_off(lane, state.keys["view.toggle_here"])
        elif not tested:
            note = NOTHING_YET if lane.strategy.drafts else DRAFTS_NOTHING
            note = FROM_A_SERVER if lane.strategy.remote else note
        elif not rejected:
            note = ALL_RIGHT.format(pluralize(tested, "tested draft"))
        self._note.update(note)
        self._note.display = bool(note)
        if rejected and self._side.has_focus and not self._table.display:
            self._table.focus()  # it was empty when the panel was opened
        self._table.display = bool(rejected)
        self._shares.display = self._calibration.display = bool(tested)
        self._side.set_class(not rejected, "-alone")
        counts, answers = _counts_over(state, lane) if tested else (drafts.tallies, 1)
        self._counts += [f"· shares: {answers} answers"] if answers > 1 else []
        level, claimed = level_name(lane.strategy.one_pass), lane.info.claimed
        others = {name: _counts_over(state, o)[0] for name, o in _others(state, lane).items()}
        self._comparison.display = bool(tested and (claimed or others))
        self._comparison.show(partial(_comparison, counts, level, claimed, others))
        self._shares.show(partial(_shares, counts, level))
        self._calibration.show(partial(_calibration, counts))
        listed = lane.info.name, self._columns, state.running, Same(lane.round_events)
        if listed == self._listed:
            self._append(lane, rejected[len(self._found) :])
        else:
            self._listed = listed
            self._fill()

    def _fill(self) -> None:
        """Fill the table; the highlight stays on its rejection."""
        table, lane = self._table, self._lane
        if lane is None:
            return
        here = self._here
        self._found, self._cells = self._sorted(lane.drafts.rejected, lane), {}
        table.clear(columns=True)
        level = level_name(lane.strategy.one_pass)
        for index, column in enumerate(self._columns):
            descending = column.descending != self._reversed
            mark = ("▾" if descending else "▴") if index == self._column else ""
            table.add_column(Text(column.heading.format(level=level) + mark), width=column.cells)
        self._add_rows(lane, self._found)
        self._highlight(here)

    def _append(self, lane: LaneState, new: Sequence[Rejection]) -> None:
        """List what is new; by any other order than that of rounds all are sorted again. Names of
        tokens stay as they were until the answer is complete."""
        here = self._here
        self._found += new
        self._add_rows(lane, new)
        if new and (self._column or self._reversed):
            self._found = self._sorted(self._found, lane)
            places = {id(self._cells[id(each)]): place for place, each in enumerate(self._found)}
            self._table.sort(key=lambda cells: places[id(cells[0])])
            self._highlight(here)

    def _sorted(self, found: Sequence[Rejection], lane: LaneState) -> list[Rejection]:
        return ordered(found, COLUMNS[self._column], lane.texts, self._reversed)

    def _add_rows(self, lane: LaneState, found: Sequence[Rejection]) -> None:
        for each in found:
            cells = [_cell(column, each, lane) for column in self._columns]
            self._cells[id(each)] = cells[0]
            self._table.add_row(*cells)

    def _highlight(self, each: Rejection | None) -> None:
        if each in self._found:
            self._table.move_cursor(row=self._found.index(each), animate=False)

    @property
    def _here(self) -> Rejection | None:
        row = self._table.cursor_row
        return self._found[row] if 0 <= row < len(self._found) else None

    @property
    def _hints(self) -> list[str]:
        if not self._found:
            return []
        go, before, after = (
            first_key(self._table, action) for action in ("select_cursor", "sort(-1)", "sort(1)")
        )
        there = "" if self._table.has_focus else "in the list: "
        return [f"{there}{go} goes there", f"{before} {after} sort"]

    @on(RejectionTable.SortedBy)
    def sort_by(self, event: RejectionTable.SortedBy) -> None:
        self._column, self._reversed = (self._column + event.step) % len(self._columns), False
        self._fill()

    @on(DataTable.HeaderSelected)
    def sort_by_heading(self, event: DataTable.HeaderSelected) -> None:
        self._reversed = event.column_index == self._column and not self._reversed
        self._column = event.column_index
        self._fill()

    @on(DataTable.RowSelected)
    def choose(self) -> None:
        if (here := self._here) is not None:
            self.post_message(self.Chosen(here))


def _made(state: AppState, lane: LaneState) -> tuple[object, ...]:
    """On what the panel of a lane depends."""
    return Same(lane.round_events), len(lane.round_events), state.running, Same(state.runs.all)


def _counts_over(state: AppState, lane: LaneState) -> tuple[Tallies, int]:
    """The counts over all answers with the settings of the lane's last one, and the number of these
    answers."""
    answers = [] if state.running else state.runs.answers_like(lane)
    if len(answers) < 2:  # one alone says little
        return lane.drafts.tallies, 1
    counted = (levels_of(zip(run.rounds, run.shown, strict=True), run.begun) for run in answers)
    return Tallies.of(chain.from_iterable(counted)), len(answers)


def _others(state: AppState, lane: LaneState) -> dict[str, LaneState]:
    """Other lanes of the same strategy, as many as there is room for."""
    numbered = enumerate(state.lanes.values(), 1)
    others = {
        f"lane {number}": other
        for number, other in numbered
        if other is not lane and other.info.strategy == lane.info.strategy and other.round_events
    }
    return dict(islice(others.items(), MAX_COMPARED - bool(lane.info.claimed)))


def _cell(column: Column, each: Rejection, lane: LaneState) -> Text:
    """Text, not str: a token may hold what looks like markup."""
    text = Text(column.text(each, lane.texts))
    text.truncate(column.cells - 1, overflow="ellipsis")
    return text


def _shares(counts: Tallies, level: str, width: int) -> Content:
    return Content("\n").join(share_lines(counts, level))


def _comparison(
    counts: Tallies,
    level: str,
    claimed: tuple[float, ...],
    others: dict[str, Tallies],
    width: int,
) -> Content:
    return Content("\n").join(comparison_lines(counts, level, claimed, others))


def _calibration(counts: Tallies, width: int) -> Content:
    return Content("\n").join(calibration_lines(counts))
