"""The checksums beside exported heads."""

from __future__ import annotations

from pathlib import Path

from app.cli.heads.provenance import sha256_of
from decoding.files import write_atomically

CHECKSUMS = "SHA256SUMS"


def write_checksums(folder: Path) -> None:
    """Write the checksums of all files in the folder, as `sha256sum -c` reads them."""
    files = sorted(path for path in folder.iterdir() if path.is_file() and path.name != CHECKSUMS)
    sums = (f"{sha256_of(path)}  {path.name}\n" for path in files)
    write_atomically(folder / CHECKSUMS, "".join(sums), private=False)
