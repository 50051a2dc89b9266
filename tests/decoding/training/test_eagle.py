"""EAGLE heads are trained for what they do when served."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Collection
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest
import torch
from torch import Tensor
from torch.nn import functional
from torch.utils.data import Dataset
from transformers import AutoConfig, AutoModelForCausalLM, LlamaForCausalLM

from decoding.checkpoints.dialects import EagleVersion
from decoding.checkpoints.eagle import EagleWeights
from decoding.drafters.eagle import Eagle, EagleTree
from decoding.drafters.eagle_head import EagleHead
from decoding.errors import InputError
from decoding.model.output_head import logits_of
from decoding.model.target import Target
from decoding.params import Params
from decoding.tokenizing.stopping import Stop
from decoding.training import eagle_model, eagle_unroll
from decoding.training.conversations import IGNORED, Example, collate
from decoding.training.eagle import chain_accuracy, train_eagle
from decoding.training.eagle_attach import (
    attach_eagle,
    default_aux_layers,
    frequent_tokens,
)
from decoding.training.eagle_convert import with_draft_vocabulary
from decoding.training.eagle_model import EagleTrainingModel, Supervision
from decoding.training.eagle_unroll import unroll
from decoding.training.evaluate import Answer, answer_prompts, stats_of
from decoding.training.features import (
    cache_features,
    cached_features,
    collate_features,
    features_of,
)
from decoding.training.length_grouped import LengthGrouped
from decoding.training.log import training_log
from decoding.training.losses import Loss
from decoding.training.medusa_attach import attach_medusa
from decoding.training.train_config import TrainConfig
from tests.decoding.model.test_classes import model_of
from tests.support.answered import answers_to
from tests.support.families import build, sure_llama

VOCAB, EOS = 40, 1
VERSIONS: tuple[EagleVersion, ...] = ("eagle1", "eagle3")
Data = list[Example]


@pytest.fixture
def target() -> LlamaForCausalLM:
    return sure_llama(vocab_size=VOCAB, num_hidden_layers=7, bos_token_id=0, eos_token_id=EOS)


@pytest.fixture
def data(target: LlamaForCausalLM) -> Data:
    """The target's own greedy answers, the same few prompts again and again."""
    prompts = [[0, a, b] for a in range(2, 8) for b in range(2, 6)]
    answers = answers_to(target, prompts, {EOS}, Params(max_new_tokens=24))
    return [
        Example((*prompt, *answer), (*[IGNORED] * len(prompt), *answer))
        for prompt, answer in zip(prompts, answers, strict=True)
    ]


def dataset(examples: Data) -> Dataset[Example]:
    """A list does for one."""
    return cast(Dataset[Example], examples)


def disturbed(weights: EagleWeights) -> EagleWeights:
    """Far from its beginning, where parts of a draft may not matter yet."""
    torch.manual_seed(2)
    tensors = {
        name: tensor + 0.2 * torch.randn(tensor.shape) if tensor.is_floating_point() else tensor
        for name, tensor in weights.tensors.items()
    }
    return dataclasses.replace(weights, tensors=tensors)


@pytest.mark.parametrize(("version", "layers"), [("eagle1", 1), ("eagle3", 1), ("eagle3", 3)])
def test_unrolled_steps_are_those_of_decoding(
    version: EagleVersion, layers: int, target: LlamaForCausalLM
) -> None:
    target = target.double()  # then nothing but a mistake tells the two apart
    weights = disturbed(attach_eagle(target, version, own_layers=layers))
    embedding: Any = target.get_input_embeddings().weight
    head = EagleHead.build(weights, embedding, target.lm_head).double()
    ids = torch.randint(VOCAB, (2, 16))
    aux, final = features_of(target, ids, weights.config.aux_layers)
    features = final if aux is None else aux
    hidden = head.hidden(features)
    texts, starts = (torch.rand(2, 15) < 0.6).nonzero(as_tuple=True)
    steps = list(unroll(head, ids, features, texts, starts, 4))
    begun = zip(texts.tolist(), starts.tolist(), strict=True)
    for draft, (row, start) in enumerate(begun):

        def attend(cache: list[tuple[Tensor, Tensor]], q: Tensor, k: Tensor, v: Tensor) -> Tensor:
            cache.append((k, v))
            keys, values = (torch.cat(rows, 2) for rows in zip(*cache, strict=True))
            out = torch.nn.functional.scaled_dot_product_attention(
                q, keys, values, is_causal=q.shape[2] > 1, enable_gqa=True
            )
            return out.transpose(1, 2).flatten(2)

        # A cache of true rows up to `start`, then one row after the other behind it.
        rows = torch.arange(start + 1)
        tokens = ids[row : row + 1]
        cached = [partial(attend, []) for _ in head.layers]
        out = head(tokens[:, 1 : start + 2], hidden[row : row + 1, rows], rows, cached)[:, -1:]
        for k, step in enumerate(steps):
            if start + k + 1 == len(ids[row]):
                break  # the text ends
            if k:
                at = start + k
                out = head(tokens[:, at + 1 : at + 2], out, torch.tensor([at]), cached)
            torch.testing.assert_close(step[draft], out[0, 0])


def test_long_texts_are_attended_in_blocks_and_their_scores_not_kept(
    target: LlamaForCausalLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = disturbed(attach_eagle(target, "eagle3"))
    texts = torch.randint(VOCAB, (2, 48)).tolist()
    batch = collate([Example.of_answer(text[:2], text[2:]) for text in texts])

    def learn() -> tuple[Tensor, list[Tensor], int]:
        """The loss, its gradients, and how much is kept for them."""
        model, kept = EagleTrainingModel(target, weights).train(), 0

        def count(tensor: Tensor) -> Tensor:
            nonlocal kept
            kept += tensor.numel()
            return tensor

        with torch.autograd.graph.saved_tensors_hooks(count, lambda tensor: tensor):
            loss = model(**batch)["loss"]
        loss.backward()
        return loss, [p.grad for p in model.parameters() if p.grad is not None], kept

    monkeypatch.setattr(eagle_unroll, "_TOGETHER", 0)
    loss, gradients, kept = learn()
    monkeypatch.setattr(eagle_unroll, "_BLOCK", 4 * 48 * 5)  # five drafts at a time
    in_blocks = learn()
    torch.testing.assert_close((loss, gradients), in_blocks[:2])
    monkeypatch.setattr(eagle_unroll, "_KEPT", 0)
    again = learn()
    torch.testing.assert_close((loss, gradients), again[:2])
    scores = 2 * 6 * 4 * 45 * 24  # of each draft over the rows up to its own, in each step
    assert again[2] < in_blocks[2] - scores < in_blocks[2] < kept


def test_all_texts_are_attended_at_once(
    target: LlamaForCausalLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = disturbed(attach_eagle(target, "eagle3", own_layers=2, width=24))
    texts = [torch.randint(VOCAB, (size,)).tolist() for size in (30, 9, 21)]
    batch = collate([Example.of_answer(text[:4], text[4:]) for text in texts])

    def learn() -> tuple[Tensor, list[Tensor]]:
        model = EagleTrainingModel(target, weights).train()
        loss = model(**batch)["loss"]
        loss.backward()
        return loss, [p.grad for p in model.parameters() if p.grad is not None]

    monkeypatch.setattr(eagle_unroll, "_TOGETHER", 100)  # padded they would take too much memory
    one_by_one = learn()
    monkeypatch.undo()
    each, attended = eagle_unroll._attend, []

    def attend(q: Tensor, *more: Tensor) -> tuple[Tensor, Tensor]:
        attended.append(q.shape[0])
        return each(q, *more)

    monkeypatch.setattr(eagle_unroll, "_attend", attend)
    torch.testing.assert_close(learn(), one_by_one)
    assert set(attended) == {len(texts)}


@pytest.mark.slow
@pytest.mark.parametrize(("version", "layers"), [("eagle1", 1), ("eagle3", 1), ("eagle3", 2)])
def test_training_from_its_data_to_a_served_draft(
    version: EagleVersion, layers: int, target: LlamaForCausalLM, data: Data, tmp_path: Path
) -> None:
    vocabulary = frequent_tokens(data, VOCAB, 30, {EOS}) if version == "eagle3" else None
    width = 24 if layers > 1 else None
    fresh = attach_eagle(target, version, vocabulary, own_layers=layers, width=width)
    decoder_target = Target(target)
    if fresh.config.aux_layers:
        decoder_target.capture_layers(fresh.config.aux_layers)

    def served(weights: EagleWeights) -> float:
        embedding: Any = target.get_input_embeddings().weight
        head = EagleHead.build(weights, embedding, decoder_target.logits).eval()
        drafter = Eagle(head, decoder_target, EagleTree(top_k=1), default_gamma=3)
        prompts = [example.ids[:3] for example in data[::6]]
        stop = Stop(frozenset({EOS}))
        params = Params(max_new_tokens=20)
        stats = stats_of(answer_prompts(decoder_target, drafter, prompts, params, stop))
        return stats.tokens_per_pass or 0.0

    config = TrainConfig(steps=60, lr=1e-2, batch_size=8, evaluate_every=20, warmup=0.1)
    weights, reports = train_eagle(
        target, fresh, dataset(data), dataset(data[::3]), config, tmp_path, served=served, steps=3
    )
    assert [report.step for report in reports] == [0, 20, 40, 60]
    best = max(reports, key=lambda report: report.served or 0)
    assert best.accuracy[0] > 0.6 and best.served is not None and best.served > served(fresh) + 0.5
    assert served(weights) == pytest.approx(best.served)

    # killed after its second checkpoint, a resumed run ends with the same draft
    shutil.rmtree(tmp_path / "checkpoint-60")
    again, reports_again = train_eagle(
        target, fresh, dataset(data), dataset(data[::3]), config, tmp_path, True, served, steps=3
    )
    assert reports_again == reports
    for name, tensor in weights.tensors.items():
        torch.testing.assert_close(again.tensors[name], tensor, atol=1e-5, rtol=1e-3)


def test_a_resumed_training_may_measure_its_best_otherwise(
    target: LlamaForCausalLM, data: Data, tmp_path: Path
) -> None:
    fresh = attach_eagle(target, "eagle1")
    config = TrainConfig(steps=20, lr=1e-2, batch_size=8, evaluate_every=10)
    texts = dataset(data), dataset(data[::3])
    straight, reports = train_eagle(target, fresh, *texts, config, tmp_path / "straight")
    assert reports[1].simulated < reports[2].simulated < 9.0
    assert [report.kept for report in reports] == [False, False, True]
    work = tmp_path / "resumed"
    _, reports = train_eagle(target, fresh, *texts, config, work, served=lambda _: 9.0)
    assert [report.kept for report in reports] == [False, True, False]
    shutil.rmtree(work / "checkpoint-20")
    for _ in range(2):  # then it is at its end already
        resumed, reports = train_eagle(target, fresh, *texts, config, work, resume=True)
        assert [report.kept for report in reports] == [False, False, True]
        for name, tensor in straight.tensors.items():
            torch.testing.assert_close(resumed.tensors[name], tensor, atol=1e-5, rtol=1e-3)
    assert max(entry["step"] for entry in training_log(work)) == 20


@pytest.mark.parametrize("served", [(4.0, 3.0, 3.5), (4.0, 3.0, 4.0)])
def test_a_training_that_makes_a_head_worse_says_so(
    served: tuple[float, ...],
    target: LlamaForCausalLM,
    data: Data,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    values, texts = iter(served), (dataset(data), dataset(data[::3]))
    config, fresh = TrainConfig(steps=4, evaluate_every=2), attach_eagle(target, "eagle1")
    _, reports = train_eagle(target, fresh, *texts, config, tmp_path, served=lambda _: next(values))
    assert [(report.step, report.served) for report in reports] == list(
        zip((0, 2, 4), served, strict=True)
    )
    worse = "began with were better (served τ 4.00, now served τ 3.50)" in capsys.readouterr().err
    assert worse == (max(served[1:]) < served[0])


def tokens(text: str) -> Example:
    """A token a letter; capitals are the answer's."""
    ids = tuple(ord(letter.lower()) - ord("a") + 2 for letter in text)
    return Example(
        ids, tuple(i if c.isupper() else IGNORED for i, c in zip(ids, text, strict=True))
    )


def measured(model: EagleTrainingModel, *examples: Example) -> dict[str, Tensor]:
    with torch.no_grad():
        found: dict[str, Tensor] = model.eval()(**collate(examples))
    return found


def test_drafts_begin_and_end_within_an_answer(target: LlamaForCausalLM) -> None:
    """A draft's root is a token of an answer; what the target says behind that answer is no
    lesson."""
    model = EagleTrainingModel(target, attach_eagle(target, "eagle3"), steps=1)
    for text, drafts in (("abcDEFGH", 4), ("abcD", 0), ("abCDEfghIJ", 3), ("ABC", 1)):
        assert measured(model, tokens(text))["counts"].tolist() == [[drafts]], text
    batch, at = torch.tensor([0, 0, 0, 0, 0, 1, 1]), torch.tensor([2, 3, 4, 9, 10, 11, 12])
    said = torch.ones(7, dtype=torch.bool)
    lesson = Supervision(batch, at, torch.ones(7, 1), at, said, said)
    assert [lesson.drafts(k).tolist() for k in (1, 2, 3, 9)] == [[0, 1, 3, 5], [0], [], []]


def test_padding_and_neighbours_change_nothing(target: LlamaForCausalLM) -> None:
    model = EagleTrainingModel(target, disturbed(attach_eagle(target, "eagle3")), steps=3)
    short, long = tokens("abCDEF"), tokens("abcdefgHIJKLMNabOPQ")
    alone = [measured(model, example) for example in (short, long)]
    both = measured(model, short, long)
    for name in ("hits", "counts"):
        assert torch.equal(both[name], torch.cat([part[name] for part in alone]))


@pytest.mark.parametrize("loss", ["kl", "lk", "ce"])
@pytest.mark.parametrize("known", [None, torch.arange(3, 25)])
def test_the_targets_logits_are_taken_in_blocks(
    target: LlamaForCausalLM, loss: Loss, known: Tensor | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights, example = disturbed(attach_eagle(target, "eagle3", known)), tokens("abcDEFGHIJ")
    model = EagleTrainingModel(target, weights, steps=2, loss=loss)
    whole = measured(model, example)["loss"]
    monkeypatch.setattr(eagle_model, "_TARGET_LOGITS", 3 * VOCAB)
    torch.testing.assert_close(measured(model, example)["loss"], whole)


def test_what_the_draft_cannot_say_teaches_nothing(target: LlamaForCausalLM) -> None:
    example = tokens("abcDEFGHIJ")
    final = features_of(target, torch.tensor([example.ids]), ())[1]
    said = target.lm_head(final[0, 3:-1]).argmax(-1)
    unsaid = torch.tensor([i for i in range(VOCAB) if i not in said])
    mute = measured(EagleTrainingModel(target, attach_eagle(target, "eagle3", unsaid)), example)
    assert mute["loss"] == 0 and mute["hits"].sum() == 0 and mute["counts"][0, 0] == len(said)
    able = torch.tensor(sorted({*unsaid.tolist()[1:], int(said[0])}))
    assert (
        measured(EagleTrainingModel(target, attach_eagle(target, "eagle3", able)), example)["loss"]
        > 0
    )


@pytest.mark.parametrize("before", [torch.arange(3, 25), None])
@pytest.mark.parametrize("after", [torch.arange(0, 40, 2), torch.arange(3, 25), None])
def test_another_draft_vocabulary_keeps_what_is_known(
    target: LlamaForCausalLM, before: Tensor | None, after: Tensor | None
) -> None:
    old = disturbed(attach_eagle(target, "eagle3", before))
    new = with_draft_vocabulary(old, target, after)
    embedding: Any = target.get_input_embeddings().weight
    ids = {name: torch.arange(VOCAB) if v is None else v for name, v in
           (("old", before), ("new", after))}  # fmt: skip
    heads = {
        name: EagleHead.build(weights, embedding, target.lm_head)
        for name, weights in (("old", old), ("new", new))
    }
    hidden = torch.randn(5, 32)
    logits = {
        name: dict(zip(ids[name].tolist(), head.logits(hidden).T, strict=True))
        for name, head in heads.items()
    }
    normed = torch.nn.functional.rms_norm(hidden, (32,), new.tensors["norm.weight"], 1e-6)
    for place, token in enumerate(ids["new"].tolist()):
        assert int(heads["new"].target_ids(torch.tensor(place))) == token
        row = logits["old"].get(token)
        expected = normed @ target.lm_head.weight[token] if row is None else row
        torch.testing.assert_close(logits["new"][token], expected)
    assert ("d2t" in new.tensors) == (after is not None)
    assert {n for n, t in new.tensors.items() if t is not old.tensors.get(n)} <= {
        "lm_head.weight",
        "d2t",
    }


def test_a_narrower_head_begins_with_what_its_width_can_hold(
    target: LlamaForCausalLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All that the target's lm_head tells apart, if that has no more directions."""
    monkeypatch.setattr("decoding.training.eagle_attach._FC", 0.0)
    with torch.no_grad():
        target.lm_head.weight.copy_(torch.randn(VOCAB, 8) @ torch.randn(8, 32))
        target.model.norm.weight.copy_(1 + 0.3 * torch.randn(32))
    embedding: Any = target.get_input_embeddings().weight
    head = EagleHead.build(attach_eagle(target, "eagle3", width=8), embedding, target.lm_head)
    assert (head.config.hidden, head.embedding.shape) == (8, (VOCAB, 8))
    features = torch.randn(5, 32)
    # The target's last feature reaches the lm_head, however long.
    found = head.logits(head.hidden(torch.cat([torch.randn(5, 64), features], -1)))
    expected = target.lm_head(features * target.model.norm.weight)
    close = torch.nn.functional.cosine_similarity(found, expected)
    torch.testing.assert_close(close, torch.ones(5))
    for width in (10, 36):
        with pytest.raises(InputError, match=f"^width {width}: .* give a multiple of 4 below that"):
            attach_eagle(target, "eagle3", width=width)


def test_a_narrower_heads_new_rows_are_those_that_fit_the_known_ones(
    target: LlamaForCausalLM,
) -> None:
    """It was made by a linear map of the target's rows, which the known ones tell."""
    with torch.no_grad():
        target.lm_head.weight.copy_(torch.randn(VOCAB, 32))
    old = attach_eagle(target, "eagle3", torch.arange(3, VOCAB), width=8)
    whole = target.lm_head.weight.detach() @ torch.randn(32, 8)
    old.tensors["lm_head.weight"] = whole[3:]
    new = with_draft_vocabulary(old, target, torch.arange(0, VOCAB, 2))
    found, expected = new.tensors["lm_head.weight"], whole[::2]
    torch.testing.assert_close(found, expected, rtol=1e-2, atol=1e-2)


def test_only_eagle3_has_a_draft_vocabulary(target: LlamaForCausalLM) -> None:
    with pytest.raises(InputError, match="it has no draft vocabulary"):
        with_draft_vocabulary(attach_eagle(target, "eagle1"), target, torch.arange(5))


def test_frequent_tokens() -> None:
    data = [tokens("aaaaBBBCCD"), tokens("aaaaBD")]
    b, c, d = 3, 4, 5

    def frequent(count: int, always: Collection[int] = ()) -> list[int]:
        found = frequent_tokens(data, 10, count, always)
        assert found is not None
        return [int(token) for token in found]

    assert frequent(2) == [b, c]  # first come c and d: the lower id
    assert frequent(3, {EOS}) == [EOS, b, c]
    assert frequent(5) == [0, 1, b, c, d]
    assert frequent_tokens(data, 10, 10) is None
    with pytest.raises(InputError, match="^draft_vocab 11: the target has 10 tokens"):
        frequent_tokens(data, 10, 11)
    with pytest.raises(InputError, match="end an answer"):
        frequent_tokens(data, 10, 1, {EOS})


def test_attached_to_a_target(target: LlamaForCausalLM) -> None:
    weights = attach_eagle(target, "eagle3", torch.tensor([1, 5, 9]))
    c = weights.config
    assert (c.aux_layers, c.heads, c.kv_heads, c.head_dim, c.intermediate) == (
        (2, 3, 4),
        4,
        2,
        8,
        48,
    )
    assert torch.equal(weights.tensors["lm_head.weight"], target.lm_head.weight[[1, 5, 9]])
    assert weights.tensors["d2t"].tolist() == [1, 4, 7]
    whole = attach_eagle(target, "eagle3", aux_layers=[5, 1]).config
    assert (whole.aux_layers, whole.draft_vocab) == ((1, 5), VOCAB)
    assert attach_eagle(target, "eagle1").config.aux_layers == ()
    with pytest.raises(InputError, match="^aux_layers: the target has 6 layers, .* which layers"):
        default_aux_layers(6)
    with pytest.raises(InputError, match="layers 0 to 6"):
        attach_eagle(target, "eagle3", aux_layers=[7])
    with pytest.raises(InputError, match="no draft vocabulary"):
        attach_eagle(target, "eagle1", torch.tensor([1]))


@pytest.mark.parametrize("kind", ["gemma4_text", "cohere2_moe"])
def test_attached_to_a_target_of_unlike_layers_or_other_norms(kind: str) -> None:
    config = attach_eagle(model_of(kind), "eagle1").config
    assert (config.heads, config.head_dim, config.norm_eps) == (4, 8, 1e-6)


@pytest.mark.parametrize("family", ["llama", "mistral", "gemma", "qwen3", "phi3"])
def test_a_new_head_begins_as_the_last_layers_of_its_target(family: str) -> None:
    """From the inputs of those layers alone, and without the embedding, its logits are the
    target's, where they are Llama's: Gemma has another activation, Qwen 3 norms of queries, and
    Phi 3 fused projections."""
    target = build(family)
    layers = target.config.num_hidden_layers
    weights = attach_eagle(target, "eagle3", aux_layers=[layers - 2], own_layers=2)
    for name in "qkv":
        weights.tensors[f"self_attn.{name}_proj.weight"][:, : weights.config.hidden] = 0
    embedding: Any = target.get_input_embeddings().weight
    head = EagleHead.build(weights, embedding, partial(logits_of, target)).to(torch.float32)
    ids = torch.tensor([[3, 7, 9, 11, 2, 5]])
    states = target(ids, output_hidden_states=True)
    hidden = head.hidden(states.hidden_states[layers - 2])

    def causal(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        out = functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        return out.transpose(1, 2).flatten(2)

    with torch.no_grad():
        logits = head.logits(head(ids, hidden, torch.arange(6), [causal] * 2))
    same = torch.allclose(logits, states.logits, atol=1e-4)
    assert same == (family in ("llama", "mistral"))


@pytest.mark.parametrize(("version", "width"), [("eagle1", None), ("eagle3", None), ("eagle3", 8)])
def test_a_target_whose_layers_are_wider_than_its_features(
    version: EagleVersion, width: int | None, tmp_path: Path
) -> None:
    """OPT-350m's: EAGLE-3 reads its layers, and EAGLE-1 what its lm_head reads."""
    model = model_of("opt", word_embed_proj_dim=16)
    weights = attach_eagle(model, version, aux_layers=[0, 1, 2], width=width)
    read = {"eagle1": 16, "eagle3": 32}[version]
    assert (weights.config.hidden, weights.config.target_hidden) == (width or 16, read)
    if version == "eagle3" and width is None:  # what its lm_head sees of the last feature
        project_out: Any = model.get_decoder().project_out
        rest = weights.tensors["fc.weight"][:, -read:] - project_out.weight
        assert rest.std() < 0.5 * project_out.weight.std()
    loss = EagleTrainingModel(model, weights)(**collate([Example((3, 7, 9), (-100, 7, 9))]))
    assert loss["loss"].isfinite()
    weights.save_pretrained(tmp_path)
    target = Target(model)
    drafter = Eagle.from_pretrained(tmp_path, target, EagleTree(top_k=2))
    prompts = [[3, 7, 9, 11], [2, 5]]
    params = Params(max_new_tokens=8)
    drafted = answer_prompts(target, drafter, prompts, params, Stop())
    assert [list(answer.ids) for answer in drafted] == answers_to(model, prompts, set(), params)


def test_attached_to_a_target_without_attention() -> None:
    weights = attach_eagle(build("mamba2"), "eagle1")
    assert (weights.config.heads, weights.config.kv_heads) == (1, 1)
    assert EagleTrainingModel(build("mamba2"), weights).head.config.hidden == 32


@pytest.mark.parametrize("kind", ["gemma", "gpt_neox"])
def test_final_norms_of_other_kinds(kind: str) -> None:
    sizes = {"hidden_size": 16, "intermediate_size": 16, "vocab_size": 20, "head_dim": 8}
    heads = {"num_hidden_layers": 7, "num_attention_heads": 2, "num_key_value_heads": 1}
    model = AutoModelForCausalLM.from_config(AutoConfig.for_model(kind, **sizes, **heads))
    norm = list(model.get_decoder().children())
    last = next(m for m in reversed(norm) if getattr(m, "weight", None) is not None)
    with torch.no_grad():
        last.weight.uniform_(0.5, 1.5)
        if kind == "gpt_neox":
            last.bias.fill_(3.0)
    found = attach_eagle(model, "eagle3").tensors["norm.weight"]
    wanted = last.weight + (kind == "gemma")  # Gemma's scale by one more than they store
    torch.testing.assert_close(found, wanted.detach(), rtol=1e-3, atol=1e-3)


def test_new_lm_heads_have_the_targets_final_scale() -> None:
    model: Any = build("cohere2")
    scaled = model.lm_head.weight.detach() * model.config.logit_scale
    assert model.config.logit_scale != 1
    fresh = attach_eagle(model, "eagle3", torch.arange(5), [0, 1])
    assert torch.equal(fresh.tensors["lm_head.weight"], scaled[:5])
    more = with_draft_vocabulary(fresh, model, torch.arange(9))
    assert torch.equal(more.tensors["lm_head.weight"], scaled[:9])
    own = attach_medusa(model, 2, own_lm_heads=True).lm_heads
    assert own is not None and torch.equal(own[1], scaled)


@pytest.mark.parametrize("version", VERSIONS)
def test_features_on_disk_teach_the_same(
    version: EagleVersion, target: LlamaForCausalLM, data: Data, tmp_path: Path
) -> None:
    fresh = attach_eagle(target, version)
    layers = fresh.config.aux_layers
    cache = cache_features(target, dataset(data), layers, tmp_path / "cache", shard=10)
    assert [Example(e.ids, e.labels) for e in (cache[i] for i in range(len(cache)))] == data
    model = EagleTrainingModel(target, fresh, steps=3).eval()
    with torch.no_grad():
        online = model(**collate(data))
        kept = model(**collate_features([cache[i] for i in range(len(cache))]))
    torch.testing.assert_close(kept["loss"], online["loss"], rtol=1e-3, atol=1e-3)
    assert len(cached_features(dataset(data), layers, tmp_path / "cache")) == len(data)

    # killed while it wrote its last shard
    first, *_, last = sorted((tmp_path / "cache").glob("*.safetensors"))
    whole, before = last.read_bytes(), first.stat().st_mtime_ns
    last.rename(last.with_name(last.name + ".part"))
    with pytest.raises(InputError, match="not complete"):
        cached_features(dataset(data), layers, tmp_path / "cache")
    cache_features(target, dataset(data), layers, tmp_path / "cache", shard=10)
    assert last.read_bytes() == whole and first.stat().st_mtime_ns == before

    for name, others in (
        ("choice of layers", (target, dataset(data), (1,))),
        ("data", (target, dataset(data[1:]), layers)),
        ("target", (LlamaForCausalLM(target.config), dataset(data), layers)),
    ):
        with pytest.raises(InputError, match=f"another {name}"):
            cache_features(*others, tmp_path / "cache", shard=10)

    config = TrainConfig(steps=2, batch_size=8, evaluate_every=2)
    _, reports = train_eagle(
        target, fresh, cache, dataset(data[:4]), config, tmp_path / "work", steps=2
    )
    assert [report.served for report in reports] == [None] * 2


def test_batches_of_like_length() -> None:
    lengths = [(7 * i) % 50 + 1 for i in range(203)]
    sampler = LengthGrouped(lengths, 8)
    order = list(sampler)
    assert len(set(order)) == len(sampler) == 200 and list(sampler) == order  # full batches
    spread = [lengths[i] for i in order[:8]]
    assert max(spread) - min(spread) <= 3
    assert [lengths[i] for i in order] != sorted(lengths[i] for i in order)
    assert list(LengthGrouped(lengths, 8, seed=1)) != order
    sampler.set_epoch(1)
    assert list(sampler) != order
    assert sorted(LengthGrouped(lengths[:3], 8)) == [0, 1, 2]


@pytest.mark.parametrize("version", ["eagle1", "eagle3"])
def test_accuracy_can_be_measured_in_half_precision(version: EagleVersion) -> None:
    target = build("llama").to(torch.bfloat16)  # type: ignore[arg-type]
    weights = attach_eagle(target, version, aux_layers=(0, 1) if version == "eagle3" else None)
    found = chain_accuracy(target, weights, [Answer([3, 4, 5], [6, 7, 8, 9], ())], steps=2)
    assert len(found) == 2 and all(0 <= rate <= 1 for rate in found)
