"""Static candidate trees as in Medusa: paths of ranks, one for each head or level."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from decoding.errors import InputError, reason_for
from decoding.json_text import parse_json
from decoding.trees.shape import TreeShape

Choices = tuple[tuple[int, ...], ...]

# Trees by name. `chain` follows each head's first guess; the others mostly branch at the first
# heads. All are cut to the heads that exist.
NAMED_TREES: dict[str, Choices] = {
    "chain": ((0, 0, 0, 0, 0, 0, 0, 0),),
    "small": ((0, 0, 0), (0, 1), (1, 0), (2,)),
    "wide": ((0, 0, 0, 0), (0, 0, 1), (0, 1, 0), (0, 2), (1, 0, 0), (1, 1), (2, 0), (3,), (4,)),
}


@dataclass(frozen=True, slots=True)
class StaticTree:
    """`shape` with the root, and for each other node its head (0-based) and its rank among that
    head's guesses."""

    shape: TreeShape
    heads: tuple[int, ...]
    ranks: tuple[int, ...]

    @property
    def width(self) -> int:
        """The number of guesses needed from each head."""
        return 1 + max(self.ranks, default=0)


@lru_cache(maxsize=128)
def build_tree(choices: Choices) -> StaticTree:
    """Build the tree of these paths. Missing prefixes are added, so that a list of all nodes and a
    list of only the longest paths give the same tree. Nodes are sorted by depth, then by rank."""
    paths = {path[:n] for path in choices for n in range(1, len(path) + 1)}
    ordered = sorted(paths, key=lambda path: (len(path), path))
    index: dict[tuple[int, ...], int] = {(): 0} | {path: i for i, path in enumerate(ordered, 1)}
    return StaticTree(
        TreeShape((-1, *(index[path[:-1]] for path in ordered))),
        tuple(len(path) - 1 for path in ordered),
        tuple(path[-1] for path in ordered),
    )


def truncate_paths(
    choices: Iterable[Sequence[int]], heads: int, ranks: int | None = None
) -> Choices:
    """Cut paths at the number of heads, and before the first rank that is not available (None: all
    are)."""
    kept: set[tuple[int, ...]] = set()
    for path in choices:
        good = list(path[:heads])
        lacking = (i for i, rank in enumerate(good) if ranks is not None and rank >= ranks)
        bad = next(lacking, len(good))
        if bad:
            kept.add(tuple(good[:bad]))
    return tuple(sorted(kept))


def parse_choices(text: str) -> Choices:
    """Parse choices: a name, JSON, or a JSON file. Raises InputError."""
    if text in NAMED_TREES:
        return NAMED_TREES[text]
    source = text
    if not text.lstrip().startswith("["):
        try:
            file = Path(text).expanduser()
            found = file.is_file()
        except (OSError, RuntimeError):  # a name too long, an unknown user
            found = False
        if not found:
            raise InputError(
                f"tree '{text}': no such file; give JSON such as [[0],[0,0],[1]], a "
                f"file, or one of {', '.join(NAMED_TREES)}"
            )
        try:
            source = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"tree '{text}': can't read the file ({reason_for(error)})") from error
    try:
        paths = parse_json(source)
    except ValueError as error:
        raise InputError(f"tree '{text}': not a JSON list of lists ({error})") from error
    return checked_choices(paths, f"tree '{text}'")


def checked_choices(paths: Any, named: str) -> Choices:
    """Read choices from parsed JSON. Raises InputError, with what it is `named`."""
    try:
        choices = tuple(tuple(path) for path in paths)
    except TypeError as error:
        raise InputError(f"{named}: not a JSON list of lists ({error})") from error
    for path in choices:
        if not path or any(not isinstance(r, int) or isinstance(r, bool) or r < 0 for r in path):
            raise InputError(f"{named}: {list(path)} is no path of ranks (whole numbers from 0)")
    if not choices:
        raise InputError(f"{named}: the list is empty")
    if twice := [path for path, count in Counter(choices).items() if count > 1]:
        raise InputError(f"{named}: {list(twice[0])} is listed {choices.count(twice[0])} times")
    return choices


def require_ranks(choices: Choices, offered: int) -> None:
    """Raise InputError if a path has a rank beyond the `offered` guesses."""
    wrong = next((path for path in choices if max(path) >= offered), None)
    if wrong is not None:
        raise InputError(
            f"the tree's path {list(wrong)} has rank {max(wrong)}, but there are {offered} "
            "guesses, ranked from 0"
        )
