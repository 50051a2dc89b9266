"""Do draws come from a distribution?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from scipy.stats import chisquare

SURE = 1e-4  # draws are seeded, so a test that passes goes on passing


def assert_drawn_from(draws: Iterable[Hashable], expected: Mapping[Any, float]) -> None:
    """Pearson's chi-square; cells of fewer than five expected draws are taken together. What has
    probability 0 must not occur at all."""
    counts = Counter(draws)
    total = sum(counts.values())
    impossible = {cell: n for cell, n in counts.items() if not expected.get(cell, 0.0) > 0.0}
    assert not impossible, f"drawn though impossible: {impossible}"
    observed, wanted, rest_observed, rest_wanted = [], [], 0, 0.0
    for cell, probability in expected.items():
        if probability * total >= 5:
            observed.append(counts[cell])
            wanted.append(probability * total)
        else:
            rest_observed += counts[cell]
            rest_wanted += probability * total
    if rest_wanted >= 5:
        observed.append(rest_observed)
        wanted.append(rest_wanted)
    if len(observed) > 1:
        scale = sum(observed) / sum(wanted)
        result = chisquare(observed, [w * scale for w in wanted])
        assert result.pvalue > SURE, f"p-value {result.pvalue:.2g} of {total} draws"
