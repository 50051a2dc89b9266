"""The scoreboard: the speed of each lane, a verdict in one sentence, and what to try."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from app.report.spread import Spread, spread
from app.report.verdict import (
    LaneScore,
    Suggestion,
    Verdict,
    doubt_about_speeds,
    ranking,
    slowest,
    why_slowest,
)
from app.text.plural import pluralize
from app.tui.format.glossary import SCOREBOARD
from app.tui.format.parts import Part
from app.tui.format.scoreboard import RANGE_COLUMNS, bar_rows, range_text
from app.tui.format.setting_changes import changes_since
from app.tui.format.welcome import welcome
from app.tui.state.app_state import AppState
from app.tui.state.growing import Same
from app.tui.state.scores import scores, verdict_of
from app.tui.widgets.block import Block
from app.tui.widgets.edge_scrollbar import EdgeScroll
from app.tui.widgets.gamma_forecast import forecast_for_lane
from app.tui.widgets.panel import Panel
from decoding.cost.forecast import Forecast

MEANING = "\n".join(
    [
        "tok/s: a lane's tokens over its own decoding time.",
        "×: its tok/s over the autoregressive lane's, in a race while both were running.",
        *(f"{name}: {text}" for name, text in SCOREBOARD),
        "Grey: over fewer than 50 tokens. ?: more than τ, which is impossible.",
    ]
)
BROAD_CELLS = 140  # width from which a sentence fits on a line
EDGE_CELLS = 4  # left and right of the text
GAIN = 1.05  # smaller expected speedups are not suggested


class Scoreboard(Panel):
    """A panel over all lanes, which is shown by default and updated while they run."""

    @dataclass
    class LaneClicked(Message):
        """The row of a lane was clicked."""

        number: int

    def __init__(self, *, dom_id: str) -> None:
        super().__init__(dom_id=dom_id)
        self._block = Block()
        self._block.tooltip = MEANING
        self._scroll = EdgeScroll(self._block, classes="scores")
        self._lanes: int | None = None  # rows of bars; None before the first run
        self._drawn: tuple[Verdict | None, list[LaneScore]] = (None, [])
        self._shown: tuple[object, ...] | None = None
        self._welcome: list[str] = []
        self._suggested: tuple[object, Suggestion | None] = (None, None)

    @property
    def content_rows(self) -> int:
        """As many during a run as at its end, so that the layout does not change."""
        if self._lanes is None:
            lines = welcome_lines(self._welcome, self.columns - EDGE_CELLS)
            return lines.plain.count("\n") + 1
        each = 1 if self.columns >= BROAD_CELLS else 2  # rows of a sentence
        return self._lanes + 1 + 2 * each

    @property
    def inside(self) -> Widget:
        return self._scroll

    def show(self, state: AppState, name: str) -> None:
        found = scores(state)
        self._lanes = len(found) if state.turns else None
        counts = {each.speed.count for each in found if each.speed}
        title = [Part("Scoreboard", "bold $primary")]
        if (most := max(counts, default=0)) > 1:
            most_of = "up to " if len(counts) > 1 else ""
            runs = f"{most_of}{most} {state.schedule_of_run} runs of this prompt, median"
            title.append(Part(runs, "$quiet", 1))
            if self.columns - EDGE_CELLS >= RANGE_COLUMNS:
                title.append(Part("(lowest-highest)", "$quiet", 2))
        if any(changes_since(lane, state.params) for lane in state.lanes.values()):
            title.append(Part("· with the settings before the change", "$warning"))
        self.top.show(title)
        self.bottom.show(session_parts(state, self.columns - EDGE_CELLS))
        verdict = verdict_of(state, found)
        places = places_of(state, found)
        why = self._why(state, found)
        self._drawn, self._welcome = (verdict, found), welcome(state)
        shown = (found, verdict, places, why, self._welcome)
        if shown != self._shown:
            self._shown = shown
            draw = partial(scoreboard_lines, found, verdict, why, places)
            self._block.show(draw if found else partial(welcome_lines, self._welcome))

    def on_click(self, event: events.Click) -> None:
        verdict, found = self._drawn
        row = event.y - len(verdict_lines(verdict, self._block.size.width)) - 1
        if event.widget is self._block and 0 <= row < len(found):
            self.post_message(self.LaneClicked(found[row].number))

    def sentences(self, state: AppState) -> list[str]:
        """Return its sentences without names of keys, to be read elsewhere."""
        found = scores(state)
        verdict, why = verdict_of(state, found, keys=False), self._why(state, found)
        return [*([verdict.text] if verdict else []), *([why] if why else [])]

    def _why(self, state: AppState, found: list[LaneScore]) -> str:
        why = why_slowest(found, self._suggestion(state, found))
        return " ".join(filter(None, (why, doubt_about_speeds(found))))

    def _suggestion(self, state: AppState, found: list[LaneScore]) -> Suggestion | None:
        """For the slowest lane that drafts, once all are done; cached until there are new runs."""
        slow = slowest(found)
        if slow is None or not all(each.done for each in found):
            return None
        lane = list(state.lanes.values())[slow.number - 1]
        key = (
            slow,
            Same(lane.round_events),
            Same(state.runs.all),
            lane.effective_params(state.params),
        )
        if key != self._suggested[0]:
            forecast = forecast_for_lane(state, lane)
            self._suggested = (key, suggestion(forecast, slow) if forecast else None)
        return self._suggested[1]


def places_of(state: AppState, found: list[LaneScore]) -> dict[int, int]:
    """Return the lanes' ranks by number, from 0; at the end by all runs that count."""
    ranks = ((number, state.place(name)) for number, name in enumerate(state.lanes, 1))
    places = {number: place for number, place in ranks if place is not None}
    if all(each.done for each in found):
        placed = [each for each in found if each.number in places]
        rank = ranking(placed)
        placed.sort(key=lambda each: (-rank(each), places[each.number]))
        places = {each.number: place for place, each in enumerate(placed)}
    return places


def suggestion(found: Forecast, slow: LaneScore) -> Suggestion | None:
    """Return the best gamma up to the longest drafts there were, if it is surely enough of a gain
    over what was measured and its cost is not in doubt."""
    gamma = found.best_seen
    if found.doubtful and gamma:
        return None
    speed = found.speeds[gamma]
    error = 2 * found.errors[gamma] if gamma < len(found.errors) else 0.0
    enough = slow.speed is None or speed - error > GAIN * slow.speed.median
    return Suggestion(gamma, speed, error) if enough else None


def welcome_lines(lines: list[str], width: int) -> Content:
    return Content("\n").join(line for text in lines for line in Content(text).wrap(max(width, 2)))


def verdict_lines(verdict: Verdict | None, width: int) -> list[Content]:
    text = Content.styled(verdict.text, "bold $foreground") if verdict else None
    return text.wrap(max(width, 2)) if text else []


def scoreboard_lines(
    found: list[LaneScore], verdict: Verdict | None, why: str, places: dict[int, int], width: int
) -> Content:
    rows = [*verdict_lines(verdict, width), Content(""), *bar_rows(found, places, width)]
    if why:
        rows += [*Content.styled(why, "$quiet").wrap(max(width, 2))]
    return Content("\n").join(rows)


def session_parts(state: AppState, width: int) -> list[Part]:
    """Return the speedups over all prompts of the session; none after a single run. In little room
    without their ranges, or with the lanes' numbers for their titles, so that every lane is
    there."""
    known: list[tuple[str, str, Spread]] = []
    for number, lane in enumerate(state.lanes.values(), 1):
        runs = state.runs.timed_like(lane)
        speedups = spread(run.metrics.speedup for run in runs)
        if speedups and speedups.count > 1 and lane.strategy.drafts:
            known.append((lane.info.title, f"lane {number}", speedups))
    if not known:
        return []
    forms = (
        [f"{title} {range_text(speedups)}" for title, _, speedups in known],
        [f"{title} {speedups.median:.1f}×" for title, _, speedups in known],
        [f"{lane} {speedups.median:.1f}×" for _, lane, speedups in known],
    )
    counts = {speedups.count for _, _, speedups in known}
    up_to = "up to " if len(counts) > 1 else ""
    these = "these settings, " if width >= RANGE_COLUMNS else ""
    head = f"{these}{up_to}{pluralize(max(counts), 'run')}:"
    room = width - len(head) - 2
    texts = next((form for form in forms if cell_len(" · ".join(form)) <= room), forms[-1])
    parts = [
        Part(f"{'· ' if n else ''}{text}", "$foreground", 1 + n) for n, text in enumerate(texts)
    ]
    return [Part(head, "$quiet"), *parts]
