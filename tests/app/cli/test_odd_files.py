"""Files that hold anything: one line, exit code 2, and the rest of a list is shown."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from app.config.presets import Presets
from app.history.store import Store
from decoding.errors import InputError
from tests.conftest import FamilyFolders, Specchat

DEEP = "[" * 100_000
DEMO = str(Path(__file__).parents[3] / "assets" / "replay" / "demo.json")


def one_line(specchat: Specchat, *arguments: str) -> str:
    done = specchat(*arguments)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.count("\n") == 1 and len(done.stderr) < 1000
    return done.stderr


@pytest.mark.parametrize("text", [DEEP, f'["conversation", {DEEP}\n', "\udcff"])
def test_recordings(specchat: Specchat, tmp_path: Path, text: str) -> None:
    (tmp_path / "odd.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    assert "odd.json" in one_line(specchat, "replay", str(tmp_path / "odd.json"))


def test_a_tree(specchat: Specchat) -> None:
    told = one_line(specchat, "run", "--prompt", "a", "--medusa-choices", DEEP)
    assert "nested too deeply" in told


def test_presets(tmp_path: Path) -> None:
    (tmp_path / "presets.json").write_text(DEEP)
    with pytest.raises(InputError, match="is not JSON: it is nested too deeply"):
        Presets(tmp_path / "presets.json").all()


def test_settings(specchat: Specchat, tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(f"families = {'[' * 3000}{']' * 3000}")
    assert "config.toml" in one_line(specchat, "run", "--prompt", "a")


@pytest.mark.parametrize(
    "tokenizer", ['{"model": {"vocab": 5}}', '{"model": {"vocab": [[[]]]}}', DEEP]
)
def test_a_neighbour_does_not_break_the_list(
    specchat: Specchat, family_folders: FamilyFolders, tmp_path: Path, tokenizer: str
) -> None:
    shutil.copytree(family_folders.target, tmp_path / "model")
    shutil.copytree(family_folders.draft, tmp_path / "odd")
    file = tmp_path / "model" / "model.safetensors"
    config = json.loads((tmp_path / "odd" / "config.json").read_text())
    (tmp_path / "odd" / "tokenizer.json").write_text(tokenizer)
    (tmp_path / "odd" / "config.json").write_text(json.dumps(config))
    with file.open("ab") as padding:  # a draft is at most half as large
        padding.write(bytes(file.stat().st_size * 2))
    done = specchat("models", str(tmp_path / "model"))
    assert done.returncode == 0 and "model (" in done.stdout


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors"])
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_a_neighbour_that_never_ends_does_not_hold_the_list_up(
    specchat: Specchat, family_folders: FamilyFolders, tmp_path: Path, name: str, kind: str
) -> None:
    shutil.copytree(family_folders.target, tmp_path / "model")
    shutil.copytree(family_folders.draft, tmp_path / "odd")
    odd = tmp_path / "odd" / name
    odd.unlink()
    if kind == "pipe":
        os.mkfifo(odd)
    else:
        odd.symlink_to("/dev/zero")
    done = specchat("models", str(tmp_path / "model"))
    assert done.returncode == 0 and "model (" in done.stdout


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs an endless file")
def test_files_without_an_end(
    specchat: Specchat, family_folders: FamilyFolders, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("decoding.json_text.read_bounded.__defaults__", (1 << 20,))
    assert "larger than 1 MiB" in one_line(specchat, "replay", "/dev/zero")
    template = ("--target", family_folders.target, "--chat-template", "/dev/zero")
    assert "larger than 1 MiB" in one_line(specchat, "run", "--prompt", "a", *template)


def test_a_film_into_no_folder_is_not_drawn(specchat: Specchat, tmp_path: Path) -> None:
    film = str(tmp_path / "no" / "film.cast")
    assert "there is no folder" in one_line(specchat, "replay", DEMO, "--cast", film)


def test_a_host_that_nothing_is_called(specchat: Specchat) -> None:
    pytest.importorskip("textual_serve")
    for host in ("a\x9bb", "256.256.256.256"):
        assert "choose another --port or --host" in one_line(specchat, "serve", "--host", host)


@pytest.mark.parametrize("name", ['["a"]', '{"a": 1}', "5", "null", DEEP])
def test_a_kept_conversation_with_an_odd_name(store: Store, kept: Path, name: str) -> None:
    other = kept.with_stem("other")
    shutil.copy(kept, other)
    with other.open("a") as file:
        file.write(f'["name", {name}]\n')
    titles = [entry.title for entry in store.entries()]
    assert "Count!" in titles and all(isinstance(title, str) for title in titles)
    if name != DEEP:
        assert store.open(other).title == "Count!"


@pytest.mark.parametrize("eos", [[[5]], ["x"], [None], "</s>", {}, True])
def test_end_tokens(
    specchat: Specchat, family_folders: FamilyFolders, tmp_path: Path, eos: object
) -> None:
    folder = tmp_path / "model"
    shutil.copytree(family_folders.target, folder)
    file = folder / "generation_config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"eos_token_id": eos}))
    told = one_line(specchat, "run", "--prompt", "a", "--target", str(folder))
    assert "eos_token_id" in told


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("num_attention_heads", "four"),
        ("num_attention_heads", [4]),
        ("rms_norm_eps", "small"),
        ("rope_scaling", 5),
        ("rope_scaling", {"rope_type": "yarn", "factor": "x"}),
        ("rope_theta", [1]),
        ("max_position_embeddings", "long"),
        ("layer_types", 5),
        ("hidden_act", 5),
        ("eagle_config", 5),
        ("transformer_layer_config", 5),
    ],
)
def test_an_eagle_heads_config(
    specchat: Specchat, family_folders: FamilyFolders, tmp_path: Path, key: str, value: object
) -> None:
    head, target = tmp_path / "head", ("--target", family_folders.target)
    specchat("heads", "convert", "eagle3", *target, "--aux-layers", "0,1", "--out", str(head))
    file = head / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {key: value}))
    lane = ("--eagle", str(head), "--strategies", "eagle")
    assert str(head) in one_line(specchat, "run", "--prompt", "a", *target, *lane)


def test_the_accuracy_of_medusa_heads(
    specchat: Specchat, family_folders: FamilyFolders, tmp_path: Path
) -> None:
    head, target = tmp_path / "head", ("--target", family_folders.target)
    specchat("heads", "convert", "medusa", *target, "--out", str(head))
    file = head / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"medusa_accuracy": [["x"]]}))
    lane = ("--medusa", str(head), "--strategies", "medusa")
    assert "medusa_accuracy" in one_line(specchat, "run", "--prompt", "a", *target, *lane)


@pytest.mark.parametrize("name", ["x" * 5000, "/y" * 300, "~nobody-of-this-name/model", "a\0b"])
@pytest.mark.parametrize("option", ["--target", "--draft", "--medusa", "--medusa-choices"])
def test_names_that_no_file_has(specchat: Specchat, option: str, name: str) -> None:
    one_line(specchat, "run", "--prompt", "a", option, name)


def test_more_threads_than_there_are_anywhere(specchat: Specchat) -> None:
    assert "1024" in one_line(specchat, "run", "--prompt", "a", "--threads", "99999999999")


@pytest.mark.parametrize("strategy", ["medusa", "eagle"])
def test_ranks_beyond_what_is_guessed(specchat: Specchat, strategy: str) -> None:
    tree = (f"--{strategy}-choices", "[[0], [0, 99999]]")
    told = one_line(specchat, "run", "--prompt", "a", "--strategies", strategy, *tree)
    assert "path [0, 99999] has rank 99999, but there are" in told
