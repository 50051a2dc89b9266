"""The scale of a slider."""

from __future__ import annotations

import math
from bisect import bisect
from collections.abc import Mapping
from dataclasses import dataclass, field

Value = float | str | None  # a number, or a word such as None that a setting takes as well


@dataclass(frozen=True, slots=True)
class Scale:
    """The stops of a slider from left to right: first words, then ascending numbers. `names` are
    shown instead of some values."""

    stops: tuple[Value, ...]
    names: Mapping[Value, str] = field(default_factory=dict)
    decimals: int = 0

    @property
    def last(self) -> int:
        return len(self.stops) - 1

    def value(self, position: int) -> Value:
        return self.stops[min(max(position, 0), self.last)]

    def position(self, value: Value) -> int:
        """Return the nearest stop; a value from the command line may be between two."""
        if value in self.stops or not isinstance(value, int | float):
            return self.stops.index(value) if value in self.stops else 0
        above = self._first_above(value)
        below = max(above - 1, self._words)
        low, high = self.stops[below], self.stops[min(above, self.last)]
        assert isinstance(low, int | float) and isinstance(high, int | float)
        return below if abs(value - low) <= abs(high - value) else above

    def beside(self, value: Value, steps: int) -> Value:
        """Return the value `steps` stops away. From between two stops the first step leads to the
        next one; a value beyond an end does not move further away."""
        if value in self.stops or not isinstance(value, int | float):
            return self.value(self.position(value) + steps)
        above = self._first_above(value)
        if above > self.last if steps > 0 else above == 0:
            return value
        return self.value(above + steps - (steps > 0))

    @property
    def words(self) -> list[str]:
        """The stops that are words, as they are shown."""
        return [self.text(stop) for stop in self.stops[: self._words]]

    @property
    def _words(self) -> int:
        """How many stops are words."""
        return sum(not isinstance(stop, int | float) for stop in self.stops)

    def _first_above(self, value: float) -> int:
        """The index of the first stop above a number."""
        return bisect(self.stops, value, lo=self._words)  # type: ignore[type-var]

    @property
    def _numbers(self) -> list[float]:
        return [stop for stop in self.stops if isinstance(stop, int | float)]

    @property
    def least(self) -> float:
        return self._numbers[0]

    def parse(self, text: str) -> Value:
        """Return a typed number; where it is none of the scale, ValueError says what is."""
        least, most = self.least, self._numbers[-1]
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not least <= number <= most or (number % 1 and not self.decimals):
            low, high = (f"{end:.{self.decimals}f}" for end in (least, most))
            numbers = "numbers" if self.decimals else "whole numbers"
            raise ValueError(f"takes {numbers} from {low} to {high}, not {text}")
        return number if self.decimals else int(number)

    def text(self, value: Value) -> str:
        """Return the value for display, in full if it is between two stops."""
        if value in self.names:
            return self.names[value]
        if not isinstance(value, int | float):
            return str(value)
        return f"{value:.{self.decimals}f}" if value in self.stops else f"{value:g}"


def evenly(low: float, high: float, step: float) -> tuple[float, ...]:
    """Numbers from `low` to `high`, both included."""
    return tuple(round(low + n * step, 6) for n in range(round((high - low) / step) + 1))
