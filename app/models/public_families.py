"""Public families on this machine: which parts are downloaded, whether they fit, and
downloading."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

import psutil

from app.config.families import Part, PublicFamily
from app.models.download import is_whole, local_folder
from app.models.hub import cached_folder
from app.progress import Progress, silent
from app.text.repo_name import parse_repo
from app.text.units import format_bytes

_WITH_TOKENIZER = ("target", "draft")
_USABLE = 0.85  # of the memory; the rest is for caches, activations and other programs
_NF4_BYTES = 0.7  # per parameter, on average: only linear layers are quantized


@dataclass(frozen=True, slots=True)
class MachineMemory:
    """Bytes of memory for models: the first GPU's, else the machine's."""

    size: float
    on_gpu: bool

    @property
    def usable(self) -> float:
        return _USABLE * self.size


@dataclass(frozen=True, slots=True)
class FamilyState:
    """The parts that are `missing` here, by role, and how the family `fits` this machine."""

    missing: Mapping[str, Part]
    fits: str

    @property
    def size(self) -> float:
        """Bytes to download."""
        return sum(part.size for part in self.missing.values())


def machine_memory() -> MachineMemory:
    """Looks for a GPU with nvidia-smi, because importing torch takes seconds."""
    if (tool := shutil.which("nvidia-smi")) is not None:
        with suppress(OSError, ValueError, IndexError, subprocess.SubprocessError):
            query = [tool, "--query-gpu=memory.total", "--format=csv,noheader,nounits"]
            done = subprocess.run(query, capture_output=True, text=True, timeout=5, check=True)
            return MachineMemory(int(done.stdout.splitlines()[0]) * 2**20, True)
    return MachineMemory(psutil.virtual_memory().total, False)


def family_state(family: PublicFamily, memory: MachineMemory) -> FamilyState:
    missing = {role: part for role, part in family.parts.items() if not _is_here(role, part)}
    return FamilyState(missing, fits(family, memory))


def fits(family: PublicFamily, memory: MachineMemory) -> str:
    """Return whether all parts fit into memory, and with which option, or how much they need at
    least. The default is float32 on a CPU."""
    ways: dict[str, float] = {"fits": 2 if memory.on_gpu else 4, "fits with --dtype bfloat16": 2}
    if family.quantizable:
        ways["fits with --quantize nf4"] = _NF4_BYTES
    for words, bytes_each in ways.items():
        if family.parameters * bytes_each <= memory.usable:
            return words
    least = family.parameters * min(ways.values()) / _USABLE
    return f"needs {format_bytes(least)} of memory"


def fetch(family: PublicFamily, progress: Progress = silent) -> None:
    """Download what is missing. Raises InputError."""
    for role, part in family.parts.items():
        local_folder(part.source, progress, role in _WITH_TOKENIZER)


def _is_here(role: str, part: Part) -> bool:
    repo = parse_repo(part.source)
    folder = None if repo is None else cached_folder(repo)
    return folder is not None and is_whole(folder, role in _WITH_TOKENIZER)
