"""Rounds of a drafter whose acceptance and costs are known, made without a model."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from typing import Any

from decoding.round import Round


@dataclass
class Machine:
    """Chains: position i is accepted with probability `alpha[i]` (the last one for all beyond)
    behind the positions before it. A level costs `level`, a pass over n nodes 1 + `node` (n - 1);
    in `proposes` of the rounds there is something to propose, in `hiccups` of them the machine
    does something else for a while."""

    alpha: tuple[float, ...]
    level: float = 0.1
    start: float = 0.0
    node: float = 0.0
    rest: float = 0.02
    proposes: float = 1.0
    hiccups: float = 0.0
    random: random.Random = field(default_factory=lambda: random.Random(7))
    made: int = 0  # rounds of the one answer

    def anew(self, **changes: Any) -> Machine:
        """The same machine, which has made no round yet."""
        return replace(self, random=random.Random(7), made=0, **changes)

    def accepts(self, position: int) -> float:
        return self.alpha[min(position, len(self.alpha)) - 1]

    def round(self, gamma: int) -> Round:
        drafted = gamma if self.random.random() < self.proposes else 0
        accepted = 0
        while accepted < drafted and self.random.random() < self.accepts(accepted + 1):
            accepted += 1
        draft = self.start + self.level * drafted if drafted else 0.0
        verify = 1.0 + self.node * drafted
        if self.random.random() < self.hiccups:
            draft, verify = 20 * draft, 20 * verify
        self.made += 1
        return Round(
            index=self.made - 1,
            tokens=(0,) * (drafted + 1),
            parents=tuple(range(-1, drafted)),
            accepted=tuple(range(1, accepted + 1)),
            emitted=(0,) * (accepted + 1),
            tested=min(accepted + 1, drafted),
            draft_seconds=draft,
            verify_seconds=verify,
            accept_seconds=0.0,
            total_seconds=draft + verify + self.rest,
            gamma=gamma,
        )

    def speed(self, gamma: int) -> float:
        """Tokens per second in the long run."""
        tau, path = 1.0, self.proposes
        for position in range(1, gamma + 1):
            path *= self.accepts(position)
            tau += path
        drafts = self.proposes * bool(gamma)
        seconds = drafts * (self.start + (self.level + self.node) * gamma) + 1.0 + self.rest
        return tau / seconds


@dataclass
class Text(Machine):
    """A machine on which acceptance depends on the place in the text, whatever the draft: `alpha`
    are those of easy and of hard places, and from one token to the next the kind of place is drawn
    anew with probability `changes`."""

    changes: float = 0.1
    here: float = 0.5

    def accepts(self, position: int) -> float:
        self._go_on()
        return self.here

    def round(self, gamma: int) -> Round:
        made = super().round(gamma)
        self._go_on()  # past the target's own token
        return made

    def _go_on(self) -> None:
        if self.random.random() < self.changes:
            self.here = self.random.choice(self.alpha)


def slower(record: Round, times: float) -> Round:
    """The round on a machine that is busy with something else, too."""
    return replace(
        record,
        draft_seconds=times * record.draft_seconds,
        verify_seconds=times * record.verify_seconds,
        total_seconds=times * record.total_seconds,
    )
