"""What several `heads` commands require before they begin, and say when they are interrupted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from filelock import Timeout

from app.cli.heads.recipe import given_options
from app.cli.terminal import say
from decoding.errors import InputError
from decoding.files import Claim
from decoding.training.processes import is_first_process

if TYPE_CHECKING:
    from decoding.checkpoints.dialects import DrafterKind

KIND_NAMES = {
    "medusa": "Medusa",
    "eagle": "EAGLE",
    "eagle1": "EAGLE-1",
    "eagle3": "EAGLE-3",
    "draft": "draft models",
}


def refuse_others(context: typer.Context, kind: str, **kinds: tuple[str, ...]) -> None:
    """Raise InputError if an option was given that is only for other `kinds` of heads."""
    for name, option in given_options(context).items():
        others = kinds.get(name, (kind,))
        if not kind.startswith(others):
            names = " and ".join(KIND_NAMES[other] for other in others)
            raise InputError(f"{option} is for {names}, not for {KIND_NAMES[kind]}: leave it out")


def require_package(what: str, package: str, extra: str) -> None:
    """Raise InputError, before any work, if a package of an extra is missing."""
    if find_spec(package) is None:
        raise InputError(f"{what} needs {package}: pip install 'specchat[{extra}]'")


@contextmanager
def writing_to(out: Path, how_to_continue: Callable[[], str]) -> Iterator[None]:
    """Let errors of a full disk, which say no name, have that of what is written. Ctrl+C says how
    to continue, if something was written. Raises InputError if another command writes there."""
    try:
        with _claimed(out) if is_first_process() else nullcontext():
            yield
    except KeyboardInterrupt:
        if is_first_process() and (how := how_to_continue()):
            say(f"interrupted: {how}")
        raise
    except OSError as error:
        if error.filename is None and error.errno is not None:
            error.filename = str(out)
        raise


def _claimed(out: Path) -> AbstractContextManager[object]:
    out.parent.mkdir(parents=True, exist_ok=True)
    try:
        return Claim(out.with_name(f".{out.name}.lock"), timeout=0).acquire()
    except Timeout as error:
        raise InputError(
            f"another command is writing to {out}: wait for it, or choose another --out"
        ) from error


def kind_of(heads: Path) -> DrafterKind:
    from decoding.checkpoints.kind import drafter_kind

    return drafter_kind(heads)
