"""Options of `heads` commands from a YAML file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from tests.conftest import FamilyFolders, Specchat

WORDS = ("the", "quick", "brown", "fox", "and", "the", "lazy", "dog")


@pytest.fixture
def lesson(tmp_path: Path) -> str:
    path = tmp_path / "lesson.jsonl"
    said = {"role": "assistant", "content": " ".join(WORDS)}
    asked = [{"messages": [{"role": "user", "content": word}, said]} for word in WORDS * 8]
    path.write_text("\n".join(map(json.dumps, asked)))
    return str(path)


def written(folder: Path, text: str) -> str:
    path = folder / "recipe.yaml"
    path.write_text(text)
    return str(path)


def weights(folder: Path) -> bytes:
    (file,) = folder.glob("*.safetensors")
    return file.read_bytes()


@pytest.mark.slow
def test_one_file_for_all_commands_and_what_they_made_by_it(
    specchat: Specchat, family_folders: FamilyFolders, lesson: str, tmp_path: Path
) -> None:
    recipe = written(
        tmp_path,
        f"""
        target: {family_folders.target}
        data: [{lesson}]      # train's, and convert's for EAGLE-3
        seed: 3
        convert:
          kind: eagle3
          aux_layers: 0,1
          draft-vocab: 200
        train:
          lr: 1e-2
          max-steps: 4
          evaluate-every: 2
          unroll: 3
          device: cpu
        """,
    )
    fresh, trained, again = tmp_path / "fresh", tmp_path / "trained", tmp_path / "again"
    done = specchat("heads", "convert", "--recipe", recipe, "--out", str(fresh))
    assert done.returncode == 0 and "200 tokens, reads the inputs of layers [0, 1]" in done.stderr
    train = ("heads", "train", "--recipe", recipe, "--heads", str(fresh))
    done = specchat(*train, "--max-steps", "2", "--out", str(trained))
    assert done.returncode == 0, done.stderr
    assert "step 2/2" in done.stderr
    kept = "weights of step 2, the best served τ of 1 evaluation"
    assert done.stderr.endswith(f"trained head in {trained}: {kept}\n")
    assert f"\n# made {kept}\n" in (trained / "recipe.yaml").read_text()

    assert yaml.safe_load((trained / "recipe.yaml").read_text()) == {
        "target": family_folders.target, "heads": str(fresh), "data": [lesson],
        "out": str(trained), "unroll": 3, "max-steps": 2, "lr": 0.01, "evaluate-every": 2,
        "seed": 3, "device": "cpu",
    }  # fmt: skip
    for made in (fresh, trained):
        command = "convert" if made == fresh else "train"
        done = specchat(
            "heads", command, "--recipe", str(made / "recipe.yaml"), "--out", str(again)
        )
        assert done.returncode == 0, done.stderr
        assert weights(again) == weights(made)
        again = tmp_path / "once more"


def test_what_is_shared_is_left_out_where_it_does_not_fit(
    specchat: Specchat, family_folders: FamilyFolders, tmp_path: Path
) -> None:
    shared = f"target: {family_folders.target}\ndata: answers.jsonl\nkind: medusa\n"
    own = "convert: {heads: 2, own-lm-heads: true}"
    recipe = written(tmp_path, f"{own}\n{shared}heads: 5\n")
    out = tmp_path / "out"
    done = specchat("heads", "convert", "--recipe", recipe, "--out", str(out))
    assert done.returncode == 0 and "2 heads of 1 layer for" in done.stderr
    assert "(dialect v0.1)" in done.stderr
    done = specchat("heads", "convert", "--recipe", str(out / "recipe.yaml"), "--heads", "3")
    assert done.returncode == 2 and f"{out} is not empty" in done.stderr

    own = written(tmp_path, f"{shared}convert:\n  data: answers.jsonl\n")
    done = specchat("heads", "convert", "--recipe", own, "--out", str(tmp_path / "x"))
    assert done.returncode == 2 and f"{own}:5: data is for EAGLE-3, not for Medusa" in done.stderr
    own = written(tmp_path, f"{shared}aux-layers: 0,1\n")
    done = specchat("heads", "convert", "--recipe", own, "--out", str(tmp_path / "x"))
    assert done.returncode == 2 and f"{own}:4: aux-layers is for EAGLE-3" in done.stderr


BAD = {
    "an unknown name": ("lr: 1\nlearning-rate: 1\n", ":2: no option is called learning-rate; ther"),
    "another command's": ("convert:\n  lr: 1\n", ":2: heads convert has no lr; it has aux-layers,"),
    "no number": ("train:\n  lr: fast\n", ":2: lr: Input should be a valid number"),
    "too small": ("convert: {heads: 0}\n", ":1: heads: Input should be greater than or equal to 1"),
    "no such kind": ("\nkind: eagle9\n", ":2: kind: 'eagle9' is not one of 'medusa', 'eagle1', 'e"),
    "twice": ("seed: 1\nseed: 2\n", ":2: seed is there twice"),
    "the same by another name": ("draft-vocab: 5\ndraft_vocab: 5\n", ":2: draft-vocab is there tw"),
    "nothing": ("target:\n", ":1: target needs one value"),
    "a list": ("target: [a, b]\n", ":1: target needs one value"),
    "a list of lists": ("data: [[a]]\n", ":1: data needs one or several values"),
    "a table": ("target: {a: b}\n", ":1: target needs one value"),
    "another recipe": ("recipe: x\n", ":1: no option is called recipe"),
    "no names": ("- a\n", ":1: give options as NAME: VALUE"),
    "no names in a part": ("train: 5\n", ":1: train: give options as NAME: VALUE"),
    "no YAML": ("target: [a\nout: b\n", ":2: not valid YAML"),
    "a control character": ("target: \x07", ": not valid YAML"),
    "empty": ("# nothing\n", " is empty"),
    "two": ("seed: 1\n---\nseed: 1\n", ":2: not valid YAML"),
    "deep": ("[" * 100_000, "can't read"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_recipe_that_is_wrong(case: str, specchat: Specchat, tmp_path: Path) -> None:
    text, complaint = BAD[case]
    recipe = written(tmp_path, text)
    done = specchat("heads", "convert", "--recipe", recipe, "--out", str(tmp_path / "x"))
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert (f"{recipe}{complaint}" if complaint[0] in ": " else complaint) in done.stderr


def test_steps_of_the_command_line_replace_epochs_of_the_recipe(
    specchat: Specchat, family_folders: FamilyFolders, lesson: str, tmp_path: Path
) -> None:
    fresh, trained = tmp_path / "fresh", tmp_path / "trained"
    own = f"target: {family_folders.target}\ndata: [{lesson}]\ntrain: {{epochs: 2, device: cpu}}\n"
    recipe = written(tmp_path, own)
    specchat("heads", "convert", "medusa", "--recipe", recipe, "--out", str(fresh))
    train = ("heads", "train", "--recipe", recipe, "--heads", str(fresh), "--out", str(trained))
    done = specchat(*train, "--max-steps", "1")
    assert done.returncode == 0 and "step 1 held out" in done.stderr, done.stderr
    made = yaml.safe_load((trained / "recipe.yaml").read_text())
    assert made["max-steps"] == 1 and "epochs" not in made
    recipe = written(tmp_path, own.replace("epochs", "max-steps: 2, epochs"))
    done = specchat("heads", "train", "--recipe", recipe, "--heads", str(fresh), "--out", "x")
    assert done.returncode == 2
    assert f"{recipe}:3: epochs counts for nothing with {recipe}:3: max-steps" in done.stderr


def test_no_recipe(specchat: Specchat, tmp_path: Path) -> None:
    done = specchat("heads", "train", "--recipe", str(tmp_path / "none.yaml"))
    assert done.returncode == 2 and "none.yaml: give a YAML file to --recipe" in done.stderr
    done = specchat("heads", "train", "--recipe", str(tmp_path))
    assert done.returncode == 2 and "can't read" in done.stderr


def test_a_server_of_the_recipe_answers_in_the_targets_place(
    specchat: Specchat, server_url: str, tmp_path: Path
) -> None:
    prompts = tmp_path / "prompts.jsonl"
    prompts.write_text('{"prompt": "fox"}\n')
    recipe = written(
        tmp_path,
        f"target: ./mine\ndistill:\n  server: {server_url}/plain\n  prompts: {prompts}\n",
    )
    out = tmp_path / "answers.jsonl"
    done = specchat("heads", "distill", "--recipe", recipe, "--out", str(out))
    assert done.returncode == 0, done.stderr
    assert len(out.read_text().splitlines()) == 1
