"""Formats rejected drafts as cells of a table, and acceptance by level, kind and confidence."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from textual.content import Content

from app.report.rejections import (
    BINS,
    Bin,
    Rejection,
    Tallies,
    Tally,
)
from app.text.terminal_text import token_name
from app.tui.format.bars import bar
from app.tui.format.numbers import percent, probability

Texts = Mapping[int, str]
Key = TypeVar("Key", int, str)
NAME_CELLS, BAR_CELLS, COMPARED_CELLS = 16, 6, 7


@dataclass(frozen=True, slots=True)
class Column:
    """`text` is what is shown. Rows are sorted by `value`, without one by the text. `descending`:
    the highest comes first."""

    heading: str
    cells: int
    text: Callable[[Rejection, Texts], str]
    value: Callable[[Rejection], float | None] | None = None
    descending: bool = False

    def key(self, each: Rejection, texts: Texts) -> float | tuple[str, str] | None:
        """Return what a row is sorted by: a text as in a dictionary, by its letters."""
        if self.value is not None:
            return self.value(each)
        shown = self.text(each, texts)
        letters = "".join(filter(str.isalnum, shown))
        return (letters or shown).casefold(), shown


def shown_p(p: float | None) -> str:
    return "" if p is None else probability(p)


COLUMNS = (
    Column("round", 6, lambda e, texts: str(e.round + 1), lambda e: e.round),
    Column("drafted", 11, lambda e, texts: token_name(e.token, texts)),
    Column("wanted", 11, lambda e, texts: token_name(e.wanted, texts)),
    Column("{level}", 6, lambda e, texts: str(e.depth), lambda e: e.depth),
    Column("rank", 5, lambda e, texts: rank_text(e), lambda e: e.rank),
    Column("p", 6, lambda e, texts: shown_p(e.p), lambda e: e.p, True),
    Column("q", 6, lambda e, texts: shown_p(e.q), lambda e: e.q, True),
    Column(
        "bits",
        5,
        lambda e, texts: "" if e.entropy is None else f"{e.entropy:.1f}",
        lambda e: e.entropy,
        True,
    ),
    Column("kind", 16, lambda e, texts: e.kind),
)


def rank_text(each: Rejection) -> str:
    """Return the rank of the drafted token for the target; empty if not known."""
    if each.rank is not None:
        return str(each.rank)
    return "" if each.p is None else "low"


def ordered(
    found: Sequence[Rejection], column: Column, texts: Texts, reverse: bool
) -> list[Rejection]:
    """Sorted by a column, or in reverse; those without a value there come last."""
    keys = [(column.key(each, texts), each) for each in found]
    known = [(key, each) for key, each in keys if key is not None]
    known.sort(key=lambda pair: pair[0], reverse=column.descending != reverse)
    return [each for _, each in known] + [each for key, each in keys if key is None]


def level_name(one_pass: bool) -> str:
    """Return what a draft's levels are called: Medusa has a head for each."""
    return "head" if one_pass else "level"


def share_lines(counts: Tallies, level: str) -> Iterator[Content]:
    """Yield how often a guess was accepted and how often the likeliest was right, by level, kind of
    token and place in the answer."""
    yield from _tallies(f"by {level}", counts.by_level)
    yield Content("")
    yield from _tallies("by kind", counts.by_kind)
    yield Content("")
    yield from _tallies("by place", counts.by_place)


def comparison_lines(
    counts: Tallies,
    level: str,
    claimed: Sequence[float],
    others: Mapping[str, Tallies],
) -> Iterator[Content]:
    """Yield top-1 accuracy of the drafter here, as stated in its checkpoint (`claimed`, by level),
    and in `others`, lanes of the same strategy."""
    names = [*(["says"] if claimed else []), *others]
    heading = "".join(f"{name:>{COMPARED_CELLS}}" for name in ("here", *names))
    yield Content.styled(f"{'1st guess right':<{NAME_CELLS}}{heading}", "$quiet")
    here, found = counts.by_level, [other.by_level for other in others.values()]
    claimed_rates = dict(enumerate(claimed, 1))
    for depth in sorted({*here, *claimed_rates, *(depth for depths in found for depth in depths)}):
        rates = [_first_rate(here, depth), *([claimed_rates.get(depth)] if claimed else [])]
        rates += [_first_rate(depths, depth) for depths in found]
        yield _rates(f"{level} {depth}", rates)
    kinds, other_kinds = counts.by_kind, [other.by_kind for other in others.values()]
    for kind in kinds if others else ():
        others_rates = [_first_rate(other, kind) for other in other_kinds]
        yield _rates(kind, [_first_rate(kinds, kind), *([None] if claimed else []), *others_rates])
    if claimed:
        yield Content.styled("says: the checkpoint's own figures", "$quiet")


def _first_rate(counts: Mapping[Key, Tally], key: Key) -> float | None:
    return counts[key].first_rate if key in counts else None


def _rates(name: str, rates: Sequence[float | None]) -> Content:
    cells = "".join(f"{percent(rate):>{COMPARED_CELLS}}" for rate in rates)
    return Content(f"{name:<{NAME_CELLS}}{cells}")


def _tallies(heading: str, tallies: Mapping[Key, Tally]) -> Iterator[Content]:
    yield Content.styled(f"{heading:<{NAME_CELLS}}{'accepted':<12}{'1st':>4}{'of':>6}", "$quiet")
    for name, counts in tallies.items():
        yield Content.assemble(
            f"{name:<{NAME_CELLS}}",
            (bar(counts.rate or 0.0, BAR_CELLS), "$accepted"),
            f" {percent(counts.rate)} {percent(counts.first_rate)}{counts.tested:>6}",
        )


def calibration_lines(counts: Tallies) -> Iterator[Content]:
    """Yield the drafter's probabilities beside how often its guesses were right."""
    bins = counts.calibration
    if not bins:
        yield Content.styled("The draft's own q was not recorded.", "$quiet")
        return
    yield Content.styled(f"{'by q':<{NAME_CELLS}}{'right':<12}{'mean q':>6}{'of':>4}", "$quiet")
    for each in bins:
        if each.guesses:
            yield _bin_line(each)


def _bin_line(each: Bin) -> Content:
    name = f"{each.low:.1f} to {each.low + 1 / BINS:.1f}"
    return Content.assemble(
        f"{name:<{NAME_CELLS}}",
        (bar(each.rate or 0.0, BAR_CELLS), "$accepted"),
        f" {percent(each.rate)} {percent(each.mean)}{each.guesses:>6}",
    )
