"""The workflow's job with the lowest versions tests those that pyproject.toml promises."""

from __future__ import annotations

import tomllib
from itertools import chain
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).parents[1]


def test_the_lowest_constraints_are_the_declared_lower_bounds() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = [*project["dependencies"], *chain(*project["optional-dependencies"].values())]
    found = [each for each in map(Requirement, declared) if each.name != project["name"]]
    bounds = {each.name: _lowest(each.specifier) for each in found}
    lines = (ROOT / ".github/constraints-lowest.txt").read_text(encoding="utf-8").splitlines()
    pins = dict(line.split("==") for line in lines if not line.startswith("#"))
    assert pins.keys() == bounds.keys()
    for name, pin in pins.items():  # of a bound 2.11 the first release may be called 2.11.0
        assert f"{pin}.".startswith(f"{bounds[name]}."), name


def _lowest(specifiers: SpecifierSet) -> str:
    (bound,) = [each.version for each in specifiers if each.operator == ">="]
    return bound
