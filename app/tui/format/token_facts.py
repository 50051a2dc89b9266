"""Explains one token: who proposed it, whether it was accepted, and why."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from app.engine.events import PIECE, Prefilled, RoundFinished
from app.text.terminal_text import one_line, token_name
from app.text.token_event import TokenEvent
from app.tui.format.numbers import ordinal, probability
from app.tui.format.tree import explain_fate
from app.tui.state.lane_state import LaneState
from app.tui.tokens.probabilities import Source, entropy, target_p
from decoding.round import Likely, Round, TokenFate

MEANINGS = {
    TokenFate.FIRST: "the first token, from the prefill",
    TokenFate.PLAIN: "nothing was drafted in this round",
    TokenFate.BONUS: "bonus: it follows a draft that was accepted in full",
    TokenFate.CORRECTION: "correction: it replaces a rejected draft",
}


@dataclass(frozen=True)
class TokenFacts:
    """Facts about a token of `lane` in `event`. If no probabilities were recorded for the round,
    they are None and `top` is empty."""

    lane: LaneState
    token: TokenEvent
    event: Source

    @property
    def record(self) -> Round | None:
        return self.event.round if isinstance(self.event, RoundFinished) else None

    @property
    def name(self) -> str:
        if self.token.id == PIECE:
            return one_line(self.token.text).replace(" ", "·")
        return token_name(self.token.id, self.lane.texts)

    @property
    def drafted(self) -> bool:
        return self.token.node > 0

    @cached_property
    def parent(self) -> int:
        """The node that the token follows, or would have followed."""
        return self.record.parent(self.token.node) if self.record else 0

    @cached_property
    def emitted(self) -> int | None:
        """The token at this position of the answer, None if there is none."""
        record = self.record
        if record is None:
            return self.token.id
        path = (0, *record.accepted)
        index = path.index(self.parent) if self.parent in path else len(record.emitted)
        return record.emitted[index] if index < len(record.emitted) else None

    @property
    def measured(self) -> bool:
        return self.entropy is not None

    @property
    def entropy(self) -> float | None:
        """The model's entropy before sampling settings, in bits."""
        return entropy(self.token, self.event)

    @property
    def p(self) -> tuple[float, float] | None:
        """The model's probability before and after the sampling settings."""
        return target_p(self.token, self.event)

    @property
    def q(self) -> float | None:
        """The drafter's own probability."""
        record = self.record
        return record.q[self.token.node] if record and record.q and self.drafted else None

    @property
    def likeliest(self) -> tuple[Likely, ...]:
        """The model's likeliest tokens there, the likeliest first."""
        if isinstance(self.event, Prefilled):
            return self.event.probs.top if self.event.probs else ()
        return self.event.round.top[self.parent] if self.event.round.top else ()

    @property
    def top(self) -> tuple[Likely, ...]:
        """Its likeliest tokens, and this one if it is not among them."""
        top = self.likeliest
        if top and self.p and all(token != self.token.id for token, _, _ in top):
            top += ((self.token.id, *self.p),)
        return top

    # In words

    @property
    def who(self) -> str:
        """Who proposed the token."""
        record, node = self.record, self.token.node
        strategy = self.lane.strategy
        if strategy.remote:
            return "the server"
        if record is None or not self.drafted:
            on_target = strategy.on_target
            return "the target itself" if on_target else "the draft model, which answers alone"
        depth = record.shape.depths[node]
        guess = f", {ordinal(record.ranks[node])} guess" if record.ranks else ""
        who = strategy.proposed_by.format(
            title=self.lane.info.title, depth=depth, length=record.shape.depth
        )
        return f"{who}{guess}"

    @property
    def fate(self) -> str:
        """The token's fate, and why."""
        record = self.record
        if self.lane.strategy.remote:
            return "a piece of text as it arrived, of one token or more"
        if record is None or not self.drafted:
            return MEANINGS[self.token.fate]
        why = explain_fate(record, self.lane.texts, self.token.node)
        match record.fate(self.token.node):
            case TokenFate.ACCEPTED:
                return why
            case TokenFate.REJECTED:
                return f"rejected: {why}"
        return f"never tested: {why}"

    @property
    def chance(self) -> str | None:
        """How likely acceptance was, and what decided it; None if the token was not tested."""
        record, node = self.record, self.token.node
        if record is None or self.p is None or not self.drafted:
            return None
        if record.fate(node) is TokenFate.DROPPED:
            return None
        _, p = self.p
        if record.lossy:
            return self._threshold(record)
        if not record.sampled:
            return "1: the target's likeliest" if p else "0: another is the target's likeliest"
        if record.chosen:
            drew = token_name(record.chosen[self.parent], self.lane.texts)
            return f"{probability(p)} = p; the target drew {drew}"
        if not (record.q and record.draws):
            return None
        ratio = min(1.0, p / record.q[node]) if record.q[node] else 1.0
        draw = record.draws[node]
        sign = "below" if draw < ratio else "not below"
        return f"{probability(ratio)} = min(1, p/q); the draw {probability(draw)} is {sign}"

    def _threshold(self, record: Round) -> str:
        """For typical acceptance: the probability after temperature alone, and its threshold."""
        p, least = record.tempered_p[self.token.node], record.thresholds[self.token.node]
        sign = "above" if p > least else "not above"
        rule = f"min(ε, δ·e^-H) = {probability(least)}"
        return f"p with temperature alone {probability(p)}, {sign} {rule}"

    @property
    def summary(self) -> str:
        """A few lines for a tooltip."""
        numbers = []
        if self.p is not None:
            raw, p = map(probability, self.p)
            numbers.append(f"p {p} (raw {raw})")
        if self.q is not None:
            numbers.append(f"q {probability(self.q)}")
        lines = (f"{self.name}  {self.who}", self.fate, "  ".join(numbers))
        return "\n".join(line for line in lines if line)


def facts_of(lane: LaneState, token: TokenEvent) -> TokenFacts | None:
    """Return the facts about a token; None if it is not in the lane's last answer."""
    if token.fate is TokenFate.FIRST:
        return TokenFacts(lane, token, lane.first) if lane.first else None
    if not 0 <= token.round < len(lane.round_events):
        return None
    return TokenFacts(lane, token, lane.round_events[token.round])


def facts_here(lane: LaneState) -> TokenFacts | None:
    """Return the facts about the token under the cursor, or else about the last token of the round
    shown in the panels."""
    if lane.cursor is not None:
        return facts_of(lane, lane.cursor)
    if event := lane.round_event_here:
        last = next((each for each in reversed(event.tokens) if not each.fate.discarded), None)
        return TokenFacts(lane, last, event) if last else None
    return TokenFacts(lane, lane.first.first, lane.first) if lane.first else None
