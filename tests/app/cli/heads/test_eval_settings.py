"""τ is one number: while heads are trained, and by `eval`."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from app.cli.heads.eval_settings import in_words, with_eval_settings
from decoding.params import Params
from tests.conftest import FamilyFolders, Specchat

TREES = {
    "medusa": "a tree of 7 nodes, γ 2",  # of the tree small what two heads can fill
    "eagle3": "a tree of 16 nodes, top-k 4, γ 6",
    "draft": "chains of γ 4",
}
MADE = {
    "medusa": ("--heads", "2"),
    "eagle3": ("--aux-layers", "0,1"),
    "draft": ("--layers", "1"),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", TREES)
def test_training_and_eval_measure_the_same(
    kind: str, specchat: Specchat, family_folders: FamilyFolders, tmp_path: Path
) -> None:
    target, fresh, trained = family_folders.target, tmp_path / "fresh", tmp_path / "trained"
    data, small = tmp_path / "data.jsonl", tmp_path / "small"
    said = {"role": "assistant", "content": "the quick brown fox and the lazy dog"}
    asked = [{"messages": [{"role": "user", "content": f"the {n}"}, said]} for n in range(8)]
    data.write_text("\n".join(map(json.dumps, asked)))
    convert = ("heads", "convert", kind, "--target", target, "--out", str(fresh), *MADE[kind])
    assert specchat(*convert).returncode == 0
    # What a checkpoint names as its own settings is not measured with.
    config = fresh / ("generation_config.json" if kind == "draft" else "config.json")
    own = {"medusa_choices": [[0]], "speculative_num_steps": 2, "num_assistant_tokens": 2}
    config.write_text(json.dumps(json.loads(config.read_text()) | own))
    done = specchat(
        "heads", "train", "--target", target, "--heads", str(fresh), "--data", str(data),
        "--held-out", str(data), "--out", str(trained), "--device", "cpu", "--max-steps", "6",
        "--lr", "1e-2",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert f"served τ is that of {TREES[kind]}, over 8 held-out prompts" in done.stderr
    _, tau = re.findall(r"· served τ (\d\.\d\d)", done.stderr)
    measure = (
        "heads", "eval", "--target", target, "--prompts", str(data), "--max-new-tokens", "64",
        "--device", "cpu",
    )  # fmt: skip
    found = json.loads(specchat(*measure, "--heads", str(trained), "--json").stdout)
    assert f"{found['tokens_per_pass']:.2f}" == tau and found["tree"] == TREES[kind]
    text = specchat(*measure, "--heads", str(trained)).stdout
    assert f"served: τ {tau}, α" in text and f"with {TREES[kind]};" in text
    pytest.importorskip("torchao")
    quantize = ("heads", "quantize", "--heads", str(trained), "--to", "int8", "--out", str(small))
    done = specchat(*quantize, *measure[2:])
    assert done.returncode == 0, done.stderr
    _, before, _, tree = done.stdout.splitlines()
    assert f" {found['tokens_per_pass']:.3f} " in before and tree == f"τ and α of {TREES[kind]}"


def test_given_settings_come_first() -> None:
    given = with_eval_settings(Params(gamma=3, eagle_top_k=1), "eagle")
    assert in_words(given, "eagle") == "a tree of 16 nodes, top-k 1, γ 3"
    given = with_eval_settings(Params(gamma=1), "medusa")
    assert in_words(given, "medusa", ((0, 0), (1,))) == "a tree of 3 nodes, γ 1"
