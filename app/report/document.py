"""The JSON document of `run --json`, field by field in app/cli/README.md. Undefined is null."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Protocol

from app.config.settings import Settings
from app.strategies.lane_spec import LaneSpec
from app.version import VERSION
from decoding.round import Round
from decoding.stats import Stats
from decoding.tokenizing.reasoning import split_reasoning

SCHEMA_VERSION = 1

LANE_FIELDS = (
    "lane", "strategy", "checkpoint", "overrides", "available", "reason", "text", "reasoning",
    "token_ids", "finish_reason", "tokens", "prefill_seconds", "draft_prefill_seconds",
    "ttft_seconds", "decode_seconds", "tokens_per_second", "speedup", "target_passes",
    "tokens_per_pass", "drafted", "tested", "accepted", "acceptance_rate", "accepted_histogram",
    "matches_ar", "first_divergence", "divergence_gap", "lossy", "server", "same_text",
)  # fmt: skip
# what is known of a server's answer only if the server reports it
_OF_DRAFTS = ("target_passes", "drafted", "accepted")
_OF_EACH_DRAFT = ("tested", "accepted_histogram")


class ReportedDrafts(Protocol):
    """See `app.servers.usage.Drafting`."""

    @property
    def tested(self) -> int | None: ...


class ReportedUsage(Protocol):
    """What a server reported of an answer, see `app.servers.usage.Usage`."""

    @property
    def drafting(self) -> ReportedDrafts | None: ...


class LaneResult(Protocol):
    """A lane after its answer: live or recorded."""

    @property
    def spec(self) -> LaneSpec: ...
    @property
    def note(self) -> str | None: ...
    @property
    def text(self) -> str: ...
    @property
    def ids(self) -> Sequence[int]: ...
    @property
    def tokens(self) -> int: ...
    @property
    def finished(self) -> str | None: ...
    @property
    def ttft_seconds(self) -> float: ...
    @property
    def prefill_seconds(self) -> float | None: ...
    @property
    def draft_prefill_seconds(self) -> float | None: ...
    @property
    def target_passes(self) -> int: ...
    @property
    def stats(self) -> Stats: ...
    @property
    def rounds(self) -> Sequence[Round]: ...
    @property
    def usage(self) -> ReportedUsage | None: ...


def settings_report(settings: Settings) -> dict[str, Any]:
    exclude = {"schedule", "keep", "theme", "keys", "families"}
    return settings.model_dump(mode="json", exclude=exclude)


def envelope(**facts: Any) -> dict[str, Any]:
    """Add the schema's and the program's version to a document's `facts`."""
    return {"schema_version": SCHEMA_VERSION, "version": VERSION, **facts}


def spec_fields(spec: LaneSpec | None) -> dict[str, Any]:
    """Return a lane's strategy and what it has of its own; null for what is no lane."""
    return {
        "strategy": spec.strategy if spec else None,
        "checkpoint": spec.checkpoint if spec else None,
        "overrides": dict(spec.overrides) if spec else {},
    }


class Reference(Protocol):
    """The autoregressive lane's answer, with which the others are compared."""

    def speedup(self, lane: LaneResult) -> float | None:
        """Return None if the lane or the reference has no speed yet."""

    def compare(self, lane: LaneResult) -> dict[str, Any]:
        """Return those of `matches_ar`, `first_divergence`, `divergence_gap` and `same_text` that
        are defined for the lane."""


def lane_report(
    lane: LaneResult, reference: Reference | None, error: str | None, trace: bool
) -> dict[str, Any]:
    """Return the report of a lane that ran; if it failed (`error`), with what it had done until
    then."""
    stats = lane.stats
    report: dict[str, Any] = dict.fromkeys(LANE_FIELDS)
    report |= {
        "lane": lane.spec.name,
        **spec_fields(lane.spec),
        "available": True,
        "reason": error or lane.note,
        "text": lane.text,
        "reasoning": split_reasoning(lane.text)[0],
        "token_ids": list(lane.ids),
        "finish_reason": "error" if error else lane.finished,
        "tokens": lane.tokens,
        "ttft_seconds": lane.ttft_seconds if lane.tokens else None,
        "prefill_seconds": lane.prefill_seconds if lane.tokens else None,
        "draft_prefill_seconds": lane.draft_prefill_seconds if lane.tokens else None,
        "decode_seconds": stats.decode_seconds,
        "tokens_per_second": stats.tokens_per_second,
        "target_passes": lane.target_passes,
        "tokens_per_pass": stats.tokens_per_pass,
        "drafted": stats.drafted,
        "tested": stats.tested,
        "accepted": stats.accepted,
        "acceptance_rate": stats.acceptance_rate,
        "accepted_histogram": list(stats.histogram),
        "lossy": any(record.lossy for record in lane.rounds),
        "server": _server(lane.spec),
    }
    if lane.spec.endpoint is not None:
        report |= dict.fromkeys(_untold(lane))
    if reference is not None and not error:
        report |= reference.compare(lane)
        if lane.spec.endpoint is None:  # another machine's speed is no speedup
            report["speedup"] = reference.speedup(lane)
    if trace:
        report["rounds"] = [round_report(record) for record in lane.rounds]
    return report


def _untold(lane: LaneResult) -> tuple[str, ...]:
    """The fields that a server has not reported."""
    drafting = lane.usage.drafting if lane.usage else None
    if drafting is None:
        return (*_OF_DRAFTS, *_OF_EACH_DRAFT, "lossy")
    return ("lossy",) if drafting.tested is not None else (*_OF_EACH_DRAFT, "lossy")


def _server(spec: LaneSpec) -> dict[str, Any] | None:
    return None if spec.endpoint is None else asdict(spec.endpoint)


def unavailable_report(spec: LaneSpec, reason: str | None) -> dict[str, Any]:
    return dict.fromkeys(LANE_FIELDS) | {
        "lane": spec.name,
        **spec_fields(spec),
        "available": False,
        "reason": reason,
        "text": "",
        "token_ids": [],
        "server": _server(spec),
    }


def round_report(record: Round) -> dict[str, Any]:
    return {
        "tokens": list(record.tokens),
        "parents": list(record.parents),
        "accepted": list(record.accepted),
        "emitted": list(record.emitted),
        "draft_seconds": record.draft_seconds,
        "verify_seconds": record.verify_seconds,
        "accept_seconds": record.accept_seconds,
        "total_seconds": record.total_seconds,
    }
