"""What a user may choose, before anything is loaded: models, lanes, sampling. No torch in here."""

from __future__ import annotations

from dataclasses import dataclass

from decoding.errors import InputError

STRATEGIES = ("ar", "draft", "drafter", "lookup")
DEFAULT_STRATEGIES = "ar,draft,lookup"


@dataclass(frozen=True, slots=True)
class LaneSpec:
    """One lane as it was asked for. `gamma` None leaves the draft length to the run's settings."""

    strategy: str
    name: str  # unique among the lanes: "draft", "draft:gamma=2", "draft#2"
    gamma: int | None = None


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """What to load and where. `target` None is the demo family that comes with the package."""

    target: str | None = None
    draft: str | None = None
    device: str = "auto"
    dtype: str = "auto"
    quantize: str = "none"
    threads: int | None = None  # None: chosen for this machine
    trust_remote_code: bool = False


def parse_strategies(text: str) -> tuple[LaneSpec, ...]:
    """Lanes from "ar,draft,draft:gamma=2": strategies, each with settings of its own after ':'."""
    lanes: list[LaneSpec] = []
    seen: dict[str, int] = {}
    for item in text.split(","):
        written = item.strip()
        strategy, *settings = (part.strip() for part in written.split(":"))
        if strategy not in STRATEGIES:
            what = f"unknown strategy '{strategy}'" if strategy else "an empty strategy"
            raise InputError(f"strategies '{text}': {what}; choose from {', '.join(STRATEGIES)}")
        gamma: int | None = None
        for setting in settings:
            key, _, value = setting.partition("=")
            if key != "gamma":
                raise InputError(
                    f"strategy '{written}': unknown setting '{key}'; a lane's own setting is "
                    f"gamma, as in {strategy}:gamma=4"
                )
            gamma = parse_gamma(value, f"strategy '{written}'")
        if gamma is not None and strategy not in ("draft", "lookup"):
            raise InputError(f"strategy '{written}': {strategy} drafts nothing, so it has no gamma")
        seen[written] = seen.get(written, 0) + 1
        name = written if seen[written] == 1 else f"{written}#{seen[written]}"
        lanes.append(LaneSpec(strategy, name, gamma))
    return tuple(lanes)


def parse_gamma(text: str, where: str) -> int:
    if text == "auto":
        raise InputError(f"{where}: gamma=auto is not available yet; give a number such as 4")
    if not text.isdecimal() or int(text) > 64:
        raise InputError(f"{where}: gamma must be a whole number from 0 to 64, not '{text}'")
    return int(text)
