"""The loop on a real GPU, where nothing is pretended:

    python -m tests.cuda_check [PART ...]

Every lane says what it says on the CPU or what `generate` says on the GPU, with CUDA graphs and
without. Prints a line for each part and for each case that differs or fails; exit code 1 if any
did. What a GPU computes in half precision can differ near ties: there the gap is printed.
"""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import torch

from app.models.library import demo
from app.models.load_models import load_models
from app.models.loaded import LoadedModels
from app.strategies.registry import STRATEGIES
from decoding.decoder import Decoder
from decoding.drafters.draft_model import DraftModel
from decoding.drafters.lookup import Lookup
from decoding.model.graphs import GraphForward
from decoding.model.kernels import kernels_for
from decoding.model.target import Target
from decoding.params import Params, SamplingParams
from tests.decoding.model import test_triton_kernels
from tests.decoding.test_pretended_cuda import CASES, LANES, PROMPT, finish, noised, on_the_cpu
from tests.decoding.test_pretended_cuda import start as start_lane
from tests.support.families import FAMILIES, HYBRIDS, build, hf_greedy

Case = tuple[str, Callable[[], str]]  # its name, and what says how it went wrong: "" is right

NEW = 48
QUESTIONS = ("What is a draft model?", "Tell me a short story about a dog.", "What is 7 times 8?")
DEMO_LANES = ("ar", "draft", "medusa", "eagle", "eagle1", "lookup", "suffix")


def lanes() -> Iterator[Case]:
    """Every lane and setting with a tiny model, in float32."""
    for graphs in (True, False):
        models = build("llama"), noised(build("llama"))
        target, draft = (Target(on_gpu(model), graphs) for model in models)
        sampled: list[int] = []

        def case(
            lane: str, settings: str, target: Target, draft: Target, sampled: list[int]
        ) -> str:
            decoder = Decoder(target, LANES[lane](target, draft))
            start_lane(decoder, settings)
            rounds = finish(decoder, settings)
            ids = decoder.generated
            if settings in ("greedy", "penalized"):
                expected, as_drafted = on_the_cpu(lane, settings)
                if ids != expected:
                    return f"{ids} instead of {expected}"
                if rounds != as_drafted and lane != "eagle3-paying":
                    return f"other rounds: {rounds} instead of {as_drafted}"
            elif settings != "typical" and lane != "draft":
                sampled[:] = sampled or ids  # of `ar`, which comes first
                return "" if ids == sampled else f"{ids} instead of {sampled}"
            return ""

        for lane, settings in CASES:
            name = f"{lane} {settings} {'graphs' if graphs else 'eager'}"
            yield name, partial(case, lane, settings, target, draft, sampled)


def on_gpu(model: Any) -> Any:
    return model.requires_grad_(False).to("cuda")


def kernels() -> Iterator[Case]:
    device = torch.device("cuda")
    for dtype, most in ((torch.float16, 4e-3), (torch.bfloat16, 3e-2)):
        found = kernels_for(torch.empty(0, dtype=dtype, device=device))
        if found is None:
            yield f"no kernels for {dtype}", lambda: "this GPU or this Triton has none"
            continue
        errors = {
            case: partial(test_triton_kernels.attention_error, found, case, dtype, device)
            for case in test_triton_kernels.CASES
        }
        errors["rotation"] = partial(test_triton_kernels.rotation_error, found, dtype, device)
        errors["gate"] = partial(test_triton_kernels.gate_error, found, dtype, device)
        errors["norm"] = partial(test_triton_kernels.norm_error, found, dtype, device)
        for name, error in errors.items():

            def case(error: Callable[[], float] = error, most: float = most) -> str:
                return "" if (off := error()) <= most else f"{off:.4f} off"

            yield name, case


def recorded(target: Target) -> str:
    forward = target._forward
    if not isinstance(forward, GraphForward):
        return f"none, {type(forward).__name__}"
    if forward._recordable._record is None:
        return "given up"
    made = [(size, known is not None) for each in forward._recordings.values()
            for size, known in each.passes.items()]  # fmt: skip
    return ", ".join(f"{size}{'' if paid else ' does not pay'}" for size, paid in sorted(set(made)))


def families() -> Iterator[Case]:
    """Tiny models of every family, which copy and draft."""
    for family in (*FAMILIES, *HYBRIDS):

        def case(family: str = family) -> str:
            target = Target(on_gpu(build(family)))
            draft = Target(on_gpu(noised(build(family))))
            expected = hf_greedy(family, PROMPT, 24)
            for drafter in (None, Lookup(target.device), DraftModel(draft, target.vocab_size)):
                decoder = Decoder(target, drafter)
                for gamma in (None, 2):
                    list(decoder.generate(PROMPT, Params(max_new_tokens=24, gamma=gamma)))
                    if decoder.generated != expected:
                        same = zip(decoder.generated, expected, strict=False)
                        at = next(i for i, (a, b) in enumerate(same) if a != b)
                        return f"{type(drafter).__name__} differs at {at} of 24"
            return ""

        yield family, case


def hf_ids(models: LoadedModels, ids: list[int]) -> list[int]:
    with models.target.as_loaded() as model:
        made: Any = model
        out = made.generate(
            torch.tensor([ids], device=models.target.device), do_sample=False,
            attention_mask=torch.ones(1, len(ids), dtype=torch.long, device=models.target.device),
            max_new_tokens=NEW, eos_token_id=sorted(models.eos), pad_token_id=0,
        )  # fmt: skip
    return list(out[0, len(ids) :].tolist())


def shipped(**options: Any) -> Callable[[], Iterator[Case]]:
    """The demo family: against `generate` if the precision is exact, against `ar` otherwise."""

    def cases() -> Iterator[Case]:
        models = load_models(replace(demo(), device="cuda", **options))
        exact = models.target.dtype == torch.float32 and not models.options.quantize
        prompts = [models.encode([{"role": "user", "content": each}]) for each in QUESTIONS]
        expected = [hf_ids(models, ids) if exact else None for ids in prompts]
        for lane in DEMO_LANES:

            def case(lane: str = lane) -> str:
                strategy, found = STRATEGIES[lane], ""
                decoder = Decoder(models.target, strategy.build and strategy.build(models))
                rounds, begun = 0, time.perf_counter()
                for at, ids in enumerate(prompts):
                    params = Params(max_new_tokens=NEW)
                    rounds += len(list(decoder.generate(ids, params, stop=models.stop(False, ()))))
                    want, got = expected[at] or decoder.generated, decoder.generated
                    expected[at] = want
                    if got != want:
                        same = zip(got, want, strict=False)
                        first = next((i for i, (a, b) in enumerate(same) if a != b), len(want))
                        gap = models.logit_gap([*ids, *want[:first]], got[first], want[first])
                        if exact or gap > 0.2:
                            found += f"prompt {at} differs at {first}, gap {gap:.4f}; "
                        else:
                            print(f"    {lane} prompt {at}: a near tie at {first}, gap {gap:.4f}")
                each = (time.perf_counter() - begun) / rounds * 1000
                graphs = recorded(models.target)
                print(f"    {lane}: {rounds} rounds, {each:.2f} ms each; graphs: {graphs}")
                return found

            yield lane, case

        def sampled() -> str:
            params = Params(SamplingParams(0.8, top_p=0.9), max_new_tokens=NEW)
            texts = {}
            for lane in ("ar", "medusa", "eagle", "lookup"):
                strategy = STRATEGIES[lane]
                decoder = Decoder(models.target, strategy.build and strategy.build(models))
                list(decoder.generate(prompts[1], params, 3, models.stop(False, ())))
                texts[lane] = decoder.generated
            others = [lane for lane, text in texts.items() if text != texts["ar"]]
            return f"{others} differ from ar" if others and exact else ""

        yield "one seed, one text", sampled

    return cases


PARTS: dict[str, Callable[[], Iterator[Case]]] = {
    "kernels": kernels,
    "lanes": lanes,
    "families": families,
    "demo-float32": shipped(dtype="float32"),
    "demo-eager": shipped(dtype="float32", graphs=False),
    "demo-bfloat16": shipped(dtype="bfloat16"),
    "demo-float16": shipped(dtype="float16"),
    "demo-nf4": shipped(dtype="bfloat16", quantize="nf4"),
    "demo-int8": shipped(dtype="bfloat16", quantize="int8"),
    "demo-kv-int8": shipped(dtype="bfloat16", kv_cache="int8"),
}


def check(part: str) -> int:
    """The number of cases that went wrong."""
    wrong, count, begun = 0, 0, time.perf_counter()
    print(part, flush=True)
    try:
        for name, case in PARTS[part]():
            count += 1
            if said := attempt(case):
                wrong += 1
                print(f"    WRONG {name}: {said}", flush=True)
    except Exception:  # of what the cases have in common
        wrong += 1
        traceback.print_exc(limit=-8, file=sys.stdout)
    seconds = time.perf_counter() - begun
    print(f"  {part}: {count} cases, {wrong} wrong, {seconds:.1f} s", flush=True)
    return wrong


def attempt(case: Callable[[], str]) -> str:
    try:
        return case()[:600]
    except Exception:
        return traceback.format_exc(limit=-8)


def main() -> None:
    chosen = sys.argv[1:] or list(PARTS)
    sys.exit(sum(check(part) for part in chosen) > 0)


if __name__ == "__main__":
    main()
