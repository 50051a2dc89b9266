"""What is on the machine: told from headers and configs alone, and never from the network."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from app.config.model_options import ModelOptions
from app.models.assets import assets
from app.models.catalog import (
    cached_checkpoints,
    drafter_status,
    fill_in_drafters,
    inspect_folder,
    resolve_model_folder,
    siblings,
)
from decoding.checkpoints.headers import read_tensor_shapes
from decoding.errors import InputError
from tests.conftest import Specchat
from tests.support.eagle_folders import H, V, made

DEMO = assets() / "demo"


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty Hugging Face cache."""
    folder = tmp_path / "hub"
    folder.mkdir()
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(folder))
    return folder


def keep(hub: Path, name: str, source: Path) -> Path:
    """A model as the hub's client keeps it."""
    repo = hub / f"models--{name.replace('/', '--')}"
    (repo / "refs").mkdir(parents=True)
    (repo / "refs" / "main").write_text("abc")
    (repo / "blobs").mkdir()
    shutil.copytree(source, repo / "snapshots" / "abc")
    return repo / "snapshots" / "abc"


@pytest.mark.parametrize(
    ("folder", "kind"),
    [("target", "model"), ("draft", "model"), ("medusa", "medusa"), ("eagle3", "eagle"),
     ("eagle1", "eagle1")],
)  # fmt: skip
def test_what_a_folder_holds(folder: str, kind: str) -> None:
    found = inspect_folder(DEMO / folder)
    assert found and (found.kind, found.hidden) == (kind, 192 if folder == "draft" else 256)


def test_a_folder_that_holds_nothing_or_something_broken(tmp_path: Path) -> None:
    assert inspect_folder(tmp_path) is None
    (tmp_path / "config.json").write_text("[]")
    assert inspect_folder(tmp_path) is None
    (tmp_path / "config.json").write_text('{"architectures": ["BertModel"]}')
    assert inspect_folder(tmp_path) is None
    for odd in ({"text_config": "x"}, {"hidden_size": "wide"}, {"num_hidden_layers": [1]}):
        config = {"architectures": ["LlamaForCausalLM"], **odd}
        (tmp_path / "config.json").write_text(json.dumps(config))
        assert inspect_folder(tmp_path) is None
    for odd_text in (
        "[" * 100_000,
        '{"model_type": "llama", "medusa_num_heads": 1, "n_layer": 1e999}',
    ):
        (tmp_path / "config.json").write_text(odd_text)
        assert inspect_folder(tmp_path) is None
    (tmp_path / "model.safetensors").write_bytes(b"\xff" * 9)
    assert inspect_folder(tmp_path) is None
    for text, what in (
        ("/no/such", "no folder"),
        ("~nobody/x", "no folder"),
        ("x" * 999, "no folder"),
        (str(DEMO / "medusa"), "holds heads"),
    ):
        with pytest.raises(InputError, match=what):
            resolve_model_folder(text)


def test_what_fits_a_target_is_found_beside_it_and_named_places_stay(tmp_path: Path) -> None:
    for name in ("target", "draft", "medusa", "eagle3"):
        shutil.copytree(DEMO / name, tmp_path / name)
    config = json.loads((tmp_path / "eagle3" / "config.json").read_text())
    (tmp_path / "eagle3" / "config.json").write_text(json.dumps({**config, "vocab_size": 9}))
    target = str(tmp_path / "target")
    found = fill_in_drafters(ModelOptions(target, {"medusa": "mine"}))
    assert found.source("draft") == str(tmp_path / "draft") and found.source("medusa") == "mine"
    assert found.source("eagle") is None  # it was made for another vocabulary
    assert len(siblings(tmp_path / "target")) == 3
    lines = {part.strategy: part for part in drafter_status(found)}
    assert lines["draft"].source and not lines["draft"].advice
    assert lines["eagle"].advice.startswith(f"specchat heads convert eagle3 --target {target} ")


@pytest.mark.parametrize(("name", "kind"), [("eagle1", "eagle1"), ("safeailab", "eagle")])
def test_a_pickled_eagle_draft_is_known_by_its_tensors(
    tmp_path: Path, name: str, kind: str
) -> None:
    """Its config.json is that of a small Llama, of another width than it says."""
    shutil.copytree(DEMO / "target", tmp_path / "target")
    config = json.loads((tmp_path / "target" / "config.json").read_text())
    sizes = {"hidden_size": H, "vocab_size": V}
    (tmp_path / "target" / "config.json").write_text(json.dumps({**config, **sizes}))
    draft = made(name)
    draft.config |= {"architectures": ["LlamaForCausalLM"], "hidden_size": 99, "vocab_size": V}
    place = draft.store(tmp_path / "draft")
    torch.save({"lr": torch.nn.Linear}, place / "training_args.bin")  # any class, never made
    found = inspect_folder(place)
    assert found and (found.kind, found.hidden) == (kind, H)
    options = fill_in_drafters(ModelOptions(str(tmp_path / "target")))
    assert options.source(kind) == str(place) and options.source("draft") is None
    with pytest.raises(InputError, match="holds heads"):
        resolve_model_folder(str(place))
    sizes["hidden_size"] = H + 1
    (tmp_path / "target" / "config.json").write_text(json.dumps({**config, **sizes}))
    assert fill_in_drafters(ModelOptions(str(tmp_path / "target"))).source(kind) is None


def test_pickled_models_and_medusa_heads_are_known_by_their_tensors(tmp_path: Path) -> None:
    for name in ("target", "medusa"):
        folder = tmp_path / name
        folder.mkdir()
        shutil.copy(DEMO / name / "config.json", folder)
        tensors = load_file(next((DEMO / name).glob("*.safetensors")))
        parameters = {key: torch.nn.Parameter(each) for key, each in tensors.items()}
        torch.save(parameters, folder / ("medusa_lm_head.pt" if name == "medusa" else "x.bin"))
        assert read_tensor_shapes(folder) == {
            key: list(each.shape) for key, each in tensors.items()
        }
    assert fill_in_drafters(ModelOptions(str(tmp_path / "target"))).source("medusa") == str(
        tmp_path / "medusa"
    )


def test_looking_at_a_pickle_calls_nothing(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return os.mkdir, (str(tmp_path / "sprung"),)

    torch.save({"fc.weight": Trap(), "a": torch.zeros(2, 3)}, tmp_path / "model.bin")
    assert read_tensor_shapes(tmp_path) == {"a": [2, 3]}
    assert not (tmp_path / "sprung").exists()


def test_heads_in_a_bin_are_known_by_the_target_that_they_name(tmp_path: Path) -> None:
    shutil.copytree(DEMO / "target", tmp_path / "target")
    heads = tmp_path / "heads"
    heads.mkdir()
    (heads / "medusa_lm_head.pt").write_bytes(b"any")
    for base, expected in ((str(tmp_path / "target"), str(heads)), ("acme/other", None)):
        config = {"medusa_num_heads": 3, "base_model_name_or_path": base}
        (heads / "config.json").write_text(json.dumps(config))
        assert fill_in_drafters(ModelOptions(str(tmp_path / "target"))).source("medusa") == expected


def test_a_draft_speaks_the_targets_words_and_is_smaller(tmp_path: Path) -> None:
    for name in ("target", "draft"):
        shutil.copytree(DEMO / name, tmp_path / name)
    assert (
        fill_in_drafters(ModelOptions(str(tmp_path / "draft"))).source("draft") is None
    )  # the other is larger
    tokenizer = tmp_path / "draft" / "tokenizer.json"
    words = json.loads(tokenizer.read_text())
    words["model"]["vocab"].popitem()
    tokenizer.write_text(json.dumps(words))
    assert fill_in_drafters(ModelOptions(str(tmp_path / "target"))).source("draft") is None


def test_a_draft_is_at_most_half_as_large(tmp_path: Path) -> None:
    for name in ("target", "draft"):
        shutil.copytree(DEMO / name, tmp_path / name)
    found = inspect_folder(tmp_path / "target")
    assert found and fill_in_drafters(ModelOptions(found.source)).source("draft")
    (tmp_path / "draft" / "padding").write_bytes(bytes(found.size // 2))
    assert fill_in_drafters(ModelOptions(found.source)).source("draft") is None


def test_a_cache_that_is_a_file_holds_nothing(hub: Path) -> None:
    hub.rmdir()
    hub.touch()
    assert cached_checkpoints() == []


def test_the_cache_is_a_place_to_look_in(hub: Path, tmp_path: Path) -> None:
    assert cached_checkpoints() == []
    keep(hub, "acme/heads", DEMO / "medusa")
    place = keep(hub, "acme/big", DEMO / "target")
    for folder in ("refs", "blobs", "snapshots"):  # a download that was cut off
        (hub / "models--acme--begun" / folder).mkdir(parents=True)
    found = cached_checkpoints()
    assert [(each.name, each.kind) for each in found] == [
        ("acme/big", "model"),
        ("acme/heads", "medusa"),
    ]
    options = fill_in_drafters(ModelOptions(str(place)), found)
    assert "acme--heads" in str(options.source("medusa"))
    assert "--target acme/big --out" in drafter_status(options)[2].advice


def test_what_is_broken_in_the_cache_does_not_hide_the_rest(hub: Path) -> None:
    keep(hub, "acme/big", DEMO / "target")
    (hub / "models--acme--big" / "refs" / "main").write_text("abc\n")
    (hub / "models--acme--loop").symlink_to(hub / "models--acme--loop")
    (hub / "models--acme--file").touch()
    ref = keep(hub, "acme/ref", DEMO / "draft").parents[1] / "refs" / "main"
    ref.unlink()
    ref.symlink_to(ref)  # its newest revision is taken
    for name, odd in (("acme/empty", b""), ("acme/odd", b"\xff\xfe")):
        keep(hub, name, DEMO / "draft").parents[1].joinpath("refs", "main").write_bytes(odd)
    found = [each.name for each in cached_checkpoints()]
    assert found == ["acme/big", "acme/empty", "acme/odd", "acme/ref"]


def test_a_model_without_all_its_weights_is_none(hub: Path, tmp_path: Path) -> None:
    place = keep(hub, "acme/begun", DEMO / "draft")
    (place / "model.safetensors").unlink()
    assert cached_checkpoints() == []
    shutil.copytree(DEMO / "target", tmp_path / "target")
    shutil.copytree(place, tmp_path / "draft")
    options = fill_in_drafters(ModelOptions(str(tmp_path / "target")), cached_checkpoints())
    assert options.source("draft") is None
    with pytest.raises(InputError, match="but not all of the model's weights"):
        resolve_model_folder(str(place))
    (place / "begun-Q4_K_M.gguf").touch()  # weights of another kind, beside a config.json
    assert [each.name for each in cached_checkpoints()] == ["acme/begun"]


def test_the_command_and_families_of_ones_own(
    hub: Path, specchat: Specchat, tmp_path: Path
) -> None:
    keep(hub, "acme/big", DEMO / "target")
    (tmp_path / "config.toml").write_text(
        f'[families.mine]\ntarget = "{DEMO / "target"}"\ndraft = "{DEMO / "draft"}"\n'
    )
    document = json.loads(specchat("models", "--json").stdout)
    assert [each["name"] for each in document["families"]] == ["demo", "mine"]
    assert [each["name"] for each in document["models"]] == ["acme/big"]
    text = specchat("models", str(DEMO / "draft")).stdout
    assert "mine: --family mine" in text and "· medusa  specchat heads convert medusa" in text
    size = (DEMO / "target" / "model.safetensors").stat().st_size
    assert f"acme/big ({size / 2**20:.0f} MiB): --target acme/big\n" in text
    keep(hub, "acme/small", DEMO / "draft")
    assert "\n  ✓ draft   --draft acme/small\n" in specchat("models").stdout
    run = ("run", "--prompt", "a", "--max-new-tokens", "2", "--threads", "1", "--json")
    done = json.loads(specchat(*run, "--family", "mine", "--strategies", "draft,medusa").stdout)
    assert done["target"] == str(DEMO / "target") and "families" not in done["settings"]
    assert [lane["available"] for lane in done["runs"][0]["lanes"]] == [True, False]
    wrong = specchat(*run, "--family", "huge")
    assert (
        wrong.returncode == 2
        and "there is no family 'huge'; there are demo, mine, smol" in wrong.stderr
    )


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        ("draft = 'x'", "families.mine.target in .*: it must be given"),
        (
            "target = 'x'\nheads = 'y'",
            "families.mine.heads in .*: a family has only target, draft,",
        ),
        ("target = 3", "families.mine.target in .*: input should be a valid string, not 3"),
    ],
)
def test_a_wrong_family_is_one_line(
    specchat: Specchat, tmp_path: Path, lines: str, complaint: str
) -> None:
    (tmp_path / "config.toml").write_text(f"[families.mine]\n{lines}\n")
    done = specchat("models")
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1
    assert re.search(complaint, done.stderr)
