"""Commands to an engine: plain data, like the events that come back. What is sent to the decoding
process is what the session there matches on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from app.engine.events import Schedule
from app.strategies.lane_spec import LaneSpec
from decoding.params import Params
from decoding.round import Round

if TYPE_CHECKING:  # settings are slow to import
    from app.config.settings import ModelOptions


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn of a conversation: its prompt, and what each lane answered. With the conversation's
    seed, `run` fixes what is drawn."""

    prompt: str
    run: int
    answers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Run:
    """Answer `prompt` as the next turn of the conversation, in every enabled lane."""

    prompt: str


@dataclass(frozen=True, slots=True)
class RunAgain:
    """Answer the last prompt once more with the same seed, replacing its answers."""


@dataclass(frozen=True, slots=True)
class Stop:
    """End the running turn after the current round; what was generated stays."""


@dataclass(frozen=True, slots=True)
class Pause:
    """Make no more rounds, or continue."""

    paused: bool


@dataclass(frozen=True, slots=True)
class StepRound:
    """While paused: exactly one round of the lane, if it is not done; None: of the one that is
    due."""

    lane: str | None = None


@dataclass(frozen=True, slots=True)
class NewConversation:
    """Forget the conversation and begin one with the engine's own seed."""


@dataclass(frozen=True, slots=True)
class Resume:
    """Forget the conversation and continue this one, with its seed."""

    turns: tuple[Turn, ...]
    seed: int


@dataclass(frozen=True, slots=True)
class SetParams:
    """The run's settings, from the next round of every lane on."""

    params: Params


@dataclass(frozen=True, slots=True)
class SetEnabled:
    """Takes effect now for a running lane (it is stopped) and otherwise at the next run."""

    lane: str
    enabled: bool


@dataclass(frozen=True, slots=True)
class SetSchedule:
    """race: all lanes advance together, the same time for each. fair: one after the other."""

    schedule: Schedule


@dataclass(frozen=True, slots=True)
class RecordProbabilities:
    """The rounds of these lanes, and of no others, carry probabilities from their next one on."""

    lanes: frozenset[str]


@dataclass(frozen=True, slots=True)
class MeasureAnswer:
    """Work out the probabilities of a finished answer where none were recorded: those of its
    `first` token, and of its `rounds`, made with these settings (`params`). `AnswerMeasured` has
    them. The model passes over the text once more, as soon as nothing else is to be done; that is
    dropped when another turn or conversation begins."""

    lane: str
    run: int
    prompt_ids: tuple[int, ...]
    first: int
    rounds: tuple[Round, ...]
    params: tuple[Params, ...]


@dataclass(frozen=True, slots=True)
class SetTree:
    """Draft by another of the lane's `trees`, from its next round on."""

    lane: str
    tree: str


@dataclass(frozen=True, slots=True)
class StartSamplingTest:
    """Compare a lane with plain sampling from where it is, as soon as no round is running. The
    event `SamplingTest` tells how far that is. It changes nothing else that the engine does, and
    any other request ends it."""

    lane: str
    repetitions: int


@dataclass(frozen=True, slots=True)
class StopSamplingTest:
    """End the sampling test, if one is running."""


@dataclass(frozen=True, slots=True)
class StartAdvice:
    """Measure for about so many seconds which of the lanes' strategies and which settings are the
    fastest, on the prompts of the conversation, or on these `examples` where there is none, as soon
    as no turn is running. The event `Advice` tells how far that is. It changes nothing else that
    the engine does, and any other request ends it."""

    seconds: float
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StopAdvice:
    """End the measuring, if there is any."""


@dataclass(frozen=True, slots=True)
class SetLeader:
    """The lane whose answer the conversation continues from."""

    lane: str


@dataclass(frozen=True, slots=True)
class AddLane:
    """Another lane, after the lane `after` or at the end; it takes part from the next run on. Its
    drafter is loaded if need be. Its name gets a number if it is taken."""

    spec: LaneSpec
    after: str | None


@dataclass(frozen=True, slots=True)
class RemoveLane:
    """Takes effect at the next round: a running lane is stopped. The last lane stays."""

    lane: str


@dataclass(frozen=True, slots=True)
class SetOverrides:
    """All settings that the lane has of its own, from its next round on."""

    lane: str
    overrides: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class OpenModels:
    """Load other models, with these lanes on them; the conversation is forgotten. If they can't be
    loaded, the previous ones come back."""

    options: ModelOptions
    specs: tuple[LaneSpec, ...]


@dataclass(frozen=True, slots=True)
class SetLanes:
    """All lanes in their order: those that are missing are created, others removed. Those that are
    there keep their settings."""

    specs: tuple[LaneSpec, ...]


LaneChange = AddLane | RemoveLane | SetOverrides | SetLanes

Command = (
    Run
    | RunAgain
    | Stop
    | Pause
    | StepRound
    | NewConversation
    | Resume
    | SetParams
    | SetEnabled
    | SetSchedule
    | RecordProbabilities
    | MeasureAnswer
    | SetTree
    | StartSamplingTest
    | StopSamplingTest
    | StartAdvice
    | StopAdvice
    | SetLeader
    | LaneChange
    | OpenModels
)
