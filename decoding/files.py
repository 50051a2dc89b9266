"""Writing files that must not be lost."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path

from filelock import FileLock


def write_atomically(path: Path, content: str | bytes, *, private: bool = True) -> None:
    """Replace a file, or the one that a link points to, without ever leaving a partial one. Who may
    read it stays as it was; a new one is its owner's alone if `private`, else as other new files
    are. Raises OSError, which names `path`."""
    name, path = path, path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{secrets.token_hex(8)}.tmp")
    mode = 0o600 if private else 0o666  # less the umask
    try:
        with open(beside, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            os.chmod(beside, path.stat().st_mode)
        os.replace(beside, path)
    except BaseException as error:
        beside.unlink(missing_ok=True)
        if isinstance(error, OSError):  # its own is of the file beside, or none
            raise OSError(error.errno, error.strerror or str(error), str(name)) from error
        raise


def remove_partial(folder: Path) -> None:
    """Remove what killed calls of `write_atomically` left in a folder, which nothing else writes to
    at the moment."""
    for partial in folder.glob(f".{'[0-9a-f]' * 16}.tmp"):
        partial.unlink(missing_ok=True)


class Claim(FileLock):
    """A lock that leaves no file behind. The file is removed while the lock is held, which is safe:
    filelock checks after locking that the file still exists."""

    def release(self, force: bool = False) -> None:
        if self.is_locked and (force or self.lock_counter == 1):
            with suppress(OSError):  # where an open file can't be removed
                Path(self.lock_file).unlink()
        super().release(force)
