"""Parses the names of repositories on the hub, as they are written in options."""

from __future__ import annotations

import re
from dataclasses import dataclass

_LONGEST = 200  # characters of an id, whose parts are names of folders
_REPO = re.compile(r"(?:[\w-][\w.-]*/)?[\w-][\w.-]*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Repo:
    """A repository on the hub, at a branch, tag or commit, and the quantization to choose among its
    GGUF files."""

    name: str
    revision: str | None = None  # None: main
    quant: str | None = None

    def __str__(self) -> str:
        quant = "" if self.quant is None else f":{self.quant}"
        return self.name + quant + ("" if self.revision is None else f"@{self.revision}")


def parse_repo(source: str) -> Repo | None:
    """Parse org/name, org/name@revision, org/name:Q4_K_M or both; None if it is not a hub id."""
    rest, at, revision = source.partition("@")
    name, colon, quant = rest.partition(":")
    if not _REPO.fullmatch(name) or ".." in source or len(source) > _LONGEST:
        return None
    if at and not re.fullmatch(r"[\w./-]+", revision, re.ASCII):
        return None
    if colon and not re.fullmatch(r"\w+", quant, re.ASCII):
        return None
    return Repo(name, revision or None, quant or None)
