"""What an engine reports. Plain data, no tensors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from app.servers.usage import Usage
from app.strategies.lane_spec import Endpoint, LaneSpec
from app.strategies.strategy import DEFAULT_TREE
from app.text.token_event import TokenEvent
from decoding.params import Params, with_settings
from decoding.round import Round, TokenProbs

PIECE = -1  # in place of a token id: a piece of a server's text
Schedule = Literal["fair", "race"]
Reason = Literal["stop", "length", "error", "stopped"]


@dataclass(frozen=True, slots=True)
class LaneInfo:
    """A lane as an engine describes it. `default_gamma` is 0 for strategies that do not draft."""

    name: str  # unique: "draft", or "draft:gamma=2"
    strategy: str  # a name in the registry
    title: str  # "Autoregressive", "Draft model", ...
    available: bool
    reason: str | None  # why it cannot run and what would make it run, one line
    enabled: bool  # switched on: it takes part if it is available as well
    default_gamma: int
    note: str | None = None  # a fact about the lane worth showing, e.g. what was loaded
    trees: Mapping[str, int] = field(default_factory=dict)  # to choose from: longest path by name
    overrides: Mapping[str, Any] = field(default_factory=dict)  # the lane's own settings, by name
    tree: str = DEFAULT_TREE  # of `trees`, the one that it drafts by
    checkpoint: str | None = None  # of its own (see `LaneSpec`)
    # how often its likeliest guess is right by level, as the checkpoint says
    claimed: tuple[float, ...] = ()
    endpoint: Endpoint | None = None  # of a server's lane

    def __post_init__(self) -> None:
        """Raises ValueError or TypeError for overrides that are no settings."""
        with_settings(Params(), self.overrides)

    @property
    def spec(self) -> LaneSpec:
        return LaneSpec(
            self.strategy, self.name, self.overrides, self.tree, self.checkpoint, self.endpoint
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """An event of a run. `at` is in seconds on the engine's own monotonic clock."""

    at: float = field(default=0.0, compare=False)


@dataclass(frozen=True, slots=True)
class Loading:
    """A step of loading: what is loaded now, and how far all of it is."""

    what: str
    fraction: float | None  # None: not known


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes in use: by the decoding process, and on its device if that is a GPU. `caches` are the
    allocated keys and values by lane, the drafter's own included."""

    process: int
    device: int | None
    caches: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Loaded:
    """If all lanes are servers, `target` is the first known model, `context` the longest reported,
    `device` is "server", and `dtype` and `threads` are empty."""

    target: str  # short name for the title bar
    device: str
    dtype: str
    threads: int
    context: int  # the longest sequence in tokens
    lanes: tuple[LaneInfo, ...]
    ignored: tuple[str, ...] = ()  # settings of the model's generation_config without effect here
    # settings of sampling that the model's authors recommend
    sampling: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""  # the folder or id that the target was loaded from
    weights: Mapping[str, int] = field(default_factory=dict)  # bytes by model
    memory: Memory | None = None
    restored: bool = False  # the previous models, because the requested ones could not be loaded
    # (nodes, seconds) of target passes, measured after a short prompt; () if that would have
    # taken long
    pass_costs: tuple[tuple[float, float], ...] = ()

    @property
    def hardware(self) -> str:
        """Device and precision: "cpu float32"."""
        return f"{self.device} {self.dtype}".strip()


@dataclass(frozen=True, slots=True)
class LoadFailed:
    """`kept`: the previous models have been loaded again."""

    message: str
    kept: bool = False


@dataclass(frozen=True, slots=True)
class LanesChanged:
    """Lanes were added, removed, or got other overrides: all present lanes, and the memory in
    use."""

    lanes: tuple[LaneInfo, ...]
    weights: Mapping[str, int] = field(default_factory=dict)  # bytes by model
    memory: Memory | None = None

    def after(self, loaded: Loaded) -> Loaded:
        """`loaded` with this change applied."""
        return replace(loaded, lanes=self.lanes, weights=self.weights or loaded.weights)


@dataclass(frozen=True, slots=True)
class RunStarted(Timed):
    """A turn begins: every lane in `lanes` will answer `prompt`. The conversation continues from
    the `leader`'s answer, if there is one."""

    run: int
    turn: int  # 0 for the first turn of a conversation
    prompt: str
    prompt_tokens: int
    seed: int
    lanes: tuple[str, ...]
    prompt_ids: tuple[int, ...] = ()
    schedule: Schedule = "fair"
    leader: str | None = None
    absent: tuple[str, ...] = ()  # of a recording: lanes that were not there yet
    # of a recording: the lanes' own settings, by lane
    overrides: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, compare=False)
    replaces: int | None = None  # the run of the same turn whose answers are drawn anew


@dataclass(frozen=True, slots=True)
class RunContinued(Timed):
    """The last turn, which was stopped, goes on in these `lanes`."""

    run: int
    lanes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Prefilled(Timed):
    """A lane has its first token, `sampled` if at a temperature above 0. If its probabilities are
    recorded, `probs` is the target's distribution there, and `texts` the texts of its candidates by
    id. `params`: the settings that chose it, None if they were not recorded."""

    lane: str
    ttft_seconds: float
    first: TokenEvent
    prefill_seconds: float | None = None  # the target's, or of the lane that it was shared with
    draft_prefill_seconds: float | None = None
    probs: TokenProbs | None = None
    texts: Mapping[int, str] = field(default_factory=dict)
    sampled: bool = False
    params: Params | None = None


@dataclass(frozen=True, slots=True)
class Metrics:
    """A lane's metrics at one moment; None where a ratio is not defined (yet)."""

    tokens: int  # 1 (the prefill's) + emitted
    passes: int
    tokens_per_second: float | None
    speedup: float | None  # over the autoregressive lane of this run
    acceptance_rate: float | None  # alpha
    tokens_per_pass: float | None  # tau, bonus included
    histogram: tuple[int, ...]
    draft_seconds: float
    verify_seconds: float
    accept_seconds: float
    decode_seconds: float
    draft_acceptance_rate: float | None = None  # accepted over drafted: all that most servers tell


@dataclass(frozen=True, slots=True)
class RoundFinished(Timed):
    """One round of a lane: its record, its tokens in the order of display (rejected ones between
    the accepted ones and the correction), and the lane's metrics so far. `texts` has the text of
    every token in the round by id, only while probabilities are recorded. `params` are the lane's
    effective settings at the start of the round; `tree` is the one of its `trees` in use."""

    lane: str
    round: Round
    tokens: tuple[TokenEvent, ...]
    metrics: Metrics
    texts: Mapping[int, str] = field(default_factory=dict)
    params: Params | None = None
    tree: str = DEFAULT_TREE


@dataclass(frozen=True, slots=True)
class Finished(Timed):
    """A lane is done. `matches_ar` is None where it is not defined (no finished autoregressive
    lane, or another `app.engine.comparison.sampling_rule`). Otherwise `first_divergence` is the
    index of the first different token, None if there is none, and `divergence_gap` the distance of
    the target's logits of both tokens there; None if only one answer has a token there, or they
    were drawn. `texts` has the texts of the tokens in its trees by id. For a server, `usage` is
    what it reported, and `same_text` whether its text is the autoregressive lane's, both greedy."""

    lane: str
    reason: Reason
    message: str | None = None  # for errors, and for notes like "draft at its context limit"
    metrics: Metrics | None = None
    matches_ar: bool | None = None
    first_divergence: int | None = None
    texts: Mapping[int, str] = field(default_factory=dict)
    divergence_gap: float | None = None
    usage: Usage | None = None
    same_text: bool | None = None


@dataclass(frozen=True, slots=True)
class RunFinished(Timed):
    """The turn has ended; `stopped` if some of its lanes had not finished."""

    run: int
    stopped: bool
    memory: Memory | None = None


@dataclass(frozen=True, slots=True)
class RunRejected(Timed):
    """The prompt could not be answered (too long, no lane enabled). Nothing has changed.
    `suggests_new_conversation`: the message ends with the advice to start one."""

    prompt: str
    message: str
    suggests_new_conversation: bool = False


@dataclass(frozen=True, slots=True)
class EngineExited:
    """The engine is gone. Opening it again starts a new one."""

    message: str


@dataclass(frozen=True, slots=True)
class ProbabilitiesComputed:
    """The result of `ComputeProbabilities`: the probabilities of the first token, the rounds with
    theirs, and the texts of all their tokens by id. `note`: why there are none."""

    lane: str
    run: int
    first: TokenProbs | None = None
    rounds: tuple[Round, ...] = ()
    texts: Mapping[int, str] = field(default_factory=dict)
    note: str | None = None


@dataclass(frozen=True, slots=True)
class ContinuationCount:
    """A continuation, and how often the lane and plain sampling drew it."""

    text: str
    lane: int
    plain: int


@dataclass(frozen=True, slots=True)
class SamplingTest:
    """Progress of comparing a lane with plain sampling: `done` of `repetitions` draws of the next
    `tokens` tokens after `context`, the end of a text. `outcomes` are the most frequent of `kinds`
    different ones. `p_value`: how often two equal sources would differ as much by chance; None
    until the end, and if there are no two outcomes to compare. At temperature 0 (`greedy`) there is
    one repetition. `lossy`: the lane's acceptance rule is not exact. `note`: why there is no
    result."""

    lane: str
    tokens: int = 0
    done: int = 0
    repetitions: int = 0
    outcomes: tuple[ContinuationCount, ...] = ()
    kinds: int = 0
    p_value: float | None = None
    context: str = ""
    greedy: bool = False
    lossy: bool = False
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Advice:
    """Progress of measuring: what is measured now, and the elapsed `part` of the time; `ready`:
    there is enough for a result already. At the end the `document` of
    `app.report.advice_document`, or a `note`: why there is none."""

    what: str = ""
    part: float | None = None
    ready: bool = False
    document: Mapping[str, Any] | None = None
    note: str | None = None


Event = (
    Loading
    | Loaded
    | LoadFailed
    | LanesChanged
    | RunStarted
    | RunContinued
    | Prefilled
    | RoundFinished
    | Finished
    | RunFinished
    | RunRejected
    | EngineExited
    | SamplingTest
    | Advice
    | ProbabilitiesComputed
)
