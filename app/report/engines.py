"""Configurations of serving engines for a strategy and its settings.

Option names follow the engines' documentation of November 2026, for `Engine.version`.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from app.strategies.registry import DRAFT_MODEL, EAGLE, EAGLE_1, LOOKUP, MEDUSA, SUFFIX
from app.strategies.strategy import Strategy

MAX_NGRAM = 4  # the longest match of prompt lookup, as in decoding.drafters.lookup


@dataclass(frozen=True, slots=True)
class Choice:
    """A strategy with its settings. `gamma` is the longest draft in tokens, `top_k` the branches of
    EAGLE's tree (1: a chain), `nodes` the number that the target verifies in a pass, root included.
    With `other_tokenizer` a draft model's draft is read as text."""

    target: str
    strategy: Strategy
    gamma: int
    top_k: int = 1
    nodes: int = 2
    source: str = ""  # folder or hub id of the drafter
    version: str = ""  # of an EAGLE head: eagle1, eagle3
    other_tokenizer: bool = False

    @property
    def is_eagle(self) -> bool:
        return self.strategy in (EAGLE, EAGLE_1)

    @property
    def is_chain(self) -> bool:
        return not self.is_eagle or self.top_k == 1


@dataclass(frozen=True, slots=True)
class Snippet:
    """Text to paste, and a note on how the engine differs from what was measured."""

    text: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Engine:
    """`configure` returns None for what the engine can't do."""

    name: str
    version: str
    configure: Callable[[Choice], Snippet | None]


def _split_revision(source: str) -> tuple[str, str | None]:
    """A folder, or a hub id and its revision after @."""
    name, _, revision = source.partition("@")
    if not revision or source.startswith((".", "/", "~")) or Path(source).exists():
        return source, None
    return name, revision


def _on_a_line(source: str, option: str) -> str:
    """A model as command-line arguments, with its revision as an option."""
    name, revision = _split_revision(source)
    return shlex.quote(name) + (f" {option} {shlex.quote(revision)}" if revision else "")


def _vllm(choice: Choice) -> Snippet | None:
    config: dict[str, object]
    note = ""
    if choice.strategy is DRAFT_MODEL:
        config = {"method": "draft_model"}
        if choice.other_tokenizer:
            config["use_heterogeneous_vocab"] = True
            note = "drafts only tokens that both vocabularies have, not text: expect less"
    elif choice.is_eagle and choice.is_chain:
        config = {"method": _eagle_method(choice)}
    elif choice.strategy is MEDUSA:
        config = {"method": "medusa"}
        note = "takes each head's first guess only, without a tree: expect less"
    elif choice.strategy is LOOKUP:
        config = {"method": "ngram", "prompt_lookup_max": MAX_NGRAM}
    elif choice.strategy is SUFFIX:
        config = {"method": "suffix"}
        note = "needs the package arctic-inference"
    else:
        return None
    if choice.source:
        config["model"], revision = _split_revision(choice.source)
        if revision:
            config["revision"] = revision
    config["num_speculative_tokens"] = choice.gamma
    served, text = _on_a_line(choice.target, "--revision"), shlex.quote(json.dumps(config))
    return Snippet(f"vllm serve {served} --speculative-config {text}", note)


def _sglang(choice: Choice) -> Snippet | None:
    if choice.other_tokenizer:
        return None
    if choice.strategy is LOOKUP:
        algorithm, note = "NGRAM", "a trie of n-grams, not the same lookup; needs CUDA"
        options = {"num-draft-tokens": choice.gamma + 1}
    elif choice.strategy is DRAFT_MODEL or choice.is_eagle:
        standalone = choice.strategy is DRAFT_MODEL
        algorithm = "STANDALONE" if standalone else _eagle_method(choice).upper()
        note = ""
        options = {
            "num-steps": choice.gamma,
            "eagle-topk": 1 if choice.is_chain else choice.top_k,
            "num-draft-tokens": choice.gamma + 1 if choice.is_chain else choice.nodes,
        }
    else:
        return None
    served = _on_a_line(choice.target, "--revision")
    parts = ["python -m sglang.launch_server", "--model-path", served]
    parts += ["--speculative-algorithm", algorithm]
    if choice.source:
        drafts = _on_a_line(choice.source, "--speculative-draft-model-revision")
        parts += ["--speculative-draft-model-path", drafts]
    parts += [f"--speculative-{name} {value}" for name, value in options.items()]
    return Snippet(" ".join(parts), note)


def _tensorrt_llm(choice: Choice) -> Snippet | None:
    if choice.other_tokenizer:
        return None
    fields: dict[str, object] = {"max_draft_len": choice.gamma}
    note = "in a YAML file for trtllm-serve --config"
    name, revision = _split_revision(choice.source)
    if revision:
        note += f"; it takes no revision of what drafts: download {choice.source}, name the folder"
    if choice.strategy is DRAFT_MODEL:
        fields = {"decoding_type": "DraftTarget", **fields, "speculative_model": name}
    elif choice.is_eagle and choice.version == "eagle3":
        fields = {"decoding_type": "Eagle3", **fields, "speculative_model": name}
        if not choice.is_chain:
            width = choice.top_k
            nodes = min(max(choice.nodes - 1, choice.gamma), width * choice.gamma)
            fields |= {"use_dynamic_tree": True, "dynamic_tree_max_topK": width}
            fields["max_total_draft_tokens"] = nodes
    elif choice.strategy is LOOKUP:
        fields = {"decoding_type": "NGram", **fields, "max_matching_ngram_size": MAX_NGRAM}
    elif choice.strategy is SUFFIX:
        fields = {"decoding_type": "SA", **fields}
        note += "; a suffix automaton, which takes the longest match, not the likeliest"
    else:
        return None
    lines = ["speculative_config:"]
    lines += [f"  {name}: {json.dumps(value)}" for name, value in fields.items()]
    if fields["decoding_type"] in ("DraftTarget", "NGram"):  # drafted outside the model's graph
        lines.append("disable_overlap_scheduler: true")
    return Snippet("\n".join(lines), note)


def _transformers(choice: Choice) -> Snippet | None:
    if choice.strategy is LOOKUP:
        return Snippet(
            f"model.generate(**inputs, prompt_lookup_num_tokens={choice.gamma}, "
            f"max_matching_ngram_size={MAX_NGRAM})"
        )
    if choice.strategy is not DRAFT_MODEL:
        return None
    name, revision = _split_revision(choice.source)
    source = f"{name!r}, {revision=}" if revision else repr(name)
    call, note = "model.generate(**inputs, assistant_model=assistant)", ""
    if choice.other_tokenizer:
        call = (
            "model.generate(\n"
            "    **inputs, assistant_model=assistant, tokenizer=tokenizer,\n"
            f"    assistant_tokenizer=AutoTokenizer.from_pretrained({source}),\n"
            ")"
        )
        note = "takes a second tokenizer only where the vocabularies' sizes differ"
    return Snippet(
        f"assistant = AutoModelForCausalLM.from_pretrained({source})\n"
        "assistant.generation_config.update(\n"
        f"    num_assistant_tokens={choice.gamma}, num_assistant_tokens_schedule='constant',\n"
        "    assistant_confidence_threshold=0.0,\n"
        f")\n{call}",
        note,
    )


def _eagle_method(choice: Choice) -> str:
    return "eagle3" if choice.version == "eagle3" else "eagle"


ENGINES = (
    Engine("vLLM", "0.33", _vllm),
    Engine("SGLang", "0.5.23", _sglang),
    Engine("TensorRT-LLM", "1.4.0rc1, PyTorch backend", _tensorrt_llm),
    Engine("Hugging Face generate", "transformers 5.23", _transformers),
)
