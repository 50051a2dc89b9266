"""EAGLE in the loop: exact whatever the head guesses, and the trees that the papers define."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from itertools import count, product
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor

from decoding.checkpoints.dialects import EagleVersion
from decoding.checkpoints.draft_settings import EagleSettings
from decoding.cost.curve import Curve
from decoding.decoder import Decoder
from decoding.drafters import eagle as eagle_module
from decoding.drafters.base import DraftContext
from decoding.drafters.eagle import Eagle, EagleTree, default_tree
from decoding.drafters.eagle_head import EagleHead
from decoding.drafters.eagle_tree import prune, prune_on_device
from decoding.errors import InputError
from decoding.model.target import Target
from decoding.params import Params, SamplingParams
from decoding.tokenizing.stopping import Stop
from decoding.trees.draft import CandidatePool, Draft, DraftTree
from decoding.trees.shape import TreeShape
from decoding.trees.static import NAMED_TREES
from decoding.trees.tensors import TreeTensors, tree_tensors
from tests.decoding.test_lossless import DRAWS, VOCAB, draws, tiny
from tests.decoding.test_lossless import PROMPT as SHORT
from tests.support.chi_square import assert_drawn_from
from tests.support.eagle_drafts import eagle, head_for
from tests.support.families import CONTEXT, build, hf_greedy, reference
from tests.support.paper_target import warped

PROMPT = [3, 7, 9, 11, 2, 3, 7]
VERSIONS: tuple[EagleVersion, ...] = ("eagle1", "eagle3")
HEADS: tuple[tuple[EagleVersion, dict[str, int]], ...] = (
    ("eagle1", {}),
    ("eagle3", {}),
    ("eagle3", {"layers": 3, "hidden": 16}),
)
TREES = {
    "peers": EagleTree(),
    "small": EagleTree(8, 3),
    "broad": EagleTree(60, 40),
    "narrow": EagleTree(3, 3),  # nodes are tried that are not worth verifying
    "chain": EagleTree(6, 1),
    "static": EagleTree(choices=NAMED_TREES["wide"]),
}


def features_of(target: Target, ids: Sequence[int], head: EagleHead) -> Tensor:
    result = target.prefill(target.new_cache(), ids, keep_features=True)
    found = result.aux_hidden_states if head.config.version == "eagle3" else result.features
    assert found is not None
    return found


class Plain:
    """The head without cache, masks or batches: every node's hidden state from the whole sequence,
    attention written out."""

    def __init__(self, head: EagleHead, ids: Sequence[int], features: Tensor) -> None:
        self.head = head
        self.tokens = list(ids[1:])
        self.rows = list(head.hidden(features[None, : len(ids) - 1])[0])

    def log_p(self, path: Sequence[int]) -> Tensor:
        """Log-probabilities [V'] behind the sequence and the drafted `path`."""
        rows = list(self.rows)
        for n in range(len(path) + 1):
            tokens = torch.tensor([[*self.tokens, *path[:n]]])
            attend = [self._attend] * len(self.head.layers)
            out = self.head(tokens, torch.stack(rows)[None], torch.arange(len(rows)), attend)
            rows.append(out[0, -1])
        return self.head.logits(rows[-1]).log_softmax(-1)

    @staticmethod
    def _attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        group = q.shape[1] // k.shape[1]
        k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
        scores = q @ k.mT / math.sqrt(q.shape[-1])
        scores = scores.masked_fill(torch.ones(scores.shape[-2:]).triu(1).bool(), -math.inf)
        return (scores.softmax(-1) @ v).transpose(1, 2).flatten(-2)


def paper_tree(
    plain: Plain, gamma: int, total: int, top_k: int
) -> list[tuple[tuple[int, ...], float]]:
    """EAGLE-2's tree as paths of draft ids with their scores, written down from the paper."""
    pool: list[tuple[tuple[int, ...], float]] = []
    frontier: list[tuple[tuple[int, ...], float]] = [((), 0.0)]
    for _ in range(gamma):
        level = []
        for path, score in frontier:
            ids = [int(plain.head.target_ids(torch.tensor(i))) for i in path]
            best = plain.log_p(ids).topk(top_k)
            for value, token in zip(best.values.tolist(), best.indices.tolist(), strict=True):
                level.append(((*path, token), score + value))
        pool += level
        frontier = sorted(level, key=lambda node: -node[1])[:top_k]
    return sorted(pool, key=lambda node: -node[1])[: total - 1]


def paths(draft: Draft) -> set[tuple[int, ...]]:
    tokens, shape = draft.tree.tokens.tolist(), draft.tree.shape
    return {tuple(tokens[n] for n in shape.path(node)) for node in range(1, len(shape))}


def started(drafter: Eagle, target: Target, ids: Sequence[int]) -> None:
    """As after the prefill of all but the last id."""
    drafter.start(ids[:-1], 0, features_of(target, ids[:-1], drafter.head))


def propose(drafter: Eagle, ids: Sequence[int], gamma: int) -> Draft:
    draft = drafter.propose(DraftContext(list(ids), gamma, Params(), torch.Generator()))
    assert draft is not None
    return draft


@torch.inference_mode()
@pytest.mark.parametrize(("version", "sizes"), HEADS)
@pytest.mark.parametrize("gamma,total,top_k", [(1, 60, 4), (3, 9, 3), (4, 60, 3), (5, 6, 1)])
def test_the_dynamic_tree_is_the_papers(
    version: EagleVersion, sizes: dict[str, int], gamma: int, total: int, top_k: int
) -> None:
    target = Target(build("llama"))
    less = {"draft_vocab": 20} if version == "eagle3" else {}
    drafter = eagle(target, version, EagleTree(total, top_k), **sizes, **less)
    started(drafter, target, PROMPT)
    draft = propose(drafter, PROMPT, gamma)
    plain = Plain(drafter.head, PROMPT, features_of(target, PROMPT[:-1], drafter.head))
    expected = paper_tree(plain, gamma, total, top_k)
    targets = drafter.head.target_ids(torch.arange(drafter.head.config.draft_vocab)).tolist()
    assert paths(draft) == {tuple(targets[i] for i in path) for path, _ in expected}
    assert draft.pool is not None and draft.kept is not None
    scores = sorted(draft.pool.scores[draft.kept].tolist(), reverse=True)
    assert scores == pytest.approx([score for _, score in expected], rel=1e-4, abs=1e-4)


@torch.inference_mode()
@pytest.mark.parametrize("version", VERSIONS)
def test_a_static_tree_has_the_ranks_that_were_asked_for(version: EagleVersion) -> None:
    target = Target(build("llama"))
    choices = ((0, 0, 0), (0, 1), (1, 0, 2), (2,))
    drafter = eagle(target, version, EagleTree(choices=choices))
    started(drafter, target, PROMPT)
    draft = propose(drafter, PROMPT, 8)
    plain = Plain(drafter.head, PROMPT, features_of(target, PROMPT[:-1], drafter.head))
    expected = set()
    for ranks in {path[:n] for path in choices for n in range(1, len(path) + 1)}:
        path: tuple[int, ...] = ()
        for rank in ranks:
            path += (int(plain.log_p(path).topk(rank + 1).indices[-1]),)
        expected.add(path)
    assert paths(draft) == expected


def test_settings_of_the_round_replace_those_of_the_drafters_tree() -> None:
    target = Target(build("llama"))
    decoder = Decoder(target, eagle(target, "eagle3"))
    decoder.start(PROMPT, Params(), 0)
    assert not decoder.step(Params(gamma=3)).shape.is_chain
    chain = decoder.step(Params(gamma=3, eagle_top_k=1))
    assert chain.shape.is_chain and chain.drafted == 3
    assert decoder.step(Params(gamma=3, eagle_total_tokens=9)).drafted == 8


@pytest.mark.parametrize("family", ["llama", "gemma2", "mistral", "gpt2", "phi", "qwen3", "opt"])
@pytest.mark.parametrize("version", VERSIONS)
def test_greedy_ids_equal_generate(family: str, version: EagleVersion) -> None:
    """Every tree at every gamma with one family; what a tree is made of knows no family."""
    target = Target(build(family))
    drafter = eagle(target, version)
    decoder = Decoder(target, drafter)
    accepted = 0
    trees = list(TREES) if family == "llama" else ["broad", "static"]
    gammas = (None, 0, 1, 3) if family == "llama" else (None,)
    for tree, gamma in product(trees, gammas):
        drafter.tree = TREES[tree]
        rounds = decoder.generate(PROMPT, Params(max_new_tokens=20, gamma=gamma))
        accepted += sum(len(r.accepted) for r in rounds)
        assert decoder.generated == hf_greedy(family, PROMPT, 20)
    assert accepted > 0


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("prompt", [1, 2, 45, CONTEXT - 1, CONTEXT])
def test_from_one_token_to_the_context_limit(version: EagleVersion, prompt: int) -> None:
    target = Target(build("llama"))
    ids = [(7 * i) % 50 for i in range(prompt)]
    decoder = Decoder(target, eagle(target, version))
    most = 20 if prompt <= 2 else 100  # more than there is room for
    list(decoder.generate(ids, Params(max_new_tokens=most)))
    assert decoder.generated == hf_greedy("llama", ids, min(most, CONTEXT + 1 - prompt))


@pytest.mark.parametrize("version", VERSIONS)
def test_settings_that_change_between_rounds(version: EagleVersion) -> None:
    target = Target(build("llama"))
    drafter = eagle(target, version)
    decoder = Decoder(target, drafter)
    decoder.start(PROMPT, Params(), 0)
    for step in range(40):
        if decoder.finished:
            break
        drafter.tree = list(TREES.values())[step % len(TREES)]
        decoder.step(Params(gamma=(3, 0, 6, 1, 0)[step % 5], max_new_tokens=40))
    assert decoder.generated == hf_greedy("llama", PROMPT, 40)


@torch.inference_mode()
@pytest.mark.parametrize(("version", "sizes"), HEADS)
@pytest.mark.parametrize("kept", [0, 1, 5, 12])
def test_a_second_turn_drafts_as_if_it_were_the_first(
    version: EagleVersion, sizes: dict[str, int], kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows that are reused, caught up or thrown away must give the same tree."""
    monkeypatch.setattr("decoding.model.target.PREFILL_CHUNK", 4)
    target = Target(build("llama"))
    used = Decoder(target, eagle(target, version, EagleTree(20, 4), **sizes))
    for record in used.generate(PROMPT, Params(max_new_tokens=9)):
        assert record.tokens
    turn = [*(PROMPT + used.generated)[:kept], 31, 5, 8, 20]
    fresh = Decoder(target, eagle(target, version, EagleTree(20, 4), **sizes))
    trees = []
    for decoder in (used, fresh):
        rounds = list(decoder.generate(turn, Params(max_new_tokens=12)))
        trees.append([(r.tokens, r.parents) for r in rounds])
    assert trees[0] == trees[1]


@pytest.mark.parametrize("first", ["eagle", "plain"])
def test_a_prefill_is_shared_with_lanes_that_do_not_draft(first: str) -> None:
    target = Target(build("llama"))
    drafter = eagle(target)
    target.keeps_features = True
    decoders = [Decoder(target, drafter), Decoder(target)]
    leader, follower = decoders if first == "eagle" else decoders[::-1]
    for prompt in (PROMPT, [*PROMPT, 4, 9, 1]):
        leader.start(prompt, Params(max_new_tokens=10), 0)
        follower.start(prompt, Params(max_new_tokens=10), 0, shared=leader.prompt)
        assert follower.prompt is not None and follower.prompt.copied
        for decoder in decoders:
            while not decoder.finished:
                decoder.step(Params(max_new_tokens=10))
            assert decoder.generated == hf_greedy("llama", prompt, 10)


def test_a_prompt_that_its_cache_no_longer_has_is_computed() -> None:
    target = Target(build("llama"))
    leader, follower = Decoder(target), Decoder(target)
    params, other = Params(max_new_tokens=10), [3, 1, 4, 1, 5]
    leader.start(PROMPT, params, 0)
    shared = leader.prompt
    for prompt in (other, [*other, *PROMPT, *PROMPT]):
        leader.start(prompt, params, 0)
        follower.start(PROMPT, params, 0, shared=shared)
        assert follower.prompt is not shared
        while not follower.finished:
            follower.step(params)
        assert follower.generated == hf_greedy("llama", PROMPT, 10)


def test_features_of_a_prompt_are_kept_only_where_others_need_them() -> None:
    target = Target(build("llama"))
    decoder = Decoder(target, eagle(target))
    for keeps, rows in ((False, 1), (True, len(PROMPT) - 1)):
        target.keeps_features = keeps
        decoder.start([7, *PROMPT] if keeps else PROMPT, Params(), 0)
        assert decoder.prompt is not None and decoder.prompt.complete is keeps
        assert len(decoder.prompt.features) >= rows
        assert keeps or len(decoder.prompt.features) == 1


@pytest.mark.parametrize("where", ["target", "head"])
def test_a_prefill_that_is_interrupted_by_a_key(
    where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = Target(build("llama"))
    decoder = Decoder(target, eagle(target))
    list(decoder.generate(PROMPT, Params(max_new_tokens=5)))
    longer = [*PROMPT, 4, 9, 1, 2]

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        owner = target if where == "target" else decoder.drafter
        patch.setattr(owner, "prefill" if where == "target" else "start", interrupted)
        decoder.start(longer, Params(max_new_tokens=10), 0)
    assert ids_of(decoder, longer) == hf_greedy("llama", longer, 10)


def ids_of(decoder: Decoder, prompt: list[int]) -> list[int]:
    for _ in decoder.generate(prompt, Params(max_new_tokens=10)):
        pass
    return decoder.generated


def test_guesses_that_are_no_numbers_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    target = Target(build("llama"))
    drafter = eagle(target)
    computed = drafter._forward.logits

    def broken(hidden: Tensor) -> Tensor:
        logits = computed(hidden).clone()
        if len(logits) > 1:  # below the root
            logits[0, 0] = math.inf
        return logits

    monkeypatch.setattr(drafter._forward, "logits", broken)
    assert ids_of(Decoder(target, drafter), PROMPT) == hf_greedy("llama", PROMPT, 10)


def test_after_a_draft_that_broke_the_same_prompt_can_be_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    target = Target(build("llama"))
    drafter = eagle(target)
    decoder = Decoder(target, drafter)
    list(decoder.generate(PROMPT, Params(max_new_tokens=5)))

    def out_of_memory(*args: Any) -> Tensor:
        raise RuntimeError("out of memory")

    turn = [*PROMPT, *decoder.generated, 3, 4]
    with monkeypatch.context() as patch, pytest.raises(RuntimeError, match="out of memory"):
        patch.setattr(drafter, "_run", out_of_memory)
        decoder.start(turn, Params(), 0)
    list(decoder.generate(turn, Params(max_new_tokens=9)))
    assert decoder.generated == hf_greedy("llama", turn, 9)


def test_after_a_round_that_broke_the_next_turn_drafts_as_if_it_had_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    target = Target(build("llama"))
    drafter, params = eagle(target), Params(max_new_tokens=30)
    decoder = Decoder(target, drafter)
    decoder.start(PROMPT, params, 0)
    decoder.step(params)

    def out_of_memory(*args: Any) -> Tensor:
        raise RuntimeError("out of memory")

    with monkeypatch.context() as patch, pytest.raises(RuntimeError, match="out of memory"):
        patch.setattr(drafter, "_run", out_of_memory)
        decoder.step(params)
    turn = [*PROMPT, *decoder.generated, 3, 4]
    found = [record.tokens for record in decoder.generate(turn, Params(max_new_tokens=9))]
    fresh = Decoder(target, eagle(target))
    assert found == [record.tokens for record in fresh.generate(turn, Params(max_new_tokens=9))]


@pytest.mark.parametrize("error", [InterruptedError, RuntimeError])
def test_after_a_prefill_that_was_cancelled_or_failed_everything_is_seen_again(
    monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    monkeypatch.setattr("decoding.model.target.PREFILL_CHUNK", 4)
    target = Target(build("llama"))
    decoder = Decoder(target, eagle(target))
    prompt = list(range(1, 20))
    chunks = iter(range(3))

    def two_chunks() -> bool:
        if next(chunks) == 2:
            raise error
        return False

    with pytest.raises(error):
        decoder.start(prompt, Params(), 0, cancelled=two_chunks)
    list(decoder.generate(prompt, Params(max_new_tokens=10)))
    assert decoder.generated == hf_greedy("llama", prompt, 10)


@pytest.mark.slow
@pytest.mark.parametrize("version,tree", [("eagle1", "static"), ("eagle3", "small")])
def test_sampled_output_has_the_targets_distribution(version: EagleVersion, tree: str) -> None:
    sampling = SamplingParams(temperature=1.2, top_p=0.95)
    target = Target(copy.deepcopy(tiny(0)))
    expected: dict[tuple[int, ...], float] = {}
    with torch.inference_mode():
        for ids in product(range(VOCAB), repeat=3):
            rows = [
                tiny(0)(torch.tensor([SHORT + ids[:i]])).logits[0, -1].tolist() for i in range(3)
            ]
            p = [warped(tuple(row), sampling)[t] for row, t in zip(rows, ids, strict=True)]
            expected[ids] = math.prod(p)
    aux = {"aux_layers": (0,), "fc_bias": False} if version == "eagle3" else {}
    drafter = eagle(target, version, TREES[tree], **aux)
    decoder = Decoder(target, drafter)
    found = draws(decoder, Params(sampling, gamma=3, max_new_tokens=20), DRAWS // 2)
    assert_drawn_from((ids[:3] for ids in found), expected)


def test_ties_never_part_a_child_from_its_parent() -> None:
    """A head that is sure of everything: log p is 0 all the way down."""
    target = Target(build("llama"))
    drafter = eagle(target, "eagle3", EagleTree(4, 2))
    assert drafter.head.lm_head is not None
    with torch.no_grad():
        drafter.head.lm_head.weight.mul_(1e4)
    rounds = list(Decoder(target, drafter).generate(PROMPT, Params(gamma=6, max_new_tokens=8)))
    assert {len(r.tokens) for r in rounds[:2]} == {4}
    for record in rounds:
        assert all(parent < node for node, parent in enumerate(record.parents))


def test_paying_trees_are_exact_and_of_different_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = count()  # every draft takes a millisecond
    clock = SimpleNamespace(perf_counter=lambda: 1e-3 * next(ticks))
    monkeypatch.setattr(eagle_module, "time", clock)
    target = Target(build("llama"))
    head = eagle(target, "eagle3").head
    drafter = Eagle(head, target, EagleTree(None, 4), lambda n: 1e-3 * (1 + 0.2 * n))
    rounds = list(Decoder(target, drafter).generate(PROMPT, Params(max_new_tokens=40)))
    assert len({len(r.tokens) for r in rounds if r.gamma == drafter.default_gamma}) > 1
    assert [t for r in rounds for t in r.emitted] == hf_greedy("llama", PROMPT, 40)[1:]


def test_layers_that_do_not_exist_are_refused() -> None:
    target = Target(build("llama"))
    with pytest.raises(InputError, match="input of layer 9, the target has layers 0 to 2"):
        target.capture_layers((0, 9))


@torch.inference_mode()
@pytest.mark.parametrize("family", ["llama", "gemma2", "gpt2", "opt", "gpt_neox", "falcon"])
def test_captured_layers_are_hugging_faces_hidden_states(family: str) -> None:
    target = Target(build(family))
    target.capture_layers((0, 1))
    aux = target.prefill(target.new_cache(), PROMPT, keep_features=True).aux_hidden_states
    states = reference(family)(torch.tensor([PROMPT]), output_hidden_states=True).hidden_states
    assert aux is not None
    torch.testing.assert_close(aux, torch.cat(states[:2], -1)[0], atol=1e-5, rtol=1e-5)


@torch.inference_mode()
@pytest.mark.parametrize("family", ["llama", "gemma2", "cohere2"])
def test_eagle1_asks_the_head_as_the_target_does(family: str) -> None:
    target = Target(build(family))
    result = target.prefill(target.new_cache(), PROMPT)
    torch.testing.assert_close(target.logits(result.features[-1:]), result.logits)


def test_rows_of_true_features_alone_stay_in_the_drafts_cache() -> None:
    target = Target(build("llama"))
    drafter = eagle(target)
    decoder = Decoder(target, drafter)
    decoder.start(PROMPT, Params(max_new_tokens=20), 0)
    committed = len(PROMPT) + 1
    while len(decoder.generated) < 15:
        record = decoder.step(Params(max_new_tokens=20))
        assert drafter._cache.length == committed - 1
        committed += len(record.emitted)


def test_half_precision_runs() -> None:
    target = Target(build("llama").to(torch.bfloat16))  # type: ignore[arg-type]
    for version in VERSIONS:
        head: Any = head_for(target, version)
        assert head.layers[0].qkv.weight.dtype == torch.bfloat16
    rounds = list(Decoder(target, eagle(target)).generate(PROMPT, Params(max_new_tokens=10)))
    assert sum(len(r.emitted) for r in rounds) == 9


def pool_of(width: int, levels: int) -> CandidatePool:
    """Guesses of random probabilities, some as likely as their parents."""
    scores, parents, offset = [-torch.rand(width)], [torch.full((width,), -1)], 0
    for _ in range(levels - 1):
        going = scores[-1].topk(width).indices
        parents.append((going + offset).repeat_interleave(width))
        offset += len(scores[-1])
        lost = torch.randint(0, 3, (width, width)) / 2
        scores.append((scores[-1][going, None] - lost).flatten())
    every = torch.cat(scores)
    return CandidatePool(torch.arange(len(every)), torch.cat(parents), every, width, levels)


@pytest.mark.parametrize("width, levels", [(2, 1), (2, 6), (4, 3), (5, 8)])
def test_a_tree_that_the_device_alone_knows_is_the_one_that_the_host_makes(
    width: int, levels: int
) -> None:
    torch.manual_seed(levels)
    for nodes in (1, 4, 19, 60):
        pool = pool_of(width, levels)
        device, host = prune_on_device(pool, nodes), prune(pool, nodes)
        grown, shape = device.shape, host.shape
        assert isinstance(grown, TreeTensors) and isinstance(shape, TreeShape)
        assert torch.equal(device.guesses, host.guesses)
        known = tree_tensors(shape, torch.device("cpu"))
        for name in ("parents", "depths", "mask"):
            assert torch.equal(getattr(grown, name), getattr(known, name))
        assert shape.depth <= grown.max_depth
        ranks = device.shape_on_device[1]
        assert tuple(ranks.tolist()) == host.ranks
        assert DraftTree(grown, torch.zeros(len(shape))).shape == shape


@torch.inference_mode()
@pytest.mark.parametrize("tree", ["small", "narrow", "static"])
def test_a_watched_round_tells_what_was_pruned(tree: str) -> None:
    target = Target(build("llama"))
    drafter = eagle(target, "eagle3", TREES[tree])
    decoder = Decoder(target, drafter)
    decoder.record_probabilities = True
    decoder.start(PROMPT, Params(), 0)
    record = decoder.step(Params(gamma=3))
    ids = [*PROMPT, decoder.generated[0]]
    plain = Plain(drafter.head, ids, features_of(target, PROMPT, drafter.head))
    shape = TreeShape(record.parents)

    def expected(node: int, token: int, rank: int) -> float:
        """The probability of a path that goes on behind a node, from the papers."""
        path = [*(record.tokens[n] for n in shape.path(node)), token]
        rows = [plain.log_p(path[:n]) for n in range(len(path))]
        assert int(rows[-1].topk(rank + 1).indices[-1]) == token
        return math.exp(sum(float(row[t]) for row, t in zip(rows, path, strict=True)))

    for node in range(1, len(shape)):
        score = expected(record.parents[node], record.tokens[node], record.ranks[node])
        assert record.scores[node] == pytest.approx(score, rel=1e-3)
        above = record.scores[record.parents[node]]
        assert record.q[node] == pytest.approx(score / above, rel=1e-3)
    assert record.pruned and record.scores[0] == 1.0
    for guess in record.pruned:
        score = expected(guess.parent, guess.token, guess.rank)
        assert guess.score == pytest.approx(score, rel=1e-3)
    if tree != "static":
        assert max(guess.score for guess in record.pruned) <= min(record.scores)
    decoder.record_probabilities = False
    assert not decoder.step(Params(gamma=3)).pruned


@pytest.mark.parametrize(("version", "sizes"), HEADS)
@pytest.mark.parametrize("new", [1, 2, 7])
def test_turn_after_turn(version: EagleVersion, sizes: dict[str, int], new: int) -> None:
    """Answers that end with their first token, in the middle of a path, and by an end token."""
    target = Target(build("llama"))
    decoder = Decoder(target, eagle(target, version, TREES["broad"], **sizes))
    ids = list(PROMPT)
    end = hf_greedy("llama", PROMPT, 3)[2]
    for turn in range(5):
        eos = (end,) if turn % 2 else ()
        list(decoder.generate(ids, Params(max_new_tokens=new), stop=Stop(frozenset(eos))))
        assert decoder.generated == hf_greedy("llama", ids, new, eos)
        ids += [*decoder.generated, 5 + turn]


@pytest.mark.parametrize(
    ("device", "named", "last", "tree"),
    [
        ("cuda", EagleSettings(), 1.2, EagleTree(60, 10)),
        ("cuda", EagleSettings(), 2.0, EagleTree(None, 10)),
        ("cuda", EagleSettings(), None, EagleTree(60, 10)),
        ("cpu", EagleSettings(), 1.2, EagleTree(None, 3)),
        ("cpu", EagleSettings(), None, EagleTree(10, 3)),
        ("mps", EagleSettings(), None, EagleTree(10, 3)),
        ("cpu", EagleSettings(total=24), None, EagleTree(24, 10)),
        ("cuda", EagleSettings(total=None, top_k=4), 1.2, EagleTree(None, 4)),
    ],
)
def test_a_large_tree_is_the_default_where_it_is_cheap_to_verify(
    device: str, named: EagleSettings, last: float | None, tree: EagleTree
) -> None:
    cost = None if last is None else Curve(((1, 1.0), (64, last)))
    assert default_tree(named, torch.device(device), cost) == tree
