"""From a bare target to an EAGLE lane, by the commands alone."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from transformers import AutoModelForCausalLM, LlamaConfig

from decoding.checkpoints.eagle import write_eagle
from decoding.checkpoints.eagle_fit import TargetShape
from decoding.checkpoints.eagle_read import read_eagle
from decoding.training.eagle_attach import attach_eagle
from decoding.training.eagle_convert import known_tokens
from decoding.training.log import training_log
from decoding.training.medusa_attach import attach_medusa
from tests.conftest import FamilyFolders, Specchat

WORDS = ("the", "quick", "brown", "fox", "and", "the", "lazy", "dog")
SHAPE = TargetShape(32, 280, 2)


@pytest.fixture
def lesson(tmp_path: Path) -> Path:
    """What a random target says can't be learned from its states; one sentence can."""
    path = tmp_path / "lesson.jsonl"
    said = {"role": "assistant", "content": " ".join(WORDS)}
    asked = [{"messages": [{"role": "user", "content": word}, said]} for word in WORDS * 8]
    path.write_text("\n".join(map(json.dumps, asked)))
    return path


@pytest.mark.slow
def test_training_goes_on_with_another_draft_vocabulary(
    specchat: Specchat, family_folders: FamilyFolders, lesson: Path, tmp_path: Path
) -> None:
    target, data = ("--target", family_folders.target), ("--data", str(lesson))
    whole, part = tmp_path / "whole", tmp_path / "part"
    specchat("heads", "convert", "eagle3", *target, "--aux-layers", "0,1", "--out", str(whole))
    done = specchat(
        "heads", "train", *target, *data, "--heads", str(whole), "--out", str(part), "--max-steps",
        "1", "--device", "cpu", "--draft-vocab", "150", "--lr", "1e-9",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    before, after = read_eagle(whole, SHAPE), read_eagle(part, SHAPE)
    assert (before.config.draft_vocab, after.config.draft_vocab) == (280, 150)
    known = after.tensors["d2t"] + torch.arange(150)
    assert {1, 2} <= set(known.tolist())  # the end tokens
    torch.testing.assert_close(
        after.tensors["lm_head.weight"], before.tensors["lm_head.weight"][known]
    )

    specchat("heads", "convert", "eagle1", *target, "--out", str(tmp_path / "eagle1"))
    done = specchat(
        "heads", "train", *target, *data, "--heads", str(tmp_path / "eagle1"), "--draft-vocab",
        "150", "--out", str(tmp_path / "x"), "--device", "cpu",
    )  # fmt: skip
    assert done.returncode == 2 and "it has no draft vocabulary" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["eagle1", "eagle3"])
def test_convert_train_eval_run(
    kind: str, specchat: Specchat, family_folders: FamilyFolders, lesson: Path, tmp_path: Path
) -> None:
    target = ("--target", family_folders.target)
    fresh, trained = tmp_path / "fresh", tmp_path / "trained"
    own = (
        "--aux-layers", "0,1", "--draft-vocab", "200", "--data", str(lesson), "--mlp", "24",
        "--layers", "2", "--width", "24",
    )  # fmt: skip
    done = specchat(
        "heads", "convert", kind, *target, "--out", str(fresh), *(own if kind == "eagle3" else ())
    )
    assert done.returncode == 0, done.stderr
    before = read_eagle(fresh, SHAPE)
    assert before.config.version == kind
    if kind == "eagle3":
        assert (before.config.aux_layers, before.config.draft_vocab) == ((0, 1), 200)
        assert (before.config.layers, before.config.hidden, before.config.intermediate) == (
            2,
            24,
            24,
        )
        known = set((before.tensors["d2t"] + torch.arange(200)).tolist())
        assert {1, 2} <= known  # the end tokens

    train = (
        "heads", "train", *target, "--heads", str(fresh), "--data", str(lesson), "--out",
        str(trained), "--max-steps", "8", "--evaluate-every", "4", "--lr", "1e-2",
        "--device", "cpu", "--features", str(tmp_path / "features"),
        *(("--unroll", "3") if kind == "eagle3" else ()),
        "--muon-lr", "0.02" if kind == "eagle3" else "0", "--keep-checkpoints",
        "--tensorboard", str(tmp_path / "board"),
    )  # fmt: skip
    done = specchat(*train)
    assert done.returncode == 0, done.stderr
    table = done.stderr[done.stderr.index(" step ") :].splitlines()
    assert "served τ" in table[0] and [row.split()[0] for row in table[1:4]] == ["0", "4", "8"]
    entries = [each for each in training_log(trained / "training") if "loss" in each]
    if kind == "eagle3":  # step k weighs 0.8^k
        for each in entries:
            parts = [0.8**k * loss for k, loss in enumerate(each["losses"])]
            assert len(parts) == 3 and each["loss"] == pytest.approx(sum(parts), abs=2e-3)
    board = EventAccumulator(str(tmp_path / "board")).Reload()
    for tag, name in (("train/loss_1", "losses"), ("train/accuracy_1", "accuracy")):
        shown = {event.step: event.value for event in board.Scalars(tag)}
        assert shown == pytest.approx({each["step"]: each[name][0] for each in entries})
    assert [event.step for event in board.Scalars("eval/served")] == [0, 4, 8]
    watched = specchat("heads", "watch", str(trained)).stdout
    assert "drafted in one answer: " in watched and f"› {WORDS[0]}" in watched
    after = read_eagle(trained, SHAPE)
    assert not torch.equal(after.tensors["fc.weight"], before.tensors["fc.weight"])

    # killed after its first checkpoint, a resumed run ends with the same draft
    shutil.rmtree(trained / "training" / "checkpoint-8")
    assert specchat(*train, "--resume").returncode == 0
    again = read_eagle(trained, SHAPE)
    assert again.tensors["fc.weight"].allclose(after.tensors["fc.weight"], atol=1e-3)

    prompts = tmp_path / "prompts.jsonl"
    prompts.write_text("\n".join(lesson.read_text().splitlines()[:2]))
    measure = (
        "heads", "eval", *target, "--heads", str(trained), "--prompts", str(prompts),
        "--max-new-tokens", "12", "--eagle-total-tokens", "8", "--eagle-top-k", "3",
    )  # fmt: skip
    report = json.loads(specchat(*measure, "--json").stdout)
    assert report["prompts"] == 2 and len(report["accuracy"]) == 7
    assert 1 <= report["simulated_tokens_per_pass"] <= 8
    assert report["tokens_per_pass"] >= 1 and sum(report["accepted_histogram"]) > 0
    assert "served: τ" in specchat(*measure).stdout

    run = (
        "run", *target, "--eagle", str(trained), "--prompt", "the fox", "--json", "--strategies",
        "ar,eagle", "--max-new-tokens", "20", "--ignore-eos",
    )  # fmt: skip
    for tree in (
        (),
        ("--eagle-total-tokens", "5", "--eagle-top-k", "1"),
        ("--eagle-choices", "wide"),
    ):
        ar, eagle = json.loads(specchat(*run, *tree).stdout)["runs"][0]["lanes"]
        assert eagle["matches_ar"] is True and eagle["token_ids"] == ar["token_ids"]
        assert eagle["drafted"] > 0


CONVERSIONS = {
    "few layers": (["eagle3"], "the target has 2 layers"),
    "layers beyond": (["eagle3", "--aux-layers", "0,2"], "the target has layers 0 to 1"),
    "layers no numbers": (["eagle3", "--aux-layers", "a"], "give layers as numbers"),
    "layers in other digits": (["eagle3", "--aux-layers", "٠,1"], "give layers as numbers"),
    "layers too long": (["eagle3", "--aux-layers", "9" * 5000], "give layers as numbers"),
    "nothing to count": (["eagle3", "--aux-layers", "0,1", "--draft-vocab", "100"], "needs --data"),
    "a vocabulary of its own": (["eagle1", "--draft-vocab", "9"], "--draft-vocab is for EAGLE-3"),
    "Medusa's layers": (
        ["eagle1", "--layers", "2"],
        "--layers is for Medusa and EAGLE-3 and draft models, not for EAGLE-1",
    ),
    "a draft's width": (
        ["medusa", "--width", "16"],
        "--width is for EAGLE-3 and draft models, not for Medusa",
    ),
    "a head wider than the target": (
        ["eagle3", "--aux-layers", "0,1", "--width", "64"],
        "--width 64: the target's hidden states are 32 wide",
    ),
    "no MLP in Medusa": (
        ["medusa", "--mlp", "16"],
        "--mlp is for EAGLE and draft models, not for Medusa",
    ),
    "more than the target": (["draft", "--layers", "3"], "--layers 3: the target has 2"),
    "wider than the target": (["draft", "--mlp", "64"], "--mlp 64: the target has 48"),
    "EAGLE's data": (["medusa", "--data", "x"], "--data is for EAGLE-3, not for Medusa"),
}


@pytest.mark.parametrize("case", CONVERSIONS)
def test_wrong_conversions(
    case: str, specchat: Specchat, family_folders: FamilyFolders, tmp_path: Path
) -> None:
    arguments, complaint = CONVERSIONS[case]
    out = str(tmp_path / "out")
    done = specchat("heads", "convert", *arguments, "--target", family_folders.target, "--out", out)
    assert done.returncode == 2 and complaint in done.stderr and done.stderr.count("\n") == 1
    assert not Path(out).exists()


def test_an_eagle3_draft_is_no_eagle1_lane(
    specchat: Specchat, family_folders: FamilyFolders, tmp_path: Path
) -> None:
    out, target = str(tmp_path / "out"), ("--target", family_folders.target)
    specchat("heads", "convert", "eagle3", *target, "--aux-layers", "0,1", "--out", out)
    done = specchat("run", *target, "--eagle1", out, "--strategies", "eagle1", "--prompt", "a")
    assert done.returncode == 2 and "give it with --eagle" in done.stderr


def test_what_cannot_be_learned_from_is_one_line(
    specchat: Specchat, family_folders: FamilyFolders, tmp_path: Path
) -> None:
    out, target = str(tmp_path / "out"), ("--target", family_folders.target)
    specchat("heads", "convert", "eagle1", *target, "--out", out)
    prompts = tmp_path / "prompts.jsonl"
    prompts.write_text('{"prompt": "the fox"}\n' * 30)
    done = specchat(
        "heads", "train", *target, "--heads", out, "--data", str(prompts), "--out",
        str(tmp_path / "x"), "--device", "cpu",
    )  # fmt: skip
    assert done.returncode == 2 and "let the target answer prompts first" in done.stderr
    assert done.stderr.strip().count("\n") == 0


def test_heads_that_can_not_be_written_are_not_trained(
    specchat: Specchat, family_folders: FamilyFolders, tmp_path: Path
) -> None:
    heads, target = tmp_path / "heads", ("--target", family_folders.target)
    specchat("heads", "convert", "eagle3", *target, "--aux-layers", "0,1", "--out", str(heads))
    config = json.loads((heads / "config.json").read_text())
    (heads / "config.json").write_text(json.dumps(config | {"bias": True}))
    done = specchat(
        "heads", "train", *target, "--heads", str(heads), "--data", "no such file", "--out",
        str(tmp_path / "x"), "--device", "cpu",
    )  # fmt: skip
    assert done.returncode == 2 and "fc_bias, which no dialect can express" in done.stderr


IDLE = {
    "a target's rate": ("medusa", ("--target-lr", "1e-5"), "--target-lr is for --joint"),
    "epochs": (
        "medusa",
        ("--epochs", "2", "--max-steps", "5"),
        "--epochs counts for nothing with --max-steps",
    ),
    "steps of EAGLE-1": ("eagle1", ("--unroll", "3"), "--unroll is for EAGLE-3, not for EAGLE-1"),
}


@pytest.mark.parametrize("case", IDLE)
def test_options_that_would_change_nothing(
    case: str, specchat: Specchat, family_folders: FamilyFolders, tmp_path: Path
) -> None:
    kind, options, complaint = IDLE[case]
    heads, target = str(tmp_path / "heads"), ("--target", family_folders.target)
    assert specchat("heads", "convert", kind, *target, "--out", heads).returncode == 0
    done = specchat(
        "heads", "train", *target, "--heads", heads, "--data", "no such file", "--out",
        str(tmp_path / "x"), "--device", "cpu", *options,
    )  # fmt: skip
    assert done.returncode == 2 and complaint in done.stderr and done.stderr.count("\n") == 1


def test_without_torchao_nothing_is_begun(
    specchat: Specchat, family_folders: FamilyFolders, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr("app.cli.heads.commands.checks.find_spec", lambda name: None)
    heads, target = str(tmp_path / "heads"), ("--target", family_folders.target)
    specchat("heads", "convert", "medusa", *target, "--out", heads)
    more = ("--heads", heads, "--out", str(tmp_path / "x"))
    for command in (
        ("train", *target, "--data", "no such file", "--qat", "int8"),
        ("quantize", "--to", "int8"),
    ):
        done = specchat("heads", *command, *more)
        assert done.returncode == 2 and "pip install 'specchat[quantize]'" in done.stderr


def test_without_tensorboard_it_says_how_to_get_it(
    specchat: Specchat, family_folders: FamilyFolders, lesson: Path, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr("app.cli.heads.commands.checks.find_spec", lambda name: None)
    out, target = str(tmp_path / "out"), ("--target", family_folders.target)
    specchat("heads", "convert", "eagle1", *target, "--out", out)
    done = specchat(
        "heads", "train", *target, "--heads", out, "--data", str(lesson), "--out",
        str(tmp_path / "x"), "--tensorboard", str(tmp_path / "board"),
    )  # fmt: skip
    assert done.returncode == 2 and "pip install 'specchat[tensorboard]'" in done.stderr


def test_each_kind_of_heads_has_options_of_its_own(
    specchat: Specchat, family_folders: FamilyFolders, lesson: Path, tmp_path: Path
) -> None:
    target = ("--target", family_folders.target)
    for kind, command, option in (
        ("eagle1", ("train", "--data", str(lesson), "--out", str(tmp_path / "x")), ("--joint",)),
        (
            "medusa",
            ("train", "--data", str(lesson), "--out", str(tmp_path / "x")),
            ("--unroll", "3"),
        ),
        ("eagle1", ("eval", "--prompts", str(lesson)), ("--medusa-choices", "small")),
        ("medusa", ("eval", "--prompts", str(lesson)), ("--eagle-top-k", "3")),
    ):
        out = tmp_path / kind
        if not out.exists():
            specchat("heads", "convert", kind, *target, "--out", str(out))
        done = specchat("heads", *command, *target, "--heads", str(out), *option)
        other = "Medusa, not for EAGLE" if kind == "eagle1" else "EAGLE, not for Medusa"
        assert done.returncode == 2 and f"{option[0]} is for {other}" in done.stderr
    assert not (tmp_path / "x").exists()


@pytest.fixture
def elsewhere(specchat: Specchat, family_folders: FamilyFolders, tmp_path: Path) -> Path:
    """An EAGLE-3 head of 200 tokens in another dialect, in half precision."""
    model = AutoModelForCausalLM.from_pretrained(family_folders.target)
    vocab = torch.arange(200) + 5
    head = attach_eagle(model, "eagle3", vocab, [1], width=24)
    head.config = replace(head.config, norm_before_residual=True)
    head.tensors = {
        name: tensor if name == "d2t" else (tensor + torch.randn_like(tensor)).bfloat16()
        for name, tensor in head.tensors.items()
    }
    write_eagle(head, tmp_path / "elsewhere", "speculators", "someone/model")
    return tmp_path / "elsewhere"


def test_convert_goes_on_from_heads_that_others_trained(
    specchat: Specchat, family_folders: FamilyFolders, elsewhere: Path, lesson: Path, tmp_path: Path
) -> None:
    target, out = ("--target", family_folders.target), tmp_path / "out"
    convert = ("heads", "convert", "eagle3", *target, "--from", str(elsewhere), "--out")
    done = specchat(
        *convert, str(out), "--draft-vocab", "220", "--data", str(lesson), "--aux-layers", "0"
    )
    assert done.returncode == 0, done.stderr
    before, after = read_eagle(elsewhere, SHAPE), read_eagle(out, SHAPE)
    assert after.dialect == "speculators"
    assert after.config == replace(before.config, aux_layers=(0,), draft_vocab=220)
    kept, known = (w.tensors["d2t"] + torch.arange(w.config.draft_vocab) for w in (before, after))
    both = [int(token) for token in known if token in kept]
    assert f"{len(both)} tokens of its draft vocabulary kept, {220 - len(both)} new" in done.stderr
    for name in before.tensors.keys() - {"d2t", "lm_head.weight"}:
        assert torch.equal(after.tensors[name], before.tensors[name]), name
    rows = after.tensors["lm_head.weight"]
    for token in both:
        old = before.tensors["lm_head.weight"][(kept == token).nonzero()[0, 0]]
        assert torch.equal(rows[(known == token).nonzero()[0, 0]], old)
    assert torch.isfinite(rows.float()).all()
    assert "from: " in (out / "recipe.yaml").read_text()
    same = tmp_path / "same"
    assert specchat(*convert, str(same)).returncode == 0
    assert read_eagle(same, SHAPE).config == before.config


def test_convert_goes_on_from_a_head_of_a_deeper_target(
    specchat: Specchat, family_folders: FamilyFolders, tmp_path: Path
) -> None:
    deep = AutoModelForCausalLM.from_config(
        LlamaConfig(
            vocab_size=280, hidden_size=32, intermediate_size=16, num_hidden_layers=6,
            num_attention_heads=2,
        )
    )  # fmt: skip
    attach_eagle(deep, "eagle3", aux_layers=[2, 4]).save_pretrained(tmp_path / "deep")
    target = ("--target", family_folders.target, "--out", str(tmp_path / "out"))
    convert = ("heads", "convert", "eagle3", *target, "--from", str(tmp_path / "deep"))
    done = specchat(*convert)
    assert done.returncode == 2 and "this target has 0 to 1" in done.stderr
    done = specchat(*convert, "--aux-layers", "0,1")
    assert done.returncode == 0 and "[2, 4]" not in done.stderr, done.stderr
    assert read_eagle(tmp_path / "out", SHAPE).config.aux_layers == (0, 1)


def test_convert_goes_on_from_eagle1_without_its_bias(
    specchat: Specchat, family_folders: FamilyFolders, tmp_path: Path
) -> None:
    target = ("--target", family_folders.target)
    specchat("heads", "convert", "eagle1", *target, "--out", str(tmp_path / "a"))
    convert = ("heads", "convert", "eagle1", *target, "--from", str(tmp_path / "a"), "--no-fc-bias")
    done = specchat(*convert, "--out", str(tmp_path / "b"))
    assert done.returncode == 0 and "its bias in fc was left out" in done.stderr
    before, after = (read_eagle(tmp_path / name, SHAPE) for name in "ab")
    assert "fc.bias" in before.tensors and "fc.bias" not in after.tensors
    assert torch.equal(before.tensors["fc.weight"], after.tensors["fc.weight"])


NOT_KEPT = {
    "another kind": (["medusa"], "holds an EAGLE head, convert medusa can't go on from that"),
    "another version": (["eagle1"], "holds an EAGLE-3 head: give convert eagle3"),
    "its shape": (["eagle3", "--mlp", "16"], "--mlp is for untrained heads, not for --from"),
    "more layers": (["eagle3", "--aux-layers", "0,1"], "reads layers [1], give as many"),
    "layers beyond": (["eagle3", "--aux-layers", "2"], "the target has layers 0 to 1"),
    "no data": (["eagle3", "--draft-vocab", "9"], "--draft-vocab needs --data"),
    "a draft model": (["draft"], "--from is for Medusa and EAGLE, not for draft models"),
}


@pytest.mark.parametrize("case", NOT_KEPT)
def test_what_does_not_fit_heads_to_go_on_from(
    case: str, specchat: Specchat, family_folders: FamilyFolders, elsewhere: Path, tmp_path: Path
) -> None:
    arguments, complaint = NOT_KEPT[case]
    convert = ("heads", "convert", *arguments, "--target", family_folders.target)
    done = specchat(*convert, "--from", str(elsewhere), "--out", str(tmp_path / "out"))
    assert done.returncode == 2 and complaint in done.stderr, done.stderr
    assert done.stderr.count("\n") == 1 and not (tmp_path / "out").exists()


def test_a_draft_vocabulary_is_at_most_the_targets(
    specchat: Specchat, family_folders: FamilyFolders, lesson: Path, tmp_path: Path
) -> None:
    convert = ("heads", "convert", "eagle3", "--target", family_folders.target)
    own = ("--aux-layers", "0,1", "--data", str(lesson), "--out", str(tmp_path / "out"))
    done = specchat(*convert, *own, "--draft-vocab", "32000")
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "--draft-vocab 32000: the target has 280 tokens" in done.stderr
    assert specchat(*convert, *own, "--draft-vocab", "280").returncode == 0
    head = read_eagle(tmp_path / "out", SHAPE)
    assert head.config.draft_vocab == 280 and "d2t" not in head.tensors


@pytest.mark.parametrize("kind", ["all tokens", "some tokens", "no embedding", "eagle1"])
@pytest.mark.parametrize(("known", "vocab", "how"), [(290, 280, "cut"), (280, 290, "extended")])
def test_a_vocabulary_of_another_size_is_fitted(
    known: int, vocab: int, how: str, kind: str, specchat: Specchat,
    family_folders: FamilyFolders, tmp_path: Path,
) -> None:  # fmt: skip
    """As `resize_token_embeddings` leaves one: the tokens that both have are the same."""
    model = AutoModelForCausalLM.from_pretrained(family_folders.target)
    shutil.copytree(family_folders.target, tmp_path / "target")
    model.resize_token_embeddings(vocab)
    model.save_pretrained(tmp_path / "target")
    model.resize_token_embeddings(known)
    if kind == "eagle1":
        head = attach_eagle(model, "eagle1")
        head.tensors["embed_tokens.weight"] = torch.randn(known, 32)
    else:
        tokens = torch.arange(known - 20, known - 2) if kind == "some tokens" else None
        width = None if kind == "no embedding" else 24
        head = attach_eagle(model, "eagle3", tokens, [0, 1], width=width)
    version = head.config.version
    head.save_pretrained(tmp_path / "old")
    done = specchat(
        "heads", "convert", version, "--target", str(tmp_path / "target"),
        "--from", str(tmp_path / "old"), "--out", str(tmp_path / "new"),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert f"its vocabulary of {known} tokens was {how} to the target's {vocab}" in done.stderr
    new = read_eagle(tmp_path / "new", replace(SHAPE, vocab=vocab))
    if kind != "no embedding":
        embedding = new.tensors["embed_tokens.weight"]
        assert torch.equal(embedding[:280], head.tensors["embed_tokens.weight"][:280])
        assert embedding[280:].any(1).all()
    if version == "eagle3":
        before, after = known_tokens(head), known_tokens(new)
        assert after.tolist() == (
            [token for token in before if token < vocab]
            if kind == "some tokens"
            else list(range(vocab))
        )
        both = before < vocab
        own, rows = head.tensors["lm_head.weight"][both], new.tensors["lm_head.weight"]
        assert torch.equal(rows[: len(own)], own) and rows.any(1).all()


def test_heads_of_another_width_are_one_line(
    specchat: Specchat, family_folders: FamilyFolders, tmp_path: Path
) -> None:
    model = AutoModelForCausalLM.from_config(
        LlamaConfig(
            vocab_size=280, hidden_size=16, intermediate_size=16, num_hidden_layers=2,
            num_attention_heads=2,
        )
    )  # fmt: skip
    attach_eagle(model, "eagle3", aux_layers=[0, 1]).save_pretrained(tmp_path / "eagle3")
    attach_medusa(model).save_pretrained(tmp_path / "medusa")
    for kind, complaint in (
        ("eagle3", "is 16 wide, this target 32"),
        ("medusa", "is [16], this target needs [32]"),
    ):
        done = specchat(
            "heads", "convert", kind, "--target", family_folders.target, "--from",
            str(tmp_path / kind), "--out", str(tmp_path / "out"),
        )  # fmt: skip
        assert done.returncode == 2 and complaint in done.stderr
        assert "made for another model" in done.stderr and done.stderr.count("\n") == 1
