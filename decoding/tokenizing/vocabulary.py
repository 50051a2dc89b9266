"""Compares two tokenizers' vocabularies. Their sizes may differ: padding is harmless."""

from __future__ import annotations

from transformers import PreTrainedTokenizerBase

# Splits, spaces, digits, scripts, bytes, which tokenizers with equal vocabularies may split
# differently.
_PROBES = (
    "Hello, world! It's 2024: 1234567 tokens.",
    "  two spaces\n\n\tand\ttabs \n",
    "def f(x):\n    return x ** 2  # naïve café",
    "日本語のテキスト, Привет мир, שלום 🙂👩‍👩‍👧",
)


def first_difference(target: PreTrainedTokenizerBase, draft: PreTrainedTokenizerBase) -> str | None:
    """Describe what differs, in a few words; None if both have the same tokens and split text
    alike."""
    # Added tokens (chat marks, reserved ids) often differ between sizes of a family. A draft model
    # never proposes those that it lacks, which affects acceptance, not correctness.
    added = target.get_added_vocab().keys() | draft.get_added_vocab().keys()
    ours = {t: i for t, i in target.get_vocab().items() if t not in added}
    theirs = {t: i for t, i in draft.get_vocab().items() if t not in added}
    if ours != theirs:
        tokens = min(ours.keys() ^ theirs.keys(), default=None, key=lambda t: (len(t), t))
        if tokens is not None:
            where, missing = ("target", "draft") if tokens in ours else ("draft", "target")
            count = len(ours.keys() ^ theirs.keys())
            return f"{count} tokens are in one only, such as {tokens!r} ({where}, not {missing})"
        token = min((t for t in ours if ours[t] != theirs[t]), key=lambda t: ours[t])
        return f"token {token!r} is {ours[token]} in the target and {theirs[token]} in the draft"
    for probe in _PROBES:
        a = target(probe, add_special_tokens=False)["input_ids"]
        b = draft(probe, add_special_tokens=False)["input_ids"]
        if a != b:
            return f"the same tokens, but {probe[:20]!r} is cut differently"
    return None
