"""Which lanes take part, and which of them leads the conversation."""

from __future__ import annotations

from app.engine.commands import SetEnabled, SetLeader
from app.engine.protocol import Engine
from app.tui.state.app_state import AppState


class Switching:
    """Keeps the engine and the state of one mind."""

    def __init__(self, engine: Engine, state: AppState) -> None:
        self._engine, self._state = engine, state

    def toggle(self, name: str) -> None:
        """On or off; a leader that is switched off hands over."""
        state, lane = self._state, self._state.lanes[name]
        if not lane.info.available:
            state.say(f"{state.label(name)}: {lane.info.reason}")
            return
        lane.enabled = not lane.enabled
        self._engine.send(SetEnabled(name, lane.enabled))
        leader = state.leader
        state.choose_leader()
        if state.leader != leader:
            self.tell_leader()

    def lead(self, name: str) -> None:
        """The lane in focus leads, if it takes part."""
        if self._state.lanes[name].active and name != self._state.leader:
            self._state.leader = name
            self.tell_leader()

    def tell_leader(self) -> None:
        if self._state.leader:
            self._engine.send(SetLeader(self._state.leader))
