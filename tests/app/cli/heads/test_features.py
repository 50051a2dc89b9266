"""The target's states on disk: heads learn the same from them, also without its layers."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from threading import Thread

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor
from transformers import AutoConfig, AutoModelForCausalLM

from app.cli.heads.provenance import identity, same
from app.cli.heads.training_job import _alone_in
from app.models.assets import assets
from tests.conftest import Done, FamilyFolders, Specchat


@pytest.mark.slow
def test_a_target_is_not_needed_once_its_states_are_there(
    specchat: Specchat, family_folders: FamilyFolders, tmp_path: Path, without_fast_bfloat16: None
) -> None:
    """In float32: Adam's first step is the sign of each gradient, which rounding would change."""
    target, lesson, states = (tmp_path / name for name in ("target", "lesson.jsonl", "states"))
    shutil.copytree(family_folders.target, target)
    said = {"role": "assistant", "content": "the quick brown fox"}
    asked = [{"messages": [{"role": "user", "content": f"the {n}"}, said]} for n in range(40)]
    lesson.write_text("".join(json.dumps(record) + "\n" for record in asked))
    few = tmp_path / "few.jsonl"  # τ of each training takes longer than its steps
    few.write_text("".join(json.dumps(record) + "\n" for record in asked[:2]))

    def train(kind: str, out: str, *more: str, data: str = str(lesson), of: Path = target) -> Done:
        return specchat(
            "heads", "train", "--target", str(of), "--heads", str(tmp_path / kind), "--data",
            data, "--held-out", str(few), "--out", str(tmp_path / out), "--max-steps", "3",
            "--device", "cpu", *more,
        )  # fmt: skip

    def weights(name: str) -> Tensor:
        (file,) = (tmp_path / name).glob("*.safetensors")
        return torch.cat([tensor.flatten() for _, tensor in sorted(load_file(file).items())])

    kept, kinds = ("--features", str(states)), ("medusa", "eagle1", "draft")
    for kind in kinds:
        half = ("--layers", "1") if kind == "draft" else ()  # whole it would have nothing to learn
        made = specchat(
            "heads", "convert", kind, "--target", str(target), "--out", str(tmp_path / kind), *half
        )
        assert made.returncode == 0, made.stderr
        assert train(kind, f"{kind} alone").returncode == 0
    done = train("medusa", "medusa kept", *kept)
    assert done.returncode == 0 and "features of" in done.stderr
    done = train("draft", "draft kept", *kept, "--offline")
    assert done.returncode == 0 and "served τ " not in done.stderr
    copied, other = tmp_path / "copied", tmp_path / "other"
    shutil.copytree(target, copied)
    shutil.copytree(family_folders.draft, other)
    same = train("draft", "draft of a copy", *kept, "--offline", of=copied)
    assert same.returncode == 0, same.stderr
    done = train("draft", "z", *kept, "--offline", of=other)
    assert done.returncode == 2 and f"--target {other}: the features in" in done.stderr
    assert f"are of {target}: give that" in done.stderr and not (tmp_path / "z").exists()
    (target / "model.safetensors").unlink()
    done = train("eagle1", "eagle1 kept", *kept, "--offline")
    assert done.returncode == 0, done.stderr
    for kind in kinds:
        alone = weights(f"{kind} alone")
        learned = (alone - weights(kind)).norm()
        assert learned > 0 and (weights(f"{kind} kept") - alone).norm() < 0.05 * learned, kind

    done = train("eagle1", "x", *kept, "--offline", data=f"{lesson}:2")
    assert done.returncode == 2 and "are of another data" in done.stderr
    done = train("eagle1", "y", "--offline")
    assert done.returncode == 2 and "--offline needs --features" in done.stderr


def test_default_layers_are_those_of_the_whole_target(
    specchat: Specchat, family_folders: FamilyFolders, tmp_path: Path
) -> None:
    """The authors' EAGLE-3 heads do not name the layers that they read."""
    target, head, states = (tmp_path / name for name in ("target", "head", "states"))
    shutil.copytree(family_folders.target, target)
    config = AutoConfig.from_pretrained(target, num_hidden_layers=3, layer_types=None)
    AutoModelForCausalLM.from_config(config).save_pretrained(target)
    layers = ("--aux-layers", "0,1,2")
    made = specchat(
        "heads", "convert", "eagle3", "--target", str(target), "--out", str(head), *layers
    )
    assert made.returncode == 0, made.stderr
    settings = json.loads((head / "config.json").read_text())
    del settings["eagle_aux_hidden_state_layer_ids"], settings["eagle_config"]
    (head / "config.json").write_text(json.dumps(settings))
    lesson = tmp_path / "lesson.jsonl"
    said = {"role": "assistant", "content": "the quick brown fox"}
    lesson.write_text(json.dumps({"messages": [{"role": "user", "content": "the"}, said]}))
    for out in ("first", "again"):
        done = specchat(
            "heads", "train", "--target", str(target), "--heads", str(head), "--data", str(lesson),
            "--held-out", str(lesson), "--features", str(states), "--offline", "--max-steps", "1",
            "--device", "cpu", "--out", str(tmp_path / out),
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    first, again = (load_file(tmp_path / out / "model.safetensors") for out in ("first", "again"))
    assert all(torch.equal(first[name], again[name]) for name in first)


def test_a_target_of_which_one_layer_was_trained_is_another(tmp_path: Path) -> None:
    """Fine-tuning often leaves most of a model as it was."""
    target, tuned, renamed = assets() / "demo" / "target", tmp_path / "tuned", tmp_path / "renamed"
    for folder in (tuned, renamed):
        shutil.copytree(target, folder)
    weights = load_file(tuned / "model.safetensors")
    layer = "model.layers.12.mlp.up_proj.weight"
    save_file(weights | {layer: weights[layer] * 1.1}, tuned / "model.safetensors")
    first, other, same_one = (identity(str(each)) for each in (target, tuned, renamed))
    assert same(first, same_one) and not same(first, other)
    config = json.loads((renamed / "config.json").read_text())
    (renamed / "config.json").write_text(json.dumps(config | {"rms_norm_eps": 0.5}))
    assert not same(first, identity(str(renamed)))


def test_a_second_training_waits_for_the_features_of_the_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    entered: list[str] = []

    def second() -> None:
        with _alone_in(tmp_path / "features"):
            entered.append("second")

    with _alone_in(tmp_path / "features"):
        thread = Thread(target=second)
        thread.start()
        thread.join(0.3)
        entered.append("first")
    thread.join(30)
    assert entered == ["first", "second"]
    assert "waiting for the training that writes the features in" in capsys.readouterr().err
