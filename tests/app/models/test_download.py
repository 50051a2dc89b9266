"""A hub id is a folder in the cache, into which what a model needs is downloaded once."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from app.cli.heads.target import stored_precision
from app.config.model_options import ModelOptions
from app.models.checkpoint import find_checkpoint
from app.models.download import is_whole, local_folder
from app.models.load_models import load_models
from app.models.loading import load_target
from app.strategies.lane_spec import LaneSpec
from app.text.repo_name import Repo, parse_repo
from app.text.units import format_bytes
from decoding.errors import InputError
from tests.conftest import FamilyFolders
from tests.support.fake_hub import COMMIT, FakeHub, ask_only


@pytest.fixture
def hub(
    family_folders: FamilyFolders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[FakeHub]:
    """A hub with org/model, at main and v2, and an empty cache."""
    model = tmp_path / "model"
    shutil.copytree(family_folders.target, model)
    torch.save({}, model / "pytorch_model.bin")  # the same once more
    (model / "model.onnx").write_bytes(b"0" * 1000)
    with FakeHub({"org/model": model}, ("main", "v2", COMMIT)).serving() as serving:
        ask_only(serving, tmp_path / "cache", monkeypatch)
        yield serving


@pytest.mark.parametrize("source", ["org/model", "org/model@v2", f"org/model@{COMMIT}"])
def test_a_model_is_downloaded_once(hub: FakeHub, source: str) -> None:
    said: list[tuple[str, float | None]] = []
    folder = local_folder(source, lambda what, part: said.append((what, part)), tokenizer=True)
    assert folder.name == COMMIT
    names = {path.name for path in folder.iterdir()}
    assert {"config.json", "model.safetensors", "tokenizer.json"} <= names == set(hub.sent)
    assert not names & {"pytorch_model.bin", "model.onnx"}
    size = format_bytes(sum(path.stat().st_size for path in folder.iterdir()))
    assert said[0] == (f"{source} from the hub: 0 B of {size}", 0.0)
    assert load_target(source, ModelOptions()).context == 128
    assert len(hub.sent) == len(names)


def test_a_model_in_the_cache_is_asked_for_nowhere(
    hub: FakeHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = local_folder("org/model@v2")
    monkeypatch.setattr("app.models.download.require_hub", pytest.fail)
    assert local_folder("org/model@v2") == local_folder(f"org/model@{COMMIT}") == folder


def test_only_the_index_of_the_weights_to_load_says_what_is_needed(
    hub: FakeHub,
) -> None:
    shards = ("model-1-of-2.safetensors", "model-2-of-2.safetensors")
    model = hub.repos["org/model"]
    (model / "model.safetensors").rename(model / shards[0])
    (model / shards[1]).write_bytes(b"the rest")
    for name, files in {
        "model.safetensors": shards,
        "consolidated.safetensors": ("consolidated-1-of-1.safetensors",),
        "pytorch_model.bin": ("pytorch_model-1-of-1.bin",),
    }.items():
        weight_map = {str(number): file for number, file in enumerate(files)}
        (model / f"{name}.index.json").write_text(json.dumps({"weight_map": weight_map}))
    folder = local_folder("org/model", tokenizer=True)
    assert {name for name in hub.sent if "index" in name} == {"model.safetensors.index.json"}
    shutil.copy(model / "pytorch_model.bin.index.json", folder)  # as another program leaves it
    assert is_whole(folder)
    hub.sent.clear()
    assert local_folder("org/model", tokenizer=True) == folder and not hub.sent
    for shard in shards:
        (folder / shard).unlink()
        assert not is_whole(folder)
    (folder / "pytorch_model.bin").touch()  # transformers would go by the other one's index
    assert not is_whole(folder)


def test_what_is_missing_is_downloaded_again(hub: FakeHub) -> None:
    folder = local_folder("org/model")
    hub.sent.clear()
    (folder / "tokenizer.json").unlink()
    (folder / "tokenizer_config.json").unlink()
    assert local_folder("org/model") == folder and not hub.sent  # heads need none
    local_folder("org/model", tokenizer=True)
    assert (folder / "tokenizer.json").is_file() and "model.safetensors" not in hub.sent


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("org/other", "there is no org/other at http.*, or it is private: log in with `hf auth"),
        ("org/model@v3", "org/model has no revision v3"),
        ("org/gated", "org/gated is gated: accept its terms at http.*/org/gated, then log in"),
        ("org/mine", "answers 401 for org/mine: the token may not read it: log in with"),
        ("org/forbidden", "answers 403 for org/forbidden: the token may not read it"),
        ("org/broken", "answers 500 for org/broken: try later"),
        ("org/model@", "no folder org/model@"),
        ("org/../model", "no folder org/../model"),
    ],
)
def test_what_the_hub_does_not_give(hub: FakeHub, source: str, line: str) -> None:
    hub.refused = {
        "org/gated": (403, "GatedRepo"),
        "org/mine": (401, ""),
        "org/forbidden": (403, ""),
        "org/broken": (500, ""),
    }
    with pytest.raises(InputError, match=line) as refused:
        local_folder(source)
    assert "\n" not in str(refused.value)


def test_the_users_token_is_sent(hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_mine")
    local_folder("org/model")
    assert hub.tokens == {"Bearer hf_mine"}


def test_a_disk_without_room(hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda folder: shutil._ntuple_diskusage(9, 8, 1))
    with pytest.raises(InputError, match="org/model takes .* KiB and .* has 1 B free: make room"):
        local_folder("org/model")
    assert not hub.sent


def test_every_role_may_be_a_hub_id(hub: FakeHub, family_folders: FamilyFolders) -> None:
    hub.repos["org/draft"] = Path(family_folders.draft)
    options = ModelOptions("org/model@v2", {"draft": "org/draft@main"}, threads=1)
    models = load_models(options, lanes=(LaneSpec("ar", "ar"), LaneSpec("draft", "draft")))
    assert models.title == models.name == "org/model@v2" and "draft" in models.drafters
    assert stored_precision("org/model@v2") == torch.float32


def test_one_of_several_gguf_files(hub: FakeHub, tmp_path: Path) -> None:
    names = ["tiny-Q4_K_M.gguf", "tiny-Q4_K_S.gguf", "tiny.q8_0.gguf", "mmproj-f16.gguf"]
    (tmp_path / "gguf").mkdir()
    for name in names:
        (tmp_path / "gguf" / name).write_bytes(b"GGUF" + name.encode())  # each its own
    hub.repos["org/gguf"] = tmp_path / "gguf"
    found = find_checkpoint("org/gguf:q4_k_m")
    assert found.gguf_file == names[0] and hub.sent == names[:1]
    assert find_checkpoint("org/gguf:Q8_0@main").gguf_file == names[2]
    assert hub.sent == [names[0], names[2]]
    with pytest.raises(InputError, match="org/gguf has no GGUF file of Q4_K; it has tiny-Q4_K_M"):
        find_checkpoint("org/gguf:Q4_K")
    with pytest.raises(InputError, match=r"org/gguf@v2 has several .* such as org/gguf:Q4_K_M"):
        find_checkpoint("org/gguf@v2")


@pytest.mark.parametrize(
    ("source", "repo"),
    [
        ("gpt2", Repo("gpt2")),
        ("org/name@refs/pr/1", Repo("org/name", "refs/pr/1")),
        ("org/name:Q4_K_M@v2", Repo("org/name", "v2", "Q4_K_M")),
        ("org/name:", None),
        ("a/b/c", None),
        ("./model", None),
        ("~/model", None),
        ("org\\name", None),
    ],
)
def test_hub_ids(source: str, repo: Repo | None) -> None:
    assert parse_repo(source) == repo
