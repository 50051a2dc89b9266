"""The engine in this process: lanes on one daemon thread, commands in, events out."""

from __future__ import annotations

import threading

from app.config.model_options import ModelOptions
from app.engine import commands
from app.engine.commands import Command, Turn
from app.engine.events import Event, RunRejected
from app.engine.mailbox import Mailbox
from app.engine.session_config import SessionConfig
from app.engine.worker import Worker
from app.strategies.lane_spec import LaneSpec


class Session:
    """Implements `Engine`. Nothing here blocks the caller: commands go into the mailbox for the
    thread, and `drain` reads its events."""

    def __init__(
        self,
        options: ModelOptions,
        specs: tuple[LaneSpec, ...],
        config: SessionConfig,
        *,
        first_run: int = 0,
    ) -> None:
        self._mailbox = Mailbox(commands.OpenModels(options, specs), config)
        self._worker = Worker(self._mailbox, config)
        self._runs = first_run  # number of the next run

    def open(self) -> None:
        threading.Thread(target=self._worker.run, name="specchat-decode", daemon=True).start()

    def drain(self) -> list[Event]:
        return self._mailbox.drain()

    def wait(self) -> None:
        """Block until there are events."""
        self._mailbox.wait_for_events()

    def send(self, command: Command) -> None:
        mailbox = self._mailbox
        with mailbox.wake:
            match command:
                case commands.Run(prompt):
                    mailbox.begin_turn(Turn(prompt, self._runs))
                    self._runs += 1
                case commands.RunAgain(redraw):
                    next_one = mailbox.next_conversation
                    if turns := self._worker.conversation.turns if next_one is None else next_one:
                        last = turns[-1]
                        again = Turn(last.prompt, last.run, replaces=last.replaces)
                        if redraw:
                            again = Turn(last.prompt, self._runs, replaces=last.run)
                            self._runs += 1
                        mailbox.begin_turn(again)
                case commands.ResumeAnswer():
                    mailbox.begin_turn(command)
                case commands.Stop():
                    mailbox.stopping = True
                    if turn := mailbox.next_turn:  # it never began; the caller waits for an answer
                        mailbox.emit(RunRejected(turn.prompt, "stopped before it began"))
                        mailbox.next_turn = None
                case commands.Pause(paused):
                    mailbox.paused = paused
                    mailbox.steps.clear()
                case commands.StepRound(lane):
                    mailbox.steps.append(lane)
                case commands.OpenConversation(turns, seed):
                    mailbox.open_conversation(turns, seed)
                    # run numbers are unique, whichever conversation follows
                    self._runs = max([self._runs, *(turn.run + 1 for turn in turns)])
                case commands.OpenModels():
                    mailbox.models = command
                    mailbox.open_conversation()
                case commands.SetParams(params):
                    mailbox.params = params
                case commands.SetSeed(seed):
                    mailbox.seed = seed
                case commands.SetEnabled(lane, enabled):
                    change = mailbox.switched_off.discard if enabled else mailbox.switched_off.add
                    change(lane)
                    mailbox.lanes_changed = True
                case commands.SetSchedule(schedule):
                    mailbox.schedule = schedule
                case commands.SetLeader(lane):
                    mailbox.leader = lane
                case commands.SetTree(lane, tree):
                    mailbox.trees[lane] = tree
                case commands.RecordProbabilities(lanes):
                    mailbox.recorded_lanes = lanes
                case commands.ComputeProbabilities():
                    mailbox.probabilities.append(command)
                case commands.StartSamplingTest():
                    mailbox.sampling_test = command
                case commands.StopSamplingTest():
                    mailbox.sampling_test = None
                case commands.StartAdvice():
                    mailbox.advice, mailbox.advice_ends = command, False
                case commands.EndAdvice():
                    mailbox.advice_ends = True
                case commands.StopAdvice():
                    mailbox.advice = None
                case _:  # a change of lanes
                    mailbox.lane_changes.append(command)
                    mailbox.lanes_changed = True
            mailbox.wake.notify()

    def close(self) -> None:
        with self._mailbox.wake:
            self._mailbox.closed = self._mailbox.stopping = True
            self._mailbox.wake.notify()
