"""Configurations of serving engines for a strategy and its settings.

Option names follow the engines' documentation of November 2026, for `Engine.version`.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.strategies.registry import DRAFT_MODEL, EAGLE, LOOKUP, MEDUSA, SUFFIX
from app.strategies.strategy import Strategy
from app.text.repo_name import Repo, parse_repo
from decoding.trees.static import Choices

MAX_NGRAM = 4  # the longest match of prompt lookup, as in decoding.drafters.lookup

# What each engine calls our strategies; heads of EAGLE mostly go by their version.
_VLLM: Mapping[Strategy, Mapping[str, Any]] = {
    DRAFT_MODEL: {"method": "draft_model"},
    # without a minimum it matches nothing shorter than the longest
    LOOKUP: {"method": "ngram", "prompt_lookup_min": 1, "prompt_lookup_max": MAX_NGRAM},
    SUFFIX: {"method": "suffix"},
}
_VLLM_NOTES = {SUFFIX: "needs the package arctic-inference"}
_SGLANG = {DRAFT_MODEL: "standalone", LOOKUP: "ngram"}
_TENSORRT_LLM: Mapping[Strategy, Mapping[str, Any]] = {
    DRAFT_MODEL: {"decoding_type": "Draft_Target"},
    EAGLE: {"decoding_type": "Eagle3"},
    LOOKUP: {
        "decoding_type": "NGram",
        "max_matching_ngram_size": MAX_NGRAM,
        "is_use_oldest": False,  # of the matches: ours takes the newest
    },
    SUFFIX: {"decoding_type": "SA"},
}
_TENSORRT_LLM_NOTES = {
    SUFFIX: "; a suffix automaton, which takes the longest match, not the likeliest"
}
_MEDUSA_TARGETS = ("llama", "mixtral", "qwen2")  # that TensorRT-LLM converts
_DRAFTED_OUTSIDE = ("Draft_Target", "NGram")  # of the model's graph


@dataclass(frozen=True, slots=True)
class ServingConfig:
    """What a serving engine is configured with: models, a strategy and its settings. `gamma` is the
    longest draft in tokens, `top_k` the branches of EAGLE's tree (1: a chain), `nodes` the number
    that the target verifies in a pass, root included. With `other_tokenizer` a draft model's draft
    is read as text. `changed`: what loading made of the models, such as a merged adapter, which
    engines do not know of. The fields after it are as in the options of loading; the names of GGUF
    files are "" for models that are none. Of Medusa: `tree`, the paths that it drafts, and `layers`
    of each head; and of its target `model_type` and `dtype`, as in config.json."""

    target: str
    strategy: Strategy
    gamma: int
    top_k: int = 1
    nodes: int = 2
    source: str = ""  # folder or hub id of the drafter
    version: str = ""  # of an EAGLE head: eagle1, eagle3
    aux_layers: tuple[int, ...] = ()  # of EAGLE-3: the target's layers whose inputs it reads
    other_tokenizer: bool = False
    changed: str = ""
    target_gguf: str = ""
    gguf: str = ""  # of the drafter
    quantize: str = "none"
    quantize_draft: str = "none"
    kv_cache: str = "none"
    chat_template: str | None = None  # a file
    trust_remote_code: bool = False
    tree: Choices = ()
    layers: int = 1
    model_type: str = ""
    dtype: str = ""

    @property
    def eagle_method(self) -> str | None:
        """What engines call an EAGLE head; None for other drafters."""
        return "eagle3" if self.version == "eagle3" else "eagle" if self.version else None

    @property
    def is_chain(self) -> bool:
        return not self.version or self.top_k == 1


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
    configure: Callable[[ServingConfig], Snippet | None]


def _repo(source: str) -> Repo:
    """The parts of a hub id; a folder or a file is a name only."""
    found = None if _is_path(source) else parse_repo(source)
    return found or Repo(source)


def _is_path(source: str) -> bool:
    return source.startswith((".", "/", "~")) or Path(source).exists()


def _on_a_line(source: str, option: str) -> str:
    """A model as command-line arguments, with its revision as an option."""
    repo = _repo(source)
    name = repo.name if repo.quant is None else f"{repo.name}:{repo.quant}"
    return shlex.quote(name) + (f" {option} {shlex.quote(repo.revision)}" if repo.revision else "")


def _served(serving: ServingConfig, of_hub: bool) -> str | None:
    """The target as command-line arguments; None for a GGUF file that can't be named on a line.
    `of_hub`: the engine takes one of a repository by its quantization."""
    target = serving.target
    if serving.target_gguf and _is_path(target):
        path = Path(target)
        target = str(path if path.name == serving.target_gguf else path / serving.target_gguf)
    elif serving.target_gguf and not (of_hub and _repo(target).quant):
        return None
    return _on_a_line(target, "--revision")


def _loading(serving: ServingConfig, fp8: str) -> str:
    """Options of a server for how the models are loaded. `fp8`: its name of that cache."""
    template, cache = serving.chat_template, serving.kv_cache
    return (
        (" --trust-remote-code" if serving.trust_remote_code else "")
        + (f" --chat-template {shlex.quote(template)}" if template else "")
        + (f" --kv-cache-dtype {fp8}" if cache == "fp8" else "")
    )


def _unsaid(serving: ServingConfig, *, fp8: bool = False, template: bool = False) -> str:
    """A line with a comment on what was measured and the configuration does not say; "" if there is
    nothing. `fp8`, `template`: it does say such a cache, and the chat template."""
    weights, draft, cache = serving.quantize, serving.quantize_draft, serving.kv_cache
    facts = [
        f"the target's weights in {weights}" if weights != "none" else "",
        f"the draft model's weights in {draft}" if draft != "none" else "",
        f"keys and values in {cache}" if cache != "none" and not (fp8 and cache == "fp8") else "",
        f"the chat template {serving.chat_template!r}"
        if serving.chat_template and not template
        else "",
    ]
    told = "; ".join(filter(None, facts))
    return f"# measured with {told}: not in this configuration\n" if told else ""


def _vllm(serving: ServingConfig) -> Snippet | None:
    method = serving.eagle_method
    known = {"method": method} if method else _VLLM.get(serving.strategy)
    if known is None or not serving.is_chain:
        return None
    return _vllm_serve(serving, known, _VLLM_NOTES.get(serving.strategy, ""))


def _vllm_medusa(serving: ServingConfig) -> Snippet | None:
    if serving.strategy is not MEDUSA:
        return None
    note = "takes each head's first guess only, without a tree: expect less; later versions have "
    return _vllm_serve(serving, {"method": "medusa"}, f"{note}no Medusa")


def _vllm_serve(serving: ServingConfig, known: Mapping[str, Any], note: str) -> Snippet | None:
    served = _served(serving, of_hub=True)
    if served is None or serving.gguf:
        return None
    config = dict(known)
    if serving.other_tokenizer:
        config["use_heterogeneous_vocab"] = True
        note = "drafts only tokens that both vocabularies have, not text: expect less"
    if serving.source:
        repo = _repo(serving.source)
        config["model"] = repo.name
        if repo.revision:
            config["revision"] = repo.revision
    config["num_speculative_tokens"] = serving.gamma
    text = f"vllm serve {served}{_loading(serving, 'fp8')}"
    text += f" --speculative-config {shlex.quote(json.dumps(config))}"
    return Snippet(_unsaid(serving, fp8=True, template=True) + text, note)


def _sglang(serving: ServingConfig) -> Snippet | None:
    algorithm = serving.eagle_method or _SGLANG.get(serving.strategy)
    served = _served(serving, of_hub=False)
    if algorithm is None or serving.other_tokenizer or served is None or serving.gguf:
        return None
    note, options = "a trie of n-grams, not the same lookup; needs CUDA", dict[str, int]()
    parts = ["python -m sglang.launch_server --model-path", served + _loading(serving, "fp8_e4m3")]
    parts += ["--speculative-algorithm", algorithm.upper()]
    if serving.source:
        drafts = _on_a_line(serving.source, "--speculative-draft-model-revision")
        parts += ["--speculative-draft-model-path", drafts]
        width = 1 if serving.is_chain else serving.top_k
        note, options = "", {"num-steps": serving.gamma, "eagle-topk": width}
    # With more nodes than it has guesses it fails.
    most = 1 + serving.top_k + (serving.gamma - 1) * serving.top_k**2
    nodes = serving.gamma + 1 if serving.is_chain else min(serving.nodes, most)
    options["num-draft-tokens"] = nodes
    parts += [f"--speculative-{name} {value}" for name, value in options.items()]
    return Snippet(_unsaid(serving, fp8=True, template=True) + " ".join(parts), note)


def _tensorrt_llm(serving: ServingConfig) -> Snippet | None:
    known = _TENSORRT_LLM.get(serving.strategy)
    unable = serving.other_tokenizer or serving.gguf or serving.eagle_method == "eagle"
    if known is None or unable or 0 in serving.aux_layers:  # the embedding is no layer's output
        return None
    fields = {**known, "max_draft_len": serving.gamma}
    note = "in a YAML file for trtllm-serve --config"
    if serving.source:
        repo = _repo(serving.source)
        fields["speculative_model"] = repo.name
        if repo.revision:
            note += "; it takes no revision of what drafts: "
            note += f"download {serving.source}, name the folder"
    if serving.aux_layers:  # it does not read them in the head's config
        fields["eagle3_layers_to_capture"] = [layer - 1 for layer in serving.aux_layers]
    if not serving.is_chain:
        width = serving.top_k
        nodes = min(max(serving.nodes - 1, serving.gamma), width * serving.gamma)
        fields |= {"use_dynamic_tree": True, "dynamic_tree_max_topK": width}
        fields["max_total_draft_tokens"] = nodes
    lines = ["speculative_config:"]
    lines += [f"  {name}: {json.dumps(value)}" for name, value in fields.items()]
    if fields["decoding_type"] in _DRAFTED_OUTSIDE:
        lines.append("disable_overlap_scheduler: true")
    if serving.trust_remote_code:
        lines.append("trust_remote_code: true")
    if serving.kv_cache == "fp8":
        lines += ["kv_cache_config:", "  dtype: fp8"]
    text = _unsaid(serving, fp8=True) + "\n".join(lines)
    return Snippet(text, note + _TENSORRT_LLM_NOTES.get(serving.strategy, ""))


def _tensorrt_medusa(serving: ServingConfig) -> Snippet | None:
    """The lines that convert, build and run a TensorRT engine, from the root of the repository."""
    if serving.strategy is not MEDUSA or serving.model_type not in _MEDUSA_TARGETS:
        return None
    repo = _repo(serving.target)
    target, heads = shlex.quote(repo.name), shlex.quote(serving.source)
    dtype = serving.dtype if serving.dtype == "bfloat16" else "float16"  # the two it computes in
    nodes = {path[: end + 1] for path in serving.tree for end in range(len(path))}
    tree = json.dumps(sorted(map(list, nodes), key=lambda path: (len(path), path)))
    kind = "" if serving.model_type == "llama" else f" --model_type {serving.model_type}"
    lines = [
        f"python examples/medusa/convert_checkpoint.py --model_dir {target} --medusa_model_dir "
        f"{heads} --output_dir trt-checkpoint --dtype {dtype} --num_medusa_heads {serving.gamma} "
        f"--num_medusa_layers {serving.layers} --max_medusa_token_len {len(nodes)}{kind}",
        f"trtllm-build --checkpoint_dir trt-checkpoint --output_dir trt-engine --gemm_plugin "
        f"{dtype} --speculative_decoding_mode medusa --max_batch_size 4",
        f"python examples/run.py --engine_dir trt-engine --tokenizer_dir {target} "
        f"--max_output_len 100 --temperature 1.0 --input_text 'Once upon' "
        f"--medusa_choices '{tree}'",
    ]
    note = "in its repository; greedy, whatever the temperature; later versions have no Medusa"
    if repo.revision:
        note += f"; it takes no revision: download {serving.target}, name the folder"
    return Snippet("\n".join(lines), note)


def _transformers(serving: ServingConfig) -> Snippet | None:
    write = _TRANSFORMERS.get(serving.strategy)
    if write is None:
        return None
    snippet = write(serving)
    return Snippet(_unsaid(serving) + snippet.text, snippet.note)


def _generate_by_lookup(serving: ServingConfig) -> Snippet:
    return Snippet(
        f"model.generate(**inputs, prompt_lookup_num_tokens={serving.gamma}, "
        f"max_matching_ngram_size={MAX_NGRAM})"
    )


def _generate_by_assistant(serving: ServingConfig) -> Snippet:
    repo, path = _repo(serving.source), Path(serving.source)
    folder = str(path.parent) if serving.gguf and path.name == serving.gguf else repo.name
    arguments = {
        "revision": repo.revision,
        "gguf_file": serving.gguf,
        "trust_remote_code": serving.trust_remote_code,
    }
    named = (f"{name}={value!r}" for name, value in arguments.items() if value)
    source = ", ".join((repr(folder), *named))
    call, note = "model.generate(**inputs, assistant_model=assistant)", ""
    if serving.other_tokenizer:
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
        f"    num_assistant_tokens={serving.gamma}, num_assistant_tokens_schedule='constant',\n"
        "    assistant_confidence_threshold=0.0,\n"
        f")\n{call}",
        note,
    )


_TRANSFORMERS = {LOOKUP: _generate_by_lookup, DRAFT_MODEL: _generate_by_assistant}

VLLM = Engine("vLLM", "0.33", _vllm)
VLLM_MEDUSA = Engine("vLLM", "0.32", _vllm_medusa)
SGLANG = Engine("SGLang", "0.5.23", _sglang)
TENSORRT_LLM = Engine("TensorRT-LLM", "1.4.0rc1, PyTorch backend", _tensorrt_llm)
TENSORRT_MEDUSA = Engine("TensorRT-LLM", "1.2, TensorRT backend", _tensorrt_medusa)
TRANSFORMERS = Engine("Hugging Face generate", "transformers 5.23", _transformers)
ENGINES = (VLLM, VLLM_MEDUSA, SGLANG, TENSORRT_LLM, TRANSFORMERS)
