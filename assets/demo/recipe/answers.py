"""The target's own answers to files of prompts, with its first user turns answered anew.

    python -m assets.demo.recipe.answers --target DIR --prompts FILE[:REPEAT[:KEY=VALUE]] ... \\
        --out FILE.jsonl [--max-new-tokens N --temperature T --batch-size N --turns N]

As `specchat heads distill`, and with `--turns N` the first N turns of a conversation are answered.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from app.text.prompt_file import parse_request
from decoding.params import Params, SamplingParams
from decoding.training.data import DataSource, Record
from decoding.training.distill import Conversation, distill


def open_turns(record: Record, count: int | None = None) -> Conversation:
    """What of a conversation is to be answered anew: the first `count` user turns, or the last
    one."""
    turns = [m["content"] for m in record.get("messages", []) if m["role"] == "user"]
    if count and turns:
        return [], turns[:count]
    request = parse_request(record, "a prompt", answered=True)
    return list(request.history), list(request.turns)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", required=True)
    parser.add_argument("--prompts", nargs="+", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--max-new-tokens", type=int, default=256)
    parser.add_argument("--temperature", type=float, default=0.0)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--turns", type=int, help="answer the first N user turns of a conversation")
    parser.add_argument("--dtype", default="float32", choices=["float32", "bfloat16"])
    parser.add_argument("--device", default="cpu")
    args = parser.parse_args()
    tokenizer = AutoTokenizer.from_pretrained(args.target)
    dtype = getattr(torch, args.dtype)
    model = AutoModelForCausalLM.from_pretrained(args.target, dtype=dtype).to(args.device).eval()
    sources = map(DataSource.parse, args.prompts)
    records = (record for source in sources for _, record in source.lines(args.seed))
    asked = [open_turns(record, args.turns) for record in records if "text" not in record]
    params = Params(SamplingParams(args.temperature), max_new_tokens=args.max_new_tokens)
    distill(model, tokenizer, asked, args.out, params, args.batch_size, args.seed)


if __name__ == "__main__":
    main()
