"""Finds a model's local folder; a hub id is downloaded into the Hugging Face cache if needed."""

from __future__ import annotations

import re
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

from app.models.hub import LISTED, cached_folder, repo_cache, require_hub
from app.progress import Progress, silent
from app.text.repo_name import Repo, parse_repo
from app.text.units import format_bytes
from decoding.errors import InputError
from decoding.json_text import read_json

TOKENIZER_FILES = ("tokenizer*", "vocab*", "*.model", "tekken.json")  # heads have none
_CONFIGS = (".json", ".jinja", ".txt", ".model", ".tiktoken", ".py")
_WEIGHTS = (".safetensors", ".bin", ".pt", ".pth")  # in order of preference
# Not weights to load: copies in the authors' own format, and a trainer's state.
_NOT_WEIGHTS = ("consolidated", "original", "optimizer", "scheduler", "training_args", "rng_state")
_INDEX = ".index.json"
_POLL_INTERVAL = 0.3
_LOGIN = "log in with `hf auth login` or set HF_TOKEN"


def local_folder(source: str, progress: Progress = silent, tokenizer: bool = False) -> Path:
    """Return the folder of a model or of heads: as given, or a hub id's in the cache. The network
    is only used if the cached one is not complete (`tokenizer`: with a tokenizer). Raises
    InputError."""
    folder, repo = find_source(source)
    if repo is None or (folder is not None and is_whole(folder, tokenizer, repo.quant)):
        assert folder is not None
        return folder
    if folder is not None:
        require_hub(source)
    return _download(repo, progress)


def find_source(source: str) -> tuple[Path | None, Repo | None]:
    """Return a folder; or a repository, with its folder in the cache if there is one. Raises
    InputError if it can't be either."""
    try:
        folder = Path(source).expanduser()
        found = folder.is_dir()
    except (OSError, RuntimeError, ValueError) as error:  # too long, an unknown user
        raise InputError(f"no folder or hub id {source}: {error}") from error
    if found:
        return folder, None
    repo = parse_repo(source)
    if repo is None:
        raise InputError(f"no folder {source}: give a Hugging Face model folder or a hub id")
    cached = cached_folder(repo)
    if cached is None:
        require_hub(source, "is neither a folder nor in the Hugging Face cache")
    return cached, repo


def is_whole(folder: Path, tokenizer: bool = False, quant: str | None = None) -> bool:
    """Return whether a folder has a config, all weights that its index names, and a tokenizer if
    that is needed; or a GGUF file, which contains all that, with the quantization `quant` if
    given."""
    names = {path.name for path in folder.iterdir() if path.exists()}  # links may lead nowhere
    if quant is not None or not names & {"config.json", "adapter_config.json"}:
        return bool(gguf_among(names, quant))
    if tokenizer and not has_tokenizer(folder):
        return False
    needed: set[str] = set()
    for index in _indexes([path.name for path in folder.iterdir()]):
        try:
            needed |= set(read_json(folder / index)["weight_map"].values())
        except (OSError, ValueError, TypeError, LookupError, AttributeError):
            return False
    return bool(needed or weights_among(names)) and needed <= names


def has_tokenizer(folder: Path) -> bool:
    return any(path for name in TOKENIZER_FILES for path in folder.glob(name))


def weights_among(names: Collection[str]) -> list[str]:
    """Return the files of weights to load, in one format only."""
    for ending in _WEIGHTS:
        if found := [n for n in names if n.endswith(ending) and not n.startswith(_NOT_WEIGHTS)]:
            return found
    return []


def _indexes(names: Collection[str]) -> list[str]:
    """The indexes of the weights to load: those of other formats name files that are not needed."""
    found = weights_among([name.removesuffix(_INDEX) for name in names])
    return [name for name in names if name.endswith(_INDEX) and name.removesuffix(_INDEX) in found]


def gguf_among(names: Collection[str], quant: str | None = None) -> list[str]:
    """Return the GGUF files of language models, with the quantization `quant` if given."""
    found = sorted(n for n in names if n.endswith(".gguf") and not n.startswith("mmproj"))
    if quant is None:
        return found
    kind = re.compile(rf"(?<![^\W_]){re.escape(quant)}(?!\w)", re.IGNORECASE)
    return [name for name in found if kind.search(name)]


def _download(repo: Repo, progress: Progress) -> Path:
    """Download the files of a repository that a model needs. Raises InputError."""
    from huggingface_hub import HfApi, constants, snapshot_download
    from huggingface_hub.errors import (
        GatedRepoError,
        HfHubHTTPError,
        HFValidationError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )
    from huggingface_hub.utils.tqdm import disable_progress_bars

    disable_progress_bars()  # they would be drawn over the screen
    hub = constants.ENDPOINT
    try:
        api = HfApi(endpoint=hub)
        info = api.model_info(repo.name, revision=repo.revision, files_metadata=True)
        sizes = {file.rfilename: file.size or 0 for file in info.siblings or ()}
        at_root = [name for name in sizes if "/" not in name]
        configs = [name for name in at_root if name.endswith(_CONFIGS)]
        indexes = _indexes(at_root)
        wanted = [name for name in configs if not name.endswith(_INDEX) or name in indexes]
        wanted += _weights_to_load(repo, at_root)
        wanted += [name for name in sizes if name.startswith("additional_chat_templates/")]
        there = repo_cache(repo) / "snapshots" / str(info.sha)
        missing = sum(sizes[name] for name in wanted if not (there / name).exists())
        _require_space(repo, missing)
        with _watched(repo_cache(repo) / "blobs", repo, missing, progress):
            folder = snapshot_download(
                repo.name, revision=repo.revision, endpoint=hub, allow_patterns=wanted
            )
    except InputError:
        raise
    except HFValidationError as error:
        raise InputError(f"no folder or hub id {repo}: {error}") from error
    except GatedRepoError as error:
        raise InputError(
            f"{repo} is gated: accept its terms at {hub}/{repo.name}, then {_LOGIN}"
        ) from error
    except RevisionNotFoundError as error:
        raise InputError(f"{repo.name} has no revision {repo.revision}") from error
    except RepositoryNotFoundError as error:
        raise InputError(
            f"there is no {repo} at {hub}, or it is private: {_LOGIN}; {LISTED}"
        ) from error
    except HfHubHTTPError as error:
        status = error.response.status_code
        may_not = f"the token may not read it: {_LOGIN}" if status in (401, 403) else "try later"
        raise InputError(f"{hub} answers {status} for {repo}: {may_not}") from error
    except Exception as error:  # of the client, of its transport, of the disk
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(f"can't download {repo}: {reason}") from error
    return Path(folder)


def _weights_to_load(repo: Repo, names: Collection[str]) -> list[str]:
    """The files of weights to download. Raises InputError if there are several GGUF files."""
    gguf = gguf_among(names, repo.quant)
    if repo.quant is None and (found := weights_among(names)):
        return found
    if repo.quant is not None and not gguf:
        all_of_them = ", ".join(gguf_among(names)) or "none"
        raise InputError(f"{repo.name} has no GGUF file of {repo.quant}; it has {all_of_them}")
    if len(gguf) > 1:
        raise InputError(
            f"{repo} has several GGUF files: give one of their kinds, such as "
            f"{repo.name}:Q4_K_M; it has {', '.join(gguf)}"
        )
    return gguf


def _require_space(repo: Repo, size: int) -> None:
    """Raise InputError if the cache's disk has no room."""
    cache = repo_cache(repo)
    there = next(folder for folder in cache.parents if folder.is_dir())
    free = shutil.disk_usage(there).free
    if size > free:
        raise InputError(
            f"{repo} takes {format_bytes(size)} and {there} has {format_bytes(free)} free: make "
            "room, or set HF_HUB_CACHE to a folder on another disk"
        )


@contextmanager
def _watched(blobs: Path, repo: Repo, size: int, progress: Progress) -> Iterator[None]:
    """Report progress from the sizes of the files: huggingface_hub's own progress bars differ
    between its versions and transports."""
    done = Event()
    before = _size(blobs)

    def say() -> None:
        here = min(_size(blobs) - before, size)
        share = here / size if size else 1.0
        progress(f"{repo} from the hub: {format_bytes(here)} of {format_bytes(size)}", share)

    def watch() -> None:
        while not done.wait(_POLL_INTERVAL):
            say()

    say()
    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


def _size(folder: Path) -> int:
    total = 0
    for path in folder.glob("*"):
        try:
            total += path.stat().st_size
        except OSError:  # it was renamed meanwhile
            continue
    return total
