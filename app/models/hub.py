"""Hub ids, their folders in the Hugging Face cache, and whether the hub can be reached."""

from __future__ import annotations

from pathlib import Path

from app.daemon_threads import in_background
from app.text.repo_name import Repo
from decoding.errors import InputError

PROBE_SECONDS = 4.0
LISTED = "`specchat models` lists what is here, --family demo always is"


def display_name(source: str) -> str:
    """Return a short name: a hub id (also for its folder in the cache), else the folder's last
    part. Absolute paths are not looked up on disk, which may be slow."""
    path = Path(source)
    return hub_id(source) or (path.name if path.is_absolute() or path.is_dir() else source)


def hub_id(source: str) -> str | None:
    """Return the hub id of a folder in the Hugging Face cache; None for any other."""
    path = Path(source)
    repo = path.parent.parent.name
    if path.parent.name != "snapshots" or not repo.startswith("models--"):
        return None
    return repo.removeprefix("models--").replace("--", "/")


def repo_cache(repo: Repo) -> Path:
    """Return the folder of a repository in the cache, which may not exist."""
    from huggingface_hub import constants

    return Path(constants.HF_HUB_CACHE) / f"models--{repo.name.replace('/', '--')}"


def cached_repos() -> list[Repo]:
    """Return the models in the cache, also those of which there is no whole revision."""
    from huggingface_hub import constants

    try:
        folders = sorted(Path(constants.HF_HUB_CACHE).iterdir())
    except OSError:
        return []
    names = [each.name for each in folders if each.name.startswith("models--")]
    return [Repo(name.removeprefix("models--").replace("--", "/")) for name in names]


def cached_folder(repo: Repo) -> Path | None:
    """Return the folder of a repository's revision in the cache, which may be incomplete; None if
    there is none."""
    cache, revision = repo_cache(repo), repo.revision or "main"
    try:
        commit = (cache / "refs" / revision).read_text(errors="replace").strip() or revision
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
