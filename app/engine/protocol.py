"""What the screen may ask of the session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from app.engine.events import Event, PastTurn, Schedule
from app.strategies.registry import LaneSpec
from decoding.params import Params

if TYPE_CHECKING:  # settings are slow to import
    from app.config.settings import ModelOptions


class Engine(Protocol):
    """What the screen needs. No call blocks; everything that happens comes back from `drain`."""

    def open(self) -> None:
        """Begin loading on the engine's own thread. Where that failed, or the engine has ended:
        begin anew, with all that it was told, and go on with the conversation."""

    def drain(self) -> list[Event]:
        """All events since the last call, oldest first."""

    def run(self, prompt: str) -> None:
        """Answer `prompt` as the next turn of the conversation, in every enabled lane."""

    def again(self) -> None:
        """Answer the last prompt once more with the same seed, replacing its answers."""

    def stop(self) -> None:
        """End the running turn after the current round; what was generated stays."""

    def pause(self, paused: bool) -> None: ...

    def step(self) -> None:
        """While paused: exactly one round of the next lane that is due."""

    def new_conversation(self) -> None: ...

    def resume(self, turns: Sequence[PastTurn], seed: int) -> None:
        """Forget the conversation and go on with this one, and with its seed."""

    def set_params(self, params: Params) -> None:
        """Acts at the next round of every lane."""

    def set_enabled(self, lane: str, enabled: bool) -> None:
        """Acts now for a running lane (it is stopped) and otherwise at the next run."""

    def set_schedule(self, schedule: Schedule) -> None:
        """fair: one lane after the other, comparable speeds. race: round-robin, equal time each."""

    def watch(self, lanes: frozenset[str]) -> None:
        """The rounds of these lanes carry probabilities from their next one on."""

    def set_tree(self, lane: str, tree: str) -> None:
        """Another of the lane's `trees`; acts at its next round."""

    def prove(self, lane: str, repetitions: int) -> None:
        """Compare a lane with plain sampling from where it is, as soon as no round is running:
        `SamplingTest`s say how far that is. Nothing else that the engine does is changed by it, and
        anything else that is asked for ends it."""

    def stop_proving(self) -> None: ...

    def set_leader(self, lane: str) -> None:
        """The lane whose answer the conversation goes on with."""

    def add_lane(self, spec: LaneSpec, after: str | None) -> None:
        """Another lane, behind the lane `after` or at the end; it takes part from the next run on.
        What it drafts with is loaded if need be. Its name gets a number if it is taken."""

    def remove_lane(self, name: str) -> None:
        """Acts at the next round: a running lane is stopped. The last lane stays."""

    def pin(self, lane: str, overrides: Mapping[str, Any]) -> None:
        """All settings that are the lane's own; acts at its next round."""

    def open_models(self, options: ModelOptions, specs: tuple[LaneSpec, ...]) -> None:
        """Other models and lanes on them; the conversation is forgotten. Where they can't be
        loaded those that were there come back."""

    def close(self) -> None:
        """End the thread as soon as it can; never waits."""
