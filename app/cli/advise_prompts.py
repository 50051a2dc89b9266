"""The prompts of `specchat advise` if none are given."""

from __future__ import annotations

from pathlib import Path

from app.config.settings import Settings
from app.engine.commands import Turn
from app.engine.conversation import messages_of
from app.history.parse_document import read_recording
from app.history.recording import Recording
from app.history.store import Store
from app.models.assets import examples
from app.text.prompt_file import Message, Request
from decoding.errors import InputError

LATEST = "latest"


def prompts_to_advise_on(settings: Settings, conversation: str | None) -> list[Request]:
    """Return those of a `conversation`; by default the examples for the demo family, and the newest
    kept conversation for other models. Raises InputError."""
    if conversation is not None and conversation != LATEST:
        return _requests(read_recording(Path(conversation)), settings.system)
    if conversation is None and settings.models.target is None:
        return list(examples())
    store = Store()
    entries = store.entries()
    if not entries:
        raise InputError("no conversation was kept yet: give --prompts FILE.jsonl to measure with")
    return _requests(store.open(entries[0].path), settings.system)


def _requests(recording: Recording, system: str | None) -> list[Request]:
    """The recording's prompts, each with its history, which begins with the system prompt that was
    used then, unless one is given now."""
    system_then = recording.settings.get("system")
    history: list[Message] = []
    if system_then and system is None:
        history.append({"role": "system", "content": str(system_then)})
    requests: list[Request] = []
    before: Turn | None = None
    for turn, recorded in zip(recording.past(), recording.turns, strict=True):
        if before is not None:
            history += messages_of(before, recorded.started.leader)
        requests.append(Request(turns=(turn.prompt,), history=tuple(history)))
        before = turn
    return requests
