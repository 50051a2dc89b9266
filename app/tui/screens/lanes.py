"""The screen with the lanes: what is on it, and what only changes how things are seen."""

from __future__ import annotations

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.screen import Screen
from textual.widgets import Static

from app.engine.events import EngineExited, Event, LanesChanged, Loaded, LoadFailed
from app.engine.protocol import Engine
from app.tui.actions.switches import Switching
from app.tui.actions.view import ViewActions
from app.tui.format.labels import legend, status_left, title_bar
from app.tui.keys.bindings import VIEW_KEYS, allowed, bar
from app.tui.state.app_state import AppState
from app.tui.widgets.figures_panel import FiguresPanel
from app.tui.widgets.gamma_forecast import GammaForecast
from app.tui.widgets.key_bar import KeyBar
from app.tui.widgets.lane_grid import GONE, LaneGrid
from app.tui.widgets.lane_pane import LanePane
from app.tui.widgets.lane_tabs import LaneTabs
from app.tui.widgets.panel import Panel
from app.tui.widgets.prompt import Prompt
from app.tui.widgets.slider import Slider
from app.tui.widgets.sliders_panel import SlidersPanel
from app.tui.widgets.split_line import SplitLine
from app.tui.widgets.token_panel import TokenPanel
from app.tui.widgets.token_view import TokenView
from app.tui.widgets.tree_panel import TreePanel
from app.tui.widgets.vertical_space import VerticalSpace

NARROW_COLUMNS = 80
PANEL_AND_LANE_ROWS = 20


class MainScreen(Screen[None]):
    BINDINGS = [*VIEW_KEYS]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (NARROW_COLUMNS, "-wide"), (160, "-broad")]
    VERTICAL_BREAKPOINTS = [(0, "-flat"), (18, "-low"), (28, "-tall")]  # for the sliders

    def __init__(self, engine: Engine, state: AppState) -> None:
        super().__init__()
        self.engine = engine
        self.state = state
        self.zoomed = self._crowded = False
        self.open: str | None = None  # the panel that is shown, by its id
        self.looking = ViewActions(self)
        self._switching = Switching(engine, state)

    def compose(self) -> ComposeResult:
        tabs = LaneTabs(dom_id="tabs")
        yield SplitLine(dom_id="title")
        yield Static(id="failure", markup=False)
        with VerticalSpace(id="room"):
            yield tabs
            yield LaneGrid(tabs, dom_id="lanes")
            yield TreePanel(dom_id="tree")
            yield FiguresPanel(dom_id="figures")
            yield TokenPanel(dom_id="token")
        yield SlidersPanel(self.state.params, dom_id="controls")
        yield GammaForecast(dom_id="whatif")
        yield SplitLine(dom_id="status")
        with Horizontal(id="ask"):
            yield Static("›", id="caret")
            yield Prompt(dom_id="prompt")
        yield KeyBar(dom_id="keys")

    async def on_mount(self) -> None:
        self.looking.begin()
        await self.rebuild()
        if self.state.replay is None:
            self.prompt.focus()
        else:  # there is nobody to ask
            self.query_one("#ask").display = False
            self.query_one(SlidersPanel).disabled = True
            self.focus_pane()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return allowed(self.state, action)

    # Parts

    @property
    def grid(self) -> LaneGrid:
        return self.query_one(LaneGrid)

    @property
    def prompt(self) -> Prompt:
        return self.query_one(Prompt)

    @property
    def panel(self) -> Panel | None:
        """The one that is open."""
        return self.query_one(f"#{self.open}", Panel) if self.open else None

    @property
    def pane_here(self) -> LanePane | None:
        """The pane in focus, or the one that was in focus last."""
        return self.grid.pane(self.grid.current)

    # Showing

    async def rebuild(self) -> None:
        await self.grid.rebuild(self.state)
        self.show_state()

    async def take(self, event: Event) -> None:
        """Bring one event, already in the state, into the panes' text."""
        match event:
            case Loaded() | LanesChanged():
                pane, place = self.pane_here, self.grid.current
                removed = pane and pane.name_of_lane not in self.state.lanes
                typing = self.prompt.has_focus
                await self.rebuild()
                neighbour = self.grid.pane(min(place, len(self.state.lanes)))
                if removed and neighbour:
                    self._go_to(neighbour)
                    if not typing:  # with tabs the focus of what was removed falls to the prompt
                        self.call_after_refresh(self.focus_pane)
                self._switching.tell_leader()
            case LoadFailed(kept=False) | EngineExited():
                names = ("run.again", "app.models", "app.quit")
                again, others, leave = (self.state.keys[name] for name in names)
                self.query_one("#failure", Static).update(
                    f"Nothing could be loaded:\n\n{event.message}\n\n"
                    f"{again} tries again, {others} has other models, {leave} leaves."
                )
            case _:
                self.grid.take(event, self.state)

    @on(VerticalSpace.Resized)
    def show_state(self) -> None:
        """Everything that is not token text; called a few times a second, never per token."""
        state = self.state
        failed = state.failure is not None
        self.query_one("#failure").display = failed
        self._crowded = self.query_one(VerticalSpace).share(state, self.panel, self.panel_alone)
        self.query_one(VerticalSpace).display = not failed
        self.grid.display = not self.panel_alone
        self.grid.tabbed = self.tabbed
        self.grid.show(state)
        self.looking.catch_up()
        self._show_panels()
        self.query_one(LaneTabs).display = self.tabbed
        controls = self.query_one(SlidersPanel)
        controls.show(state, self.pane_here.name_of_lane if self.pane_here else "")
        controls.display = not self.panel_alone
        # not the screen's class: that would have every widget styled anew
        controls.set_class(self.open is not None, "-looking")
        whatif = self.query_one(GammaForecast)
        whatif.show(state, self.pane_here.name_of_lane if self.pane_here else None)
        whatif.display = whatif.known and not self.panel_alone
        self.query_one("#title", SplitLine).show(*title_bar(state))
        looks = self.looking.looks
        self.query_one("#status", SplitLine).show(status_left(state), legend(looks, state))
        examples = f"Ask something, {state.keys['app.examples']} has examples"
        self.prompt.placeholder = "Go on" if state.turns else examples
        self._show_keys()

    @property
    def tabbed(self) -> bool:
        return self.zoomed or self._crowded or self.size.width < NARROW_COLUMNS

    @property
    def panel_alone(self) -> bool:
        """Where it is narrow or low a panel takes the place of the lanes."""
        columns, rows = self.size
        return self.open is not None and (columns < NARROW_COLUMNS or rows < PANEL_AND_LANE_ROWS)

    def _show_panels(self) -> None:
        for each in self.query(Panel):
            each.display = each.id == self.open
        panel, pane = self.panel, self.pane_here
        if panel and pane:
            panel.show(self.state, pane.name_of_lane)
        self.looking.watch()

    def _show_keys(self) -> None:
        names, hidden = bar(
            self.state,
            typing=self.prompt.has_focus,
            looking=self.open is not None,
            alone=self.panel_alone,
            cursor=self.pane_here is not None and self.pane_here.view.cursor is not None,
            zoomed=self.zoomed,
        )
        self.query_one(KeyBar).show(names, hidden)

    def forget_conversation(self) -> None:
        for pane in self.grid.panes:
            pane.view.clear()

    # Focus, lanes and tabs

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        if isinstance(event.widget, TokenView):
            pane = event.widget.parent
            assert isinstance(pane, LanePane)
            if pane.number != GONE:
                self.grid.current = pane.number
                self._switching.lead(pane.name_of_lane)
        self.show_state()

    def action_lane(self, number: int) -> None:
        pane = self.grid.pane(number)
        if pane is None:
            return
        if self.tabbed:
            self._go_to(pane)
        else:
            self._toggle(pane)

    @on(LaneTabs.Chosen)
    def choose_tab(self, event: LaneTabs.Chosen) -> None:
        if pane := self.grid.pane(event.number):
            self._go_to(pane)

    def _go_to(self, pane: LanePane) -> None:
        self.grid.current = pane.number
        self._switching.lead(pane.name_of_lane)
        self.show_state()
        if not self.prompt.has_focus and not self.panel_alone:
            self.call_after_refresh(pane.view.focus)

    def action_toggle_here(self) -> None:
        if pane := self.pane_here:
            self._toggle(pane)

    @on(LanePane.RowClicked)
    def unfold(self, event: LanePane.RowClicked) -> None:
        self._toggle(event.pane)

    def _toggle(self, pane: LanePane) -> None:
        self._switching.toggle(pane.name_of_lane)
        self.show_state()

    def focus_pane(self) -> None:
        """To the pane that leads; the current one when tabs are shown."""
        pane = self.pane_here
        if not self.tabbed and self.state.leader:
            pane = self.grid.pane_of(self.state.leader)
        if self.panel_alone and self.panel:
            self.panel.inside.focus()
        elif pane and not pane.folded:
            pane.view.focus()
        else:
            self.set_focus(None)

    # Actions

    def action_focus_prompt(self) -> None:
        self.prompt.focus()

    def action_slider(self, name: str) -> None:
        self.query_one(f"#{name}", Slider).focus()

    def action_zoom(self) -> None:
        self.zoomed = not self.zoomed
        self.show_state()

    def action_panel(self, name: str) -> None:
        """Open a panel in the place of the one that is open, or close it."""
        self.open = None if self.open == name else name
        self.show_state()
        if self.panel_alone or not self.open:
            self.call_after_refresh(self.focus_pane)

    @on(TokenView.CursorMoved)
    def inspect_folder(self, event: TokenView.CursorMoved) -> None:
        self.looking.cursor_moved(event.view, event.token)

    @on(TokenView.Hovered)
    def explain(self, event: TokenView.Hovered) -> None:
        self.looking.explain(event.view, event.token)

    def action_cursor(self, step: int) -> None:
        if pane := self.pane_here:
            pane.view.step_cursor(step)

    def action_cursor_edge(self, last: bool) -> None:
        if pane := self.pane_here:
            pane.view.cursor_to_edge(last)

    def action_round(self, steps: int) -> None:
        self.looking.go_to_round(steps)

    def action_ghosts(self) -> None:
        self.looking.change_ghosts()

    def action_look(self) -> None:
        self.looking.change_look()

    def action_lens(self) -> None:
        self.looking.change_lens()

    def action_copy_answer(self) -> None:
        self.looking.copy_answer()
