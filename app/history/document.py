"""A recorded conversation as JSON: the document of `specchat run --json --trace`, extended by what
a replay needs. `app.history.parse_document` reads it again.

`replay` has the `name`, the time it was `created`, the `lanes`, `weights` and `memory` in bytes,
`pass_costs` (tokens and seconds of target passes) and `texts` (the text of each token id). A run
has its `seed`, `schedule`, `leader` (the lane that the conversation continues from), `memory`, and
`settings` (all that its rounds used). A lane has its `first` token and its `finishes`; its
`finish_reason` may also be "stopped". A round has `start_seconds`, `settings` (an index into the
run's), its `tree`, `shown` (id, text, fate and node of each token), and all fields of
`decoding.round.Round` that are not defaults.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from pydantic import TypeAdapter

from app.engine.events import PIECE, Finished, Prefilled, RoundFinished
from app.history.recording import LaneRecord, RecordedTurn, Recording
from app.report.document import (
    LaneResult,
    Reference,
    envelope,
    lane_report,
    round_report,
    unavailable_report,
)
from decoding.params import Params, flat
from decoding.round import Round, TokenProbs

REPLAY_VERSION = 1
_ROUND = TypeAdapter(Round)
_PROBS = TypeAdapter(TokenProbs)
_FINISHED = TypeAdapter(Finished)


def conversation_document(recording: Recording) -> dict[str, Any]:
    """Export a recording as a JSON document."""
    loaded = recording.loaded
    assert loaded is not None
    return envelope(
        target=loaded.target,
        device=loaded.device,
        dtype=loaded.dtype,
        threads=loaded.threads,
        settings=recording.settings | {"seed": recording.seed},
        ignored=list(loaded.ignored),
        runs=[_run(index, turn, recording) for index, turn in enumerate(recording.turns)],
        replay={
            "replay_version": REPLAY_VERSION,
            "name": recording.name,
            "created": recording.created,
            "context": loaded.context,
            "weights": dict(loaded.weights),
            "memory": None if loaded.memory is None else asdict(loaded.memory),
            "pass_costs": [list(point) for point in loaded.pass_costs],
            "lanes": [asdict(info) for info in recording.lanes],
            "texts": {str(token): text for token, text in sorted(_texts(recording).items())},
        },
    )


def _texts(recording: Recording) -> dict[int, str]:
    """Token texts by id. Texts of single tokens are preferred to what a token added to an
    answer."""
    lanes = [lane for turn in recording.turns for lane in turn.lanes.values()]
    steps = [step for lane in lanes for step in lane.steps]
    shown = [token for step in steps for token in step.tokens]
    texts = {token.id: token.text for token in shown if token.text and token.id != PIECE}
    for event in [each for lane in lanes for each in lane.finishes]:
        texts.update(event.texts)
    for lane in lanes:
        texts.update(lane.prefilled.texts if lane.prefilled else {})
    for step in steps:
        texts.update(step.texts)
    return texts


def _run(index: int, turn: RecordedTurn, recording: Recording) -> dict[str, Any]:
    started = turn.started
    settings: list[dict[str, Any]] = []
    reference = _Recorded(turn)
    lanes = [_lane(lane, turn, reference, settings) for lane in turn.lanes.values()]
    for info in recording.loaded.lanes if recording.loaded else ():
        if not info.available and info.name not in turn.lanes:
            lanes.append(unavailable_report(info.spec, info.reason))
    return {
        "index": index,
        "id": None,
        "category": None,
        "turn": index,
        "prompt": started.prompt,
        "prompt_ids": list(started.prompt_ids),
        "lanes": lanes,
        "run": started.run,
        "seed": started.seed,
        "schedule": started.schedule,
        "leader": started.leader,
        "stopped": turn.stopped,
        "end_seconds": _since(turn, turn.ended.at) if turn.ended else None,
        "memory": asdict(turn.ended.memory) if turn.ended and turn.ended.memory else None,
        "settings": settings,
    }


class _Recorded:
    """The recorded comparison; implements `app.report.document.Reference`."""

    def __init__(self, turn: RecordedTurn) -> None:
        self._ends = {name: lane.end for name, lane in turn.lanes.items()}
        self._speedups = {
            event.lane: event.metrics.speedup
            for event in turn.events()
            if isinstance(event, RoundFinished | Finished) and event.metrics
        }

    def speedup(self, lane: LaneResult) -> float | None:
        """The last one that the screen showed: in a race, over the time in which both ran."""
        return self._speedups.get(lane.spec.name)

    def compare(self, lane: LaneResult) -> dict[str, Any]:
        end = self._ends[lane.spec.name]
        if end is None:
            return {}
        return {
            "matches_ar": end.matches_ar,
            "first_divergence": end.first_divergence,
            "divergence_gap": end.divergence_gap,
            "same_text": end.same_text,
        }


def _lane(
    lane: LaneRecord, turn: RecordedTurn, reference: Reference, settings: list[dict[str, Any]]
) -> dict[str, Any]:
    report = lane_report(lane, reference, lane.error, trace=False)
    report["rounds"] = [_round(step, turn, settings) for step in lane.steps]
    report["first"] = _first(lane.prefilled, turn, settings) if lane.prefilled else None
    report["finishes"] = [
        _FINISHED.dump_python(
            event, mode="json", exclude={"lane", "metrics", "texts", "at"}, exclude_defaults=True
        )
        | {"seconds": _since(turn, event.at)}
        for event in lane.finishes
    ]
    return report


def _first(event: Prefilled, turn: RecordedTurn, settings: list[dict[str, Any]]) -> dict[str, Any]:
    first = {
        "id": event.first.id,
        "text": event.first.text,
        "seconds": _since(turn, event.at),
        "sampled": event.sampled,
        "settings": _index_of(event.params, settings),
    }
    if event.probs is not None:
        first["probs"] = _PROBS.dump_python(event.probs, mode="json")
    return first


def _round(
    step: RoundFinished, turn: RecordedTurn, settings: list[dict[str, Any]]
) -> dict[str, Any]:
    more = _ROUND.dump_python(step.round, mode="json", exclude_defaults=True)
    return {
        **round_report(step.round),
        **more,
        "start_seconds": _since(turn, step.at - step.round.total_seconds),
        "settings": _index_of(step.params, settings),
        "tree": step.tree,
        "shown": [[token.id, token.text, token.fate, token.node] for token in step.tokens],
    }


def _index_of(params: Params | None, settings: list[dict[str, Any]]) -> int | None:
    """The index in `settings`, to which new ones are added; None if they are not known."""
    if params is None:
        return None
    own = flat(params)
    if own not in settings:
        settings.append(own)
    return settings.index(own)


def _since(turn: RecordedTurn, at: float) -> float:
    """Seconds since the turn began, to a microsecond."""
    return round(at - turn.started.at, 6)
