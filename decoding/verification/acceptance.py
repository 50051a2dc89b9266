"""The acceptance rules: which drafted tokens stay, and the target's own token after them.

Leviathan et al. 2023 (2211.17192), Chen et al. 2023 (2302.01318): with p the target's and q the
drafter's distribution at a position, a drafted x ~ q

    is accepted with probability min(1, p(x) / q(x));
    the first rejected one is replaced by a draw from norm(max(p - q, 0));
    after a draft accepted to its end, one more token is drawn from p.

Every emitted token then has the distribution p. Drafts chosen deterministically (argmax, top-k,
copies) have no q: the target chooses its own token at every node, and the draft is accepted as far
as it agrees (`walk`). `accept` has both rules, which are exact. `accept_typical` is Medusa's rule,
which is lossy: Cai et al. 2024 (2401.10774).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from decoding.device import download
from decoding.params import SamplingParams
from decoding.trees.draft import Draft
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


def accept(draft: Draft, logits: Tensor, sampling: SamplingParams, noise: Noise) -> VerifyResult:
    """Verify a draft with the target's `logits` [n, V]; exact. One transfer from the device."""
    if draft.q is None or sampling.greedy:
        tree = draft.tree
        choices = next_tokens(logits, sampling, noise, tree)
        tokens, chosen, *unread = download(torch.stack([tree.tokens, choices, *draft.unread]))
        draft.set_read(*unread)
        return walk(tree.shape, tokens, chosen)
    return _accept_sampled_chain(draft, logits, sampling, noise)


def walk(shape: TreeShape, tokens: Sequence[int], chosen: Sequence[int]) -> VerifyResult:
    """Exact acceptance of a tree whose nodes were chosen deterministically.

    `chosen[i]` is the target's own next token at node i: its argmax, or a sample of its
    distribution. Descend to the child with that token; the first token without such a child is the
    bonus. All emitted tokens are thus the target's own choices.
    """
    children = shape.children
    node, path, tested = 0, [], 0
    while children[node]:
        tested += 1
        match = next((c for c in children[node] if tokens[c] == chosen[node]), None)
        if match is None:
            break
        path.append(match)
        node = match
    return VerifyResult(tuple(tokens), tuple(path), chosen[node], tested, tuple(chosen))


def _accept_sampled_chain(
    draft: Draft, logits: Tensor, sampling: SamplingParams, noise: Noise
) -> VerifyResult:
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
    accepted = stays.long().cumprod(0).sum()
    # Row i of `rest` is the distribution of the bonus if exactly i drafts are accepted.
    rest = torch.cat([(p[:-1] - draft.q).clamp_min_(0.0), p[-1:]])
    row = rest.index_select(0, accepted[None])
    # p == q up to rounding: the residual may be empty although a draft was rejected
    row = torch.where(row.sum() > 0, row, p.index_select(0, accepted[None]))
    drawn = exponential_race(row, noise.ahead(gamma + 1).index_select(0, accepted[None]))
    bonus = mark_invalid(drawn, row)
    *tokens, k, own = download(torch.cat([draft.tree.tokens, accepted[None], bonus]))
    return VerifyResult(tuple(tokens), tuple(range(1, k + 1)), own, min(k + 1, gamma), draws=u)


def accept_typical(
    draft: Draft,
    logits: Tensor,
    sampling: SamplingParams,
    epsilon: float,
    delta: float,
    noise: Noise,
) -> VerifyResult:
    """Accept tokens that the target finds plausible: p(x) > min(epsilon, delta * exp(-H(p))), with
    p and its entropy H after temperature alone, and all ancestors accepted. The longest path wins,
    ties go to the likelier one; the bonus after it is sampled from the warped p. At temperature 0
    this is greedy and exact. Above it the output no longer has the target's distribution."""
    if sampling.greedy:
        return accept(draft, logits, sampling, noise)
    tree, parents = draft.tree, draft.tree.tensors.parents
    log_p, threshold = plausible(logits, sampling.temperature, epsilon, delta)
    log_x = log_p[parents, tree.tokens]
    passes = log_x.exp() > threshold[parents]
    bonus = next_tokens(logits, sampling, noise, tree)
    # one transfer for all columns: float32 holds every id exactly (up to 2^24)
    columns = (tree.tokens, bonus, passes, log_x, *draft.unread)
    tokens, bonuses, passed, scores, *unread = download(torch.stack([c.float() for c in columns]))
    draft.set_read(*unread)
    shape = tree.shape

    best, alive = (0, 0.0, 0), {0: (0, 0.0)}  # node -> length and summed log p of its path
    for node, parent in enumerate(shape.parents[1:], 1):
        if passed[node] and parent in alive:
            length, score = alive[parent]
            alive[node] = length + 1, score + scores[node]
            best = max(best, (*alive[node], -node))
    last = -best[2]
    path = shape.path(last)
    tested = len(path) + bool(shape.children[last])
    chosen = tuple(map(int, bonuses))
    return VerifyResult(tuple(map(int, tokens)), path, chosen[last], tested, chosen)


def plausible(
    logits: Tensor, temperature: float, epsilon: float, delta: float
) -> tuple[Tensor, Tensor]:
    """For typical acceptance: log p [n, V] after temperature alone, and the thresholds
    min(epsilon, delta * exp(-H(p))) [n]."""
    log_p = (logits.float() / temperature).log_softmax(-1)
    entropy = -(log_p.exp() * log_p.clamp_min(torch.finfo(log_p.dtype).min)).sum(-1)
    return log_p, (delta * torch.exp(-entropy)).clamp_max(epsilon)
