"""`specchat run`: every lane answers every prompt, without a screen."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from app.cli import terminal
from app.config.settings import Settings
from app.engine.comparison import Baseline
from app.engine.lane import Lane
from app.engine.turn import answer_each, answer_seed
from app.models.loaded import LoadedModels, load_models
from app.report.document import envelope, lane_report, settings_report, unavailable_report
from app.text.errors import describe
from app.text.prompt_file import Message, Request
from app.text.terminal_text import one_line
from decoding.errors import InputError
from decoding.prefill import require_room


@dataclass(frozen=True, slots=True)
class RunResult:
    document: dict[str, Any]
    exit_code: int


def run(settings: Settings, requests: Sequence[Request], seed: int, trace: bool) -> RunResult:
    """Answer every request in every lane. Raises InputError before anything is generated; later
    failures of a lane go into the document. Ctrl+C keeps what is done, with exit code 130, and so
    do SIGTERM and SIGHUP, with theirs."""
    with progress() as say:
        models = load_models(
            settings.models,
            lambda what, part: say(f"loading {what}"),
            settings.lanes,
        )
        lanes = [Lane(spec, models) for spec in settings.lanes]
        available = [lane for lane in lanes if lane.available]
        if not available:
            raise InputError(f"no lane can run: {lanes[0].reason}")
        prompts = first_prompts(requests, models, settings.system, settings.raw)
        say("warming up")
        for lane in available:
            with suppress(Exception):  # a lane that breaks will say so when it answers
                lane.warm_up()
        runs: list[dict[str, Any]] = []
        code = 0
        ended: list[int] = []  # by these signals
        try:
            with _like_ctrl_c(ended):
                for index, (request, ids) in enumerate(zip(requests, prompts, strict=True)):
                    say(f"prompt {index + 1} of {len(requests)}")
                    for report in _answer(
                        settings, request, ids, lanes, models, seed, len(runs), trace
                    ):
                        runs.append(report)
                        if any(lane["finish_reason"] == "error" for lane in report["lanes"]):
                            code = 1
        except KeyboardInterrupt:
            code = 128 + (ended or [signal.SIGINT])[0]
    document = envelope(
        target=models.name,
        device=models.device,
        dtype=models.dtype,
        threads=models.threads,
        settings=settings_report(settings) | {"seed": seed},
        ignored=list(models.ignored),
        runs=runs,
    )
    return RunResult(document, code)


def _answer(
    settings: Settings,
    request: Request,
    first_ids: list[int],
    lanes: Sequence[Lane],
    models: LoadedModels,
    seed: int,
    first_index: int,
    trace: bool,
) -> Iterator[dict[str, Any]]:
    """Yield one report per turn. The next turn follows the first lane's answer that exists."""
    messages = _opening(request, settings.system)
    turns: Sequence[str | None] = request.turns or (None,)
    for turn, text in enumerate(turns):
        if text is not None:
            messages.append({"role": "user", "content": text})
        index = first_index + turn
        try:
            ids = first_ids if turn == 0 else models.encode(messages, settings.raw)
            reports = _run_lanes(settings, ids, lanes, models, seed, index, trace)
        except InputError as error:  # a template that takes no second turn
            ids = []
            fresh = [Lane(lane.spec, models) for lane in lanes]
            broken = {lane.spec.name: describe(error) for lane in fresh}
            reports = _reports(fresh, None, broken, trace)
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
        if answer is None:  # every lane broke: nothing to continue from
            return
        messages.append({"role": "assistant", "content": answer})


def _run_lanes(
    settings: Settings,
    ids: list[int],
    lanes: Sequence[Lane],
    models: LoadedModels,
    seed: int,
    index: int,
    trace: bool,
) -> list[dict[str, Any]]:
    stop = models.stop(settings.ignore_eos, settings.stop)
    able = [lane for lane in lanes if lane.available]
    errors = answer_each(able, ids, settings.params, answer_seed(seed, index), stop)
    base = next((lane for lane in lanes if lane.strategy.is_baseline), None)
    reference = None
    if base is not None and base.spec.name not in errors:
        reference = Baseline(base, ids, settings.params)
    return _reports(lanes, reference, errors, trace)


def _reports(
    lanes: Sequence[Lane], reference: Baseline | None, errors: Mapping[str, str], trace: bool
) -> list[dict[str, Any]]:
    return [
        lane_report(lane, reference, errors.get(lane.spec.name), trace)
        if lane.available
        else unavailable_report(lane.spec, lane.reason)
        for lane in lanes
    ]


def _opening(request: Request, system: str | None) -> list[Message]:
    """The messages before the request's first turn; its own system message wins."""
    history = list(request.history)
    if system and not (history and history[0]["role"] == "system"):
        history.insert(0, {"role": "system", "content": system})
    return history


def first_prompts(
    requests: Sequence[Request],
    models: LoadedModels,
    system: str | None = None,
    raw: bool = False,
) -> list[list[int]]:
    """The ids of each request's first prompt, all of them checked before the first is answered."""
    prompts = []
    for number, request in enumerate(requests):
        ids = list(request.input_ids)
        if not ids:
            user = {"role": "user", "content": request.turns[0]}
            ids = models.encode([*_opening(request, system), user], raw)
        name = f"prompt {number if request.id is None else request.id}"
        if not ids:
            raise InputError(f"{name} has no tokens: the tokenizer leaves nothing of it")
        require_room(models.context, name, len(ids))
        if max(ids) >= models.target.vocab_size:
            raise InputError(
                f"{name}: id {max(ids)} is beyond the model's {models.target.vocab_size} tokens"
            )
        prompts.append(ids)
    return prompts


@contextmanager
def _like_ctrl_c(ended: list[int]) -> Iterator[None]:
    """The signals that end a process come as KeyboardInterrupt; `ended` gets their numbers."""

    def interrupt(number: int, frame: object) -> None:
        ended.append(number)
        raise KeyboardInterrupt

    kinds = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {kind: signal.signal(kind, interrupt) for kind in kinds}
    try:
        yield
    finally:
        for kind, handler in before.items():
            signal.signal(kind, handler)


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """Show progress in one line on stderr that is overwritten; nothing if it is no terminal."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda text: None
        return

    def say(text: str) -> None:
        print("\r\x1b[K", end="", file=sys.stderr)
        terminal.say(one_line(text), end="")

    try:
        yield say
    finally:
        say("")
