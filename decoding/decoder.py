"""The loop, the only one: propose, verify in one pass, accept, keep, observe."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from decoding.cost.auto_gamma import AutoGamma
from decoding.drafters.base import DraftContext, Drafter
from decoding.errors import InputError
from decoding.model.cache import TreeCache
from decoding.model.clock import Clock
from decoding.model.prefix import common_prefix
from decoding.model.target import ForwardOutput, Target
from decoding.params import Params
from decoding.probes import with_probabilities
from decoding.round import Round
from decoding.tokenizing.stopping import Stop
from decoding.trees.draft import Draft, DraftTree
from decoding.trees.shape import chain
from decoding.verification.acceptance import VerifyResult, accept, accept_typical
from decoding.verification.noise import Noise
from decoding.verification.sampling import pick

FinishReason = Literal["stop", "length"]


@dataclass(frozen=True, slots=True, eq=False)
class Prompt:
    """A prefilled prompt that several decoders on the same target can share.

    `cache` holds its rows (and may go on growing behind them), `logits` [1, V] belong to its last
    row, `features` [len(ids) - first, H] and `taps` [len(ids) - first, T * H] to the rows from
    `first` on: the last few, or where a drafter needs them (`complete`) all that were computed and
    not reused.
    """

    ids: tuple[int, ...]
    cache: TreeCache
    logits: Tensor
    first: int
    features: Tensor
    taps: Tensor | None
    complete: bool
    seconds: float


class Decoder:
    """Generates one sequence with one drafter (None: autoregressively). Batch size 1.

    `start` prefills and gives the first token, each `step` is one round; `finished` says why there
    are no more. Between two rounds everything in `Params` may change.

    `verify_cost` is asked behind the first round with gamma "auto", outside its time: seconds of a
    target pass over n nodes, None where they are not known and it has to find out.
    """

    def __init__(
        self,
        target: Target,
        drafter: Drafter | None = None,
        verify_cost: Callable[[], Callable[[float], float] | None] = lambda: None,
    ) -> None:
        self.target = target
        self.drafter = drafter
        self.generated: list[int] = []
        self.finished: FinishReason | None = None
        self.prompt: Prompt | None = None
        self.draft_prefill_seconds = 0.0
        default_gamma = 0 if drafter is None else drafter.default_gamma
        self._auto = AutoGamma(default_gamma, verify_cost)
        self.watched = False  # somebody looks at the trees: rounds carry evidence
        self._ids: list[int] = []  # everything committed; all but the last have rows in the cache
        self._prompt_length = 0
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
        shared: Prompt | None = None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> int:
        """Prefill `prompt` and return the first token. Rows that the cache still has of a common
        beginning are reused; those of `shared` are copied instead of computed.

        Raises InputError for a prompt that is empty or longer than the context, InterruptedError
        when `cancelled()` between two chunks.
        """
        if not prompt:
            raise InputError("the prompt is empty: give at least one token")
        if len(prompt) > self.target.context:
            raise InputError(
                f"the prompt has {len(prompt)} tokens, the model's context holds "
                f"{self.target.context}: shorten it"
            )
        self._stop = stop
        self._noise.seed(seed)
        self._rounds = 0
        self.finished = None
        self.generated = []
        prompted = self._prefill(prompt, shared, cancelled)
        self.prompt = prompted
        self._ids = list(prompt)
        self._prompt_length = len(prompt)
        self.draft_prefill_seconds = 0.0
        if self.drafter is not None:
            begun = time.perf_counter()
            taps = self.drafter.needs == "taps"
            features = prompted.taps if taps else prompted.features
            try:
                self.drafter.start(prompt, prompted.first, features)
            except Exception:  # it may not have seen all rows: the next start begins anew
                self._cache.truncate(0)
                self._ids = []
                raise
            self._synchronize()
            self.draft_prefill_seconds = time.perf_counter() - begun
        first = int(pick(prompted.logits, params.sampling, self._noise))
        self._commit([first], params)
        return first

    @torch.inference_mode()
    def step(self, params: Params) -> Round:
        """One round. Must not be called once `finished` is set."""
        if self.finished:
            raise RuntimeError(f"the generation has ended ({self.finished})")
        begun = time.perf_counter()
        self._clock.start()
        gamma = self._gamma(params)
        draft = self._propose(gamma, params)
        self._clock.mark()
        result = self.target.forward(self._cache, draft.tree)
        self._clock.mark()
        verdict = self._verify(draft, result.logits, params)
        self._cache.keep([0, *verdict.path])
        choice = [verdict.tokens[node] for node in verdict.path] + [verdict.bonus]
        emitted = self._commit(choice, params)
        if self.drafter is not None:
            features = self._of_path(result, verdict.path)
            self.drafter.observe(self._ids, len(verdict.path), features)
        self._clock.mark()
        draft_seconds, verify_seconds, accept_seconds = self._clock.parts()
        total_seconds = time.perf_counter() - begun
        self._rounds += 1
        record = Round(
            index=self._rounds - 1,
            tokens=verdict.tokens,
            parents=draft.tree.shape.parents,
            accepted=verdict.path[: len(emitted)],
            emitted=tuple(emitted),
            tested=min(verdict.tested, len(emitted)),
            draft_seconds=draft_seconds,
            verify_seconds=verify_seconds,
            accept_seconds=accept_seconds,
            total_seconds=total_seconds,
            sampled=not params.sampling.greedy,
            lossy=params.acceptance == "typical" and not params.sampling.greedy,
            chosen=verdict.chosen,
            ranks=draft.ranks,
            gamma=gamma,
        )
        if self.drafter is not None and params.gamma == "auto":
            self._auto.observe(record)  # not a part of the round's time: it may measure
        if self.watched:  # not a part of decoding, nor of its time
            record = with_probabilities(record, draft, result.logits, verdict.draws, params)
        return record

    @property
    def cache_bytes(self) -> int:
        """Of keys and values, the drafter's own among them."""
        return self._cache.nbytes + (0 if self.drafter is None else self.drafter.cache_bytes)

    def generate(
        self,
        prompt: Sequence[int],
        params: Params,
        seed: int = 0,
        stop: Stop = Stop(),  # noqa: B008
    ) -> Iterator[Round]:
        """`start` and all rounds; the ids are in `generated`."""
        self.start(prompt, params, seed, stop)
        while not self.finished:
            yield self.step(params)

    def _gamma(self, params: Params) -> int:
        """The longest path to ask the drafter for."""
        if self.drafter is None:
            return 0
        gamma = self.drafter.default_gamma if params.gamma is None else params.gamma
        # A round emits one token more than it accepts, and no more than may still be emitted.
        room = max(self._limit(params) - len(self.generated) - 1, 0)
        return min(self._auto.choose() if gamma == "auto" else gamma, room)

    def _propose(self, gamma: int, params: Params) -> Draft:
        """The drafter's tree behind the last committed token, or that token alone."""
        draft = None
        if self.drafter is not None and gamma > 0:
            context = DraftContext(self._ids, gamma, params, self._noise.generator)
            draft = self.drafter.propose(context)
        if draft is None:
            root = torch.tensor(self._ids[-1:], device=self.target.device)
            draft = Draft(DraftTree(chain(0), root))
        return draft

    def _verify(self, draft: Draft, logits: Tensor, params: Params) -> VerifyResult:
        if params.acceptance == "typical" and draft.q is None:
            return accept_typical(
                draft, logits, params.sampling, params.epsilon, params.delta, self._noise
            )
        return accept(draft, logits, params.sampling, self._noise)

    def _limit(self, params: Params) -> int:
        """Tokens that this generation may have. The last one needs no row, so one more than the
        context holds can be known."""
        return min(params.max_new_tokens, self.target.context + 1 - self._prompt_length)

    def _commit(self, emitted: list[int], params: Params) -> list[int]:
        """Take over `emitted` up to the end of the generation, if it lies there."""
        end = self._stop.cut(self.generated, emitted)
        room = self._limit(params) - len(self.generated)
        if end is not None and end <= room:
            self.finished = "stop"
            emitted = emitted[:end]
        elif len(emitted) >= room:
            self.finished = "length"
            emitted = emitted[: max(room, 0)]
        self.generated += emitted
        if not params.sampling.greedy:
            self._noise.advance(len(emitted))
        self._ids += emitted
        self._cache.truncate(min(self._cache.length, len(self._ids) - 1))
        return emitted

    def _prefill(
        self, prompt: Sequence[int], shared: Prompt | None, cancelled: Callable[[], bool]
    ) -> Prompt:
        begun = time.perf_counter()
        wants_all = self.drafter is not None and self.drafter.needs in ("final", "taps")
        keep = wants_all or self.target.keeps_features
        # The last token always goes through the model: its logits begin the answer.
        known = self._ids[: self._cache.length]
        common = min(common_prefix(known, prompt), len(prompt) - 1)
        if keep:  # and the row before the first new token: drafters pair its feature with it
            common = max(common - 1, 0)
        self._cache.truncate(common)
        self._ids = list(prompt[:common])
        if (
            shared is not None
            and shared.ids == tuple(prompt)
            and (not wants_all or (shared.complete and shared.first <= common))
        ):
            self._cache.copy_rows(shared.cache, len(prompt))
            return shared
        try:
            result = self.target.prefill(self._cache, prompt[common:], cancelled, keep)
        except InterruptedError:
            if wants_all:  # the drafter would never see the features of these rows
                self._cache.truncate(0)
            raise
        finally:
            self._ids = list(prompt[: self._cache.length])
        self._synchronize()
        seconds = time.perf_counter() - begun
        first = len(prompt) - len(result.features)
        return Prompt(
            tuple(prompt),
            self._cache,
            result.logits,
            first,
            result.features,
            result.taps,
            keep,
            seconds,
        )

    def _of_path(self, result: ForwardOutput, path: Sequence[int]) -> Tensor | None:
        """What the drafter asks for of the root and the accepted path."""
        needs = "none" if self.drafter is None else self.drafter.needs
        features = result.taps if needs == "taps" else result.features
        if needs == "none" or features is None:
            return None
        if list(path) == list(range(1, len(path) + 1)):
            return features[: len(path) + 1]
        return features[[0, *path]]

    def _synchronize(self) -> None:
        if self.target.device.type == "cuda":
            torch.cuda.synchronize(self.target.device)
