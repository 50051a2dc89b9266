"""Undo and redo of settings, lanes, conversations and presets."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from app.engine.commands import (
    OpenConversation,
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
from app.history.log import size_of
from app.history.store import Store
from app.history.undone_turns import UndoneTurn
from app.tui.actions.base import AppBase
from app.tui.actions.conversations import Conversations
from app.tui.background import run_in_background
from app.tui.state.undo import Change, LogPosition, Setup, UndoStack
from decoding.errors import InputError


class Undo:
    """Actions need no inverse: what the screen has asked for is compared with what it asked for
    before, and an undo asks for the difference."""

    def __init__(self, app: AppBase, conversations: Conversations) -> None:
        self.app = app
        self.conversations = conversations
        self.stack = UndoStack()
        self.waiting: list[bool] = []  # undos (True) and redos asked for while one is in progress
        self._conversation = LogPosition()
        self._cut: dict[LogPosition, bytes] = {}  # the bytes cut off a log, for redo
        self._asked_at = 0.0  # when the last turn began
        self._seed: int | None = None  # not that of a conversation which is being opened
        self._kept: set[Path] = set()  # conversations with undone turns that a later start can redo
        self._put_back = ""  # the question that an undo has put into the prompt
        # what the next redos bring back if the app was left in a conversation that was undone whole
        self._left: tuple[Path, list[UndoneTurn]] | None = None

    def note_changes(self) -> None:
        """Record what has changed since the last call. A turn is one change, once it is over."""
        state, recorder = self.app.state, self.app.recorder
        if state.loaded is None:
            self.stack.extend_timeout(time.monotonic())
            return
        known, moving = self._conversation.path, self.stack.waiting
        if not state.busy:
            runs, asked = state.runs.all, state.started.prompt if state.started else ""
            self._conversation = LogPosition(runs=runs)
            if recorder and (path := recorder.path):
                opened, size = self.conversations.opened.get(path, ""), recorder.size
                self._conversation = LogPosition(path, size, state.turns, opened, runs, asked)
        self._record()
        if self._conversation.path not in (None, known) and not moving:
            self._recall_undone(self._conversation)  # an undo or redo goes on in the stack
        if self._left and not state.opening:
            self._go_on_from(*self._left)
            self._left = None

    def _record(self) -> None:
        if not self.app.state.opening:
            self._seed = self.app.state.chosen_seed
        changed, presets = self.conversations, self.app.presets.changes
        setup = Setup.of(
            self.app.state, self._conversation, changed.deleted, changed.renamed, presets
        )
        last = self.stack.last
        self.stack.record(replace(setup, seed=self._seed), time.monotonic(), self._asked_at)
        if self.stack.last is not last:
            self.waiting.clear()  # which were meant for what was changed before
        if not self.stack.undone:
            self._cut.clear()
            self._forget_undone()

    def move(self, back: bool) -> None:
        """Undo the last change; not `back`: do the last undone one again. During another undo or
        redo this waits."""
        self.note_changes()
        self.waiting.append(back)
        self.go_on()
        if self.waiting:
            what = f"{'An undo waits' if back else 'A redo waits'} for the one before it"
            self.app.show_notice(what)

    def go_on(self) -> None:
        """Carry out what has waited for an undo or redo that is done by now."""
        while self.waiting:
            self.note_changes()
            if self.stack.waiting or self.conversations.restoring or not self.waiting:
                return
            self._move(self.waiting.pop(0))

    def _move(self, back: bool) -> None:
        """Undo or redo one change, or say why that can't be."""
        state, change = self.app.state, self.stack.peek(back)
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
        if why := self._change_files(now, then, is_turn):
            self.app.show_notice(why)
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

    def _change_files(self, now: Setup, then: Setup, is_turn: bool) -> str | None:
        """Change what is on the disk; returns why not, if that fails."""
        what = "The conversation can't be restored"
        try:
            for entry in now.deleted - then.deleted:
                self.conversations.restore(entry)
            what = "The conversation can't be renamed"
            for _ in now.renamed[len(then.renamed) :]:
                self.conversations.take_name_back()
            for renaming in then.renamed[len(now.renamed) :]:
                self.conversations.give_name(renaming)
            what = "The presets can't be changed"
            for _ in now.presets[len(then.presets) :]:
                self.app.presets.take_back()
            for change in then.presets[len(now.presets) :]:
                self.app.presets.do_again(change)
            what = "The conversation can't be changed"
            if is_turn:
                self._move_turn(now.log, then.log)
        except (OSError, InputError) as error:
            why = error.strerror if isinstance(error, OSError) else None
            return f"{what}: {why or error}"
        return None

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
            store = recorder.store_of(then.path)
            if now.path is None and isinstance(store, Store):
                store.bring_back(then.path, self._cut[then])
            else:
                with store.append_to(then.path) as file:
                    file.write(self._cut[then])
            del self._cut[then]

    def keep_for_next_time(self) -> None:
        """Keep the turns of a conversation that was undone whole when the app is left in it."""
        recorder = self.app.recorder
        if recorder and recorder.path is None:
            self._keep_undone(leaving=True)

    async def recall_left(self, store: Store) -> None:
        """Look for turns that were undone just before the app was left."""
        with suppress(OSError):  # as if there were none
            self._left = await run_in_background(store.undone.newest_whole)

    def _go_on_from(self, path: Path, turns: list[UndoneTurn]) -> None:
        """Let a redo bring back the turns that the app was left without, unless there is something
        else by now."""
        if self._conversation.path is None and not (self.stack.done or self.stack.undone):
            self._offer(replace(self._conversation, path=path), turns, self._conversation)

    def _keep_undone(self, leaving: bool = False) -> None:
        """Keep the turns that the next redos bring back, for when the conversation is opened again
        after the app was left. An empty conversation has no log and can't be opened: the next start
        is in it, if it is that which is left (`leaving`)."""
        recorder, store = self.app.recorder, self.app.store
        if recorder is None or store is None:
            return
        turns: dict[Path, list[UndoneTurn]] = {}
        for change in reversed(self.stack.undone):
            log = change.after.log
            if log == change.before.log:  # a setting: no turn
                continue
            path = log.path if leaving else change.before.log.path
            if path is None or log not in self._cut or turns.keys() - {path}:
                break
            if recorder.store_of(path) is not store:  # it could not be written
                break
            cut = self._cut[log].decode(errors="replace")
            turns.setdefault(path, []).append(UndoneTurn(cut, log.turns, log.question))
        self._forget_undone()
        with suppress(OSError):
            for path, of_path in turns.items():
                store.undone.keep(path, of_path)
                self._kept.add(path)

    def _forget_undone(self) -> None:
        if store := self.app.store:
            with suppress(OSError):
                while self._kept:
                    store.undone.keep(self._kept.pop(), ())

    def _recall_undone(self, opened: LogPosition) -> None:
        """Let a redo bring back the turns that were undone before the app was left."""
        if (store := self.app.store) and opened.path and (turns := store.undone.of(opened.path)):
            self._offer(opened, turns, opened)

    def _offer(self, log: LogPosition, turns: Sequence[UndoneTurn], before: LogPosition) -> None:
        """Let the next redos append turns to a `log`. `before`: the conversation that is shown."""
        path, now, changes = log.path, time.monotonic(), list[Change]()
        assert path is not None
        for turn in turns:
            data = turn.log.encode()
            size = log.size + size_of(data)
            log = replace(log, size=size, turns=turn.turns, question=turn.question)
            self._cut[log] = data
            changes.append(self.stack.change(before, log, now))
            before = log
        self.stack.undone = changes[::-1]
        self._kept.add(path)
        self._put_back = changes[0].question  # which was kept as not sent
        told, key = self.app.state.notice, self.app.state.keys["run.redo"]
        self.app.show_notice(f"{told}{'; ' if told else ''}{key} brings back what was undone")

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
            self.app.engine.send(OpenConversation())
            self.app.begin_conversation()
            self.app.state.seed = self.app.state.chosen_seed  # no answer with another is left
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
            self.waiting.clear()
