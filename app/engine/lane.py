"""One lane: a strategy on the loaded models, answering one prompt at a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import cast

from app.engine.commands import AnswerSoFar, ComputeProbabilities
from app.engine.events import LaneInfo, ProbabilitiesComputed
from app.engine.token_events import TokenEvents, tokens_at, tokens_in
from app.models.hub import display_name
from app.models.loaded import LoadedModels
from app.strategies.lane_spec import LaneSpec
from app.strategies.registry import STRATEGIES
from app.strategies.strategy import DEFAULT_TREE, NamedTree
from app.text.token_event import TokenEvent
from decoding.decoder import Decoder, FinishReason
from decoding.drafters.base import TreeDrafter
from decoding.errors import describe
from decoding.model.target import Target
from decoding.params import Params
from decoding.prefill import PrefilledPrompt
from decoding.round import Round, TokenProbs
from decoding.stats import Stats
from decoding.token_probs import score_answer
from decoding.tokenizing.stopping import Stop

# Note on lanes whose model has recurrent layers.
RECURRENT = (
    "This model has recurrent layers: a chain is verified, not a tree, and after a rejection these "
    "layers run again over the accepted tokens. The ids are those of the autoregressive lane, "
    "except for ties within rounding (logits about 0.001 apart)."
)
# Note on lanes whose target has --kv-cache.
REDUCED_CACHE = (
    "The target's keys and values are kept in {}: lossy, as if it were a slightly different model. "
    "Drafts are exact towards that model; specchat bench compares it with full precision."
)


class Lane:
    """A strategy with its own caches and metrics. `available` is False, with a `reason`, where the
    models lack what the strategy needs; such a lane can't be started."""

    usage: None = None  # only servers count for themselves

    def __init__(self, spec: LaneSpec, models: LoadedModels, reason: str | None = None) -> None:
        self.spec = spec
        self.strategy = STRATEGIES[spec.strategy]
        self.models = models = models.seen_by(spec)
        self.reason = reason or models.missing.get(spec.strategy)
        self.default_gamma = 0
        self.prompt_ids: Sequence[int] = ()
        self.ids: list[int] = []
        self.rounds: list[Round] = []
        self.stats = Stats()
        self.params = Params()  # of the first token or the newest round
        self.ttft_seconds = 0.0
        self.probs: TokenProbs | None = None  # of the first token, if recorded
        self._stop = Stop()
        self._tokens = TokenEvents(models.tokenizer)
        self._trees: Mapping[str, NamedTree] = {}
        self.tree = DEFAULT_TREE
        if self.available:
            self._decoder = self._make_decoder()
            if self._decoder.drafter is not None:
                self.default_gamma = self._decoder.drafter.default_gamma
            if self.strategy.trees is not None:
                self._trees = self.strategy.trees(models)

    @property
    def available(self) -> bool:
        return self.reason is None

    @property
    def finished(self) -> FinishReason | None:
        return self._decoder.finished if self.available else None

    @property
    def text(self) -> str:
        """The answer so far, without special tokens, stop texts and incomplete characters."""
        return (
            self._stop.trim(self.models.decode(self.ids)) if self.finished else self._tokens.shown
        )

    @property
    def tokens(self) -> int:
        return len(self.ids)

    @property
    def prefill_seconds(self) -> float:
        """Time of the target's prefill, in this lane or in the one that shared it."""
        return self.prompt.seconds

    @property
    def draft_prefill_seconds(self) -> float:
        return self._decoder.draft_prefill_seconds

    @property
    def prompt(self) -> PrefilledPrompt:
        assert self._decoder.prompt is not None
        return self._decoder.prompt

    @property
    def note(self) -> str | None:
        if self.finished == "length" and self._decoder.context_full:
            return f"the model's context of {self._model.context} tokens is full"
        return self._decoder.drafter.note if self._decoder.drafter is not None else None

    @property
    def target_passes(self) -> int:
        return self.stats.passes if self.strategy.on_target else 0

    @property
    def cache_bytes(self) -> int:
        return self._decoder.cache_bytes if self.available else 0

    @property
    def cached_rows(self) -> int:
        """The number of tokens with rows in the cache."""
        return len(self.prompt_ids) + len(self.ids)

    def free_caches(self) -> None:
        """Free the memory of an answer, but keep its text, its metrics and the chosen tree. Without
        room for a new decoder the lane is no longer available."""
        if not self.available:
            return
        del self._decoder
        try:
            self._decoder = self._make_decoder()
        except Exception as error:  # out of memory again: the other lanes go on
            self.reason = f"it can't begin anew: {describe(error)}"
            return
        chosen, self.tree = self.tree, DEFAULT_TREE  # the new decoder's
        self.set_tree(chosen)

    @property
    def _loaded_note(self) -> str | None:
        """How the checkpoint was read, and what limits exactness on this model."""
        notes = [self.models.notes.get(self.strategy.role or "target")]
        if self.strategy.drafts and self._model.recurrent:
            notes.append(RECURRENT)
        kept = self.models.target.kv_cache
        if self.strategy.on_target and kept != "none":
            notes.append(REDUCED_CACHE.format(kept))
        return "\n".join(filter(None, notes)) or None

    def fresh_copy(self) -> Lane:
        """Make the same lane, before any answer."""
        return Lane(self.spec, self.models)

    def info(self, enabled: bool) -> LaneInfo:
        return LaneInfo(
            name=self.spec.name,
            strategy=self.spec.strategy,
            title=self._title(),
            available=self.available,
            reason=self.reason,
            enabled=enabled,
            default_gamma=self.default_gamma,
            note=self._loaded_note,
            trees=self.trees,
            overrides=self.spec.overrides,
            checkpoint=self.spec.checkpoint,
            claimed=self._claimed(),
        )

    def _title(self) -> str:
        title = self.strategy.title
        if self.strategy.title_of is not None and self.available:
            title = self.strategy.title_of(self.models)
        own = self.spec.checkpoint
        return f"{title} {display_name(own)}" if own else title

    def _claimed(self) -> tuple[float, ...]:
        claimed = self.strategy.claimed
        return claimed(self.models) if claimed is not None and self.available else ()

    def start(
        self,
        prompt_ids: Sequence[int],
        params: Params,
        seed: int,
        stop: Stop,
        shared: PrefilledPrompt | None = None,
        cancelled: Callable[[], bool] = lambda: False,
        answered: int = 0,
    ) -> TokenEvent:
        """Prefill the prompt and return the first token. `shared`: the same prompt, prefilled by
        another lane on the target; its time counts towards this lane's TTFT as if it had been its
        own. `answered` ids at the prompt's end are the beginning of the answer."""
        self.ids, self.rounds, self.stats = [], [], Stats()
        self.prompt_ids = prompt_ids
        self._stop = stop
        self._tokens = TokenEvents(self.models.tokenizer)
        if not self.strategy.on_target:
            shared = None
        started = time.perf_counter()
        params = self.params = self.spec.effective_params(params)
        first = self._decoder.start(prompt_ids, params, seed, stop, shared, cancelled, answered)
        self.ttft_seconds = time.perf_counter() - started
        if self.prompt.copied:
            self.ttft_seconds += self.prompt.seconds
        recorded = self._decoder.record_probabilities
        self.probs = self._decoder.first_token_probs() if recorded else None
        self.ids = self._decoder.generated
        event = self._tokens.first(first)
        return self._tokens.close([event], self.text)[0] if self.finished else event

    def restore(self, prompt_ids: Sequence[int], answer: AnswerSoFar, stop: Stop) -> None:
        """Take over an answer of this or an earlier session. Until `resume` it can only be looked
        at."""
        self.prompt_ids, self.rounds, self._stop = prompt_ids, list(answer.rounds), stop
        self.stats = Stats.of(self.rounds)
        self._tokens = TokenEvents(self.models.tokenizer)
        self._tokens.first(answer.first)
        for record in self.rounds:
            self._tokens.of_round(record)
        emitted = (token for record in self.rounds for token in record.emitted)
        self.ids = [answer.first, *emitted]
        self._decoder.finished = answer.finished

    def resume(self, seed: int, drawn: int, cancelled: Callable[[], bool]) -> None:
        """Go on with the restored answer, as `Decoder.resume` does."""
        self._decoder.resume(
            self.prompt_ids, self.ids, len(self.rounds), seed, self._stop, drawn, cancelled
        )
        self.ids = self._decoder.generated

    def warm_up(self) -> None:
        """Run a few untimed rounds: first passes are slowed down by allocations."""
        if not self.available:
            return
        params = self.spec.effective_params(Params(max_new_tokens=12))
        for _ in islice(self._decoder.generate([0, 0], params), 2):
            pass

    def record_probabilities(self, recorded: bool) -> None:
        """Choose whether the first token and the rounds from now on carry probabilities."""
        self._decoder.record_probabilities = recorded

    def compute_probabilities(
        self, answer: ComputeProbabilities, cancelled: Callable[[], bool]
    ) -> ProbabilitiesComputed:
        """Compute the probabilities of an answer that was decoded without recording them. Does not
        change the lane. Raises InterruptedError when `cancelled()`."""
        probs, rounds = score_answer(
            self._model,
            answer.prompt_ids,
            answer.first,
            answer.first_params.sampling,
            answer.rounds,
            answer.params,
            cancelled,
        )
        tokens = TokenEvents(self.models.tokenizer)
        tokens.first(answer.first)
        texts = tokens.texts(tokens_at(probs).union(*map(tokens_in, rounds)))
        return ProbabilitiesComputed(self.spec.name, answer.run, probs, tuple(rounds), texts)

    def set_tree(self, name: str) -> None:
        """Draft with another of the lane's trees, from the next round on."""
        if name != self.tree:
            self.tree = name
            if self._trees:
                cast(TreeDrafter, self._decoder.drafter).set_choices(self._trees[name].choices)

    def step(self, params: Params) -> Round:
        """Run one round with the run's settings `params`, as this lane overrides them."""
        self.params = self.spec.effective_params(params)
        record = self._decoder.step(self.params)
        self.rounds.append(record)
        self.stats.add(record)
        return record

    def generate(
        self,
        prompt_ids: Sequence[int],
        params: Params,
        seed: int,
        stop: Stop,
        shared: PrefilledPrompt | None = None,
        cancelled: Callable[[], bool] = lambda: False,
        tokens: int | None = None,
        answered: int = 0,
    ) -> None:
        """Generate a whole answer, or as many rounds as its first `tokens` take; `answered` as in
        `start`. Raises InterruptedError when `cancelled()`."""
        self.start(prompt_ids, params, seed, stop, shared, cancelled, answered)
        while not self.finished and (tokens is None or len(self.ids) < tokens):
            if cancelled():
                raise InterruptedError
            self.step(params)

    def events(self, record: Round) -> tuple[TokenEvent, ...]:
        """Return the round's tokens in the order of display. Call it once for every round, in
        order."""
        events = self._tokens.of_round(record)
        return tuple(self._tokens.close(events, self.text) if self.finished else events)

    def token_texts(self, ids: Iterable[int]) -> dict[int, str]:
        """Return the text of each token if it came next, by id."""
        return self._tokens.texts(ids)

    def tree_texts(self) -> dict[int, str]:
        """Return the text of every token in the answer's trees, by id, to inspect rounds that were
        recorded without probabilities."""
        texts = TokenEvents(self.models.tokenizer)
        texts.first(self.ids[0])
        return texts.texts(
            token for record in self.rounds for token in (*record.tokens, *record.chosen)
        )

    @property
    def trees(self) -> dict[str, int]:
        """The longest path of each tree that can be chosen, by its name."""
        return {name: tree.depth for name, tree in self._trees.items()}

    def _make_decoder(self) -> Decoder:
        models, build = self.models, self.strategy.build
        if not self.strategy.on_target:
            return Decoder(self._model)
        return Decoder(
            self._model, None if build is None else build(models), lambda: models.quick_cost
        )

    @property
    def _model(self) -> Target:
        """The model that decides on each token."""
        models = self.models
        return models.target if self.strategy.on_target else cast(Target, models.drafters["draft"])
