"""Locates the files that ship with specchat: the demo family and its example prompts."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from app.text.prompt_file import read_requests


def assets() -> Path:
    """The assets folder: inside the installed package, or at the top of a checkout."""
    packaged = Path(str(files("decoding"))) / "assets"
    return packaged if packaged.is_dir() else packaged.parents[1] / "assets"


def example_prompts() -> tuple[str, ...]:
    """Prompts that the demo family answers well; empty if the file is missing."""
    path = assets() / "prompts" / "demo.jsonl"
    requests = read_requests(path) if path.is_file() else []
    return tuple(request.turns[0] for request in requests)
