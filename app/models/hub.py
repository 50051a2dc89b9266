"""Names of models in the Hugging Face cache, and whether there is a hub to ask for others."""

from __future__ import annotations

from pathlib import Path
from threading import Thread

from decoding.errors import InputError

PROBE_SECONDS = 4.0


def display_name(source: str) -> str:
    """A short name: the hub id of a folder in the cache, another folder's last part, an id itself.
    Absolute paths are not looked up on disk, which may be slow."""
    path = Path(source)
    return hub_id(source) or (path.name if path.is_absolute() or path.is_dir() else source)


def hub_id(source: str) -> str | None:
    """The hub id of a folder in the Hugging Face cache; None for any other."""
    path = Path(source)
    repo = path.parent.parent.name
    if path.parent.name != "snapshots" or not repo.startswith("models--"):
        return None
    return repo.removeprefix("models--").replace("--", "/")


def cached_folder(source: str) -> Path | None:
    """The folder in the cache that holds a hub id's main revision, or a part of it."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(source, local_files_only=True))
    except (HFValidationError, LocalEntryNotFoundError, OSError):
        return None


def require_hub(source: str) -> None:
    """Raise InputError, soon, where the hub can't be reached: its client would try for minutes."""
    from huggingface_hub import constants, get_session

    complaints = ["no answer"]

    def ask() -> None:
        try:
            get_session().head(constants.ENDPOINT, timeout=PROBE_SECONDS)
            complaints.clear()
        except Exception as error:  # of the client, of proxies, of names
            complaints[:] = [str(error) or type(error).__name__]

    # A thread, as looking a name up may take longer than any timeout that can be asked for.
    probe = Thread(target=ask, daemon=True)
    probe.start()
    probe.join(PROBE_SECONDS)
    if complaints:
        raise InputError(
            f"{source} is not whole in the cache, and {constants.ENDPOINT} can't be reached "
            f"({complaints[0].splitlines()[0]}): give a folder, or try again with a network"
        )
