"""Requests of the probabilities that open panels and the colours show."""

from __future__ import annotations

from contextlib import suppress

from textual.css.query import NoMatches

from app.engine.commands import RecordProbabilities
from app.tui.actions.base import AppBase


class Probabilities:
    """Actions need not ask for them: after each, what the screen shows is compared with what the
    engine records."""

    def __init__(self, app: AppBase) -> None:
        self.app = app
        self._recorded: frozenset[str] = frozenset()  # lanes whose probabilities are recorded

    def request(self) -> None:
        """Make the engine record probabilities of all lanes while they are shown, and compute those
        of finished answers."""
        with suppress(NoMatches):  # the screen may be closing
            self._request(self.app.main.shows_probabilities)

    def _request(self, shown: bool) -> None:
        state, engine = self.app.state, self.app.engine
        lanes = state.lanes.items() if shown else ()
        recorded = frozenset(name for name, lane in lanes if lane.active)
        if recorded != self._recorded:
            self._recorded = recorded
            engine.send(RecordProbabilities(recorded))
        for answer in state.missing_probabilities() if shown else ():
            state.lanes[answer.lane].computing = True
            engine.send(answer)
