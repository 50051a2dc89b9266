"""The file that a distillation writes, and goes on with when it was stopped."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from decoding.errors import InputError

Message = dict[str, str]
Conversation = tuple[list[Message], list[str]]  # the history, the user turns still to answer
_BEGIN = b'{"messages": ['  # of every line that is written


def lines_so_far(out: Path, made_by: str, total: int) -> list[bytes]:
    """The whole lines of a file of at most `total` answers; one that a kill cut is left out. Raises
    InputError if it holds anything but answers with the mark `made_by`."""
    if not out.exists():
        return []
    mark = f'"made_by": "{made_by}"'.encode()
    lines = out.read_bytes().splitlines(keepends=True)
    *whole, rest = [*lines, b""] if not lines or lines[-1].endswith(b"\n") else lines
    ours = len(whole) <= total and all(mark in line for line in whole)
    if not ours or rest[: len(_BEGIN)] != _BEGIN[: len(rest)]:
        raise InputError(
            f"{out} holds something other than answers to these prompts, of this target and with "
            "these settings: choose a new file for --out"
        )
    return whole


def keep_only(out: Path, lines: Sequence[bytes]) -> None:
    """Cut the file behind the `lines` that it begins with; an empty one is made where none is."""
    out.parent.mkdir(parents=True, exist_ok=True)
    with out.open("ab") as file:
        file.truncate(sum(map(len, lines)))
