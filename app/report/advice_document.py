"""The JSON document of `advise`: measurements, the best settings, and configurations for serving
engines. Imports no models; `advice_text` formats it for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from app.report.answer import Answer, same_ids, speed
from app.report.batches import Throughput, batch_throughputs, method_of, round_cost, stops_paying
from app.report.document import envelope, spec_fields
from app.report.engines import ENGINES, ServingConfig
from app.report.speedup_estimate import Estimate, estimate_speedup
from app.report.verdict import incredible_row
from app.strategies.lane_spec import LaneSpec
from app.strategies.registry import STRATEGIES
from app.strategies.strategy import Strategy
from decoding.cost.curve import BatchCosts
from decoding.params import Params
from decoding.stats import Stats, total

Row = dict[str, Any]


class CandidateKind(NamedTuple):
    """Only the best candidate of a kind is measured. `chain`: EAGLE with one branch. `lossy`: by
    typical acceptance, which must not win over exact lanes unseen."""

    strategy: str
    checkpoint: str | None
    tree: str
    chain: bool
    lossy: bool
    temperature: float


@dataclass(slots=True)
class Candidate:
    """A strategy with settings, and its answers."""

    spec: LaneSpec
    params: Params
    answers: list[Answer] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.spec.name

    @property
    def strategy(self) -> Strategy:
        return STRATEGIES[self.spec.strategy]

    @property
    def temperature(self) -> float:
        return self.params.sampling.temperature

    @property
    def kind(self) -> CandidateKind:
        chain = self.params.eagle_top_k == 1
        spec = self.spec
        return CandidateKind(
            spec.strategy, spec.checkpoint, spec.tree, chain, self.lossy, self.temperature
        )

    @property
    def lossy(self) -> bool:
        return self.strategy.is_lossy(self.params)

    @property
    def stats(self) -> Stats:
        """Of all answers together."""
        return total([answer.stats for answer in self.answers])

    @property
    def speed(self) -> float:
        return speed(self.answers) or 0.0

    def against(self, other: Candidate) -> Estimate | None:
        """Return the speedup over `other`, on the answers that both gave."""
        count = min(len(self.answers), len(other.answers))
        return estimate_speedup(self.answers[:count], other.answers[:count])


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of an experiment: all candidates with their short answers, the best of each kind
    with full ones, and these in terms of a serving engine. `costs`: of the target's passes over
    several sequences, after `context` tokens. `failed`: why those failed that are not among them,
    by name. `ended_early`: by the user; `only_screened`: before there were any full answers, so
    that the short ones stand for them."""

    screened: Sequence[Candidate]
    measured: Sequence[Candidate]
    serving: Sequence[ServingConfig]
    costs: BatchCosts
    context: int
    prompts: int
    seconds: float
    failed: Mapping[str, str] = field(default_factory=dict)
    ended_early: bool = False
    only_screened: bool = False


def advice_document(outcome: Outcome, **facts: Any) -> Row:
    """Return the document of `outcome`, with `facts` about the machine, the models and the
    settings."""
    measured = outcome.measured
    rows = [_measured(each, measured, outcome.costs) for each in measured]
    temperatures = sorted({each.temperature for each in measured})
    return envelope(
        **facts,
        prompts=outcome.prompts,
        seconds=outcome.seconds,
        batch_size=1,
        failed=outcome.failed,
        ended_early=outcome.ended_early,
        only_screened=outcome.only_screened,
        screened=[_figures(each, baseline_of(each, outcome.screened)) for each in outcome.screened],
        measured=rows,
        best=[_best(temperature, measured, rows) for temperature in temperatures],
        batches={
            **method_of(outcome.costs),
            "context": outcome.context,
            "pass_seconds": {
                str(size): [list(point) for point in curve.points]
                for size, curve in outcome.costs.curves.items()
            },
        },
        engines=[
            entry
            for temperature in temperatures
            for entry in _engines(temperature, rows, outcome.serving)
        ],
    )


def baseline_of(candidate: Candidate, candidates: Sequence[Candidate]) -> Candidate:
    """Return the autoregressive candidate at the same temperature."""
    return next(
        each
        for each in candidates
        if each.strategy.is_baseline and each.temperature == candidate.temperature
    )


def _figures(candidate: Candidate, baseline: Candidate) -> Row:
    stats, estimate = candidate.stats, candidate.against(baseline)
    return {
        "name": candidate.name,
        **spec_fields(candidate.spec),
        "temperature": candidate.temperature,
        "lossy": candidate.lossy,
        "answers": len(candidate.answers),
        "prompts": len({answer.prompt for answer in candidate.answers}),
        "tokens": stats.emitted,
        "tokens_per_second": candidate.speed or None,
        "speedup": estimate.ratio if estimate else None,
        "speedup_low": estimate.low if estimate else None,
        "speedup_high": estimate.high if estimate else None,
        "interval": estimate.interval if estimate else None,
        "acceptance_rate": stats.acceptance_rate,
        "tokens_per_pass": stats.tokens_per_pass,
        "verified_per_pass": stats.nodes_per_pass,
        "draft_share": stats.draft_seconds / stats.decode_seconds if stats.decode_seconds else None,
    }


def _measured(candidate: Candidate, finalists: Sequence[Candidate], costs: BatchCosts) -> Row:
    """Its figures, its answers equal to the baseline's, and its speedup in larger batches."""
    baseline = baseline_of(candidate, finalists)
    figures = _figures(candidate, baseline)
    same = None
    if candidate.params.same_tokens(baseline.params):
        pairs = zip(candidate.answers, baseline.answers, strict=False)  # or it was dropped earlier
        same = sum(same_ids(own, base) for own, base in pairs)
    figures["matches_ar"] = same
    batches: dict[int, Throughput] = {}
    if candidate.strategy.drafts and figures["speedup"] is not None:
        own, alone = round_cost(candidate.stats), round_cost(baseline.stats)
        by_model = candidate.strategy.role is not None
        batches = batch_throughputs(own, alone, by_model, costs, costs.curves)
    figures["batch_speedups"] = {str(size): each.speedup for size, each in batches.items()}
    figures["stops_paying_at"] = stops_paying(batches)
    return figures


def _best(temperature: float, finalists: Sequence[Candidate], rows: Sequence[Row]) -> Row:
    """The fastest finalist at a temperature, rather one whose speedup can be; `name` is None if
    none is shown to be faster than the baseline. `ties` are not significantly slower."""
    pairs = [
        (each, row)
        for each, row in zip(finalists, rows, strict=True)
        if each.temperature == temperature and each.strategy.drafts and row["speedup"] is not None
    ]
    paying = [pair for pair in pairs if pair[1]["speedup_low"] > 1.0]
    ahead = max(paying, key=lambda pair: _credible_first(pair[1]), default=None)
    if ahead is None:
        return {"temperature": temperature, "name": None, "ties": []}
    best, row = ahead
    others = (each for each, _ in pairs if each is not best)
    ties = [other.name for other in others if (found := best.against(other)) and found.low <= 1.0]
    keys = (
        "name", "strategy", "checkpoint", "overrides", "lossy", "speedup", "speedup_low",
        "speedup_high", "interval", "answers", "prompts", "stops_paying_at",
    )  # fmt: skip
    largest = max(map(int, row["batch_speedups"]), default=1)
    return {
        "temperature": temperature,
        **{key: row[key] for key in keys},
        "largest_batch": largest,
        "ties": ties,
    }


def _credible_first(row: Row) -> tuple[bool, float]:
    """A key to sort by: credible speedups first. One above τ comes from a disturbed baseline."""
    return not incredible_row(row), row["speedup"]


def _engines(
    temperature: float, rows: Sequence[Row], serving: Sequence[ServingConfig]
) -> Iterator[Row]:
    """For each engine the fastest finalist that it supports and that beats the baseline."""
    paying = [
        (row, config)
        for row, config in zip(rows, serving, strict=True)
        if row["temperature"] == temperature
        and config.strategy.drafts
        and row["speedup"] is not None
        and row["speedup_low"] > 1.0
    ]
    paying.sort(key=lambda pair: _credible_first(pair[0]), reverse=True)
    none = "nothing that pays here can be configured there"
    if any(config.other_tokenizer for _, config in paying):
        none += ": a draft model needs the target's tokenizer"
    for engine in ENGINES:
        entry: Row = {
            "temperature": temperature,
            "engine": engine.name,
            "version": engine.version,
            "name": None,
            "speedup": None,
            "configuration": None,
            "note": none,
        }
        for row, config in paying:
            if snippet := engine.configure(config):
                entry |= {
                    "name": row["name"],
                    "speedup": row["speedup"],
                    "configuration": snippet.text,
                    "note": "; ".join(filter(None, (snippet.note, config.changed))),
                }
                break
        yield entry
