"""Writing files that must not be lost."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import NamedTemporaryFile


def write_atomically(path: Path, text: str) -> None:
    """Replace a file, or the one that a link points to, without ever leaving a partial one. Who may
    read it stays as it was. Raises OSError."""
    path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    with NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, delete=False) as file:
        try:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
            file.close()
            if path.exists():
                os.chmod(file.name, path.stat().st_mode)
            os.replace(file.name, path)
        except OSError:
            os.unlink(file.name)
            raise
