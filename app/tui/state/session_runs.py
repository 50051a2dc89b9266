"""The runs of a session by lane, for figures over more than the last answer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from app.engine.events import Metrics, Schedule
from app.report.verdict import exceeds_tau
from app.tui.state.lane_state import LaneState, Phase, Settings
from decoding.round import Round, TokenEvent

Prompt = str | tuple[int, ...]  # its ids, where they are known
MAX_RUNS = 300  # over all lanes; older ones are dropped
LENGTH = ("max_new_tokens",)  # does not affect the speed
GAMMA = (*LENGTH, "gamma")


@dataclass(frozen=True, slots=True)
class LaneRun:
    """A lane's rounds and settings in one run; settings are None if they changed during it.
    `schedule` is that of its beginning."""

    lane: str
    prompt: Prompt
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
    """Finds runs of the same prompt and of all prompts with the same settings."""

    def __init__(self) -> None:
        self.all: tuple[LaneRun, ...] = ()  # oldest first

    def add(self, lane: LaneState, prompt: Prompt) -> None:
        """Add the lane's last run, if it has any rounds."""
        if lane.round_events and lane.metrics and lane.phase in (Phase.DONE, Phase.STOPPED):
            self.drop_last(lane)  # it may be shown again
            self.all = (*self.all, run_of(lane, lane.metrics, prompt))[-MAX_RUNS:]

    def has(self, lane: LaneState) -> bool:
        """Whether the lane's last run was added."""
        return any(_is_last(run, lane) for run in self.all)

    def drop_last(self, lane: LaneState) -> None:
        """Drop the lane's last run, which goes on."""
        self.all = tuple(run for run in self.all if not _is_last(run, lane))

    def add_probabilities(self, lane: LaneState) -> None:
        """Replace the rounds of the lane's last run by those with probabilities."""
        rounds = tuple(map(Round.slim, lane.rounds))
        self.all = tuple(
            replace(run, rounds=rounds) if _is_last(run, lane) else run for run in self.all
        )

    def like(self, lane: LaneState, prompt: Prompt | None = None) -> list[LaneRun]:
        """The lane's runs with the settings of its last one, for all prompts or one."""
        settings = lane.settings_of_rounds(LENGTH)
        if settings is None:
            return []
        return [
            run
            for run in self.all
            if run.lane == lane.info.name
            and run.settings == settings
            and prompt in (None, run.prompt)
        ]

    def timed_like(self, lane: LaneState, prompt: Prompt | None = None) -> list[LaneRun]:
        """Those whose speeds count: with the last one's schedule, as lanes share the machine's time
        in a race, and not stopped; if there are any, only those that nothing has disturbed."""
        runs = [run for run in self._scheduled_like(lane, prompt) if not run.stopped]
        return [run for run in runs if not run.disturbed] or runs

    def of_all(self, lanes: Iterable[LaneState], prompt: Prompt) -> dict[str, list[LaneRun]]:
        """By lane, the runs of a prompt in which all of `lanes` took part as they did in their last
        ones, so that figures over them can be compared. What was stopped or disturbed in a lane
        counts in none, unless there is nothing else."""
        runs = {lane.info.name: self._scheduled_like(lane, prompt) for lane in lanes}
        known = [{run.at: run for run in of_lane} for of_lane in runs.values() if of_lane]
        common = set(known[0]).intersection(*known[1:]) if known else set()
        whole = {at for at in common if not any(lane[at].stopped for lane in known)}
        quiet = {at for at in whole if not any(lane[at].disturbed for lane in known)}
        counted = quiet or whole or common
        return {
            name: [run for run in of_lane if run.at in counted] for name, of_lane in runs.items()
        }

    def _scheduled_like(self, lane: LaneState, prompt: Prompt | None) -> list[LaneRun]:
        return [run for run in self.like(lane, prompt) if run.schedule == lane.schedule]

    def answers_like(self, lane: LaneState) -> list[LaneRun]:
        """The newest run of each prompt with the settings of the lane's last one."""
        return list({run.prompt: run for run in self.like(lane)}.values())

    def rounds_like(self, lane: LaneState) -> list[Round]:
        """The rounds of all runs with the settings of the lane's last one, with any gamma."""
        settings = lane.settings_of_rounds(GAMMA)
        here = (run for run in self.all if run.lane == lane.info.name)
        return _with_last(lane, [r for r in here if settings and r.without_gamma == settings])

    def rounds_of_gamma(self, lane: LaneState) -> list[Round]:
        """The rounds of all runs with the settings of the lane's last one, including gamma."""
        return _with_last(lane, self.like(lane))


def _is_last(run: LaneRun, lane: LaneState) -> bool:
    return (run.lane, run.at) == (lane.info.name, lane.begun_at)


def _with_last(lane: LaneState, runs: list[LaneRun]) -> list[Round]:
    """All rounds, with those of the last run, which may not be finished, at the end."""
    before = (run for run in runs if not _is_last(run, lane))
    return [record for run in before for record in run.rounds] + lane.rounds


def run_of(lane: LaneState, metrics: Metrics, prompt: Prompt) -> LaneRun:
    return LaneRun(
        lane.info.name,
        prompt,
        lane.begun_at,
        lane.schedule,
        lane.settings_of_rounds(LENGTH),
        lane.settings_of_rounds(GAMMA),
        metrics,
        tuple(map(Round.slim, lane.rounds)),
        tuple(event.tokens for event in lane.round_events),
        lane.first.first.text if lane.first else "",
        lane.phase is Phase.STOPPED,
        lane.strategy.drafts
        and lane.strategy.on_target
        and metrics.speedup is not None
        and exceeds_tau(metrics.speedup, metrics.tokens_per_pass),
    )
