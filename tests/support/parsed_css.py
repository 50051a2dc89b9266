"""Parses each style sheet once a process. Textual does it for each app anew, which is a tenth of
an app's start; every test of the screen starts one."""

from __future__ import annotations

from collections.abc import Hashable

from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.css.types import CSSLocation

_parsed: dict[Hashable, list[RuleSet]] = {}
_parse_rules = Stylesheet._parse_rules


def parsed_once(
    sheet: Stylesheet,
    css: str,
    read_from: CSSLocation,
    is_default_rules: bool = False,
    tie_breaker: int = 0,
    scope: str = "",
) -> list[RuleSet]:
    source = (css, read_from, is_default_rules, tie_breaker, scope)
    key = (*source, frozenset(sheet._variables.items()))
    if key not in _parsed:
        _parsed[key] = _parse_rules(sheet, *source)
    return _parsed[key]


setattr(Stylesheet, "_parse_rules", parsed_once)  # noqa: B010
