"""The ways people type."""

from __future__ import annotations

import pytest

from assets.demo.recipe.corpus.text import keywords


@pytest.mark.parametrize(
    "question, typed",
    [
        ("Can you tell me why the sky is blue?", "why sky blue"),
        ("What's the speed of light?", "speed light"),
        ("Please explain the KV cache to me.", "kv cache me"),
        ("How do I add a lane?", "how i add lane"),
        ("Explain branching.", "Explain branching."),  # one word alone may be asked otherwise
        ("I never heard of top-p. What is it?", "I never heard of top-p. What is it?"),
    ],
)
def test_keywords_leave_out_what_a_search_box_needs_least(question: str, typed: str) -> None:
    assert keywords(question) == typed
