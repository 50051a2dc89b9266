"""Templates from a file, their arguments, and the sampling that a model's authors recommend."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from transformers import GenerationConfig

from app.config.model_options import ModelOptions
from app.config.settings import load_settings
from app.models.load_models import load_models
from app.models.loaded import LoadedModels
from app.models.sampling_defaults import ignored_settings, sampling_defaults
from decoding.errors import InputError
from tests.conftest import FamilyFolders, Specchat

TEMPLATE = (
    "{% for m in messages %}[{{ m.content }}]{% endfor %}"
    "{# not thoughts #} the answer.{{ m.reasoning if m is defined else '' }}"
    "{% if enable_thinking is defined and enable_thinking is false %}<nothink>{% endif %}"
)


@pytest.fixture
def template(tmp_path: Path) -> str:
    (tmp_path / "own.jinja").write_text(TEMPLATE)
    return str(tmp_path / "own.jinja")


def models(family_folders: FamilyFolders, template: str, *arguments: str) -> LoadedModels:
    flags = {"target": family_folders.target, "chat_template": template, "threads": "1"}
    return load_models(load_settings({**flags, "template_arg": arguments}).models, lanes=())


def test_a_template_of_ones_own_with_arguments(
    family_folders: FamilyFolders, template: str
) -> None:
    def text(*arguments: str) -> str:
        loaded = models(family_folders, template, *arguments)
        return loaded.decode(loaded.encode([{"role": "user", "content": "fox"}]))

    assert text() == "[fox] the answer."
    assert text("enable_thinking=false") == "[fox] the answer.<nothink>"
    assert text("enable_thinking=true") == "[fox] the answer."


@pytest.mark.parametrize(
    ("argument", "line"),
    [
        ("thinking", "--template-arg: must be NAME=VALUE"),
        ("a b=1", "--template-arg: must be NAME=VALUE"),
        ("messages=[]", "--template-arg: messages is not the template's"),
        ("thinkign=1", "--template-arg thinkign: the model's chat template has no thinkign"),
        ("thoughts=1", "the model's chat template has no thoughts"),  # but in a comment,
        ("answer=1", "the model's chat template has no answer"),  # in its text,
        ("reasoning=1", "the model's chat template has no reasoning"),  # or as another's
    ],
)
def test_arguments_that_do_nothing(
    family_folders: FamilyFolders, template: str, argument: str, line: str
) -> None:
    with pytest.raises(InputError, match=line):
        models(family_folders, template, argument)


def test_a_template_that_is_not_there(family_folders: FamilyFolders, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--chat-template: can't read"):
        models(family_folders, str(tmp_path / "none.jinja"))
    options = ModelOptions(family_folders.target, chat_template=str(tmp_path))
    line = f"--chat-template: can't read {re.escape(str(tmp_path))}: Is a directory$"
    with pytest.raises(InputError, match=line):  # the path once
        load_models(options, lanes=())


@pytest.mark.parametrize(
    ("config", "found"),
    [
        ({"do_sample": True, "temperature": 0.6, "top_p": 0.9}, (0.6, 0.9, 0)),
        ({"top_k": 20}, (1.0, 1.0, 20)),
        ({"eos_token_id": 5}, None),
        ({"temperature": "hot"}, None),
        ({"temperature": -1}, None),
        ([], None),
    ],
)
def test_sampling_of_a_generation_config(
    tmp_path: Path, config: object, found: tuple[float, float, int] | None
) -> None:
    (tmp_path / "generation_config.json").write_text(json.dumps(config))
    values = sampling_defaults(tmp_path)
    if found is None:
        assert values == {}
    else:
        names = ("temperature", "top_p", "top_k")
        rest = {"min_p": 0, "repetition_penalty": 1, "presence_penalty": 0, "acceptance": "exact"}
        assert values == {**dict(zip(names, found, strict=True)), **rest}


def test_the_models_preset_headless(
    specchat: Specchat, family_folders: FamilyFolders, tmp_path: Path
) -> None:
    folder = tmp_path / "model"
    shutil.copytree(family_folders.target, folder)
    flags = ("--target", str(folder), "--strategies", "ar", "--max-new-tokens", "4", "--json")
    run = ("run", "--prompt", "the", "--preset", "model", *flags)
    done = specchat(*run)
    assert done.returncode == 2 and "has no sampling settings that are valid in" in done.stderr
    config = {"temperature": 0.6, "top_k": 20, "eos_token_id": 1}
    (folder / "generation_config.json").write_text(json.dumps(config))
    settings = json.loads(specchat(*run, "--top-k", "5").stdout)["settings"]
    assert (settings["temperature"], settings["top_k"], settings["top_p"]) == (0.6, 5, 1.0)


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"repetition_penalty": 1.0, "num_beams": 1, "eos_token_id": 5}, ()),
        ({"repetition_penalty": 1.1}, ("repetition_penalty",)),
        ({"exponential_decay_length_penalty": (2, 1.5)}, ("exponential_decay_length_penalty",)),
        ({"guidance_scale": 2.0, "num_beams": 4}, ("guidance_scale", "num_beams")),
        ({"stop_strings": ["END"], "do_sample": True}, ("stop_strings",)),
        ({"suppress_tokens": [3]}, ("suppress_tokens",)),
    ],
)
def test_what_a_generation_config_asks_for_in_vain_is_named(
    given: dict[str, Any], named: tuple[str, ...]
) -> None:
    assert ignored_settings(GenerationConfig(**given)) == named


def test_a_penalty_of_the_model_is_ignored_until_it_is_asked_for(
    specchat: Specchat, family_folders: FamilyFolders, tmp_path: Path
) -> None:
    folder = tmp_path / "model"
    shutil.copytree(family_folders.target, folder)
    config = {"repetition_penalty": 1.5, "eos_token_id": 1}
    (folder / "generation_config.json").write_text(json.dumps(config))
    flags = ("--target", str(folder), "--strategies", "ar", "--max-new-tokens", "4")
    run = ("run", "--prompt", "the", *flags)
    assert json.loads(specchat(*run, "--json").stdout)["ignored"] == ["repetition_penalty"]
    assert "repetition_penalty: ignored (--preset model applies" in specchat(*run).stdout
    asked = json.loads(specchat(*run, "--preset", "model", "--json").stdout)
    assert asked["ignored"] == [] and asked["settings"]["repetition_penalty"] == 1.5
