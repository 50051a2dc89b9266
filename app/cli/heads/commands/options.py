"""Options that several `heads` commands have."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

from app.cli.options import file, folder, integer, text
from decoding.errors import InputError

Target = Annotated[str, text(help="Folder or hub id of the target.")]
Device = Annotated[str, text(help="auto, cpu, cuda, cuda:N or mps.")]
Template = Annotated[
    str | None,
    file("--chat-template", help="Chat template (Jinja) instead of the target's own."),
]
Threads = Annotated[str, text(help="Number of torch threads on a CPU, or auto.")]
HIGHEST_SEED = 2**32 - 1  # the Trainer's, of all


def _seed(seed: int) -> int:
    """Raise InputError beyond the highest seed, which is too long for the help."""
    if seed > HIGHEST_SEED:
        raise InputError(f"--seed {seed}: give a whole number from 0 to {HIGHEST_SEED}")
    return seed


def count_of_threads(threads: str) -> int | None:
    """Return the number given to --threads; None: automatic. Raises InputError."""
    from app.config.settings import MAX_THREADS
    from app.text.numbers import whole_number

    if threads == "auto":
        return None
    if count := whole_number(threads, MAX_THREADS):
        return count
    raise InputError(f"--threads '{threads:.20}': give auto or a number from 1 to {MAX_THREADS}")


random_seed = partial(integer, min=0, callback=_seed)
DRAFTER = "Folder of Medusa heads, an EAGLE head (any dialect) or a draft model."
HeadsDir = Annotated[Path, folder("--heads", help=DRAFTER)]
MIXED = "FILE:2 repeats it, FILE:0.5 takes half of it."
LONGEST = "Longest answer in tokens."
HOTTEST = 2  # temperature, as in other commands
