"""Mutated files for everything that reads one: nothing but InputError may come out of a loader.

    python -m tests.fuzz --inputs 100000 --seed 1 [--minutes 60] [--only log,presets]

Each input is a good file with a few changes, of its bytes or of its JSON. It ends with exit code 1
where anything else was raised or a loader took seconds, and prints each of these once, with the
seed and number that make it again.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from decoding.errors import InputError

SLOW_SECONDS = 5.0
ROOT = Path(__file__).parents[1]
ODD: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2**31, 2**63, 10**400, 0.5, -1e308, math.inf, math.nan),
    *("", " ", "x", "\ud800", "\x00", "\x1b]0;x\x07", "a" * 5000, "../..", "llama", "0", "auto"),
    *([], [[]], {}, {"": None}, [None], [[0, [1]]], ["x", 1, None], {"a": {"b": [1]}}),
)
DEEP = b"[" * 100_000


@dataclass(frozen=True)
class Loader:
    """`read` gets a file or, where it is a checkpoint's, the folder that it is in; it may raise
    what is `allowed`."""

    name: str
    seeds: tuple[bytes, ...]
    read: Callable[[Path], object]
    file: str = "input"
    beside: dict[str, bytes] = field(default_factory=dict)  # other files of the folder
    allowed: tuple[type[Exception], ...] = (InputError,)
    weight: int = 10  # how often it gets an input, compared with the others


@dataclass
class Findings:
    inputs: Counter[str] = field(default_factory=Counter)
    failures: dict[str, str] = field(default_factory=dict)  # by place, the first input of each


def mutated(data: bytes, chance: random.Random) -> bytes:
    """A good file with one to four changes."""
    if chance.random() < 0.005:
        return DEEP
    if chance.random() < 0.6 and (changed := _mutated_json(data, chance)) is not None:
        return changed
    out = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        here = chance.randrange(len(out) + 1)
        there = min(len(out), here + chance.choice((1, 1, 2, 4, 8, 64, 1000)))
        match chance.randrange(6):
            case 0:
                del out[here:there]
            case 1:
                out[here:here] = bytes(chance.randrange(256) for _ in range(there - here))
            case 2:
                out[here:here] = out[here:there]
            case 3:
                del out[here:]
            case 4 if out:
                out[here % len(out)] ^= 1 << chance.randrange(8)
            case _:
                out[here:here] = chance.choice(
                    (b"\x00", b"\xff\xfe", b'"', b"{", b"]", b"\n", b"9" * 30)
                )
    return bytes(out)


def _mutated_json(data: bytes, chance: random.Random) -> bytes | None:
    """Changes in the values of a document, or of some lines of one; None where it is no JSON."""
    lines = data.splitlines() if data.count(b"\n") > 1 and data[:1] in b"{[" else [data]
    for _ in range(chance.randint(1, 4)):
        place = chance.randrange(len(lines))
        try:
            value = json.loads(lines[place])
        except (ValueError, RecursionError):
            if len(lines) > 1 and place:
                continue
            try:
                lines, place, value = [data], 0, json.loads(data)
            except (ValueError, RecursionError):
                return None
        lines[place] = json.dumps(_changed(value, chance)).encode()
    return b"\n".join(lines) + b"\n" * (len(lines) > 1)


def _changed(value: Any, chance: random.Random) -> Any:
    """The same with one value another, gone, or there twice, somewhere inside."""
    if not isinstance(value, dict | list) or not value or chance.random() < 0.15:
        return chance.choice(ODD)
    keys = list(value) if isinstance(value, dict) else range(len(value))
    key = chance.choice(list(keys))
    match chance.randrange(8):
        case 0:
            del value[key]
        case 1 if isinstance(value, dict):
            value[chance.choice(("", "x", str(key) + "s", "\ud800"))] = value[key]
        case 1 if isinstance(value, list):
            value.insert(key, value[key])
        case _:
            value[key] = _changed(value[key], chance)
    return value


def run(loaders: list[Loader], inputs: int, seed: int, seconds: float = math.inf) -> Findings:
    """So many inputs, or as many as there is time for."""
    findings = Findings()
    until = time.monotonic() + seconds
    names = [loader.name for loader in loaders for _ in range(loader.weight)]
    by_name = {loader.name: loader for loader in loaders}
    with TemporaryDirectory(prefix="specchat-fuzz-") as root:
        folders = {}
        for loader in loaders:
            folders[loader.name] = folder = Path(root) / loader.name
            folder.mkdir()
            for name, content in loader.beside.items():
                (folder / name).write_bytes(content)
        for number in range(inputs):
            if time.monotonic() > until:
                break
            chance = random.Random(f"{seed}/{number}")
            loader = by_name[chance.choice(names)]
            _try(loader, folders[loader.name], chance, f"seed {seed}, input {number}", findings)
    return findings


def _try(
    loader: Loader, folder: Path, chance: random.Random, which: str, findings: Findings
) -> None:
    file = folder / loader.file
    file.write_bytes(mutated(chance.choice(loader.seeds), chance))
    findings.inputs[loader.name] += 1
    took = _read(loader, folder, which, findings)
    # Once more: the machine may have been busy.
    if took > SLOW_SECONDS and (took := _read(loader, folder, which, findings)) > SLOW_SECONDS:
        key = f"{loader.name}: slow"
        findings.failures.setdefault(key, f"{key}, {took:.0f} s ({which})")


def _read(loader: Loader, folder: Path, which: str, findings: Findings) -> float:
    """The seconds that it takes."""
    begun = time.monotonic()
    try:
        loader.read(folder if loader.beside else folder / loader.file)
    except loader.allowed:
        pass
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        key = f"{loader.name}: {type(error).__name__} at {place.filename}:{place.lineno}"
        trace = "".join(traceback.format_exception(error)[-6:])
        findings.failures.setdefault(key, f"{key} ({which})\n{trace}")
    return time.monotonic() - begun


def _eagle_files(name: str) -> tuple[bytes, dict[str, bytes]]:
    from tests.support.eagle_folders import made

    with TemporaryDirectory() as folder:
        made(name).store(Path(folder) / "head")
        files = {path.name: path.read_bytes() for path in (Path(folder) / "head").iterdir()}
    return files.pop("config.json"), files


def _medusa_files() -> tuple[bytes, dict[str, bytes]]:
    import torch
    from safetensors.torch import save

    tensors = {}
    for head in range(2):
        tensors[f"{head}.0.linear.weight"] = torch.zeros(16, 16)
        tensors[f"{head}.0.linear.bias"] = torch.zeros(16)
        tensors[f"{head}.1.weight"] = torch.zeros(24, 16)
    config = {"medusa_num_heads": 2, "medusa_num_layers": 1, "medusa_accuracy": [[0.5], [0.4]]}
    return json.dumps(config).encode(), {"medusa_lm_head.safetensors": save(tensors)}


def loaders() -> Iterator[Loader]:
    """Every reader of a file, of what a server says, and of what a user types."""
    from app.cli.heads.training_data import records_of, requests_of
    from app.config import settings
    from app.config.overrides import parse_strategies, parse_sweep
    from app.config.presets import Presets
    from app.config.servers import parse_servers
    from app.history.document import conversation_document
    from app.history.export import markdown
    from app.history.parse_document import read_recording
    from app.history.store import Store
    from app.models import measured_file
    from app.models.catalog import inspect_folder, vocabulary_of
    from app.models.checkpoint import find_checkpoint
    from app.models.download import is_whole
    from app.models.sampling_defaults import sampling_defaults
    from app.servers.acceptance import read_counters
    from app.servers.errors import ServerError
    from app.servers.protocol import read_chunk
    from app.text.prompt_file import parse_requests
    from app.text.repo_name import parse_repo
    from app.tui.user_keymap import parse_keymap
    from decoding.checkpoints.eagle_read import read_eagle
    from decoding.checkpoints.files import read_tensors
    from decoding.checkpoints.medusa import read_medusa
    from decoding.trees.static import parse_choices
    from tests.support.eagle_folders import FOLDERS, TARGET

    def text_of(path: Path) -> str:
        return path.read_text(encoding="utf-8", errors="replace")

    lines = (ROOT / "assets/prompts/demo.jsonl").read_bytes().splitlines(keepends=True)
    prompts = b"".join(lines[:4])
    talks = (
        b'{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}\n'
        b'{"conversations": [{"from": "human", "value": "a"}, {"from": "gpt", "value": "b"}]}\n'
        b'{"text": "once upon a time"}\n{"input_ids": [1, 2, 3], "id": 4}\n{"prompt": "x"}\n'
    )
    yield Loader("prompts", (prompts, talks), lambda p: parse_requests(p.read_bytes(), str(p)))
    yield Loader("distill", (prompts, talks), lambda p: requests_of([str(p)]), "input.jsonl")
    yield Loader("train", (talks,), lambda p: records_of([str(p)]), "input.jsonl")

    log = (ROOT / "tests/app/history/log.jsonl").read_bytes()

    def reopened(path: Path) -> None:
        """As F3 and the exports use it."""
        recording = Store(path.parent).open(path)
        assert recording.loaded is not None
        assert recording.past() and recording.seed is not None and recording.title is not None
        json.dumps(conversation_document(recording))
        markdown(recording)

    yield Loader("log", (log,), reopened, "input.jsonl", weight=30)
    yield Loader("logs", (log,), lambda p: Store(p.parent).entries(), "input.jsonl")
    document = json.loads((ROOT / "assets/replay/demo.json").read_bytes())
    for each in document["runs"]:
        for lane in each["lanes"]:
            lane["rounds"] = lane["rounds"][:2]
    document["runs"] = document["runs"][:1]
    yield Loader("recording", (json.dumps(document).encode(), log), read_recording, weight=20)

    def presets(path: Path) -> None:
        for name in Presets(path).all():
            Presets(path).get(name)

    mine = b'{"mine": {"temperature": 0.7, "top_p": 0.95, "gamma": "auto"}, "b": {"top_k": 3}}'
    yield Loader("presets", (mine,), presets)

    toml = (
        b'top_p = 0.9\ngamma = "auto"\nserver = ["http://localhost:1"]\nstop = ["a"]\nthreads = 2\n'
        b'family = "mine"\nlogit_bias = ["5=1"]\n[families.mine]\ntarget = "~/x"\n[keys]\n'
        b'"run.again" = "f5"\n'
    )

    def config(path: Path) -> None:
        before, settings.config_file = settings.config_file, lambda: path
        try:
            loaded = settings.load_settings({})
            assert loaded.models and loaded.lanes and loaded.params
        finally:
            settings.config_file = before

    yield Loader("config.toml", (toml,), config)
    yield Loader(
        "keys",
        (b'{"run.again": "f5", "view.ghosts": "x", "panel": {"tree": "v"}}',),
        lambda p: parse_keymap(json.loads(p.read_bytes())),
        allowed=(ValueError, RecursionError),  # what is no TOML never gets there
        weight=3,
    )
    measured = (
        b'{"key": {"threads": 2, "layouts": {"qkv": [true, [1, 2], false]}, "typical": 0.1, '
        b'"passes": [[1, 0.1], [8, 0.2]], "choices": [[0], [0, 1]]}}'
    )

    def known(path: Path) -> None:
        found = measured_file.read_measured(path, "key")
        assert found is None or found.threads >= 1
        measured_file.read_tree(path, "key", ((0.5, 0.2), (0.4, 0.1)))

    yield Loader("measured", (measured,), known)

    for kind in FOLDERS:
        head, files = _eagle_files(kind)
        yield Loader(
            f"eagle {kind}", (head,), lambda p: (inspect_folder(p), read_eagle(p, TARGET)),
            "config.json", files, weight=4,
        )  # fmt: skip
    head, files = _medusa_files()
    yield Loader(
        "medusa", (head,), lambda p: (inspect_folder(p), read_medusa(p, 16, 24)),
        "config.json", files,
    )  # fmt: skip
    weights = files["medusa_lm_head.safetensors"]
    yield Loader(
        "safetensors", (weights,), lambda p: read_tensors(p, bool),
        "model.safetensors", {"config.json": head},
    )  # fmt: skip

    yield Loader("headers", (weights,), inspect_folder, "model.safetensors", {"config.json": head})
    _, files = _eagle_files("eagle1")
    (pickled,) = [content for name, content in files.items() if name.endswith(".bin")]
    yield Loader(
        "pickles", (pickled,), lambda p: (inspect_folder(p), read_tensors(p, bool)),
        "pytorch_model.bin", {"config.json": head}, weight=4,
    )  # fmt: skip

    demo = ROOT / "assets" / "demo" / "target"
    model = (demo / "config.json").read_bytes()
    index = b'{"metadata": {}, "weight_map": {"a": "model.safetensors", "b": "c.safetensors"}}'
    beside = {"config.json": model, "model.safetensors": weights}
    yield Loader("index", (index,), is_whole, "model.safetensors.index.json", beside)
    adapter = b'{"base_model_name_or_path": "x/y", "peft_type": "LORA", "revision": null}'
    yield Loader(
        "adapter", (adapter,), lambda p: find_checkpoint(str(p)), "adapter_config.json",
        {"adapter_model.safetensors": weights},
    )  # fmt: skip
    generation = b'{"temperature": 0.7, "top_p": 0.8, "top_k": 20, "eos_token_id": [1, 2]}'
    yield Loader("generation", (generation,), sampling_defaults, "generation_config.json", beside)
    tokens = b'{"model": {"type": "BPE", "vocab": {"a": 0, "b": 1}}}'
    yield Loader(
        "vocabulary",
        (tokens,),
        lambda p: vocabulary_of.__wrapped__(str(p)),
        "tokenizer.json",
        beside,
    )
    yield Loader(
        "model", (model,), _model_config, "config.json",
        {"model.safetensors": weights, "tokenizer.json": tokens}, weight=4,
    )  # fmt: skip

    chunk = (
        b'{"choices": [{"index": 0, "delta": {"content": "a"}, "finish_reason": "stop"}], '
        b'"usage": {"completion_tokens": 3}, "timings": {"draft_n": 4, "draft_n_accepted": 2}}'
    )
    yield Loader("chunk", (chunk,), lambda p: read_chunk(text_of(p)), allowed=(ServerError,))
    counters = (
        b"vllm:spec_decode_num_drafts_total 3\nvllm:spec_decode_num_accepted_tokens_total 1e3\n"
        b'vllm:spec_decode_num_accepted_tokens_per_pos_total{position="0"} 2\n'
    )
    yield Loader("counters", (counters,), lambda p: read_counters(text_of(p)))

    typed: dict[str, tuple[bytes, Callable[[str], object]]] = {
        "strategies": (b"ar,draft:gamma=2:temperature=0.8,eagle:checkpoint=x", parse_strategies),
        "sweep": (b"gamma=1,2,4", lambda text: parse_sweep([text])),
        "server": (b"name=http://user@host:8000/v1", lambda text: parse_servers([text])),
        "repo": (b"org/name:Q4_K_M@v2", parse_repo),
        "choices": (b"[[0], [0, 0], [1], [0, 1]]", parse_choices),
    }
    for name, (seed, parse) in typed.items():
        allowed = (InputError, ValueError) if name == "server" else (InputError,)
        yield Loader(name, (seed,), _typed(parse), allowed=allowed, weight=5)


def _typed(parse: Callable[[str], object]) -> Callable[[Path], object]:
    return lambda path: parse(path.read_text(encoding="utf-8", errors="replace"))


def _model_config(folder: Path) -> None:
    from app.config.model_options import ModelOptions
    from app.models.loading import load_tokenizer

    load_tokenizer(str(folder), ModelOptions())


def report(findings: Findings) -> str:
    counts = ", ".join(f"{name} {count}" for name, count in sorted(findings.inputs.items()))
    summary = (
        f"{sum(findings.inputs.values())} inputs ({counts}), {len(findings.failures)} findings"
    )
    return "\n".join([*findings.failures.values(), summary])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=100_000)
    parser.add_argument("--minutes", type=float, default=math.inf, help="the longest that it takes")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="loaders by name, with commas between")
    arguments = parser.parse_args()
    chosen = [
        each for each in loaders() if not arguments.only or each.name in arguments.only.split(",")
    ]
    findings = run(chosen, arguments.inputs, arguments.seed, 60 * arguments.minutes)
    print(report(findings))
    return int(bool(findings.failures))


if __name__ == "__main__":
    sys.exit(main())
