"""Draws the lines of a draft tree in columns: token, guess, probability, fate."""

from __future__ import annotations

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding
from textual.content import Content
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from app.tui.format.tree import NODE_MARKS, OWN_FATES, ROOT, TreeLine
from app.tui.widgets.edge_scrollbar import EdgeScrollBarRender
from decoding.round import TokenFate

P_CELLS = 5
TOKEN_CELLS = 24  # the maximum for a token's text
FATE_CELLS = 24  # for what became of a token; with less room the guesses' ranks are left out
HEAD = TreeLine("", "", ROOT, "token", "guess", "draft", "p", "what became of it")
ON_PATH = (TokenFate.ACCEPTED, *OWN_FATES)


class TreeView(ScrollView, can_focus=True):
    """A scrolling view of a tree's nodes, with a note and the column names fixed at the top."""

    ALLOW_SELECT = False
    BINDINGS = [
        Binding("left", "screen.round(-1)", "Round back", False, id="tree.before",
                tooltip="To the previous round"),
        Binding("right", "screen.round(1)", "Round forward", False, id="tree.next",
                tooltip="To the next round"),
    ]  # fmt: skip
    COMPONENT_CLASSES = {
        *(f"tree-view--{fate}" for fate in NODE_MARKS),
        *("tree-view--branch", "tree-view--head", "tree-view--note"),
    }

    def __init__(self, *, dom_id: str) -> None:
        super().__init__(id=dom_id)
        self._lines: list[TreeLine] = []
        self._note = ""
        self._note_lines: list[str] = []  # it in the present width
        self._styles: dict[str, Style] = {}

    def on_mount(self) -> None:
        self.vertical_scrollbar.renderer = EdgeScrollBarRender  # type: ignore[misc]

    def show(self, lines: list[TreeLine], note: str) -> None:
        """Show another round."""
        self._lines, self._note = lines, note
        self._measure()
        self._seek()

    def _seek(self) -> None:
        """Scroll to the end of the accepted path, or else to the top."""
        ends = [i for i, line in enumerate(self._lines) if line.fate in ON_PATH]
        any_accepted = any(line.fate == TokenFate.ACCEPTED for line in self._lines)
        rows = max(1, self.scrollable_content_region.height - self._above)
        end = ends[-1] if any_accepted else 0
        y = 0 if end < rows else end - rows // 2
        self.scroll_to(y=y, animate=False, force=True, immediate=True)
        self.refresh()

    @property
    def _above(self) -> int:
        """The number of fixed rows at the top."""
        return len(self._note_lines) + bool(self._lines)

    def _measure(self) -> None:
        self._note_lines = [self._note] if self._note else []
        if self._note and (width := self.scrollable_content_region.width) > 1:  # it is laid out
            self._note_lines = [line.plain for line in Content(self._note).wrap(width - 1)]
        rows = self._above + len(self._lines)
        self.virtual_size = Size(self.scrollable_content_region.width, rows)
        tokens = (
            cell_len(line.branch + line.arm) + 2 + min(cell_len(line.token), TOKEN_CELLS)
            for line in self._lines
        )
        self._token_cells = max(tokens, default=0)
        guesses = max((cell_len(line.guess) for line in self._lines), default=0)
        self._guess_cells = max(guesses, cell_len(HEAD.guess)) if guesses else 0
        self._has_score = any(line.score for line in self._lines)
        self._has_p = any(line.p for line in self._lines)
        columns = self._guess_cells + (P_CELLS + 1) * (self._has_score + self._has_p)
        room = self.scrollable_content_region.width - self._token_cells - columns - 5  # gaps
        self._guess_cells = 0 if room < FATE_CELLS else self._guess_cells

    def on_resize(self, event: events.Resize) -> None:
        self._measure()
        self._seek()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._styles.clear()

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        index = self.scroll_offset.y + y - self._above
        segments: list[Segment] = []
        if y < len(self._note_lines):
            segments = [Segment(f" {self._note_lines[y]}", self._style("note"))]
        elif y < self._above:
            segments = self._columns(HEAD, "head", "head", width)
        elif index < len(self._lines):
            line = self._lines[index]
            segments = self._columns(line, line.fate, "branch", width)
        return Strip(segments).adjust_cell_length(width, self.rich_style)

    def _columns(self, line: TreeLine, fate: str, rest: str, width: int) -> list[Segment]:
        own, quiet = self._style(fate), self._style(rest)
        alive = line.fate in ON_PATH
        head = "" if line is HEAD else f"{line.mark} "
        room = self._token_cells - cell_len(line.branch + line.arm + head)
        segments = [
            Segment(f" {line.branch}", quiet),
            Segment(line.arm, self._style(fate, plain=True) if alive else quiet),
            Segment(head, self._style(fate, plain=True)),
            *fitted_segments(line.token, room, own),
        ]
        if self._guess_cells:
            segments.append(Segment(f"  {line.guess:<{self._guess_cells}}", quiet))
        if self._has_score:
            segments.append(Segment(f" {line.score:>{P_CELLS}}", quiet))
        if self._has_p:
            segments.append(Segment(f" {line.p:>{P_CELLS}}", self._style(fate, plain=True)))
        used = sum(segment.cell_length for segment in segments)
        what = f"  {line.what}"
        if cell_len(what) > width - used:
            what = set_cell_size(what, max(0, width - used - 1)).rstrip() + "…"
        return [*segments, Segment(what, self._style(fate, plain=True))]

    def _style(self, name: str, *, plain: bool = False) -> Style:
        """`plain`: without strike or underline, which only the token itself has."""
        key = f"{name}/{plain}"
        if key not in self._styles:
            style = self.get_component_rich_style(f"tree-view--{name}")
            if plain:
                style += Style(underline=False, strike=False)
            self._styles[key] = style
        return self._styles[key]


def fitted_segments(text: str, cells: int, style: Style) -> list[Segment]:
    """`text` padded or cut to `cells`; the padding does not have its style."""
    if cell_len(text) > cells:
        text = set_cell_size(text, max(0, cells - 1)) + "…"
    blanks = Style(bgcolor=style.bgcolor)
    return [Segment(text, style), Segment(" " * (cells - cell_len(text)), blanks)]
