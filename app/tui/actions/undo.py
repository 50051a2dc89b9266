"""Undo and redo of settings, lanes and conversations."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

from textual.actions import ActionParseResult
from textual.dom import DOMNode

from app.engine.commands import (
    NewConversation,
    SetEnabled,
    SetLanes,
    SetParams,
    SetSchedule,
    SetTree,
)
from app.engine.events import Event, LanesChanged, Loaded, LoadFailed, RunFinished
from app.history.recorder import Recorder
from app.tui.actions.conversations import ConversationActions
from app.tui.state.undo import Log, Setup, Steps, words


class UndoActions(ConversationActions):
    """No action says what it would take to undo it: what the screen has asked for is compared with
    what it asked for before, and the difference is asked for again."""

    def begin_undo(self) -> None:
        self.steps = Steps()
        self._conversation = Log()
        self._cut: dict[Log, bytes] = {}  # what stood behind the place where a log was cut
        # the conversation to show when lanes or models are back, and what to say then
        self._refill: tuple[Path, str] | None = None

    def note_changes(self) -> None:
        """Called often. A turn is one change, when it is over."""
        state, recorder = self.state, self.recorder
        if state.loaded is None:
            self.steps.wait(time.monotonic())
            return
        if not state.busy:
            self._conversation = Log(recorder.path, recorder.size) if recorder else Log()
        self.steps.note(Setup.of(state, self._conversation), time.monotonic())

    async def run_action(
        self,
        action: str | ActionParseResult,
        default_namespace: DOMNode | None = None,
        namespaces: Mapping[str, DOMNode] | None = None,
    ) -> bool:
        self.note_changes()  # so that two actions are two steps
        handled = await super().run_action(action, default_namespace, namespaces)
        self.note_changes()
        return handled

    def action_undo(self) -> None:
        self._go(back=True)

    def action_redo(self) -> None:
        self._go(back=False)

    def _go(self, back: bool) -> None:
        self.note_changes()
        state, step = self.state, self.steps.goal(back)
        if self.steps.waiting:
            self.say("Still at the last one")
            return
        if step is None:
            self.say("There is nothing to undo" if back else "There is nothing to do again")
            return
        if not state.loaded:
            self.say("Still loading")
            return
        now, then = step
        parts = now.differences(then).keys()
        if state.busy and (parts & {"models", "log"} or now.names != then.names):
            self.say(state.busy)
            return
        self.steps.take(back, then, time.monotonic())
        key = state.keys["run.redo" if back else "run.undo"]
        what = words(now, then)
        told = f"Undone: {what}; {key} does it again" if back else f"Done again: {what}"
        self._change_settings(then)
        if "models" in parts:
            self._change_models(then, told)
        else:
            self._change_lanes(now, then, told)
            if "log" in parts:
                self._change_conversation(now.log, then.log, told)
        self.say(told)

    def _change_settings(self, then: Setup) -> None:
        state = self.state
        if then.params != state.params:
            state.params = then.params
            self.engine.send(SetParams(then.params))
        if then.schedule != state.schedule:
            state.schedule = then.schedule
            self.engine.send(SetSchedule(then.schedule))

    def _switch_lanes(self, then: Setup) -> None:
        for spec in then.lanes:
            lane, enabled = self.state.lanes.get(spec.name), spec.name not in then.off
            if lane is None or lane.enabled != enabled:
                self.engine.send(SetEnabled(spec.name, enabled))
            if lane is not None:
                lane.enabled = enabled

    def _change_models(self, then: Setup, told: str) -> None:
        self._switch_lanes(then)
        self.open_models(then.models, then.lanes)
        self._refill = (then.log.path, told) if then.log.path else None

    def _change_lanes(self, now: Setup, then: Setup, told: str) -> None:
        state = self.state
        self._switch_lanes(then)
        for spec in then.lanes:
            lane = state.lanes.get(spec.name)
            if lane is None:
                continue
            if lane.info.overrides != spec.overrides:
                self.change_overrides(spec.name, spec.overrides)
            if lane.tree != spec.tree:
                lane.tree = spec.tree
                self.engine.send(SetTree(spec.name, spec.tree))
        if now.names != then.names:
            added, path = set(then.names) - set(now.names), then.log.path
            self._refill = (path, told) if added and path else None
            self.engine.send(SetLanes(then.lanes))
        state.choose_leader()

    def _change_conversation(self, now: Log, then: Log, told: str) -> None:
        recorder = self.recorder
        assert recorder is not None
        if then.path is None:
            self.engine.send(NewConversation())
            self.begin_conversation()
        else:
            self.run_worker(self._rewind(recorder, now, then, told))

    async def _rewind(self, recorder: Recorder, now: Log, then: Log, told: str) -> None:
        """Show a conversation as it was."""
        assert then.path is not None
        store = recorder.store_of(then.path)
        try:
            if now.path == then.path and then.size < now.size:
                self._cut[now] = store.cut(then.path, then.size)
            elif now.path == then.path:
                with store.append_to(then.path) as file:
                    file.write(self._cut.pop(then))
        except OSError as error:
            self.say(f"The conversation can't be changed: {error.strerror or error}")
        else:
            await self._reopen(recorder, then.path, told)

    async def handle_event(self, event: Event) -> None:
        await super().handle_event(event)
        if isinstance(event, RunFinished | Loaded):  # before the question that waits begins
            self.note_changes()
        if isinstance(event, LoadFailed):
            self._refill = None
            self.steps.give_up()
        arrived = isinstance(event, LanesChanged) or (
            isinstance(event, Loaded) and not event.restored
        )
        if arrived and self._refill:
            (path, told), self._refill = self._refill, None
            if self.recorder and not self.state.busy:
                self.run_worker(self._reopen(self.recorder, path, told))
