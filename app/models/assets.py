"""What comes with the package: the demo family and prompts that suit it."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from app.text.prompt_file import read_requests


def assets() -> Path:
    """Inside the installed package, or at the top of a checkout."""
    packaged = Path(str(files("decoding"))) / "assets"
    return packaged if packaged.is_dir() else packaged.parents[1] / "assets"


def example_prompts() -> tuple[str, ...]:
    """Prompts that the demo family answers well; none where somebody has left them out."""
    path = assets() / "prompts" / "demo.jsonl"
    requests = read_requests(path) if path.is_file() else []
    return tuple(request.turns[0] for request in requests)
