"""What a setting may be."""

from __future__ import annotations

import math
from typing import Any

import pytest

from decoding.params import BOUNDS, Params, SamplingParams, flat, with_settings

REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"temperature": -0.1}, "temperature must be 0 or more, not -0.1"),
    ({"temperature": math.inf}, "temperature must be 0 or more, not inf"),
    ({"top_p": 0.0}, "top_p must be above 0, at most 1, not 0.0"),
    (
        {"repetition_penalty": 1e-300},
        "repetition_penalty must be 0.01 or more, at most 10, not 1e-300",
    ),
    ({"min_p": math.nan}, "min_p must be 0 or more, at most 1, not nan"),
    ({"gamma": 65}, "gamma must be 0 or more, at most 64, not 65"),
    ({"gamma": "most"}, "gamma must be a number or auto, not 'most'"),
    ({"gamma": True}, "gamma must be a number or auto, not True"),
    ({"temperature": "0.7"}, "temperature must be a number, not '0.7'"),
    ({"max_new_tokens": None}, "max_new_tokens must be a number, not None"),
    ({"top_k": None}, "top_k must be a number, not None"),
    ({"eagle_total_tokens": 1}, "eagle_total_tokens must be 2 or more, at most 1024, not 1"),
]


@pytest.mark.parametrize(("values", "complaint"), REFUSED)
def test_what_is_out_of_bounds_is_refused(values: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError) as refused:
        with_settings(Params(), values)
    assert str(refused.value) == complaint


@pytest.mark.parametrize("values", [{"gamma": 2.5}, {"max_new_tokens": 2.0}, {"top_k": 2.5}])
def test_what_is_counted_is_whole(values: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(values))} must be a whole number"):
        with_settings(Params(), values)


def test_an_acceptance_rule_that_there_is_not() -> None:
    with pytest.raises(ValueError, match="acceptance must be exact or typical, not 'fast'"):
        Params(acceptance="fast")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("settings", "same"),
    [
        ({"gamma": 3, "acceptance": "typical", "top_p": 0.5}, True),
        ({"temperature": 1.0}, False),
        ({"repetition_penalty": 1.1}, False),
        ({"presence_penalty": 0.5}, False),
        ({"max_new_tokens": 7}, False),
    ],
)
def test_which_settings_give_the_same_tokens(settings: dict[str, Any], same: bool) -> None:
    other = with_settings(Params(), settings)
    assert Params().same_tokens(other) is other.same_tokens(Params()) is same


def test_an_integer_that_no_float_holds() -> None:
    assert SamplingParams(top_k=10**400).top_k == 10**400
    with pytest.raises(ValueError, match="gamma must be 0 or more, at most 64"):
        Params(gamma=10**400)


def test_bounds_are_allowed_themselves() -> None:
    for name, bounds in BOUNDS.items():
        for value in {bounds.least, bounds.most} - {None}:
            assert flat(with_settings(Params(), {name: value}))[name] == value


def test_every_number_has_bounds() -> None:
    numbers = flat(Params(SamplingParams(), gamma=1, eagle_total_tokens=2, eagle_top_k=1))
    assert numbers.keys() - {"acceptance"} == BOUNDS.keys()
