"""Statistics of a generation, as sums over its rounds. Undefined ratios are None, never NaN."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import NamedTuple

from decoding.round import Round


def total(each: Sequence[Stats]) -> Stats:
    """Sum the statistics of several generations, without the histogram."""
    names = (part.name for part in fields(Stats) if part.name != "histogram")
    return Stats(**{name: sum(getattr(stats, name) for stats in each) for name in names})


def ratio(over: float, under: float) -> float | None:
    """Divide; None if the denominator is 0."""
    return over / under if under else None


@dataclass(slots=True)
class Position:
    """One position of the drafted paths: the number of rounds with drafts, of those in which it was
    tested (all positions before it were accepted), and of those in which it was accepted."""

    rounds: int = 0
    tested: int = 0
    accepted: int = 0

    @property
    def conditional(self) -> float | None:
        """P(accepted | the positions before it were)."""
        return ratio(self.accepted, self.tested)

    @property
    def unconditional(self) -> float | None:
        """P(accepted)."""
        return ratio(self.accepted, self.rounds)


class PathEnd(NamedTuple):
    """How the path of a round ended: levels accepted, tested and drafted, and whether the answer
    ended in it."""

    accepted: int
    tested: int
    drafted: int
    cut: bool


def path_end(record: Round) -> PathEnd:
    """Return how the path of a round ended."""
    return PathEnd(len(record.accepted), record.tested, record.shape.depth, record.cut)


def acceptance_by_position(rounds: Iterable[Round]) -> list[Position]:
    """Count acceptance by position of the path; [i] is position i + 1. Every round that drafted
    counts for all positions; positions beyond its draft count as not accepted. A round cut by the
    answer's end counts as far as it was accepted."""
    return positions(Counter(map(path_end, rounds)))


def positions(ends: Mapping[PathEnd, int]) -> list[Position]:
    """Count `acceptance_by_position` of so many rounds with each end."""
    drafting = [(end, count) for end, count in ends.items() if end.drafted]
    depths = (end.accepted if end.cut else end.drafted for end, _ in drafting)
    found = [Position() for _ in range(max(depths, default=0))]
    for end, count in drafting:
        counted = end.accepted if end.cut else len(found)
        for number, position in enumerate(found[:counted], 1):
            position.rounds += count
            position.tested += count * (number <= end.tested)
            position.accepted += count * (number <= end.accepted)
    return found


@dataclass(slots=True)
class Stats:
    """Running sums over a generation's rounds; the prefill is not a round."""

    passes: int = 0
    emitted: int = 0
    drafted: int = 0
    tested: int = 0
    accepted: int = 0
    draft_seconds: float = 0.0
    verify_seconds: float = 0.0
    accept_seconds: float = 0.0
    decode_seconds: float = 0.0
    untimed: int = 0  # emitted in none of `decode_seconds`: with a server's first piece of text
    histogram: list[int] = field(default_factory=list)  # [i]: rounds with i accepted tokens

    @classmethod
    def of(cls, rounds: Iterable[Round]) -> Stats:
        stats = cls()
        for record in rounds:
            stats.add(record)
        return stats

    def add(self, record: Round) -> None:
        accepted = len(record.accepted)
        self.passes += 1
        self.emitted += len(record.emitted)
        self.drafted += record.drafted
        self.tested += record.tested
        self.accepted += accepted
        self.draft_seconds += record.draft_seconds
        self.verify_seconds += record.verify_seconds
        self.accept_seconds += record.accept_seconds
        self.decode_seconds += record.total_seconds
        self.histogram.extend([0] * (accepted + 1 - len(self.histogram)))
        self.histogram[accepted] += 1

    @property
    def timed(self) -> int:
        """The tokens that were emitted in `decode_seconds`."""
        return self.emitted - self.untimed

    @property
    def acceptance_rate(self) -> float | None:
        """α: accepted over tested."""
        return ratio(self.accepted, self.tested)

    @property
    def tokens_per_pass(self) -> float | None:
        """τ: mean tokens per target pass, including the bonus."""
        return ratio(self.emitted, self.passes)

    @property
    def nodes_per_pass(self) -> float | None:
        """Mean nodes that the target verifies in a pass, root included."""
        return self.drafted / self.passes + 1 if self.passes else None

    @property
    def tokens_per_second(self) -> float | None:
        """Decoding speed; the prefill and the first token belong to TTFT, not here."""
        return ratio(self.timed, self.decode_seconds)
