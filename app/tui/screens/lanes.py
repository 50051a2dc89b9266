"""The screen with the lanes, and the actions of its keys."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from textual import events, on
from textual.actions import SkipAction
from textual.widgets import Input, Static

from app.engine.commands import SetEnabled, SetLeader
from app.engine.events import EngineExited, Event, LanesChanged, Loaded, LoadFailed
from app.text.plural import pluralize
from app.tui.format.token_facts import facts_here, facts_of
from app.tui.keys.bindings import VIEW_KEYS, allowed
from app.tui.screens.lanes_layout import NARROW_COLUMNS, LanesLayout
from app.tui.screens.projector import ProjectorScreen
from app.tui.state.lane_state import Phase
from app.tui.tokens.lens import NEXT_COLOR_BY
from app.tui.tokens.token_text import NEXT_MODE
from app.tui.widgets.gamma_forecast import GammaForecast
from app.tui.widgets.lane_grid import GONE
from app.tui.widgets.lane_pane import LanePane
from app.tui.widgets.lane_tabs import LaneTabs
from app.tui.widgets.panel import Panel
from app.tui.widgets.prompt import Prompt
from app.tui.widgets.rejections_panel import RejectionsPanel
from app.tui.widgets.scoreboard import Scoreboard
from app.tui.widgets.search_line import SearchLine
from app.tui.widgets.slider import Slider
from app.tui.widgets.sliders_panel import SlidersPanel
from app.tui.widgets.token_panel import TokenPanel
from app.tui.widgets.token_view import TokenView


class MainScreen(LanesLayout):
    BINDINGS = [*VIEW_KEYS]

    async def on_mount(self) -> None:
        if self.app.no_color:
            self.display_options = replace(self.display_options, mode="glyphs")
        if not self.state.replay:
            self.action_focus_prompt()  # first: hints depend on the focus
        await self.rebuild()
        if self.state.replay:  # takes no prompts
            self.query_one("#ask").display = False
            self.query_one(SlidersPanel).disabled = True
            self.query_one(GammaForecast).disabled = True
            self.focus_pane()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return allowed(self.state, action) and (action != "hit" or bool(self.searched))

    async def handle_event(self, event: Event) -> None:
        """Show one event that the state has already taken in."""
        match event:
            case Loaded() | LanesChanged():
                pane, number, tabbed = self.pane_here, self.grid.current, self.tabbed
                removed = pane and pane.name_of_lane not in self.state.lanes
                typing = self.prompt.has_focus
                known = {pane.name_of_lane for pane in self.grid.panes}
                await self.rebuild()
                neighbour = self.grid.pane(min(number, len(self.state.lanes)))
                added = [pane for pane in self.grid.panes if pane.name_of_lane not in known]
                if isinstance(event, LanesChanged) and len(added) == 1:
                    if pane and not removed:
                        self._added_at[added[0].name_of_lane] = pane.name_of_lane
                    self._go_to(added[0])  # to change its settings
                    if not tabbed:
                        self.call_after_refresh(self._say_if_tabbed)
                elif removed and neighbour:
                    before = self._added_at.get(pane.name_of_lane) if pane else None
                    there = (each for each in self.grid.panes if each.name_of_lane == before)
                    self._go_to(next(there, neighbour))
                    if not typing:  # with tabs the focus falls to the prompt
                        self.call_after_refresh(self.focus_pane)
                self._send_leader()
            case LoadFailed(kept=False) | EngineExited():
                names = ("run.again", "app.models", "app.quit")
                again, others, leave = (self.state.keys[name] for name in names)
                self.query_one("#failure", Static).update(
                    f"Nothing could be loaded:\n\n{event.message}\n\n"
                    f"{again} tries again, {others} lists other models, {leave} quits."
                )
            case _:
                self.grid.handle_event(event, self.state)

    def show_notice(self, text: str, seconds: float | None = 6.0) -> None:
        """Show a notice in the status line."""
        self.state.show_notice(text, seconds)
        self.show_state()

    def _say_if_tabbed(self) -> None:
        """There was room for all lanes until one was added."""
        if self.tabbed:
            said = f"{self.state.notice}. " if self.state.notice else ""
            key = self.state.keys["view.next"]
            self.show_notice(f"{said}No room for all lanes at once: {key} shows the next")

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
                self._lead(pane.name_of_lane)
        self.show_state()

    def action_lane(self, number: int) -> None:
        if pane := self.grid.pane(number):
            self._go_to(pane)

    @on(LaneTabs.Chosen)
    def choose_tab(self, event: LaneTabs.Chosen) -> None:
        if pane := self.grid.pane(event.number):
            self._go_to(pane)

    def _go_to(self, pane: LanePane) -> None:
        self.grid.current = pane.number
        self._lead(pane.name_of_lane)
        self.show_state()
        if not self.prompt.has_focus and not self.panel_alone:
            self._focus_view(pane)
            self.show_state()

    @on(Prompt.Changed)
    def show_keys_of_prompt(self) -> None:
        """In an empty prompt, some characters are commands."""
        self._show_keys()

    @on(Prompt.Paged)
    def turn_page(self, event: Prompt.Paged) -> None:
        if pane := self.pane_here:
            pane.view.scroll_page_up() if event.step < 0 else pane.view.scroll_page_down()

    def action_toggle_here(self) -> None:
        if pane := self.pane_here:
            self._toggle(pane)

    @on(LanePane.RowClicked)
    def unfold(self, event: LanePane.RowClicked) -> None:
        if event.pane.name_of_lane in self.state.lanes:  # it may have been removed since
            self._toggle(event.pane)

    @on(LanePane.EdgeClicked)
    def show_lane_hint(self, event: LanePane.EdgeClicked) -> None:
        """A click on a title goes to the lane, and says what can be done with it."""
        self._say_what_lane_can(event.pane)

    @on(Scoreboard.LaneClicked)
    def go_to_scored_lane(self, event: Scoreboard.LaneClicked) -> None:
        """So does a click on its row in the scoreboard."""
        if pane := self.grid.pane(event.number):
            self._go_to(pane)
            self._say_what_lane_can(pane)

    def on_click(self, event: events.Click) -> None:
        """A click on the first line says how to change what stands there."""
        if event.widget is self.query_one("#title") and not self.state.replay:
            names = ("app.models", "app.palette", "run.schedule")
            models, every, schedule = (self.state.keys[name] for name in names)
            then = f"{self.state.keys['run.stop']}, then " if self.writing else ""
            what = f"{models} loads other models, {every} sets the seed"
            self.show_notice(f"{what}; {then}{schedule} switches race and fair")

    def _say_what_lane_can(self, pane: LanePane) -> None:
        if pane.name_of_lane not in self.state.lanes:
            return
        names = ("run.stop", "view.zoom", "view.toggle_here", "view.copy")
        leave, zoom, off, copy = (self.state.keys[name] for name in names)
        label, then = self.state.label(pane.name_of_lane), f"{leave}, then " if self.writing else ""
        alone = "" if self.tabbed else f"{zoom} shows it alone, "
        self.show_notice(f"{label}: {then}{alone}{off} switches it off, {copy} copies")

    @on(TokenView.OlderClicked)
    def show_older_answer_hint(self) -> None:
        self.show_notice("Only tokens of the newest answer can be explained")

    def _toggle(self, pane: LanePane) -> None:
        """Switch a lane on or off, and choose another leader if it was the leader."""
        state, name = self.state, pane.name_of_lane
        lane, leader = state.lanes[name], state.leader
        if lane.info.available:
            lane.enabled = not lane.enabled
            self.engine.send(SetEnabled(name, lane.enabled))
            stopped = lane.enabled and lane.phase is Phase.STOPPED
            later = " when the others are done" if state.running else ""
            runs = state.keys["prompt.run"]
            then = f": {runs} in the empty prompt continues it{later}" if stopped else ""
            state.show_notice(f"{state.label(name)} is {'on' if lane.enabled else 'off'}{then}")
            state.choose_leader()
            if state.leader != leader:
                self._send_leader()
        else:
            state.show_notice(f"{state.label(name)}: {lane.info.reason}")
        self.show_state()
        if pane is self.pane_here and not (self.prompt.has_focus or self.panel_alone):
            self._focus_view(pane)

    def _focus_view(self, pane: LanePane) -> None:
        """Move the focus into a pane's text, or out of all if the pane is folded. From the prompt
        nothing is scrolled, as after a click: a click on a tab or a row may be the cause."""
        self.set_focus(None if pane.folded else pane.view, scroll_visible=not self.writing)

    def _lead(self, name: str) -> None:
        """Make a lane the leader if it takes part."""
        if self.state.lanes[name].active and name != self.state.leader:
            self.state.leader = name
            self._send_leader()

    def _send_leader(self) -> None:
        if self.state.leader:
            self.engine.send(SetLeader(self.state.leader))

    def focus_lane(self) -> None:
        """Focus the last focused pane."""
        pane = self.pane_here
        self.set_focus(pane.view if pane and not pane.folded else None)
        self.show_state()

    def focus_pane(self) -> None:
        """Focus the leader's pane, or with tabs the current one, or the panel that leads."""
        pane = self.pane_here
        if not self.tabbed and self.state.leader:
            pane = self.grid.pane_of(self.state.leader)
        if self._panel_leads and self.panel:
            self.set_focus(self.panel.inside if self.panel.children else None)
        else:
            self.set_focus(pane.view if pane and not pane.folded else None)
        self.show_state()

    # Prompt, sliders, panels

    def action_focus_prompt(self) -> None:
        self.set_focus(self.prompt)

    def action_to_prompt_or_ask(self) -> None:
        """The first screen says that Enter asks the question below."""
        self.action_focus_prompt()
        if self.prompt.example and not self.prompt.text:
            self.prompt.action_submit()

    def on_paste(self, event: events.Paste) -> None:
        """Paste into the prompt, wherever the focus is."""
        if not self.state.replay and not self.prompt.has_focus:
            self.type(event.text)

    def action_slider(self, name: str) -> None:
        self.set_focus(self.query_one(f"#{name}", Slider))

    def drop_number(self) -> bool:
        """Forget the number that is being typed on a slider; False if there is none."""
        slider = self.focused
        if not isinstance(slider, Slider) or slider.typed is None:
            return False
        slider.action_drop()
        return True

    @on(Slider.Typing)
    def show_number(self) -> None:
        self.state.clear_notice()
        self.show_state()

    @on(Slider.Refused)
    def refuse_number(self, event: Slider.Refused) -> None:
        self.show_notice(event.why)

    def action_projector(self) -> None:
        self.app.push_screen(ProjectorScreen(self.state))

    def action_zoom(self) -> None:
        if self.tabbed and not self.zoomed:
            key = self.state.keys["view.next"]
            self.state.show_notice(f"There is room for one lane only: {key} shows the next")
        else:
            self.zoomed = not self.zoomed
        self.show_state()

    def action_panel(self, name: str, stay: bool = False) -> None:
        """Close the panel if it is open. Else open it, beside the open one if there is room. Unless
        it is to `stay`, the focus leaves a lane that the panel has nothing on."""
        if name == self.beside:
            self.beside = None
        elif name == self.open:
            self.open, self.beside = self.beside if self.broad else None, None
        else:
            self.open, self.beside = name, self.open if self.broad else None
            if self.query_one(f"#{name}", Panel).NEEDS_DRAFTS and not stay:
                self._go_where_drafts_are()
        self.show_state()
        if self._panel_leads or not self.open or isinstance(self.focused, Slider):
            self.call_after_refresh(self._focus_what_is_shown)

    @property
    def _panel_leads(self) -> bool:
        """Whether the keys are those of the open panel: it replaces the lanes or holds a list."""
        return self.panel_alone or bool(self.open and self.panel and self.panel.HOLDS_LIST)

    def _go_where_drafts_are(self) -> None:
        """To the first lane that drafts, if the one in focus never does."""
        state, here = self.state, self.pane_here
        lanes = [(state.lanes[pane.name_of_lane], pane) for pane in self.grid.panes]
        drafting = [pane for lane, pane in lanes if lane.active and lane.strategy.drafts]
        strategy = state.lanes[here.name_of_lane].strategy if here else None
        if here and drafting and strategy and not (strategy.drafts or strategy.remote):
            self._go_to(drafting[0])
            label = state.label(drafting[0].name_of_lane)
            state.show_notice(f"{state.label(here.name_of_lane)} does not draft: this is {label}")

    def _focus_what_is_shown(self) -> None:
        """Keep the focus where the user has begun to write."""
        if not isinstance(self.focused, Prompt | SearchLine):
            self.focus_pane()

    @on(Panel.Filled)
    def fit_panel(self) -> None:
        """Lay out a panel again, and focus its contents: both are known only now."""
        if self._panel_leads:
            self._focus_what_is_shown()
        self.show_state()

    def action_scoreboard(self) -> None:
        """Show or hide the scoreboard, if there is no room for both in place of the lanes."""
        if not self.room_for_both:
            self.action_panel("scores")
            return
        shown = any(panel.id == "scores" for panel in self.panels)
        self.scores_shown, self.beside = not shown, None
        self.open = self.open if self.broad else None
        self.show_state()

    # Searching

    def action_find(self) -> None:
        if self.panel_alone and self.open:  # it hides the text
            self.action_panel(self.open)
        line = self.query_one(SearchLine)
        line.display = True
        self.set_focus(line)

    @on(Input.Changed, "#find")
    def search(self, event: Input.Changed) -> None:
        """Highlight the typed words in the lane in focus."""
        self.searched = event.value
        for pane in self.grid.panes:
            pane.view.search(event.value if pane is self.pane_here else "")

    @on(Input.Submitted, "#find")
    def submit_search(self) -> None:
        self.query_one(SearchLine).display = False
        self.focus_lane()
        if self.searched:
            self.action_hit(1)

    def action_hit(self, step: int) -> None:
        """Go to the next place in the lane in focus, which may be another one by now."""
        if pane := self.pane_here:
            if pane.view.searched != self.searched:
                pane.view.search(self.searched)
            number, count = pane.view.to_hit(step)
            on, back = (self.state.keys[name] for name in ("search.next", "search.before"))
            more = f"; {on} next, {back} previous" if count > 1 else ""
            self.show_notice(f"{number} of {count}{more}" if count else "Not found")

    def action_end_search(self) -> None:
        line = self.query_one(SearchLine)
        line.value, line.display = "", False
        self.focus_lane()

    def leave_search(self) -> bool:
        """Returns whether there was a search."""
        was, self.searched = bool(self.searched), ""
        if was:
            self.action_end_search()
        return was

    # Display options

    def action_render_mode(self) -> None:
        self._change_display(mode=NEXT_MODE[self.display_options.mode])

    def action_fold_reasoning(self) -> None:
        if not any(pane.view.body.has_reasoning for pane in self.grid.panes):
            self.state.show_notice("No answer has reasoning to fold")
        self._change_display(fold_reasoning=not self.display_options.fold_reasoning)

    def action_show_rejected(self) -> None:
        self._change_display(show_rejected=not self.display_options.show_rejected)

    def action_color_by(self) -> None:
        """Change the measure shown by colours or glyphs; leaves plain text."""
        options = self.display_options
        mode = options.mode
        if mode == "plain":
            mode = "glyphs" if self.app.no_color else "colour"
        color_by = NEXT_COLOR_BY[options.color_by]
        if self.size.width < NARROW_COLUMNS and not self.state.running:
            # the verdict leaves no room for the legend
            self.state.show_notice(f"Colours show the {color_by} of each token")
        self._change_display(mode=mode, color_by=color_by)

    def _change_display(self, **changed: Any) -> None:
        self.display_options = replace(self.display_options, **changed)
        self.show_state()

    # The token cursor, rounds back and forward

    @on(TokenView.CursorMoved)
    def look_at_token(self, event: TokenView.CursorMoved) -> None:
        name = self.grid.lane_of(event.view)
        if name in self.state.lanes:
            self.state.look_at(name, event.token)
            self.show_state()

    @on(TokenView.Hovered)
    def explain(self, event: TokenView.Hovered) -> None:
        lane = self.state.lanes.get(self.grid.lane_of(event.view) or "")
        if lane and (facts := facts_of(lane, event.token)):
            event.view.explain(facts.summary)

    @on(RejectionsPanel.Chosen)
    def go_to_rejection(self, event: RejectionsPanel.Chosen) -> None:
        """Move the cursor to the rejected draft; on a narrow screen the panel closes."""
        if pane := self.pane_here:
            if self.panel_alone:
                self.open = None
            pane.view.to_rejected(event.rejection.round)
            self.show_state()
            self.call_after_refresh(pane.view.focus)

    def action_cursor(self, step: int) -> None:
        """The first time to the last token of the round that the panels show; the token panel shows
        it already."""
        if pane := self.pane_here:
            begin = facts_here(self.state.lanes[pane.name_of_lane])
            new = pane.view.cursor is None and begin and pane.view.cursor_to(begin.token)
            if not new or self.query_one(TokenPanel) in self.panels:
                pane.view.step_cursor(step)

    def action_cursor_edge(self, last: bool) -> None:
        if pane := self.pane_here:
            pane.view.cursor_to_edge(last)

    def leave_cursor(self) -> bool:
        """Returns whether the pane in focus had a cursor."""
        pane = self.pane_here
        if pane is None or pane.view.cursor is None:
            return False
        pane.view.move_cursor(None)
        return True

    def action_round(self, steps: int) -> None:
        """Show an earlier or later round, and move the cursor there if there is one."""
        pane = self.pane_here
        if pane is None:
            return
        if not self.open and pane.view.cursor is None:
            self.action_panel("tree", stay=True)
            return
        problem = self.state.look(pane.name_of_lane, steps)
        self.state.show_notice(problem or "")
        if problem is None and (record := self.state.lanes[pane.name_of_lane].round_here):
            pane.view.to_round(record.index)
        self.show_state()

    def action_copy_text(self) -> None:
        """Copy the selected text; a selection of blank rows has none."""
        selected = self.get_selected_text()
        if not selected:
            raise SkipAction
        super().action_copy_text()
        self.show_notice(f"Copied {pluralize(len(selected), 'character')}")

    def action_copy_answer(self) -> None:
        if pane := self.pane_here:
            label, answer = self.state.label(pane.name_of_lane), pane.view.answer
            if answer:
                self.app.copy_to_clipboard(answer)
            done = f"Copied the answer of {label}" if answer else f"{label} has no answer"
            self.show_notice(done)
