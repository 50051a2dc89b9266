"""The acceptance rules: which drafted tokens stay, and the target's own token after them.

Leviathan et al. 2023 (2211.17192), Chen et al. 2023 (2302.01318): with p the target's and q the
drafter's distribution at a position, a drafted x ~ q

    is accepted with probability min(1, p(x) / q(x));
    the first rejected one is replaced by a draw from norm(max(p - q, 0));
    after a draft accepted to its end, one more token is drawn from p.

Every emitted token then has the distribution p. Drafts chosen deterministically (argmax, top-k,
copies) have no q: the target chooses its own token at every node, and the draft is accepted as far
as it agrees. `accept` has both rules, which are exact. `accept_typical` is Medusa's rule, which is
lossy: Cai et al. 2024 (2401.10774). On a GPU the next round can begin before the host has read what
was accepted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import torch
from torch import Tensor

from decoding.device import Download, upload
from decoding.params import SamplingParams
from decoding.trees.draft import Draft, DraftTree
from decoding.trees.shape import TreeShape
from decoding.verification.noise import Noise
from decoding.verification.sampling import (
    exponential_race,
    mark_invalid,
    next_tokens,
    probabilities,
)


@dataclass(frozen=True, slots=True)
class VerifyResult:
    """`tokens` of all nodes; `path`: the accepted nodes from the top, without the root; `bonus`:
    the target's own token after it, NO_TOKEN if its logits are not finite; `tested`: the number of
    levels at which the current node had children; `chosen`: the target's own token at every node,
    () for a sampled chain; `draws` [n-1]: the uniform numbers that tested a sampled chain, on the
    device."""

    tokens: tuple[int, ...]
    path: tuple[int, ...]
    bonus: int
    tested: int
    chosen: tuple[int, ...] = ()
    draws: Tensor | None = field(default=None, compare=False)


class Acceptance:
    """The accepted part of a draft: on the device at once, on the host as `result`.

    `chosen` is the target's own token at every node [n], or only the one after the path [1]; `last`
    [1] is the last accepted node, or the root. If it is None the host follows `chosen` itself.
    Reading also gives the draft its `shape_on_device`.
    """

    def __init__(
        self,
        draft: Draft,
        chosen: Tensor,
        last: Tensor | None = None,
        draws: Tensor | None = None,
    ) -> None:
        self._draft, self._tree = draft, draft.tree
        self._chosen, self._last, self._draws = chosen, last, draws
        found = () if last is None else (last,)
        parts = [self._tree.tokens, chosen, *draft.shape_on_device, *found]
        self._numbers = Download(torch.cat(parts))
        self._result: VerifyResult | None = None

    @property
    def result(self) -> VerifyResult:
        """The result on the host. Reading it is the one wait of a round."""
        if self._result is None:
            numbers, nodes, own = self._numbers.read(), len(self._tree), len(self._chosen)
            tokens, chosen = tuple(numbers[:nodes]), tuple(numbers[nodes : nodes + own])
            if count := len(self._draft.shape_on_device):
                first = nodes + own
                ends = range(first, first + count * nodes, nodes)
                self._draft.set_shape(*(numbers[at : at + nodes] for at in ends))
            shape = self._tree.shape
            if self._last is None:
                last = last_accepted_on_host(shape, tokens, chosen)
            else:
                last = numbers[-1]
            path = shape.path(last)
            tested = len(path) + (last in shape.parents)
            if own < nodes:
                self._result = VerifyResult(tokens, path, chosen[0], tested, draws=self._draws)
            else:
                self._result = VerifyResult(tokens, path, chosen[last], tested, chosen)
        return self._result

    @property
    def padded(self) -> bool:
        """Whether `rows` is padded, for the device to go on before the host knows the result. A CPU
        would lose by the padding, and where nothing was drafted there may be nothing to prepare."""
        return self._tree.tokens.device.type == "cuda" and len(self._tree) > 1

    @cached_property
    def rows(self) -> Tensor | slice:
        """The pass's rows of the root and the accepted path, from the top. If `padded`, their
        number is not known, and rows of no use follow."""
        device = self._tree.tokens.device
        if not self.padded:
            path = self.result.path
            if path == tuple(range(1, len(path) + 1)):
                return slice(len(path) + 1)
            return upload([0, *path], device)
        if self._tree.is_chain:
            return slice(len(self._tree))
        tensors, nodes = self._tree.tensors, len(self._tree)
        most = min(tensors.max_depth + 1, nodes)
        assert self._last is not None
        elsewhere = ~tensors.mask.index_select(0, self._last)[0]
        rows = torch.zeros(most + 1, dtype=torch.long, device=device)
        at = tensors.depths.masked_fill(elsewhere, most)
        return rows.scatter_(0, at, torch.arange(nodes, device=device))[:most]

    @cached_property
    def _count(self) -> Tensor:
        """The number of accepted nodes, [1]."""
        assert self._last is not None
        if self._tree.is_chain:
            return self._last
        return self._tree.tensors.depths.index_select(0, self._last)

    def at_last_accepted(self, values: Tensor) -> Tensor:
        """Select the last accepted node's value from `values`, which has one for each of `rows`."""
        return values.index_select(0, self._count) if self.padded else values[-1:]

    @property
    def next_tokens(self) -> Tensor:
        """If `padded`, the token after each of `rows`; any if the target's logits are not
        finite."""
        tokens = self._tree.tokens[self.rows]
        own = self._chosen
        assert self._last is not None
        bonus = own if len(own) < len(self._tree) else own.index_select(0, self._last)
        ends = torch.arange(len(tokens), device=tokens.device) >= self._count
        return torch.where(ends, bonus, tokens.roll(-1)).clamp_min_(0)


def accept(draft: Draft, logits: Tensor, sampling: SamplingParams, noise: Noise) -> Acceptance:
    """Verify a draft with the target's `logits` [n, V]; exact."""
    if draft.q is not None and not sampling.greedy:
        return _accept_sampled_chain(draft, logits, sampling, noise)
    tree = draft.tree
    chosen = next_tokens(logits, sampling, noise, tree)
    if tree.tokens.device.type != "cuda" or len(tree) == 1:
        return Acceptance(draft, chosen)
    agrees = tree.tokens == chosen.index_select(0, tree.tensors.parents)
    return Acceptance(draft, chosen, last_accepted(tree, agrees))


def last_accepted_on_host(shape: TreeShape, tokens: Sequence[int], chosen: Sequence[int]) -> int:
    """Find what `last_accepted` finds, from the target's own choices. On a CPU this takes less
    time."""
    children, node = shape.children, 0
    while True:
        match = next((c for c in children[node] if tokens[c] == chosen[node]), None)
        if match is None:
            return node
        node = match


def last_accepted(tree: DraftTree, passes: Tensor, scores: Tensor | None = None) -> Tensor:
    """Find the end [1] of the longest path on which every node `passes`, bool [n]; the root always
    does. Ties go to the largest sum of `scores` [n] along the path, then to the first."""
    tensors = tree.tensors
    below = tensors.mask[:, 1:]  # the root's own test and score don't count
    depths = torch.where((below & ~passes[1:]).any(-1), -1, tensors.depths)
    if scores is None:
        return depths.argmax(0, keepdim=True)
    sums = torch.where(below, scores[1:], 0.0).sum(-1)
    return sums.masked_fill_(depths < depths.max(), -torch.inf).argmax(0, keepdim=True)


def _accept_sampled_chain(
    draft: Draft, logits: Tensor, sampling: SamplingParams, noise: Noise
) -> Acceptance:
    """Accept x_i ~ q_i if u < p_i(x_i) / q_i(x_i). The first rejected one is replaced by a sample
    of norm(max(p - q, 0)); after a fully accepted chain the bonus is sampled from p."""
    assert draft.q is not None and draft.tree.shape.is_chain
    gamma = len(draft.tree) - 1
    p = probabilities(logits, sampling)
    drafted = draft.tree.tokens[1:, None]
    p_x = p[:-1].gather(1, drafted)[:, 0]
    q_x = draft.q.gather(1, drafted)[:, 0]
    # torch.rand can return 0, so `<`: a token of probability 0 never passes
    u = torch.rand(gamma, generator=noise.generator, device=p.device)
    stays = u * q_x < p_x
    last = stays.long().cumprod(0).sum(0, keepdim=True)
    # Row i of `residual` is the distribution of the bonus if exactly i drafts are accepted.
    residual = torch.cat([(p[:-1] - draft.q).clamp_min_(0.0), p[-1:]])
    row = residual.index_select(0, last)
    # p == q up to rounding: the residual may be empty although a draft was rejected
    row = torch.where(row.sum() > 0, row, p.index_select(0, last))
    drawn = exponential_race(row, noise.ahead(gamma + 1).index_select(0, last))
    return Acceptance(draft, mark_invalid(drawn, row), last, u)


def accept_typical(
    draft: Draft,
    logits: Tensor,
    sampling: SamplingParams,
    epsilon: float,
    delta: float,
    noise: Noise,
) -> Acceptance:
    """Accept tokens that the target finds plausible: p(x) > min(epsilon, delta * exp(-H(p))), with
    p and its entropy H after temperature alone, and all ancestors accepted. The longest path wins,
    ties go to the likelier one; the bonus after it is sampled from the warped p. At temperature 0
    this is greedy and exact. Above it the output no longer has the target's distribution."""
    if sampling.greedy:
        return accept(draft, logits, sampling, noise)
    tree, parents = draft.tree, draft.tree.tensors.parents
    log_p, threshold = typical_threshold(logits, sampling.temperature, epsilon, delta)
    log_x = log_p[parents, tree.tokens]
    last = last_accepted(tree, log_x.exp() > threshold[parents], log_x)
    return Acceptance(draft, next_tokens(logits, sampling, noise, tree), last)


def typical_threshold(
    logits: Tensor, temperature: float, epsilon: float, delta: float
) -> tuple[Tensor, Tensor]:
    """Compute for typical acceptance log p [n, V] after temperature alone, and the thresholds
    min(epsilon, delta * exp(-H(p))) [n]."""
    log_p = (logits.float() / temperature).log_softmax(-1)
    entropy = -(log_p.exp() * log_p.clamp_min(torch.finfo(log_p.dtype).min)).sum(-1)
    return log_p, (delta * torch.exp(-entropy)).clamp_max(epsilon)
