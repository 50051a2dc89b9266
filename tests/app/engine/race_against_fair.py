"""Are lanes in a race as fast as one after the other, and which schedule's speedups are steadier?

    python -m tests.app.engine.race_against_fair [--runs 5] [--prompts 3] [--tokens 96] [--seed 1]

Answers the same prompts by both schedules, in turn, in the decoding process that the screen uses.
Not a test: the figures belong to a machine, and want a quiet one.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from typing import get_args

import tests.conftest  # noqa: F401  # leaves the user's settings and files alone
from app.config.settings import load_settings
from app.engine.commands import Command, OpenConversation, Run, SetSchedule
from app.engine.events import (
    EngineExited,
    Event,
    Finished,
    Loaded,
    LoadFailed,
    RunFinished,
    RunRejected,
    Schedule,
)
from app.engine.process import SessionProcess
from app.engine.session import Session
from app.engine.session_config import SessionConfig
from app.models.assets import examples
from app.strategies.registry import AUTOREGRESSIVE

POLL_SECONDS = 0.02
SAME_SPEED = 0.05  # how far a lane's speed in a race may be from that by turns
STEADIER = 0.5  # how far apart its speedups may lie in a race, for those by turns
SCHEDULES: tuple[Schedule, ...] = get_args(Schedule)
Key = tuple[Schedule, str, int]  # schedule, lane, prompt
Speeds = dict[Key, list[tuple[float, float]]]  # tokens/s and speedup, for each run


def measure(runs: int, prompts: int, tokens: int, seed: int) -> Speeds:
    settings = load_settings({"max_new_tokens": tokens, "ignore_eos": True})
    config = SessionConfig(settings.params, seed, ignore_eos=True)
    engine = SessionProcess(partial(Session, config=config), settings.models, settings.lanes)
    engine.open()
    found: Speeds = defaultdict(list)
    chance = random.Random(seed)
    try:
        _until(engine, Loaded)
        asked = [request.turns[0] for request in examples()[:prompts]]
        _answer(engine, asked[0], "race")  # untimed
        for _ in range(runs):
            for number, prompt in enumerate(asked):
                for schedule in chance.sample(SCHEDULES, len(SCHEDULES)):
                    for lane, speed in _answer(engine, prompt, schedule).items():
                        found[schedule, lane, number].append(speed)
    finally:
        engine.close()
    return found


def _answer(
    engine: SessionProcess, prompt: str, schedule: Schedule
) -> dict[str, tuple[float, float]]:
    """Tokens/s and speedup by lane."""
    commands: Sequence[Command] = (OpenConversation(), SetSchedule(schedule), Run(prompt))
    for command in commands:
        engine.send(command)
    speeds = {}
    for event in _until(engine, RunFinished):
        if isinstance(event, Finished):
            known = event.metrics
            if known is None or known.tokens_per_second is None:
                raise SystemExit(f"{event.lane}: {event.reason}: {event.message}")
            # reported once more when the autoregressive lane is done: only then there is one
            speeds[event.lane] = (known.tokens_per_second, known.speedup or 0.0)
    return speeds


def _until(engine: SessionProcess, kind: type[Event]) -> list[Event]:
    heard: list[Event] = []
    while not any(isinstance(event, kind) for event in heard):
        time.sleep(POLL_SECONDS)
        heard += engine.drain()
        for event in heard:
            if isinstance(event, LoadFailed | EngineExited | RunRejected):
                raise SystemExit(event.message)
    return heard


def report(found: Speeds) -> str:
    """For each lane its tokens/s, the ratio of race to fair within a run with its range, and how
    far its speedups over a prompt's runs lie apart: (highest - lowest) / median, the median of all
    prompts. In the end whether a race is as fast, and how much steadier."""
    lanes = list(dict.fromkeys(lane for _, lane, _ in found))
    numbers = sorted({number for _, _, number in found})
    lines = [
        f"{'lane':<10}{'fair tok/s':>12}{'race tok/s':>12}  {'race/fair':<20}"
        f"{'speedup: spread by fair':>24}{'by race':>9}"
    ]
    furthest, steadiness = 0.0, []
    for lane in lanes:
        fair, race = (_all(found, schedule, lane, numbers) for schedule in ("fair", "race"))
        ratios = [one / other for one, other in zip(race, fair, strict=True)]
        low, high = min(ratios), max(ratios)
        middle = statistics.median(ratios)
        furthest = max(furthest, abs(middle - 1))
        cells = ""
        if lane != AUTOREGRESSIVE.name:
            by_fair, by_race = (_spread(found, one, lane, numbers) for one in ("fair", "race"))
            cells = f"{by_fair:>24.1%}{by_race:>9.1%}"
            steadiness.append(by_race / by_fair)
        lines.append(
            f"{lane:<10}{statistics.median(fair):>12.1f}{statistics.median(race):>12.1f}  "
            f"{f'{middle:.3f} ({low:.3f}-{high:.3f})':<20}{cells}"
        )
    part = statistics.median(steadiness)
    lines += [
        f"speeds within {SAME_SPEED:.0%}: {_yes(furthest <= SAME_SPEED)} (furthest {furthest:.1%})",
        f"spread at most {STEADIER:.0%} of fair's: {_yes(part <= STEADIER)} ({part:.0%})",
    ]
    return "\n".join(lines)


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"


def _all(found: Speeds, schedule: Schedule, lane: str, numbers: Sequence[int]) -> list[float]:
    return [speed for number in numbers for speed, _ in found[schedule, lane, number]]


def _spread(found: Speeds, schedule: Schedule, lane: str, numbers: Sequence[int]) -> float:
    spreads = []
    for number in numbers:
        speedups = [speedup for _, speedup in found[schedule, lane, number]]
        spreads.append((max(speedups) - min(speedups)) / statistics.median(speedups))
    return statistics.median(spreads)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--prompts", type=int, default=3)
    parser.add_argument("--tokens", type=int, default=96)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    print(report(measure(given.runs, given.prompts, given.tokens, given.seed)))
    print(f"{given.runs} runs of {given.prompts} prompts by each schedule, {given.tokens} tokens")


if __name__ == "__main__":
    main()
