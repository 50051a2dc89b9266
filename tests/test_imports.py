"""What stays light stays light: each import in a fresh interpreter."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("module", "unwanted"),
    [
        ("app.cli.main", ("torch", "transformers", "textual", "pydantic")),
        ("app.config.settings", ("torch", "transformers", "textual")),
        ("app.tui.app", ("torch", "transformers")),  # the screen is painted before they load
        ("decoding.decoder", ("app", "textual", "typer")),
        ("decoding", ("torch", "transformers")),
        ("decoding.cost.forecast", ("torch", "transformers")),
        ("decoding.checkpoints.dialects", ("torch", "transformers")),
        ("app.cli.heads.watch", ("torch", "transformers", "textual")),
    ],
)
def test_an_import_does_not_drag_in(module: str, unwanted: tuple[str, ...]) -> None:
    code = f"import sys, {module}; print([name for name in {unwanted} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout.strip() == "[]", done.stdout + done.stderr
