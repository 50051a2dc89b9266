"""The layout of the lanes' screen: its widgets, and how they follow the state."""

from __future__ import annotations

from contextlib import suppress

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.css.query import NoMatches
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from app.engine.protocol import Engine
from app.tui.format.legend import legend
from app.tui.format.status import (
    letters_are_commands,
    letters_are_text,
    placeholder,
    status_left,
    title_bar,
)
from app.tui.format.welcome import welcome
from app.tui.keys.bindings import KeyContext, key_bar_state
from app.tui.state.app_state import AppState, EngineState
from app.tui.state.scores import scores, verdict_of
from app.tui.tokens.lens import MEASURED
from app.tui.tokens.token_text import DisplayOptions
from app.tui.widgets.figures_panel import FiguresPanel
from app.tui.widgets.gamma_forecast import GammaForecast
from app.tui.widgets.key_bar import KeyBar
from app.tui.widgets.lane_grid import LaneGrid
from app.tui.widgets.lane_pane import LanePane
from app.tui.widgets.lane_tabs import LaneTabs
from app.tui.widgets.panel import Panel
from app.tui.widgets.prompt import Prompt
from app.tui.widgets.rejections_panel import RejectionsPanel
from app.tui.widgets.scoreboard import Scoreboard
from app.tui.widgets.search_line import SearchLine
from app.tui.widgets.slider import Slider
from app.tui.widgets.sliders_panel import SlidersPanel
from app.tui.widgets.split_line import SplitLine, StatusLine
from app.tui.widgets.token_panel import TokenPanel
from app.tui.widgets.token_view import TokenView
from app.tui.widgets.tree_panel import TreePanel
from app.tui.widgets.vertical_space import VerticalSpace

NARROW_COLUMNS = 80
BROAD_COLUMNS = 160  # width from which two panels are shown side by side
PANEL_AND_LANE_ROWS = 20
LEAST_COLUMNS, LEAST_ROWS = 40, 12
RESTYLE_SECONDS = 0.015  # between two panes, to handle keys and paint


class LanesLayout(Screen[None]):
    """The screen without its keys, which MainScreen adds."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (NARROW_COLUMNS, "-wide"), (BROAD_COLUMNS, "-broad")]
    VERTICAL_BREAKPOINTS = [(0, "-flat"), (18, "-low"), (28, "-tall")]  # for the sliders

    def __init__(self, engine: Engine, state: AppState) -> None:
        super().__init__()
        self.engine = engine
        self.state = state
        self.zoomed = self._crowded = False
        self.open: str | None = None  # id of the panel that the user has opened
        self.beside: str | None = None  # the panel opened before it, if there is room for two
        self.scores_shown = True  # the scoreboard, if no other panel is open and there is room
        self.display_options = DisplayOptions()
        self._restyling = False  # a timer is running for the next pane
        self._seen = False  # it has been on the terminal
        self.writing = False  # characters go to the prompt
        self.searched = ""  # the words that are searched for
        self._added_at: dict[str, str] = {}  # the lane in focus when another one was added

    def on_screen_resume(self, event: events.ScreenResume) -> None:
        """Keep the styles of the first time: Textual would style every widget again."""
        event.refresh_styles &= self._seen
        if self._seen:
            self.show_state()
        self._seen = True

    def on_screen_suspend(self) -> None:
        """Behind a dialog no key of this screen is named: it would do nothing."""
        self.query_one(KeyBar).set_labels([])
        self.show_state()

    def compose(self) -> ComposeResult:
        # before there are widgets, which would otherwise be styled twice
        for cells, breakpoints in zip(
            self.app.size, (self.HORIZONTAL_BREAKPOINTS, self.VERTICAL_BREAKPOINTS), strict=True
        ):
            self.add_class([name for least, name in breakpoints if cells >= least][-1])
        tabs = LaneTabs(dom_id="tabs")
        yield SplitLine(dom_id="title")
        yield Static(id="failure", markup=False)
        with VerticalSpace(dom_id="room", consumes=self.consumes):
            yield tabs
            yield LaneGrid(tabs, dom_id="lanes")
            with Horizontal(id="panels"):
                yield TreePanel(dom_id="tree")
                yield FiguresPanel(dom_id="figures")
                yield TokenPanel(dom_id="token")
                yield RejectionsPanel(dom_id="rejections")
                yield Scoreboard(dom_id="scores")
        yield SlidersPanel(dom_id="controls", consumes=self.consumes, write=self.type_if_writing)
        yield GammaForecast(dom_id="whatif")
        yield StatusLine(dom_id="status")
        yield SearchLine(dom_id="find")
        with Horizontal(id="ask"):
            yield Static("›", id="caret")
            yield Prompt(dom_id="prompt")
        yield KeyBar(dom_id="keys")
        yield Static(id="too-small")

    def on_resize(self, event: events.Resize) -> None:
        """Where there is no room, say so instead of drawing pieces."""
        columns, rows = event.size
        cover = self.query_one("#too-small", Static)
        cover.display = columns < LEAST_COLUMNS or rows < LEAST_ROWS
        cover.update(f"Too small: {columns} × {rows}. Needs {LEAST_COLUMNS} × {LEAST_ROWS}.")

    # Writing

    def set_focus(
        self, widget: Widget | None, scroll_visible: bool = True, from_app_focus: bool = False
    ) -> None:
        """Keep who writes writing after a click, the only cause of a focus without scrolling: only
        keys lead to a pane whose letters are commands."""
        kept = self.writing and widget is not None and not scroll_visible
        self.writing = isinstance(widget, Prompt) or kept
        super().set_focus(widget, scroll_visible, from_app_focus)

    def consumes(self, key: str, character: str | None) -> bool:
        """Return whether a key in a pane or slider is written into the prompt."""
        return self.writing and self.prompt.check_consume_key(key, character)

    def type(self, text: str) -> None:
        """Insert `text` into the prompt."""
        self.set_focus(self.prompt)
        self.prompt.insert(text)

    def type_if_writing(self, text: str) -> bool:
        """Returns whether characters go to the prompt."""
        if self.writing:
            self.type(text)
        return self.writing

    # Parts

    @property
    def grid(self) -> LaneGrid:
        return self.query_one(LaneGrid)

    @property
    def prompt(self) -> Prompt:
        return self.query_one(Prompt)

    @property
    def panel(self) -> Panel | None:
        """The panel that was opened last, or else the scoreboard."""
        return next(iter(self.panels), None)

    @property
    def panels(self) -> list[Panel]:
        """The visible panels: those that the user has opened, and the scoreboard if there is
        room."""
        shown = self.scores_shown and self.room_for_both
        beside = self.beside or ("scores" if shown else None)
        names = [self.open or ("scores" if shown else None), beside if self.broad else None]
        return [self.query_one(f"#{name}", Panel) for name in dict.fromkeys(names) if name]

    @property
    def shows_probabilities(self) -> bool:
        """Whether an open panel or the colours show probabilities."""
        color_by = self.display_options.color_by
        return color_by in MEASURED or any(panel.NEEDS_PROBABILITIES for panel in self.panels)

    @property
    def pane_here(self) -> LanePane | None:
        """The pane in focus, or the one that was in focus last."""
        return self.grid.pane(self.grid.current)

    @property
    def tabbed(self) -> bool:
        return self.zoomed or self._crowded or self.size.width < NARROW_COLUMNS

    @property
    def broad(self) -> bool:
        return self.size.width >= BROAD_COLUMNS

    @property
    def panel_alone(self) -> bool:
        """Whether a panel replaces the lanes, on a narrow or low screen."""
        return self.open is not None and not self.room_for_both

    @property
    def room_for_both(self) -> bool:
        """Whether there is room for the lanes and a panel below them."""
        columns, rows = self.size
        return columns >= NARROW_COLUMNS and rows >= PANEL_AND_LANE_ROWS

    # Showing

    async def rebuild(self) -> None:
        await self.grid.rebuild(self.state)
        self.show_state()

    @on(VerticalSpace.Resized)
    def show_state(self) -> None:
        """Show everything but token text; called a few times a second, never per token."""
        state, pane = self.state, self.pane_here
        failed, here = state.engine_state is EngineState.FAILED, pane.name_of_lane if pane else ""
        space = self.query_one(VerticalSpace)
        self.query_one("#failure").display = failed
        self._fit_panels()
        space.display = not failed
        self.grid.display = not self.panel_alone
        self.grid.tabbed = self.tabbed
        # only if the scoreboard, which has it as well, has no room
        welcomed = self.room_for_both or state.turns
        self.grid.welcome = "" if welcomed else "\n".join(welcome(state))
        self.grid.show(state)
        self._restyle_panes()
        self._show_panels()
        self.query_one(LaneTabs).display = self.tabbed
        sliders = self.query_one(SlidersPanel)
        sliders.show(state, here)
        sliders.display = not self.panel_alone
        # not a class of the screen, which would restyle every widget
        sliders.set_class(self.open is not None, "-looking")
        forecast = self.query_one(GammaForecast)
        forecast.show(state, here)
        forecast.display = forecast.known and not self.panel_alone
        self.query_one("#title", SplitLine).show(*title_bar(state))
        options = legend(self.display_options, state)
        told_below = any(panel.id == "scores" for panel in self.panels)
        verdict = None if told_below else verdict_of(state, scores(state))
        typing = self.writing or isinstance(self.focused, SearchLine)
        elsewhere = self._keys_elsewhere(typing)
        self.prompt.example = "" if state.queued else state.example
        unsaid = elsewhere if self.prompt.text or self.prompt.example else ""
        self.query_one("#status", StatusLine).show(status_left(state, verdict, unsaid), options)
        self.prompt.commands = " -+=" if state.slow_motion else " "
        self.prompt.placeholder = placeholder(state) if unsaid else elsewhere or placeholder(state)
        self.query_one("#ask").set_class(self.writing, "-writing")
        self._show_keys()
        self.call_after_refresh(self._fit_again)

    def _keys_elsewhere(self, typing: bool) -> str:
        """What typed keys do, if the focus is not in the prompt."""
        if not self.is_active:
            return ""
        slider = self.focused if isinstance(self.focused, Slider) else None
        if slider and slider.typed is not None:
            return slider.hint
        if not typing:
            return letters_are_commands(self.state, slider.scale.words if slider else None)
        if slider:
            return f"Digits set {slider.label}; letters go to the prompt"
        free = not (self.state.running or self.state.slow_motion or self.state.queued)
        if isinstance(self.focused, TokenView) and free:
            return letters_are_text(self.state, self.focused.cursor is not None)
        return ""

    def _fit_panels(self) -> None:
        """Fit the panels to their contents."""
        panels = self.panels
        for each in panels:
            each.columns = self.size.width // len(panels)
            each.set_class(each.columns < NARROW_COLUMNS, "-slim")
        space = self.query_one(VerticalSpace)
        self._crowded = space.allocate(self.state, panels, self.panel_alone)

    def _fit_again(self) -> None:
        """Fit them once more when their new contents have been laid out."""
        crowded = self._crowded
        if self.is_attached:
            with suppress(NoMatches):  # the parts of a screen that is removed go before it
                self._fit_panels()
        if self._crowded != crowded:
            self.show_state()

    def _show_panels(self) -> None:
        panels, pane = self.panels, self.pane_here
        for each in self.query(Panel):
            each.display = each in panels
            if each.display and pane:
                each.show(self.state, pane.name_of_lane)

    def _show_keys(self) -> None:
        if not self.is_active:  # actions of "screen" belong to the screen above this one
            return
        slider = self.focused if isinstance(self.focused, Slider) else None
        view = self.pane_here.view if self.pane_here else None
        here = KeyContext(
            typing=self.writing,
            slider=slider is not None,
            number=slider is not None and slider.typed is not None,
            looking=self.open is not None,
            alone=self.panel_alone,
            scores=any(panel.id == "scores" for panel in self.panels),
            cursor=view is not None and view.cursor is not None,
            zoomed=self.zoomed,
            searching=bool(self.searched),
            missing=view is not None and view.missing(self.searched),
        )
        self.query_one(KeyBar).show(key_bar_state(self.state, here))

    # Display options: rewrapping a long answer takes some 20 ms, so panes take turns

    def _restyle_panes(self) -> None:
        """Update the pane in focus now, the others one by one."""
        pane, stale = self.pane_here, self._stale_panes
        if pane in stale:
            pane.view.set_display_options(self.display_options)
            stale.remove(pane)
        if stale and not self._restyling:
            self._restyling = True
            self.set_timer(RESTYLE_SECONDS, self._restyle_next_pane)

    def _restyle_next_pane(self) -> None:
        self._restyling = False
        for pane in self._stale_panes[:1]:
            pane.view.set_display_options(self.display_options)
        self._restyle_panes()

    @property
    def _stale_panes(self) -> list[LanePane]:
        return [
            pane
            for pane in self.grid.panes
            if pane.visible_text and pane.view.display_options != self.display_options
        ]
