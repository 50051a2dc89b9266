"""Conversations: a new one, the list of recorded ones, and how one is reopened."""

from __future__ import annotations

from asyncio import sleep
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from app.engine.commands import OpenConversation
from app.engine.events import (
    EngineExited,
    Event,
    Finished,
    LanesChanged,
    Loaded,
    LoadFailed,
    Prefilled,
    RoundFinished,
    RunFinished,
    RunStarted,
)
from app.history.next_start import THEME
from app.history.recorder import Recorder
from app.history.recording import LeftWith, Recording
from app.history.store import Entry, Renaming, Store
from app.text.terminal_text import shortened
from app.tui.actions.base import AppBase
from app.tui.background import run_in_background
from app.tui.screens.conversations import ConversationsScreen
from app.tui.state.app_state import AppState
from app.tui.state.last_settings import last_settings
from app.tui.state.sliders import describe_settings
from decoding.errors import InputError
from decoding.params import Params, flat

TITLE_CHARACTERS = 30  # in a notice


class Conversations:
    """Begins, lists, deletes and reopens conversations."""

    def __init__(self, app: AppBase) -> None:
        self.app = app
        # the conversation to show, and the message, once lanes or models are loaded
        self.refill: tuple[Path, str | None] | None = None
        self._message: str | None = None  # that of the conversation that is opened
        self.opened: dict[Path, str] = {}  # the titles of those chosen from the list
        self.deleted: dict[Entry, bytes] = {}  # their content, for undo
        self.renamed: list[Renaming] = []  # in order, for undo
        self._known_settings: LeftWith | None = None  # those that the log tells
        self._restored: list[str] = []  # what was not sent last time, if it came back

    @property
    def restoring(self) -> bool:
        """Whether an undo or redo has a conversation opened, and it is not shown yet."""
        return self.app.state.opening and self._message is not None

    def begin(self) -> None:
        """Start a new conversation."""
        state = self.app.state
        if state.busy:
            state.show_notice(state.busy)
        else:
            undo = state.keys["run.undo"]
            before = bool(state.turns)
            self.app.engine.send(OpenConversation())
            self.app.begin_conversation()
            state.show_notice(
                f"A new conversation; {undo} brings the last one back"
                if before
                else "This conversation is already empty"
            )
        self.app.main.show_state()

    async def recall_prompts(self, store: Store) -> None:
        """Let the up key find the prompts of kept conversations, too, and bring back what was not
        sent."""
        prompt = self.app.main.prompt
        with suppress(OSError):  # as if there were none
            unsent = await run_in_background(store.next_start.unsent)
            if unsent:
                prompt.recall_earlier([text for text in unsent if text])
                self._bring_back(unsent)
            prompt.recall_earlier(await run_in_background(store.prompts))

    def _bring_back(self, unsent: Sequence[str]) -> None:
        """Show the last text that was not sent, which is empty if it was emptied; the others are in
        the prompt's history. What is typed since the start would be glued to it."""
        *others, last = self._restored = list(unsent)
        prompt = self.app.main.prompt
        if not last:
            return
        if self.app.typed or prompt.text:
            prompt.unasked.append(last)
            them = "them" if others else "it"
            self.app.show_notice(f"Not sent last time: ↑ in the prompt brings {them} back")
            return
        prompt.write(last)
        self.app.state.example = ""  # it is not the question below any more
        if others:
            more = len(others)
            self.app.show_notice(f"Not sent last time: this and {more} more, ↑ brings them")

    def keep_for_next_time(self) -> None:
        """Keep what is lost otherwise when the app is left: a text that was not sent, another
        theme, and settings that no answer was made with."""
        state, store, recorder = self.app.state, self.app.store, self.app.recorder
        if store:
            prompt = self.app.main.prompt
            texts = [state.sent, *state.queued, prompt.text]
            unsent = [text for text in texts if text.strip()]
            if aside := [text for text in dict.fromkeys(prompt.unasked) if text not in unsent]:
                unsent = [*aside, *(unsent or [""])]  # the last one comes back into the prompt
            with suppress(OSError):
                if unsent or store.next_start.unsent() == self._restored:  # another window's stay
                    store.next_start.keep_unsent(unsent)
                if self.app.theme != self.app.first_theme:
                    store.next_start.remember(THEME, self.app.theme)
        left = self._settings_now()
        shown = state.turns and not state.opening
        if recorder and shown and left != self._known_settings:
            recorder.leave(left)
            self._known_settings = left

    def _settings_now(self) -> LeftWith:
        lanes = self.app.state.lanes
        return LeftWith(
            self.app.state.params,
            {name: dict(lane.info.overrides) for name, lane in lanes.items()},
            {name: lane.tree for name, lane in lanes.items()},
            tuple(n for n, lane in lanes.items() if lane.info.available and not lane.enabled),
        )

    def handle_event(self, event: Event) -> None:
        """Called after `Undo`, which notes no changes while a conversation is opened."""
        state = self.app.state
        if isinstance(event, RunFinished) and not state.opening:
            # the answers tell, but for lanes that were off
            self._known_settings = replace(self._settings_now(), off=())
        if isinstance(event, LoadFailed | EngineExited):
            self.refill, state.opening = None, False
        arrived = isinstance(event, LanesChanged) or (
            isinstance(event, Loaded) and not event.restored
        )
        if arrived:
            self.reopen_waiting()

    def show_list(self) -> None:
        """List the recorded conversations, to choose one."""
        recorder, store = self.app.recorder, self.app.store
        if recorder is None or store is None:
            self.app.show_notice("Conversations are not saved (--no-keep)")
            return

        def reopen(path: Path | None) -> None:
            if path is not None:
                self.reopen(path)

        undo = self.app.state.keys["run.undo"]
        chosen = ConversationsScreen(store, recorder.path, self.rename, self.delete, undo)
        self.app.push_screen(chosen, reopen)

    def rename(self, entry: Entry, name: str) -> None:
        """Rename a conversation. Raises InputError and OSError."""
        self.give_name(Renaming(entry.path, entry.name, name))

    def give_name(self, renaming: Renaming) -> None:
        """Rename a conversation, as it was before. Raises InputError and OSError."""
        if self.app.store is not None:
            self.app.store.rename(renaming.path, renaming.after)
            self.renamed.append(renaming)

    def take_name_back(self) -> None:
        """Undo the last renaming. Raises InputError and OSError."""
        if self.app.store is not None:
            self.app.store.rename(self.renamed[-1].path, self.renamed[-1].before)
            self.renamed.pop()

    def delete(self, entry: Entry) -> None:
        """Delete a conversation; its content is kept until the app is left. Raises InputError and
        OSError."""
        state, store, recorder = self.app.state, self.app.store, self.app.recorder
        if recorder is None or store is None:
            return
        if entry.path == recorder.path:
            if state.busy:
                what = "opened" if state.opening else "answered"
                raise InputError(f"It is still being {what}")
            self.begin()
        self.deleted[entry] = store.delete(entry.path)

    def restore(self, entry: Entry) -> None:
        """Take a deletion back. Raises OSError."""
        if self.app.store is not None:
            self.app.store.restore(entry, self.deleted[entry])
            del self.deleted[entry]

    def reopen(self, path: Path, message: str | None = None) -> None:
        """Show a recorded conversation and continue it, once models are loaded; `message` is the
        notice at the end."""
        state = self.app.state
        if why := state.busy or state.why_gone:
            self.app.show_notice(why)
            return
        state.opening = True
        self.refill, self._message = (path, message), message
        if state.loaded:
            self.reopen_waiting()
        self.app.main.show_state()

    def reopen_waiting(self) -> None:
        """Show the conversation that has waited for lanes or models, if there is one."""
        waiting, self.refill = self.refill, None
        if waiting and self.app.recorder and not self.app.state.running:
            self.app.state.opening = True
            _, self._message = waiting
            self.app.run_worker(self._open(self.app.recorder, *waiting))

    async def _open(self, recorder: Recorder, path: Path, message: str | None) -> None:
        """Runs in a worker, because the app must handle keys while a disk is read."""
        state = self.app.state
        lanes = set(state.lanes)

        def read() -> tuple[Recording, list[Event], int]:
            store = recorder.store_of(path)
            recording = store.open(path)
            return recording, list(events_of_lanes(recording, lanes)), store.size(path)

        try:
            recording, events, size = await run_in_background(read)
            recorder.go_on(path, size)
        except (InputError, OSError) as error:
            state.opening = False
            self.app.take_questions_back()
            self.app.show_notice(str(error))
        else:
            async with self.app.handling:
                await self._show_recording(recording, events, message)

    async def _show_recording(
        self, recording: Recording, events: list[Event], message: str | None
    ) -> None:
        """Replay all events at once. A lane's rounds are added to its pane together, which halves
        the time; between turns the screen draws and handles keys. Lanes may have been removed."""
        state = self.app.state
        assert recording.loaded is not None and state.loaded is not None
        self.app.engine.send(OpenConversation(recording.past(), recording.seed))
        chosen = state.chosen_seed
        self.app.forget_conversation()
        rounds: Counter[str] = Counter()
        for event in events:
            if isinstance(event, RoundFinished):
                state.apply(event)
                rounds[event.lane] += 1
                continue
            if isinstance(event, Finished) and event.lane in state.lanes:
                self.app.main.grid.add_rounds(state.lanes[event.lane], rounds.pop(event.lane, 0))
            await self.app.handle_event(event)
            if isinstance(event, RunFinished):
                await sleep(0)
        if message is not None:  # of an undo, which keeps the seed
            if chosen not in (None, recording.seed):
                self.app.change_seed(chosen)
        else:
            message = reopened_notice(recording, state, self._take_settings(recording.left))
            self._known_settings = self._settings_now()
            if self.app.recorder and self.app.recorder.path:
                self.opened[self.app.recorder.path] = recording.title
        state.foreign = recording.loaded.source != state.loaded.source
        state.opening = False
        self.app.show_notice(message)

    def _take_settings(self, left: LeftWith | None) -> str:
        """Go on with the settings that it was left with, or of the last answers; returns what that
        changes, as the end of a notice."""
        state = self.app.state
        off = ""
        if left:
            run, overrides, trees = flat(left.params), left.overrides, left.trees
            able = {name for name, lane in state.lanes.items() if lane.info.available}
            self.app.switch_lanes({name: name not in left.off for name in able & trees.keys()})
            numbers = [str(n) for n, name in enumerate(state.lanes, 1) if name in left.off]
            several = "s" if len(numbers) > 1 else ""
            off = f", lane{several} {', '.join(numbers)} off" if numbers else ""
        else:
            run, overrides = last_settings(state.lanes.values(), state.params)
            trees = {name: state.lanes[name].round_events[-1].tree for name in overrides}
        changed = describe_settings(run, state.params)
        if changed:
            self.app.change_params(run)
        for name in overrides.keys() & state.lanes.keys():
            lane, tree = state.lanes[name], trees.get(name, "")
            known = tree if tree in lane.info.trees else lane.tree
            self.app.change_lane(name, overrides[name], known)
        return f", with its settings: {changed}{off}" if changed else off


def reopened_notice(recording: Recording, state: AppState, settings: str) -> str:
    """Return the notice on a reopened conversation; `settings`: the part on those that it had."""
    assert recording.loaded is not None and state.loaded is not None
    title, other = shortened(recording.title, TITLE_CHARACTERS), recording.loaded.target
    model = "" if other == state.loaded.target else f", answered by {other}"
    answered = {name: lane.info for turn in recording.turns for name, lane in turn.lanes.items()}
    unseen = [info for name, info in answered.items() if name not in state.lanes]
    titles = (f"{x.title} {describe_settings(x.overrides, Params())}".strip() for x in unseen)
    without = f", without the lanes that it had: {', '.join(titles)}" if unseen else ""
    return f"“{title}” continues here{model}{settings}{without}"


def events_of_lanes(recording: Recording, lanes: set[str]) -> Iterator[Event]:
    """Yield the recorded events without those of other lanes."""
    for turn in recording.turns:
        for event in turn.events():
            if isinstance(event, RunStarted):
                took_part = tuple(name for name in event.lanes if name in lanes)
                absent = tuple(lanes.difference(turn.lanes, turn.off))
                yield replace(event, lanes=took_part, absent=absent)
            elif not isinstance(event, Prefilled | RoundFinished | Finished) or event.lane in lanes:
                yield event
