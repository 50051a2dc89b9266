"""How near a machine's limits decoding is with a model of a known shape, whose weights are random:

    python -m tests.shaped_bench SHAPE [--device cuda] [--dtype bfloat16] [--no-graphs] [--compiled]
        [--prefix N ...]

Prints a Markdown table: `ar` against reading the weights once, passes over n nodes, drafters of
known quality against tau / v, an EAGLE-3 head of this shape with the acceptance that its paper
reports, Hugging Face's `generate` (--compiled: with a static cache, which it compiles for half a
minute), and rounds after long prefixes. All answer one prompt in turn; medians of `REPEATS`, with
their range. The model is made on the device: the 8B takes 16 GB there, and nothing on disk.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import median
from typing import Any

import torch
from transformers import LlamaConfig, LlamaForCausalLM

from decoding.checkpoints.draft_settings import EagleSettings
from decoding.checkpoints.eagle import EagleConfig, EagleWeights
from decoding.cost.measure import SIZES, pass_seconds, reading_seconds, seconds
from decoding.decoder import Decoder
from decoding.drafters.base import Drafter
from decoding.drafters.eagle import Eagle, default_tree, drafting_head
from decoding.drafters.eagle_head import EagleHead
from decoding.drafters.simulated import Simulated
from decoding.model.clock import synchronize
from decoding.model.layouts import lay_out
from decoding.model.target import Target
from decoding.params import Params
from decoding.round import Round
from decoding.trees.draft import DraftTree
from decoding.trees.shape import chain

# hidden, layers, heads, key heads, mlp, vocabulary
SHAPES = {
    "llama-3-8b": (4096, 32, 32, 8, 14336, 128256),
    "llama-3.2-1b": (2048, 16, 32, 8, 8192, 128256),
    "0.5b": (896, 24, 14, 2, 4864, 151936),
    "tiny": (64, 6, 4, 2, 128, 8192),
}
CONTEXT = 32768
ACCEPTANCES = (0.6, 0.8)
GAMMA = 4
TOKENS, REPEATS = 64, 3
PROMPT_LENGTH = 100
# Mean tau of EAGLE-3 on Llama-3.1-8B-Instruct, greedy: table 1 of 2503.01840.
PUBLISHED_TAU = 6.23

Answer = Callable[[], float]  # generates, and returns the seconds of a round or of a token


def make_model(shape: str, dtype: torch.dtype, device: str) -> LlamaForCausalLM:
    hidden, layers, heads, kv_heads, mlp, vocabulary = SHAPES[shape]
    torch.manual_seed(0)
    torch.set_default_dtype(dtype)
    try:
        with torch.device(device):
            model = LlamaForCausalLM(LlamaConfig(
                vocab_size=vocabulary, hidden_size=hidden, num_hidden_layers=layers,
                num_attention_heads=heads, num_key_value_heads=kv_heads, intermediate_size=mlp,
                max_position_embeddings=CONTEXT, tie_word_embeddings=shape != "llama-3-8b",
                eos_token_id=None, pad_token_id=None, dtype=dtype,
            ))  # fmt: skip
    finally:
        torch.set_default_dtype(torch.float32)
    return model.requires_grad_(False)


def eagle_of(target: Target, shape: str) -> Eagle:
    """A head as published for this shape, whose guesses are random."""
    hidden, layers, heads, kv_heads, mlp, vocabulary = SHAPES[shape]
    drafted = min(32000, vocabulary // 2)
    config = EagleConfig(
        version="eagle3", target_hidden=hidden, hidden=hidden, intermediate=mlp, heads=heads,
        kv_heads=kv_heads, head_dim=hidden // heads, vocab=vocabulary, draft_vocab=drafted,
        aux_layers=(2, layers // 2, layers - 3), fc_bias=False,
    )  # fmt: skip
    with target.device:
        shapes = EagleHead(config, torch.zeros(vocabulary, hidden), lambda x: x).tensors()
    tensors = {
        name: torch.ones(each.shape) if each.dim() == 1 else torch.randn(each.shape) * 0.02
        for name, each in shapes.items()
    }
    tensors["d2t"] = torch.arange(drafted)
    head = drafting_head(EagleWeights("random", config, tensors), target)
    target.capture_layers(config.aux_layers)
    cost = {n: pass_seconds(target, n) for n in (1, 60)}
    tree = default_tree(EagleSettings(), target.device, lambda n: cost[int(n)])
    return Eagle(head, target, tree)


def prompt_of(length: int, vocabulary: int) -> list[int]:
    return [(7 * i * i + 3 * i + 11) % vocabulary for i in range(length)]


def rounds_of(target: Target, drafter: Drafter | None, prompt: Sequence[int]) -> Answer:
    """The median seconds of a full-sized round."""
    gamma = GAMMA if isinstance(drafter, Simulated) else None
    decoder, params = Decoder(target, drafter), Params(gamma=gamma, max_new_tokens=TOKENS)

    def answer() -> float:
        rounds: list[Round] = list(decoder.generate(prompt, params))
        most = max(len(each.tokens) for each in rounds)
        return median(each.total_seconds for each in rounds if len(each.tokens) == most)

    return answer


def generating(target: Target, prompt: Sequence[int], **options: Any) -> Answer:
    ids = torch.tensor([list(prompt)], device=target.device)

    def answer() -> float:
        with target.as_loaded() as model:
            made: Any = model
            begun = time.perf_counter()
            made.generate(
                ids, attention_mask=torch.ones_like(ids), do_sample=False, pad_token_id=0,
                max_new_tokens=TOKENS, **options,
            )  # fmt: skip
            synchronize(target.device)
            return (time.perf_counter() - begun) / TOKENS

    return answer


def in_turn(answers: Mapping[str, Answer]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {name: [] for name in answers}
    for repeat in range(REPEATS + 1):
        for name, answer in answers.items():
            took = answer()
            if repeat:  # the first one compiles, records and measures
                found[name].append(took)
    return found


def spread(times: Sequence[float]) -> str:
    return f"{median(times) * 1000:.2f} ms ({min(times) * 1000:.2f}-{max(times) * 1000:.2f})"


def after(target: Target, length: int) -> str:
    """A line on passes after a long prefix."""
    cache = target.new_cache(length + 128)
    begun = time.perf_counter()
    target.prefill(cache, prompt_of(length, target.vocab_size))
    synchronize(target.device)
    prefilled = time.perf_counter() - begun
    taken = []
    for nodes in (1, 8, 64):
        tokens = torch.zeros(nodes, dtype=torch.long, device=target.device)
        tree = DraftTree(chain(nodes - 1), tokens)
        taken.append(seconds(lambda tree=tree: target.forward(cache, tree), target.device))  # type: ignore[misc]
    passes = ", ".join(f"{each * 1000:.2f}" for each in taken)
    return f"| after {length} tokens ({prefilled:.2f} s) | pass(1), (8), (64): {passes} ms |"


def table(shape: str, target: Target, compiled: bool, prefixes: Sequence[int]) -> Iterator[str]:
    """Its lines, each as soon as it is measured."""
    dtype = str(target.dtype).removeprefix("torch.")
    name = torch.cuda.get_device_name() if target.device.type == "cuda" else "CPU"
    yield f"| {shape}, {dtype}, {name}, torch {torch.__version__} | |"
    yield "|---|---|"
    passes = {n: pass_seconds(target, n) for n in SIZES}
    yield from (f"| pass({n}) | {passes[n] / passes[1]:.2f} pass(1) |" for n in passes if n > 1)
    for length in prefixes:
        yield after(target, length)
    prompt = prompt_of(PROMPT_LENGTH, target.vocab_size)
    plain = Decoder(target)
    list(plain.generate(prompt, Params(max_new_tokens=TOKENS)))
    answers: dict[str, Answer] = {"ar": rounds_of(target, None, prompt)}
    taus: dict[float, float] = {}
    for each in ACCEPTANCES:
        drafter = Simulated(target.device, each)
        drafter.answer = list(plain.generated)
        params = Params(gamma=GAMMA, max_new_tokens=TOKENS)
        rounds = list(Decoder(target, drafter).generate(prompt, params))
        taus[each] = sum(len(r.emitted) for r in rounds) / len(rounds)
        answers[f"simulated {each}"] = rounds_of(target, drafter, prompt)
    answers["eagle3"] = rounds_of(target, eagle_of(target, shape), prompt)
    answers["generate"] = generating(target, prompt)
    if compiled:
        answers["compiled"] = generating(target, prompt, cache_implementation="static")
    found = in_turn(answers)
    one = median(found["ar"])
    nbytes = target.bytes_per_pass or 0
    reading = reading_seconds(nbytes, target.device)
    yield f"| `ar`, a round | {spread(found['ar'])}, {1 / one:.1f} tok/s |"
    yield (
        f"| reading {nbytes / 1e9:.2f} GB of weights once | {reading * 1000:.2f} ms, "
        f"{reading / one:.0%} of that |"
    )
    verify = passes[1] + (passes[8] - passes[1]) * GAMMA / 7  # of a root and its drafts
    for each, tau in taus.items():
        speedup = tau * one / median(found[f"simulated {each}"])
        yield (
            f"| {each:.0%} right, gamma {GAMMA} | {speedup:.2f}x, tau {tau:.2f}, "
            f"{speedup / (tau * passes[1] / verify):.0%} of tau / v |"
        )
    times = [PUBLISHED_TAU * one / each for each in found["eagle3"]]
    yield (
        f"| EAGLE-3, a round | {spread(found['eagle3'])}: {median(times):.2f}x "
        f"({min(times):.2f}-{max(times):.2f}) at its published tau of {PUBLISHED_TAU} |"
    )
    for peer, called in (("generate", "`generate`"), ("compiled", "`generate`, compiled")):
        if peer in found:
            ratio = median(found[peer]) / one
            yield f"| {called}, a token | {spread(found[peer])}: `ar` is {ratio:.2f}x |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("shape", choices=SHAPES)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--dtype", default="bfloat16")
    parser.add_argument("--no-graphs", action="store_true")
    parser.add_argument("--compiled", action="store_true")
    parser.add_argument("--prefix", type=int, nargs="*", default=[])
    args = parser.parse_args()
    model = make_model(args.shape, getattr(torch, args.dtype), args.device)
    target = Target(model, not args.no_graphs)
    if target.device.type == "cpu":
        lay_out(target.linears, target.dtype)
    for line in table(args.shape, target, args.compiled, args.prefix):
        print(line, flush=True)


if __name__ == "__main__":
    main()
