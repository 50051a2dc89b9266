"""What serving engines say of their drafts, field by field."""

from __future__ import annotations

from typing import Any

import pytest

from app.servers.acceptance import drafting_between, drafting_of, read_counters
from app.servers.usage import Drafting, Usage, with_reported_counts
from decoding.stats import Stats
from tests.support.fake_server import ACCEPTANCE, COUNTERS

KNOWN = Drafting(drafted=12, accepted=6, passes=4, tested=9, histogram=(1, 1, 1, 1))


@pytest.mark.parametrize(
    "engine, expected",
    [
        ("vllm", KNOWN),
        ("sglang", KNOWN),
        ("llamacpp", Drafting(12, 6)),
        ("lmstudio", Drafting(12, 6)),
        ("tensorrt", Drafting(0, 6, passes=4)),
    ],
)
def test_each_engine_is_understood(engine: str, expected: Drafting) -> None:
    assert drafting_of(ACCEPTANCE[engine], 11) == expected


def test_tested_follows_only_from_drafts_of_one_length() -> None:
    """A shorter draft may end without a rejection: then alpha would be made up."""
    facts = ACCEPTANCE["vllm"]["metrics"]["speculative_decoding"]
    found = drafting_of({"metrics": {"speculative_decoding": {**facts, "num_draft_tokens": 11}}}, 9)
    assert found == Drafting(11, 6, 4)


@pytest.mark.parametrize(
    "chunk",
    [
        {},
        {"timings": {"predicted_n": 5}},
        {"timings": {"draft_n": -1, "draft_n_accepted": 1}},
        {"timings": {"draft_n": True, "draft_n_accepted": True}},
        {"timings": {"draft_n": 3, "draft_n_accepted": 50}},
        {"metrics": {"num_draft_tokens": 3, "num_accepted_draft_tokens": 50}},
        {
            "meta_info": {
                "spec_verify_ct": 1,
                "spec_accept_token_num": 9,
                "spec_draft_token_num": 3,
            }
        },
        {"choices": [{"avg_decoded_tokens_per_iter": 1.0}]},
        {"meta_info": {"spec_verify_ct": "4"}},
        {"choices": 3, "usage": [], "metrics": None},
    ],
)
def test_what_says_nothing_of_drafts_is_nothing(chunk: dict[str, Any]) -> None:
    assert drafting_of(chunk, 11) is None


def test_settled_sums_are_ours() -> None:
    """Tokens after the first over passes, accepted over tested: as in lanes that decode here."""
    stats = with_reported_counts(Stats(emitted=3), Usage(seconds=2.0, tokens=11, drafting=KNOWN))
    assert stats.tokens_per_second == 5.0
    assert stats.tokens_per_pass == 2.5
    assert stats.acceptance_rate == 6 / 9
    assert stats.histogram == [1, 1, 1, 1]


def test_passes_that_are_not_said_follow_from_tokens() -> None:
    assert with_reported_counts(Stats(), Usage(1.0, 11, drafting=Drafting(12, 6))).passes == 4
    assert with_reported_counts(Stats(), Usage(1.0, 11)).passes == 0
    assert with_reported_counts(Stats(emitted=3, passes=3), None).tokens_per_pass is None


def counters(n: int, generated: int) -> dict[str, float]:
    sums = {"drafts": 4 * n, "draft_tokens": 12 * n, "accepted": 6 * n}
    positions = {"pos0": 3 * n, "pos1": 2 * n, "pos2": n}
    return read_counters(COUNTERS.format(**sums, **positions, generated=generated))


def test_counters_before_and_after() -> None:
    assert drafting_between(counters(5, 55), counters(6, 66), tokens=11) == KNOWN


def test_counters_of_a_server_that_others_use_say_nothing_of_us() -> None:
    assert drafting_between(counters(5, 55), counters(6, 99), tokens=11) is None
    assert drafting_between(counters(5, 55), counters(5, 66), tokens=11) is None  # no drafts


def test_tensorrt_tells_iterations() -> None:
    text = (
        '[{"specDecodingStats": {"numDraftTokens": 9, "numAcceptedTokens": 4}},'
        ' {"iter": 3}, {"specDecodingStats": {"numDraftTokens": 3, "numAcceptedTokens": 2}}]'
    )
    assert drafting_between({}, read_counters(text), 11) == Drafting(12, 6)


@pytest.mark.parametrize(
    "text",
    [
        *("", "[", "[3]", "{}", "\x00"),
        *(f"vllm:spec_decode_num_drafts {value}" for value in ("x", "NaN", "+Inf")),
    ],
)
def test_odd_counters_are_none(text: str) -> None:
    assert read_counters(text) == {}
