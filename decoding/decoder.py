"""The decoding loop, one for all strategies. A round of speculative decoding (Leviathan et al.,
2023, 2211.17192) is

    x_1 ... x_gamma ~ q                    the drafter proposes
    p_1 ... p_gamma+1 = target(x)          the target scores all of it in one pass
    keep x_i while u_i < p(x_i) / q(x_i)   the longest accepted prefix stays
    x ~ norm(max(p - q, 0)), or p_gamma+1  and one more token is the target's own

so every round emits at least one token, and the output has the target's distribution. Drafts may be
trees; `decoding.verification.acceptance` has the rules.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, cast

import torch
from torch import Tensor

from decoding.cost.auto_gamma import AutoGamma
from decoding.cost.model import Cost
from decoding.drafters.base import (
    DraftContext,
    Drafter,
    FeatureDrafter,
    Needs,
    SelfEndingDrafter,
)
from decoding.errors import InputError
from decoding.model.clock import Clock, synchronize
from decoding.model.forward import ForwardOutput
from decoding.model.target import Target
from decoding.params import Params, SamplingParams
from decoding.prefill import PrefilledPrompt, prefill, require_known_ids, require_room
from decoding.round import Round, TokenProbs
from decoding.token_probs import score_first_token, with_probabilities
from decoding.tokenizing.stopping import Stop
from decoding.trees.draft import Draft, DraftTree
from decoding.verification.acceptance import Acceptance, accept, accept_typical
from decoding.verification.noise import Noise
from decoding.verification.penalties import Penalties
from decoding.verification.sampling import NO_TOKEN, next_tokens

FinishReason = Literal["stop", "length"]


class Decoder:
    """Generates one sequence with one drafter (None: autoregressively). Batch size 1.

    `start` prefills and returns the first token, each `step` is one round, `generate` does both;
    `finished` is the finish reason. Everything in `Params` may change between two rounds. With
    `record_probabilities` rounds carry the probabilities computed by `decoding.token_probs`.

    `verify_cost` is called after the first round with gamma "auto", outside its timing. It returns
    the seconds of a target pass over n nodes, or None if they must be learned from the rounds.
    """

    def __init__(
        self,
        target: Target,
        drafter: Drafter | None = None,
        verify_cost: Callable[[], Cost | None] = lambda: None,
    ) -> None:
        self.target = target
        self.drafter = drafter
        self.generated: list[int] = []
        self.finished: FinishReason | None = None
        self.prompt: PrefilledPrompt | None = None
        self._first: tuple[Tensor, SamplingParams] | None = None  # what the first token is from
        self.draft_prefill_seconds = 0.0
        self.record_probabilities = False
        self._auto = AutoGamma(verify_cost)
        self._self_ending = drafter if isinstance(drafter, SelfEndingDrafter) else None
        self._ids: list[int] = []  # everything committed; all but the last have rows in the cache
        self._answer_from = 0  # of `_ids`, what penalties and stop texts count as generated
        self._penalties = Penalties(0, target.device)
        self._rounds = 0
        self._cache = target.new_cache()
        self._clock = Clock(target.device)
        self._stop = Stop()
        self._noise = Noise(target.vocab_size, target.device)

    @torch.inference_mode()
    def start(
        self,
        prompt: Sequence[int],
        params: Params,
        seed: int,
        stop: Stop = Stop(),  # noqa: B008 (frozen)
        shared: PrefilledPrompt | None = None,
        cancelled: Callable[[], bool] = lambda: False,
        answered: int = 0,
    ) -> int:
        """Prefill `prompt` and return the first token. Cached rows of a common prefix are reused,
        and those of `shared` are copied instead of computed. The last `answered` ids of `prompt`
        are the beginning of the answer for penalties and stop texts, though not in `generated`.

        Raises InputError for a prompt that is empty, longer than the context, or of unknown ids,
        and for logits that are not finite; InterruptedError when `cancelled()` between two chunks.
        """
        prompt = list(map(int, prompt))  # also of a tensor
        if not prompt:
            raise InputError("the prompt is empty: give at least one token")
        prompted = self._begin("the prompt", prompt, (), stop, shared, cancelled, answered)
        self._rounds = 0
        self._noise.seed(seed)
        logits = self._penalties.apply(prompted.logits, params.sampling, prompt)
        first = int(next_tokens(logits, params.sampling, self._noise))
        self._require_token(first)
        self._first = logits, params.sampling
        self._commit([first], params)
        return first

    @torch.inference_mode()
    def resume(
        self,
        prompt: Sequence[int],
        generated: Sequence[int],
        rounds: int,
        seed: int,
        stop: Stop = Stop(),  # noqa: B008 (frozen)
        drawn: int = 0,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> None:
        """Go on after the tokens `generated` of an answer that was interrupted, in place of
        `start`. `rounds` is the number of rounds run so far, `drawn` the number of generated tokens
        that were sampled. The next tokens are those that would have followed, unless drafts are
        sampled: these are drawn anew.

        Raises ValueError without a generated token, InputError where the text is longer than the
        context or has unknown ids, InterruptedError when `cancelled()` between two chunks.
        """
        if not generated:
            raise ValueError("an answer without a token is not resumed but started")
        name = "the interrupted answer with its prompt"
        self._begin(name, prompt, generated, stop, None, cancelled)
        self._rounds = rounds
        self._noise.seed(seed, drawn)

    def _begin(
        self,
        name: str,
        prompt: Sequence[int],
        generated: Sequence[int],
        stop: Stop,
        shared: PrefilledPrompt | None,
        cancelled: Callable[[], bool],
        answered: int = 0,
    ) -> PrefilledPrompt:
        """Prefill all but the last token of `prompt` and `generated`, or all of a prompt alone.
        `name` is what messages of errors call them."""
        ids = [*prompt, *generated[:-1]]
        require_room(self.target.context, name, len(ids))
        require_known_ids(self.target.vocab_size, name, [*ids, *generated[-1:]])
        self._stop = stop
        prompted = self._prefill(ids, shared, cancelled)
        self._answer_from = len(prompt) - answered
        self._penalties = Penalties(self._answer_from, self.target.device)
        self.generated = list(generated)
        self._ids += generated[-1:]
        return prompted

    def _prefill(
        self,
        ids: Sequence[int],
        shared: PrefilledPrompt | None,
        cancelled: Callable[[], bool],
    ) -> PrefilledPrompt:
        """Fill the caches of target and drafter with the rows of `ids`."""
        self._clock = Clock(self.target.device)
        self.finished = None
        self.generated = []
        self._first = None
        try:
            prompted = prefill(
                self.target,
                self._cache,
                self._ids[: self._cache.length],
                ids,
                every_row=self._needs in ("all_hidden", "aux"),
                shared=shared,
                cancelled=cancelled,
            )
        finally:
            self._ids = list(ids[: self._cache.length])
        self.prompt = prompted
        self.draft_prefill_seconds = 0.0
        if self.drafter is not None:
            begun = time.perf_counter()
            aux = self._needs == "aux"
            features = prompted.aux_hidden_states if aux else prompted.features
            try:
                self.drafter.start(ids, prompted.first, features)
            except BaseException:  # it may not have seen all rows: the next start must reuse none
                self._cache.truncate(0)
                self._ids = []
                raise
            synchronize(self.target.device)
            self.draft_prefill_seconds = time.perf_counter() - begun
        if prompted.complete and not self.target.keeps_features:
            self.prompt = prompted.without_features()
        return prompted

    @torch.inference_mode()
    def step(self, params: Params) -> Round:
        """Run one round. Raises RuntimeError before `start` and once `finished` is set, InputError
        if the target's logits are not finite. A round that failed while it drafted or verified may
        be run again; after a later error, and on a target with recurrent states, call `resume`."""
        if self.finished:
            raise RuntimeError(f"the generation has ended ({self.finished})")
        if not self.generated or not self._ids:  # no ids: the last round's logits were not finite
            raise RuntimeError("call `start` before `step`")
        begun = time.perf_counter()
        # `_prepare` marks the new clock: what it launches is timed with the next round's draft.
        clock, self._clock = self._clock, Clock(self.target.device)
        clock.mark()
        gamma = self._gamma(params)
        draft = self._propose(gamma, params)
        clock.mark()
        output = self.target.forward(self._cache, draft.tree)
        clock.mark()
        logits = self._penalties.apply(output.logits, params.sampling, self._ids, draft.tree)
        acceptance = self._verify(draft, logits, params)
        self._prepare(output, acceptance)
        result = acceptance.result
        self._require_token(result.bonus)
        # Of what the last round prepared, if anything: how long it took, then the pause since.
        *prepared, draft_seconds, verify_seconds = clock.parts()
        draft_seconds += sum(prepared[:1])
        choice = [result.tokens[node] for node in result.path] + [result.bonus]
        emitted = self._commit(choice, params, rows=len(result.path) + 1)
        if self.drafter is not None:
            self.drafter.observe(self._ids, len(result.path))
        total_seconds = time.perf_counter() - begun
        self._rounds += 1
        record = Round(
            index=self._rounds - 1,
            tokens=result.tokens,
            parents=draft.tree.shape.parents,
            accepted=result.path[: len(emitted)],
            emitted=tuple(emitted),
            tested=min(result.tested, len(emitted)),
            draft_seconds=draft_seconds,
            verify_seconds=verify_seconds,
            accept_seconds=max(total_seconds - draft_seconds - verify_seconds, 0.0),
            total_seconds=total_seconds,
            sampled=not params.sampling.greedy,
            lossy=_is_typical(draft, params) and not params.sampling.greedy,
            chosen=result.chosen,
            ranks=draft.ranks,
            gamma=gamma,
        )
        if self.drafter is not None and params.gamma == "auto":
            self._auto.observe(record)  # outside the round's timing: it may measure
        if self.record_probabilities:
            record = with_probabilities(record, draft, logits, result.draws, params)
        return record

    def first_token_probs(self) -> TokenProbs:
        """Compute the probabilities at the first token. Raises RuntimeError before `start`, and
        after `resume`, which does not choose it."""
        if self._first is None:
            raise RuntimeError("call `start` before `first_token_probs`")
        logits, sampling = self._first
        return score_first_token(logits, self.generated[0], sampling)

    @property
    def context_full(self) -> bool:
        """Whether the target's context is full."""
        return len(self._ids) > self.target.context

    @property
    def cache_bytes(self) -> int:
        """Bytes of keys and values, including the drafter's."""
        return self._cache.nbytes + (0 if self.drafter is None else self.drafter.cache_bytes)

    def generate(
        self,
        prompt: Sequence[int],
        params: Params,
        seed: int = 0,
        stop: Stop = Stop(),  # noqa: B008
    ) -> Iterator[Round]:
        """Call `start`, then run and yield all rounds. The first token, from the prefill, precedes
        them: all ids are in `generated`."""
        self.start(prompt, params, seed, stop)
        while not self.finished:
            yield self.step(params)

    def _gamma(self, params: Params) -> int:
        """Choose the longest path to request from the drafter."""
        if self.drafter is None:
            return 0
        default = self.drafter.default_gamma
        gamma = default if params.gamma is None else params.gamma
        if gamma == "auto":
            drafter = self._self_ending
            ends_drafts = drafter is not None and drafter.ends_drafts(params)
            gamma = self._auto.choose(default, ends_drafts)
        # A round emits one token more than it accepts.
        room = max(self._limit(params) - len(self.generated) - 1, 0)
        return min(gamma, room)

    def _propose(self, gamma: int, params: Params) -> Draft:
        """Get the drafter's tree below the last committed token; that token alone without a
        draft."""
        draft = None
        if self.drafter is not None and gamma > 0:
            costs = self._auto.costs if params.gamma == "auto" else None
            context = DraftContext(
                self._ids, gamma, params, self._noise.generator, costs, self._answer_from
            )
            draft = self.drafter.propose(context)
        if draft is None:
            draft = Draft(DraftTree.of_chain(self._ids[-1:], self.target.device))
        return draft.best_chain() if self.target.recurrent else draft

    def _verify(self, draft: Draft, logits: Tensor, params: Params) -> Acceptance:
        if _is_typical(draft, params):
            return accept_typical(
                draft, logits, params.sampling, params.epsilon, params.delta, self._noise
            )
        return accept(draft, logits, params.sampling, self._noise)

    def _prepare(self, output: ForwardOutput, acceptance: Acceptance) -> None:
        """Move the accepted path's rows to where they stay, and give the drafter its features. On a
        GPU this is launched, with the drafter's first work, before the host knows the result."""
        rows = acceptance.rows
        if isinstance(rows, Tensor):
            self._cache.gather(rows)
        features = output.aux_hidden_states if self._needs == "aux" else output.features
        if self._needs != "none" and features is not None:
            self._clock.mark()
            cast(FeatureDrafter, self.drafter).prepare(features[rows], acceptance)
            self._clock.mark()

    def _require_token(self, token: int) -> None:
        if token == NO_TOKEN:
            tokens = len(self._ids)
            self._cache.truncate(0)  # rows of the tokens before may have become NaN with it
            self._ids = []
            raise InputError(
                f"the model's logits are not numbers (NaN or infinite) after {tokens} tokens: its "
                "weights are damaged, or it must be loaded in another dtype"
            )

    def _limit(self, params: Params) -> int:
        """Return the maximum number of tokens of this generation. The last one needs no row in the
        cache, so it may lie beyond the context."""
        prompt = len(self._ids) - len(self.generated)
        return min(params.max_new_tokens, self.target.context + 1 - prompt)

    def _commit(self, emitted: list[int], params: Params, rows: int = 0) -> list[int]:
        """Commit `emitted`, cut where the generation ends, and the cache's next `rows`; return the
        committed part."""
        before = self._ids[self._answer_from :] if self._stop.texts else ()
        end = self._stop.cut(before, emitted)
        room = self._limit(params) - len(self.generated)
        if end is not None and end <= room:
            self.finished = "stop"
            emitted = emitted[:end]
        elif len(emitted) >= room:
            self.finished = "length"
            emitted = emitted[: max(room, 0)]
        self._cache.commit(rows)
        self.generated += emitted
        if not params.sampling.greedy:
            self._noise.advance(len(emitted))
        self._ids += emitted
        self._cache.truncate(min(self._cache.length, len(self._ids) - 1))
        return emitted

    @property
    def _needs(self) -> Needs:
        return "none" if self.drafter is None else self.drafter.needs


def _is_typical(draft: Draft, params: Params) -> bool:
    """Whether the typical rule verifies `draft`: it needs a draft that was not sampled."""
    return params.acceptance == "typical" and draft.q is None
