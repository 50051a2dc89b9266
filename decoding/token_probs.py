"""Per-token probabilities of a round: the target's before and after warping (temperature, top-k,
top-p, min-p), the drafter's, entropies, the likeliest tokens. Computed after the round, outside its
timing, and only with `Decoder.record_probabilities`; `score_answer` adds all but the drafter's to
the rounds of an answer that was decoded without."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

import torch
from torch import Tensor

from decoding.device import download, upload
from decoding.model.target import Target
from decoding.params import Params, SamplingParams
from decoding.round import Likely, Pruned, Round, TokenProbs
from decoding.trees.draft import Draft, DraftTree
from decoding.trees.shape import tree_shape
from decoding.verification.acceptance import typical_threshold
from decoding.verification.penalties import Penalties
from decoding.verification.sampling import probabilities

TOP = 5  # likeliest tokens recorded per position
NODES = 128  # per pass of `score_answer`, which limits the memory for logits
DIGITS = 6  # significant digits of float32


def with_probabilities(
    record: Round, draft: Draft, logits: Tensor, draws: Tensor | None, params: Params
) -> Round:
    """Fill in the round's probabilities (see `Round`). `logits` [n, V] are the target's, `draws`
    [n-1] the numbers that a sampled chain was tested with. One transfer from the device."""
    sampling = params.sampling
    own = None if record.cut else (record.last_node, record.emitted[-1])
    parents = draft.tree.tensors.parents
    before = logits.float().log_softmax(-1)
    after = probabilities(logits, sampling)
    columns = _outlook(before, after)
    columns["model_p"] = before[parents, draft.tree.tokens][1:].exp()
    columns["p"] = after[parents, draft.tree.tokens][1:]
    if own:
        columns["own"] = torch.stack([before[own].exp(), after[own]])
    if draft.q is not None:
        columns["q"] = draft.q.gather(1, draft.tree.tokens[1:, None])
    elif draft.draft_p is not None:
        columns["q"] = draft.draft_p()
    if draws is not None:
        columns["draws"] = draws
    if record.lossy and draft.q is None:
        log_p, threshold = typical_threshold(
            logits, sampling.temperature, params.epsilon, params.delta
        )
        columns["tempered"] = log_p[parents, draft.tree.tokens][1:].exp()
        columns["thresholds"] = threshold[parents][1:]
    pool = draft.pool if draft.kept is not None else None  # None: nothing was left out
    if pool is not None and draft.kept is not None:
        columns |= pool.columns() | {"kept": draft.kept}
    found = _fetch(columns)
    scores, pruned = _pool(found, pool.width) if pool is not None else ((), ())
    return replace(
        record,
        p=(1.0, *_short(found["p"])),
        model_p=(1.0, *_short(found["model_p"])),
        q=(1.0, *_short(found["q"])) if "q" in found else (),
        draws=(0.0, *_short(found["draws"])) if "draws" in found else (),
        entropies=_short(found["entropies"]),
        top=_tops(found, len(record.tokens)),
        own_p=_pair(found["own"]) if own else None,
        tempered_p=(1.0, *_short(found["tempered"])) if "tempered" in found else (),
        thresholds=(0.0, *_short(found["thresholds"])) if "thresholds" in found else (),
        scores=scores,
        pruned=pruned,
    )


@torch.inference_mode()
def score_first_token(logits: Tensor, token: int, sampling: SamplingParams) -> TokenProbs:
    """Compute the probabilities at the position of `token`, the answer's first, from its `logits`
    [1, V]."""
    before, after = logits.float().log_softmax(-1), probabilities(logits, sampling)
    columns = _outlook(before, after)
    columns["own"] = torch.stack([before[0, token].exp(), after[0, token]])
    found = _fetch(columns)
    return TokenProbs(_short(found["entropies"])[0], _tops(found, 1)[0], _pair(found["own"]))


@torch.inference_mode()
def score_answer(
    target: Target,
    prompt: Sequence[int],
    first: int,
    first_sampling: SamplingParams,
    rounds: Sequence[Round],
    params: Sequence[Params],
    cancelled: Callable[[], bool] = lambda: False,
) -> tuple[TokenProbs, list[Round]]:
    """Compute the probabilities of a finished answer: at its `first` token, chosen with
    `first_sampling`, and in those of its `rounds` that have none. `params` are the settings of each
    round. The trees of many rounds are scored in one pass, as branches of the chain that they
    committed. Raises InterruptedError when `cancelled()` between two passes."""
    cache = target.new_cache()
    logits = target.prefill(cache, prompt, cancelled).logits
    penalties = Penalties(len(prompt), target.device)
    logits = penalties.apply(logits, first_sampling, prompt)
    probs = score_first_token(logits, first, first_sampling)
    measured = list(rounds)
    committed = [*prompt, first]  # before each round
    for group in _groups(rounds, 0 if target.recurrent else NODES):
        if cancelled():
            raise InterruptedError
        parents: list[int] = []
        tokens: list[int] = []
        nodes_of: list[list[int]] = []  # each round's, in the tree of all
        path: list[int] = []
        for index in group:
            record = rounds[index]
            nodes: list[int] = []
            for token, parent in zip(record.tokens, record.parents, strict=True):
                nodes.append(len(tokens))
                above = path[-1] if path else -1  # the root follows the last accepted node
                parents.append(above if parent < 0 else nodes[parent])
                tokens.append(token)
            nodes_of.append(nodes)
            path += [nodes[node] for node in (0, *record.accepted)]
        ids = upload(tokens, target.device)
        logits = target.forward(cache, DraftTree(tree_shape(tuple(parents)), ids)).logits
        cache.keep(path)
        for index, nodes in zip(group, nodes_of, strict=True):
            record, settings = rounds[index], params[index]
            if not record.entropies:
                at = upload(nodes, target.device)
                draft = Draft(DraftTree(record.shape, ids[at]))
                own = penalties.apply(logits[at], settings.sampling, committed, draft.tree)
                measured[index] = with_probabilities(record, draft, own, None, settings)
            committed += record.emitted
    return probs, measured


def _groups(rounds: Sequence[Round], most: int) -> Iterator[range]:
    """Groups of consecutive rounds with at most `most` nodes, or of a single larger round."""
    start, nodes = 0, 0
    for index, record in enumerate(rounds):
        if index > start and nodes + len(record.tokens) > most:
            yield range(start, index)
            start, nodes = index, 0
        nodes += len(record.tokens)
    if rounds:
        yield range(start, len(rounds))


def _outlook(before: Tensor, after: Tensor) -> dict[str, Tensor]:
    """Entropies in bits, and the likeliest tokens, of rows of log-probabilities `before` [n, V] and
    probabilities `after` [n, V]."""
    finite = before.clamp_min(torch.finfo(before.dtype).min)
    top = before.topk(min(TOP, before.shape[-1]), dim=-1)
    return {
        "entropies": -(before.exp() * finite).sum(-1) / math.log(2),
        "top": top.indices,
        "top_before": top.values.exp(),
        "top_after": after.gather(-1, top.indices),
    }


def _fetch(columns: dict[str, Tensor]) -> dict[str, list[float]]:
    """Tensors as flat lists, in one transfer. float32 holds every id exactly (up to 2^24)."""
    packed = iter(download(torch.cat([each.flatten().float() for each in columns.values()])))
    return {name: list(islice(packed, each.numel())) for name, each in columns.items()}


def _short(values: Sequence[float]) -> tuple[float, ...]:
    return tuple(float(f"{value:.{DIGITS}g}") for value in values)


def _pair(values: Sequence[float]) -> tuple[float, float]:
    before, after = _short(values)
    return before, after


def _tops(found: dict[str, list[float]], rows: int) -> tuple[tuple[Likely, ...], ...]:
    ids = map(int, found["top"])
    likely = zip(ids, _short(found["top_before"]), _short(found["top_after"]), strict=True)
    size = len(found["top"]) // rows
    return tuple(tuple(islice(likely, size)) for _ in range(rows))


def _pool(
    found: dict[str, list[float]], width: int
) -> tuple[tuple[float, ...], tuple[Pruned, ...]]:
    """The probability of the path down to each node, root included, and the guesses below these
    nodes that were not kept, likeliest first."""
    scores = _short(found["pool_scores"])
    node_of = {-1: 0} | {int(guess): node for node, guess in enumerate(found["kept"], 1)}
    guesses = zip(map(int, found["pool_tokens"]), map(int, found["pool_parents"]), strict=True)
    pruned = [
        Pruned(node_of[parent], token, guess % width, scores[guess])
        for guess, (token, parent) in enumerate(guesses)
        if guess not in node_of and parent in node_of
    ]
    pruned.sort(key=lambda guess: -guess.score)
    return (1.0, *(scores[guess] for guess in node_of if guess >= 0)), tuple(pruned)
