"""A small model of the same vocabulary drafts a chain, token by token.

Leviathan et al. 2023 (2211.17192), Chen et al. 2023 (2302.01318).
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from decoding.cost.chain_length import ChainLength
from decoding.device import upload
from decoding.drafters.base import DraftContext, Needs
from decoding.model.prefix import common_prefix_length
from decoding.model.target import Target
from decoding.params import Params
from decoding.trees.draft import Draft, DraftTree
from decoding.trees.shape import chain
from decoding.verification.noise import exponential
from decoding.verification.penalties import Penalties
from decoding.verification.sampling import exponential_race, probabilities

DEFAULT_GAMMA = 4


class DraftModel:
    """Drafts with `model`, whose ids mean the same as the target's.

    The logits of both may be padded to different widths; `target_vocab` is the target's, and
    nothing beyond it is ever proposed. `default_gamma` None: the usual one. Where a context has
    `costs`, a greedy draft ends as soon as another token is too unlikely to be accepted.
    """

    needs: Needs = "none"

    def __init__(self, model: Target, target_vocab: int, default_gamma: int | None = None) -> None:
        self.model = model
        self.default_gamma = default_gamma or DEFAULT_GAMMA
        self.note: str | None = None
        self._target_vocab = target_vocab
        self._cache = model.new_cache()
        self._rows: list[int] = []  # the ids with rows in the cache
        self._length = ChainLength()
        self._penalties: Penalties | None = None  # of the answer that was begun

    @property
    def cache_bytes(self) -> int:
        return self._cache.nbytes

    def start(self, ids: Sequence[int], first: int = 0, features: Tensor | None = None) -> None:
        self.note = self._penalties = None
        common = self._go_back(min(common_prefix_length(self._rows, ids), len(ids) - 1))
        # All but the last id: the first round's pass runs it. Without room for a draft, nothing.
        new = ids[common:-1] if len(ids) <= self.model.context else ()
        if new:
            self._prefill(new)

    def propose(self, context: DraftContext) -> Draft | None:
        ids, sampling = context.ids, context.params.sampling
        gamma = min(context.gamma, self.model.context - len(ids) + 1)
        if gamma < 1:
            self.note = f"draft model is at its limit of {self.model.context} tokens"
            return None
        self._go_back(min(len(self._rows), len(ids) - 1))  # a round that failed may have left more
        # The root's row is missing, and after a fully accepted chain also its last token's: the
        # first pass runs both.
        logits = self._prefill(ids[len(self._rows) :])
        self._cache.checkpoint(gamma - 1)
        if ends := context.costs is not None and self.ends_drafts(context.params):
            self._length.begin(context.costs)
        if self._penalties is None:
            self._penalties = Penalties(context.prompt_length, self.model.device)
        tokens = [upload(ids[-1:], self.model.device)]
        rows: list[Tensor] = []  # of each drafted token: its logits, or its sampling distribution
        for level in range(gamma):
            if level:
                step = self.model.forward(self._cache, DraftTree(chain(0), tokens[-1]))
                self._cache.commit(1)
                logits = step.logits
            logits = self._for_target(logits)
            if sampling.penalizes:
                logits = self._penalties.apply(logits, sampling, ids, torch.cat(tokens))
            if sampling.greedy:
                rows.append(logits)
                tokens.append(logits.argmax(-1))
                if ends and not self._length.goes_on(float(_highest_p(logits))):
                    break
            else:
                rows.append(probabilities(logits, sampling))
                tokens.append(exponential_race(rows[-1], exponential(rows[-1], context.generator)))
        tree = DraftTree(chain(len(rows)), torch.cat(tokens))
        if not sampling.greedy:
            return Draft(tree, torch.cat(rows))
        return Draft(tree, draft_p=lambda: _highest_p(torch.cat(rows)))

    def ends_drafts(self, params: Params) -> bool:
        # On a GPU waiting for each probability would take longer. Of what is sampled it says less.
        return params.sampling.greedy and self.model.device.type == "cpu"

    def observe(self, ids: Sequence[int], accepted: int) -> None:
        # Rows of accepted drafts stay; the last token of a full chain has none.
        known = len(self._rows) + accepted
        rows = self._go_back(min(self._cache.length, known, len(ids) - 1))
        self._rows.extend(ids[len(self._rows) : rows])
        self._length.ended(accepted)

    def _go_back(self, rows: int) -> int:
        """Truncate the cache to at most `rows` rows; returns how many are left."""
        self._cache.truncate(rows)
        del self._rows[self._cache.length :]
        return self._cache.length

    def _prefill(self, new: Sequence[int]) -> Tensor:
        """Append rows for `new` ids. Ids that only the target has (padding, at a high temperature)
        are replaced by the draft model's last one, which affects acceptance, not correctness."""
        last = self.model.vocab_size - 1
        logits = self.model.prefill(self._cache, [min(token, last) for token in new]).logits
        self._rows.extend(new)
        return logits

    def _for_target(self, logits: Tensor) -> Tensor:
        """[1, V of the target]: an id that the draft model lacks is never drafted."""
        lacking = self._target_vocab - logits.shape[1]
        if lacking <= 0:
            return logits[:, : self._target_vocab]
        return torch.nn.functional.pad(logits, (0, lacking), value=-torch.inf)


def _highest_p(logits: Tensor) -> Tensor:
    """The probability of each row's likeliest token, float32 [n]: in half precision it would often
    be 1."""
    return logits.softmax(-1, dtype=torch.float32).amax(-1)
