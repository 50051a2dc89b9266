"""What somebody may have meant by an option that there is not."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches

# as other programs call it
SYNONYMS = {
    "--model": "--target",
    "--temp": "--temperature",
    "--draft-model": "--draft",
    "--speculative-model": "--draft",
    "--assistant-model": "--draft",
    "--num-speculative-tokens": "--gamma",
    "--speculative-num-draft-tokens": "--gamma",
    "--num-assistant-tokens": "--gamma",
    "--max-tokens": "--max-new-tokens",
    "-m": "--target",
    "-p": "--prompt",
    "-n": "--max-new-tokens",
    "--data": "--prompts",
    "--dataset": "--prompts",
}


CLOSE = 0.7  # from which likeness one is suggested


def meant_by(written: str, options: Collection[str]) -> list[str]:
    """Return the very option, or what other programs call so, else those that begin so, else those
    that are spelled nearly so."""
    if written in options:
        return [written]
    if SYNONYMS.get(written) in options:
        return [SYNONYMS[written]]
    longer = sorted(each for each in options if each.startswith(written))
    return longer or get_close_matches(written, options, cutoff=CLOSE)
