"""What a round costs with layers that carry a state on, beside attention alone or with sinks:

    python -m tests.round_costs

Prints a Markdown table: the median round without drafts, and how many times as long one takes in
which four drafts are accepted or the first of them is rejected. The models are those of
`test_classes`, tiny and random: what is counted is operations, not sizes.
"""

from __future__ import annotations

import sys
from statistics import median

import torch

from decoding.decoder import Decoder
from decoding.drafters.base import Drafter
from decoding.model.target import Target
from decoding.params import Params
from tests.decoding.model.test_classes import CHAINS_ALONE, PROMPT, model_of
from tests.support.families import VOCAB
from tests.support.random_trees import Oracle

ATTENTION_ALONE = ("gemma3_text", "granite", "olmo3")  # as transformers' modules run them
SINKS = ("gpt_oss", "granite_swa", "granitemoe_swa", "mimo_v2_flash")
NEW, GAMMA, TIMES = 40, 4, 3


def round_seconds(target: Target, drafter: Drafter | None) -> tuple[list[float], list[int]]:
    """Of an answer's rounds but for the first and the last, which may be cut; and the answer."""
    decoder = Decoder(target, drafter)
    rounds = list(decoder.generate(PROMPT, Params(gamma=GAMMA, max_new_tokens=NEW)))
    return [each.total_seconds for each in rounds[1:-1]], list(decoder.generated)


def row(kind: str) -> str:
    target = Target(model_of(kind))
    _, truth = round_seconds(target, None)
    wrong = [(token + 1) % VOCAB for token in truth]
    drafters = (None, Oracle(len(PROMPT), truth), Oracle(len(PROMPT), wrong))
    seconds: list[list[float]] = [[], [], []]
    for _ in range(TIMES):
        for found, drafter in zip(seconds, drafters, strict=True):
            some, said = round_seconds(target, drafter)
            assert said == truth
            found += some
    plain, accepted, rejected = map(median, seconds)
    return f"| {kind} | {plain * 1000:.2f} ms | {accepted / plain:.2f} | {rejected / plain:.2f} |"


def main() -> int:
    torch.set_num_threads(1)
    print("| model | round without drafts | accepted | rejected |\n|---|---|---|---|")
    for kind in (*ATTENTION_ALONE, *SINKS, *CHAINS_ALONE):
        print(row(kind), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
