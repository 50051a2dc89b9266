"""`specchat rejections`: the drafts that the target rejects, over the prompts of a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from app.cli.interruption import interruptible
from app.cli.lane_checks import nothing_drafts
from app.cli.prompts import first_prompts
from app.cli.terminal import progress
from app.config.settings import Settings
from app.engine.lane import Lane
from app.engine.out_of_memory import free_lane_caches
from app.engine.turn import answer_seed
from app.models.load_models import load_models
from app.report.document import envelope, settings_report
from app.report.rejections import levels_of, rejections
from app.report.rejections_document import Drafted, lane_document
from app.strategies.lane_spec import LaneSpec
from app.text.prompt_file import Request
from decoding.errors import describe
from decoding.tokenizing.stopping import Stop


def find_rejections(
    settings: Settings,
    requests: Sequence[Request],
    specs: Sequence[LaneSpec],
    left_out: Mapping[str, str],
) -> tuple[dict[str, Any], int]:
    """Answer the first prompt of every request in each lane of `specs` that drafts; those
    `left_out` are named with their reasons. Returns the JSON document and the exit code, 1 if a
    lane failed. Ctrl+C, SIGTERM and SIGHUP keep what was answered, as in
    `run`. Raises InputError."""
    with progress() as say:
        models = load_models(settings.models, lambda what, part: say(f"loading {what}"), specs)
        missing = {**models.why_missing(specs), **left_out}
        made = [Lane(spec, models) for spec in specs]
        lanes = [lane for lane in made if lane.available and lane.strategy.drafts]
        if not lanes:
            raise nothing_drafts(missing)
        prompts = first_prompts(requests, models, settings.system, settings.raw)
        stop = models.stop(settings.ignore_eos, settings.stop)
        found = [Drafted(lane.spec, lane.info(True).claimed) for lane in lanes]
        with interruptible() as interruption:
            _answer_all(lanes, found, prompts, settings, stop, say)
    document = envelope(
        **models.facts,
        settings=settings_report(settings),
        prompts=len(prompts),
        first_turns_only=any(len(request.turns) > 1 for request in requests),
        unavailable=missing,
        lanes=[lane_document(drafted) for drafted in found],
    )
    return document, interruption.code or int(any(drafted.error for drafted in found))


def _answer_all(
    lanes: Sequence[Lane],
    found: Sequence[Drafted],
    prompts: Sequence[Sequence[int]],
    settings: Settings,
    stop: Stop,
    say: Callable[[str], None],
) -> None:
    """Add the answers of each lane to what was `found` there."""
    for index, ids in enumerate(prompts):
        say(f"prompt {index + 1} of {len(prompts)}")
        for lane, drafted in zip(lanes, found, strict=True):
            if drafted.error is None:
                try:
                    _answer(lane, drafted, index, ids, settings, stop)
                except Exception as error:  # the other lanes go on
                    drafted.error = describe(error)
                if drafted.error is not None:  # only now, as the error's traceback holds tensors
                    free_lane_caches(lane)


def _answer(
    lane: Lane, drafted: Drafted, index: int, ids: Sequence[int], settings: Settings, stop: Stop
) -> None:
    lane.record_probabilities(True)
    first = lane.start(ids, settings.params, answer_seed(settings.seed, index), stop)
    steps, texts = [], dict[int, str]()
    while not lane.finished:
        record = lane.step(settings.params)
        texts |= lane.token_texts({*record.tokens, *record.emitted})
        steps.append((record, lane.events(record)))
    drafted.answered += 1
    drafted.reject(index, rejections(levels_of(steps, first.text)), texts)
    # probabilities of many answers would not fit into memory
    drafted.levels += levels_of(
        ((record.without_probabilities(), tokens) for record, tokens in steps), first.text
    )
