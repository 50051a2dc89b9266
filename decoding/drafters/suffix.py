"""Suffix decoding: drafts the most frequent continuation of the newest tokens, without a model.

SuffixDecoding, Oliaro et al. 2024 (2411.04975), in its linear variant, with a tree for each
conversation: over the prompt and all answers so far. The settings are vLLM's.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from decoding.drafters.base import DraftContext, Needs
from decoding.model.prefix import common_prefix_length
from decoding.trees.draft import Draft, DraftTree

MAX_TOKENS = 8192  # in the tree, each in up to `max_depth` paths
MIN_PROBABILITY = 0.1  # of a drafted path


class Node:
    """A sequence of a few tokens: how often it occurred, and its followers with their counts."""

    __slots__ = ("best", "children", "count", "followed", "token")

    def __init__(self, token: int) -> None:
        self.token = token
        self.count = 0
        self.followed = 0  # the sum of its children's counts
        self.children: dict[int, Node] = {}
        self.best: Node | None = None  # the most frequent child, the newest of several

    def follow(self, token: int) -> Node:
        """Count `token` as a follower of this sequence; returns the extended one's node."""
        child = self.children.get(token)
        if child is None:
            child = self.children[token] = Node(token)
        child.count += 1
        self.followed += 1
        if self.best is None or child.count >= self.best.count:
            self.best = child
        return child


class Suffix:
    """Drafts a chain after the suffix (up to `max_depth` tokens) with the longest expected
    acceptance: at most as many tokens as the suffix has, while the path's estimated probability is
    at least `MIN_PROBABILITY`."""

    needs: Needs = "none"
    default_gamma = 12
    note: str | None = None
    cache_bytes = 0

    def __init__(self, device: torch.device, max_depth: int = 24) -> None:
        self._device = device
        self._max_depth = max_depth
        self._prompt_length = 0
        self._ids: list[int] = []
        self._suffixes: list[Node] = []  # [n - 1]: the node of the newest n tokens
        self._forget()

    def start(self, ids: Sequence[int], first: int = 0, features: Tensor | None = None) -> None:
        """Begin a prompt. The next turn of a conversation keeps its tree, whichever answer it
        continues from; anything else, also the same prompt again, starts with an empty one."""
        known = common_prefix_length(self._ids, ids)
        if known < self._prompt_length or len(ids) <= self._prompt_length:
            self._forget()
        else:
            self._ids = self._ids[:known]
            self._suffixes = self._find_suffixes()
        self._prompt_length = len(ids)
        self._extend(ids)

    def propose(self, context: DraftContext) -> Draft | None:
        self._extend(context.ids)
        path = self.find(context.gamma)
        if not path:
            return None
        return Draft(DraftTree.of_chain([context.ids[-1], *path], self._device))

    def observe(self, ids: Sequence[int], accepted: int) -> None:
        self._extend(ids)

    def find(self, gamma: int) -> list[int]:
        """Predict up to `gamma` tokens, [] without a match: the continuation with the largest
        expected acceptance, the sum of its path's probabilities, over all suffixes."""
        best: list[int] = []
        best_score = 0.0
        for length in range(len(self._suffixes), 0, -1):
            path: list[int] = []
            node, probability, score = self._suffixes[length - 1], 1.0, 0.0
            while len(path) < min(gamma, length) and node.best is not None:
                probability *= node.best.count / node.followed
                if probability < MIN_PROBABILITY:
                    break
                node = node.best
                path.append(node.token)
                score += probability
            if score > best_score:
                best, best_score = path, score
        return best

    def _forget(self) -> None:
        self._root = Node(-1)
        self._count = 0  # tokens in the tree
        self._ids, self._suffixes = [], []

    def _extend(self, ids: Sequence[int]) -> None:
        """Add the new tokens of `ids`, in O(depth) each. A full tree is rebuilt from its newest
        half."""
        if self._count + len(ids) - len(self._ids) > MAX_TOKENS:
            self._forget()
            self._ids = list(ids[: -MAX_TOKENS // 2])
        for token in ids[len(self._ids) :]:
            texts = [self._root, *self._suffixes[: self._max_depth - 1]]
            self._suffixes = [text.follow(token) for text in texts]
            self._ids.append(token)
            self._count += 1

    def _find_suffixes(self) -> list[Node]:
        """The nodes of the suffixes that are in the tree."""
        found = []
        for length in range(1, min(self._max_depth, len(self._ids)) + 1):
            node: Node | None = self._root
            for token in self._ids[-length:]:
                node = node.children.get(token) if node is not None else None
            if node is None:
                break
            found.append(node)
        return found
