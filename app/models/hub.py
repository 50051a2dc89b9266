"""Hub ids, their folders in the Hugging Face cache, and whether the hub can be reached."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from app.daemon_threads import in_background
from decoding.errors import InputError

PROBE_SECONDS = 4.0
LISTED = "`specchat models` lists what is here, --family demo always is"
_LONGEST = 200  # characters of an id, whose parts are names of folders
_REPO = re.compile(r"(?:[\w-][\w.-]*/)?[\w-][\w.-]*", re.ASCII)


def display_name(source: str) -> str:
    """A short name: a hub id (also for its folder in the cache), else the folder's last part.
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


@dataclass(frozen=True, slots=True)
class Repo:
    """A repository on the hub, at a branch, tag or commit, and the quantization to choose among its
    GGUF files."""

    name: str
    revision: str | None = None  # None: main
    quant: str | None = None

    def __str__(self) -> str:
        quant = "" if self.quant is None else f":{self.quant}"
        return self.name + quant + ("" if self.revision is None else f"@{self.revision}")


def parse_repo(source: str) -> Repo | None:
    """Parse org/name, org/name@revision, org/name:Q4_K_M or both; None if it is not a hub id."""
    rest, at, revision = source.partition("@")
    name, colon, quant = rest.partition(":")
    if not _REPO.fullmatch(name) or ".." in source or len(source) > _LONGEST:
        return None
    if at and not re.fullmatch(r"[\w./-]+", revision, re.ASCII):
        return None
    if colon and not re.fullmatch(r"\w+", quant, re.ASCII):
        return None
    return Repo(name, revision or None, quant or None)


def repo_cache(repo: Repo) -> Path:
    """The folder of a repository in the cache, which may not exist."""
    from huggingface_hub import constants

    return Path(constants.HF_HUB_CACHE) / f"models--{repo.name.replace('/', '--')}"


def cached_folder(repo: Repo) -> Path | None:
    """The folder of a repository's revision in the cache, which may be incomplete; None if there is
    none."""
    cache, revision = repo_cache(repo), repo.revision or "main"
    try:
        commit = (cache / "refs" / revision).read_text().strip()
    except OSError:
        commit = revision
    folder = cache / "snapshots" / commit
    return folder if folder.is_dir() else None


def require_hub(source: str, there: str = "is incomplete in the cache") -> None:
    """Raise InputError soon if the hub can't be reached: its client would retry for minutes.
    `there`: what is there of the source."""
    from huggingface_hub import constants, get_session

    # On a thread, because resolving the host name ignores the timeout.
    answer = in_background(lambda: get_session().head(constants.ENDPOINT, timeout=PROBE_SECONDS))
    try:
        answer.result(PROBE_SECONDS)
    except Exception as error:  # of the client, of proxies, of names
        message = str(error) or type(error).__name__
        reason = "no answer" if isinstance(error, TimeoutError) else message.splitlines()[0]
        raise InputError(
            f"{source} {there}, and {constants.ENDPOINT} can't be reached ({reason}): "
            f"give a folder, or try again with a network; {LISTED}"
        ) from error
