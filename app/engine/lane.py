"""One lane: a strategy on the family's models, answering one prompt at a time."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import cast

from app.engine.events import LaneInfo
from app.models.loaded import LoadedModels
from app.strategies.registry import STRATEGIES, LaneSpec
from app.strategies.strategy import DEFAULT_TREE, NamedTree
from decoding.decoder import Decoder, FinishReason
from decoding.drafters.base import TreeDrafter
from decoding.params import Params, with_settings
from decoding.prefill import PrefilledPrompt
from decoding.probes import probe_first_token
from decoding.round import Round, TokenEvent, TokenFate, TokenProbs
from decoding.stats import Stats
from decoding.tokenizing.detokenizer import Detokenizer
from decoding.tokenizing.stopping import Stop


class Lane:
    """A strategy with its own caches and figures. `available` is False, with a `reason`, where the
    family lacks what the strategy needs; such a lane can't be started."""

    def __init__(self, spec: LaneSpec, family: LoadedModels) -> None:
        self.spec = spec
        self.strategy = STRATEGIES[spec.strategy]
        self.family = family
        self.reason = family.missing.get(spec.strategy)
        self.default_gamma = 0
        self.ids: list[int] = []
        self.rounds: list[Round] = []
        self.stats = Stats()
        self.ttft_seconds = 0.0
        self.belief: TokenProbs | None = None  # of the first token, while watched
        self._stop = Stop()
        self._detokenizer = Detokenizer(family.decode)
        self._shown = ""  # the pieces handed out so far
        self._trees: Mapping[str, NamedTree] = {}
        self.tree = DEFAULT_TREE
        if self.available:
            self._decoder = self._make_decoder()
            if self._decoder.drafter is not None:
                self.default_gamma = self._decoder.drafter.default_gamma
            if self.strategy.trees is not None:
                self._trees = self.strategy.trees(family)

    @property
    def available(self) -> bool:
        return self.reason is None

    @property
    def finished(self) -> FinishReason | None:
        return self._decoder.finished

    @property
    def text(self) -> str:
        """The answer so far, without special tokens, stop texts, a character not yet whole."""
        return self._stop.trim(self.family.decode(self.ids)) if self.finished else self._shown

    @property
    def prefill_seconds(self) -> float:
        """The target's, or of the lane that it was shared with."""
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
        return self._decoder.drafter.note if self._decoder.drafter is not None else None

    @property
    def target_passes(self) -> int:
        return self.stats.passes if self.strategy.on_target else 0

    @property
    def cache_bytes(self) -> int:
        return self._decoder.cache_bytes if self.available else 0

    def info(self, enabled: bool) -> LaneInfo:
        return LaneInfo(
            name=self.spec.name,
            strategy=self.spec.strategy,
            title=self._title(),
            available=self.available,
            reason=self.reason,
            enabled=enabled,
            default_gamma=self.default_gamma,
            note=self.family.notes.get(self.strategy.role or ""),
            trees=self.trees,
            overrides=self.spec.overrides,
        )

    def _title(self) -> str:
        if self.strategy.title_of is None or not self.available:
            return self.strategy.title
        return self.strategy.title_of(self.family)

    def start(
        self,
        prompt_ids: Sequence[int],
        params: Params,
        seed: int,
        stop: Stop,
        shared: PrefilledPrompt | None = None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> TokenEvent:
        """Prefill and give the first token. `shared`: the same prompt, prefilled by another lane
        on the target; its time counts towards this lane's TTFT as if it had been its own."""
        self.ids, self.rounds, self.stats, self._shown = [], [], Stats(), ""
        self._stop = stop
        self._detokenizer = Detokenizer(self.family.decode)
        if not self.strategy.on_target:
            shared = None
        begun = time.perf_counter()
        params = self.own(params)
        first = self._decoder.start(prompt_ids, params, seed, stop, shared, cancelled)
        self.ttft_seconds = time.perf_counter() - begun
        if shared is not None and self.prompt is shared:
            self.ttft_seconds += shared.seconds
        self.belief = None
        if self._decoder.record_probabilities:
            self.belief = probe_first_token(self.prompt.logits, first, params.sampling)
        self.ids = self._decoder.generated
        event = TokenEvent(first, self._detokenizer.push(first), TokenFate.FIRST, -1)
        self._shown = event.text
        return self._closed([event])[0] if self.finished else event

    def warm_up(self) -> None:
        """A few untimed rounds: first passes pay for allocations that later ones don't."""
        if not self.available:
            return
        params = self.own(Params(max_new_tokens=12))
        self._decoder.start([0, 0], params, 0)
        for _ in range(2):
            self._decoder.step(params)

    def watch(self, watched: bool) -> None:
        """Whether the first token, and the rounds from now on, carry evidence."""
        self._decoder.record_probabilities = watched

    def set_tree(self, name: str) -> None:
        """Another tree for its drafts, from the next round on."""
        if name != self.tree:
            self.tree = name
            cast(TreeDrafter, self._decoder.drafter).set_choices(self._trees[name].choices)

    def step(self, params: Params) -> Round:
        record = self._decoder.step(self.own(params))
        self.rounds.append(record)
        self.stats.add(record)
        return record

    def events(self, record: Round) -> tuple[TokenEvent, ...]:
        """The round's tokens in the order of display. Call it once for every round, in order."""
        push, ghost = self._detokenizer.push, self._detokenizer.ghost
        events = []
        for node in (*record.accepted, *record.rejected_path):
            fate, token = record.fate(node), record.tokens[node]
            text = ghost(token) if fate.ghost else push(token)
            events.append(TokenEvent(token, text, fate, record.index, node))
        for token in record.emitted[len(record.accepted) :]:
            events.append(TokenEvent(token, push(token), record.fate(-1), record.index))
        self._shown += "".join(event.text for event in events if not event.fate.ghost)
        return tuple(self._closed(events) if self.finished else events)

    def pieces(self, record: Round) -> dict[int, str]:
        """A picture of each token that the round knows of. Before `events`, which moves on: the
        tree stands behind what was committed until then."""
        pruned = (guess.token for guess in record.pruned)
        likely = (token for top in record.top for token, _, _ in top)
        return self._pictures({*record.tokens, *record.chosen, *record.emitted, *pruned, *likely})

    def first_pieces(self) -> dict[int, str]:
        """A picture of each token that might have been the first. They stand behind the one that
        was: at the very beginning many tokenizers drop a space."""
        top = self.belief.top if self.belief else ()
        return self._pictures({token for token, _, _ in top})

    def _pictures(self, ids: set[int]) -> dict[int, str]:
        return {token: self.family.picture(token, self._detokenizer) for token in sorted(ids)}

    def _closed(self, events: list[TokenEvent]) -> list[TokenEvent]:
        """The last round's events, so that all pieces together are the lane's text: a character
        that was never completed is added, a stop text taken away."""
        rest = self._detokenizer.flush()
        surplus = max(len(self._shown) + len(rest) - len(self.text), 0)
        for i in reversed(range(len(events))):
            if not events[i].fate.ghost:
                text = events[i].text + rest
                kept = max(len(text) - surplus, 0)
                events[i] = replace(events[i], text=text[:kept])
                surplus, rest = surplus - (len(text) - kept), ""
        return events

    @property
    def trees(self) -> dict[str, int]:
        """Those to choose from by name, and their longest paths."""
        return {name: tree.depth for name, tree in self._trees.items()}

    def own(self, params: Params) -> Params:
        """The run's settings as this lane has them."""
        params = with_settings(params, self.spec.overrides)
        if not self.strategy.typical:
            params = replace(params, acceptance="exact")
        return params

    def _make_decoder(self) -> Decoder:
        family, build = self.family, self.strategy.build
        if not self.strategy.on_target:
            return Decoder(family.drafters["draft"])
        return Decoder(
            family.target, None if build is None else build(family), lambda: family.quick_cost
        )


def answer_seed(seed: int, run: int, use: str = "") -> int:
    """One for each run, the same for all its lanes: with the same draws they say the same, where
    what they draft is not drawn. `use`: another one, for draws that are independent of these."""
    digest = hashlib.sha256(f"{seed}/{run}/{use}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1
