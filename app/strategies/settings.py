"""The decoding settings of a run, which a lane may override: options and help. `decoding.params`
has their types and bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from decoding.params import BOUNDS, Bounds, Params, flat


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting of `Params`. `kind` is the type of its option."""

    name: str
    panel: str  # in the command's help
    kind: type
    help: str
    of_typical: bool = False  # only acts under typical acceptance
    of_dynamic_tree: bool = False  # only acts on a dynamic tree

    @property
    def default(self) -> Any:
        return flat(Params())[self.name]

    @property
    def bounds(self) -> Bounds:
        return BOUNDS[self.name]


SETTINGS = {
    setting.name: setting
    for setting in (
        Setting("gamma", "Strategies", str,
                "Longest draft in tokens, or auto: what pays (default: each strategy's own)."),
        Setting("eagle_total_tokens", "Strategies", int,
                "EAGLE's tree, root included (default: what pays).", of_dynamic_tree=True),
        Setting("eagle_top_k", "Strategies", int, "Branches of EAGLE's tree; 1 is a chain.",
                of_dynamic_tree=True),
        Setting("acceptance", "Strategies", str, "exact, or typical: Medusa's rule, lossy."),
        Setting("epsilon", "Strategies", float, "Typical acceptance: 0.09.", of_typical=True),
        Setting("delta", "Strategies", float, "Typical acceptance: 0.3.", of_typical=True),
        Setting("temperature", "Sampling", float, "0 (default) is greedy."),
        Setting("top_p", "Sampling", float, "Nucleus; 1 is off."),
        Setting("top_k", "Sampling", int, "The k most likely tokens; 0 is off."),
        Setting("min_p", "Sampling", float,
                "Least share of the most likely token's probability; 0 is off."),
        Setting("repetition_penalty", "Sampling", float,
                "Of tokens in prompt or answer, as generate has it; 1 is off."),
        Setting("presence_penalty", "Sampling", float,
                "Of tokens in the answer, as serving engines have it; 0 is off."),
        Setting("max_new_tokens", "Sampling", int, "256 by default."),
    )
}  # fmt: skip
SAMPLING = (
    "temperature", "top_p", "top_k", "min_p", "repetition_penalty", "presence_penalty",
    "max_new_tokens",
)  # fmt: skip
