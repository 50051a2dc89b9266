"""Acceptance as serving engines report it: in an answer's chunks, or in the server's counters.

Most engines report accepted over drafted. Our rate is accepted over tested; it can only be derived
from a histogram of accepted lengths, and if all drafts had the same length.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from app.servers.usage import Drafting
from app.text.numbers import whole_number
from decoding.json_text import parse_json

Counters = Mapping[str, float]
Json = Mapping[str, Any]

_SAMPLE = re.compile(r"([a-zA-Z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)")
_POSITION = re.compile(r'position="(\d+)"')
GENERATED = "generation_tokens"


def drafting_of(chunk: Json, tokens: int | None) -> Drafting | None:
    """Return the counts of drafts in a chunk, None in most chunks. `tokens`: the answer's so
    far."""
    for facts in _objects_with_counts(chunk):
        for read in (_vllm, _sglang, _llama_cpp_or_lm_studio):
            if (found := read(facts)) is not None:
                return found
        if found := _tensorrt(facts, tokens):
            return found
    return None


def _objects_with_counts(chunk: Json) -> Iterator[Json]:
    """The objects of a chunk in which engines put their counts."""
    for outer in (chunk, *_objects(chunk.get("choices"))):
        yield outer
        for name in ("usage", "metrics", "timings", "stats", "meta_info", "sglext"):
            inner = outer.get(name)
            if isinstance(inner, dict):
                yield inner
                yield from (each for each in inner.values() if isinstance(each, dict))


def _objects(value: object) -> list[Json]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def count(facts: Json, *names: str) -> int | None:
    """Return the first of these fields that is a plausible count."""
    for name in names:
        value = facts.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e15:
            return int(value)
    return None


def _vllm(facts: Json) -> Drafting | None:
    accepted = count(facts, "num_accepted_draft_tokens")
    drafted = count(facts, "num_draft_tokens")
    if accepted is None or drafted is None or accepted > drafted:
        return None
    passes, longest = count(facts, "num_spec_steps"), count(facts, "num_spec_tokens")
    return _with_histogram(
        drafted, accepted, passes, _histogram(facts.get("acceptance_histogram")), longest
    )


def _sglang(facts: Json) -> Drafting | None:
    passes = count(facts, "spec_verify_ct")
    accepted = count(facts, "spec_num_correct_drafts", "spec_accept_token_num")
    drafted = count(facts, "spec_num_proposed_drafts", "spec_draft_token_num")
    if passes is None or accepted is None or drafted is None or accepted > drafted:
        return None
    histogram = _histogram(
        facts.get("spec_correct_drafts_histogram") or facts.get("spec_accept_histogram")
    )
    longest = drafted // passes if passes else None
    return _with_histogram(drafted, accepted, passes, histogram, longest)


def _llama_cpp_or_lm_studio(facts: Json) -> Drafting | None:
    drafted = count(facts, "draft_n", "total_draft_tokens_count")
    accepted = count(facts, "draft_n_accepted", "accepted_draft_tokens_count")
    if drafted is None or accepted is None or accepted > drafted:
        return None
    return Drafting(drafted, accepted)


def _tensorrt(facts: Json, tokens: int | None) -> Drafting | None:
    """TensorRT-LLM reports only tokens per pass, from which passes and accepted tokens follow."""
    mean = facts.get("avg_decoded_tokens_per_iter")
    if not isinstance(mean, int | float) or isinstance(mean, bool) or not mean > 1 or not tokens:
        return None
    passes = max(round(tokens / mean), 1)
    return Drafting(drafted=0, accepted=max(tokens - 1 - passes, 0), passes=passes)


def _with_histogram(
    drafted: int, accepted: int, passes: int | None, histogram: tuple[int, ...], longest: int | None
) -> Drafting:
    """`tested` is only known if every draft had the `longest` length: a shorter one may end without
    a rejection."""
    known = sum(histogram)
    sums = sum(length * n for length, n in enumerate(histogram))
    if not histogram or sums != accepted or longest is None or drafted != longest * known:
        return Drafting(drafted, accepted, passes)
    tested = sum(n * min(length + 1, longest) for length, n in enumerate(histogram))
    return Drafting(drafted, accepted, passes, tested, histogram)


def _histogram(value: object) -> tuple[int, ...]:
    """A histogram from a list, or from a mapping of lengths to counts; () if it is neither."""
    if isinstance(value, list):
        value = {str(length): n for length, n in enumerate(value)}
    if not isinstance(value, dict) or len(value) > 1024:
        return ()
    counts: dict[int, int] = {}
    for length, n in value.items():
        depth = whole_number(str(length), 1024)
        if depth is None or not isinstance(n, int) or n < 0:
            return ()
        counts[depth] = n
    return tuple(counts.get(length, 0) for length in range(max(counts, default=-1) + 1))


def read_counters(text: str) -> dict[str, float]:
    """Return the speculative-decoding counters in a server's /metrics (Prometheus' or
    TensorRT-LLM's format), summed over engines and models, by short names. Counters by position end
    in /position."""
    if is_list(text):
        return _tensorrt_counters(text)
    found: dict[str, float] = {}
    for line in text.splitlines():
        sample = _SAMPLE.fullmatch(line.strip())
        name = sample and _short_name(sample[1])
        if sample is None or not name:
            continue
        position = _POSITION.search(sample[2] or "")
        key = f"{name}/{position[1]}" if position else name
        try:
            value = float(sample[3])
        except ValueError:
            continue
        if math.isfinite(value):  # what nothing was counted for may be NaN
            found[key] = found.get(key, 0.0) + value
    return found


def is_list(text: str) -> bool:
    """Return whether this is TensorRT-LLM's list, which only has the iterations since the last
    read."""
    return text.lstrip().startswith("[")


def _short_name(name: str) -> str | None:
    """num_drafts, from vllm:spec_decode_num_drafts_total or llamacpp:spec_decode_num_drafts."""
    plain = name.partition(":")[2].removesuffix("_total")
    if plain == GENERATED:
        return plain
    return plain.removeprefix("spec_decode_") if plain.startswith("spec_decode_num_") else None


def _tensorrt_counters(text: str) -> dict[str, float]:
    """The sums over the list's entries, one for each iteration since the last read."""
    try:
        entries = _objects(parse_json(text))
    except ValueError:
        return {}
    stats = [each["specDecodingStats"] for each in entries if "specDecodingStats" in each]
    found: dict[str, float] = {}
    for each in _objects(stats):
        for name, key in (("numDraftTokens", "num_draft_tokens"),
                          ("numAcceptedTokens", "num_accepted_tokens")):  # fmt: skip
            found[key] = found.get(key, 0.0) + (count(each, name) or 0)
    return found


def drafting_between(before: Counters, after: Counters, tokens: int | None) -> Drafting | None:
    """Return the growth of a server's counters; None if it drafted nothing, or if it also answered
    others, so that it counted more than our `tokens`."""
    grown = {name: round(after[name] - before.get(name, 0.0)) for name in after}
    accepted, drafted = grown.get("num_accepted_tokens"), grown.get("num_draft_tokens")
    if accepted is None or not drafted or not 0 <= accepted <= drafted:
        return None
    generated = grown.get(GENERATED)
    if generated is not None and tokens is not None and abs(generated - tokens) > 1:
        return None
    drafts = grown.get("num_drafts")
    histogram = _from_positions(grown, drafts)
    longest = len(histogram) - 1 if histogram else None
    return _with_histogram(drafted, accepted, drafts, histogram, longest)


def _from_positions(grown: Mapping[str, int], drafts: int | None) -> tuple[int, ...]:
    """A histogram of accepted lengths, from the number of drafts accepted at each position."""
    reached: Sequence[int] = [drafts or 0]
    prefix = "num_accepted_tokens_per_pos/"
    while (n := grown.get(f"{prefix}{len(reached) - 1}")) is not None:
        reached = [*reached, n]
    if len(reached) == 1:
        return ()
    exact = [a - b for a, b in zip(reached, [*reached[1:], 0], strict=True)]
    return tuple(exact) if min(exact) >= 0 else ()
