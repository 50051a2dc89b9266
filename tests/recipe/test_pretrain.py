from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

from assets.demo.recipe.loop import LoopConfig, schedule
from assets.demo.recipe.pretrain import (
    MedusaLayers,
    block_size,
    build_model,
    grow,
    heldout_loss,
    main,
    parse_stages,
    pretrain,
    start_from,
    widened,
)
from assets.demo.recipe.stream import TokenStream, load_stream
from decoding.checkpoints.medusa import read_medusa
from tests.support.processes import in_two_processes

CONFIG = LoopConfig(steps=3, warmup=1, save_every=1, log_every=1, bf16=False, lr=1e-2)


@pytest.mark.parametrize("muon_lr", [0.0, 1e-2])
def test_a_killed_run_resumes_to_the_same_weights(
    make_model: Callable[[], LlamaForCausalLM],
    tokenizer: PreTrainedTokenizerFast,
    data_file: Path,
    tmp_path: Path,
    muon_lr: float,
) -> None:
    config = LoopConfig(**{**vars(CONFIG), "muon_lr": muon_lr})
    stream = load_stream([str(data_file)], tokenizer)
    weights = []
    runs: dict[str, list[int | None]] = {"whole": [None], "killed": [1, 2, None]}
    for name, stops in runs.items():
        for stop_at in stops:
            model = make_model()  # a new process starts from the same initial weights
            pretrain(
                model, tokenizer, stream, None, config, tmp_path / name, 32, [(16, 1.0)], stop_at
            )
        weights.append(torch.cat([p.flatten() for p in model.parameters()]))
    assert torch.equal(weights[0], weights[1])
    steps = [json.loads(line)["step"] for line in (tmp_path / "killed/log.jsonl").open()]
    assert steps == [1, 2, 3]


@pytest.mark.parametrize("muon_lr", ["0", "2e-3"])
def test_two_processes_learn_what_one_does(
    tokenizer: PreTrainedTokenizerFast,
    data_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    without_fast_bfloat16: None,
    muon_lr: str,
) -> None:
    tokenizer.save_pretrained(tmp_path / "tokenizer")
    options = (
        f"--tokenizer {tmp_path}/tokenizer --data {data_file} --hidden 32 --layers 2 --mlp 48"
        " --heads 2 --kv-heads 1 --context 128 --tokens-per-step 64 --stages 16:1 --steps 3"
        f" --warmup 1 --prompt-weight 1 --no-bf16 --save-every 1 --log-every 1 --muon-lr {muon_lr}"
    ).split()
    monkeypatch.setattr(sys, "argv", ["pretrain", *options, "--out", str(tmp_path / "one")])
    main()
    monkeypatch.setattr(sys, "argv", ["pretrain", *options, "--out", str(tmp_path / "two")])
    in_two_processes(main, tmp_path)
    steps = [json.loads(line)["step"] for line in (tmp_path / "two/log.jsonl").open()]
    assert steps == [1, 2, 3]  # one of them logs
    one, two = (
        torch.load(tmp_path / name / "checkpoint.pt", weights_only=True)["model"]
        for name in ("one", "two")
    )
    torch.testing.assert_close(one, two, rtol=0, atol=2e-5)  # a step is 2e-3


def test_a_deeper_model_begins_by_saying_what_the_shallow_one_said(
    make_model: Callable[[], LlamaForCausalLM],
    tokenizer: PreTrainedTokenizerFast,
    data_file: Path,
    tmp_path: Path,
) -> None:
    stream = load_stream([str(data_file)], tokenizer)
    shallow = make_model()
    shallow.medusa = MedusaLayers(heads=2, layers=1, hidden=32)
    pretrain(shallow, tokenizer, stream, None, CONFIG, tmp_path / "shallow", 32, [(16, 1.0)],
             stop_at=2, medusa=shallow.medusa)  # fmt: skip
    trained = torch.load(tmp_path / "shallow/checkpoint.pt", weights_only=True)["model"]
    with pytest.raises(ValueError, match="5 layers cannot be made of 2"):
        grow(tmp_path / "shallow", tmp_path / "deep", 5)
    grow(tmp_path / "shallow", tmp_path / "deep", 4)
    state = torch.load(tmp_path / "deep/checkpoint.pt", weights_only=True)
    assert state["step"] == 2
    deep = build_model(tokenizer, hidden=32, layers=4, mlp=48, heads=2, kv_heads=1, context=128)
    deep.medusa = MedusaLayers(heads=2, layers=1, hidden=32)
    deep.load_state_dict(state["model"])
    for number in (0, 2):
        name = f"model.layers.{number // 2}.mlp.up_proj.weight"
        for layer in deep.model.layers[number : number + 2]:
            assert torch.equal(layer.mlp.up_proj.weight, trained[name])
    shallow.load_state_dict(trained)
    ids = torch.arange(40).view(2, 20)
    torch.testing.assert_close(deep(ids).logits, shallow(ids).logits)
    pretrain(deep, tokenizer, stream, None, CONFIG, tmp_path / "deep", 32, [(16, 1.0)],
             medusa=deep.medusa)  # fmt: skip
    assert [json.loads(line)["step"] for line in (tmp_path / "deep/log.jsonl").open()] == [3]


def test_a_run_can_go_on_from_a_finished_model_and_its_heads(
    make_model: Callable[[], LlamaForCausalLM],
    tokenizer: PreTrainedTokenizerFast,
    data_file: Path,
    tmp_path: Path,
) -> None:
    stream = load_stream([str(data_file)], tokenizer)
    finished = make_model()
    finished.medusa = MedusaLayers(heads=2, layers=1, hidden=32)
    pretrain(finished, tokenizer, stream, None, CONFIG, tmp_path / "one", 32, [(16, 1.0)],
             medusa=finished.medusa)  # fmt: skip
    start_from(tmp_path / "one/model", tmp_path / "one/medusa", tmp_path / "two", make_model())
    state = torch.load(tmp_path / "two/checkpoint.pt", weights_only=True)
    assert state["step"] == 0
    for name, value in finished.state_dict().items():
        torch.testing.assert_close(state["model"][name], value, rtol=0, atol=1e-5)
    going_on = make_model()
    going_on.medusa = MedusaLayers(heads=2, layers=1, hidden=32)
    pretrain(going_on, tokenizer, stream, None, CONFIG, tmp_path / "two", 32, [(16, 1.0)],
             medusa=going_on.medusa)  # fmt: skip
    steps = [json.loads(line)["step"] for line in (tmp_path / "two/log.jsonl").open()]
    assert steps == [1, 2, 3]


def test_a_finished_model_goes_on_wider_and_begins_by_saying_the_same(
    make_model: Callable[[], LlamaForCausalLM],
    tokenizer: PreTrainedTokenizerFast,
    data_file: Path,
    tmp_path: Path,
) -> None:
    stream = load_stream([str(data_file)], tokenizer)
    narrow = make_model()
    narrow.medusa = MedusaLayers(heads=2, layers=1, hidden=32)
    pretrain(narrow, tokenizer, stream, None, CONFIG, tmp_path / "narrow", 32, [(16, 1.0)],
             medusa=narrow.medusa)  # fmt: skip

    def make_wide(**sizes: int) -> LlamaForCausalLM:
        sizes = {"hidden": 64, "mlp": 80, "heads": 4, "kv_heads": 2} | sizes
        return build_model(tokenizer, layers=2, context=128, **sizes)

    folder, heads, out = tmp_path / "narrow/model", tmp_path / "narrow/medusa", tmp_path / "wide"
    start_from(folder, heads, out, make_wide())
    state = torch.load(out / "checkpoint.pt", weights_only=True)
    wide = make_wide()
    wide.medusa = MedusaLayers(heads=2, layers=1, hidden=64)
    wide.load_state_dict(state["model"])
    ids = torch.arange(40).view(2, 20)
    torch.testing.assert_close(wide(ids).logits, narrow(ids).logits, rtol=1e-3, atol=1e-3)
    answer = torch.ones_like(ids, dtype=torch.bool)
    losses = []
    for model, heads_of_it in ((wide, wide.medusa), (narrow, narrow.medusa)):
        assert isinstance(heads_of_it, MedusaLayers)
        hidden = model.model(ids).last_hidden_state
        losses.append(heads_of_it.loss(model, hidden, ids, answer))
    torch.testing.assert_close(*losses, rtol=1e-3, atol=1e-3)
    losses[0].backward()
    layer = wide.model.layers[0]
    for new in (layer.mlp.down_proj.weight.grad[:, 48:], layer.self_attn.o_proj.weight.grad[32:]):
        assert (new != 0).any()  # what is new learns
    with pytest.raises(ValueError, match=r"does not fit into"):
        start_from(folder, heads, out, make_wide(mlp=40))
    with pytest.raises(ValueError, match="only a single key-value head"):
        widened(make_wide().state_dict(), make_wide(kv_heads=4))


def test_medusa_heads_learn_with_the_target(
    make_model: Callable[[], LlamaForCausalLM],
    tokenizer: PreTrainedTokenizerFast,
    data_file: Path,
    tmp_path: Path,
) -> None:
    stream = load_stream([str(data_file)], tokenizer)
    model = make_model()
    model.medusa = MedusaLayers(heads=2, layers=1, hidden=32)
    config = LoopConfig(**{**vars(CONFIG), "steps": 40, "log_every": 20, "muon_lr": 1e-2})
    pretrain(model, tokenizer, stream, stream, config, tmp_path, 64, [(16, 1.0)],
             medusa=model.medusa)  # fmt: skip
    losses = [json.loads(line).get("loss") for line in (tmp_path / "log.jsonl").open()]
    assert losses[1] < 0.6 * losses[0]
    heads = read_medusa(tmp_path / "medusa", 32, len(tokenizer))
    assert heads.heads == 2 and (heads.weights.flatten(1).norm(dim=1) > 0.1).all()
    LlamaForCausalLM.from_pretrained(tmp_path / "model")  # without them


def test_training_learns_and_saves_what_it_measured(
    model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, data_file: Path, tmp_path: Path
) -> None:
    stream = load_stream([str(data_file)], tokenizer)
    before = heldout_loss(model, stream, columns=32)
    config = LoopConfig(**{**vars(CONFIG), "steps": 25, "log_every": 100})
    result = pretrain(model, tokenizer, stream, stream, config, tmp_path, 128, [(64, 1.0)])
    loaded = LlamaForCausalLM.from_pretrained(tmp_path / "model", dtype=torch.float32)
    assert heldout_loss(loaded, stream, columns=512) == pytest.approx(result["heldout_loss"])
    assert result["heldout_loss"] < 0.6 * before
    assert loaded.generation_config.eos_token_id == [5, 0]


def test_stages_lengthen_the_rows() -> None:
    stages = parse_stages("256:0.5,512:0.3,1024:0.2")
    assert [block_size(step, 10, stages) for step in (0, 4, 5, 7, 8, 9)] == [
        256, 256, 512, 512, 1024, 1024,
    ]  # fmt: skip


def test_schedule_warms_up_stays_and_decays() -> None:
    config = LoopConfig(steps=100, warmup=10, decay=0.25, min_lr=0.1)
    rates = [schedule(step, config) for step in range(100)]
    assert rates[0] == pytest.approx(0.1)
    assert set(rates[9:76]) == {1.0}
    assert rates[76:] == sorted(rates[76:], reverse=True)
    assert 0.1 < rates[-1] < 0.15
    longer = LoopConfig(steps=1000, warmup=10, decay=0.25, min_lr=0.1)
    assert rates[:76] == [schedule(step, longer) for step in range(76)]


def test_a_document_learns_nothing_from_its_neighbours(model: LlamaForCausalLM) -> None:
    documents = [[1, 9, 8, 7], [2, 6, 5, 9, 4]]
    alone = [heldout_loss(model, TokenStream([document]), 16) for document in documents]
    together = heldout_loss(model, TokenStream(documents), 16)
    assert together == pytest.approx((3 * alone[0] + 4 * alone[1]) / 7)
