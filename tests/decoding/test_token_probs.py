"""What watched rounds carry, against the same worked out plainly from the models' full passes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import pytest
import torch
from torch import Tensor

from decoding import decoder as loop
from decoding import token_probs
from decoding.decoder import Decoder
from decoding.drafters.base import Drafter
from decoding.drafters.draft_model import DraftModel
from decoding.drafters.lookup import Lookup
from decoding.model.target import Target
from decoding.params import Params, SamplingParams
from decoding.round import Round, TokenProbs
from decoding.token_probs import TOP, score_answer, score_first_token
from decoding.trees.shape import TreeShape
from decoding.verification.penalties import Penalties
from tests.support.families import VOCAB, build, hf_greedy
from tests.support.paper_target import PaperTarget, warped
from tests.support.random_trees import RandomTrees

PROMPT = [3, 7, 9, 11, 2, 3, 7]
GREEDY = SamplingParams()
SAMPLED = SamplingParams(temperature=1.3, top_k=30, top_p=0.9)
PENALIZED = SamplingParams(temperature=0.9, repetition_penalty=1.3, presence_penalty=0.5)
WATCHED_ONLY = ["p", "model_p", "q", "draws", "entropies", "top", "own_p", "scores", "pruned"]
WATCHED_ONLY += ["tempered_p", "thresholds"]
NOTHING: dict[str, Any] = {
    field.name: field.default for field in fields(Round) if field.name in WATCHED_ONLY
}


def drafter_of(name: str) -> Drafter | None:
    match name:
        case "draft":
            return DraftModel(Target(build("mistral")), VOCAB)
        case "lookup":
            return Lookup(torch.device("cpu"))
        case "trees":
            return RandomTrees(VOCAB, 5, len(PROMPT), hf_greedy("llama", PROMPT, 12))
    return None


@torch.inference_mode()
def logits(family: str, ids: Sequence[int]) -> Tensor:
    row: Tensor = build(family)(torch.tensor([list(ids)])).logits[0, -1]
    return row


def cut(row: Tensor, sampling: SamplingParams) -> list[float]:
    if sampling.greedy:
        return [float(token == int(row.argmax())) for token in range(len(row))]
    return warped(tuple(row.tolist()), sampling)


def watched(drafter: Drafter | None, sampling: SamplingParams, **settings: Any) -> list[Round]:
    decoder = Decoder(Target(build("llama")), drafter)
    decoder.record_probabilities = True
    params = Params(sampling, max_new_tokens=12, **settings)
    return list(decoder.generate(PROMPT, params, seed=3))


@pytest.mark.parametrize("sampling", [GREEDY, SAMPLED], ids=["greedy", "sampled"])
@pytest.mark.parametrize("name", ["none", "draft", "lookup", "trees"])
def test_what_the_target_thought(name: str, sampling: SamplingParams) -> None:
    ids = list(PROMPT)
    for record in watched(drafter_of(name), sampling, gamma=3):
        ids += [] if ids != PROMPT else [record.tokens[0]]
        shape = TreeShape(record.parents)
        behind = [
            logits("llama", [*ids, *(record.tokens[n] for n in shape.path(node))])
            for node in range(len(shape))
        ]
        before = [row.softmax(-1) for row in behind]
        after = [cut(row, sampling) for row in behind]
        assert record.model_p[0] == record.p[0] == 1.0
        for node, parent in enumerate(record.parents[1:], 1):
            token = record.tokens[node]
            assert record.model_p[node] == pytest.approx(float(before[parent][token]), rel=1e-3)
            assert record.p[node] == pytest.approx(after[parent][token], rel=1e-3, abs=1e-6)
        for node, row in enumerate(before):
            entropy = -sum(x * math.log2(x) for x in row.tolist())
            assert record.entropies[node] == pytest.approx(entropy, rel=1e-3)
            best = row.topk(TOP)
            assert [token for token, _, _ in record.top[node]] == best.indices.tolist()
            found = [each[1:] for each in record.top[node]]
            expected = [(float(row[t]), after[node][t]) for t in best.indices]
            for pair, wanted in zip(found, expected, strict=True):
                assert pair == pytest.approx(wanted, rel=1e-3, abs=1e-6)
        if record.cut:
            assert record.own_p is None
        else:
            last = record.accepted[-1] if record.accepted else 0
            own = record.emitted[-1]
            pair = (float(before[last][own]), after[last][own])
            assert record.own_p == pytest.approx(pair, rel=1e-3)
        ids += record.emitted


def test_what_the_typical_rule_went_by() -> None:
    """At any temperature, whatever top-p cuts: p and its entropy after temperature alone."""
    epsilon, delta, ids = 0.02, 0.3, list(PROMPT)
    rule = {"acceptance": "typical", "epsilon": epsilon, "delta": delta}
    records = watched(drafter_of("trees"), SAMPLED, gamma=3, **rule)
    for record in records:
        ids += [] if ids != PROMPT else [record.tokens[0]]
        shape = TreeShape(record.parents)
        assert (record.tempered_p[0], record.thresholds[0]) == (1.0, 0.0)
        for node, parent in enumerate(record.parents[1:], 1):
            behind = [*ids, *(record.tokens[each] for each in shape.path(parent))]
            p = (logits("llama", behind) / SAMPLED.temperature).softmax(-1)
            nats = -sum(x * math.log(x) for x in p.tolist())
            least = min(epsilon, delta * math.exp(-nats))
            assert record.tempered_p[node] == pytest.approx(float(p[record.tokens[node]]), rel=1e-3)
            assert record.thresholds[node] == pytest.approx(least, rel=1e-3)
            if node in record.accepted:
                assert record.tempered_p[node] > record.thresholds[node]
        ids += record.emitted
    assert any(record.accepted for record in records)


@pytest.mark.parametrize("sampling", [GREEDY, SAMPLED], ids=["greedy", "sampled"])
def test_what_the_draft_model_thought(sampling: SamplingParams) -> None:
    ids = list(PROMPT)
    for record in watched(drafter_of("draft"), sampling, gamma=3):
        ids += [] if ids != PROMPT else [record.tokens[0]]
        assert len(record.q) == (len(record.tokens) if record.drafted else 0)
        for node in range(1, len(record.q)):
            row = logits("mistral", [*ids, *record.tokens[1:node]])
            own = row.softmax(-1).tolist() if sampling.greedy else cut(row, sampling)
            assert record.q[node] == pytest.approx(own[record.tokens[node]], rel=1e-3)
        ids += record.emitted


def test_who_has_no_probabilities_gives_none() -> None:
    rounds = watched(drafter_of("lookup"), GREEDY)
    assert any(record.drafted for record in rounds) and not any(record.q for record in rounds)


def test_the_numbers_are_those_that_decided() -> None:
    """u < p/q, node by node, gives the accepted ones again; deterministic drafts have no u."""
    draft = DraftModel(PaperTarget(8, seed=1, noise=0.8), 8)  # type: ignore[arg-type]
    decoder = Decoder(PaperTarget(8, seed=1), draft)  # type: ignore[arg-type]
    decoder.record_probabilities = True
    lengths = set()
    sampling = SamplingParams(temperature=1.0, top_p=0.9)
    for record in decoder.generate([1, 2], Params(sampling, gamma=3, max_new_tokens=300), 1):
        tests = zip(record.draws, record.p, record.q, strict=True)
        stays = [u * q < p for u, p, q in tests]
        assert stays[0]
        count = (stays + [False]).index(False) - 1
        assert record.cut or record.accepted == tuple(range(1, count + 1))
        lengths.add(len(record.accepted))
    assert lengths == {0, 1, 2, 3}
    assert not any(record.draws for record in watched(drafter_of("draft"), GREEDY))
    assert not any(record.draws for record in watched(drafter_of("trees"), SAMPLED))


@pytest.mark.parametrize("sampling", [GREEDY, SAMPLED], ids=["greedy", "sampled"])
@pytest.mark.parametrize("name", ["none", "draft", "trees"])
def test_who_does_not_look_pays_nothing_and_gets_the_same(
    name: str, sampling: SamplingParams, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = watched(drafter_of(name), sampling, gamma=3)
    monkeypatch.setattr(loop, "with_probabilities", lambda *a: pytest.fail("nobody looks"))
    decoder = Decoder(Target(build("llama")), drafter_of(name))
    params = Params(sampling, max_new_tokens=12, gamma=3)
    unseen = list(decoder.generate(PROMPT, params, seed=3))
    assert all(getattr(record, name) == NOTHING[name] for record in unseen for name in NOTHING)
    assert [timeless(replace(record, **NOTHING)) for record in seen] == [*map(timeless, unseen)]


@pytest.mark.parametrize("nodes", [1, 6, 128], ids=["a round a pass", "some", "all at once"])
@pytest.mark.parametrize(
    "sampling", [GREEDY, SAMPLED, PENALIZED], ids=["greedy", "sampled", "penalized"]
)
@pytest.mark.parametrize("name", ["none", "lookup", "trees"])
def test_an_answer_that_nobody_watched_is_measured_afterwards(
    name: str, sampling: SamplingParams, nodes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if it had been watched: of a drafter without probabilities of its own, all there is."""
    monkeypatch.setattr(token_probs, "NODES", nodes)
    target, params = Target(build("llama")), Params(sampling, max_new_tokens=12, gamma=3)
    seen, unseen = Decoder(target, drafter_of(name)), Decoder(target, drafter_of(name))
    seen.record_probabilities = True
    watched_rounds = list(seen.generate(PROMPT, params, seed=3))
    rounds = list(unseen.generate(PROMPT, params, seed=3))
    first = rounds[0].tokens[0]
    probs, measured = score_answer(
        target, PROMPT, first, params.sampling, rounds, [params] * len(rounds)
    )
    assert unseen.prompt
    penalties = Penalties(len(PROMPT), unseen.prompt.logits.device)
    logits = penalties.apply(unseen.prompt.logits, sampling, PROMPT)
    assert close(probs, score_first_token(logits, first, sampling))
    assert close(probs, unseen.first_token_probs())
    for found, expected in zip(measured, watched_rounds, strict=True):
        for field in WATCHED_ONLY:
            assert close(getattr(found, field), getattr(expected, field)), field
        assert timeless(replace(found, **NOTHING)) == timeless(replace(expected, **NOTHING))


def close(a: Any, b: Any) -> bool:
    """The same numbers, as far as a pass over more rows can give them."""
    if isinstance(a, TokenProbs):
        return close((a.entropy, a.top, a.own_p), (b.entropy, b.top, b.own_p))
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(close, a, b))
    return bool(a == pytest.approx(b, rel=1e-3, abs=1e-6))


def test_rounds_that_were_watched_are_not_measured_again() -> None:
    target, params = Target(build("llama")), Params(max_new_tokens=12, gamma=3)
    decoder = Decoder(target, drafter_of("draft"))
    rounds: list[Round] = []
    decoder.start(PROMPT, params, seed=0)
    while not decoder.finished:
        decoder.record_probabilities = len(rounds) > 1
        rounds.append(decoder.step(params))
    _, measured = score_answer(
        target, PROMPT, rounds[0].tokens[0], params.sampling, rounds, [params] * len(rounds)
    )
    assert measured[2:] == rounds[2:] and measured[2].q
    assert all(record.entropies and not record.q for record in measured[:2])


def test_the_first_token_has_probabilities_where_it_was_chosen() -> None:
    decoder, params = Decoder(Target(build("llama"))), Params(max_new_tokens=4)
    with pytest.raises(RuntimeError, match="call `start`"):
        decoder.first_token_probs()
    first = decoder.start(PROMPT, params, seed=0)
    before = decoder.first_token_probs()
    assert before.top[0][0] == first and before.own_p[1] == 1.0
    while not decoder.finished:
        decoder.step(params)
    assert decoder.first_token_probs() == before
    decoder.resume(PROMPT, [first], rounds=0, seed=0)
    with pytest.raises(RuntimeError, match="call `start`"):
        decoder.first_token_probs()


def test_measuring_ends_when_it_is_not_wanted_any_more() -> None:
    target, params = Target(build("llama")), Params(max_new_tokens=12)
    rounds = list(Decoder(target).generate(PROMPT, params))
    first, answers = rounds[0].tokens[0], iter((False, True))
    with pytest.raises(InterruptedError):
        score_answer(
            target,
            PROMPT,
            first,
            params.sampling,
            rounds,
            [params] * len(rounds),
            lambda: next(answers),
        )


def timeless(record: Round) -> Round:
    names = ("draft_seconds", "verify_seconds", "accept_seconds", "total_seconds")
    zeros: dict[str, Any] = dict.fromkeys(names, 0.0)
    return replace(record, **zeros)


def test_where_a_token_cannot_be_there_is_no_probability_but_an_entropy() -> None:
    row = torch.tensor([[0.0, -math.inf, 0.0]])
    probs = score_first_token(row, 2, SamplingParams(temperature=0.5))
    assert probs.entropy == 1.0 and probs.own_p == (0.5, 0.5)
    assert sorted(probs.top) == [(0, 0.5, 0.5), (1, 0.0, 0.0), (2, 0.5, 0.5)]
