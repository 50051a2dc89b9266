"""`specchat bench`: compares lanes and peers in one process, interleaved."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from app.cli.bench_turns import BenchTurn, after_prefixes, all_turns, raise_all_failed
from app.cli.interruption import interruptible
from app.cli.lane_checks import require_batches
from app.cli.lanes import backend, open_lanes
from app.cli.terminal import progress
from app.config.overrides import Sweep
from app.config.settings import Settings
from app.engine.batches import costs_that_fit, mean_context
from app.engine.contest import (
    Contestant,
    answer_in_turn,
    lane_contestant,
    server_contestant,
    simulated_contestants,
)
from app.engine.kv_cache_cost import full_precision_references, kv_cache_cost
from app.engine.lane import Lane
from app.engine.lane_turn import AnyLane
from app.engine.load_test import answer_together
from app.engine.out_of_memory import free_lane_caches
from app.engine.peers import Peer, peer_contestants
from app.engine.server_lane import ServerLane
from app.models.loaded import LoadedModels
from app.report.answer import Answer
from app.report.batches import batches_document
from app.report.bench_document import Contest
from app.report.document import envelope, settings_report
from app.servers.protocol import Question
from app.strategies.lane_spec import LaneSpec
from app.text.prompt_file import Request
from decoding.cost.measure import reading_seconds
from decoding.errors import InputError
from decoding.model.target import Target
from decoding.params import with_settings
from decoding.tokenizing.stopping import Stop


def bench(
    settings: Settings,
    requests: Sequence[Request],
    specs: Sequence[LaneSpec],
    *,
    repeats: int,
    peers: Sequence[Peer],
    sweep: Sweep,
    concurrency: int,
    acceptances: Sequence[float],
    batches: Sequence[int],
    prefixes: Sequence[int],
) -> tuple[dict[str, Any], int]:
    """Measure the lanes `specs`, which are those of the `sweep`, `peers`, and drafters simulated
    with these `acceptances`; then servers with `concurrency` prompts at a time, and passes over
    `batches` of so many sequences. `prefixes`: lengths of a context to put before each prompt.
    Returns the JSON document (see `app.report.bench_document`) and the exit code; a contestant that
    fails while it is measured is named in its `failed` and leaves the others running. Ctrl+C,
    SIGTERM and SIGHUP keep the repeats that were done, as `run` the answers. Raises InputError, and
    SystemExit if there are none."""
    with progress() as say:
        lanes, models = open_lanes(specs, settings, say)
        able = [lane for lane in lanes if lane.available]
        if not able:
            raise InputError(f"no lane can run: {lanes[0].reason}")
        if batches:
            require_batches([lane.spec for lane in able], acceptances)
        failed: dict[str, str] = {}
        turns, left_out = all_turns(settings, requests, able, models, say, failed)
        if prefixes and models is not None:
            turns = after_prefixes(turns, prefixes, models.context)
        prompts = [turn.ids for turn in turns]
        asked = [turn.question for turn in turns]
        references = full_precision_references(able, models)
        able += [reference for _, reference in references]
        contestants = _lanes(settings, able, models, asked)
        if models is not None:
            contestants |= _others(settings, models, peers, acceptances, prompts)
        contest = _contest(settings, able, contestants, peers, turns)
        whole = [reference.spec.name for _, reference in references]
        drafting = contest.able_to_draft([name for name in contestants if name not in whole])
        in_batches, loads = None, list[dict[str, Any]]()
        with interruptible() as interruption:
            _answer_all(contest, contestants, prompts, repeats, say, failed, able)
            contest = contest.without(failed)
            drafting = [name for name in drafting if name not in failed]
            if models is not None and batches:
                in_batches = _batches(models, contest, drafting, prompts, batches, say)
            if concurrency > 1:
                servers = [lane for lane in able if isinstance(lane, ServerLane)]
                for lane in (lane for lane in servers if lane.spec.name not in failed):
                    say(f"{concurrency} prompts at a time to {lane.spec.name}")
                    loads.append(answer_together(lane, asked * repeats, concurrency).document())
        if not contest.answers:
            raise SystemExit(interruption.code)
        contest = contest.without(failed)  # also of those that failed in the last repeat
        references = [
            pair for pair in references if not failed.keys() & {each.spec.name for each in pair}
        ]
    document = envelope(
        **backend(models, lanes),
        settings=settings_report(settings),
        sweep=sweep,
        prompts=len(prompts),
        unavailable={lane.spec.name: lane.reason for lane in lanes if lane.reason is not None},
        failed=failed,
        turns_left_out=left_out,
        prefixes=list(prefixes),
        repeats=len(contest.answers),
        batch_size=1,
        contestants=contest.rows(),
        weights=None if models is None else _reading(models.target),
        batches=in_batches,
        load=loads,
        kv_cache_cost=kv_cache_cost(references, contest.answers[-1]) if references else None,
    )
    return document, interruption.code or int(bool(failed))


def _lanes(
    settings: Settings,
    lanes: Sequence[AnyLane],
    models: LoadedModels | None,
    asked: Sequence[Question],
) -> dict[str, Contestant]:
    stop = models.stop(settings.ignore_eos, settings.stop) if models else Stop()
    return {
        lane.spec.name: server_contestant(lane, asked)
        if isinstance(lane, ServerLane)
        else lane_contestant(lane, lane.spec, settings.params, settings.seed, stop)
        for lane in lanes
    }


def _others(
    settings: Settings,
    models: LoadedModels,
    peers: Sequence[Peer],
    acceptances: Sequence[float],
    prompts: Sequence[Sequence[int]],
) -> dict[str, Contestant]:
    """Those that are no lanes: `peers`, and drafters simulated with these `acceptances`."""
    stop = models.stop(settings.ignore_eos, settings.stop)
    return {
        **peer_contestants(settings, models, peers),
        **simulated_contestants(models, settings.params, stop, acceptances, prompts),
    }


def _contest(
    settings: Settings,
    lanes: Sequence[AnyLane],
    contestants: Iterable[str],
    peers: Sequence[Peer],
    turns: Sequence[BenchTurn],
) -> Contest:
    """What is compared, before anything was answered."""
    specs = {lane.spec.name: lane.spec for lane in lanes}
    own = {name: specs[name].overrides if name in specs else {} for name in contestants}
    return Contest(
        {name: with_settings(settings.params, values) for name, values in own.items()},
        specs,
        peers,
        [turn.category for turn in turns],
    )


def _answer_all(
    contest: Contest,
    contestants: Mapping[str, Contestant],
    prompts: Sequence[Sequence[int]],
    repeats: int,
    say: Callable[[str], None],
    failed: dict[str, str],
    lanes: Sequence[AnyLane],
) -> None:
    """Add the answers of all `repeats` to `contest`, after one that is not timed. Those that are
    in `failed` are not asked; why others fail is added to it, and their caches are freed if they
    are `lanes` here. Raises InputError if all did."""

    def free(name: str) -> None:
        for lane in lanes:
            if lane.spec.name == name and isinstance(lane, Lane):
                free_lane_caches(lane)

    answer_in_turn(contestants, prompts[0], 0, 0, failed=failed, free=free)  # untimed
    if len(failed) == len(contestants):
        raise_all_failed(failed)
    for repeat in range(repeats):
        answers: dict[str, list[Answer]] = {name: [] for name in contestants}
        for index, ids in enumerate(prompts):
            say(f"repeat {repeat + 1} of {repeats}, prompt {index + 1} of {len(prompts)}")
            turn = repeat + index
            answered = answer_in_turn(contestants, ids, index, turn, failed=failed, free=free)
            for name, answer in answered.items():
                answers[name].append(answer)
        contest.answers.append(answers)


def _batches(
    models: LoadedModels,
    contest: Contest,
    among: Sequence[str],
    prompts: Sequence[Sequence[int]],
    sizes: Sequence[int],
    say: Callable[[str], None],
) -> dict[str, Any] | None:
    """The throughput of those `among` the contestants that drafted, in batches of these sizes; None
    if none has."""
    drafting = contest.drafting(among)
    if not drafting:
        return None
    timed = {each.name for each in drafting} | {each.baseline for each in drafting}
    context = mean_context(prompts, [a for name in timed for a in contest.answers[-1][name]])
    nodes = max(each.own.nodes for each in drafting)
    costs = costs_that_fit(models, sizes, nodes, context, say)
    return batches_document(drafting, costs, sizes, context)


def _reading(target: Target) -> dict[str, Any] | None:
    """The lower bound of a pass: the time to read its weights once."""
    nbytes = target.bytes_per_pass
    if nbytes is None:
        return None
    return {"bytes": nbytes, "seconds": reading_seconds(nbytes, target.device)}
