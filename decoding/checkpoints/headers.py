"""Reads names, shapes and types of the tensors in a folder from the files' headers; imports no
torch."""

from __future__ import annotations

import pickle
import struct
import zipfile
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from decoding.json_text import parse_json

# What safetensors call the numbers of torch's typed storages.
STORED = {
    "DoubleStorage": "F64",
    "FloatStorage": "F32",
    "HalfStorage": "F16",
    "BFloat16Storage": "BF16",
}
UNFETCHED = "it is a Git LFS pointer, not the file itself, which `git lfs pull` fetches"
_POINTER = b"version https://git-lfs.github.com/spec/"
MAX_HEADER_BYTES = 100_000_000  # bytes; a file that claims more is broken


def read_tensor_shapes(folder: Path) -> dict[str, list[int]]:
    """Return the shapes in safetensors if there are any, else in .bin, .pt and .pth files that can
    be read, as trainers pickle other things beside the weights. Broken safetensors raise any
    exception."""
    found: dict[str, list[int]] = {}
    for path in regular_files(folder, "safetensors"):
        found |= _safetensors(path)
    if found:
        return found
    for path in regular_files(folder, "bin", "pt", "pth"):
        with suppress(Exception):  # a pickle may hold anything, and raise anything
            found |= {name: list(shape) for name, shape in _pickled(path).items()}
    return found


def read_tensor_types(folder: Path) -> dict[str, str]:
    """Return the types in safetensors, as these call them: F32, I8, F8_E4M3, if there are any, else
    in pickled files; {} if one is broken."""
    with suppress(Exception):
        if files := regular_files(folder, "safetensors"):
            headers = map(_header, files)
            return {name: each["dtype"] for header in headers for name, each in header.items()}
        pickled = map(_pickled, regular_files(folder, "bin", "pt", "pth"))
        return {name: shape.dtype for shapes in pickled for name, shape in shapes.items()}
    return {}


def weight_files(folder: Path) -> list[Path]:
    return regular_files(folder, "safetensors", "bin", "pt", "pth")


def file_tensor_names(path: Path) -> list[str]:
    """Return the names in one file. Raises any exception if it is broken, or only torch can read
    it."""
    return list(_header(path) if path.suffix == ".safetensors" else _pickled(path))


def read_tensor_names(folder: Path) -> set[str] | None:
    """Return the names in all files of weights; None if one of them can only be read by torch."""
    with suppress(Exception):
        of_files = [
            *map(_header, regular_files(folder, "safetensors")),
            *map(_pickled, regular_files(folder, "bin", "pt", "pth")),
        ]
        return {name for names in of_files for name in names} if all(of_files) else None
    return None


def is_lfs_pointer(path: Path) -> bool:
    """Return whether a file is what Git LFS has in the place of one that it did not fetch."""
    with suppress(OSError), path.open("rb") as file:
        return file.read(len(_POINTER)) == _POINTER
    return False


def packed_weight(types: Mapping[str, str]) -> str | None:
    """Return the first weight of a non-float (packed or scaled) dtype, and that dtype; None if
    there is none."""
    floats = ("F64", "F32", "F16", "BF16")
    packed = (n for n, kind in types.items() if n.endswith("weight") and kind not in floats)
    return next((f"{name} is {types[name]}" for name in packed), None)


def regular_files(folder: Path, *endings: str) -> list[Path]:
    """Return the files of a folder with these endings; no pipes, as these may never be written
    to."""
    found = sorted(path for ending in endings for path in folder.glob(f"*.{ending}"))
    return [path for path in found if path.is_file()]


def _header(path: Path) -> dict[str, Any]:
    """What a safetensors file says of each tensor."""
    with path.open("rb") as file:
        (length,) = struct.unpack("<Q", file.read(8).ljust(8, b"\0"))
        header = parse_json(file.read(length)) if length < MAX_HEADER_BYTES else {}
    return {name: each for name, each in header.items() if "shape" in each}


def _safetensors(path: Path) -> dict[str, list[int]]:
    header = _header(path)
    shapes = {name: each["shape"] for name, each in header.items()}
    for name in shapes:
        if f"{name}_scale" in shapes and header[name]["dtype"] == "U8":  # two values a byte
            shapes[name] = [*shapes[name][:-1], 2 * shapes[name][-1]]
    return shapes


def _pickled(path: Path) -> dict[str, _Shape]:
    """The shapes in a state dict written by `torch.save`: a zip file with the pickled dict and the
    tensors' bytes apart."""
    with zipfile.ZipFile(path) as archive:
        [member] = (each for each in archive.infolist() if each.filename.endswith("/data.pkl"))
        if member.file_size > MAX_HEADER_BYTES:
            return {}
        with archive.open(member) as file:
            tensors = _ShapesUnpickler(file).load()
    named = tensors.items() if isinstance(tensors, Mapping) else ()
    return {str(name): shape for name, shape in named if isinstance(shape, _Shape)}


class _Shape(tuple[int, ...]):
    """A tensor's shape in its place, with its type."""

    dtype: str


class _ShapesUnpickler(pickle.Unpickler):
    """Imports and calls nothing that a file names: a tensor becomes its shape, a parameter its
    tensor, a storage its type, and everything else None."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if module == "torch" and name.endswith("Storage"):
            return STORED.get(name, name)
        known = {"_rebuild_tensor": _shape, "_rebuild_tensor_v2": _shape}
        return {**known, "_rebuild_parameter": _first}.get(name, _nothing)

    def persistent_load(self, pid: Any) -> Any:
        """The type of a tensor's storage, which is not read."""
        return pid[1]


def _shape(storage: str, offset: int, size: tuple[int, ...], *rest: object) -> _Shape:
    shape = _Shape(size)
    shape.dtype = storage
    return shape


def _first(tensor: object, *rest: object) -> object:
    return tensor


def _nothing(*arguments: object) -> None:
    """In place of any other class or function."""
