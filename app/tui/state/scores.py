"""Scores of the lanes in the last run, over all runs with the same prompt and settings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from app.report.spread import spread
from app.report.verdict import LaneScore, Verdict, verdict
from app.tui.state.app_state import AppState
from app.tui.state.lane_state import LaneState, Phase
from app.tui.state.session_runs import LaneRun


def scores(state: AppState) -> list[LaneScore]:
    """Return the scores of all lanes in the last run, in their order."""
    here = {
        number: lane
        for number, lane in enumerate(state.lanes.values(), 1)
        if lane.phase in (Phase.WAITING, Phase.RUNNING, Phase.DONE, Phase.STOPPED)
    }
    runs = {} if state.played_again else state.runs.of_all(here.values(), state.prompt)
    found = [
        score_of(state, number, lane, runs.get(lane.info.name, ())) for number, lane in here.items()
    ]
    titles = Counter(each.title for each in found)
    return [replace(each, alike=titles[each.title] > 1) for each in found]


def score_of(state: AppState, number: int, lane: LaneState, runs: Sequence[LaneRun]) -> LaneScore:
    """Return a lane's score; its speeds are over `runs`, and over the present one."""
    now = lane.metrics
    counted = [run.metrics for run in runs]
    if now and not (counted and state.runs.has(lane)):
        counted.append(now)
    spent, rounds = now.decode_seconds if now else 0.0, lane.statistics.rounds
    return LaneScore(
        number=number,
        title=lane.info.title,
        strategy=lane.info.strategy,
        is_baseline=lane.strategy.is_baseline,
        on_target=lane.strategy.on_target,
        drafts=lane.strategy.drafts,
        done=lane.phase not in (Phase.WAITING, Phase.RUNNING),
        tokens=sum(each.tokens for each in counted),
        passes=now.passes if now else 0,
        speed=spread(each.tokens_per_second for each in counted),
        speedup=spread(each.speedup for each in counted),
        tokens_per_pass=now.tokens_per_pass if now else None,
        round_seconds=spent / rounds if rounds else 0.0,
        draft_share=now.draft_seconds / spent if now and spent else 0.0,
        undrafted=undrafted_share(lane),
        remote=lane.strategy.remote,
        same_text=same_text(state, lane),
        sampled=lane.sampled,
        lossy=lane.lossy,
        stopped=lane.phase is Phase.STOPPED,
        left_out=bool(runs) and state.runs.has(lane) and runs[-1].at != lane.begun_at,
        acceptance_rate=now.acceptance_rate if now else None,
    )


def undrafted_share(lane: LaneState) -> float:
    """Return the share of the rounds that drafted nothing because gamma was 0, not for want of a
    match. The last one does not count: the answer may have had no room for a draft."""
    of, rounds = lane.statistics, lane.statistics.rounds - 1
    if rounds < 1:
        return 0.0
    last = lane.round_events[-1].round.gamma == 0
    idle = min(of.rounds - of.asked.total(), of.plain.count) - last
    return max(idle, 0) / rounds


def same_text(state: AppState, lane: LaneState) -> bool | None:
    """Return whether the lane said what the autoregressive one did. Drawn answers need not be the
    same, but may be."""
    if lane.finished is None:
        return None
    known = lane.finished.same_text if lane.strategy.remote else lane.finished.matches_ar
    if known is None and lane.sampled and lane.phase is Phase.DONE:
        plain = (e.answer for e in state.lanes.values() if e.strategy.is_baseline and e.finished)
        return lane.answer in plain or None
    return known


def measured_speeds(state: AppState, lane: LaneState) -> tuple[float | None, float | None]:
    """Return the lane's tokens per second, and those of the target alone while both ran."""
    runs = () if state.played_again else state.runs.timed_like(lane, state.prompt)
    score = score_of(state, 0, lane, runs)
    speed = score.speed.median if score.speed else None
    return speed, speed / score.speedup.median if speed and score.speedup else None


def verdict_of(state: AppState, found: list[LaneScore], *, keys: bool = True) -> Verdict | None:
    """Return the verdict on the scores that were `found`. Without `keys`, and in a replay, where it
    does something else, it does not name the key that runs again."""
    return verdict(found, state.keys.get("run.again", "") if keys and not state.replay else "")
