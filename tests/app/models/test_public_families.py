"""Public families: what they are, whether they fit, and that their layouts load."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from app.config.families import PUBLIC_FAMILIES
from app.config.model_options import ModelOptions
from app.config.settings import Settings
from app.models.assets import assets
from app.models.load_models import load_models
from app.models.loading import load_tokenizer
from app.models.public_families import MachineMemory, family_state, fetch, fits
from app.strategies.lane_spec import LaneSpec
from app.strategies.roles import ROLES
from app.text.repo_name import parse_repo
from decoding.errors import InputError
from tests.conftest import Specchat
from tests.support.fake_hub import FakeHub, ask_only

VICUNA = PUBLIC_FAMILIES["vicuna-7b"]
HOME = MachineMemory(24 * 2**30, on_gpu=False)


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    """The repositories of vicuna-7b in their layouts: weights as pickles in two files, no chat
    template, heads as the authors saved them. Inside are the demo models."""
    sources = VICUNA.sources
    repos = {source: tmp_path / role for role, source in sources.items()}
    demo = assets() / "demo"
    for role in ("target", "draft"):
        folder = tmp_path / role
        shutil.copytree(demo / role, folder)
        (folder / "chat_template.jinja").unlink()
        tensors = load_file(folder / "model.safetensors")
        (folder / "model.safetensors").unlink()
        places = {}
        for number, name in enumerate(tensors):
            places[name] = f"pytorch_model-0000{1 + number % 2}-of-00002.bin"
        for file in set(places.values()):
            torch.save({n: tensors[n] for n in places if places[n] == file}, folder / file)
        index = {"metadata": {}, "weight_map": places}
        (folder / "pytorch_model.bin.index.json").write_text(json.dumps(index))
    (tmp_path / "medusa").mkdir()
    heads = load_file(demo / "medusa" / "medusa_lm_head.safetensors")
    torch.save(heads, tmp_path / "medusa" / "medusa_lm_head.pt")
    config = json.loads((demo / "medusa" / "config.json").read_text())
    (tmp_path / "medusa" / "config.json").write_text(json.dumps(config))
    (tmp_path / "eagle").mkdir()
    shutil.copy(demo / "eagle1" / "config.json", tmp_path / "eagle")
    head = load_file(demo / "eagle1" / "model.safetensors")
    torch.save(head, tmp_path / "eagle" / "pytorch_model.bin")
    with FakeHub(repos).serving() as serving:
        ask_only(serving, tmp_path / "cache", monkeypatch)
        yield serving


@pytest.mark.parametrize("name", PUBLIC_FAMILIES)
def test_a_public_family_is_chosen_by_its_name(name: str) -> None:
    family = PUBLIC_FAMILIES[name]
    assert "target" in family.parts and family.parts.keys() <= ROLES.keys()
    for part in family.parts.values():
        repo = parse_repo(part.source)
        assert repo is not None and repo.name == part.source and part.licence
        assert 0.5 < part.size / part.parameters < 4.1  # bytes each: MXFP4 to float32
    models = Settings.model_validate({"family": name}).models
    assert models.target == family.parts["target"].source
    assert models.drafters == {r: s for r, s in family.sources.items() if r != "target"}
    mine = {"family": name, "draft": "./mine", "chat_template": "./mine.jinja"}
    own = Settings.model_validate(mine).models
    assert own.source("draft") == "./mine" and own.chat_template == "./mine.jinja"


def test_a_family_of_ones_own_comes_before_a_public_one() -> None:
    settings = Settings.model_validate(
        {"family": "qwen3-8b", "families": {"qwen3-8b": {"target": "x"}}}
    )
    assert settings.models.target == "x" and "qwen3-8b" not in settings.public_families


def test_what_fits_is_said_with_the_option_that_makes_it_fit() -> None:
    def said(name: str, gib: float, on_gpu: bool = False) -> str:
        return fits(PUBLIC_FAMILIES[name], MachineMemory(gib * 2**30, on_gpu))

    assert said("smollm2", 16) == "fits" and said("qwen3-8b", 80, on_gpu=True) == "fits"
    assert said("qwen3-8b", 24) == "fits with --dtype bfloat16"
    assert said("qwen3-8b", 16, on_gpu=True) == "fits with --quantize nf4"
    assert said("gpt-oss-20b", 24) == "needs 47 GiB of memory"  # it is quantized already


def test_the_parts_of_a_family_are_fetched_once_and_load_as_they_are(hub: FakeHub) -> None:
    assert family_state(VICUNA, HOME).missing == VICUNA.parts
    fetch(VICUNA)
    assert not family_state(VICUNA, HOME).missing
    hub.sent.clear()
    fetch(VICUNA)
    assert not hub.sent
    lanes = [LaneSpec(name, name) for name in ("ar", "draft", "medusa", "eagle")]
    settings = Settings.model_validate({"family": "vicuna-7b", "threads": 1})
    models = load_models(settings.models, lanes=lanes)
    assert not models.missing and models.drafters.keys() == {"draft", "medusa", "eagle"}
    text = models.decode(models.encode([{"role": "user", "content": "Hi"}]))
    assert text.endswith("polite answers to the user's questions. USER: Hi ASSISTANT:")


def test_a_part_that_is_not_there_is_named(hub: FakeHub) -> None:
    del hub.repos[VICUNA.parts["eagle"].source]
    with pytest.raises(InputError, match="there is no yuhuili/EAGLE-Vicuna-7B-v1.3 at"):
        fetch(VICUNA)
    assert family_state(VICUNA, HOME).missing.keys() == {"eagle"}


def test_the_command_asks_before_it_downloads(hub: FakeHub, specchat: Specchat) -> None:
    document = json.loads(specchat("models", "--json").stdout)
    assert [each["name"] for each in document["public"]] == list(PUBLIC_FAMILIES)
    refused = specchat("models", "--get", "vicuna-7b")
    assert refused.returncode == 2 and "no terminal: --yes" in refused.stderr and not hub.sent
    assert "lmsys/vicuna-7b-v1.3  13 GiB  LLaMA licence" in refused.stderr
    done = specchat("models", "--get", "vicuna-7b", "--yes")
    assert done.returncode == 0 and "specchat --family vicuna-7b" in done.stdout
    listed = specchat("models").stdout
    assert "✓ medusa  FasterDecoding/medusa-vicuna-7b-v1.3" in listed
    assert "--get qwen3-8b" in listed and "--get vicuna-7b" not in listed
    wrong = specchat("models", "--get", "vicuna")
    assert wrong.returncode == 2 and "there are smollm2, " in wrong.stderr


def test_the_template_is_the_one_that_vicuna_was_trained_with() -> None:
    from transformers.utils.chat_template_utils import render_jinja_template

    path = VICUNA.chat_template
    assert path is not None
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "A"},
        {"role": "assistant", "content": "B"},
        {"role": "user", "content": "C"},
    ]
    rendered: Any = render_jinja_template(
        [messages],
        chat_template=path.read_text(),
        add_generation_prompt=True,
        bos_token="<s>",
        eos_token="</s>",
    )
    assert rendered[0][0] == "<s>Be brief. USER: A ASSISTANT: B</s>USER: C ASSISTANT:"


def test_a_sentencepiece_tokenizer_alone_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "target"
    shutil.copytree(assets() / "demo" / "target", folder)
    (folder / "tokenizer.json").rename(folder / "tokenizer.model")
    monkeypatch.setattr("app.models.loading.is_sentencepiece_available", lambda: False)
    with pytest.raises(InputError, match=r"pip install 'specchat\[sentencepiece\]'"):
        load_tokenizer(str(folder), ModelOptions())
