"""The loop on CUDA devices that are pretended: nothing is mixed, and the host hardly waits."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import product
from typing import Any

import pytest
import torch
from accelerate import dispatch_model
from transformers import PreTrainedModel

from decoding.cost.curve import Curve
from decoding.decoder import Decoder
from decoding.device import Download, download
from decoding.drafters import eagle_graphs
from decoding.drafters.base import Drafter
from decoding.drafters.draft_model import DraftModel
from decoding.drafters.eagle import Eagle, EagleTree
from decoding.drafters.eagle_forward import EagleForward
from decoding.drafters.lookup import Lookup
from decoding.drafters.medusa import Medusa
from decoding.drafters.medusa_heads import MedusaHeads
from decoding.drafters.suffix import Suffix
from decoding.errors import InputError
from decoding.model.graphs import GraphForward, Work
from decoding.model.target import Target
from decoding.params import Params, SamplingParams
from decoding.trees.draft import Draft, DraftTree
from decoding.trees.shape import TreeShape, chain
from decoding.trees.static import NAMED_TREES
from decoding.verification.acceptance import Acceptance
from tests.decoding.drafters.test_medusa import heads_for
from tests.support.eagle_drafts import eagle
from tests.support.families import build, hf_greedy
from tests.support.pretended_cuda import PretendedCuda
from tests.support.random_trees import RandomTrees

Said = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]

PROMPT = [3, 7, 9, 11, 2, 3, 7, 9, 11, 2, 3]
NEW = 12
WARPED = SamplingParams(temperature=0.9, top_k=20, top_p=0.9)

# A lane's drafter on a target, beside a draft model.
LANES: dict[str, Callable[[Target, Target], Drafter | None]] = {
    "ar": lambda target, draft: None,
    "draft": lambda target, draft: DraftModel(draft, target.vocab_size),
    "lookup": lambda target, draft: Lookup(target.device),
    "suffix": lambda target, draft: Suffix(target.device),
    "trees": lambda target, draft: true_trees(target),
    "medusa": lambda target, draft: Medusa(heads_for(target), NAMED_TREES["wide"]),
    "eagle3": lambda target, draft: eagle(target, tree=EagleTree(20, 4), draft_vocab=40),
    "eagle3-chain": lambda target, draft: eagle(target, tree=EagleTree(6, 1), layers=2),
    "eagle3-static": lambda target, draft: eagle(
        target, tree=EagleTree(choices=NAMED_TREES["wide"])
    ),
    "eagle3-paying": lambda target, draft: paying(target),
    "eagle1": lambda target, draft: eagle(target, "eagle1", EagleTree(20, 4)),
}
SETTINGS = {
    "greedy": Params(max_new_tokens=NEW),
    "sampled": Params(WARPED, max_new_tokens=NEW),
    "typical": Params(SamplingParams(0.9), max_new_tokens=NEW, acceptance="typical"),
    "recorded": Params(WARPED, max_new_tokens=NEW),  # with probabilities
}
# A lossy rule's text depends on the tree, and this lane's trees on the time that it takes.
CASES = [each for each in product(LANES, SETTINGS) if each != ("eagle3-paying", "typical")]
# A node's penalties by its path, where the host does not know that.
SETTINGS["penalized"] = Params(SamplingParams(repetition_penalty=1.4), max_new_tokens=NEW)
CASES.append(("eagle3", "penalized"))

# Waits a round: one for the tokens, and where a tree's size must be known before it is verified.
WAITS = {"eagle3-paying": 2}
# Uploads a round: the tokens that are new to a model, and a tree that the host has made.
UPLOADS = {"draft": 2, "eagle3-paying": 3, "trees": 3}


def true_trees(target: Target) -> RandomTrees:
    """Of which long paths are accepted, through first and through later siblings."""
    truth = hf_greedy("llama", PROMPT, NEW)
    return RandomTrees(target.vocab_size, 7, len(PROMPT), truth, 20, target.device)


def paying(target: Target) -> Eagle:
    cost = Curve(((1, 1.0), (64, 1.6)))
    return Eagle(eagle(target).head, target, EagleTree(None, 4), cost, 5)


def noised(model: PreTrainedModel) -> PreTrainedModel:
    torch.manual_seed(1)
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(torch.randn_like(weight) * 0.03)
    return model


@cache
def targets(place: str) -> tuple[Target, Target]:
    """A target and a draft model; "cuda" only within `PretendedCuda()`."""
    model: Any = build("llama").requires_grad_(False)
    draft: Any = noised(build("llama")).requires_grad_(False)
    if place == "two":
        return Target(on_two_devices(model)), Target(draft.to("cuda"))
    return Target(model.to(place)), Target(draft.to(place))


def on_two_devices(model: PreTrainedModel) -> PreTrainedModel:
    upper = ("model.layers.1", "model.layers.2", "model.norm", "lm_head")
    lower = ("model.embed_tokens", "model.rotary_emb", "model.layers.0")
    places = {**dict.fromkeys(lower, "cuda:0"), **dict.fromkeys(upper, "cuda:1")}
    split: PreTrainedModel = dispatch_model(model, places, main_device="cuda:0")
    return split


def decoder_of(lane: str, place: str) -> Decoder:
    target, draft = targets(place)
    return Decoder(target, LANES[lane](target, draft))


def start(decoder: Decoder, settings: str) -> None:
    decoder.record_probabilities = settings == "recorded"
    decoder.start(PROMPT, SETTINGS[settings], 7)


def finish(decoder: Decoder, settings: str) -> list[Said]:
    """What was drafted and what stayed, round by round."""
    rounds = []
    while not decoder.finished:
        record = decoder.step(SETTINGS[settings])
        rounds.append((record.tokens, record.parents, record.accepted))
    return rounds


@cache
def on_the_cpu(lane: str, settings: str) -> tuple[list[int], list[Said]]:
    """The ids, and the rounds."""
    decoder = decoder_of(lane, "cpu")
    start(decoder, settings)
    rounds = finish(decoder, settings)
    return decoder.generated, rounds


@pytest.mark.parametrize("lane, settings", CASES)
def test_a_lane_says_what_it_says_on_the_cpu_and_hardly_waits(lane: str, settings: str) -> None:
    with PretendedCuda() as cuda:
        decoder = decoder_of(lane, "cuda")
        start(decoder, settings)
        cuda.reset()
        rounds = finish(decoder, settings)
    ids, expected = on_the_cpu(lane, settings)
    assert decoder.generated == ids
    assert rounds == expected or lane == "eagle3-paying"  # whose trees depend on the time
    assert not cuda.ledger.pageable
    most = len(rounds) * (WAITS.get(lane, 1) + (settings == "recorded"))
    assert cuda.ledger.waits.total() <= most, cuda.ledger.waits


@pytest.mark.parametrize("settings", ["greedy", "sampled"])
@pytest.mark.parametrize("lane", ["ar", "draft", "medusa", "eagle3"])
def test_what_a_graph_is_given_is_there_without_waiting(lane: str, settings: str) -> None:
    def repeated(work: Work, eager: Work) -> Work:
        work()
        return work

    with PretendedCuda() as cuda:
        cuda.recorder = repeated
        models: list[Any] = [build("llama"), noised(build("llama"))]
        target, draft = (Target(model.requires_grad_(False).to("cuda")) for model in models)
        assert isinstance(target._forward, GraphForward)
        decoder = Decoder(target, LANES[lane](target, draft))
        start(decoder, settings)
        cuda.reset()
        rounds = finish(decoder, settings)
    assert (decoder.generated, rounds) == on_the_cpu(lane, settings)
    assert not cuda.ledger.pageable
    assert cuda.ledger.waits.total() <= len(rounds) * WAITS.get(lane, 1), cuda.ledger.waits


@pytest.mark.parametrize("lane", ["eagle3", "eagle3-chain", "eagle3-static", "eagle1"])
def test_recorded_levels_ask_nothing_of_the_host(
    lane: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The launches of a round do not grow with its depth."""
    monkeypatch.setattr(eagle_graphs, "OFTEN", 1)

    def repeated(work: Work, eager: Work) -> Work:
        work()  # what is prepared once

        def replay() -> None:
            kernels, asked = cuda.ledger.kernels, (+cuda.ledger.uploads, +cuda.ledger.waits)
            work()
            assert asked == (cuda.ledger.uploads, cuda.ledger.waits)
            cuda.ledger.kernels = kernels + 1

        return replay

    def launched(gamma: int) -> int:
        params = Params(gamma=gamma)
        decoder.start(PROMPT, params, 7)
        for _ in range(3):
            cuda.reset()
            decoder.step(params)
        return cuda.ledger.kernels

    with PretendedCuda() as cuda:
        cuda.recorder = repeated
        model: Any = build("llama").requires_grad_(False)
        target = Target(model.to("cuda"))
        decoder = Decoder(target, LANES[lane](target, target))
        assert abs(launched(4) - launched(3)) <= 2


@pytest.mark.parametrize("lane", LANES)
def test_a_round_uploads_little_besides_its_new_tokens(lane: str) -> None:
    params = Params(gamma=3)
    with PretendedCuda() as cuda:
        decoder = decoder_of(lane, "cuda")
        decoder.start(PROMPT, params, 7)
        decoder.step(params)  # what is uploaded once a tree
        cuda.reset()
        decoder.step(params)
    assert cuda.ledger.uploads.total() <= UPLOADS.get(lane, 1), cuda.ledger.uploads


@pytest.mark.parametrize("settings", ["greedy", "sampled", "typical"])
@pytest.mark.parametrize("lane", LANES)
def test_nothing_is_launched_after_the_wait(
    lane: str, settings: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the next round needs is: the host's reading costs the device no time."""
    launched: list[int] = []
    read = Download.read

    def noted(self: Download) -> list[Any]:
        numbers = read(self)
        launched.append(cuda.ledger.kernels)
        return numbers

    monkeypatch.setattr(Download, "read", noted)
    with PretendedCuda() as cuda:
        decoder = decoder_of(lane, "cuda")
        start(decoder, settings)
        heads = decoder.drafter is not None and decoder.drafter.needs != "none"
        while not decoder.finished:
            record = decoder.step(SETTINGS[settings])
            if record.drafted or not heads:
                assert launched[-1] == cuda.ledger.kernels


def test_the_rows_that_stay_are_known_on_the_device() -> None:
    """Padded, and the same as the host finds."""
    with PretendedCuda():
        decoder = decoder_of("trees", "cuda")
        start(decoder, "greedy")
        verify, paths = decoder._verify, []

        def noted(draft: Draft, logits: torch.Tensor, params: Params) -> Acceptance:
            made = verify(draft, logits, params)
            if made.padded:
                assert isinstance(made.rows, torch.Tensor)
                path = made.result.path
                assert made.rows.tolist()[: len(path) + 1] == [0, *path]
                paths.append(path)
            return made

        decoder._verify = noted  # type: ignore[method-assign]
        finish(decoder, "greedy")
    assert any(path != tuple(range(1, len(path) + 1)) for path in paths)


@pytest.mark.parametrize("lane", ["medusa", "eagle3", "eagle3-chain", "eagle3-static", "eagle1"])
def test_heads_run_before_the_wait_for_the_round(
    lane: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    happened: list[str] = []

    def note(name: str, kind: type, method: str) -> None:
        do = getattr(kind, method)

        def noted(*args: Any) -> Any:
            happened.append(name)
            return do(*args)

        monkeypatch.setattr(kind, method, noted)

    note("pass", Target, "forward")
    note("heads", MedusaHeads, "logits")
    note("heads", EagleForward, "hidden")
    note("wait", Download, "read")
    params = Params(gamma=3)
    with PretendedCuda():
        decoder = decoder_of(lane, "cuda")
        decoder.start(PROMPT, params, 7)
        decoder.step(params)
        for _ in range(3):
            happened.clear()
            decoder.step(params)
            assert happened == ["pass", "heads", "wait"]


@pytest.mark.parametrize("lane", LANES)
def test_a_target_on_two_devices(lane: str) -> None:
    with PretendedCuda():
        decoder = decoder_of(lane, "two")
        start(decoder, "greedy")
        finish(decoder, "greedy")
    assert decoder.generated == on_the_cpu(lane, "greedy")[0]


@pytest.mark.parametrize("lane", LANES)
def test_logits_that_are_no_numbers_are_refused(lane: str) -> None:
    """Also where the next draft begins before the host knows."""
    with PretendedCuda():
        decoder = decoder_of(lane, "cuda")
        start(decoder, "greedy")
        verify = decoder._verify
        decoder._verify = lambda draft, logits, params: verify(  # type: ignore[method-assign]
            draft, logits * torch.nan, params
        )
        with pytest.raises(InputError, match="not numbers"):
            decoder.step(SETTINGS["greedy"])


BUSHY = TreeShape((-1, 0, 0, 1, 1, 2))


@pytest.mark.parametrize("shape, most", [(chain(0), 13), (BUSHY, 13)], ids=["one token", "a tree"])
def test_a_layer_launches_no_more_kernels_than_it_did(shape: TreeShape, most: int) -> None:
    """A ratchet: lower the numbers where fewer do."""

    def launched(layers: int) -> int:
        model: Any = build("llama").requires_grad_(False)
        model.config.num_hidden_layers = layers
        model.model.layers = model.model.layers[:layers]
        target = Target(model.to("cuda"))
        cache = target.new_cache()
        target.prefill(cache, PROMPT)
        tree = DraftTree(shape, torch.zeros(len(shape), dtype=torch.long, device="cuda"))
        target.forward(cache, tree)  # what is prepared once a shape
        cuda.reset()
        target.forward(cache, tree)
        return cuda.ledger.kernels

    with PretendedCuda() as cuda:
        assert launched(3) - launched(2) <= most


def test_a_level_of_eagles_tree_launches_no_more_kernels_than_it_did() -> None:
    def launched(gamma: int) -> int:
        params = Params(gamma=gamma)
        decoder.start(PROMPT, params, 0)
        cuda.reset()
        decoder.step(params)
        return cuda.ledger.kernels

    with PretendedCuda() as cuda:
        decoder = decoder_of("eagle3", "cuda")
        launched(7)  # what is prepared once
        assert launched(7) - launched(6) <= 37


def test_cudnn_plans_no_attention_on_cuda() -> None:
    with PretendedCuda():
        torch.backends.cuda.enable_cudnn_sdp(True)
        model: Any = build("llama").requires_grad_(False)
        Target(model.to("cuda"))
        assert not torch.backends.cuda.cudnn_sdp_enabled()


def test_what_a_gpu_would_refuse_is_refused() -> None:
    with PretendedCuda():
        here, there = torch.ones(2, device="cuda"), torch.ones(2, device="cuda:1")
        for other in (torch.ones(2), there):
            with pytest.raises(RuntimeError, match="same device"):
                here + other
        with pytest.raises(RuntimeError, match="generator on cpu"):
            here.exponential_(generator=torch.Generator())
        with pytest.raises(RuntimeError, match="not waited for"):
            here.to("cpu", non_blocking=True).tolist()
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        with pytest.raises(RuntimeError, match="not ready"):
            event.elapsed_time(event)


def test_what_a_gpu_would_be_waited_for_is_counted() -> None:
    waits: dict[str, Callable[[torch.Tensor], object]] = {
        "a mask": lambda x: x[x > 0],
        "a search": lambda x: x.nonzero(),
        "a download": download,
    }
    pageable: dict[str, Callable[[torch.Tensor], object]] = {
        "a value": lambda x: x[0].item(),
        "values": lambda x: x.tolist(),
        "a copy": lambda x: x.cpu(),
        "a test": lambda x: bool(x.any()),
        "a list": lambda x: torch.tensor([1, 2], device="cuda"),
        "a tensor": lambda x: torch.ones(2).to("cuda"),
        "a list of indices": lambda x: x[[0, 1]],
        "indices": lambda x: x[torch.tensor([0, 1])],
        "part of a tensor": lambda x: x.copy_(torch.ones(2)),
    }
    free: dict[str, Callable[[torch.Tensor], object]] = {
        "pinned": lambda x: torch.ones(2).pin_memory().to("cuda", non_blocking=True),
        "computed": lambda x: (x + 1)[1:].topk(1),
    }
    with PretendedCuda() as cuda:
        x = torch.ones(2, device="cuda")
        for what, do in (waits | pageable | free).items():
            cuda.reset()
            do(x)
            assert cuda.ledger.waits.total() == (what not in free), what
            assert cuda.ledger.pageable.total() == (what in pageable), what
