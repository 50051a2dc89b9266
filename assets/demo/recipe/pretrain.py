"""Train a small Llama chat model from scratch on chat JSONL.

    python -m assets.demo.recipe.pretrain --tokenizer DIR --data FILE[:REPEAT[:KEY=VALUE]] ... \
        --heldout FILE ... --out DIR

Running the same command again goes on where a killed run stopped.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import nn
from torch.nn import functional
from transformers import (
    AutoTokenizer,
    GenerationConfig,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerBase,
)

from assets.demo.recipe.documents import DOCUMENTS
from assets.demo.recipe.loop import (
    LoopConfig,
    add_options,
    config_from,
    join_processes,
    own_rows,
    round_to_bfloat16,
    train,
)
from assets.demo.recipe.stream import TokenStream, answer_mask, load_stream, turn_ids
from decoding.checkpoints.medusa import MedusaWeights, read_medusa, write_medusa
from decoding.training.losses import token_loss
from decoding.training.processes import is_first_process
from decoding.training.shapes import pad_rows

OUTPUTS = ("o_proj.weight", "down_proj.weight")  # what a layer adds to the residual stream


def build_model(
    tokenizer: PreTrainedTokenizerBase,
    hidden: int = 256,
    layers: int = 16,
    mlp: int = 1408,
    heads: int = 4,
    kv_heads: int = 2,
    context: int = 1024,
    seed: int = 0,
) -> LlamaForCausalLM:
    """A deep, narrow Llama with tied embeddings; residual outputs start small, as in GPT-2."""
    torch.manual_seed(seed)
    _, end = turn_ids(tokenizer)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=hidden,
        num_hidden_layers=layers,
        intermediate_size=mlp,
        num_attention_heads=heads,
        num_key_value_heads=kv_heads,
        head_dim=hidden // heads,
        max_position_embeddings=context,
        tie_word_embeddings=True,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=[end, int(str(tokenizer.eos_token_id))],
        pad_token_id=tokenizer.pad_token_id,
    )
    model = LlamaForCausalLM(config)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith(OUTPUTS):
                parameter.mul_((2 * layers) ** -0.5)
    return model


def grow(shallow: Path, out: Path, layers: int) -> None:
    """Begin the run in `out` where the one in `shallow` stands, with more layers: each is followed
    by copies of itself whose outputs are zero, so that the model says the same as before and learns
    on (LLaMA Pro, Wu et al. 2024, 2401.02415). A deep model costs less that way than from scratch.
    The optimizers start anew.

    Raises ValueError if `layers` is no multiple of what the shallow model has.
    """
    state = torch.load(shallow / "checkpoint.pt", map_location="cpu", weights_only=True)
    numbers = (name.split(".")[2] for name in state["model"] if name.startswith("model.layers."))
    there = 1 + max(int(number) for number in numbers)
    if layers % there:
        raise ValueError(f"{layers} layers cannot be made of {there}")
    copies = layers // there
    weights = {}
    for name, value in state["model"].items():
        _, found, after = name.partition("model.layers.")
        if not found:  # Medusa heads, that have layers too, stay as they are
            weights[name] = value
            continue
        number, _, rest = after.partition(".")
        for copy in range(copies):
            new = copy > 0 and rest.endswith(OUTPUTS)
            place = int(number) * copies + copy
            weights[f"model.layers.{place}.{rest}"] = torch.zeros_like(value) if new else value
    out.mkdir(parents=True, exist_ok=True)
    state = {"step": state["step"], "model": weights, "optimizers": None}
    torch.save(state, out / "checkpoint.pt")


def widened(narrow: Mapping[str, torch.Tensor], wide: LlamaForCausalLM) -> dict[str, torch.Tensor]:
    """The weights of a narrow Llama within those of `wide`, which then says the same and learns on
    with the rest (Net2Net, Chen et al. 2016, 1511.05641): what reads the new dimensions, neurons
    and heads begins as in `wide`, what writes to them is zero. More key-value heads are copies of
    the one there is.

    Raises ValueError if the narrow model has several key-value heads and the wide one more, or if
    it is larger anywhere.
    """
    fresh, weights = wide.state_dict(), {}
    hidden = narrow["model.embed_tokens.weight"].shape[1]
    head_size = wide.config.hidden_size // wide.config.num_attention_heads
    # The mean of squares in a norm is over more numbers, and the new ones are 0 at first.
    norm_scale = math.sqrt(hidden / wide.config.hidden_size)
    for name, value in narrow.items():
        value, new = value.float(), fresh[name].clone()
        if any(old > size for old, size in zip(value.shape, new.shape, strict=True)):
            raise ValueError(f"{name} {list(value.shape)} does not fit into {list(new.shape)}")
        if value.ndim == 1:
            new[:] = value.mean()
            new[: len(value)] = value
            weights[name] = new * norm_scale
            continue
        if name.endswith(("k_proj.weight", "v_proj.weight")) and len(value) < len(new):
            if len(value) > head_size:
                raise ValueError("only a single key-value head can be copied to more of them")
            value = value.repeat(len(new) // len(value), 1)
        if name.endswith((*OUTPUTS, "embed_tokens.weight", "lm_head.weight")):
            new.zero_()
        new[: value.shape[0], : value.shape[1]] = value
        weights[name] = new
    return weights


def start_from(folder: Path, medusa: Path | None, out: Path, model: LlamaForCausalLM) -> None:
    """Begin the run in `out` with the weights of a finished model's folder, such as the shipped
    target's, and those of Medusa heads of it; the optimizers start anew. `model` is what the run
    trains; if it is wider than the one in the folder, that one is widened."""
    narrow = load_file(folder / "model.safetensors")
    embedding = narrow["model.embed_tokens.weight"]
    narrow["lm_head.weight"] = embedding  # they are tied
    weights = widened(narrow, model)
    if medusa is not None:
        heads = read_medusa(medusa, embedding.shape[1], embedding.shape[0])
        matrices, biases = heads.weights.flatten(0, 1), heads.biases.flatten(0, 1)
        more = model.config.hidden_size - matrices.shape[-1]
        matrices = functional.pad(matrices, (0, more, 0, more))
        biases = functional.pad(biases, (0, more))
        for number, (matrix, bias) in enumerate(zip(matrices, biases, strict=True)):
            weights[f"medusa.layers.{number}.weight"] = matrix
            weights[f"medusa.layers.{number}.bias"] = bias
    out.mkdir(parents=True, exist_ok=True)
    floats = {name: tensor.float() for name, tensor in weights.items()}
    torch.save({"step": 0, "model": floats, "optimizers": None}, out / "checkpoint.pt")


class MedusaLayers(nn.Module):
    """Medusa heads that learn with the target (Medusa-2, Cai et al. 2024, 2401.10774), so that its
    last states say more of the tokens after the next one. They share its lm_head."""

    def __init__(self, heads: int, layers: int, hidden: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(hidden, hidden) for _ in range(heads * layers))
        self.heads = heads
        for parameter in self.parameters():
            nn.init.zeros_(parameter)

    def loss(
        self, model: LlamaForCausalLM, hidden: torch.Tensor, ids: torch.Tensor, answer: torch.Tensor
    ) -> torch.Tensor:
        """Cross entropies of the heads, the k-th weighted by 0.8^k; `hidden` [rows, n, H], `ids`
        and `answer` (which ids are an answer's) [rows, n]."""
        losses = []
        each = len(self.layers) // self.heads
        for k in range(self.heads):
            asked = answer[:, k + 2 :]
            x = pad_rows(hidden[:, : asked.shape[1]][asked])
            for layer in self.layers[k * each : (k + 1) * each]:
                x = x + functional.silu(layer(x))
            wanted = ids[:, k + 2 :][asked]
            losses.append(0.8**k * mean_loss(model.lm_head(x), wanted, torch.ones_like(wanted)))
        return torch.stack(losses).sum()

    def weights(self) -> MedusaWeights:
        each = len(self.layers) // self.heads
        linears = [layer for layer in self.layers if isinstance(layer, nn.Linear)]
        matrices = torch.stack([linear.weight for linear in linears]).detach()
        biases = torch.stack([linear.bias for linear in linears]).detach()
        return MedusaWeights(
            "v2", matrices.unflatten(0, (-1, each)), biases.unflatten(0, (-1, each)), None
        )


def block_size(step: int, steps: int, stages: Sequence[tuple[int, float]]) -> int:
    """The row length of a step; `stages` are (length, share of the steps), in order."""
    end = 0.0
    for length, share in stages:
        end += share * steps
        if step < end:
            return length
    return stages[-1][0]


def heldout_loss(model: LlamaForCausalLM, stream: TokenStream, columns: int = 512) -> float:
    """Mean loss per token (nats) over the whole held-out text, in rows of `columns`."""
    model.train(False)
    total = tokens = 0.0
    with torch.no_grad():
        for ids, positions in stream.blocks(8, columns):
            ids, positions = ids.to(model.device), positions.to(model.device)
            logits = model(input_ids=ids, position_ids=positions, use_cache=False).logits
            asked = positions[:, 1:] > 0
            wanted = ids[:, 1:][asked]
            total += float(functional.cross_entropy(logits[:, :-1][asked], wanted, reduction="sum"))
            tokens += len(wanted)
    return total / tokens


def mean_loss(logits: torch.Tensor, ids: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """The weighted mean of the cross entropies of `ids` [n] by `logits` [n or more, V]."""
    which = torch.arange(len(ids), device=ids.device)
    return token_loss("ce", logits, ids, which, weights / weights.sum().clamp_min(1))


def save(model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerBase, out: Path) -> None:
    """Write an ordinary bfloat16 checkpoint folder; the model itself stays as it is."""
    weights = {name: value.detach().bfloat16() for name, value in model.state_dict().items()}
    if model.config.tie_word_embeddings:
        weights.pop("lm_head.weight", None)
    config = LlamaConfig.from_dict({**model.config.to_dict(), "dtype": "bfloat16"})
    copy = LlamaForCausalLM(config).bfloat16()
    copy.load_state_dict(weights, strict=False)
    copy.generation_config = GenerationConfig(
        bos_token_id=config.bos_token_id,
        eos_token_id=config.eos_token_id,
        pad_token_id=config.pad_token_id,
    )
    copy.save_pretrained(out)
    tokenizer.save_pretrained(out)


def pretrain(
    model: LlamaForCausalLM,
    tokenizer: PreTrainedTokenizerBase,
    stream: TokenStream,
    heldout: TokenStream | None,
    config: LoopConfig,
    out: Path,
    tokens_per_step: int = 4096,
    stages: Sequence[tuple[int, float]] = ((512, 1.0),),
    stop_at: int | None = None,
    prompt_weight: float = 1.0,
    medusa: MedusaLayers | None = None,
    medusa_weight: float = 0.1,
) -> dict[str, float]:
    """Train on the stream; saves the bfloat16 folder in `out/model`. Tokens outside of answers
    count `prompt_weight` as much as those of answers: what people type is worth reading, but not
    worth imitating."""
    assistant, end = turn_ids(tokenizer)

    def loss_of(step: int) -> torch.Tensor:
        columns = block_size(step, config.steps, stages)
        block = stream.block(step, tokens_per_step // columns, columns)
        ids, positions = (own_rows(part).to(model.device) for part in block)
        hidden = model.model(
            input_ids=ids, position_ids=positions, use_cache=False
        ).last_hidden_state
        answer = answer_mask(ids, assistant, end)
        weights = torch.where(answer[:, 1:], 1.0, prompt_weight) * (positions[:, 1:] > 0)
        logits = model.lm_head(hidden[:, :-1])
        loss = mean_loss(logits.flatten(0, 1), ids[:, 1:].flatten(), weights.flatten())
        if medusa is None:
            return loss
        few = slice(step % 4, None, 4)  # of the rows: that is enough, and costs less
        return loss + medusa_weight * medusa.loss(model, hidden[few], ids[few], answer[few])

    def evaluate() -> dict[str, float]:
        if heldout is None:
            return {}
        loss = heldout_loss(model, heldout)
        save(model, tokenizer, out / "model")
        return {"heldout_loss": loss, "heldout_perplexity": math.exp(loss)}

    train(model, loss_of, config, out, evaluate, stop_at)
    if not is_first_process():
        return {}
    round_to_bfloat16(model)
    result = evaluate()
    save(model, tokenizer, out / "model")
    if medusa is not None:
        write_medusa(medusa.weights(), out / "medusa", "v2", target="the demo target")
    return result


def parse_stages(text: str) -> list[tuple[int, float]]:
    """`256:0.5,512:0.5` -> [(256, 0.5), (512, 0.5)]."""
    pairs = (item.partition(":") for item in text.split(","))
    return [(int(length), float(share)) for length, _, share in pairs]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--data", nargs="+", required=True, metavar="FILE[:REPEAT[:KEY=VALUE]]")
    parser.add_argument("--heldout", nargs="*", default=[], metavar="FILE")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--hidden", type=int, default=256)
    parser.add_argument("--layers", type=int, default=16)
    parser.add_argument(
        "--grow-from", type=Path, metavar="DIR", help="the --out of a run with fewer --layers"
    )
    parser.add_argument(
        "--start-from",
        type=Path,
        metavar="MODEL",
        help="a finished model's folder to go on from, widened if the sizes here are larger",
    )
    parser.add_argument(
        "--start-medusa", type=Path, metavar="HEADS", help="its Medusa heads, with --medusa-heads"
    )
    parser.add_argument("--mlp", type=int, default=1408)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--kv-heads", type=int, default=2)
    parser.add_argument("--context", type=int, default=1024)
    parser.add_argument("--tokens-per-step", type=int, default=4096)
    parser.add_argument("--stages", type=parse_stages, default=[(512, 1.0)])
    parser.add_argument(
        "--medusa-heads", type=int, default=0, help="so many learn with the target, in OUT/medusa"
    )
    parser.add_argument("--prompt-weight", type=float, default=0.3)
    parser.add_argument("--system-rate", type=float, default=0.05)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--stop-at", type=int, metavar="STEP", help="end early, before the decay")
    parser.add_argument(
        "--compile", action="store_true", help="compile each layer (needs a C++ compiler)"
    )
    add_options(parser)
    args = parser.parse_args()
    tokenizer = AutoTokenizer.from_pretrained(args.tokenizer)
    model = build_model(
        tokenizer,
        args.hidden,
        args.layers,
        args.mlp,
        args.heads,
        args.kv_heads,
        args.context,
        args.seed,
    )
    if is_first_process() and not (args.out / "checkpoint.pt").exists():
        if args.grow_from:
            grow(args.grow_from, args.out, args.layers)
        elif args.start_from:
            start_from(args.start_from, args.start_medusa, args.out, model)
    join_processes()  # waits for the first, so that all of them find where it begins
    stream = load_stream(args.data, tokenizer, args.system_rate, args.seed, cache=args.out.parent)
    heldout = load_stream(args.heldout, tokenizer) if args.heldout else None
    model.to(args.device)
    print(
        f"{model.num_parameters() / 1e6:.1f}M parameters, {stream.tokens} tokens an epoch",
        flush=True,
    )
    if args.device == "cpu":
        model.set_attn_implementation(DOCUMENTS)
    if args.compile:
        for layer in model.model.layers:
            layer.compile(dynamic=False)
    medusa = None
    if args.medusa_heads:
        medusa = MedusaLayers(args.medusa_heads, 2, args.hidden).to(args.device)
        model.medusa = medusa  # so that it is trained and kept with the rest
    config = config_from(args)
    print(pretrain(
        model, tokenizer, stream, heldout, config, args.out, args.tokens_per_step, args.stages,
        args.stop_at, args.prompt_weight, medusa,
    ))  # fmt: skip


if __name__ == "__main__":
    main()
