"""`specchat heads distill --server`: answers from a serving engine, many at a time."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import TextIO, TypeVar

from app.cli.terminal import say
from app.engine.turn import answer_seed
from app.servers.answer import Ending, Piece
from app.servers.client import Server, Timeouts
from app.servers.errors import ServerError
from app.servers.protocol import Question
from app.strategies.lane_spec import Endpoint
from decoding.json_text import parse_json
from decoding.params import Params
from decoding.tokenizing.reasoning import Reasoning
from decoding.training.answer_file import Conversation, drop_reasoning, keep_only, lines_so_far
from decoding.training.data import Record, digest
from decoding.training.log import Progress

T = TypeVar("T")
WAITS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)  # seconds before each retry
_UNFIT = (400, 413, 422)  # the server rejects the prompt itself, which may be too long
_TOO_MANY = 429
_IN_A_ROW = 3  # prompts that fail whatever is tried: then it is the server's fault, and not theirs


def distill_from(
    endpoint: Endpoint,
    conversations: Sequence[Conversation],
    out: Path,
    params: Params,
    *,
    seed: int,
    concurrency: int,
    reasoning: Reasoning = "keep",
) -> int:
    """Let the server answer the turns of each conversation in order. A conversation is appended to
    `out`, with its index as `id`, when it is complete. Returns how many `out` holds.

    Called again, it only asks for the missing ones. Raises InputError if the server answers none of
    several prompts in a row, after retries, and as `lines_so_far` does.
    """

    async def answer_all() -> int:
        # No retries there: `_retried` does them.
        async with aclosing(Server(endpoint, Timeouts(retries=()))) as server:
            distillation = _Distillation(server, conversations, out, params, seed, reasoning)
            return await distillation.answer_all(concurrency)

    return asyncio.run(answer_all())


class _Distillation:
    def __init__(
        self,
        server: Server,
        conversations: Sequence[Conversation],
        out: Path,
        params: Params,
        seed: int,
        reasoning: Reasoning,
    ) -> None:
        self._server = server
        self._conversations = conversations
        self._out = out
        self._params = params
        self._seed = seed
        self._drops = reasoning == "drop"
        self._refused: list[ServerError] = []
        self._failed_in_a_row = 0
        self._last_message = ""

    async def answer_all(self, concurrency: int) -> int:
        await self._retried(self._server.fetch_info)  # the engine may be starting yet
        sampling, total = self._params.sampling, len(self._conversations)
        target = self._server.model or self._server.endpoint.url
        drawn = [sampling.temperature, sampling.top_p, self._seed]
        settings: list[object] = [self._params.max_new_tokens]
        settings += [0.0] if sampling.greedy else drawn
        settings += ["drop"] if self._drops else []
        made_by = digest([target, list(self._conversations), *settings])
        lines = lines_so_far(self._out, made_by, total)
        keep_only(self._out, lines)
        there = {parse_json(line)["id"] for line in lines}
        missing = [number for number in range(total) if number not in there]
        progress = Progress(len(there), total)
        with self._out.open("a", encoding="utf-8") as file:
            try:
                async with asyncio.TaskGroup() as group:
                    queue = iter(missing)
                    for _ in range(min(concurrency, len(missing))):
                        group.create_task(self._work(queue, file, made_by, progress))
            except ExceptionGroup as errors:  # several workers may have met the same one
                raise errors.exceptions[0] from None
        if len(self._refused) == total:
            raise self._refused[0]
        if self._refused:
            say(f"{len(self._refused)} of {total} prompts refused: {self._refused[0]}")
        return total - len(self._refused)

    async def _work(
        self, queue: Iterator[int], file: TextIO, made_by: str, progress: Progress
    ) -> None:
        """Answer conversations from the shared queue until it is empty."""
        for number in queue:
            try:
                record = await self._answered(number)
            except ServerError as error:
                if error.status not in _UNFIT:
                    self._failed_in_a_row += 1
                    if not _may_pass(error) or self._failed_in_a_row >= _IN_A_ROW:
                        raise
                self._refused.append(error)
                continue
            self._failed_in_a_row = 0
            file.write(json.dumps(record | {"id": number, "made_by": made_by}) + "\n")
            file.flush()
            progress.add(1, record["tokens"])

    async def _answered(self, number: int) -> Record:
        """The answered conversation. It ends early if an answer was cut off, or if the next turn no
        longer fits."""
        history, turns = self._conversations[number]
        record: Record = {
            "messages": list(history),
            "finish_reason": "stop",
            "given_messages": len(history),
            "tokens": 0,
        }
        for place, turn in enumerate(turns):
            messages = [*record["messages"], {"role": "user", "content": turn}]
            seed = answer_seed(self._seed, number, f"turn {place}")
            try:
                text, ending = await self._ask(Question(messages, self._params, seed))
            except ServerError as error:
                if place == 0 or error.status not in _UNFIT:
                    raise
                break
            record["messages"] = [*messages, {"role": "assistant", "content": text}]
            record["finish_reason"] = ending.reason
            record["tokens"] += ending.usage.tokens or 0
            if self._drops:
                drop_reasoning(record, text)
            if record["finish_reason"] != "stop":
                break
        return record

    async def _ask(self, question: Question) -> tuple[str, Ending]:
        async def ask() -> tuple[str, Ending]:
            pieces: list[Piece] = []
            ending = await self._server.answer(question, pieces.append, counters=False)
            return "".join(piece.text for piece in pieces), ending

        return await self._retried(ask)

    async def _retried(self, request: Callable[[], Awaitable[T]]) -> T:
        """The reply to a request, which is made again after errors that may pass."""
        waits = iter(WAITS)
        while True:
            try:
                return await request()
            except ServerError as error:
                if not _may_pass(error) or (wait := next(waits, None)) is None:
                    raise
                line = str(error)
            if line != self._last_message:
                self._last_message = line
                say(f"{line}; it is asked again")
            await asyncio.sleep(wait * random.uniform(0.5, 1.5))  # not all at the same moment


def _may_pass(error: ServerError) -> bool:
    return error.status is None or error.status == _TOO_MANY or error.status >= 500
