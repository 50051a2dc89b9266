"""The state of the screen, from the engine's events and the user's actions, without widgets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from app.config.model_options import ModelOptions
from app.engine.commands import ComputeProbabilities, ResumeAnswer
from app.engine.events import (
    EngineExited,
    Event,
    Finished,
    LaneInfo,
    LanesChanged,
    Loaded,
    LoadFailed,
    Loading,
    Memory,
    Prefilled,
    ProbabilitiesComputed,
    RoundFinished,
    RunContinued,
    RunFinished,
    RunRejected,
    RunStarted,
    Schedule,
)
from app.history.replay import ReplayEngine
from app.text.token_event import TokenEvent
from app.tui.state.lane_state import PHASE_AT_END, LaneState, Phase
from app.tui.state.session_runs import PromptKey, SessionRuns
from decoding.params import Params


class EngineState(StrEnum):
    """Whether the decoding process has models; if it has lost them, whether there is anything to
    show without them."""

    LOADING = "loading"
    READY = "ready"
    FAILED = "failed"  # nothing could be loaded
    ENDED = "ended"  # there are lanes, or answers


@dataclass(slots=True)
class AppState:
    params: Params
    schedule: Schedule = "race"
    seed: int | None = None  # of the last run
    next_seed: int | None = None  # of the next run, if another was chosen
    redrawn: bool = False  # the last answers are others than the first to their question
    lanes: dict[str, LaneState] = field(default_factory=dict)
    loading: Loading | None = None
    loading_seconds: float = 0.0  # so far
    download: str = ""  # progress of a download in the background
    loaded: Loaded | None = None
    asked_for: ModelOptions = field(default_factory=ModelOptions)
    models: ModelOptions = field(default_factory=ModelOptions)  # of these the loaded ones
    memory: Memory | None = None  # when it was looked at last: after loading, after a run
    engine_state: EngineState = EngineState.LOADING
    why_gone: str = ""  # why there are no models, and none are being loaded
    running: bool = False
    silent: bool = False  # the engine has work, but has emitted nothing for long
    opening: bool = False  # an earlier conversation is read, or waits for the models
    run_paused: bool = False  # between two rounds, by the user
    turns: int = 0  # answered or being answered in this conversation
    leader: str | None = None
    started: RunStarted | None = None  # the last run
    foreign: bool = False  # the last answers are another model's
    runs: SessionRuns = field(default_factory=SessionRuns)  # on these models
    busy_lane: str | None = None  # the lane that the last event came from
    example: str = ""  # an example prompt for a newcomer, until the first prompt
    tour_offered: bool = False
    has_kept: bool = False  # conversations of earlier sessions
    # prompts that wait for the models, or for the running answer
    queued: list[str] = field(default_factory=list)
    sent: str = ""  # a prompt that the engine has not begun to answer
    differing: set[int] = field(default_factory=set)  # turns whose lanes did not all say the same
    replay: bool = False  # a recording is shown, instead of a live session
    player: ReplayEngine | None = None  # of the recording, or of the last run in slow motion
    keys: Mapping[str, str] = field(default_factory=dict)  # labels of keys by binding id
    notice: str = ""
    notice_seconds: float | None = None  # how much longer it stays; None: until the next one

    @property
    def context_share(self) -> float:
        """How much of the context the conversation fills, in the lane that fills most."""
        known = self.turns and not self.foreign  # else its tokens are counted by another model
        if self.loaded is None or self.started is None or not known:
            return 0.0
        answers = (lane.metrics.tokens for lane in self.lanes.values() if lane.metrics)
        return (self.started.prompt_tokens + max(answers, default=0)) / self.loaded.context

    def show_notice(self, text: str, seconds: float | None = 6.0) -> None:
        self.notice, self.notice_seconds = text, seconds

    def clear_notice(self) -> None:
        """Clear the notice because another action follows, unless it has no time limit."""
        if self.notice_seconds is not None:
            self.notice = ""

    def let_time_pass(self, seconds: float) -> bool:
        """Count down the notice, and up while models are loaded; returns whether that is seen."""
        before, loads = int(self.loading_seconds), self.engine_state is EngineState.LOADING
        self.loading_seconds = self.loading_seconds + seconds if loads else 0.0
        return self._notice_ends(seconds) or (loads and int(self.loading_seconds) != before)

    def _notice_ends(self, seconds: float) -> bool:
        if not self.notice or self.notice_seconds is None:
            return False
        self.notice_seconds -= seconds
        if self.notice_seconds > 0:
            return False
        self.notice = ""
        return True

    def set_lanes(self, infos: tuple[LaneInfo, ...]) -> None:
        """Known lanes keep their answers, and whether they are switched on."""
        known = self.lanes
        self.lanes = {
            info.name: known.get(info.name) or LaneState(info, info.enabled) for info in infos
        }
        for info in infos:
            self.lanes[info.name].info, self.lanes[info.name].tree = info, info.tree
        self.choose_leader()

    def change_lanes(self, infos: tuple[LaneInfo, ...]) -> None:
        """Lanes that stay keep their whole state, and what the user has chosen since."""
        known = self.lanes
        self.lanes = {
            info.name: known.get(info.name) or LaneState(info, info.enabled, info.tree)
            for info in infos
        }
        self.busy_lane = self.busy_lane if self.busy_lane in self.lanes else None
        self.choose_leader()

    def choose_leader(self) -> None:
        """The leader stays while it takes part; else the first lane that does."""
        if self.leader is None or self.leader not in self.lanes or not self.lead.active:
            active = (name for name, lane in self.lanes.items() if lane.active)
            self.leader = next(active, None)

    @property
    def goes_on_from(self) -> str | None:
        """The lane whose answer the next turn continues: the leader, or the first lane with an
        answer if the leader has none."""
        if self.leader is None or self.lead.phase is Phase.WAITING:
            return self.leader
        names = [self.leader, *self.lanes]
        return next((name for name in names if self.lanes[name].first), self.leader)

    @property
    def answers_differ(self) -> bool:
        """Whether the answers of the last turn differ; known once all lanes are done."""
        return self.turns - 1 in self.differing

    @property
    def prompt(self) -> PromptKey:
        """The prompt of the last run."""
        return (self.started.prompt_ids or self.started.prompt) if self.started else ""

    @property
    def played_again(self) -> bool:
        """Whether incoming events are repetitions."""
        return self.opening or self.replay or self.slow_motion

    @property
    def slow_motion(self) -> bool:
        """Whether the last run is played again in slow motion."""
        return self.player is not None and not self.replay

    @property
    def replay_over(self) -> bool:
        """Whether the recording has been played to its end."""
        return self.replay and self.player is not None and self.player.over

    @property
    def paused(self) -> bool:
        """Whether the rounds that are shown have been paused: of the run, or of the player."""
        return self.player.paused if self.player else self.run_paused

    @property
    def typical(self) -> bool:
        """Whether typical acceptance is chosen and a lane that is on offers it."""
        return self.params.acceptance == "typical" and any(
            lane.active and lane.strategy.typical for lane in self.lanes.values()
        )

    @property
    def lead(self) -> LaneState:
        assert self.leader is not None
        return self.lanes[self.leader]

    def moving(self, lane: LaneState) -> bool:
        """True while rounds are streaming in; browsing older rounds is disabled then."""
        return lane.phase is Phase.RUNNING and not self.paused

    def look(self, name: str, steps: int) -> str | None:
        """Go back or forward through a lane's rounds; returns why that is not possible, if so."""
        lane = self.lanes[name]
        last = len(lane.round_events) - 1
        if self.moving(lane):
            pause, back = self.keys["run.pause"], self.keys["view.round_back"]
            return f"The newest round is shown: {pause} pauses, then {back} goes back"
        if last < 0:
            return "This lane has no round yet"
        index = (last if lane.round_index is None else lane.round_index) + steps
        if not 0 <= index <= last:
            return "This is the first round" if steps < 0 else "This is the newest round"
        lane.round_index = None if index == last else index
        return None

    @property
    def servers_only(self) -> bool:
        """Whether no model is loaded locally."""
        return bool(self.lanes) and all(lane.strategy.remote for lane in self.lanes.values())

    @property
    def chosen_seed(self) -> int | None:
        """The seed of the next run."""
        return self.seed if self.next_seed is None else self.next_seed

    @property
    def busy(self) -> str | None:
        """Why nothing new can be started now, None if it can."""
        if self.opening:
            return "Still opening a conversation"
        stop = "run.copy_or_stop" if self.queued else "run.stop"  # which takes a question back
        return f"Still answering: {self.keys[stop]} stops it" if self.running else None

    @property
    def waits_for_engine(self) -> bool:
        """Whether events of the engine are due soon; servers may take longer."""
        asked = any(lane.going and lane.strategy.remote for lane in self.lanes.values())
        return bool(self.loading or (self.running and not self.paused)) and not asked

    @property
    def expects_events(self) -> bool:
        """Whether anything is going on that changes the screen by itself."""
        plays = self.player is not None and not (self.player.paused or self.replay_over)
        loads = self.engine_state is EngineState.LOADING or self.loading is not None
        computes = not self.gone and any(lane.computing for lane in self.lanes.values())
        return bool(loads or self.running or self.opening or self.queued or plays or computes)

    def look_at(self, name: str, token: TokenEvent | None) -> None:
        """Set the lane's cursor to `token`, and show its round unless rounds are streaming in. The
        first token is the root of the first round."""
        lane = self.lanes[name]
        lane.cursor = token
        if token is not None and lane.round_events and not self.moving(lane):
            index = max(token.round, 0)
            newest = index >= len(lane.round_events) - 1
            lane.round_index = None if newest else index

    def place(self, name: str) -> int | None:
        """Return the rank of a finished lane by its own decoding time, from 0; once all are done,
        by speedup, which is of the time in which both ran. None if it is not finished, if a running
        lane may still be faster, for lanes with another model, if no lane had more to do than to
        read the prompt, and where tokens are drawn: who is done first may only have said less."""
        racing = (Phase.WAITING, Phase.RUNNING, Phase.DONE)
        lanes = [
            lane for lane in self.lanes.values() if lane.phase in racing and lane.strategy.on_target
        ]
        lane = self.lanes[name]
        done = lane in lanes and lane.phase is Phase.DONE and lane.metrics is not None
        raced = len(lanes) > 1 and any(each.decode_seconds for each in lanes)
        if not (done and raced) or any(each.sampled for each in lanes):
            return None
        if all(each.phase is Phase.DONE and each.speedup for each in lanes):
            order = sorted(lanes, key=lambda each: (-(each.speedup or 0.0), each.decode_seconds))
            return order.index(lane)
        before = [each for each in lanes if each.decode_seconds < lane.decode_seconds]
        together = self.slow_motion  # there all lanes have the same clock
        certain = together or all(each.phase is Phase.DONE for each in before)
        return sum(each.phase is Phase.DONE for each in before) if certain else None

    @property
    def can_compute(self) -> bool:
        """Whether the loaded models can compute on the last prompt and its answers."""
        there = not (self.not_ready or self.foreign or self.replay)
        return there and bool(self.started and self.started.prompt_ids)

    @property
    def stopped(self) -> tuple[str, ...]:
        """The lanes of which the last answers were stopped and can go on. A server's can't."""
        if not self.can_compute or self.busy:
            return ()
        return tuple(
            name
            for name, lane in self.lanes.items()
            if lane.phase is Phase.STOPPED
            and lane.active
            and not (lane.strategy.remote and lane.first)
        )

    def to_resume(self) -> ResumeAnswer:
        """Return the request to go on with the answers that were stopped."""
        assert self.started is not None
        answers = {
            name: lane.answer_so_far(lane.first)
            for name, lane in self.lanes.items()
            if lane.first
            and not lane.strategy.remote
            and (name in self.stopped or lane.phase is Phase.DONE)
        }
        return ResumeAnswer(self.started.prompt_ids, self.stopped, answers, self.started.seed)

    def missing_probabilities(self) -> list[ComputeProbabilities]:
        """Return the requests for probabilities that the last answers lack, without those already
        sent."""
        if not (self.can_compute and self.started) or self.busy or self.slow_motion:
            return []
        asked = []
        for name, lane in self.lanes.items():
            known = lane.computing or lane.no_probabilities or not lane.lacks_probabilities
            if lane.first and not known:
                params = [event.params or Params() for event in lane.round_events]
                # Where they were not recorded, most likely those of the first round.
                first_params = lane.first.params or next(iter(params), Params())
                asked.append(
                    ComputeProbabilities(
                        name,
                        self.started.run,
                        self.started.prompt_ids,
                        lane.first.first.id,
                        first_params,
                        tuple(lane.rounds),
                        tuple(params),
                    )
                )
        return asked

    @property
    def schedule_of_run(self) -> Schedule:
        """That of the last run; it may have been changed since."""
        return self.started.schedule if self.started else self.schedule

    def label(self, name: str) -> str:
        """Return a lane's name in sentences: its number and title."""
        number = list(self.lanes).index(name) + 1
        return f"{number} {self.lanes[name].info.title}"

    def apply(self, event: Event) -> None:
        match event:
            case Prefilled(lane=name) | RoundFinished(lane=name) | Finished(lane=name) if (
                name not in self.lanes
            ):
                pass  # late events of a lane that was removed
            case Loading():
                self.loading = event
            case Loaded():
                self.loading, self.loaded, self.memory = None, event, event.memory
                self.engine_state, self.why_gone = EngineState.READY, ""
                self.models = self.models if event.restored else self.asked_for
                self.runs.all = ()
                self.set_lanes(event.lanes)
                for lane in self.lanes.values():
                    lane.computing = False  # whoever was asked is gone
            case LoadFailed(kept=True):
                self.asked_for = self.models
                there = self.loaded.target if self.loaded else "what was there"
                self.show_notice(f"{there} is loaded again: {event.message}", None)
            case LoadFailed():
                self._without_models(event.message)
            case LanesChanged():
                self.loading, self.memory = None, event.memory or self.memory
                self.loaded = event.after(self.loaded) if self.loaded else None
                self.change_lanes(event.lanes)
            case RunStarted():
                self.running, self.busy_lane, self.notice, self.sent = True, None, "", ""
                self.turns, self.seed = event.turn + 1, event.seed
                self.redrawn = event.replaces is not None
                self.differing.discard(event.turn)
                self.started, self.example = event, ""
                if not self.slow_motion:  # there it is a run that was
                    self.foreign, self.next_seed = False, None
                for name, lane in self.lanes.items():
                    if name in event.lanes:
                        # in slow motion it is still the run that it was
                        at = lane.begun_at if self.slow_motion else event.at
                        lane.begin(at, event.schedule)
                        lane.recorded_overrides = event.overrides.get(name, {})
                    else:
                        lane.phase = Phase.IDLE
                        lane.clear_metrics()
            case RunContinued():
                self.running, self.busy_lane, self.notice = True, None, ""
                self.differing.discard(self.turns - 1)
                for name, lane in self.lanes.items():
                    if not self.played_again:
                        self.runs.drop_last(lane)
                    lane.computing = False  # whoever was asked does something else now
                    if name in event.lanes:
                        lane.phase = Phase.RUNNING if lane.first else Phase.WAITING
                        lane.finished = None
            case Prefilled():
                lane = self._lane_runs(event.lane)
                lane.first, lane.ttft_seconds = event, event.ttft_seconds
                lane.texts.update({event.first.id: event.first.text, **event.texts})
            case RoundFinished():
                self._lane_runs(event.lane).add(event)
            case Finished():
                lane = self.lanes[event.lane]
                lane.phase, lane.finished = PHASE_AT_END[event.reason], event
                lane.metrics = event.metrics or lane.metrics
                lane.texts = {**event.texts, **lane.texts}  # recorded ones are better
                self.look_at(event.lane, lane.cursor)
            case RunFinished():
                if self.notice == self.busy:
                    self.notice = ""
                self.running = self.run_paused = False
                if not self.played_again:
                    for lane in self.lanes.values():
                        self.runs.add(lane, self.prompt)
                if self.started and len({e.answer for e in self.lanes.values() if e.first}) > 1:
                    self.differing.add(self.started.turn)
                self.memory = event.memory or self.memory
                self.busy_lane = None
            case ProbabilitiesComputed(lane=name):
                answered = self.lanes.get(name)
                if answered and self.started and event.run == self.started.run:
                    answered.add_probabilities(event)
                    self.runs.add_probabilities(answered)
            case RunRejected():
                self.running, self.run_paused, self.sent = False, False, ""
                self.busy_lane = None
                for lane in self.lanes.values():
                    if lane.phase in (Phase.WAITING, Phase.RUNNING):
                        lane.phase = Phase.IDLE
                if not self.gone:  # that says more
                    key = f" ({self.keys['run.new']})" if event.suggests_new_conversation else ""
                    self.show_notice(event.message + key, None)
            case EngineExited():
                self.running = self.run_paused = False
                self.busy_lane, self.notice = None, ""
                self._without_models(event.message)

    def _without_models(self, why: str) -> None:
        shown = self.loaded or self.turns
        self.engine_state = EngineState.ENDED if shown else EngineState.FAILED
        self.loading, self.why_gone = None, why

    def forget_models(self) -> None:
        """Forget the models, because others are being loaded."""
        self.engine_state = EngineState.LOADING
        self.loaded = self.loading = None
        self.why_gone = self.notice = ""

    @property
    def gone(self) -> bool:
        """Whether there are no models, and none are being loaded."""
        return self.engine_state in (EngineState.FAILED, EngineState.ENDED)

    @property
    def not_ready(self) -> str | None:
        """Why the models can't be asked for anything, None if they can."""
        if self.engine_state is EngineState.LOADING:
            return "Still loading"
        return self.why_gone if self.gone else None

    def _lane_runs(self, name: str) -> LaneState:
        self.busy_lane = name
        self.lanes[name].phase = Phase.RUNNING
        return self.lanes[name]

    def forget_conversation(self) -> None:
        self.turns, self.started = 0, None
        self.differing.clear()
        for lane in self.lanes.values():
            lane.phase = Phase.IDLE
            lane.clear_metrics()
