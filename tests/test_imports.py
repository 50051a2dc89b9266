"""What stays light stays light: imports in a fresh interpreter."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


LIGHT = [  # one interpreter imports them in this order: what comes later may have more
    ("app.cli.main", ("torch", "transformers", "textual", "pydantic", "yaml")),
    ("app.cli.heads.watch", ("torch", "transformers", "textual")),
    ("app.config.settings", ("torch", "transformers", "textual")),
    ("app.tui.app", ("torch", "transformers")),  # the screen is painted before they load
    ("decoding", ("torch", "transformers")),
    ("decoding.cost.forecast", ("torch", "transformers")),
    ("decoding.checkpoints.dialects", ("torch", "transformers")),
]
LIBRARY = [("decoding.decoder", ("app", "textual", "typer"))]


@pytest.mark.parametrize(
    "modules",
    [
        pytest.param(LIGHT, id="light"),
        pytest.param(LIBRARY, id="library", marks=pytest.mark.slow),  # it imports transformers
    ],
)
def test_an_import_does_not_drag_in(modules: list[tuple[str, tuple[str, ...]]]) -> None:
    code = f"""
import importlib, sys
for module, unwanted in {modules}:
    importlib.import_module(module)
    print(*(f"{{module}} drags in {{name}}\\n" for name in unwanted if name in sys.modules), end="")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr  # where libraries may complain about each other
    assert done.stdout == ""
