"""`specchat doctor`: checks what this machine can run, and advises on what is missing."""

from __future__ import annotations

import math
import os
import platform
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterator
from concurrent.futures import wait
from dataclasses import asdict, dataclass
from functools import partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated, Literal

import typer

from app.cli.options import switch
from app.cli.terminal import print_document, print_output
from app.daemon_threads import in_background
from app.strategies.registry import AUTOREGRESSIVE, STRATEGIES
from app.text.plural import pluralize
from app.text.units import format_bytes
from app.version import VERSION
from decoding.errors import InputError
from decoding.params import Params

State = Literal["ok", "note", "wrong"]
MARKS: dict[State, str] = {"ok": "✓", "note": "·", "wrong": "✗"}
MIN_TERMINAL = (60, 24)  # columns, rows
WEIGHTS_SHARE = 0.8  # of the free memory; caches and a drafter need some, too
BYTES_PER_PARAMETER = {"float32": 4.0, "bfloat16": 2.0, "nf4": 0.6}  # with scales
# These may hang, where a folder is on a disk that does. What they import is on another one, and is
# only slow on a busy machine.
DISK_CHECKS = {
    "settings": ("app.cli.screen_settings", "app.config.presets", "app.servers.errors"),
    "conversations": ("app.history.store",),
    "model cache": ("app.models.catalog",),
}
PATIENCE_SECONDS = 3.0
DEMO_PROMPT, DEMO_TOKENS = "Once upon a time", 32


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check. State "note": missing, but not required."""

    name: str
    state: State
    found: str
    advice: str = ""


def doctor(
    as_json: Annotated[bool, switch("--json", help="Print one JSON document.")] = False,
) -> None:
    """Check what can run on this machine, and what is missing.

    The exit code is 1 if something is broken.
    """
    from app.report.document import envelope

    columns = shutil.get_terminal_size().columns if _on_terminal() else math.inf
    findings = []
    for finding in examine():
        findings.append(finding)
        if not as_json:
            print_output(_line(finding, columns))
    if as_json:
        print_document(envelope(checks=[asdict(finding) for finding in findings]))
    raise typer.Exit(int(any(finding.state == "wrong" for finding in findings)))


def examine() -> Iterator[Finding]:
    """Run the checks in order; a check that raises is a finding as well."""
    checks: dict[str, Callable[[], Finding]] = {
        "specchat": _specchat,
        "terminal": _terminal,
        "settings": _settings,
        "conversations": _conversations,
        "torch": _torch,
        "GPU": _gpu,
        "quantizing": _quantizing,
        "memory": _memory,
        "model cache": _cache,
        "demo": _demo,
    }
    for name, check in checks.items():
        try:
            yield _with_timeout(name, check) if name in DISK_CHECKS else check()
        except Exception as error:  # the other checks go on
            yield Finding(name, "wrong", " ".join(str(error).split()) or type(error).__name__)


def _with_timeout(name: str, check: Callable[[], Finding]) -> Finding:
    """Run a check on a thread, and give up waiting after PATIENCE_SECONDS."""
    for module in DISK_CHECKS[name]:
        import_module(module)
    finding = in_background(check)
    if wait([finding], PATIENCE_SECONDS).not_done:
        advice = "a disk is slow, or away: whatever needs what is on it waits, too"
        return Finding(name, "note", f"not known after {PATIENCE_SECONDS:g} seconds", advice)
    return finding.result()


def _line(finding: Finding, columns: float) -> str:
    """Format a finding, wrapped to `columns`."""
    lines = [f"{MARKS[finding.state]} {finding.name:<14} {finding.found}"]
    lines += [f"{'':<16} → {finding.advice}"] if finding.advice else []
    if columns < math.inf:
        indents = (" " * 17, " " * 19)
        wrap = partial(textwrap.fill, break_long_words=False, break_on_hyphens=False)
        lines = [
            wrap(line, int(columns), subsequent_indent=indent)
            for line, indent in zip(lines, indents, strict=False)
        ]
    return "\n".join(lines)


def _specchat() -> Finding:
    python = f"Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    return Finding("specchat", "ok", f"{VERSION}, {python}")


def _on_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


def _terminal() -> Finding:
    if not _on_terminal():
        return Finding("terminal", "note", "none", "run, bench, heads and models need none")
    columns, rows = shutil.get_terminal_size()
    found = f"{columns}x{rows}, {sys.stdout.encoding}"
    if "NO_COLOR" in os.environ:
        found += ", no colours (NO_COLOR is set)"
    if columns < MIN_TERMINAL[0] or rows < MIN_TERMINAL[1]:
        advice = f"make it {MIN_TERMINAL[0]}x{MIN_TERMINAL[1]} or larger"
        return Finding("terminal", "note", found, advice)
    if "utf" not in sys.stdout.encoding.lower():
        advice = "set a UTF-8 locale, such as LANG=C.UTF-8: bars and marks are drawn with Unicode"
        return Finding("terminal", "note", found, advice)
    return Finding("terminal", "ok", found)


def _settings() -> Finding:
    from app.cli.screen_settings import keymap_of, theme_of
    from app.config.presets import Presets
    from app.config.settings import Settings, config_file, load_settings
    from app.servers.errors import KEYS

    settings = load_settings({})
    _ = theme_of(settings), keymap_of(settings)
    own = [name for name in os.environ if name.upper().startswith("SPECCHAT_")]
    known = {*KEYS, *(f"SPECCHAT_{name.upper()}" for name in Settings.model_fields)}
    found = str(config_file()) if config_file().is_file() else "defaults"
    presets = Presets()
    names = presets.all()
    for name in names:
        presets.get(name)
    found = ", ".join([found, *own, pluralize(len(names), "preset")])
    if unknown := [name for name in own if name.upper() not in known]:
        advice = f"ignored, because there is no such setting: {', '.join(unknown)}"
        return Finding("settings", "note", found, advice)
    return Finding("settings", "ok", found)


def _conversations() -> Finding:
    from app.history.store import Store

    store = Store()
    there = next(folder for folder in (store.folder, *store.folder.parents) if folder.exists())
    if not os.access(there, os.W_OK | os.X_OK):
        advice = "make it writable, or start with --no-keep"
        return Finding("conversations", "wrong", f"can't write to {there}", advice)
    return Finding("conversations", "ok", f"{len(store.entries())} in {store.folder}")


def _torch() -> Finding:
    import torch

    found = f"{torch.__version__}, {pluralize(torch.get_num_threads(), 'thread')} by default"
    return Finding("torch", "ok", f"{found}, transformers {version('transformers')}")


def _gpu() -> Finding:
    import torch

    if torch.cuda.is_available():
        devices = map(torch.cuda.get_device_properties, range(torch.cuda.device_count()))
        found = (f"{each.name}, {format_bytes(each.total_memory)}" for each in devices)
        return Finding("GPU", "ok", "; ".join(found))
    if torch.backends.mps.is_available():
        return Finding("GPU", "ok", "an Apple GPU, through mps")
    if not os.path.exists("/dev/nvidiactl") and shutil.which("nvidia-smi") is None:
        return Finding("GPU", "note", "none: models run on the CPU, in float32")
    if torch.version.cuda is None:
        advice = "install a build of torch with CUDA"
        gpu = "an NVIDIA GPU that this build of torch does not support"
        return Finding("GPU", "wrong", gpu, advice)
    advice = "see what nvidia-smi says; the driver may be older than this torch needs"
    return Finding("GPU", "wrong", "an NVIDIA GPU that torch can't use", advice)


def _quantizing() -> Finding:
    import torch

    try:
        found = f"bitsandbytes {version('bitsandbytes')}"
    except PackageNotFoundError:
        return Finding("quantizing", "wrong", "no bitsandbytes", "pip install bitsandbytes")
    if not torch.cuda.is_available():
        found += ", on a CPU: --quantize int8 or nf4 saves memory there, not time"
        return Finding("quantizing", "note", found)
    return Finding("quantizing", "ok", f"{found}: --quantize int8 or nf4")


def _memory() -> Finding:
    import psutil
    import torch

    on_gpu = torch.cuda.is_available()
    free = torch.cuda.mem_get_info()[0] if on_gpu else psutil.virtual_memory().available
    kinds = ("bfloat16", "nf4") if on_gpu else ("float32", "bfloat16")
    room = {kind: WEIGHTS_SHARE * free / BYTES_PER_PARAMETER[kind] / 1e9 for kind in kinds}
    rooms = [f"{billions:.1f} billion in {kind}" for kind, billions in room.items()]
    where = " on the GPU" if on_gpu else ""
    found = f"{format_bytes(free)} free{where}: room for parameters: about {' or '.join(rooms)}"
    return Finding("memory", "ok", found)


def _cache() -> Finding:
    from huggingface_hub.constants import HF_HUB_CACHE, HF_HUB_OFFLINE

    from app.models.catalog import cached_checkpoints

    models = sum(found.kind == "model" for found in cached_checkpoints())
    offline = ", HF_HUB_OFFLINE is set: nothing is downloaded" if HF_HUB_OFFLINE else ""
    found = f"{pluralize(models, 'model')} in {HF_HUB_CACHE}{offline}"
    advice = "" if models else "specchat --target ID downloads one; any folder will do as well"
    return Finding("model cache", "ok" if models else "note", found, advice)


def _demo() -> Finding:
    """Check that all lanes give the same answer with the demo, on the default device."""
    from app.config.model_options import ModelOptions
    from app.engine.lane import Lane
    from app.models.load_models import load_models
    from app.strategies.lane_spec import LaneSpec
    from decoding.tokenizing.stopping import Stop

    models = load_models(ModelOptions(dtype="float32"))
    ids = models.encode([{"role": "user", "content": DEMO_PROMPT}])
    params = Params(max_new_tokens=DEMO_TOKENS)
    answers = {}
    for strategy in STRATEGIES.values():
        if not strategy.on_target:
            continue
        lane = Lane(LaneSpec(strategy.name, strategy.name), models)
        if not lane.available:
            raise InputError(f"{lane.spec.name}: {lane.reason}; install specchat again")
        lane.generate(ids, params, 0, Stop())
        answers[strategy.name] = lane.ids
    baseline = answers[AUTOREGRESSIVE.name]
    others = [name for name, said in answers.items() if said != baseline]
    if others:
        advice = "this is a bug: please report it with this machine's processor and torch"
        return Finding(
            "demo",
            "wrong",
            f"{', '.join(others)} did not say what {AUTOREGRESSIVE.name} said",
            advice,
        )
    found = f"{len(answers)} lanes said the same, on {models.device} in {models.dtype}"
    return Finding("demo", "ok", found)
