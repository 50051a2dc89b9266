"""Sums up a comparison of lanes in plain sentences, from its numbers alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.report.spread import Spread
from app.strategies.registry import STRATEGIES
from app.strategies.strategy import Strategy
from app.text.plural import pluralize

FEW_TOKENS = 50  # a speed over fewer is mostly chance
WORTH = 1.05  # smaller speedups count as none
INCREDIBLE = (
    "?: a speedup above the tokens per pass is impossible; something else was using the machine."
)
EARLY = 12  # tokens, before which nothing is said of who is ahead
STEADY = 0.1  # how far a speedup may be from the ratio of the speeds beside it


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneScore:
    """One lane's results. `speed` (tokens per second) and `speedup` (over the autoregressive lane)
    are over all runs that count, which have `tokens` in all. `passes`, `tokens_per_pass` (tau),
    `acceptance_rate`, the mean `round_seconds`, the drafter's share of it, and the share of the
    rounds that drafted nothing because gamma was 0 (`undrafted`) are the last run's. `same_text`:
    as the autoregressive lane; None if that is not defined (yet). `sampled`: drawn at a temperature
    above 0, so that texts may differ. `lossy`: the text does not follow the target's
    distribution."""

    number: int
    title: str
    alike: bool = False  # another lane has the same title
    strategy: str = ""
    is_baseline: bool = False
    on_target: bool = True
    remote: bool = False  # a server's: its own machine
    drafts: bool = True
    done: bool = True
    tokens: int = 0
    passes: int = 0
    speed: Spread | None = None
    speedup: Spread | None = None
    tokens_per_pass: float | None = None
    acceptance_rate: float | None = None
    round_seconds: float = 0.0
    draft_share: float = 0.0
    undrafted: float = 0.0
    same_text: bool | None = None
    sampled: bool = False
    lossy: bool = False
    stopped: bool = False  # by the user
    left_out: bool = False  # the last run, from the speeds: it was stopped, or disturbed

    @property
    def few(self) -> bool:
        """Too few tokens to believe a speed."""
        return self.tokens < FEW_TOKENS

    @property
    def sample(self) -> str:
        """What the speeds were measured over."""
        tokens = pluralize(self.tokens, "token")
        runs = self.speed.count if self.speed else 1
        return f"{tokens} in {pluralize(runs, 'run')}" if runs > 1 else tokens

    @property
    def incredible(self) -> bool:
        if self.speedup is None or not (self.drafts and self.on_target):
            return False
        return exceeds_tau(self.speedup.median, self.tokens_per_pass)

    @property
    def name(self) -> str:
        """The title, in sentences."""
        return f"{self.title} (lane {self.number})" if self.alike else self.title

    @property
    def label(self) -> str:
        return f"{self.number} {self.title}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """`text` is a sentence, `short` its short form. `factor` is the speedup to show in large
    digits, if drafting pays. `lane` is the number of the lane that it is about."""

    text: str
    short: str
    factor: float | None = None
    lane: int | None = None


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Another gamma for a lane, and the tokens per second expected with it, in twice the standard
    `error` above and below."""

    gamma: int
    speed: float
    error: float = 0.0


NO_DRAFTS = Verdict("No lane drafted: γ was 0.", "no lane drafted (γ 0)")
STOPPED_EARLY = Verdict("Stopped too early to compare the lanes.", "stopped too early to compare")


def exceeds_tau(speedup: float, tokens_per_pass: float | None) -> bool:
    """Return whether a speedup is impossible: a pass over drafts is never quicker than one over a
    single token, so a disturbance of the machine was measured."""
    return tokens_per_pass is not None and speedup > tokens_per_pass


def incredible(strategy: Strategy, speedup: float, tokens_per_pass: float | None) -> bool:
    """Return whether a lane of the strategy can't have been that much faster than the target
    alone."""
    drafts = strategy.drafts and strategy.on_target
    return drafts and exceeds_tau(speedup, tokens_per_pass)


def incredible_row(row: Mapping[str, Any]) -> bool:
    """Return the same of a row of a document. A simulated drafter has no strategy, and drafts."""
    speedup, tau, name = row["speedup"], row["tokens_per_pass"], row["strategy"]
    if speedup is None:
        return False
    return incredible(STRATEGIES[name], speedup, tau) if name else exceeds_tau(speedup, tau)


def baseline(scores: Sequence[LaneScore]) -> LaneScore | None:
    return next((score for score in scores if score.is_baseline), None)


def ranking(scores: Sequence[LaneScore]) -> Callable[[LaneScore], float]:
    """Return the figure that ranks these lanes, the largest first. It is the speedup, which is
    measured while both ran, so that what disturbs the machine later is no matter; if a lane has no
    speedup, it is the speed."""
    if all(each.speedup for each in scores):
        return _speedup
    return _speed


def fastest(scores: Sequence[LaneScore]) -> LaneScore | None:
    """Return the fastest lane that drafts for the target."""
    drafting = _drafting(scores)
    return max(drafting, key=ranking(drafting), default=None)


def winner(scores: Sequence[LaneScore]) -> LaneScore | None:
    """Return the fastest lane, unless the target alone is as fast."""
    best = fastest(scores)
    if best is None or best.undrafted == 1:
        return None
    return best if best.speedup is None or best.speedup.median >= WORTH else None


def slowest(scores: Sequence[LaneScore]) -> LaneScore | None:
    """Return the slowest lane that drafts for the target."""
    drafting = _drafting(scores)
    return min(drafting, key=ranking(drafting), default=None)


def verdict(scores: Sequence[LaneScore], again: str = "") -> Verdict | None:
    """Return the verdict, None if it is too early for one. `again`: the key that runs again, named
    where that would help; "": there is none."""
    best, plain = fastest(scores), baseline(scores)
    if best is None or plain is None or best.speedup is None:
        if any(not each.done and each.speed is None and not each.remote for each in scores):
            return None  # what it would be compared with is still to come
        if any(each.stopped and not each.left_out for each in scores):
            return STOPPED_EARLY
        return _without_comparison(scores, plain) or _of_servers(scores) or _of_prefill(scores)
    found = _Comparison(best, plain, best.speedup)
    running = not all(score.done for score in scores)
    if running or any(each.stopped and not each.left_out for each in scores):
        return _before_the_end(found, running)
    if all(score.undrafted == 1 for score in _drafting(scores)):
        return NO_DRAFTS
    return (
        _impossible(found, again) or _too_few(found, again) or _does_not_pay(found) or _pays(found)
    )


@dataclass(frozen=True, slots=True)
class _Comparison:
    """The fastest lane that drafts beside the target alone."""

    best: LaneScore
    plain: LaneScore
    speedup: Spread  # of the fastest

    @property
    def factor(self) -> float:
        return self.speedup.median

    @property
    def even(self) -> bool:
        return 1 / WORTH < self.factor < WORTH

    @property
    def times(self) -> str:
        return f"{self.factor:.1f} times as fast"

    @property
    def short(self) -> str:
        runs = self.speedup.count
        of_runs = f" (median of {runs} runs)" if runs > 1 else ""
        return f"{self.best.name} {self.factor:.1f}×{of_runs}"


def _before_the_end(found: _Comparison, running: bool) -> Verdict | None:
    """A verdict on answers that are not complete: they still run, or were stopped."""
    best, plain = found.best, found.plain
    if min(best.tokens, plain.tokens) < EARLY:
        return None if running else STOPPED_EARLY
    since, was = ("So far", "is") if running else ("Until it was stopped,", "was")
    if found.even:
        alike = f"{best.name} {was} as fast as the target alone"
        return Verdict(f"{since} {alike}.", "so far as fast as AR", None, best.number)
    if found.factor > 1.0 and (best.few or best.incredible):
        ahead = f"{best.name} {was} ahead"
        return Verdict(f"{since} {ahead}.", ahead, None, best.number)
    if found.factor > 1.0:
        text = f"{since} {best.name} {was} {found.times}."
        return Verdict(text, f"{found.short} so far", found.factor, best.number)
    text = f"{since} the target alone {was} ahead of {best.name}."
    return Verdict(text, "so far AR is ahead", None, plain.number)


def _impossible(found: _Comparison, again: str) -> Verdict | None:
    best, factor = found.best, found.factor
    if not best.incredible or found.even:
        return None
    tau = best.tokens_per_pass or 0.0
    digits = next((d for d in (1, 2) if f"{factor:.{d}f}" != f"{tau:.{d}f}"), 3)
    text = (
        f"{best.name} came out {factor:.{digits}f} times as fast, which is impossible with "
        f"{tau:.{digits}f} tokens per pass: something else was using the machine."
    )
    short = f"{found.short}? impossible"
    if again:
        text, short = f"{text} {again} runs it again.", f"{short}: {again} runs it again"
    return Verdict(text, short, None, best.number)


def _too_few(found: _Comparison, again: str) -> Verdict | None:
    best, short = found.best, found.short
    if not best.few:
        return None
    looks = "as fast as the target alone" if found.even else found.times
    if found.factor <= 1 / WORTH:
        looks, short = "slower than the target alone", f"{best.name} looks slower"
    text = f"{best.name} looks {looks}, but {best.sample} are too few to tell."
    if again:
        text += f" {again} runs it again; with the same settings both runs count."
    return Verdict(text, f"{short}, but {best.sample} are too few to tell", None, best.number)


def _does_not_pay(found: _Comparison) -> Verdict | None:
    best = found.best
    if found.factor >= WORTH:
        return None
    alike = "only as fast as" if found.even else f"{found.times} as"
    text = f"Drafting does not pay here: {best.name}, the best, is {alike} the target alone."
    return Verdict(text, f"drafting does not pay ({found.short})", None, best.number)


def _pays(found: _Comparison) -> Verdict:
    best, plain = found.best, found.plain
    if best.same_text and not best.lossy:
        passes = f"{best.passes} target {'pass' if best.passes == 1 else 'passes'}"
        passes = f"{passes} instead of {plain.passes}"
        fewer = f"{best.passes} passes instead of {plain.passes}"
    else:  # one answer may be longer, or was stopped later
        tokens = f"{best.tokens_per_pass or 1.0:.1f} tokens"
        fewer, passes = f"{tokens} per pass", f"{tokens} per target pass"
    text = f"{best.name} is {found.times}{_same(best)}: {passes}."
    short = f"{found.short}, {fewer}{_same_short(best)}"
    return Verdict(text, short, found.factor, best.number)


def why_slowest(scores: Sequence[LaneScore], suggestion: Suggestion | None = None) -> str | None:
    """Return why the slowest lane that drafts lost against the fastest one, or else against the
    target alone, and what to try. None if it did not lose."""
    slow, fast = slowest(scores), fastest(scores)
    if slow is None or fast is None or not all(score.done for score in scores):
        return None
    if slow is fast:
        fast = baseline(scores)
        if fast is None or slow.speedup is None or slow.speedup.median >= WORTH:
            return None
    reason = _reason(slow, fast)
    if reason is None:
        return None
    if suggestion is None:
        return f"{reason}."
    what = f"γ {suggestion.gamma}" if suggestion.gamma else "no drafts at all (γ 0)"
    speed = f"{suggestion.speed:.0f}{f'±{suggestion.error:.0f}' if suggestion.error else ''} tok/s"
    return f"{reason}; {what} should give lane {slow.number} about {speed}."


def doubt_about_speeds(scores: Sequence[LaneScore]) -> str | None:
    """Return what speaks against the speeds: that they are not of the last run, or that speedups,
    which compare lanes while both ran, aren't the ratios of the speeds shown beside them, which are
    of whole answers: the machine was busier in one part of the run than in the other."""
    if any(each.left_out for each in scores):
        if any(each.stopped for each in scores):
            return "The stopped run does not count: tok/s and × are of complete ones."
        return "The last run does not count: something else was using the machine."
    plain = baseline(scores)
    if plain is None or plain.speed is None or not all(score.done for score in scores):
        return None
    pairs = [
        (each.speed.median / plain.speed.median, each.speedup.median)
        for each in scores
        if each.speed and each.speedup
    ]
    if any(abs(ratio / speedup - 1) > STEADY for ratio, speedup in pairs):
        return "The machine's speed changed during the run: trust × more than tok/s."
    if any(f"{ratio:.1f}" != f"{speedup:.1f}" for ratio, speedup in pairs):
        return "× compares lanes while both were running; tok/s is of whole answers."
    return None


def _drafting(scores: Sequence[LaneScore]) -> list[LaneScore]:
    return [s for s in scores if s.drafts and s.on_target and s.speed is not None]


def _speed(score: LaneScore) -> float:
    return score.speed.median if score.speed else 0.0


def _speedup(score: LaneScore) -> float:
    return score.speedup.median if score.speedup else 0.0


def _without_comparison(scores: Sequence[LaneScore], plain: LaneScore | None) -> Verdict | None:
    best = max(_drafting(scores), key=_speed, default=None)
    if best is not None:
        speed = f"{_speed(best):.0f} tok/s"
        text = f"{best.name} is the fastest: {speed}."
        if best.speedup is None:
            text += " An autoregressive lane would show its speedup."
        else:  # earlier runs had one
            text += f" Beside an autoregressive lane it was {best.speedup.median:.1f}×."
        return Verdict(text, f"{best.name} {speed}", None, best.number)
    if plain is not None and plain.speed is not None:
        speed = f"{_speed(plain):.0f} tok/s"
        text = f"The target alone: {speed}. A lane that drafts would show a speedup."
        return Verdict(text, f"{plain.title} {speed}", None, plain.number)
    return None


def _of_servers(scores: Sequence[LaneScore]) -> Verdict | None:
    """A verdict if only servers answer. They may share a machine or differ in their models, so
    there is no factor."""
    known = [score for score in scores if score.remote and score.speed is not None]
    if not known:
        return None
    best = max(known, key=_speed)
    speed = f"{best.title} {_speed(best):.0f} tok/s"
    others = [f"{score.title} {_speed(score):.0f}" for score in known if score is not best]
    return Verdict(f"{', '.join([speed, *others])}.", speed, None, best.number)


def _of_prefill(scores: Sequence[LaneScore]) -> Verdict | None:
    """A verdict on answers of one token, which prefill gives."""
    if not scores or any(each.passes or not each.tokens or each.stopped for each in scores):
        return None
    text = "The prefill gave the only token of each answer: there was nothing to draft."
    return Verdict(text, "one token, nothing to draft")


def _same(score: LaneScore) -> str:
    if score.lossy:
        return ", by a lossy rule, so its text may differ"
    if score.same_text is None:
        return ", though its text may differ, as it is sampled" if score.sampled else ""
    return ", word for word the same text" if score.same_text else ", though its text differs"


def _same_short(score: LaneScore) -> str:
    if score.lossy or score.same_text is False:
        return ", other text"
    return ", same text" if score.same_text else ", sampled" if score.sampled else ""


def _reason(slow: LaneScore, fast: LaneScore) -> str | None:
    """The larger cause of the loss in speed: fewer tokens per pass, or more seconds per round."""
    slow_tau, fast_tau = slow.tokens_per_pass, fast.tokens_per_pass
    if not (slow_tau and fast_tau and slow.round_seconds and fast.round_seconds):
        return None
    by_tokens = math.log(fast_tau / slow_tau)
    by_time = math.log(slow.round_seconds / fast.round_seconds)
    if max(by_tokens, by_time) < math.log(WORTH):
        return None
    if slow.undrafted == 1 and (fast.undrafted == 1 or not fast.drafts):
        return None  # both are the target alone
    if by_tokens >= by_time:
        if slow.undrafted > 0.5:
            share = 1 - slow.undrafted
            drafted = "none" if not share else f"only {share:.0%}" if share > 0.01 else "under 1%"
            return (
                f"Lane {slow.number} drafted in {drafted} of its rounds (γ 0): {slow_tau:.1f} "
                f"tokens per pass, {fast_tau:.1f} in lane {fast.number}"
            )
        rates = slow.acceptance_rate, fast.acceptance_rate
        if None not in rates and (slow.acceptance_rate or 0.0) >= (fast.acceptance_rate or 0.0):
            return (
                f"Lane {slow.number} gets fewer tokens from a pass: {slow_tau:.1f}, "
                f"{fast_tau:.1f} in lane {fast.number}"
            )
        return (
            f"Fewer of lane {slow.number}'s guesses are right: {slow_tau:.1f} tokens per pass, "
            f"{fast_tau:.1f} in lane {fast.number}"
        )
    drafting = f"Drafting takes {slow.draft_share:.0%} of lane {slow.number}'s time"
    if not fast.drafts:
        return f"{drafting}, for {slow_tau:.1f} tokens per pass"
    if slow.draft_share > fast.draft_share:
        return f"{drafting}, {fast.draft_share:.0%} of lane {fast.number}'s"
    longer = f"{slow.round_seconds / fast.round_seconds:.1f} times as long"
    return f"A round of lane {slow.number} takes {longer} as one of lane {fast.number}"
