"""Locates the files that ship with specchat: the demo family, its example prompts, a recording."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path

from app.text.prompt_file import Request, read_requests


def assets() -> Path:
    """Return the assets folder: inside the installed package, or at the top of a checkout."""
    packaged = Path(str(files("app"))) / "assets"
    return packaged if packaged.is_dir() else packaged.parents[1] / "assets"


@cache
def examples() -> tuple[Request, ...]:
    """Prompts that the demo family answers well; empty if the file is missing."""
    path = assets() / "prompts" / "demo.jsonl"
    return tuple(read_requests(path)) if path.is_file() else ()


def demo_topics() -> tuple[str, ...]:
    """Return what the demo family can answer: the categories of its example prompts, up to a
    colon."""
    categories = ((request.category or "").partition(":")[0] for request in examples())
    return tuple(dict.fromkeys(category for category in categories if category))


def tour_recording() -> Path:
    """Return a conversation of the demo family, which the tour explains."""
    return assets() / "replay" / "demo.json"
