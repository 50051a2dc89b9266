"""The settings with a slider, when each is shown, and when it has an effect."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from app.strategies.settings import SETTINGS, Setting
from app.tui.state.app_state import AppState
from app.tui.state.lane_state import LaneState
from app.tui.state.scale import Scale, evenly
from decoding.params import Params, flat

MIN_TOKENS = 16
TOP_K = (0, 1, 2, 5, 10, 20, 40, 50, 64, 100, 200, 500, 1000)
GAMMAS = (*range(17), 20, 24, 32, 48, int(SETTINGS["gamma"].bounds.most or 0))
TEMPERATURES = evenly(0.0, float(SETTINGS["temperature"].bounds.most or 0), 0.05)
MIN_P = (0.0, 0.01, 0.02, 0.03, 0.05, 0.08, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)


def token_stops(context: int) -> tuple[int, ...]:
    """16, 24, 32, 48, 64, ... up to the model's context."""
    powers = [MIN_TOKENS << n for n in range((context // MIN_TOKENS).bit_length())]
    stops = [stop for power in powers for stop in (power, power * 3 // 2)]
    return (*(stop for stop in stops if stop < context), context)


@dataclass(frozen=True, slots=True)
class SliderSpec:
    """A setting with a slider. `name` is as in decoding.params.flat; `greedy` says why it has no
    effect at temperature 0, if it has none."""

    name: str
    label: str
    scale: Scale
    what: str
    greedy: str | None = None

    @property
    def setting(self) -> Setting:
        return SETTINGS[self.name]


PENALTIES = ("repetition_penalty", "presence_penalty")
SAMPLED = "it acts only above temperature 0"
PLAIN = "at temperature 0 typical acceptance is plain greedy decoding"

SLIDERS = (
    SliderSpec("gamma", "gamma", Scale((None, "auto", *GAMMAS), {None: "each"}),
         "The longest draft in tokens; Medusa: heads used. each: every strategy's own default; "
         "auto: what is fastest, round by round"),
    SliderSpec("temperature", "temp", Scale(TEMPERATURES, decimals=2), "0 is greedy"),
    SliderSpec("top_p", "top-p", Scale(evenly(0.05, 1.0, 0.05), decimals=2),
         "Sample from the fewest tokens whose probabilities add up to this; 1 is off",
         greedy=SAMPLED),
    SliderSpec("top_k", "top-k", Scale(TOP_K, {0: "off"}),
         "Sample from this many of the likeliest tokens", greedy=SAMPLED),
    SliderSpec("min_p", "min-p", Scale(MIN_P, {0.0: "off"}, 2),
         "Drop tokens below this fraction of the top token's probability",
         greedy=SAMPLED),
    SliderSpec("repetition_penalty", "repeat", Scale(evenly(0.5, 2.0, 0.05), {1.0: "off"}, 2),
         "Penalizes tokens already in the prompt or the answer; 1 is off"),
    SliderSpec("presence_penalty", "presence", Scale(evenly(-2.0, 2.0, 0.1), {0.0: "off"}, 1),
         "Penalizes tokens already in the answer; 0 is off"),
    SliderSpec("max_new_tokens", "tokens", Scale(token_stops(4096)),
         "The longest answer in tokens; a running one ends there too"),
    SliderSpec("eagle_total_tokens", "nodes", Scale((None, *range(2, 65)), {None: "auto"}),
         "Nodes verified per round, root included; auto: what is fastest"),
    SliderSpec("eagle_top_k", "branch", Scale((None, *range(1, 17)), {None: "auto"}),
         "Guesses below each expanded node; 1 is a chain"),
    SliderSpec("epsilon", "eps", Scale(evenly(0.01, 1.0, 0.01), decimals=2),
         "epsilon: the least probability that a drafted token needs", PLAIN),
    SliderSpec("delta", "delta", Scale(evenly(0.05, 1.0, 0.05), decimals=2),
         "delta: where the target is unsure, delta × exp(-entropy) is enough", PLAIN),
)  # fmt: skip


def is_shown(
    spec: SliderSpec,
    state: AppState,
    here: LaneState | None = None,
    lead: LaneState | None = None,
) -> bool:
    """Return whether to show a slider: EAGLE's while an EAGLE lane leads (`lead`, if it is not the
    present leader), epsilon and delta while typical acceptance is on, penalties while they are,
    overridden ones while their lane (`here`) has focus."""
    if here and spec.name in here.info.overrides:
        params = here.effective_params(state.params)
        return params.acceptance == "typical" or not spec.setting.of_typical
    if spec.name in PENALTIES:
        return bool(getattr(state.params.sampling, spec.name) != spec.setting.default)
    if spec.setting.of_dynamic_tree:
        lead = lead or state.lanes.get(state.leader or "")
        return lead is not None and spec.name in lead.strategy.settings
    return state.typical or not spec.setting.of_typical


def most_shown(state: AppState) -> int:
    """Return the sliders of that lane, among those that are on, which shows most when it has the
    focus."""
    return max(
        (
            sum(is_shown(spec, state, lane, lane) for spec in SLIDERS)
            for lane in state.lanes.values()
            if lane.active
        ),
        default=0,
    )


def describe_overrides(
    lane: LaneState, params: Params, among: Collection[str] = tuple(SETTINGS)
) -> str:
    """Return the lane's overrides that differ from the run's `params`, optionally only those
    `among` some settings: gamma 2, temp 0.80."""
    return describe_settings({n: v for n, v in lane.info.overrides.items() if n in among}, params)


def describe_settings(values: Mapping[str, Any], params: Params) -> str:
    """Return those of the `values` that `params` do not have: gamma 2, temp 0.80."""
    run = flat(params)
    return list_settings({name: value for name, value in values.items() if value != run[name]})


def list_settings(values: Mapping[str, Any]) -> str:
    """As on the sliders: gamma 2, temp 0.80."""
    specs = {spec.name: spec for spec in SLIDERS}
    return ", ".join(
        f"{specs[name].label} {specs[name].scale.text(value)}" if name in specs else f"{value}"
        for name, value in values.items()
    )


def why_idle(spec: SliderSpec, state: AppState, overriding: LaneState | None = None) -> str | None:
    """Return why a slider has no effect at the moment, None if it has. `overriding`: the lane whose
    override it shows, the only one that it acts on."""

    def uses(lane: LaneState) -> bool:
        return lane.active and spec.name in lane.strategy.settings

    lanes = [lane for lane in state.lanes.values() if uses(lane)]
    if overriding is not None:
        lanes = [overriding] if overriding.active else []
    if not lanes:
        return "no lane that is on uses it"
    free = [lane for lane in lanes if overriding or spec.name not in lane.info.overrides]
    if not free:
        return "every lane that uses it has its own value"
    if spec.greedy and all(lane.effective_params(state.params).sampling.greedy for lane in free):
        return spec.greedy
    if spec.setting.of_dynamic_tree and all(lane.static_tree for lane in free):
        return "a static tree has its own nodes and branches"
    return None
