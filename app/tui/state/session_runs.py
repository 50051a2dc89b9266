"""The runs of a session by lane, for figures over more than the last answer."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial

from app.engine.events import Metrics, Schedule
from app.report.verdict import incredible
from app.text.token_event import TokenEvent
from app.tui.state.growing import Growing, Same
from app.tui.state.lane_state import LaneState, Phase, Settings
from decoding.cost.round_statistics import RoundStatistics
from decoding.round import Round
from decoding.stats import PathEnd, path_end

PromptKey = str | tuple[int, ...]  # its ids, where they are known
MAX_RUNS = 300  # over all lanes; older ones are dropped
LENGTH = ("max_new_tokens",)  # does not affect the speed
GAMMA = (*LENGTH, "gamma")


@dataclass(frozen=True, slots=True)
class LaneRun:
    """A lane's rounds and settings in one run; settings are None if they changed during it.
    `schedule` is that of its beginning."""

    lane: str
    prompt: PromptKey
    at: float  # when it began, which its log says too, and no other run of the lane
    schedule: Schedule
    settings: Settings | None
    without_gamma: Settings | None
    metrics: Metrics
    rounds: tuple[Round, ...]  # without data that is only needed for the last answer
    shown: tuple[tuple[TokenEvent, ...], ...]  # the tokens of each round
    begun: str  # the text before the first round
    stopped: bool  # before its end, by the user
    disturbed: bool  # its speedup can't be: something else kept the machine busy


class SessionRuns:
    """Finds runs of the same prompt and of all prompts with the same settings. What was found is
    kept until there are other runs, and each run is added to the sums only once."""

    def __init__(self) -> None:
        self.all: tuple[LaneRun, ...] = ()  # oldest first
        self._of: tuple[LaneRun, ...] = self.all  # the runs in which these were found
        self._found: dict[object, tuple[LaneRun, ...]] = {}
        self._statistics: defaultdict[object, Growing[LaneRun, RoundStatistics]]
        self._statistics = defaultdict(partial(Growing, RoundStatistics, _add_run))
        self._ends: defaultdict[object, Growing[LaneRun, Counter[PathEnd]]]
        self._ends = defaultdict(partial(Growing, Counter, _add_to_ends))

    def add(self, lane: LaneState, prompt: PromptKey) -> None:
        """Add the lane's last run, if it has any rounds."""
        if lane.round_events and lane.metrics and lane.phase in (Phase.DONE, Phase.STOPPED):
            self.drop_last(lane)  # it may be shown again
            self.all = (*self.all, run_of(lane, lane.metrics, prompt))[-MAX_RUNS:]

    def has(self, lane: LaneState) -> bool:
        """Return whether the lane's last run was added."""
        begun = lane.info.name, lane.begun_at
        return bool(self._matching(begun, lambda run: _is_last(run, lane)))

    def drop_last(self, lane: LaneState) -> None:
        """Drop the lane's last run, which goes on."""
        self.all = tuple(run for run in self.all if not _is_last(run, lane))

    def add_probabilities(self, lane: LaneState) -> None:
        """Replace the rounds of the lane's last run by those with probabilities."""
        rounds = tuple(map(Round.without_probabilities, lane.rounds))
        self.all = tuple(
            replace(run, rounds=rounds) if _is_last(run, lane) else run for run in self.all
        )

    def like(self, lane: LaneState, prompt: PromptKey | None = None) -> tuple[LaneRun, ...]:
        """Return the lane's runs with the settings of its last one, for all prompts or one."""
        name, settings = lane.info.name, lane.settings_of_rounds(LENGTH)
        if settings is None:
            return ()
        return self._matching(
            ("like", name, settings, Same(prompt)),
            lambda run: (
                run.lane == name and run.settings == settings and prompt in (None, run.prompt)
            ),
        )

    def timed_like(self, lane: LaneState, prompt: PromptKey | None = None) -> tuple[LaneRun, ...]:
        """Return the lane's runs whose speeds can be compared with its last one's. They had the
        same schedule, because lanes share the machine's time in a race, and were not stopped. Runs
        that something has disturbed count only if there are no others."""
        runs = tuple(run for run in self._scheduled_like(lane, prompt) if not run.stopped)
        return tuple(run for run in runs if not run.disturbed) or runs

    def of_all(
        self, lanes: Iterable[LaneState], prompt: PromptKey
    ) -> dict[str, tuple[LaneRun, ...]]:
        """By lane, the runs of a prompt in which all of `lanes` took part as they did in their last
        ones, so that figures over them can be compared. What was stopped or disturbed in a lane
        counts in none, unless there is nothing else."""
        runs = {lane.info.name: self._scheduled_like(lane, prompt) for lane in lanes}
        known = [{run.at: run for run in of_lane} for of_lane in runs.values() if of_lane]
        common = set(known[0]).intersection(*known[1:]) if known else set()
        whole = {at for at in common if not any(by_time[at].stopped for by_time in known)}
        quiet = {at for at in whole if not any(by_time[at].disturbed for by_time in known)}
        counted = quiet or whole or common
        return {
            name: tuple(run for run in of_lane if run.at in counted)
            for name, of_lane in runs.items()
        }

    def _scheduled_like(self, lane: LaneState, prompt: PromptKey | None) -> tuple[LaneRun, ...]:
        return tuple(run for run in self.like(lane, prompt) if run.schedule == lane.schedule)

    def answers_like(self, lane: LaneState) -> list[LaneRun]:
        """Return the newest run of each prompt with the settings of the lane's last one."""
        return list({run.prompt: run for run in self.like(lane)}.values())

    def statistics_before(self, lane: LaneState) -> RoundStatistics:
        """Sum up the rounds of all runs before the lane's last one with its settings, with any
        gamma."""
        name, settings = lane.info.name, lane.settings_of_rounds(GAMMA)
        if settings is None:
            return RoundStatistics()
        key = "statistics", name, settings
        runs = self._matching(key, lambda run: run.lane == name and run.without_gamma == settings)
        return self._statistics[name, settings].of(_before(lane, runs))

    def ends_before(self, lane: LaneState) -> Counter[PathEnd]:
        """Count the ends of the rounds of all runs before the lane's last one with its settings."""
        runs = self.like(lane)
        if not runs:
            return Counter()
        return self._ends[lane.info.name, runs[0].settings].of(_before(lane, runs))

    def _matching(self, key: object, matches: Callable[[LaneRun], bool]) -> tuple[LaneRun, ...]:
        """The runs that match; which these are depends on the `key`."""
        if self._of is not self.all:
            self._of, self._found = self.all, {}
        if not self.all:
            self._statistics.clear()
            self._ends.clear()
        if key not in self._found:
            self._found[key] = tuple(filter(matches, self.all))
        return self._found[key]


def _add_run(found: RoundStatistics, run: LaneRun) -> None:
    for record in run.rounds:
        found.add(record)


def _add_to_ends(found: Counter[PathEnd], run: LaneRun) -> None:
    found.update(map(path_end, run.rounds))


def _is_last(run: LaneRun, lane: LaneState) -> bool:
    return (run.lane, run.at) == (lane.info.name, lane.begun_at)


def _before(lane: LaneState, runs: Iterable[LaneRun]) -> list[LaneRun]:
    """Without the last run, whose rounds the lane has."""
    return [run for run in runs if not _is_last(run, lane)]


def run_of(lane: LaneState, metrics: Metrics, prompt: PromptKey) -> LaneRun:
    return LaneRun(
        lane.info.name,
        prompt,
        lane.begun_at,
        lane.schedule,
        lane.settings_of_rounds(LENGTH),
        lane.settings_of_rounds(GAMMA),
        metrics,
        tuple(map(Round.without_probabilities, lane.rounds)),
        tuple(event.tokens for event in lane.round_events),
        lane.begun,
        lane.phase is Phase.STOPPED,
        metrics.speedup is not None
        and incredible(lane.strategy, metrics.speedup, metrics.tokens_per_pass),
    )
