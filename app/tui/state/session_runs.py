"""The runs of a session by lane, for figures over more than the last answer."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.engine.events import Metrics
from app.tui.state.lane_state import LaneState, Phase, Settings
from decoding.round import Round, TokenEvent

Prompt = str | tuple[int, ...]  # its ids, where they are known
MAX_RUNS = 300  # over all lanes; older ones are dropped
LENGTH = ("max_new_tokens",)  # does not affect the speed
GAMMA = (*LENGTH, "gamma")


@dataclass(frozen=True, slots=True)
class LaneRun:
    """A lane's rounds and settings in one run; settings are None if they changed during it."""

    lane: str
    prompt: Prompt
    at: float  # when the turn began, which is in its log too
    settings: Settings | None
    without_gamma: Settings | None
    metrics: Metrics
    first: Round  # the lane's own object: what it shows now is this run
    rounds: tuple[Round, ...]  # without data that is only needed for the last answer
    shown: tuple[tuple[TokenEvent, ...], ...]  # the tokens of each round
    begun: str  # the text before the first round
    stopped: bool  # before its end, by the user


class SessionRuns:
    """Finds runs of the same prompt and of all prompts with the same settings."""

    def __init__(self) -> None:
        self._runs: deque[LaneRun] = deque(maxlen=MAX_RUNS)

    def add(self, lane: LaneState, prompt: Prompt, at: float) -> None:
        """Add the lane's last run, if it has any rounds. One that was already added, and is shown
        again out of its log, takes the place of the old one."""
        if lane.round_events and lane.metrics and lane.phase in (Phase.DONE, Phase.STOPPED):
            run = run_of(lane, lane.metrics, prompt, at)
            others = (each for each in self._runs if (each.lane, each.at) != (run.lane, at))
            self._runs = deque((*others, run), MAX_RUNS)

    def has(self, lane: LaneState) -> bool:
        """Whether the lane's last run was added."""
        return bool(lane.rounds) and any(run.first is lane.rounds[0] for run in self._runs)

    def drop_last(self, lane: LaneState) -> None:
        """Drop the lane's last run, which goes on."""
        newest = lane.rounds[0] if lane.rounds else None
        self._runs = deque((run for run in self._runs if run.first is not newest), MAX_RUNS)

    def add_probabilities(self, known: Sequence[Round], measured: Sequence[Round]) -> None:
        """Replace the `known` rounds of a run by those with probabilities."""
        for index, run in enumerate(self._runs):
            if known and run.first is known[0]:
                self._runs[index] = replace(
                    run, first=measured[0], rounds=tuple(map(Round.slim, measured))
                )

    def clear(self) -> None:
        self._runs.clear()

    def like(self, lane: LaneState, prompt: Prompt | None = None) -> list[LaneRun]:
        """The lane's runs with the settings of its last one, for all prompts or one."""
        settings = lane.settings_of_rounds(LENGTH)
        if settings is None:
            return []
        return [
            run
            for run in self._runs
            if run.lane == lane.info.name
            and run.settings == settings
            and prompt in (None, run.prompt)
        ]

    def timed_like(self, lane: LaneState, prompt: Prompt | None = None) -> list[LaneRun]:
        """Those whose speeds count: a run that was stopped, only where all were."""
        runs = self.like(lane, prompt)
        return [run for run in runs if not run.stopped] or runs

    def answers_like(self, lane: LaneState) -> list[LaneRun]:
        """The newest run of each prompt with the settings of the lane's last one."""
        return list({run.prompt: run for run in self.like(lane)}.values())

    def rounds_like(self, lane: LaneState) -> list[Round]:
        """The rounds of all runs with the settings of the lane's last one, with any gamma."""
        settings = lane.settings_of_rounds(GAMMA)
        here = (run for run in self._runs if run.lane == lane.info.name)
        return _with_last(lane, [r for r in here if settings and r.without_gamma == settings])

    def rounds_of_gamma(self, lane: LaneState) -> list[Round]:
        """The rounds of all runs with the settings of the lane's last one, including gamma."""
        return _with_last(lane, self.like(lane))


def _with_last(lane: LaneState, runs: list[LaneRun]) -> list[Round]:
    """All rounds, with those of the last run, which may not be finished, at the end."""
    last = lane.rounds
    if runs and last and runs[-1].first is last[0]:
        runs = runs[:-1]
    return [record for run in runs for record in run.rounds] + last


def run_of(lane: LaneState, metrics: Metrics, prompt: Prompt, at: float) -> LaneRun:
    return LaneRun(
        lane.info.name,
        prompt,
        at,
        lane.settings_of_rounds(LENGTH),
        lane.settings_of_rounds(GAMMA),
        metrics,
        lane.rounds[0],
        tuple(map(Round.slim, lane.rounds)),
        tuple(event.tokens for event in lane.round_events),
        lane.first.first.text if lane.first else "",
        lane.phase is Phase.STOPPED,
    )
