"""Which drafted tokens are accepted, and the target's own token that follows them.

Leviathan et al. 2023 (2211.17192), Chen et al. 2023 (2302.01318): with p the target's and q the
drafter's distribution at a position, a drafted x ~ q

    is accepted with probability min(1, p(x) / q(x));
    the first rejected one is replaced by a draw from norm(max(p - q, 0));
    after a draft accepted to its end, one more token is drawn from p.

Every emitted token then has the distribution p. Where a drafter chooses its tokens (argmax, top-k,
copies) there is no q: the target makes its own choice at every node, and the draft is accepted as
far as it agrees (`walk`). Both are in `accept`, and exact. `accept_typical` is Medusa's rule, and
lossy: Cai et al. 2024 (2401.10774).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from decoding.device import upload
from decoding.params import SamplingParams
from decoding.trees.draft import Draft
from decoding.trees.shape import TreeShape
from decoding.verification.noise import Noise
from decoding.verification.sampling import checked, draw, pick, probabilities


@dataclass(frozen=True, slots=True)
class VerifyResult:
    """`tokens` of all nodes; `path`: accepted nodes from the top, root excluded; `bonus`: the
    target's own token after it, NO_TOKEN where its logits are not numbers; `tested`: levels at
    which the current node had children; `chosen`: the target's own token at every node, () for a
    sampled chain; `draws` [n-1] the numbers that such a chain was tested with, still on the
    device."""

    tokens: tuple[int, ...]
    path: tuple[int, ...]
    bonus: int
    tested: int
    chosen: tuple[int, ...] = ()
    draws: Tensor | None = field(default=None, compare=False)


def accept(draft: Draft, logits: Tensor, sampling: SamplingParams, noise: Noise) -> VerifyResult:
    """Verify a draft by the target's `logits` [n, V], exactly. One transfer from the device."""
    if draft.q is None or sampling.greedy:
        choices = pick(logits, sampling, noise, draft.tree.shape.depths)
        tokens, chosen = torch.stack([draft.tree.tokens, choices]).tolist()
        return walk(draft.tree.shape, tokens, chosen)
    return _accept_sampled_chain(draft, logits, sampling, noise)


def walk(shape: TreeShape, tokens: Sequence[int], chosen: Sequence[int]) -> VerifyResult:
    """Exact acceptance of a tree whose nodes were chosen deterministically.

    `chosen[i]` is the target's own next token at node i: its argmax, or a draw of its own
    distribution. Descend while a child carries it; the first one that no child carries is the
    bonus. What is emitted is thus always the target's own choice.
    """
    children = shape.children
    node, path, tested = 0, [], 0
    while children[node]:
        tested += 1
        carrier = next((c for c in children[node] if tokens[c] == chosen[node]), None)
        if carrier is None:
            break
        path.append(carrier)
        node = carrier
    return VerifyResult(tuple(tokens), tuple(path), chosen[node], tested, tuple(chosen))


def _accept_sampled_chain(
    draft: Draft, logits: Tensor, sampling: SamplingParams, noise: Noise
) -> VerifyResult:
    """x_i ~ q_i stays when u < p_i(x_i) / q_i(x_i); the first that does not is replaced by a draw
    of norm(max(p - q, 0)); after a chain that stays whole the bonus is drawn from p."""
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
    # Row i of `rest` is where the bonus comes from when exactly i drafts stay.
    rest = torch.cat([(p[:-1] - draft.q).clamp_min_(0.0), p[-1:]])
    row = rest.index_select(0, accepted[None])
    # p == q up to rounding: the residual may be empty although a draft was rejected
    row = torch.where(row.sum() > 0, row, p.index_select(0, accepted[None]))
    drawn = draw(row, noise.at(draft.tree.shape.depths).index_select(0, accepted[None]))
    bonus = checked(drawn, row)
    packed = torch.cat([draft.tree.tokens, accepted[None], bonus]).tolist()
    *tokens, k, own = packed
    return VerifyResult(tuple(tokens), tuple(range(1, k + 1)), own, min(k + 1, gamma), draws=u)


def accept_typical(
    draft: Draft,
    logits: Tensor,
    sampling: SamplingParams,
    epsilon: float,
    delta: float,
    noise: Noise,
) -> VerifyResult:
    """Keep what the target finds plausible: p(x) > min(epsilon, delta * exp(-H(p))), p and its
    entropy H after temperature alone, every ancestor included. The longest path wins, ties go to
    the more likely one; the bonus after it is drawn from the warped p. At temperature 0 it is
    plain greedy. Above it the output no longer has the target's distribution."""
    if sampling.greedy:
        return accept(draft, logits, sampling, noise)
    shape = draft.tree.shape
    log_p, threshold = plausible(logits, sampling.temperature, epsilon, delta)
    parents = upload((0, *shape.parents[1:]), logits.device)
    log_x = log_p[parents, draft.tree.tokens]
    passes = log_x.exp() > threshold[parents]
    bonus = pick(logits, sampling, noise, shape.depths)
    # float32 holds every id exactly (up to 2^24), so that one transfer takes all
    columns = (draft.tree.tokens, bonus, passes, log_x)
    tokens, bonuses, passed, scores = torch.stack([c.float() for c in columns]).tolist()

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
    """The quantities of the typical rule: log p [n, V] after temperature alone, and the thresholds
    min(epsilon, delta * exp(-H(p))) [n]."""
    log_p = (logits.float() / temperature).log_softmax(-1)
    entropy = -(log_p.exp() * log_p.clamp_min(torch.finfo(log_p.dtype).min)).sum(-1)
    return log_p, (delta * torch.exp(-entropy)).clamp_max(epsilon)
