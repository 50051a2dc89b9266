"""The turns so far, and what models and servers get of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.engine.commands import Turn
from app.engine.mailbox import Mailbox
from app.engine.session_config import SessionConfig
from decoding.errors import InputError

if TYPE_CHECKING:  # these import torch; they are imported on the worker's thread
    from app.models.loaded import LoadedModels
    from decoding.tokenizing.stopping import Stop


class ConversationTooLong(InputError):
    """The conversation is too long with this question, which may have room in a new one."""


@dataclass(frozen=True, slots=True)
class PromptContext:
    """The last turn: its prompt, its stop conditions, and the tokens of each lane that has not
    finished."""

    prompt_ids: Sequence[int]
    stop: Stop
    unfinished: Mapping[str, Sequence[int]]


class Conversation:
    """Turns as the leading lane answered them, rendered with the session's system message and
    template."""

    def __init__(self, mailbox: Mailbox, config: SessionConfig) -> None:
        self.turns: tuple[Turn, ...] = ()
        self.context: PromptContext | None = None  # None until a turn runs here
        self._mailbox, self._config = mailbox, config

    def open(self, turns: tuple[Turn, ...]) -> None:
        """Continue from these turns instead."""
        self.turns, self.context = turns, None

    def before(self, turn: Turn) -> tuple[Turn, ...]:
        """Return the turns before this one. If it is the last one, run again, its old answers are
        left out."""
        again = self.turns and self.turns[-1].run in (turn.run, turn.replaces)
        return self.turns[:-1] if again else self.turns

    def stop(self, models: LoadedModels | None) -> Stop:
        """Return what ends an answer here; servers get it with the question."""
        from decoding.tokenizing.stopping import Stop

        config = self._config
        return models.stop(config.ignore_eos, config.stop_texts) if models else Stop()

    def encode(self, before: Sequence[Turn], prompt: str, models: LoadedModels | None) -> list[int]:
        """Encode a prompt after the turns `before`; no ids if only servers answer. Raises
        InputError if the context is too short for them, or the model lacks one of the ids."""
        from decoding.prefill import require_known_ids, require_room

        if models is None:
            return []
        ids = models.encode(self.messages(before, prompt), self._config.raw)
        require_known_ids(models.target.vocab_size, "this conversation", ids)
        if not before:
            require_room(models.context, "the question", len(ids), "shorten it")
            return ids
        try:
            advice = "shorten it or begin a new one"
            require_room(models.context, "the conversation", len(ids), advice)
        except InputError as error:
            raise ConversationTooLong(str(error)) from None
        return ids

    def messages(self, before: Sequence[Turn], prompt: str) -> list[dict[str, str]]:
        """Return the messages of the turns `before`, as the leading lane answered them, and of the
        new prompt."""
        system = self._config.system
        messages = [{"role": "system", "content": system}] if system else []
        for turn in before:
            messages += messages_of(turn, self._mailbox.leader)
        return [*messages, {"role": "user", "content": prompt}]

    def leader_of(self, turn: Turn) -> str | None:
        """Return the lane whose answer the conversation continues."""
        return answering_lane(turn, self._mailbox.leader)

    def prompts(self, examples: Sequence[str], models: LoadedModels) -> list[list[int]]:
        """Encode each turn's prompt with its history, or the `examples` if there is no turn."""
        if not self.turns:
            return [self.encode((), prompt, models) for prompt in examples]
        return [
            self.encode(self.turns[:number], turn.prompt, models)
            for number, turn in enumerate(self.turns)
        ]

    def last_context(self, models: LoadedModels | None) -> PromptContext:
        """Return the context of the last turn; of a resumed conversation, as if its last prompt
        were run again. Raises InputError if there is no turn."""
        if self.context is not None:
            return self.context
        if not self.turns:
            raise InputError("nothing was asked yet that could go on")
        *before, last = self.turns
        return PromptContext(self.encode(before, last.prompt, models), self.stop(models), {})


def messages_of(turn: Turn, leader: str | None) -> list[dict[str, str]]:
    """Return the question and the answer that the conversation continues. Neither if the turn was
    stopped before the first token: templates refuse two questions in a row."""
    lane = answering_lane(turn, leader)
    if lane is None:
        return []
    question = {"role": "user", "content": turn.prompt}
    return [question, {"role": "assistant", "content": turn.answers[lane]}]


def answering_lane(turn: Turn, leader: str | None) -> str | None:
    """Return the leader, or the first lane with an answer if the leader has none."""
    names = (leader or "", *turn.answers)
    return next((name for name in names if turn.answers.get(name)), None)
