"""`specchat run`: every lane answers every prompt, without a screen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from app.cli.interruption import interruptible
from app.cli.lane_checks import check_concurrency
from app.cli.lanes import backend, open_lanes
from app.cli.prompts import first_prompts, opening, question
from app.cli.terminal import progress
from app.config.presets import NO_WARPING
from app.config.settings import Settings
from app.engine.comparison import Baseline
from app.engine.lane_turn import AnyLane, Task
from app.engine.load_test import Load, answer_together
from app.engine.server_lane import ServerLane
from app.engine.turn import answer_each, answer_seed
from app.report.document import envelope, lane_report, settings_report, unavailable_report
from app.servers.protocol import Question
from app.text.prompt_file import Request
from decoding.errors import InputError, describe
from decoding.tokenizing.stopping import Stop

if TYPE_CHECKING:  # these import torch, which a run with only servers does not need
    from app.models.loaded import LoadedModels


@dataclass(frozen=True, slots=True)
class RunResult:
    document: dict[str, Any]
    exit_code: int


def run(
    settings: Settings, requests: Sequence[Request], trace: bool, concurrency: int = 1
) -> RunResult:
    """Answer every request in every lane; a server gets `concurrency` prompts at a time. Raises
    InputError before anything is generated; later failures of a lane go into the document. Ctrl+C
    keeps the finished answers, with exit code 130, and so do SIGTERM and SIGHUP, with theirs."""
    check_concurrency(settings, concurrency)
    if concurrency > 1 and any(len(request.turns) > 1 for request in requests):
        raise InputError("--concurrency sends each prompt by itself: leave out those of many turns")
    with progress() as say:
        lanes, models = open_lanes(settings.lanes, settings, say)
        available = [lane for lane in lanes if lane.available]
        if not available:
            raise InputError(f"no lane can run: {lanes[0].reason}")
        prompts = first_prompts(requests, models, settings.system, settings.raw)
        say("warming up")
        for lane in available:
            if not isinstance(lane, ServerLane):
                with suppress(Exception):  # a lane that breaks will say so when it answers
                    lane.warm_up()
        loads: dict[str, Load] = {}
        runs: list[dict[str, Any]] = []
        code = 0
        with interruptible() as interruption:
            if concurrency > 1:
                asked = _questions(settings, requests)
                for lane in available:
                    if isinstance(lane, ServerLane):
                        say(f"{len(asked)} prompts to {lane.spec.name}")
                        loads[lane.spec.name] = answer_together(lane, asked, concurrency)
            conversations = _Conversations(settings, lanes, models, trace, loads)
            for index, (request, ids) in enumerate(zip(requests, prompts, strict=True)):
                say(f"prompt {index + 1} of {len(requests)}")
                for report in conversations.answer(request, ids, len(runs)):
                    runs.append(report)
                    if any(lane["finish_reason"] == "error" for lane in report["lanes"]):
                        code = 1
    document = envelope(
        **backend(models, lanes),
        settings=settings_report(settings),
        ignored=[] if models is None else _ignored(models, settings),
        runs=runs,
        load=[load.document() for load in loads.values()],
    )
    return RunResult(document, interruption.code or code)


def _ignored(models: LoadedModels, settings: Settings) -> list[str]:
    """What the model's generation_config asks for and this run does not do."""
    penalized = settings.repetition_penalty != NO_WARPING["repetition_penalty"]
    return [name for name in models.ignored if name != "repetition_penalty" or not penalized]


def _questions(settings: Settings, requests: Sequence[Request]) -> list[Question]:
    """The first prompt of each request."""
    found = []
    for index, request in enumerate(requests):
        user = [{"role": "user", "content": text} for text in request.turns[:1]]
        messages = [*opening(request, settings.system), *user]
        found.append(question(settings, messages, answer_seed(settings.seed, index)))
    return found


@dataclass(frozen=True, slots=True)
class _Conversations:
    """Answers conversations with the `lanes`; `loads` has the answers that servers gave under
    load."""

    settings: Settings
    lanes: Sequence[AnyLane]
    models: LoadedModels | None
    trace: bool
    loads: Mapping[str, Load]

    def answer(
        self, request: Request, first_ids: list[int], first_index: int
    ) -> Iterator[dict[str, Any]]:
        """Yield one report per turn. The conversation continues from the first lane that has an
        answer."""
        settings, ids = self.settings, first_ids
        messages = opening(request, settings.system)
        turns: Sequence[str | None] = request.turns or (None,)
        for turn, text in enumerate(turns):
            if text is not None:
                messages.append({"role": "user", "content": text})
            index = first_index + turn
            try:
                if turn > 0 and self.models is not None:
                    ids = self.models.encode(messages, settings.raw)
                asked = question(settings, messages, answer_seed(settings.seed, index))
                reports = self._run_lanes(ids, asked, index)
            except InputError as error:  # a template that takes no second turn
                ids = []
                fresh = [lane.fresh_copy() for lane in self.lanes]
                broken = {lane.spec.name: describe(error) for lane in fresh}
                reports = self._reports(fresh, None, broken)
            yield {
                "index": index,
                "id": request.id,
                "category": request.category,
                "turn": turn,
                "prompt": text,
                "prompt_ids": ids,
                "lanes": reports,
            }
            answers = (r["text"] for r in reports if r["finish_reason"] in ("stop", "length"))
            answer = next(answers, None)
            if answer is None:  # every lane failed: nothing to continue from
                return
            messages.append({"role": "assistant", "content": answer})

    def _run_lanes(self, ids: list[int], asked: Question, index: int) -> list[dict[str, Any]]:
        settings, loads, models = self.settings, self.loads, self.models
        stop = models.stop(settings.ignore_eos, settings.stop) if models else Stop()
        able = [lane for lane in self.lanes if lane.available and lane.spec.name not in loads]
        errors = answer_each(able, Task(ids, asked, stop))
        errors |= {n: load.errors[index] for n, load in loads.items() if index in load.errors}
        lanes = [
            loads[lane.spec.name].answers[index] if lane.spec.name in loads else lane
            for lane in self.lanes
        ]
        local = (lane for lane in lanes if not isinstance(lane, ServerLane))
        base = next((lane for lane in local if lane.strategy.is_baseline), None)
        reference = None
        if base is not None and base.spec.name not in errors:
            reference = Baseline(base, ids, settings.params)
        return self._reports(lanes, reference, errors)

    def _reports(
        self, lanes: Sequence[AnyLane], reference: Baseline | None, errors: Mapping[str, str]
    ) -> list[dict[str, Any]]:
        return [
            lane_report(lane, reference, errors.get(lane.spec.name), self.trace)
            if lane.available
            else unavailable_report(lane.spec, lane.reason)
            for lane in lanes
        ]
