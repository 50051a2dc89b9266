"""The tree inspector: what one round of the lane in focus drafted, and what became of it."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical

from app.tui.labels import BAR_CELLS, LOSSY, round_counts, round_times, round_total, why_off
from app.tui.state import AppState, LaneState, Phase
from app.tui.tree_lines import tree_lines
from app.tui.widgets.split_line import Part, SplitLine
from app.tui.widgets.tree_view import TreeView
from decoding.round import Round

NOTHING_YET = "No round yet. n does one round, [ ] go back and forward."
UNWATCHED = "Drafted unseen. F5 runs it again, with probabilities."
TIGHT_SHARE = 4  # levels of two columns may take up this part of the width


class Inspector(Vertical):
    """Follows the newest round of a lane until the user goes back from it."""

    ALLOW_MAXIMIZE = False

    def __init__(self, *, dom_id: str) -> None:
        super().__init__(id=dom_id)
        self._top = SplitLine(ends=("╭", "╮"), fill="─")
        self._facts = SplitLine(ends=("│", "│"))
        self.view = TreeView(dom_id="tree")
        self._bottom = SplitLine(ends=("╰", "╯"), fill="─")
        for edge in (self._top, self._facts, self._bottom):
            edge.add_class("edge")
        self._places: dict[str, int] = {}  # the round looked at, where it is not the newest
        self._shown: tuple[object, ...] | None = None

    def compose(self) -> ComposeResult:
        yield self._top
        yield self._facts
        yield self.view
        yield self._bottom

    def go(self, state: AppState, name: str, steps: int) -> str | None:
        """Back or forward; else the reason why not."""
        lane = state.lanes[name]
        last = len(lane.rounds) - 1
        if moving(state, lane):
            return "The tree follows the newest round: Space pauses, then [ goes back"
        if last < 0:
            return "This lane has no round yet"
        place = self._places.get(name, last) + steps
        if not 0 <= place <= last:
            return "This is the first round" if steps < 0 else "This is the newest round"
        self._places[name] = place
        if place == last:
            self.follow(name)
        return None

    def follow(self, name: str) -> None:
        """Back to the newest round: another one has come, or another run."""
        self._places.pop(name, None)

    def show(self, state: AppState, name: str) -> None:
        lane = state.lanes[name]
        record: Round | None = None
        place = self._places.get(name, len(lane.rounds) - 1)
        if lane.rounds:
            record = lane.rounds[place]
        title = [
            Part("Tree ·", "bold $primary", 1),
            Part(state.label(name), "bold $foreground"),
        ]
        right = []
        if record is not None:
            title.append(Part(f"· round {place + 1} of {len(lane.rounds)}", "$foreground"))
            if record.lossy:
                right.append(LOSSY)
            if name not in self._places and moving(state, lane):
                right.append(Part("newest", "$quiet", 1))
        self._top.show(title, right)
        self._facts.show(round_counts(record), round_total(record, BAR_CELLS))
        self._bottom.show(round_times(record))
        self._draw(lane, record)

    def _draw(self, lane: LaneState, record: Round | None) -> None:
        """The tree again, where anything of it has changed."""
        width = self.view.scrollable_content_region.width
        shown = (lane.info.name, lane.active, record and id(record), len(lane.texts), width)
        if shown == self._shown:
            return
        self._shown = shown
        if record is None:
            self.view.show([], NOTHING_YET if lane.active else why_off(lane, "o"))
            return
        deepest = max(depths(record.parents))
        lines = tree_lines(
            record,
            lane.texts,
            heads=lane.info.strategy == "medusa",
            tight=2 * deepest > width // TIGHT_SHARE,
        )
        self.view.show(lines, UNWATCHED if record.drafted and not record.p else "")


def moving(state: AppState, lane: LaneState) -> bool:
    """Rounds come in: nobody could look at an older one in peace."""
    return lane.phase is Phase.RUNNING and not state.paused


def depths(parents: tuple[int, ...]) -> list[int]:
    found = [0]
    for parent in parents[1:]:
        found.append(found[parent] + 1)
    return found
