"""The help screen: colours, current keys, and an explanation of each figure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Static

from app.tui.format.glossary import (
    FIGURES,
    LANE_MARKS,
    LEGEND,
    LENSES,
    METRICS,
    REJECTIONS,
    SCOREBOARD,
    TITLE,
    TOKEN,
    TREE,
)
from app.tui.keys.bindings import APP_KEYS, VIEW_KEYS, allowed, lane_key, run_keys
from app.tui.keys.key_names import active_bindings, compact_keys, first_key
from app.tui.screens.dialog import Dialog
from app.tui.state.app_state import AppState
from app.tui.widgets.definition_list import DefinitionList, Term
from app.tui.widgets.keyed_box import KeyedScroll
from app.tui.widgets.prompt import Prompt
from app.tui.widgets.rejections_panel import RejectionTable
from app.tui.widgets.slider import Slider
from app.tui.widgets.token_view import TokenView
from app.tui.widgets.tree_view import TreeView

KEYS = "Keys; letters and symbols are keys in a lane, and text in the prompt"


class HelpScreen(Dialog[None]):
    BINDINGS = [
        Binding(
            "escape,f1,question_mark,q", "leave", "Close", id="help.close",
            tooltip="Back to the lanes; closes the filter first",
        ),
        Binding("t", "tour", "Tour", id="help.tour", tooltip="The screen explained in a few steps"),
        Binding("slash,ctrl+f", "filter", "Filter", id="help.filter",
                tooltip="Show only entries with some words"),
    ]  # fmt: skip

    def __init__(self, state: AppState) -> None:
        super().__init__()
        self._state = state

    def compose(self) -> ComposeResult:
        with KeyedScroll(id="help") as box:
            box.border_title = "Help"
            close, find, tour = (first_key(self, action) for action in ("leave", "filter", "tour"))
            box.show_keys(
                [f"{close} closes", f"{find} filters", f"{tour} shows you around", "↑ ↓ scroll"]
            )
            yield Input(compact=True, placeholder="Type to filter")
            yield Static("Tokens", classes="heading -first")
            yield DefinitionList(
                (Content.styled(name, style), text) for name, style, text in LEGEND
            )
            keys = self._keys([*run_keys(self._state), *VIEW_KEYS, *APP_KEYS])
            numbers = (
                self.app.get_key_display(each)
                for each in active_bindings(self.app, VIEW_KEYS)
                if lane_key(each)
            )
            switch = self._state.keys["view.toggle_here"]
            lanes = (compact_keys(numbers), f"To that lane; {switch} switches it on or off")
            yield from section(KEYS, [*keys, lanes])
            yield from section(
                "Keys of an answer; a click works, too", self._keys(TokenView.BINDINGS)
            )
            if not self._state.replay:
                yield from section("Keys of the prompt", self._keys(Prompt.BINDINGS))
                yield from section(
                    "Keys of a slider, or a number; click, drag and wheel work, too",
                    self._keys(Slider.BINDINGS),
                )
            names = self._state.keys
            yield from section("The title", TITLE)
            yield from section("Lanes", LANE_MARKS)
            yield from section(f"What colours mean ({names['view.lens']})", LENSES)
            yield from section(f"The scoreboard ({names['view.scoreboard']})", SCOREBOARD)
            yield from section(f"The tree ({names['view.inspect']})", TREE)
            yield from section(f"A token ({names['view.why']})", TOKEN)
            yield from section(f"The figures of a lane ({names['view.figures']})", FIGURES)
            yield from section(f"Rejections ({names['view.rejections']})", REJECTIONS)
            yield from section("Keys of the rejections", self._keys(RejectionTable.BINDINGS))
            yield from section("Keys of the tree", self._keys(TreeView.BINDINGS))
            yield from section("Figures and words", METRICS)

    def on_mount(self) -> None:
        self.query_one(Input).display = False
        self.query_one("#help").focus()

    def action_filter(self) -> None:
        field = self.query_one(Input)
        field.display = True
        self.set_focus(field)  # at once: letters may be right behind

    @on(Input.Changed)
    def apply_filter(self, event: Input.Changed) -> None:
        """Hide entries without the typed words, and headings of empty sections."""
        for entries in self.query(DefinitionList):
            entries.display = entries.filter(event.value)
        for heading in self.query(".heading"):
            siblings = heading.parent.children if heading.parent else ()
            heading.display = siblings[siblings.index(heading) + 1].display

    @on(Input.Submitted)
    def read(self) -> None:
        self.query_one("#help").focus()

    def action_leave(self) -> None:
        field = self.query_one(Input)
        if field.display:
            field.value, field.display = "", False
            self.read()
        else:
            self.dismiss()

    def action_tour(self) -> None:
        self.dismiss()
        self.app.call_later(self.app.run_action, "tour")

    def _keys(self, bindings: Iterable[BindingType]) -> Iterable[Term]:
        """An entry for each action, without the nine for lanes."""
        keys: dict[str, list[str]] = {}
        texts: dict[str, str] = {}
        for binding in active_bindings(self.app, bindings):
            if not lane_key(binding) and allowed(self._state, binding.action):
                keys.setdefault(binding.action, []).append(self.app.get_key_display(binding))
                texts[binding.action] = binding.tooltip
        return ((", ".join(keys[action]), text) for action, text in texts.items())


def section(heading: str, terms: Iterable[Term]) -> Iterator[Widget]:
    yield Static(heading, classes="heading", markup=False)
    yield DefinitionList(terms)
