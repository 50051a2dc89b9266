"""The JSON document of `specchat rejections`, and its text form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.report.document import spec_fields
from app.report.rejections import (
    BINS,
    Level,
    Rejection,
    Tallies,
    Tally,
)
from app.strategies.lane_spec import LaneSpec
from app.text.plural import pluralize
from app.text.terminal_text import token_name
from decoding.stats import ratio

Row = dict[str, Any]
NAME_CELLS = 20


@dataclass(slots=True)
class Drafted:
    """A lane's drafts over all prompts. `claimed` is the top-1 accuracy by level that its
    checkpoint states, `answered` the number of prompts, `rejected` has a row for each rejection."""

    spec: LaneSpec
    claimed: Sequence[float]
    answered: int = 0
    levels: list[Level] = field(default_factory=list)
    rejected: list[Row] = field(default_factory=list)
    error: str | None = None

    def reject(self, prompt: int, found: Iterable[Rejection], texts: Mapping[int, str]) -> None:
        for each in found:
            self.rejected.append(
                {
                    "prompt": prompt,
                    "round": each.round,
                    "level": each.depth,
                    "drafted": texts.get(each.token, ""),
                    "drafted_id": each.token,
                    "wanted": texts.get(each.wanted, ""),
                    "wanted_id": each.wanted,
                    "kind": each.kind,
                    "rank": each.rank,
                    "p": each.p,
                    "q": each.q,
                    "entropy": each.entropy,
                }
            )


def lane_document(drafted: Drafted) -> Row:
    """Return a row for each rejection, and how often the drafter was right: `accepted` with any
    guess of a level, `first` with its likeliest one."""
    levels, spec, claimed = drafted.levels, drafted.spec, drafted.claimed
    depths = Tallies.of(levels).by_level
    return {
        "lane": spec.name,
        **spec_fields(spec),
        "reason": drafted.error,
        "prompts": drafted.answered,
        "tested": len(levels),
        "acceptance_rate": ratio(sum(level.accepted for level in levels), len(levels)),
        "by_level": [
            _shares("level", depth, depths.get(depth, Tally()))
            | {"claimed": claimed[depth - 1] if depth <= len(claimed) else None}
            for depth in range(1, max([len(claimed), *depths]) + 1)
        ],
        **breakdown(levels),
        "rejections": drafted.rejected,
    }


def breakdown(levels: Sequence[Level]) -> Row:
    """Return how often the drafter was right by kind of token, by place in the answer and by its
    own confidence."""
    counts = Tallies.of(levels)
    return {
        "by_kind": [_shares("kind", *each) for each in counts.by_kind.items()],
        "by_place": [_shares("place", *each) for each in counts.by_place.items()],
        "calibration": [
            {
                "low": each.low,
                "high": each.low + 1 / BINS,
                "guesses": each.guesses,
                "confidence": each.mean,
                "right": each.rate,
            }
            for each in counts.calibration
        ],
    }


def _shares(what: str, key: str | int, counts: Tally) -> Row:
    return {what: key, "tested": counts.tested, "accepted": counts.rate, "first": counts.first_rate}


def format_rejections(document: Mapping[str, Any], most: int) -> str:
    """As text: for each lane the `most` rejections with the highest q, and its shares."""
    settings = document["settings"]
    blocks = [
        "\n".join(line.rstrip() for line in _lane_lines(lane, most)) for lane in document["lanes"]
    ]
    blocks += [f"[{name}] not available: {why}" for name, why in document["unavailable"].items()]
    if document["first_turns_only"]:
        blocks.append("Only the first turn of each conversation was answered.")
    blocks.append(f"temperature {settings['temperature']:g}, seed {settings['seed']}")
    return "\n\n".join(blocks)


def _lane_lines(lane: Row, most: int) -> Iterator[str]:
    rejected, tested = lane["rejections"], lane["tested"]
    prompts = pluralize(lane["prompts"], "prompt")
    tests = pluralize(tested, "tested draft")
    found = f"{len(rejected)} of {tests} rejected" if tested else "nothing was drafted"
    yield f"[{lane['lane']}] {found}, {prompts}"
    if lane["reason"]:
        yield f"failed: {lane['reason']}"
    worst = sorted(rejected, key=lambda row: -(row["q"] or 0.0))[:most]
    if worst:
        of = f" ({len(worst)} of {len(rejected)}, --json has all)"
        yield ""
        yield f"most confident first{of if len(worst) < len(rejected) else ''}"
        yield (
            f"{'prompt':>6}{'round':>6} {'drafted':<12}{'wanted':<11}{'level':>5}{'rank':>5}"
            f"{'p':>6}{'q':>6}{'bits':>5}  kind"
        )
        yield from map(_rejection_line, worst)
    if tested:
        yield ""
        yield from _share_lines("level", lane["by_level"])
        yield from breakdown_lines(lane)


def breakdown_lines(found: Row) -> Iterator[str]:
    """Yield a `breakdown` of at least one level as text."""
    for what in ("kind", "place"):
        yield ""
        yield from _share_lines(what, found[f"by_{what}"])
    if found["calibration"]:
        yield ""
        yield f"{'by q':<{NAME_CELLS}}{'right':>9}{'mean q':>8}{'guesses':>9}"
    for each in found["calibration"]:
        if each["guesses"]:
            name = f"{each['low']:.1f} to {each['high']:.1f}"
            yield (
                f"{name:<{NAME_CELLS}}{each['right']:>9.1%}{each['confidence']:>8.1%}"
                f"{each['guesses']:>9}"
            )


def _rejection_line(row: Row) -> str:
    drafted, wanted = (
        token_name(row[f"{key}_id"], {row[f"{key}_id"]: row[key]})[:10]
        for key in ("drafted", "wanted")
    )
    rank = row["rank"] or ("" if row["p"] is None else "low")
    p, q = ("" if row[key] is None else f"{row[key]:.3f}" for key in ("p", "q"))
    bits = "" if row["entropy"] is None else f"{row['entropy']:.1f}"
    return (
        f"{row['prompt']:>6}{row['round'] + 1:>6} {drafted:<12}{wanted:<11}{row['level']:>5}"
        f"{rank:>5}{p:>6}{q:>6}{bits:>5}  {row['kind']}"
    )


def _share_lines(what: str, rows: Sequence[Row]) -> Iterator[str]:
    claims = any(row.get("claimed") is not None for row in rows)
    says = f"{'says':>8}" if claims else ""
    yield f"{f'by {what}':<{NAME_CELLS}}{'accepted':>9}{'1st':>8}{says}{'tested':>9}"
    for row in rows:
        cells = _share(row["accepted"], 9) + _share(row["first"], 8)
        cells += _share(row["claimed"], 8) if claims else ""
        yield f"{row[what]:<{NAME_CELLS}}{cells}{row['tested']:>9}"


def _share(value: float | None, cells: int) -> str:
    return " " * cells if value is None else f"{value:>{cells}.1%}"
