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
from app.tui.state.undo import LogPosition, Setup, UndoStack, describe


class UndoActions(ConversationActions):
    """Actions need no inverse: what the screen has asked for is compared with what it asked for
    before, and an undo asks for the difference."""

    def begin_undo(self) -> None:
        self.undo_stack = UndoStack()
        self._conversation = LogPosition()
        self._cut: dict[LogPosition, bytes] = {}  # the bytes cut off a log, for redo
        # the conversation to show, and the message, once lanes or models are loaded
        self._refill: tuple[Path, str] | None = None

    def note_changes(self) -> None:
        """Record what has changed since the last call. A turn is one change, once it is over."""
        state, recorder = self.state, self.recorder
        if state.loaded is None:
            self.undo_stack.extend_timeout(time.monotonic())
            return
        if not state.busy:
            self._conversation = (
                LogPosition(recorder.path, recorder.size) if recorder else LogPosition()
            )
        self.undo_stack.record(Setup.of(state, self._conversation), time.monotonic())

    async def run_action(
        self,
        action: str | ActionParseResult,
        default_namespace: DOMNode | None = None,
        namespaces: Mapping[str, DOMNode] | None = None,
    ) -> bool:
        self.note_changes()  # so that two actions are two changes
        handled = await super().run_action(action, default_namespace, namespaces)
        self.note_changes()
        return handled

    def action_undo(self) -> None:
        self._undo_or_redo(back=True)

    def action_redo(self) -> None:
        self._undo_or_redo(back=False)

    def _undo_or_redo(self, back: bool) -> None:
        self.note_changes()
        state, change = self.state, self.undo_stack.peek(back)
        if self.undo_stack.waiting:
            self.say("The last one is still in progress")
            return
        if change is None:
            self.say("There is nothing to undo" if back else "There is nothing to do again")
            return
        if not state.loaded:
            self.say("Still loading")
            return
        now, then = change
        changed = now.differences(then).keys()
        if state.busy and (changed & {"models", "log"} or now.names != then.names):
            self.say(state.busy)
            return
        self.undo_stack.begin(back, then, time.monotonic())
        key = state.keys["run.redo" if back else "run.undo"]
        what = describe(now, then)
        message = f"Undone: {what}; {key} does it again" if back else f"Done again: {what}"
        self._change_settings(then)
        if "models" in changed:
            self._change_models(then, message)
        else:
            self._change_lanes(now, then, message)
            if "log" in changed:
                self._change_conversation(now.log, then.log, message)
        self.say(message)

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

    def _change_models(self, then: Setup, message: str) -> None:
        self._switch_lanes(then)
        self.open_models(then.models, then.lanes)
        self._refill = (then.log.path, message) if then.log.path else None

    def _change_lanes(self, now: Setup, then: Setup, message: str) -> None:
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
            self._refill = (path, message) if added and path else None
            self.engine.send(SetLanes(then.lanes))
        state.choose_leader()

    def _change_conversation(self, now: LogPosition, then: LogPosition, message: str) -> None:
        recorder = self.recorder
        assert recorder is not None
        if then.path is None:
            self.engine.send(NewConversation())
            self.begin_conversation()
        else:
            self.run_worker(self._rewind(recorder, now, then, message))

    async def _rewind(
        self, recorder: Recorder, now: LogPosition, then: LogPosition, message: str
    ) -> None:
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
            await self._reopen(recorder, then.path, message)

    async def handle_event(self, event: Event) -> None:
        await super().handle_event(event)
        if isinstance(event, RunFinished | Loaded):  # before the question that waits begins
            self.note_changes()
        if isinstance(event, LoadFailed):
            self._refill = None
            self.undo_stack.cancel()
        arrived = isinstance(event, LanesChanged) or (
            isinstance(event, Loaded) and not event.restored
        )
        if arrived and self._refill:
            (path, message), self._refill = self._refill, None
            if self.recorder and not self.state.busy:
                self.run_worker(self._reopen(self.recorder, path, message))
