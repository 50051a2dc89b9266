"""What is kept between two refreshes is what would be found anew, and saves the work."""

from __future__ import annotations

import random
import sys
from collections import Counter, defaultdict
from dataclasses import replace
from typing import Any

import pytest

from app.engine.events import (
    Event,
    Finished,
    LanesChanged,
    Loaded,
    ProbabilitiesComputed,
    RoundFinished,
    RunContinued,
    RunFinished,
    RunStarted,
)
from app.report.rejections import Tallies, levels_of, rejections
from app.tui.state.app_state import AppState
from app.tui.state.growing import Growing, Same
from app.tui.state.lane_state import LaneState
from app.tui.state.session_runs import GAMMA, LENGTH, LaneRun, SessionRuns
from decoding.cost.round_statistics import RoundStatistics
from decoding.params import Params
from decoding.round import Round
from decoding.stats import acceptance_by_position, positions
from tests.support.rounds import CHAIN
from tests.support.scripted import lane, metrics, prefilled, stepped
from tests.support.simulated import Machine
from tests.support.stage import Play, Stage

INFOS = tuple(lane(name, gamma=4 * (name != "ar")) for name in ("ar", "draft", "lookup"))
NAMES = tuple(info.name for info in INFOS)
PROBABILITIES: dict[str, Any] = {"entropies": (1.0,) * 5, "model_p": (1.0,) * 5, "q": (1.0,) * 5}


def test_each_item_is_added_once() -> None:
    added: list[str] = []
    growing: Growing[str, list[str]] = Growing(list, lambda found, item: added.append(item))
    items = ["a", "b"]
    growing.of(items)
    items.append("c")
    growing.of(items)
    growing.of([*items, "d"])  # another list that goes on from it
    assert added == ["a", "b", "c", "d"]


def test_another_list_begins_anew() -> None:
    growing: Growing[object, list[object]] = Growing(list, list.append)
    one, other = [object(), object()], [object(), object(), object()]
    assert growing.of(one) == one
    assert growing.of(other) == other
    assert growing.of(other[:2]) == other[:2]
    assert growing.of([]) == []
    for count in (1, 2, 3):  # each list may get the id of the one before
        made = [object() for _ in range(count)]
        assert growing.of(made) == made


def test_same_objects_are_not_equal_ones() -> None:
    one, other = [1], [1]
    assert Same(one) == Same(one) and Same(one) != Same(other) and Same(one) != one


class Session:
    """Random events of lanes, as they may follow each other."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.machine = Machine((0.8, 0.6), random=self.random)
        self.state = AppState(Params(), keys=defaultdict(str))
        self.run = 0
        self.kept: list[tuple[LaneRun, ...]] = []
        self.tell(Loaded("demo", "cpu", "float32", 2, 2048, INFOS))

    def tell(self, *events: Event) -> None:
        for event in events:
            self.state.apply(event)

    def rounds(self, name: str, gamma: int, *, probabilities: bool = False) -> None:
        made = replace(stepped(name, ["a"], ["b"], "c", metrics()), params=Params(gamma=gamma))
        for index in range(self.random.randint(0, 12)):
            record = replace(self.machine.round(gamma if name != "ar" else 0), index=index)
            record = replace(record, **PROBABILITIES) if probabilities else record
            self.tell(replace(made, round=record))

    def answer(self) -> None:
        self.run += 1
        self.kept.append(self.state.runs.all)
        names = NAMES[: self.random.randint(1, 3)]
        prompt = self.random.choice(("one", "two"))
        self.tell(RunStarted(self.run, 0, prompt, 3, 42, names, (1, self.run), at=float(self.run)))
        for name in names:
            self.check()
            self.tell(prefilled(name, self.random.choice(("A", "A ", ""))))
            self.rounds(name, self.random.choice((4, 4, 2)))
            self.check()
            self.rounds(name, self.random.choice((4, 4, 2)))
        for name in names:
            self.tell(Finished(name, self.random.choice(("stop", "stopped")), metrics=metrics()))
        self.check()
        self.tell(RunFinished(self.run, False))

    def go_on(self) -> None:
        self.tell(RunContinued(self.run, ("draft",)))
        self.rounds("draft", 4)
        self.check()
        self.tell(Finished("draft", "stop", metrics=metrics()), RunFinished(self.run, False))

    def measure(self) -> None:
        for name, one in self.state.lanes.items():
            rounds = tuple(replace(record, **PROBABILITIES) for record in one.rounds)
            self.tell(ProbabilitiesComputed(name, self.run, None, rounds, {}))

    def undo(self) -> None:
        self.state.forget_conversation()
        self.state.runs.all = self.random.choice(self.kept or [()])

    def change_lanes(self) -> None:
        self.tell(LanesChanged(INFOS[:2]))
        self.check()
        self.tell(LanesChanged(INFOS))

    def load(self) -> None:
        self.tell(Loaded("demo", "cpu", "float32", 2, 2048, INFOS))

    def check(self) -> None:
        for one in self.state.lanes.values():
            check_lane(one, self.state.runs)


def rounds_before(one: LaneState, runs: SessionRuns, *, any_gamma: bool) -> list[Round]:
    settings = one.settings_of_rounds(GAMMA if any_gamma else LENGTH)
    return [
        record
        for run in runs.all
        if run.lane == one.info.name and settings is not None and run.at != one.begun_at
        if (run.without_gamma if any_gamma else run.settings) == settings
        for record in run.rounds
    ]


def summed(found: RoundStatistics) -> tuple[object, ...]:
    """Without what is empty, and without sums that depend on the order by a rounding error."""
    took = {tree: times.count for tree, times in found.took.items()}
    known = found.rounds, +found.ends, found.asked, took, dict(found.passes), dict(found.drafting)
    return (*known, dict(found.paces), found.overheads)


def check_lane(one: LaneState, runs: SessionRuns) -> None:
    assert summed(one.statistics) == summed(RoundStatistics.of(one.rounds))
    before = RoundStatistics.of(rounds_before(one, runs, any_gamma=True))
    assert summed(runs.statistics_before(one)) == summed(before)
    ends = positions(runs.ends_before(one))
    assert ends == acceptance_by_position(rounds_before(one, runs, any_gamma=False))
    assert one.lacks_probabilities is bool(
        (one.first and not one.first.probs) or any(not each.entropies for each in one.rounds)
    )
    assert runs.has(one) is any((r.lane, r.at) == (one.info.name, one.begun_at) for r in runs.all)
    begun = one.first.first.text if one.first else ""
    assert one.answer == begun + "ac" * len(one.rounds)
    levels = [*levels_of(((each.round, each.tokens) for each in one.round_events), begun)]
    assert one.drafts.rejected == rejections(levels)
    assert one.drafts.tallies == Tallies.of(levels)


@pytest.mark.parametrize("seed", range(6))
def test_what_is_kept_is_what_would_be_found_anew(seed: int) -> None:
    session = Session(seed)
    does = [session.answer] * 6 + [session.go_on, session.measure, session.undo, session.load]
    for _ in range(40):
        session.random.choice([*does, session.change_lanes])()
        session.check()


def calls_of(stage: Stage) -> int:
    """The number of calls of Python functions, and of their generators, in one refresh."""
    calls: Counter[str] = Counter()
    sys.setprofile(lambda frame, event, arg: calls.update([event]))
    try:
        stage.app.main.show_state()
    finally:
        sys.setprofile(None)
    return calls["call"]


def long_rounds(name: str, count: int) -> list[RoundFinished]:
    drafted = replace(CHAIN, gamma=3, sampled=True, **{**PROBABILITIES, "entropies": (1.0,) * 4})
    plain = replace(drafted, tokens=(7,), parents=(-1,), accepted=(), emitted=(8,), tested=0)
    made = replace(stepped(name, ["a"], ["b"], "c", metrics()), params=Params())
    return [
        replace(made, round=replace(plain if name == "ar" else drafted, index=index))
        for index in range(count)
    ]


PANELS = (None, "figures", "rejections", "tree", "token")


@pytest.mark.parametrize("panel", PANELS)
async def test_a_refresh_of_a_long_answer_is_no_more_work(play: Play, panel: str | None) -> None:
    async with play((100, 40)) as stage:
        await stage.begin()
        await stage.press("tab", "tab")
        if panel:
            stage.app.main.action_panel(panel)
        for name in NAMES:
            await stage.tell(prefilled(name, "The"))
        work = []
        for count in (100, 2, 2000, 2):
            for name in NAMES:
                for step in long_rounds(name, count):
                    stage.app.state.apply(step)
            work.append(calls_of(stage))
            await stage.pilot.pause()
        assert work[3] < 1.2 * work[1], work
        assert work[2] > 4 * work[1], "rounds are looked at once"


@pytest.mark.slow
async def test_a_refresh_in_a_long_session_is_no_more_work(play: Play) -> None:
    async with play((100, 40)) as stage:
        await stage.press("tab", "tab")
        work = []
        for run in range(1, 41):
            started = RunStarted(run, 0, f"{run}", 3, 42, NAMES, (1, run), at=float(run))
            await stage.tell(started)
            for name in NAMES:
                stage.app.state.apply(prefilled(name, "The"))
                for step in long_rounds(name, 20):
                    stage.app.state.apply(step)
            calls_of(stage)
            for name in NAMES:
                stage.app.state.apply(long_rounds(name, 1)[0])
            work.append(calls_of(stage))
            for name in NAMES:
                stage.app.state.apply(Finished(name, "stop", metrics=metrics()))
            stage.app.state.apply(RunFinished(run, False))
        assert work[-1] < 1.5 * work[1], (work[1], work[-1])
