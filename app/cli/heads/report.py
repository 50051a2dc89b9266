"""Prints the report of `specchat heads eval` as text or JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from app.cli.terminal import print_document, print_output
from decoding.stats import Stats


def put_report(
    facts: dict[str, Any], lines: Sequence[str], served: Stats, tree: str, as_json: bool
) -> None:
    """Print `facts` as JSON, or `lines` as text; each with the figures of the rounds `served` with
    a `tree`."""
    if as_json:
        facts |= {
            "target_passes": served.passes,
            "tokens_per_pass": served.tokens_per_pass,
            "acceptance_rate": served.acceptance_rate,
            "accepted_histogram": served.histogram,
        }
        print_document(facts)
        return
    summary = (
        f"served: τ {served.tokens_per_pass or 0:.2f}, α {served.acceptance_rate or 0:.2f} with "
        f"{tree}; {served.passes} passes over {facts['prompts']} prompts"
    )
    print_output("\n".join([*lines, summary]))
