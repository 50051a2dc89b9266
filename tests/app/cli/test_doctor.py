"""`specchat doctor` looks at everything, whatever it finds."""

from __future__ import annotations

import importlib
import json
import math
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import platformdirs
import pytest
import torch

from app.cli import doctor
from app.config.model_options import ModelOptions
from app.config.presets import Presets
from app.engine.lane import Lane
from app.models import catalog
from app.models.load_models import load_models
from app.models.loaded import LoadedModels
from decoding.errors import InputError
from decoding.params import Params
from decoding.round import Round
from tests.conftest import Specchat

NAMES = [
    "specchat", "terminal", "settings", "conversations", "torch", "GPU", "quantizing", "memory",
    "model cache", "demo",
]  # fmt: skip


@pytest.fixture(autouse=True)
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    monkeypatch.setattr(shutil, "which", lambda name: None)


def checks(done: Any) -> dict[str, dict[str, str]]:
    found = json.loads(done.stdout)["checks"]
    assert [check["name"] for check in found] == NAMES
    return {check["name"]: check for check in found}


@pytest.fixture(scope="module")
def load_once() -> Callable[[ModelOptions], LoadedModels]:
    """Loads the demo, which takes longer than what its lanes say, for the first who asks."""
    loaded: list[tuple[ModelOptions, LoadedModels]] = []

    def load(options: ModelOptions) -> LoadedModels:
        if not loaded:
            loaded.append((options, load_models(options)))
        (known, models), *_ = loaded
        assert options == known
        return models

    return load


@pytest.fixture
def demo_loaded_once(
    load_once: Callable[[ModelOptions], LoadedModels], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.models.load_models.load_models", load_once)


def test_a_sound_machine(specchat: Specchat, demo_loaded_once: None) -> None:
    done = specchat("doctor", "--json")
    found = checks(done)
    assert done.returncode == 0, found
    assert found["demo"]["state"] == "ok" and found["demo"]["found"].startswith("7 lanes said the")
    assert found["GPU"]["state"] == found["quantizing"]["state"] == "note"


def test_what_is_wrong_is_said_with_what_to_do(
    specchat: Specchat, tmp_path: Path, demo_loaded_once: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Settings that can't be, a GPU that torch can't use, a lane that says something else."""
    (tmp_path / "config.toml").write_text("temperature = -1")
    monkeypatch.setattr(shutil, "which", lambda name: "/usr/bin/nvidia-smi")
    monkeypatch.setattr(torch.version, "cuda", None)
    step = Lane.step

    def wrong(lane: Lane, params: Params) -> Round:
        record = step(lane, params)
        if lane.spec.strategy == "medusa":
            lane.ids[-1] = 0
        return record

    monkeypatch.setattr(Lane, "step", wrong)
    done = specchat("doctor", "--json")
    found = checks(done)
    assert done.returncode == 1
    assert {n for n, check in found.items() if check["state"] == "wrong"} == {
        "settings", "GPU", "demo",
    }  # fmt: skip
    assert "temperature in" in found["settings"]["found"]
    assert found["GPU"]["advice"] == "install a build of torch with CUDA"
    assert found["demo"]["found"] == "medusa did not say what ar said"


def test_a_preset_that_cannot_be_used_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platformdirs, "user_config_path", lambda name: tmp_path)
    path = Presets().path
    path.write_text(json.dumps({"mine": {"temperature": 0.5}}))
    assert doctor._settings().found.endswith(" 6 presets")
    path.write_text(json.dumps({"mine": {"temperature": -1}}))
    with pytest.raises(InputError, match="the preset “mine” in .*: temperature"):
        doctor._settings()


def test_variables_that_set_nothing_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platformdirs, "user_config_path", lambda name: tmp_path)
    for name in ("SPECCHAT_SERVER_KEY", "SPECCHAT_TOP_P"):
        monkeypatch.setenv(name, "0.5")
    assert doctor._settings().state == "ok"
    monkeypatch.setenv("SPECCHAT_TEMPRATURE", "0.5")
    finding = doctor._settings()
    assert finding.state == "note" and finding.advice.endswith("setting: SPECCHAT_TEMPRATURE")


def test_a_look_that_breaks_ends_no_other(
    specchat: Specchat, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "_torch", lambda: 1 / 0)
    monkeypatch.setattr(doctor, "_demo", lambda: doctor.Finding("demo", "ok", "fine"))
    done = specchat("doctor")
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert "✗ torch          division by zero" in lines and "✓ demo           fine" in lines
    assert sum(line.startswith(tuple("✓·✗")) for line in lines) == len(NAMES)


def test_a_disk_that_hangs_holds_nothing_up(
    specchat: Specchat, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "PATIENCE_SECONDS", 0.2)
    monkeypatch.setattr(doctor, "_demo", lambda: doctor.Finding("demo", "ok", "fine"))
    never = threading.Event()
    monkeypatch.setattr(catalog, "cached_checkpoints", lambda: never.wait(60))
    done = specchat("doctor", "--json")
    never.set()
    found = checks(done)
    assert done.returncode == 0 and found["demo"]["found"] == "fine"
    assert found["model cache"]["state"] == "note"
    assert found["model cache"]["found"] == "not known after 0.2 seconds"


def test_long_lines_are_broken_for_a_terminal_only() -> None:
    finding = doctor.Finding("quantizing", "note", "saves memory " * 9, "install " * 12)
    assert len(doctor._line(finding, math.inf).splitlines()) == 2
    first, second, *rest = doctor._line(finding, 80).splitlines()
    assert len(rest) > 1 and max(map(len, (first, second, *rest))) <= 80
    assert [len(line) - len(line.lstrip()) for line in (second, rest[-1])] == [17, 19]


def test_what_is_imported_slowly_is_no_slow_disk(
    specchat: Specchat, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "PATIENCE_SECONDS", 1.0)
    monkeypatch.setattr(doctor, "_demo", lambda: doctor.Finding("demo", "ok", "fine"))
    imported = list[str]()

    def slowly(module: str) -> None:
        importlib.import_module(module)
        time.sleep(0 if imported else 1.1)
        imported.append(module)

    monkeypatch.setattr(doctor, "import_module", slowly)
    found = checks(specchat("doctor", "--json"))
    assert {"app.cli.screen_settings", "app.models.catalog"} < set(imported)
    for name in ("settings", "conversations", "model cache"):
        assert not found[name]["found"].startswith("not known"), name
