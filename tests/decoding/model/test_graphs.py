"""What passes say that were recorded once, and where none is."""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import partial
from typing import Any
from weakref import WeakSet

import pytest
import torch

from decoding.checkpoints.dialects import EagleVersion
from decoding.decoder import Decoder
from decoding.drafters import eagle as eagle_module
from decoding.drafters import eagle_graphs
from decoding.drafters.base import Drafter
from decoding.drafters.draft_model import DraftModel
from decoding.drafters.eagle import Eagle, EagleTree
from decoding.drafters.lookup import Lookup
from decoding.drafters.medusa import Medusa
from decoding.model import target as target_module
from decoding.model.cache import TreeCache
from decoding.model.graphs import SIZES, GraphForward, Work
from decoding.model.lean import LeanForward
from decoding.model.target import Target
from decoding.params import Params, SamplingParams
from decoding.round import Round
from decoding.trees.draft import DraftTree
from decoding.trees.shape import TreeShape, chain
from decoding.trees.static import NAMED_TREES
from tests.decoding.drafters.test_medusa import heads_for
from tests.decoding.model.test_lean import BUSHY, LEAN
from tests.support import recorded
from tests.support.eagle_drafts import eagle
from tests.support.families import build

PROMPT = [3, 7, 9, 11, 2, 3, 7, 9, 11, 2, 3]
SMALL = TreeShape((-1, 0, 0, 1, 2))
WIDE = NAMED_TREES["wide"]
SETTINGS = {
    "greedy": Params(max_new_tokens=24),
    "sampled": Params(SamplingParams(temperature=0.9, top_p=0.9), max_new_tokens=24),
}
LANES: dict[str, Callable[[Target, Target], Drafter | None]] = {
    "ar": lambda target, draft: None,
    "draft": lambda target, draft: DraftModel(draft, target.vocab_size),
    "lookup": lambda target, draft: Lookup(target.device),
    "medusa": lambda target, draft: Medusa(heads_for(target), WIDE),
    "eagle3": lambda target, draft: eagle(target, tree=EagleTree(20, 4), draft_vocab=40, layers=2),
}


@pytest.fixture
def recordings(monkeypatch: pytest.MonkeyPatch) -> list[Work]:
    """From now on targets record on the CPU; what they have recorded."""
    made: list[Work] = []
    recorder = recorded.Recorder()

    def record(work: Work, eager: Work) -> Work:
        made.append(recorder(work, eager))
        return made[-1]

    monkeypatch.setattr(target_module, "recorder_for", lambda device: record)
    return made


@pytest.mark.usefixtures("recordings")
@pytest.mark.parametrize("kind", LEAN)
@torch.inference_mode()
def test_a_recorded_pass_says_the_same_after_any_prefix(kind: str) -> None:
    """Also when the cache has grown, and its rows lie elsewhere."""
    lean, replayed = Target(LEAN[kind](), graphs=False), Target(LEAN[kind]())
    assert isinstance(lean._forward, LeanForward)
    assert isinstance(replayed._forward, GraphForward)
    assert replayed.lean is replayed._forward.lean  # passes of a batch are measured on it
    lean.capture_layers((0, 1))
    replayed.capture_layers((0, 1))
    pairs = [(each, each.new_cache(16)) for each in (lean, replayed)]
    for target, cache in pairs:
        target.prefill(cache, PROMPT)
    for number, shape in enumerate(2 * [chain(0), BUSHY, chain(2), SMALL, chain(6), chain(0)]):
        tokens = torch.tensor([(11 * node + 5 + number) % 61 for node in range(len(shape))])
        expected, got = (target.forward(cache, DraftTree(shape, tokens)) for target, cache in pairs)
        for _, cache in pairs:
            cache.keep([0, *shape.path(len(shape) - 1)])
        for name in ("logits", "features", "aux_hidden_states"):
            torch.testing.assert_close(
                getattr(got, name), getattr(expected, name), rtol=1e-5, atol=1e-5
            )


def ids(lanes: list[str], params: Params) -> list[list[int]]:
    """What lanes on one target say that take turns round by round."""
    target, draft = Target(model(0)), Target(model(1))
    decoders = [Decoder(target, LANES[lane](target, draft)) for lane in lanes]
    for decoder in decoders:
        decoder.start(PROMPT, params, seed=3)
    while any(not decoder.finished for decoder in decoders):
        for decoder in decoders:
            if not decoder.finished:
                decoder.step(params)
    return [decoder.generated for decoder in decoders]


@pytest.mark.parametrize("tree", [EagleTree(20, 4), EagleTree(6, 1), EagleTree(choices=WIDE)])
@pytest.mark.parametrize("version", ["eagle3", "eagle1"])
def test_recorded_levels_draft_the_same(
    version: EagleVersion,
    tree: EagleTree,
    recordings: list[Work],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also when the cache has grown, and with other depths in between."""

    def drafts() -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        drafter = eagle(Target(model(0)), version, tree)
        decoder = Decoder(drafter._target, drafter)
        decoder.start(PROMPT, Params(), 0)
        before = drafter._cache.capacity
        records = [decoder.step(Params(gamma=gamma)) for gamma in 6 * (4, 4, 3, 4)]
        assert drafter._cache.capacity > before
        if drafter._graphs is not None:
            assert recorded_depths(drafter) == {3, 4}
        return [(record.tokens, record.parents) for record in records]

    monkeypatch.setattr(eagle_module, "TreeCache", partial(TreeCache, capacity=16))
    monkeypatch.setattr(eagle_graphs, "OFTEN", 2)
    replayed = drafts()
    assert recordings
    monkeypatch.setattr(target_module, "recorder_for", lambda device: None)
    assert replayed == drafts()


def test_the_probabilities_of_a_draft_outlive_the_pass_that_verifies_it(
    recordings: list[Work], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Graphs share their scratch memory, in which EAGLE's guesses lie as well."""

    def records() -> list[Round]:
        drafter = eagle(Target(model(0)), tree=EagleTree(20, 4))
        decoder = Decoder(drafter._target, drafter)
        decoder.record_probabilities = True
        decoder.start(PROMPT, Params(), 0)
        return [decoder.step(Params(gamma=4)) for _ in range(4)]

    replayed = records()
    assert recordings
    monkeypatch.setattr(target_module, "recorder_for", lambda device: None)
    for got, expected in zip(replayed, records(), strict=True):
        assert got.tokens == expected.tokens
        assert got.q == pytest.approx(expected.q, rel=1e-3)
        assert got.scores == pytest.approx(expected.scores, rel=1e-3)
        assert [each.token for each in got.pruned] == [each.token for each in expected.pruned]


@pytest.mark.usefixtures("recordings")
def test_a_depth_that_comes_up_rarely_is_not_recorded() -> None:
    """Each recording is a pause, and the last rounds of an answer have all kinds of depths."""
    drafter = eagle(Target(model(0)), tree=EagleTree(20, 4))
    decoder = Decoder(drafter._target, drafter)
    for _ in range(2):
        decoder.start(PROMPT, Params(), 0)
        for gamma in (4, 4, 4, 3, 2, 1):
            decoder.step(Params(gamma=gamma))
    assert recorded_depths(drafter) == {4}


@pytest.mark.usefixtures("recordings")
def test_graphs_of_plans_that_come_up_no_more_are_freed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slider of the tree's size makes a plan for each of its values."""
    alive = WeakSet[eagle_graphs.LevelBuffers]()

    class Watched(eagle_graphs.LevelBuffers):
        def __init__(self, *args: Any) -> None:
            super().__init__(*args)
            alive.add(self)

    monkeypatch.setattr(eagle_graphs, "LevelBuffers", Watched)
    monkeypatch.setattr(eagle_graphs, "OFTEN", 1)
    drafter = eagle(Target(model(0)), tree=EagleTree(20, 4))
    decoder = Decoder(drafter._target, drafter)
    plans = drafter._dynamic.cache_parameters()["maxsize"]
    decoder.start(PROMPT, Params(), 0)
    for size in range(2, plans + 6):
        for _ in range(2):
            decoder.step(Params(gamma=2, eagle_total_tokens=size))
    gc.collect()
    assert len(alive) == plans


def recorded_depths(drafter: Eagle) -> set[int]:
    """The gammas whose levels were recorded; each of those that were tried is."""
    assert drafter._graphs is not None
    planned = [each for known in drafter._graphs._planned.values() for each in known.items()]
    assert all(levels.recorded for _, levels in planned if levels.tried)
    return {gamma for gamma, levels in planned if levels.recorded}


def passes(target: Target) -> list[Any]:
    """Logits of some passes of one size."""
    cache = target.new_cache()
    target.prefill(cache, PROMPT)
    trees = [DraftTree(SMALL, torch.arange(first, first + len(SMALL))) for first in range(3)]
    return [target.forward(cache, tree).logits.tolist() for tree in trees]


def model(seed: int) -> Any:
    made: Any = build("llama").requires_grad_(False)
    torch.manual_seed(seed)
    for weight in made.parameters():
        weight.add_(torch.randn_like(weight) * 0.03 * seed)
    return made


@pytest.mark.parametrize("settings", SETTINGS)
def test_lanes_say_the_same(
    settings: str, recordings: list[Work], monkeypatch: pytest.MonkeyPatch
) -> None:
    replayed = ids(list(LANES), SETTINGS[settings])
    assert 0 < len(recordings) <= len(SIZES) * (len(LANES) + 2)  # by cache, not by round
    monkeypatch.setattr(target_module, "recorder_for", lambda device: None)
    assert replayed == ids(list(LANES), SETTINGS[settings])


def test_an_output_is_not_overwritten_by_the_next_pass(recordings: list[Work]) -> None:
    target = Target(model(0))
    cache = target.new_cache()
    target.prefill(cache, PROMPT)
    first = target.forward(cache, DraftTree(chain(0), torch.tensor([5])))
    before = first.logits.clone(), first.features.clone()
    target.forward(cache, DraftTree(chain(0), torch.tensor([6])))
    assert torch.equal(first.logits, before[0])
    assert torch.equal(first.features, before[1])
    assert len(recordings) == 2  # the trial's at load, and one


def test_after_a_failure_nothing_is_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[None] = []

    def refuse(work: Work, eager: Work) -> Work:
        asked.append(None)
        raise RuntimeError("operation not permitted when stream is capturing")

    monkeypatch.setattr(target_module, "recorder_for", lambda device: refuse)
    assert passes(Target(model(0))) == passes(Target(model(0), graphs=False))
    assert len(asked) == 1


@pytest.mark.parametrize(
    "error",
    [torch.OutOfMemoryError("CUDA out of memory"), RuntimeError("CUDA error: out of memory")],
)
def test_a_pass_for_which_memory_is_short_is_launched_and_others_are_recorded(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    asked: list[None] = []

    def short(work: Work, eager: Work) -> Work:
        asked.append(None)
        raise error

    monkeypatch.setattr(target_module, "recorder_for", lambda device: short)
    assert passes(Target(model(0))) == passes(Target(model(0), graphs=False))
    assert len(asked) == 2  # once a cache, the trial's at load among them


def test_what_says_something_else_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    def stale(work: Work, eager: Work) -> Work:
        work()
        return lambda: None

    monkeypatch.setattr(target_module, "recorder_for", lambda device: stale)
    assert isinstance(Target(model(0))._forward, LeanForward)


def test_a_size_that_does_not_pay_is_launched(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[None] = []

    def does_not_pay(work: Work, eager: Work) -> None:
        eager()
        asked.append(None)

    monkeypatch.setattr(target_module, "recorder_for", lambda device: does_not_pay)
    assert passes(Target(model(0))) == passes(Target(model(0), graphs=False))
    assert len(asked) == 2  # once a cache, the trial's at load among them


@pytest.mark.parametrize("skips", [True, False])
def test_caches_begin_with_room_where_attention_skips_what_is_empty(
    skips: bool, recordings: list[Work], monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that their graphs are recorded once, and not at 256 rows, at 512 and at 1,024."""
    kernels = object() if skips else None
    monkeypatch.setattr("decoding.model.graphs.kernels_for", lambda like: kernels)
    target = Target(LEAN["llama"]())
    assert isinstance(target._forward, GraphForward)
    decoder = Decoder(target)
    list(decoder.generate(PROMPT, Params(max_new_tokens=8)))
    assert decoder._cache.capacity == (1024 if skips else 256)  # of a context of 600
