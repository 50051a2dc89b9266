"""Test-only drafters: random trees of tokens, and drafts that are known beforehand."""

from __future__ import annotations

import random
from collections.abc import Sequence

import torch
from torch import Tensor

from decoding.device import upload
from decoding.drafters.base import DraftContext, Needs
from decoding.trees.draft import Draft, DraftTree
from decoding.trees.shape import TreeShape, chain

CPU = torch.device("cpu")


def random_shape(rng: random.Random, nodes: int, depth: int) -> TreeShape:
    """`nodes` nodes below the root (or fewer), no path longer than `depth`."""
    parents, depths = [-1], [0]
    for _ in range(nodes):
        parent = rng.choice([i for i, d in enumerate(depths) if d < depth])
        parents.append(parent)
        depths.append(depths[parent] + 1)
    return TreeShape(tuple(parents))


class RandomTrees:
    """Proposes trees whose shapes and tokens are random. `truth` is what the target will say behind
    `prompt` ids: a node below a true path carries the true token about half of the time, so that
    paths of every length are accepted, through first and through later siblings."""

    needs: Needs = "none"
    default_gamma = 4
    note: str | None = None
    cache_bytes = 0

    def __init__(
        self,
        vocab: int,
        seed: int,
        prompt: int = 0,
        truth: Sequence[int] = (),
        nodes: int = 8,
        device: torch.device = CPU,
    ) -> None:
        self.rng = random.Random(seed)
        self.vocab, self.prompt, self.truth, self.nodes = vocab, prompt, truth, nodes
        self.device = device
        self.gammas: list[int] = []  # what was asked for

    def start(self, ids: Sequence[int], first: int, features: Tensor | None) -> None:
        pass

    def propose(self, context: DraftContext) -> Draft | None:
        ids, gamma = context.ids, context.gamma
        self.gammas.append(gamma)
        shape = random_shape(self.rng, self.rng.randint(0, self.nodes), gamma)
        ahead = self.truth[len(ids) - self.prompt :]
        tokens, true = [ids[-1]], {0}
        for node, parent in enumerate(shape.parents[1:], 1):
            token = self.rng.randrange(self.vocab)
            depth = shape.depths[node]
            if parent in true and depth <= len(ahead) and self.rng.random() < 0.5:
                token = ahead[depth - 1]
            if parent in true and depth <= len(ahead) and token == ahead[depth - 1]:
                true.add(node)
            tokens.append(token)
        return Draft(DraftTree(shape, upload(tokens, self.device)))

    def observe(self, ids: Sequence[int], accepted: int) -> None:
        pass


class Oracle(RandomTrees):
    """Proposes chains of exactly what the target will say."""

    def __init__(self, prompt: int, truth: Sequence[int]) -> None:
        super().__init__(1, 0, prompt, truth)

    def propose(self, context: DraftContext) -> Draft | None:
        ids, gamma = context.ids, context.gamma
        self.gammas.append(gamma)
        ahead = self.truth[len(ids) - self.prompt :][:gamma]
        return Draft(DraftTree(chain(len(ahead)), torch.tensor([ids[-1], *ahead])))
