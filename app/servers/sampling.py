"""Sampling settings as each engine takes them.

A setting that a request leaves out has the engine's default: top-k 40 and min-p 0.05 in llama.cpp,
the values of the model's generation_config in vLLM, SGLang and `transformers serve`. So an engine
that is known gets every setting that acts, also where it is off, and llama.cpp, in which the
temperature acts last, the order of `SamplingParams`.
"""

from __future__ import annotations

import json
from typing import Any

from app.servers.errors import ServerError
from decoding.params import SamplingParams

Json = dict[str, Any]
TRANSFORMERS = "transformers"
NAMED = ("vllm", "sglang", "llamacpp")  # engines that give their name in the list of models
_ALL_TOKENS = -1  # as top-k
_ORDER = ["penalties", "temperature", "top_k", "top_p", "min_p"]
_WHOLE_TEXT = 1 << 20  # tokens that llama.cpp's penalties look back over, 64 by default


def sampling_fields(sampling: SamplingParams, engine: str) -> Json:
    """Return the fields of a request. Raises ServerError for a setting that the engine ignores."""
    fields: Json = {"temperature": sampling.temperature}
    if not sampling.greedy:
        fields["top_p"] = sampling.top_p
    if engine == TRANSFORMERS:
        return fields | _in_generation_config(sampling)
    repetition = "repeat_penalty" if engine == "llamacpp" else "repetition_penalty"
    settings: Json = {
        repetition: sampling.repetition_penalty,
        "presence_penalty": sampling.presence_penalty,
    }
    if not sampling.greedy:
        settings |= {"top_k": sampling.top_k or _ALL_TOKENS, "min_p": sampling.min_p}
    if engine not in NAMED:  # it may reject what is not OpenAI's
        off = {repetition: 1.0, "presence_penalty": 0.0, "top_k": _ALL_TOKENS, "min_p": 0.0}
        settings = {name: value for name, value in settings.items() if value != off[name]}
    elif engine == "llamacpp":
        settings |= {"samplers": _ORDER, "repeat_last_n": _WHOLE_TEXT}
    return fields | settings


def _in_generation_config(sampling: SamplingParams) -> Json:
    """`transformers serve` decodes greedily at any temperature unless a generation_config says
    do_sample. Ours replaces the model's with its end tokens, which --continuous-batching does not
    make up for: it is only sent where it makes a difference."""
    if sampling.presence_penalty:
        raise ServerError("transformers serve ignores presence_penalty: set it to 0")
    config: Json = {"repetition_penalty": sampling.repetition_penalty}
    if not sampling.greedy:
        config |= {"do_sample": True, "top_k": sampling.top_k, "min_p": sampling.min_p}
    elif not sampling.penalizes:
        return {}
    return {"generation_config": json.dumps(config)}
