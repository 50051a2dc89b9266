"""Measures a server under load: many prompts at a time."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from threading import Event
from typing import Any

import numpy

from app.engine.server_lane import ServerLane
from app.servers.protocol import Question
from app.servers.usage import Drafting
from decoding.errors import describe
from decoding.stats import ratio

PERCENTILES = (50, 90, 99)


@dataclass(frozen=True, slots=True)
class Load:
    """All answers of a lane to `concurrency` prompts at a time. `tokens` counts all answers, their
    first tokens included; `seconds` is from the first request to the last end."""

    lane: str
    concurrency: int
    answers: Sequence[ServerLane]
    errors: dict[int, str]  # by the prompt's index
    seconds: float
    drafting: Drafting | None  # over all answers, from the server's counters

    @property
    def tokens(self) -> int:
        return sum(answer.tokens for answer in self.answers)

    def document(self) -> dict[str, Any]:
        """Return the load's part of a JSON document."""
        times = [answer.ttft_seconds for answer in self.answers if answer.tokens]
        quantiles = numpy.percentile(times, PERCENTILES).tolist() if times else [None] * 3
        names = [f"p{percentile}" for percentile in PERCENTILES]
        drafting = self.drafting
        return {
            "lane": self.lane,
            "concurrency": self.concurrency,
            "requests": len(self.answers),
            "failed": len(self.errors),
            "seconds": self.seconds,
            "tokens": self.tokens,
            "tokens_per_second": ratio(self.tokens, self.seconds),
            "ttft_seconds": dict(zip(names, quantiles, strict=True)),
            "drafted": drafting.drafted if drafting else None,
            "accepted": drafting.accepted if drafting else None,
        }


def answer_together(lane: ServerLane, questions: Sequence[Question], concurrency: int) -> Load:
    """Answer the questions, `concurrency` at a time. One that fails does not end the others."""
    answers = [lane.fresh_copy() for _ in questions]
    errors: dict[int, str] = {}
    stopping = Event()

    def answer(index: int) -> None:
        try:
            answers[index].generate(questions[index], stopping.is_set)
        except Exception as error:
            errors[index] = describe(error)

    before = lane.loop_thread.submit(lane.server.counters()).result()
    begun = time.perf_counter()
    with ThreadPoolExecutor(concurrency) as pool:
        try:
            list(pool.map(answer, range(len(questions))))
        finally:
            stopping.set()  # also when this is interrupted
    seconds = time.perf_counter() - begun
    load = Load(lane.spec.name, concurrency, answers, dict(sorted(errors.items())), seconds, None)
    if before is None:
        return load
    since = lane.server.drafting_since(before, load.tokens)
    return replace(load, drafting=lane.loop_thread.submit(since).result())
