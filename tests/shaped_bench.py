"""How near a machine's limits decoding is with a model of a known shape, whose weights are random:

    python -m tests.shaped_bench SHAPE [--device cuda] [--dtype bfloat16] [--keep DIR] [OPTIONS]

Prints a Markdown table: `ar` against reading the weights once, passes over n nodes, drafters of
known quality against tau / v, and Hugging Face's `generate`. OPTIONS are those of `specchat bench`,
for example --no-graphs. The 8B needs 17 GB of disk and of the device's memory.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import torch
from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM

from app.models.library import demo
from decoding.cost.measure import SIZES, verify_cost
from decoding.model.target import Target

# hidden, layers, heads, key heads, mlp, vocabulary
SHAPES = {
    "llama-3-8b": (4096, 32, 32, 8, 14336, 128256),
    "llama-3.2-1b": (2048, 16, 32, 8, 8192, 128256),
    "0.5b": (896, 24, 14, 2, 4864, 151936),
    "tiny": (64, 2, 4, 2, 128, 8192),
}
ACCEPTANCES = (0.6, 0.8)
GAMMA = 4


def write_model(shape: str, folder: Path, dtype: torch.dtype, device: str) -> None:
    """A checkpoint folder, with the demo's tokenizer: ids that it lacks are never drawn."""
    hidden, layers, heads, kv_heads, mlp, vocabulary = SHAPES[shape]
    torch.manual_seed(0)
    with torch.device(device):
        config = LlamaConfig(
            vocab_size=vocabulary, hidden_size=hidden, num_hidden_layers=layers,
            num_attention_heads=heads, num_key_value_heads=kv_heads, intermediate_size=mlp,
            max_position_embeddings=8192, tie_word_embeddings=shape != "llama-3-8b", dtype=dtype,
        )  # fmt: skip
        model: Any = LlamaForCausalLM(config)
    model = model.to(dtype)
    model.save_pretrained(folder)
    tokenizer = AutoTokenizer.from_pretrained(str(demo().target))
    tokenizer.save_pretrained(folder)


def bench(folder: Path, device: str, dtype: str, options: list[str]) -> dict[str, Any]:
    simulated = [f"--simulate-acceptance={each}" for each in ACCEPTANCES]
    done = subprocess.run(
        [sys.executable, "-m", "app", "bench", "--target", str(folder), "--device", device,
         "--dtype", dtype, "--prompt", "Tell me a story about a dog.", "--strategies", "ar",
         "--gamma", str(GAMMA), "--ignore-eos", "--max-new-tokens", "128", "--repeats", "3",
         "--peers", "hf", *simulated, *options, "--json"],
        check=True, stdout=subprocess.PIPE,
    )  # fmt: skip
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def table(shape: str, document: dict[str, Any], passes: dict[int, float]) -> str:
    rows = {row["name"]: row for row in document["contestants"]}
    plain = rows["ar"]["round_seconds"]
    whole = sum(plain.values())
    weights = document["weights"]
    lines = [
        f"| {shape}, {document['device']} {document['dtype']} | |",
        "|---|---|",
        f"| `ar` | {1 / whole:.1f} tok/s, {whole * 1000:.2f} ms a round |",
        f"| reading {weights['bytes'] / 1e9:.2f} GB of weights once | "
        f"{weights['seconds'] * 1000:.2f} ms, {weights['seconds'] / whole:.0%} of that |",
        f"| `ar` against `generate` | {1 / rows['hf']['speedup']:.2f}x |",
        f"| beside passes | {plain['rest'] / whole:.1%} of a round |",
        *(f"| pass({n}) | {passes[n] / passes[1]:.2f} pass(1) |" for n in passes if n > 1),
    ]
    verify = passes[1] + (passes[8] - passes[1]) * GAMMA / 7  # of a root and its drafts
    for each in ACCEPTANCES:
        row = rows[f"simulated {each:g}"]
        expected = row["tokens_per_pass"] * passes[1] / verify
        lines.append(
            f"| {each:.0%} right, gamma {GAMMA} | {row['speedup']:.2f}x, tau "
            f"{row['tokens_per_pass']:.2f}, {row['speedup'] / expected:.0%} of tau / v |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("shape", choices=SHAPES)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--dtype", default="bfloat16")
    parser.add_argument("--keep", type=Path, help="a folder for the model, which is used again")
    args, options = parser.parse_known_args()
    place = nullcontext(args.keep) if args.keep else tempfile.TemporaryDirectory()
    with place as named:
        folder = Path(named)
        dtype = getattr(torch, args.dtype)
        if not (folder / "config.json").exists():
            write_model(args.shape, folder, dtype, args.device)
        document = bench(folder, args.device, args.dtype, options)
        model: Any = LlamaForCausalLM.from_pretrained(folder, dtype=dtype)
        target = Target(model.to(args.device), "--no-graphs" not in options)
        curve = verify_cost(target)
        print(table(args.shape, document, {n: curve(n) for n in SIZES}))


if __name__ == "__main__":
    main()
