"""From a bare target to a Medusa lane, by the commands alone."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from decoding.checkpoints.medusa import MedusaWeights, read_medusa, write_medusa, write_merged
from decoding.training.medusa import require_trainable
from decoding.training.medusa_attach import attach_medusa
from tests.conftest import FamilyFolders, Specchat

WORDS = ("the", "quick", "brown", "fox", "and", "the", "lazy", "dog")


@pytest.fixture
def prompts(tmp_path: Path) -> Path:
    path = tmp_path / "prompts.jsonl"
    lines = [json.dumps({"prompt": f"{a} {b}"}) for a in WORDS[:4] for b in WORDS[:2]]
    path.write_text("\n".join(lines))
    return path


@pytest.mark.slow
def test_convert_distill_train_eval_run(
    specchat: Specchat, family_folders: FamilyFolders, prompts: Path, tmp_path: Path
) -> None:
    target = ("--target", family_folders.target)
    fresh, answers, trained = tmp_path / "fresh", tmp_path / "answers.jsonl", tmp_path / "trained"

    done = specchat("heads", "convert", "medusa", *target, "--out", str(fresh), "--heads", "2")
    assert done.returncode == 0, done.stderr
    before = read_medusa(fresh, 32, 280)
    assert (before.heads, before.layers, before.dialect) == (2, 1, "v2")

    distill = (
        "heads", "distill", *target, "--prompts", str(prompts), "--out", str(answers),
        "--max-new-tokens", "12", "--batch-size", "5",
    )  # fmt: skip
    done = specchat(*distill)
    assert done.returncode == 0, done.stderr
    whole = answers.read_text()
    records = [json.loads(line) for line in whole.splitlines()]
    assert len(records) == 8
    assert all(r["messages"][-1]["role"] == "assistant" for r in records)
    tokens = sum(b - a for r in records for a, b in r["answers"])
    cut = sum(r["finish_reason"] == "length" for r in records)
    assert f"in {answers}: {tokens:,} tokens, {cut} cut off, 0 repeated" in done.stderr
    # a killed run: half a line, then the same command again
    answers.write_text(whole[: len(whole) // 2])
    assert specchat(*distill).returncode == 0
    assert answers.read_text() == whole
    refused = specchat(*distill, "--temperature", "0.5")
    assert refused.returncode == 2 and "these settings" in refused.stderr

    # What a random target says can't be learned from its states; one sentence can.
    lesson = tmp_path / "lesson.jsonl"
    said = {"role": "assistant", "content": " ".join(WORDS)}
    asked = [{"messages": [{"role": "user", "content": word}, said]} for word in WORDS * 8]
    lesson.write_text("\n".join(map(json.dumps, asked)))
    train = (
        "heads", "train", *target, "--heads", str(fresh), "--data", str(lesson), "--out",
        str(trained), "--max-steps", "40", "--evaluate-every", "20", "--lr", "2e-2",
        "--held-out", str(lesson), "--device", "cpu", "--keep-checkpoints",
    )  # fmt: skip
    done = specchat(*train)
    assert done.returncode == 0, done.stderr
    assert re.search(
        r"^step 4/40 · loss [\d.]+ \([\d. ]+\) · right \.\d\d \.\d\d · lr", done.stderr, re.M
    )
    assert re.search(r"^step 20 held out · right [\d. ]+ · served τ \d\.\d\d$", done.stderr, re.M)
    assert f"trained heads in {trained}: weights of the last step, head 1 top-1" in done.stderr
    watched = specchat("heads", "watch", str(trained)).stdout
    assert "served τ" in watched and "drafted in one answer: " in watched and "› the" in watched
    after = read_medusa(trained, 32, 280)
    assert len(after.accuracy) == 2 and min(row[0] for row in after.accuracy) > 0.5

    # killed after its first checkpoint, a resumed run ends with the same heads
    shutil.rmtree(trained / "training" / "checkpoint-40")
    assert specchat(*train[:-1], "--resume").returncode == 0
    assert read_medusa(trained, 32, 280).weights.allclose(after.weights, atol=1e-4)
    assert not (trained / "training").exists()

    done = specchat(
        "heads", "eval", *target, "--heads", str(trained), "--prompts", str(prompts), "--json",
        "--medusa-choices", "small", "--max-new-tokens", "12",
    )  # fmt: skip
    report = json.loads(done.stdout)
    assert report["prompts"] == 8 and len(report["accuracy"]) == 2
    assert report["tokens_per_pass"] >= 1 and sum(report["accepted_histogram"]) > 0

    done = specchat(
        "run", *target, "--medusa", str(trained), "--prompt", "the fox", "--json",
        "--strategies", "ar,medusa", "--max-new-tokens", "20", "--ignore-eos",
    )  # fmt: skip
    ar, medusa = json.loads(done.stdout)["runs"][0]["lanes"]
    assert medusa["matches_ar"] is True and medusa["token_ids"] == ar["token_ids"]
    assert medusa["drafted"] > 0 and medusa["lossy"] is False

    sampled = (
        "run", *target, "--medusa", str(trained), "--prompt", "the fox", "--strategies",
        "ar,medusa", "--temperature", "1", "--acceptance", "typical", "--seed", "1",
        "--ignore-eos",  # an answer of no round is not lossy
    )  # fmt: skip
    assert "LOSSY" in specchat(*sampled).stdout
    ar, medusa = json.loads(specchat(*sampled, "--json").stdout)["runs"][0]["lanes"]
    assert (ar["lossy"], medusa["lossy"]) == (False, True)


def test_a_merged_model_without_a_tokenizer_takes_the_targets(
    specchat: Specchat, family_folders: FamilyFolders, tmp_path: Path
) -> None:
    """So ModelOpt saves them."""
    model = AutoModelForCausalLM.from_pretrained(family_folders.target)
    tokenizer = AutoTokenizer.from_pretrained(family_folders.target)
    out = tmp_path / "merged"
    write_merged(attach_medusa(model, 2, 1, own_lm_heads=True), out, model, tokenizer)
    assert len({path.stat().st_mode for path in out.iterdir()}) == 1  # the weights' is the config's
    for file in out.glob("tokenizer*"):
        file.unlink()
    done = specchat(
        "run", "--target", family_folders.target, "--medusa", str(out), "--prompt", "the fox",
        "--json", "--strategies", "ar,medusa", "--max-new-tokens", "8", "--ignore-eos",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    ar, medusa = json.loads(done.stdout)["runs"][0]["lanes"]
    assert medusa["token_ids"] == ar["token_ids"]


def test_heads_that_can_not_be_trained_are_refused_before_the_data_is_read(
    specchat: Specchat, family_folders: FamilyFolders, tmp_path: Path
) -> None:
    residual = torch.zeros(2, 1, 32, 32), torch.zeros(2, 1, 32)
    heads = MedusaWeights("vllm", *residual, torch.zeros(2, 9, 32), torch.arange(9))
    write_medusa(heads, tmp_path / "heads", "vllm", "")
    done = specchat(
        "heads", "train", "--target", family_folders.target, "--heads", str(tmp_path / "heads"),
        "--data", "no such file", "--out", str(tmp_path / "x"), "--device", "cpu",
    )  # fmt: skip
    assert done.returncode == 2 and "token_map" in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--batch-size", "3"), "2 processes share each batch, give a multiple of 2"),
        (("--shard", "--features", "HERE"), "start several by accelerate launch"),
    ],
)
def test_what_processes_can_not_share_is_refused_before_the_data_is_read(
    options: tuple[str, ...], complaint: str, specchat: Specchat, family_folders: FamilyFolders,
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    heads, target = str(tmp_path / "heads"), ("--target", family_folders.target)
    specchat("heads", "convert", "medusa", *target, "--out", heads)
    if "--batch-size" in options:
        monkeypatch.setenv("WORLD_SIZE", "2")
    done = specchat(
        "heads", "train", *target, "--heads", heads, "--data", "no such file", "--out",
        str(tmp_path / "x"), "--device", "cpu",
        *(str(tmp_path / "features") if option == "HERE" else option for option in options),
    )  # fmt: skip
    assert done.returncode == 2 and complaint in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("option", "value", "complaint"),
    [
        ("--gamma", "65", "--gamma must be 0 or more, at most 64, not 65"),
        ("--eagle-total-tokens", "1", "--eagle-total-tokens must be 2 or more"),
    ],
)
def test_settings_out_of_bounds(
    option: str, value: str, complaint: str, specchat: Specchat, tmp_path: Path
) -> None:
    heads = ("--target", "x", "--heads", str(tmp_path), "--prompts", "x")
    done = specchat("heads", "eval", *heads, option, value)
    assert done.returncode == 2 and complaint in done.stderr and done.stderr.count("\n") == 1


def test_a_target_without_heads_says_what_would_help(
    specchat: Specchat, family_folders: FamilyFolders
) -> None:
    done = specchat(
        "run", "--prompt", "a", "--target", family_folders.target, "--json",
        "--strategies", "ar,medusa", "--max-new-tokens", "2",
    )  # fmt: skip
    ar, medusa = json.loads(done.stdout)["runs"][0]["lanes"]
    assert ar["available"] and not medusa["available"] and "--medusa" in medusa["reason"]


def test_convert_goes_on_from_heads_that_others_trained(
    specchat: Specchat, family_folders: FamilyFolders, tmp_path: Path
) -> None:
    """Heads of a part of the vocabulary can't be trained; with the whole one they can."""
    old, out = tmp_path / "old", tmp_path / "out"
    known = torch.randperm(280)[:90]
    heads = MedusaWeights(
        "vllm", torch.randn(2, 1, 32, 32), torch.randn(2, 1, 32), torch.randn(2, 90, 32), known
    )
    write_medusa(heads, old, "vllm", "")
    convert = ("heads", "convert", "medusa", "--target", family_folders.target, "--from")
    done = specchat(*convert, str(old), "--heads", "3", "--layers", "2", "--out", str(out))
    assert done.returncode == 0, done.stderr
    assert "90 tokens of its lm_heads kept, 190 new ones" in done.stderr
    assert "2 heads kept, 1 new one\n" in done.stderr
    after = read_medusa(out, 32, 280)
    require_trainable(after)
    assert (after.heads, after.layers) == (3, 2)
    assert torch.equal(after.weights[:2, 0], heads.weights[:, 0])
    assert not after.weights[:, 1].any() and not after.weights[2].any()
    assert after.lm_heads is not None and heads.lm_heads is not None
    assert torch.equal(after.lm_heads[:2, known], heads.lm_heads)
    target = AutoModelForCausalLM.from_pretrained(family_folders.target).lm_head.weight
    new = [token for token in range(280) if token not in known]
    assert torch.equal(after.lm_heads[1, new], target[new])
    assert torch.equal(after.lm_heads[2], target)

    fewer = tmp_path / "fewer"
    assert specchat(*convert, str(out), "--heads", "1", "--out", str(fewer)).returncode == 0
    assert torch.equal(read_medusa(fewer, 32, 280).weights, after.weights[:1])
    done = specchat(*convert, str(out), "--layers", "1", "--out", str(tmp_path / "x"))
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "--layers 1: these heads have 2 each, give as many or more" in done.stderr


def test_heads_that_shared_the_targets_lm_head_can_get_their_own(
    specchat: Specchat, family_folders: FamilyFolders, tmp_path: Path
) -> None:
    convert = ("heads", "convert", "medusa", "--target", family_folders.target, "--out")
    assert specchat(*convert, str(tmp_path / "shared"), "--heads", "2").returncode == 0
    own = (str(tmp_path / "own"), "--from", str(tmp_path / "shared"), "--own-lm-heads")
    assert specchat(*convert, *own).returncode == 0
    lm_heads = read_medusa(tmp_path / "own", 32, 280).lm_heads
    target = AutoModelForCausalLM.from_pretrained(family_folders.target).lm_head.weight
    assert lm_heads is not None and torch.equal(lm_heads[1], target) and len(lm_heads) == 2
    again = (str(tmp_path / "again"), "--from", str(tmp_path / "own"), "--own-lm-heads")
    done = specchat(*convert, *again)
    assert done.returncode == 0
    assert "--own-lm-heads changes nothing: the heads of " in done.stderr


@pytest.mark.parametrize(("known", "vocab", "how"), [(290, 280, "cut"), (280, 290, "extended")])
def test_a_vocabulary_of_another_size_is_fitted(
    known: int, vocab: int, how: str, specchat: Specchat, family_folders: FamilyFolders,
    tmp_path: Path,
) -> None:  # fmt: skip
    """As `resize_token_embeddings` leaves one: the tokens that both have are the same."""
    model = AutoModelForCausalLM.from_pretrained(family_folders.target)
    shutil.copytree(family_folders.target, tmp_path / "target")
    model.resize_token_embeddings(vocab)
    model.save_pretrained(tmp_path / "target")
    heads = torch.zeros(2, 1, 32, 32), torch.zeros(2, 1, 32), torch.randn(2, known, 32)
    MedusaWeights("v0.1", *heads).save_pretrained(tmp_path / "old")
    convert = ("heads", "convert", "medusa", "--target", str(tmp_path / "target"), "--from")
    done = specchat(*convert, str(tmp_path / "old"), "--out", str(tmp_path / "new"))
    assert done.returncode == 0, done.stderr
    assert f"its vocabulary of {known} tokens was {how} to the target's {vocab}" in done.stderr
    lm_heads = read_medusa(tmp_path / "new", 32, vocab).lm_heads
    assert lm_heads is not None and torch.equal(lm_heads[:, :280], heads[2][:, :280])
    assert torch.equal(lm_heads[0, 280:], model.lm_head.weight[280:])


def test_heads_of_fewer_tokens_than_the_targets_tokenizer_has_are_of_another_model(
    specchat: Specchat, family_folders: FamilyFolders, tmp_path: Path
) -> None:
    heads = torch.zeros(2, 1, 32, 32), torch.zeros(2, 1, 32), torch.randn(2, 200, 32)
    MedusaWeights("v0.1", *heads).save_pretrained(tmp_path / "old")
    convert = ("heads", "convert", "medusa", "--target", family_folders.target, "--from")
    done = specchat(*convert, str(tmp_path / "old"), "--out", str(tmp_path / "new"))
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "was made for a model of 200 tokens, " in done.stderr
    assert "are neither padding nor added: give --target the model of these heads" in done.stderr


CHANGED_TREES = {
    "as many": ("3", ((0, 1), (0, 0, 0), (1,)), ""),
    "fewer": ("2", ((0, 1), (0, 0), (1,)), "was cut to 2 heads: 5 of 6 nodes\n"),
    "one": ("1", ((0,), (1,)), "was cut to 1 head: 3 of 6 nodes\n"),
    "more": ("4", (), "was left out: it does not use the new heads\n"),
}


@pytest.mark.parametrize("case", CHANGED_TREES)
def test_the_tree_of_fewer_heads_is_cut(
    case: str, specchat: Specchat, family_folders: FamilyFolders, tmp_path: Path
) -> None:
    heads, choices, said = CHANGED_TREES[case]
    tree = ((0, 1), (0, 0, 0), (1,))
    before = MedusaWeights("v2", torch.randn(3, 1, 32, 32), torch.randn(3, 1, 32), choices=tree)
    before.save_pretrained(tmp_path / "old")
    done = specchat(
        "heads", "convert", "medusa", "--target", family_folders.target, "--heads", heads,
        "--from", str(tmp_path / "old"), "--out", str(tmp_path / "new"),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert read_medusa(tmp_path / "new", 32, 280).choices == choices
    assert ("its tree (medusa_choices)" in done.stderr) == bool(said) and said in done.stderr
