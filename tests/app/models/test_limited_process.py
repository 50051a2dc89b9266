"""A chat template is a program of somebody else: it ends, whatever it does."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from app.config.model_options import ModelOptions
from app.models.limited_process import LimitedProcess
from app.models.load_models import load_models
from app.models.loaded import LoadedModels
from decoding.errors import InputError
from tests.conftest import FamilyFolders
from tests.support.processes import ROOT

HELLO = [{"role": "user", "content": "the fox"}]


@pytest.fixture
def models(family_folders: FamilyFolders) -> LoadedModels:
    return load_models(ModelOptions(family_folders.target, threads=1), lanes=())


def process_of(limited: LimitedProcess) -> int:
    return int(limited("pid"))


def test_what_is_made_elsewhere_arrives() -> None:
    assert LimitedProcess(lambda: "é\ud800" * 100_000)() == "é\ud800" * 100_000
    with pytest.raises(ValueError, match="modulo by zero"):
        LimitedProcess(lambda: str(1 // 0))()
    with pytest.raises(ValueError, match="it ended the process"):
        LimitedProcess(lambda: os._exit(3))()


def work(what: str) -> str:
    if what == "fail":
        raise KeyError(what)
    if what == "hang":
        time.sleep(60)
    return str(os.getpid())


def test_one_process_for_all_calls_until_it_exceeds_a_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    limited = LimitedProcess(work)
    first = process_of(limited)
    assert first != os.getpid()
    with pytest.raises(ValueError, match="fail"):
        limited("fail")
    assert process_of(limited) == first
    monkeypatch.setattr("app.models.limited_process.SECONDS", 0.2)
    with pytest.raises(ValueError, match="longer than 0.2 seconds"):
        limited("hang")
    assert not psutil.pid_exists(first)
    assert process_of(limited) != first


def test_a_process_that_was_killed_between_two_calls_is_replaced() -> None:
    limited = LimitedProcess(work)
    first = process_of(limited)
    os.kill(first, signal.SIGKILL)
    with pytest.raises(ValueError, match="it ended the process"):
        limited("pid")
    assert process_of(limited) != first


def test_the_process_ends_with_what_called_it() -> None:
    limited = LimitedProcess(work)
    child = process_of(limited)
    del limited
    gc.collect()
    assert not psutil.pid_exists(child)


def test_the_process_survives_ctrl_c_and_ends_with_its_parent(tmp_path: Path) -> None:
    """Even where the parent was killed."""
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    assert parent.stdout is not None
    child = psutil.Process(int(parent.stdout.readline()))
    child.send_signal(signal.SIGINT)
    assert int(parent.stdout.readline()) == child.pid
    parent.kill()
    parent.wait()
    child.wait(timeout=20)  # reaped by init
    parent.stdout.close()


PARENT = """
import os, time
from app.models.limited_process import LimitedProcess
limited = LimitedProcess(lambda: str(os.getpid()))
print(limited(), flush=True)
time.sleep(0.5)
print(limited(), flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize(
    "template",
    [
        "{{ 'x' * 10**10 }}",
        "{{ '%2000000000d' % 1 }}",
        "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
        "{% set n = namespace(s='xxxxxxxx') %}{% for i in range(40) %}"
        "{% set n.s = n.s ~ n.s %}{% endfor %}",
    ],
)
def test_a_template_without_end(
    family_folders: FamilyFolders, monkeypatch: pytest.MonkeyPatch, template: str, tmp_path: Path
) -> None:
    (file := tmp_path / "endless.jinja").write_text(template)
    options = ModelOptions(family_folders.target, threads=1, chat_template=str(file))
    models = load_models(options, lanes=())
    monkeypatch.setattr("app.models.limited_process.SECONDS", 1.0)
    begun = time.perf_counter()
    with pytest.raises(InputError, match="chat template can't take .*it takes (longer|more) than"):
        models.encode(HELLO)
    assert time.perf_counter() - begun < 20  # and this process is as it was
    assert models.encode(HELLO, raw=True)


def test_ids_are_those_of_the_tokenizers_own_way(models: LoadedModels) -> None:
    own: Any = models.tokenizer.apply_chat_template(
        HELLO, add_generation_prompt=True, return_dict=True
    )
    assert models.encode(HELLO) == own["input_ids"]


def test_a_prompt_that_no_context_holds(models: LoadedModels) -> None:
    with pytest.raises(InputError, match="the prompt has 40000 characters, far more than"):
        models.encode([{"role": "user", "content": "x" * 40_000}])
