"""A chat template is a program of somebody else: it ends, whatever it does."""

from __future__ import annotations

import time
from typing import Any

import pytest

from app.config.model_options import ModelOptions
from app.models.limited_process import run_limited
from app.models.load_models import load_models
from app.models.loaded import LoadedModels
from decoding.errors import InputError
from tests.conftest import FamilyFolders

HELLO = [{"role": "user", "content": "the fox"}]


@pytest.fixture
def models(family_folders: FamilyFolders) -> LoadedModels:
    return load_models(ModelOptions(family_folders.target, threads=1), lanes=())


def test_what_is_made_elsewhere_arrives() -> None:
    assert run_limited(lambda: "é\ud800" * 100_000) == "é\ud800" * 100_000
    with pytest.raises(ValueError, match="modulo by zero"):
        run_limited(lambda: str(1 // 0))
    with pytest.raises(ValueError, match="it ended the process"):
        run_limited(lambda: __import__("os")._exit(3))


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
    models: LoadedModels, monkeypatch: pytest.MonkeyPatch, template: str
) -> None:
    monkeypatch.setattr("app.models.limited_process.SECONDS", 1.0)
    models.tokenizer.chat_template = template
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
