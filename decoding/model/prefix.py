"""The common prefix of two id sequences, which a cache can keep for a new prompt."""

from __future__ import annotations

from collections.abc import Sequence


def common_prefix_length(a: Sequence[int], b: Sequence[int]) -> int:
    """Return the length of the common prefix."""
    length = min(len(a), len(b))
    return next((i for i in range(length) if a[i] != b[i]), length)
