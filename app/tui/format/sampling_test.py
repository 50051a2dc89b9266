"""Formats a sampling test: its conclusion, and the continuations with their counts."""

from __future__ import annotations

from rich.cells import set_cell_size
from textual.content import Content

from app.engine.events import ContinuationCount, SamplingTest
from app.text.plural import pluralize
from app.text.terminal_text import one_line, shortened
from app.tui.format.bars import bar
from app.tui.format.numbers import p_value
from app.tui.format.parts import fitted

SIGNIFICANT = 0.01  # p-value below which the two sides are said to differ
BEYOND_DOUBT = 1e-5
CONTEXT_CHARACTERS = 40
BAR_CELLS = (8, 16)  # narrow, wide
WIDE = 70
SHARE_CELLS = 6


def intro(test: SamplingTest) -> str:
    """Return what is compared, and after which text the draws begin."""
    context = shortened(test.context[-CONTEXT_CHARACTERS:], CONTEXT_CHARACTERS)
    count = "the next token" if test.tokens == 1 else f"the next {test.tokens} tokens"
    how = "once" if test.greedy else f"{test.repetitions} times with different seeds"
    text = f"After “…{context}”: {count}, {how}, by this lane and by plain sampling."
    if test.lossy:
        text += " Typical acceptance is lossy: they are expected to differ."
    return text


def verdict(test: SamplingTest) -> tuple[str, str]:
    """Return the conclusion when all draws are done, and its style."""
    if test.greedy:
        return _greedy(test)
    draws = f"{test.repetitions} draws of each"
    if test.p_value is None:
        if test.kinds == 1:
            return f"Both gave the same every time: no difference seen in {draws}.", "$success"
        return f"Too few of {draws} are alike to compare them.", "$warning"
    p = f"p = {p_value(test.p_value)}"
    if test.p_value >= SIGNIFICANT:
        more = "More draws would detect a smaller one."
        close = more if test.lossy else "That is what an exact lane shows."
        return f"No difference seen in {draws} ({p}). {close}", "$success"
    if test.lossy:
        return f"The two differ ({p}), as expected of a lossy rule.", "$warning"
    if test.p_value >= BEYOND_DOUBT:
        chance = f"By chance alone that happens once in {1 / test.p_value:.0f} times"
        return f"They seem to differ ({p}). {chance}: draw more to be sure.", "$warning"
    return f"The two differ ({p}): this lane does not sample as the target would.", "$error"


def _greedy(test: SamplingTest) -> tuple[str, str]:
    if test.kinds == 1:
        return "At temperature 0 nothing is random: both always say this.", "$success"
    return (
        "At temperature 0 nothing is random, and yet they differ. In half precision a tie can "
        "flip; in float32 they should be the same.",
        "$warning",
    )


def table(test: SamplingTest, width: int) -> list[Content]:
    """Return the most frequent continuations, and how often each side drew them; at temperature 0
    each side's only one, in full."""
    if test.greedy:
        return [_said(each) for each in test.outcomes]
    bars = BAR_CELLS[width >= WIDE]
    room = max(width - 2 * (SHARE_CELLS + bars + 3), 8)
    side = SHARE_CELLS + 1 + bars
    lines = [
        Content.styled(
            f"{set_cell_size('what follows', room)}  {'this lane':<{side}}  {'plain':<{side}}",
            "$quiet",
        )
    ]
    shown = list(test.outcomes)
    if rest := test.kinds - len(shown):
        done = test.done
        lane, plain = (done - sum(getattr(o, side) for o in shown) for side in ("lane", "plain"))
        shown.append(ContinuationCount(pluralize(rest, "other"), lane, plain))
    most = max((max(each.lane, each.plain) for each in test.outcomes), default=1)
    for number, each in enumerate(shown):
        parts: list[str | Content | tuple[str, str]] = [
            (fitted(f"“{one_line(each.text)}”", room), "")
            if number < len(test.outcomes)
            else (fitted(each.text, room), "$quiet")
        ]
        for count, style in ((each.lane, "$accepted"), (each.plain, "$foreground")):
            share = f"{count / test.done:.1%}"
            parts += [f"  {share:>{SHARE_CELLS}} ", (bar(count / most, bars), style)]
        lines.append(Content.assemble(*parts))
    return lines


def _said(outcome: ContinuationCount) -> Content:
    who = "both" if outcome.lane and outcome.plain else "this lane" if outcome.lane else "plain"
    return Content.assemble((f"{who}  ", "$quiet"), f"“{one_line(outcome.text)}”")
