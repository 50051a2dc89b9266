"""`specchat heads export`: heads in the form that another program reads, with its launch line, a
card and checksums."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import torch
from torch import nn
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from app.cli.heads.checksums import CHECKSUMS, write_checksums
from app.cli.heads.eval_settings import EAGLE_NODES, GAMMA, SERVED_TREE
from app.cli.heads.target import load, shape_of, stored_precision, target_shape
from app.cli.heads.verify import require_reader, verify
from app.cli.terminal import print_output, say
from app.report.engines import (
    SGLANG,
    TENSORRT_LLM,
    TENSORRT_MEDUSA,
    VLLM,
    VLLM_MEDUSA,
    Engine,
    ServingConfig,
)
from app.strategies.registry import EAGLE, EAGLE_1, MEDUSA
from app.text.plural import pluralize
from app.text.units import format_bytes
from decoding.checkpoints.dialects import EagleDialect, MedusaDialect
from decoding.checkpoints.eagle import EagleWeights, lost_in, write_eagle
from decoding.checkpoints.eagle_fit import TargetShape, sglang_reads_layers
from decoding.checkpoints.eagle_read import read_eagle
from decoding.checkpoints.files import read_config
from decoding.checkpoints.kind import drafter_kind
from decoding.checkpoints.medusa import MedusaWeights, read_medusa, write_medusa, write_merged
from decoding.checkpoints.quantized import precision_of
from decoding.errors import InputError
from decoding.training.eagle_convert import without_fc_bias
from decoding.training.medusa_attach import copies_of_lm_head
from decoding.trees.static import truncate_paths

D = TypeVar("D")


@dataclass(frozen=True, slots=True)
class Format:
    """The dialect in which a program reads each kind of heads, None if it can't. `engine` serves
    them, None if the program serves nothing; `medusa_engine` Medusa, where that is another one."""

    medusa: MedusaDialect | None = None
    eagle1: EagleDialect | None = None
    eagle3: EagleDialect | None = None
    engine: Engine | None = None
    medusa_engine: Engine | None = None


FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        "medusa": Format(medusa="v0.1"),
        "tgi": Format(medusa="v2"),  # or v0.1 in safetensors
        "eagle": Format(eagle1="eagle1", eagle3="eagle3"),
        "sglang": Format(eagle1="eagle1", eagle3="eagle3", engine=SGLANG),
        "vllm": Format(
            medusa="vllm", eagle1="eagle1", eagle3="eagle3", engine=VLLM, medusa_engine=VLLM_MEDUSA
        ),
        "speculators": Format(eagle3="speculators", engine=VLLM),
        "modelopt": Format(medusa="modelopt", eagle3="modelopt"),
        "tensorrt-llm": Format(
            medusa="v0.1", eagle3="eagle3", engine=TENSORRT_LLM, medusa_engine=TENSORRT_MEDUSA
        ),
    }
)


def export(
    target: str,
    heads: Path,
    to: str,
    out: Path,
    *,
    gamma: int | None,
    dtype: str | None,
    python: Path | None,
) -> None:
    """Write the heads for `to`, read them back, also by the other package that `python` has if
    given, and print how to serve them. Raises InputError where the program can't read such
    heads."""
    kind = drafter_kind(heads)
    if kind == "draft" and precision_of(read_config(heads)):
        raise InputError(
            f"{heads} was made by heads quantize, and is read by specchat alone: engines read the "
            "draft model that it was made from as it is"
        )
    if kind == "draft":
        raise InputError(f"{heads} is a draft model, which every engine reads as it is")
    if gamma is not None and not FORMATS[to].engine:
        raise InputError(f"--gamma is for the launch command, and {to} has none: leave it out")
    model, tokenizer = load(target, "cpu")
    precision = None if dtype is None else getattr(torch, dtype)
    whole = kind == "medusa" and FORMATS[to].medusa == "modelopt"  # the target is written too
    # An engine may multiply the target's states by them.
    if precision is None and (whole or FORMATS[to].engine):
        precision = stored_precision(target)
    job = _ExportJob(model, tokenizer, target, to, out, precision, python)
    engine = FORMATS[to].engine
    if kind == "medusa":
        weights = read_medusa(heads, *shape_of(model))
        if gamma and gamma > weights.heads:
            raise InputError(f"--gamma {gamma}: {heads} has {weights.heads} heads, a token each")
        engine = FORMATS[to].medusa_engine or engine
        longest = gamma or weights.heads
        serving = ServingConfig(
            target,
            MEDUSA,
            longest,
            source=str(out),
            tree=truncate_paths(weights.choices or SERVED_TREE, longest, shape_of(model)[1]),
            layers=weights.layers,
            model_type=model.config.model_type,
            dtype=str(precision).removeprefix("torch."),
        )
        dialect = _write_medusa(weights, job)
        what = pluralize(weights.heads, "Medusa head")
    else:
        head = read_eagle(heads, target_shape(model))
        version = head.config.version
        strategy = EAGLE_1 if version == "eagle1" else EAGLE
        settings = head.config.settings
        serving = ServingConfig(
            target,
            strategy,
            gamma or settings.gamma or GAMMA["eagle"],  # as it is measured where none says
            settings.top_k or 1,
            settings.total or EAGLE_NODES,
            str(out),
            version,
            head.config.aux_layers,
        )
        dialect = _write_eagle(head, job)
        what = "an EAGLE-1 head" if version == "eagle1" else "an EAGLE-3 head"
    launch = _launch(engine, serving) if engine else ""
    _write_card(out, what, target, to, dialect, launch, whole)
    write_checksums(out)
    size = format_bytes(sum(file.stat().st_size for file in out.iterdir()))
    form = dialect if precision is None else f"{dialect}, {str(precision).removeprefix('torch.')}"
    say(f"{what} for {target} in {out} ({form}, {size}), read back without a difference")
    if to == "medusa" and (weights.heads, weights.layers) != (5, 1):
        say("note: the authors' own code loads 5 heads of one layer, whatever the config says")
    if python is not None:
        say(verify(python, dialect, out, model, target))
    if launch:
        print_output(launch)
    elif engine:
        say(f"no launch command: {engine.name} {engine.version} has none for this target")


@dataclass(frozen=True, slots=True, eq=False)
class _ExportJob:
    """Write heads for `model`, which is called `target`, to `out` in the form that `to` reads, with
    weights in `precision` (None: unchanged)."""

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    target: str
    to: str
    out: Path
    precision: torch.dtype | None
    python: Path | None


def _write_medusa(weights: MedusaWeights, job: _ExportJob) -> str:
    out, precision = job.out, job.precision
    dialect: MedusaDialect = _dialect(job, "medusa", FORMATS[job.to].medusa)
    # TGI shares the target's lm_head among heads of one layer only.
    if job.to == "tgi" and (weights.layers != 1 or weights.lm_heads is not None):
        dialect = "v0.1"
    if dialect != "v2" and weights.lm_heads is None:
        # Only v2 can share the target's lm_head: in other dialects each head has a copy.
        kept = precision or stored_precision(job.target)
        copies = copies_of_lm_head(job.model, weights.heads, kept)
        weights = replace(weights, lm_heads=copies)
    if precision is not None:
        lm_heads = weights.lm_heads
        weights = replace(
            weights,
            weights=weights.weights.to(precision),
            biases=weights.biases.to(precision),
            lm_heads=None if lm_heads is None else lm_heads.to(precision),
        )
    if dialect == "modelopt":
        assert precision is not None
        nn.Module.to(job.model, precision)
        write_merged(weights, out, job.model, job.tokenizer, dialect)
    else:
        write_medusa(weights, out, dialect, job.target, pickled=job.to != "tgi")
    again = read_medusa(out, *shape_of(job.model))
    for name in ("weights", "biases", "lm_heads", "token_map"):
        _require_equal(out, name, getattr(weights, name), getattr(again, name))
    return dialect


def _write_eagle(head: EagleWeights, job: _ExportJob) -> str:
    version, out = head.config.version, job.out
    form = FORMATS[job.to]
    as_read = form.eagle1 if version == "eagle1" else form.eagle3
    dialect: EagleDialect = _dialect(job, version, as_read)
    if job.to == "vllm" and dialect == "eagle3" and lost_in(head.config, dialect):
        dialect = "speculators"
    if job.to == "vllm" and head.config.fc_bias:
        head = _without_fc_bias(head)
    if job.to == "sglang" and version == "eagle1" and not head.config.fc_bias:
        head = _with_fc_bias(head)
    _require_readable(head, job)
    if dialect == "speculators" and "embed_tokens.weight" not in head.tensors:
        # Its reader expects the embedding, which the other forms take from the target.
        module: Any = job.model.get_input_embeddings()
        embedding = module.weight.detach()
        smaller = embedding.to(head.tensors["self_attn.o_proj.weight"].dtype)
        if torch.equal(smaller.to(embedding.dtype), embedding):  # it was loaded in a larger one
            embedding = smaller
        head = replace(head, tensors=head.tensors | {"embed_tokens.weight": embedding})
    if job.precision is not None:
        tensors = {
            name: tensor.to(job.precision) if tensor.is_floating_point() else tensor
            for name, tensor in head.tensors.items()
        }
        head = replace(head, tensors=tensors)
    named = None
    if job.to == "sglang" and version == "eagle1":  # of its classes one has biases in attention
        named = f"{'Qwen2' if head.config.qkv_bias else 'Llama'}ForCausalLMEagle"
    write_eagle(head, out, dialect, job.target, named)
    again = read_eagle(out, target_shape(job.model))
    for name in head.tensors.keys() | again.tensors.keys():
        _require_equal(out, name, head.tensors.get(name), again.tensors.get(name))
    if again.config != head.config:
        raise InputError(f"{dialect} can't say all that is in the config of these heads")
    return dialect


def _require_readable(head: EagleWeights, job: _ExportJob) -> None:
    """Raise InputError for a head that the program would refuse or misread."""
    engine, model_type = FORMATS[job.to].engine, job.model.config.model_type
    if engine in (SGLANG, TENSORRT_LLM) and 0 in head.config.aux_layers:
        raise InputError(
            f"{engine.name} reads outputs of layers, and this head the embedding too "
            "(layer 0): it can't be served there"
        )
    one_layer = engine in (SGLANG, TENSORRT_LLM) and len(head.config.aux_layers) == 1
    if engine is not None and (one_layer or "fc.weight" not in head.tensors):
        raise InputError(
            f"{engine.name} fuses several layers (fc), and this head reads one: it "
            "can't be served there"
        )
    if job.to == "eagle":
        require_as_authors(head, target_shape(job.model))
    if engine in (SGLANG, TENSORRT_LLM):
        _require_embedding_of(job.model, head, engine.name)
    if engine is SGLANG and not sglang_reads_layers(head.config, model_type):
        raise InputError(
            f"for a {model_type} SGLang takes these layers for the ones before, "
            "as the first is not layer 2: this head would draft worse there"
        )


def require_as_authors(head: EagleWeights, target: TargetShape) -> None:
    """Raise InputError for a head that the authors' code would misread: it takes some of the config
    for granted."""
    c, layers = head.config, target.layers
    read = (2, layers // 2, layers - 3)
    if c.version == "eagle3" and c.aux_layers != read:
        what = f"reads layers {', '.join(map(str, read))} of this target"
        own = f"layers {', '.join(map(str, c.aux_layers))}"
    elif c.head_dim * c.heads != c.hidden:
        what, own = "computes the head size from the hidden size", f"one of {c.head_dim}"
    elif c.rope["rope_type"] != "default":
        what, own = "has other names for RoPE scaling", str(c.rope["rope_type"])
    else:
        return
    raise InputError(
        f"the authors' code always {what}, and this head has {own}: choose another --to"
    )


def _require_embedding_of(model: PreTrainedModel, head: EagleWeights, engine: str) -> None:
    """Raise InputError for a head with an embedding of its own, in whose place the engine takes the
    target's if it is as wide."""
    own = head.tensors.get("embed_tokens.weight")
    if own is None or head.config.hidden != head.config.target_hidden:
        return
    module: Any = model.get_input_embeddings()
    theirs = module.weight.detach()[: len(own)]
    own = own.to(theirs.dtype)[: len(theirs)]
    if not torch.allclose(own, theirs, rtol=1e-2, atol=1e-2 * float(theirs.abs().max())):
        raise InputError(
            f"{engine} embeds by the target, and this head has an embedding of its own: it would "
            "draft worse there"
        )


def _without_fc_bias(head: EagleWeights) -> EagleWeights:
    """The head for vLLM, whose EAGLE-1 skips this bias when it loads. Raises InputError if it
    matters."""
    if head.tensors["fc.bias"].any():
        raise InputError(
            "vLLM's EAGLE-1 has no bias in fc, and this head has one: it would draft worse there; "
            "serve it with SGLang, or train one made by convert eagle1 --no-fc-bias"
        )
    return without_fc_bias(head)


def _with_fc_bias(head: EagleWeights) -> EagleWeights:
    """The head for SGLang, whose EAGLE-1 always has this bias: one of zeros."""
    weight = head.tensors["fc.weight"]
    tensors = head.tensors | {"fc.bias": weight.new_zeros(len(weight))}
    return replace(head, config=replace(head.config, fc_bias=True), tensors=tensors)


def _dialect(job: _ExportJob, kind: str, dialect: D | None) -> D:
    if dialect is None:
        able = [name for name, form in FORMATS.items() if getattr(form, kind)]
        raise InputError(f"--to {job.to} has no form for {kind} heads: choose {', '.join(able)}")
    if job.python is not None and kind == "medusa" and dialect == "modelopt":
        raise InputError("--verify: nvidia-modelopt compares such heads as --to medusa writes them")
    if job.python is not None:
        require_reader(job.python, str(dialect))
    return dialect


def _require_equal(
    out: Path, name: str, written: torch.Tensor | None, read: torch.Tensor | None
) -> None:
    same = read is written if written is None or read is None else torch.equal(written, read)
    if not same:
        raise InputError(f"{out}: {name} reads back otherwise than it was written")


def _launch(engine: Engine, serving: ServingConfig) -> str:
    """The command that serves the heads; empty if the engine has none for them."""
    # a chain where it has no trees
    snippet = engine.configure(serving) or engine.configure(replace(serving, top_k=1))
    if snippet is None:
        return ""
    note = f" ({snippet.note})" if snippet.note else ""
    return f"# {engine.name} {engine.version}{note}\n{snippet.text}"


def _write_card(
    out: Path, what: str, target: str, to: str, dialect: str, launch: str, whole: bool
) -> None:
    if whole:
        use = f"This is `{target}` itself, with heads that draft for it in speculative decoding."
    else:
        use = f"They draft for `{target}` in speculative decoding, and for no other model."
    lines = [
        f"# {what[0].upper()}{what[1:]} for {target}",
        "",
        use,
        f"Written by specchat for {to} (dialect {dialect}); `{CHECKSUMS}` lists the checksums.",
        "The heads are under the licences of that model and of the texts they learned from.",
    ]
    if launch:
        lines += ["", "```", launch, "```"]
    (out / "README.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
