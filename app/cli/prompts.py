"""Prompts of headless commands: messages, ids for models, questions for servers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from app.config.settings import Settings
from app.servers.protocol import Question
from app.text.prompt_file import Message, Request
from decoding.errors import InputError

if TYPE_CHECKING:  # these import torch, which a run with only servers does not need
    from app.models.loaded import LoadedModels


def opening(request: Request, system: str | None) -> list[Message]:
    """Return the messages before the request's first turn; its own system message wins."""
    history = list(request.history)
    if system and not (history and history[0]["role"] == "system"):
        history.insert(0, {"role": "system", "content": system})
    return history


def question(settings: Settings, messages: Sequence[Message], seed: int) -> Question:
    """Return a prompt for servers, which take text instead of ids."""
    return Question(
        tuple(messages), settings.params, seed, settings.stop, settings.raw, settings.ignore_eos
    )


def first_prompts(
    requests: Sequence[Request],
    models: LoadedModels | None,
    system: str | None = None,
    raw: bool = False,
) -> list[list[int]]:
    """Return the ids of each request's first prompt, all checked before the first is answered;
    empty if only servers answer."""
    if models is not None:
        from decoding.prefill import require_known_ids, require_room

    prompts: list[list[int]] = []
    for number, request in enumerate(requests):
        ids = list(request.input_ids)
        name = f"prompt {number if request.id is None else request.id}"
        if models is None:
            if ids:
                raise InputError("servers take text: give prompt, messages or turns, not input_ids")
            prompts.append([])
            continue
        if not ids:
            user = {"role": "user", "content": request.turns[0]}
            try:
                ids = models.encode([*opening(request, system), user], raw)
            except InputError as error:
                raise InputError(f"{name}: {error}" if len(requests) > 1 else str(error)) from error
        if not ids:
            raise InputError(f"{name} has no tokens: the tokenizer leaves nothing of it")
        require_room(models.context, name, len(ids))
        require_known_ids(models.target.vocab_size, name, ids)
        prompts.append(ids)
    return prompts
