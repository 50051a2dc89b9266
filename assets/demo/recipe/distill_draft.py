"""Distil a draft model of a few layers from a target's logits.

    python -m assets.demo.recipe.distill_draft --target DIR --data FILE[:REPEAT[:KEY=VALUE]] ... \
        --out DIR [--layers N --mlp N --answers HELD_OUT_ANSWERS.jsonl]

Data should be mostly the target's own answers (see distill.py). The loss at each position is the
forward KL divergence from the target plus `--argmax` times the cross entropy on the target's first
choice (what greedy speculation checks); positions outside answers count `--other` times as much.
Running the same command again goes on where a killed run stopped.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import torch
from torch.nn import functional
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    LlamaForCausalLM,
    PreTrainedTokenizerBase,
)

from assets.demo.recipe.agreement import agreement
from assets.demo.recipe.loop import LoopConfig, add_options, config_from, round_to_bfloat16, train
from assets.demo.recipe.pretrain import build_model, save
from assets.demo.recipe.stream import TokenStream, answer_mask, load_stream, turn_ids
from decoding.training.data import Record, read_jsonl


def build_draft(
    target: LlamaForCausalLM,
    tokenizer: PreTrainedTokenizerBase,
    layers: int,
    mlp: int,
    seed: int = 0,
) -> LlamaForCausalLM:
    """A shallow model of the target's width, with the target's embedding and final norm."""
    shape = target.config
    draft = build_model(
        tokenizer, shape.hidden_size, layers, mlp, shape.num_attention_heads,
        shape.num_key_value_heads or shape.num_attention_heads, shape.max_position_embeddings, seed,
    )  # fmt: skip
    draft.model.embed_tokens.load_state_dict(target.model.embed_tokens.state_dict())
    draft.model.norm.load_state_dict(target.model.norm.state_dict())
    return draft


def distillation_loss(
    student: torch.Tensor, teacher: torch.Tensor, weights: torch.Tensor, argmax: float
) -> torch.Tensor:
    """Mean of KL(teacher || student) + argmax * CE(student, argmax teacher).

    Logits are (positions, vocabulary), weights (positions,).
    """
    log_q, log_p = (
        functional.log_softmax(student.float(), -1),
        functional.log_softmax(teacher.float(), -1),
    )
    divergence = (log_p.exp() * (log_p - log_q)).sum(-1)
    first_choice = functional.nll_loss(log_q, teacher.argmax(-1), reduction="none")
    return ((divergence + argmax * first_choice) * weights).sum() / weights.sum().clamp(min=1)


def distill_draft(
    target: LlamaForCausalLM,
    draft: LlamaForCausalLM,
    tokenizer: PreTrainedTokenizerBase,
    stream: TokenStream,
    config: LoopConfig,
    out: Path,
    held_out: Sequence[Record] = (),
    rows: int = 16,
    columns: int = 384,
    argmax: float = 0.5,
    other: float = 0.2,
    compiled: bool = False,
    stop_at: int | None = None,
) -> dict[str, float]:
    """Train the draft against the frozen target; saves the bfloat16 folder in `out/model`."""
    assistant, end = turn_ids(tokenizer)
    target.requires_grad_(False).train(False)
    loss_function = torch.compile(distillation_loss) if compiled else distillation_loss

    def loss_of(step: int) -> torch.Tensor:
        ids = stream.block(step, rows, columns).to(draft.device)
        # The last position's next token is unknown here; it counts as outside an answer.
        inside = answer_mask(ids, assistant, end).roll(-1, dims=1)
        inside[:, -1] = False
        weights = torch.where(inside, 1.0, other).view(-1)
        with torch.no_grad():
            teacher = target(input_ids=ids, use_cache=False).logits.flatten(0, 1)
        student = draft(input_ids=ids, use_cache=False).logits.flatten(0, 1)
        return loss_function(student, teacher, weights, argmax)

    def evaluate() -> dict[str, float]:
        save(draft, tokenizer, out / "model")
        return agreement(target, draft, tokenizer, held_out) if held_out else {}

    train(draft, loss_of, config, out, evaluate, stop_at)
    round_to_bfloat16(draft)
    return evaluate()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", required=True)
    parser.add_argument("--data", nargs="+", required=True, metavar="FILE[:REPEAT[:KEY=VALUE]]")
    parser.add_argument(
        "--answers", type=Path, help="the target's greedy answers to held-out prompts"
    )
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--mlp", type=int, default=704)
    parser.add_argument("--rows", type=int, default=16)
    parser.add_argument("--columns", type=int, default=384)
    parser.add_argument("--argmax", type=float, default=0.5)
    parser.add_argument("--other", type=float, default=0.2)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--compile", action="store_true", help="needs a C++ compiler")
    add_options(parser)
    args = parser.parse_args()
    tokenizer = AutoTokenizer.from_pretrained(args.target)
    target = AutoModelForCausalLM.from_pretrained(args.target, dtype=torch.float32).to(args.device)
    draft = build_draft(target, tokenizer, args.layers, args.mlp, args.seed).to(args.device)
    if args.compile:
        for layer in [*target.model.layers, *draft.model.layers]:
            layer.compile(dynamic=False)
    stream = load_stream(args.data, tokenizer, seed=args.seed)
    print(
        f"{draft.num_parameters() / 1e6:.1f}M parameters, {stream.tokens} tokens an epoch",
        flush=True,
    )
    held_out = list(read_jsonl(args.answers)) if args.answers else []
    print(distill_draft(
        target, draft, tokenizer, stream, config_from(args), args.out, held_out,
        args.rows, args.columns, args.argmax, args.other, args.compile,
    ))  # fmt: skip


if __name__ == "__main__":
    main()
