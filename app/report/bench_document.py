"""The figures of `bench`. Imports no models.

A speedup is the ratio within one repeat, over the autoregressive lane with the same sampling; over
the repeats the median is given with the lowest and the highest.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from app.report.answer import Answer, speed
from app.report.batches import DraftingContestant, round_cost
from app.report.document import spec_fields
from app.strategies.lane_spec import LaneSpec
from app.strategies.registry import STRATEGIES
from app.strategies.strategy import Strategy
from decoding.params import Params
from decoding.stats import Stats, total

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Contest:
    """Contestants by name with their settings: lanes, which have `specs`; `peers`, whose rounds are
    not known; and simulated drafters. `answers`: of each repeat, by name, one to each prompt."""

    params: Mapping[str, Params]
    specs: Mapping[str, LaneSpec]
    peers: Collection[str]
    categories: Sequence[str | None]  # of the prompts
    answers: list[Mapping[str, Sequence[Answer]]] = field(default_factory=list)

    def without(self, names: Collection[str]) -> Contest:
        """Return the contest of the others."""
        left = {name: own for name, own in self.params.items() if name not in names}
        answers: list[Mapping[str, Sequence[Answer]]] = [
            {name: repeat[name] for name in left} for repeat in self.answers
        ]
        specs = {name: spec for name, spec in self.specs.items() if name not in names}
        return replace(self, params=left, specs=specs, answers=answers)

    def rows(self) -> list[Row]:
        """Return each contestant's figures over all prompts, and over those of each category."""
        return [self._row(name) for name in self.params]

    def drafting(self, among: Collection[str]) -> list[DraftingContestant]:
        """Return the mean rounds of those `among` the contestants that drafted for the target, and
        of their baselines."""
        found = []
        for name in self.able_to_draft(among):
            own, baseline = self._stats(name), self.baseline(name)
            plain = self._stats(baseline) if baseline else Stats()
            if baseline and own.drafted and plain.passes:
                strategy = self._strategy(name)
                by_model = strategy is not None and strategy.role is not None
                costs = round_cost(own), round_cost(plain)
                found.append(DraftingContestant(name, baseline, *costs, by_model))
        return found

    def able_to_draft(self, among: Collection[str]) -> list[str]:
        """Return those `among` that may draft for the target, without peers."""
        strategies = {name: self._strategy(name) for name in among if name not in self.peers}
        return [
            name
            for name, each in strategies.items()
            if each is None or (each.drafts and each.on_target)
        ]

    def baseline(self, name: str) -> str | None:
        """Return the autoregressive lane that a contestant is compared with: one that samples as it
        does, to the same length, as far as there is one, else the first."""
        strategy = self._strategy(name)
        if strategy is not None and strategy.remote:
            return None  # another machine's speed is no speedup
        found = [each for each in self.specs if STRATEGIES[self.specs[each].strategy].is_baseline]
        own = self.params[name]

        def alike(other: str) -> tuple[bool, bool]:
            params = self.params[other]
            return params.sampling == own.sampling, params.max_new_tokens == own.max_new_tokens

        return max(found, key=alike, default=None)

    def _row(self, name: str) -> Row:
        """`matches_ar`: the number of prompts with the baseline's ids, where they must be equal.
        `lossy`: the text does not follow the target's distribution; `other_model`: it is none of
        the target's."""
        baseline, last = self.baseline(name), self.answers[-1]
        same = None
        if baseline and self._comparable(name, baseline):
            same = sum(a.ids == b.ids for a, b in zip(last[name], last[baseline], strict=True))
        prompts_of = defaultdict[str, list[int]](list)
        for prompt, category in enumerate(self.categories):
            if category:
                prompts_of[category].append(prompt)
        return {
            "name": name,
            **spec_fields(self.specs.get(name)),
            "baseline": baseline,
            **self._figures(name, baseline, range(len(self.categories))),
            "matches_ar": same,
            "lossy": self._lossy(name),
            "other_model": (strategy := self._strategy(name)) is not None
            and not (strategy.on_target or strategy.remote),
            "round_seconds": _round_seconds(self._stats(name)),
            "categories": {
                category: self._figures(name, baseline, prompts)
                for category, prompts in prompts_of.items()
            },
        }

    def _figures(self, name: str, baseline: str | None, prompts: Sequence[int]) -> Row:
        """Over some of the prompts: the median speed of the repeats, their speedups, and what was
        accepted of the last repeat's drafts."""
        speeds, ratios = list[float](), list[float]()
        for repeat in self.answers:
            own = speed([repeat[name][prompt] for prompt in prompts])
            base = speed([repeat[baseline][prompt] for prompt in prompts]) if baseline else None
            if own is not None:
                speeds.append(own)
                if base is not None:
                    ratios.append(own / base)
        last = total([self.answers[-1][name][prompt].stats for prompt in prompts])
        return {
            "tokens_per_second": statistics.median(speeds) if speeds else None,
            "speedup": statistics.median(ratios) if ratios else None,
            "speedup_low": min(ratios, default=None),
            "speedup_high": max(ratios, default=None),
            "acceptance_rate": last.acceptance_rate,
            "tokens_per_pass": last.tokens_per_pass,
        }

    def _comparable(self, name: str, baseline: str) -> bool:
        """Whether the ids must equal the baseline's."""
        strategy = self._strategy(name)
        on_target = strategy is None or strategy.on_target
        return on_target and self.params[name].same_tokens(self.params[baseline])

    def _lossy(self, name: str) -> bool:
        strategy = self._strategy(name)
        return strategy is not None and strategy.is_lossy(self.params[name])

    def _strategy(self, name: str) -> Strategy | None:
        return STRATEGIES[self.specs[name].strategy] if name in self.specs else None

    def _stats(self, name: str) -> Stats:
        """Over all its answers."""
        return total([answer.stats for repeat in self.answers for answer in repeat[name]])


def _round_seconds(stats: Stats) -> dict[str, float] | None:
    """The parts of a mean round: draft, the target's pass, the rest. None for peers."""
    if not stats.passes:
        return None
    cost = round_cost(stats)
    return {"draft": cost.draft, "verify": cost.verify, "rest": cost.rest}
