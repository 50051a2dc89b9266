"""Parses each style sheet once a process, and finds the rules of each component once.

Textual parses for each app anew, which is a tenth of an app's start, and matches components again
whenever a class or the focus changes, a seventh; every test of the screen starts an app."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any
from weakref import WeakKeyDictionary

from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.css.types import CSSLocation
from textual.dom import DOMNode

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


_matched: dict[Hashable, Any] = {}  # the rules that win, or None, of a component at a place
_pseudo_classes: dict[Hashable, frozenset[str]] = {}
_keys: WeakKeyDictionary[Stylesheet, tuple[list[RuleSet], Hashable]] = WeakKeyDictionary()
_apply, _process_component_classes = Stylesheet.apply, Stylesheet._process_component_classes
_place: Hashable = None  # of the node whose components are at hand; None: to be matched anew


def components_matched_once(sheet: Stylesheet, node: DOMNode) -> None:
    """Which rules a component has depends on the sheet and on the nodes above it alone: on their
    types, ids, classes and those pseudo-classes that any of the rules ask for."""
    global _place
    if components := node._get_component_classes():
        rules = _key_of(sheet)
        if (rules, components) not in _pseudo_classes:
            selectors = {"*", *DOMNode._css_type_names, *(f".{name}" for name in components)}
            found = (sheet.rules_map.get(name, ()) for name in selectors)
            _pseudo_classes[rules, components] = frozenset[str]().union(
                *(rule.pseudo_classes for each in found for rule in each)
            )
        asked = _pseudo_classes[rules, components]
        if asked.isdisjoint(sheet._EXCLUDE_PSEUDO_CLASSES_FROM_CACHE):
            _place = (rules, *(_seen_by_rules(each, asked) for each in node.css_path_nodes))
    try:
        _process_component_classes(sheet, node)
    finally:
        _place = None


def applied_once(
    sheet: Stylesheet, node: DOMNode, *, animate: bool = False, cache: Any = None
) -> None:
    if type(node) is not DOMNode or _place is None:
        _apply(sheet, node, animate=animate, cache=cache)
    elif (key := (_place, node.classes)) not in _matched:
        rules: dict[tuple[Any, ...], Any] = {}
        _apply(sheet, node, animate=animate, cache=rules)
        _matched[key] = next(iter(rules.values()), None)
    elif _matched[key] is not None:
        sheet.replace_rules(node, _matched[key], animate=animate)


def _key_of(sheet: Stylesheet) -> Hashable:
    """Of its rules: those that were parsed are kept, so that no other has the same address."""
    rules, key = _keys.get(sheet, (None, None))
    if rules is not sheet.rules:
        key = tuple(map(id, sheet.rules))
        _keys[sheet] = (sheet.rules, key)
    return key


def _seen_by_rules(node: DOMNode, asked: Iterable[str]) -> Hashable:
    pseudo_classes = tuple(name for name in asked if node.has_pseudo_classes({name}))
    return type(node), node.id, node.classes, pseudo_classes


for _name, _once in {
    "_parse_rules": parsed_once,
    "_process_component_classes": components_matched_once,
    "apply": applied_once,
}.items():
    setattr(Stylesheet, _name, _once)
setattr(RuleSet, "__hash__", object.__hash__)  # noqa: B010  # also the address, but in C
