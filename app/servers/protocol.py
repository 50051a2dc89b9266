"""The OpenAI-compatible protocol without the network: request bodies and parsed chunks."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from app.servers.acceptance import count, drafting_of
from app.servers.errors import ServerError, quoted
from app.servers.sampling import sampling_fields
from app.servers.usage import Drafting
from decoding.json_text import parse_json
from decoding.params import Params

Json = dict[str, Any]
SEED_BITS = 31  # accepted by every engine
FAILED = ("abort", "error")  # finish reasons of answers that are not whole
COUNTING = ("vllm", "sglang")  # engines with an option to report token counts in every chunk


@dataclass(frozen=True, slots=True)
class Question:
    """A prompt for a server. `raw`: the messages' contents without a chat template."""

    messages: Sequence[Mapping[str, str]]
    params: Params
    seed: int
    stop: tuple[str, ...] = ()
    raw: bool = False
    ignore_eos: bool = False

    @property
    def path(self) -> str:
        return "completions" if self.raw else "chat/completions"

    def body(self, model: str | None, engine: str = "") -> Json:
        """Return the request's body. Raises ServerError for a setting that the engine ignores."""
        body: Json = {
            "stream": True,
            "max_tokens": self.params.max_new_tokens,
            "seed": self.seed % (1 << SEED_BITS),
            **sampling_fields(self.params.sampling, engine),
        }
        if self.raw:
            body["prompt"] = "\n".join(message["content"] for message in self.messages)
        else:
            body["messages"] = [dict(message) for message in self.messages]
        if model is not None:
            body["model"] = model
        if self.stop:
            body["stop"] = list(self.stop)
        if self.ignore_eos:
            body["ignore_eos"] = True
        return body


def extras(engine: str) -> Json:
    """Fields that request counts. Some engines reject them, then they are left out."""
    options: Json = {"include_usage": True}
    if engine in COUNTING:
        options["continuous_usage_stats"] = True
    more: Json = {}
    if engine == "sglang":
        more = {"return_spec_tokens_details": True}
    elif engine == "llamacpp":
        more = {"timings_per_token": True}
    return {"stream_options": options, **more}


@dataclass(frozen=True, slots=True)
class Chunk:
    """One event of the stream. `tokens`: the number in the answer so far, if reported."""

    text: str = ""
    reasoning: str = ""
    finish: Literal["stop", "length"] | None = None
    tokens: int | None = None
    prompt_tokens: int | None = None
    drafting: Drafting | None = None


def read_chunk(data: str, key: str | None = None) -> Chunk:
    """Parse one event. Raises ServerError for an error message, and if it is not a JSON object."""
    try:
        found = parse_json(data)
    except ValueError as error:
        raise ServerError(f"the server sent invalid JSON: {quoted(data, key)}") from error
    if not isinstance(found, dict):
        raise ServerError(f"the server sent JSON that is not an object: {quoted(data, key)}")
    if found.get("error"):
        message = quoted(error_message(found), key)
        line = message or "the server reported an error without a message"
        raise ServerError(line, _status(found["error"]))
    choices = found.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else {}
    choice = first if isinstance(first, dict) else {}
    inner = choice.get("delta")
    delta = inner if isinstance(inner, dict) else {}
    usage, timings = _object(found, "usage"), _object(found, "timings")
    tokens = count(usage, "completion_tokens")
    if tokens is None:
        tokens = count(timings, "predicted_n")
    finish = choice.get("finish_reason") or None  # some send "" until the end
    if finish in FAILED:
        raise ServerError(f"the server ended the answer early: finish_reason is {finish!r}")
    return Chunk(
        text=_text(delta.get("content")) or _text(choice.get("text")),
        reasoning=_text(delta.get("reasoning_content")) or _text(delta.get("reasoning")),
        finish=None if finish is None else "length" if finish == "length" else "stop",
        tokens=tokens,
        prompt_tokens=count(usage, "prompt_tokens"),
        drafting=drafting_of(found, tokens),
    )


def error_message(found: object) -> str:
    """Return the text of an error response, in any of the forms that engines use."""
    if isinstance(found, dict):
        for name in ("error", "detail", "message", "msg"):
            if found.get(name):
                return error_message(found[name])
        return json.dumps(found)
    if isinstance(found, list) and found:
        return error_message(found[0])
    return str(found)


def _status(error: object) -> int | None:
    """The HTTP status that an error in a stream would have had, which engines name as its code."""
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, int) and 400 <= code < 600 else None


def _object(found: Json, name: str) -> Json:
    inner = found.get(name)
    return inner if isinstance(inner, dict) else {}


def _text(value: object) -> str:
    """The text, or "" if it is none; lone surrogates from JSON escapes are replaced."""
    if not isinstance(value, str):
        return ""
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
