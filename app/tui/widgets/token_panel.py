"""The token panel: why the token under the cursor was accepted, or why not."""

from __future__ import annotations

from collections.abc import Iterator

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from app.text.terminal_text import token_name
from app.tui.format.bars import bar
from app.tui.format.numbers import probability
from app.tui.format.pane_edges import LOSSY, why_off
from app.tui.format.parts import Part, fitted
from app.tui.format.round_labels import not_recorded, q_not_recorded
from app.tui.format.token_facts import TokenFacts, facts_here
from app.tui.keys.bindings import CURSOR_KEYS
from app.tui.state.app_state import AppState
from app.tui.textual_internals import lay_out_again
from app.tui.widgets.edge_scrollbar import EdgeScroll
from app.tui.widgets.panel import Panel, title_of

MODEL_P = {"target": "target p", "draft model": "draft p"}
ROWS = ("proposed by", "fate", *MODEL_P.values(), "draft q", "chance", "entropy")
NAME_CELLS, BAR_CELLS, P_CELLS = 14, 10, 5


class Words(Static):
    """A text that is only laid out again if it has changed."""

    def show(self, words: Content) -> None:
        if not (isinstance(self.content, Content) and words.is_same(self.content)):
            self.update(words)
            lay_out_again(self)


class FactRow(Horizontal):
    """A name and a text, which stays in its column when wrapped."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._title = name
        self._text = Words()

    def compose(self) -> ComposeResult:
        yield Static(self._title, classes="name")
        yield self._text

    def show(self, text: str | None) -> None:
        self.display = bool(text)
        self._text.show(Content(text or ""))


class TokenScroll(EdgeScroll, can_focus=True):
    """Has the cursor's keys as well, because on a narrow screen nothing else is shown."""

    BINDINGS = [*CURSOR_KEYS]


class TokenPanel(Panel):
    """Without a cursor it shows the last token of the selected round."""

    NEEDS_PROBABILITIES = True

    def __init__(self, *, dom_id: str) -> None:
        super().__init__(dom_id=dom_id)
        self._rows = [FactRow(name) for name in ROWS]
        self._likely = Words(id="likely")
        self._facts = Vertical(*self._rows, id="facts")
        self._scroll = TokenScroll(self._facts, self._likely)

    @property
    def inside(self) -> Widget:
        return self._scroll

    def show(self, state: AppState, name: str) -> None:
        lane = state.lanes[name]
        facts = facts_here(lane) if lane.active else None
        title = title_of("Token", state.label(name))
        self._facts.display = facts is not None  # else the note would stand far to the right
        if facts is None:
            self.top.show(title)
            note = "No token yet." if lane.active else why_off(lane, state.keys["view.toggle_here"])
            texts: dict[str, str | None] = {}
            self._likely.show(Content(note))
        else:
            count = len(lane.round_events)
            nth = f"· round {facts.record.index + 1} of {count}" if facts.record else ""
            title += [Part(f"· {facts.name}", "bold $foreground"), Part(nth, "$foreground", 1)]
            self.top.show(title, [LOSSY] if facts.record and facts.record.lossy else [])
            texts = fact_texts(facts)
            if facts.drafted and facts.q is None:
                texts["draft q"] = q_not_recorded(state, lane)
            likely = Content("\n").join(likely_lines(facts))
            self._likely.show(likely if facts.measured else Content(not_recorded(state, lane)))
        for name, row in zip(ROWS, self._rows, strict=True):
            row.show(texts.get(name))
        before, after, back, forth = (
            state.keys[each]
            for each in ("cursor.before", "cursor.next", "view.round_back", "view.round_forward")
        )
        ways = [
            Part(f"{before} {after} token by token", "$quiet"),
            Part(f"{back} {forth} round by round", "$quiet", 1),
        ]
        self.bottom.show(ways if facts else [])


def fact_texts(facts: TokenFacts) -> dict[str, str | None]:
    """Return the texts of the rows, by name."""
    return {
        "proposed by": facts.who,
        "fate": facts.fate,
        MODEL_P[facts.lane.model]: target_row(facts),
        "draft q": drafter_row(facts),
        "chance": facts.chance,
        "entropy": entropy_row(facts),
    }


def target_row(facts: TokenFacts) -> str | None:
    if facts.p is None:
        return None
    before, after = map(probability, facts.p)
    return f"{after} · {before} before sampling settings"


def drafter_row(facts: TokenFacts) -> str | None:
    return None if facts.q is None else f"{probability(facts.q)} · the drafter's own probability"


def entropy_row(facts: TokenFacts) -> str | None:
    if facts.entropy is None:
        return None
    return f"{facts.entropy:.2f} bits · how unsure the {facts.lane.model} was here"


def likely_lines(facts: TokenFacts) -> Iterator[Content]:
    """Yield the model's likeliest tokens with their ranks: ✓ is the emitted one, ✗ the one under
    the cursor if different. The bars show the sampled distribution; at temperature 0, where it is a
    single token, the model's own probabilities."""
    sampled = any(0.0 < p < 1.0 for _, _, p in facts.top)
    head = f"  {'likeliest here':<{NAME_CELLS + BAR_CELLS}} {'p':>{P_CELLS}} {'before':>6}"
    yield Content.styled(head, "$quiet")
    for rank, (token, before, p) in enumerate(facts.top, 1):
        known = rank <= len(facts.likeliest)  # else it is this one, somewhere below
        name = f"{rank if known else '…'} {token_name(token, facts.lane.texts)}"
        mark, style = "  ", "$foreground"
        if token == facts.emitted:
            mark, style = "✓ ", "bold $accepted"
        elif token == facts.token.id:
            mark, style = "✗ ", "$rejected"
        yield Content.assemble(
            (f"{mark}{fitted(name, NAME_CELLS - 1)} ", style),
            (bar(p if sampled else before, BAR_CELLS), style),
            (f"{probability(p):>{P_CELLS}} {probability(before):>6}", style),
        )
