"""Undo and redo of settings, lanes and conversations."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from app.engine.commands import (
    NewConversation,
    SetLanes,
    SetParams,
    SetSchedule,
)
from app.engine.events import (
    EngineExited,
    Event,
    Loaded,
    LoadFailed,
    RunContinued,
    RunFinished,
    RunStarted,
)
from app.history.store import UndoneTurn
from app.tui.actions.base import AppBase
from app.tui.actions.conversations import Conversations
from app.tui.state.undo import Change, LogPosition, Setup, UndoStack
from decoding.errors import InputError


class Undo:
    """Actions need no inverse: what the screen has asked for is compared with what it asked for
    before, and an undo asks for the difference."""

    def __init__(self, app: AppBase, conversations: Conversations) -> None:
        self.app = app
        self.conversations = conversations
        self.stack = UndoStack()
        self._conversation = LogPosition()
        self._cut: dict[LogPosition, bytes] = {}  # the bytes cut off a log, for redo
        self._asked_at = 0.0  # when the last turn began
        self._seed: int | None = None  # not that of a conversation which is being opened
        self._kept: set[Path] = set()  # conversations with undone turns that a later start can redo
        self._put_back = ""  # the question that an undo has put into the prompt

    def note_changes(self) -> None:
        """Record what has changed since the last call. A turn is one change, once it is over."""
        state, recorder = self.app.state, self.app.recorder
        if state.loaded is None:
            self.stack.extend_timeout(time.monotonic())
            return
        known = self._conversation.path
        if not state.busy:
            runs, asked = state.runs.all, state.started.prompt if state.started else ""
            self._conversation = LogPosition(runs=runs)
            if recorder and (path := recorder.path):
                opened, size = self.conversations.opened.get(path, ""), recorder.size
                self._conversation = LogPosition(path, size, state.turns, opened, runs, asked)
        self._record()
        if self._conversation.path not in (None, known) and not self.stack.waiting:
            self._recall_undone(self._conversation)

    def _record(self) -> None:
        if not self.app.state.opening:
            self._seed = self.app.state.chosen_seed
        setup = Setup.of(self.app.state, self._conversation, self.conversations.deleted)
        self.stack.record(replace(setup, seed=self._seed), time.monotonic(), self._asked_at)
        if not self.stack.undone:
            self._cut.clear()
            self._forget_undone()

    def move(self, back: bool) -> None:
        """Undo the last change; not `back`: do the last undone one again."""
        self.note_changes()
        state, change = self.app.state, self.stack.peek(back)
        if self.stack.waiting:
            self.app.show_notice("The last undo or redo is still in progress")
            return
        if (why := state.not_ready) and not state.loaded:
            self.app.show_notice(why)
            return
        if change is None:
            self.app.show_notice("There is nothing to undo" if back else "There is nothing to redo")
            return
        now, then, what, is_turn = change
        changed = now.differences(then).keys()
        loads = "models" in changed  # which starts an engine that has ended again
        why = state.busy or (None if loads else state.not_ready)
        if why and (loads or "log" in changed or now.names != then.names):
            self.app.show_notice(why)
            return
        try:
            for entry in now.deleted - then.deleted:
                self.conversations.restore(entry)
        except OSError as error:
            self.app.show_notice(f"The conversation can't be restored: {error.strerror or error}")
            return
        try:
            if is_turn:
                self._move_turn(now.log, then.log)
        except OSError as error:
            self.app.show_notice(f"The conversation can't be changed: {error.strerror or error}")
            return
        self.stack.begin(back, then, time.monotonic())
        message = self.describe(what, back)
        self._change_settings(then)
        if loads:
            self._change_models(then, message)
        else:
            self._change_lanes(now, then, message)
            if "log" in changed:
                self._change_conversation(then.log, message)
        if is_turn:
            self._put_question_back()
            self._keep_undone()
        with suppress(OSError, InputError):  # else it stays
            for entry in then.deleted - now.deleted:
                self.conversations.delete(entry)
        self.app.show_notice(message)

    def describe(self, what: str, back: bool) -> str:
        key = self.app.state.keys["run.redo"]
        return f"Undone: {what}; {key} redoes it" if back else f"Redone: {what}"

    def _change_settings(self, then: Setup) -> None:
        state = self.app.state
        if then.params != state.params:
            state.params = then.params
            self.app.engine.send(SetParams(then.params))
        if then.schedule != state.schedule:
            state.schedule = then.schedule
            self.app.engine.send(SetSchedule(then.schedule))
        if then.seed is not None and then.seed != state.chosen_seed:
            self.app.change_seed(then.seed)

    def _switch_lanes(self, then: Setup) -> None:
        self.app.switch_lanes({name: name not in then.off for name in then.names})

    def _change_models(self, then: Setup, message: str) -> None:
        self._switch_lanes(then)
        self.app.open_models(then.models, then.lanes)
        self.conversations.refill = (then.log.path, message) if then.log.path else None

    def _change_lanes(self, now: Setup, then: Setup, message: str) -> None:
        state = self.app.state
        self._switch_lanes(then)
        for spec in then.lanes:
            if spec.name in state.lanes:
                self.app.change_lane(spec.name, spec.overrides, spec.tree)
        if now.names != then.names:
            added, path = set(then.names) - set(now.names), then.log.path
            self.conversations.refill = (path, message) if added and path else None
            self.app.engine.send(SetLanes(then.lanes))
        state.choose_leader()

    def _move_turn(self, now: LogPosition, then: LogPosition) -> None:
        """Cut the turn that is undone off the log, or append it again. A conversation without any
        turn has no log. Raises OSError."""
        recorder = self.app.recorder
        assert recorder is not None
        if now.path and then.size < now.size:
            self._cut[now] = recorder.cut(now.path, then.size)
        elif then.path:
            with recorder.store_of(then.path).append_to(then.path) as file:
                file.write(self._cut[then])
            del self._cut[then]

    def _keep_undone(self) -> None:
        """Keep the turns that the next redos bring back, for when the conversation is opened again
        after the app was left. An empty conversation has no log and can't be opened."""
        turns: dict[Path, list[UndoneTurn]] = {}
        for change in reversed(self.stack.undone):
            log, path = change.after.log, change.before.log.path
            if path is None or log not in self._cut or turns.keys() - {path}:
                break
            cut = self._cut[log].decode(errors="replace")
            turns.setdefault(path, []).append(UndoneTurn(cut, log.turns, log.question))
        self._forget_undone()
        if store := self.app.store:
            with suppress(OSError):
                for path, of_path in turns.items():
                    store.keep_undone(path, of_path)
                    self._kept.add(path)

    def _forget_undone(self) -> None:
        if store := self.app.store:
            with suppress(OSError):
                while self._kept:
                    store.keep_undone(self._kept.pop(), ())

    def _recall_undone(self, opened: LogPosition) -> None:
        """Let a redo bring back the turns that were undone before the app was left."""
        if (store := self.app.store) is None or opened.path is None:
            return
        now, changes, log = time.monotonic(), list[Change](), opened
        for turn in store.undone(opened.path):
            data, before = turn.log.encode(), log
            log = replace(log, size=log.size + len(data), turns=turn.turns, question=turn.question)
            self._cut[log] = data
            changes.append(self.stack.change(before, log, now))
        if changes:
            self.stack.undone = changes[::-1]
            self._kept.add(opened.path)
            self._put_back = changes[0].question  # which was kept as not sent
            key = self.app.state.keys["run.redo"]
            self.app.show_notice(f"{self.app.state.notice}; {key} brings back what was undone")

    def _put_question_back(self) -> None:
        """The question of the turn that was undone is in the prompt again, and leaves it with a
        redo, unless something else is being written there."""
        prompt = self.app.main.prompt
        if prompt.text in ("", self._put_back):
            self._put_back = self.stack.next_question
            prompt.put_back(self._put_back)

    def _change_conversation(self, then: LogPosition, message: str) -> None:
        """Show a conversation as it was."""
        self.app.state.runs.all = then.runs
        if then.path is None:
            self.app.engine.send(NewConversation())
            self.app.begin_conversation()
        else:
            self.conversations.reopen(then.path, message)

    def handle_event(self, event: Event) -> None:
        if isinstance(event, RunStarted | RunContinued):
            self._asked_at = time.monotonic()
        if isinstance(event, RunFinished):
            self._record()  # a slider that is still dragged, which is no part of the turn
        if isinstance(event, RunFinished | Loaded):  # before the question that waits begins
            self.note_changes()
        if isinstance(event, LoadFailed | EngineExited):
            self.stack.cancel()
