"""Rounds whose every node is known: a tree and a chain."""

from __future__ import annotations

from dataclasses import replace

from decoding.round import Round

TEXTS = {1: " is", 2: " Paris", 3: " the", 4: ",", 5: ".", 6: " a", 7: " and", 8: "It", 9: "In"}
# is -> Paris -> "," -> a; Paris -> "."; the -> ","; the target goes on with " and" behind ","
TREE = Round(
    index=0,
    tokens=(1, 2, 3, 4, 5, 4, 6),
    parents=(-1, 0, 0, 1, 1, 2, 3),
    accepted=(1, 3),
    emitted=(2, 4, 7),
    tested=3,
    draft_seconds=0.001,
    verify_seconds=0.006,
    accept_seconds=0.0005,
    total_seconds=0.008,
    chosen=(2, 4, 5, 7, 6, 6, 6),
    ranks=(0, 0, 1, 0, 1, 0, 0),
    p=(1.0, 0.81, 0.07, 0.62, 0.0001, 0.3, 0.21),
)
# is -> Paris, then the target goes on with " and" where "," was drafted
CHAIN = replace(
    TREE, tokens=(1, 2, 4, 6), parents=(-1, 0, 1, 2), accepted=(1,), emitted=(2, 7), tested=2,
    chosen=(), ranks=(), p=(), sampled=True,
)  # fmt: skip
