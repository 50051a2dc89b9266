"""Commands to an engine: plain data, like the events that come back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from app.config.model_options import ModelOptions
from app.engine.events import Schedule
from app.strategies.lane_spec import LaneSpec
from decoding.params import Params
from decoding.round import Round


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn of a conversation: its prompt, and each lane's answer. `replaces`: the run whose
    answers were drawn anew. The seed and the number of the turn fix all draws; if they were drawn
    anew, the seed and `run`."""

    prompt: str
    run: int
    answers: Mapping[str, str] = field(default_factory=dict)
    replaces: int | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """Answer `prompt` as the next turn of the conversation, in every enabled lane."""

    prompt: str


@dataclass(frozen=True, slots=True)
class RunAgain:
    """Answer the last prompt once more, replacing its answers. The draws are those of the seed, or
    new ones (`redraw`)."""

    redraw: bool = False


@dataclass(frozen=True, slots=True)
class AnswerSoFar:
    """An answer of the last turn: its `first` token and its `rounds`, each decoded with its
    `params`; `finished` unless it was stopped, with its `speedup`. `first_sampled`: the first token
    was drawn at a temperature above 0."""

    first: int
    rounds: tuple[Round, ...]
    params: tuple[Params, ...]
    finished: Literal["stop", "length"] | None
    speedup: float | None
    first_sampled: bool = False

    @property
    def drawn(self) -> int:
        """How many of its tokens were drawn at a temperature above 0."""
        return self.first_sampled + sum(len(each.emitted) for each in self.rounds if each.sampled)


@dataclass(frozen=True, slots=True)
class ResumeAnswer:
    """Go on with the last turn, which was stopped, in these `lanes` and with its `seed`. A lane
    goes on after its answer in `answers`, or begins if it has none there. Finished answers are
    there to be compared with."""

    prompt_ids: tuple[int, ...]
    lanes: tuple[str, ...]
    answers: Mapping[str, AnswerSoFar]
    seed: int

    prompt: ClassVar = ""  # nothing to give back if it is rejected


@dataclass(frozen=True, slots=True)
class Stop:
    """End the running turn after the current round; what was generated stays."""


@dataclass(frozen=True, slots=True)
class Pause:
    """Stop making rounds until the turn is continued, or continue it."""

    paused: bool


@dataclass(frozen=True, slots=True)
class StepRound:
    """Run exactly one round of the lane while paused, unless the lane is done. None: of the lane
    whose round is next."""

    lane: str | None = None


@dataclass(frozen=True, slots=True)
class OpenConversation:
    """Forget the conversation and continue this one, or begin one without turns. `seed`: of all
    draws from now on; None: the present one."""

    turns: tuple[Turn, ...] = ()
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class SetParams:
    """Change the run's settings, from the next round of every lane on."""

    params: Params


@dataclass(frozen=True, slots=True)
class SetSeed:
    """Change the seed of all draws, from the next run on."""

    seed: int


@dataclass(frozen=True, slots=True)
class SetEnabled:
    """Switch a lane on or off. A running lane that is switched off stops now; everything else takes
    effect at the next run."""

    lane: str
    enabled: bool


@dataclass(frozen=True, slots=True)
class SetSchedule:
    """Choose how lanes take turns. race: all advance together, with the same time for each. fair:
    one after the other."""

    schedule: Schedule


@dataclass(frozen=True, slots=True)
class RecordProbabilities:
    """Record probabilities in the rounds of these lanes, and of no others, from their next round
    on."""

    lanes: frozenset[str]


@dataclass(frozen=True, slots=True)
class ComputeProbabilities:
    """Compute the probabilities of a finished answer for which none were recorded: those of its
    `first` token, chosen with `first_params`, and of its `rounds`, each decoded with its `params`.
    The model scores the text again when there is no other work; another turn or conversation
    cancels that. The result is `ProbabilitiesComputed`."""

    lane: str
    run: int
    prompt_ids: tuple[int, ...]
    first: int
    first_params: Params
    rounds: tuple[Round, ...]
    params: tuple[Params, ...]


@dataclass(frozen=True, slots=True)
class SetTree:
    """Draft with another of the lane's `trees`, from its next round on."""

    lane: str
    tree: str


@dataclass(frozen=True, slots=True)
class StartSamplingTest:
    """Compare a lane with plain sampling, once no round is running: of the tokens after its answer
    so far, or, if that is finished, of those that begin an answer to the last prompt. Events of
    type `SamplingTest` report progress and result. It does not affect the conversation, and any
    other request ends it."""

    lane: str
    repetitions: int


@dataclass(frozen=True, slots=True)
class StopSamplingTest:
    """End the sampling test, if one is running."""


@dataclass(frozen=True, slots=True)
class StartAdvice:
    """Measure for about `seconds` which of the lanes' strategies and which settings are the fastest
    on the conversation's prompts (on the `examples` if there are none), once no turn is running, at
    each of the `temperatures` (at the present one if there are none). Events of type `Advice`
    report progress and result. It does not affect the conversation, and any other request ends it.
    """

    seconds: float
    examples: tuple[str, ...] = ()
    temperatures: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class EndAdvice:
    """End the measuring now, with advice from what was measured so far: an `Advice` event has the
    document, or a note if that is too little."""


@dataclass(frozen=True, slots=True)
class StopAdvice:
    """End the measuring, if there is any, without a result."""


@dataclass(frozen=True, slots=True)
class SetLeader:
    """Choose the lane whose answer the conversation continues from."""

    lane: str


@dataclass(frozen=True, slots=True)
class AddLane:
    """Add a lane after the lane `after`, or at the end. It takes part from the next run on. Its
    drafter is loaded if needed. Its name gets a number if it is taken."""

    spec: LaneSpec
    after: str | None


@dataclass(frozen=True, slots=True)
class RemoveLane:
    """Remove a lane at the next round; if it is running, it is stopped. The last lane stays."""

    lane: str


@dataclass(frozen=True, slots=True)
class SetOverrides:
    """Replace all overrides of the lane, from its next round on."""

    lane: str
    overrides: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class OpenModels:
    """Load other models, with these lanes on them. The conversation is forgotten. If they can't be
    loaded, the previous ones come back."""

    options: ModelOptions
    specs: tuple[LaneSpec, ...]


@dataclass(frozen=True, slots=True)
class SetLanes:
    """Replace the list of lanes: missing ones are created, others removed. Existing ones keep their
    overrides."""

    specs: tuple[LaneSpec, ...]


LaneChange = AddLane | RemoveLane | SetOverrides | SetLanes

Command = (
    Run
    | RunAgain
    | ResumeAnswer
    | Stop
    | Pause
    | StepRound
    | OpenConversation
    | SetParams
    | SetSeed
    | SetEnabled
    | SetSchedule
    | RecordProbabilities
    | ComputeProbabilities
    | SetTree
    | StartSamplingTest
    | StopSamplingTest
    | StartAdvice
    | EndAdvice
    | StopAdvice
    | SetLeader
    | LaneChange
    | OpenModels
)
