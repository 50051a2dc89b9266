"""The decoding settings of a run, which a lane may override: options and help. `decoding.params`
has their types and bounds."""

from __future__ import annotations

from dataclasses import dataclass, replace
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
    most: float | None = None  # where decoding has no limit

    @property
    def default(self) -> Any:
        return flat(Params())[self.name]

    @property
    def bounds(self) -> Bounds:
        bounds = BOUNDS[self.name]
        return bounds if self.most is None else replace(bounds, most=self.most)


SETTINGS = {
    setting.name: setting
    for setting in (
        Setting("gamma", "Strategies", str,
                "Longest draft in tokens; auto: chosen for speed (default: the strategy's own)."),
        Setting("eagle_total_tokens", "Strategies", int,
                "Nodes of EAGLE's tree, root included (default: the head's, or chosen for speed).",
                of_dynamic_tree=True),
        Setting("eagle_top_k", "Strategies", int,
                "Branches of EAGLE's tree; 1 is a chain (default: the head's, else 10, on CPUs 3).",
                of_dynamic_tree=True),
        Setting("acceptance", "Strategies", str,
                "exact (default), or typical: Medusa's rule, lossy."),
        Setting("epsilon", "Strategies", float, "Epsilon of typical acceptance (default 0.09).",
                of_typical=True),
        Setting("delta", "Strategies", float, "Delta of typical acceptance (default 0.3).",
                of_typical=True),
        Setting("temperature", "Sampling", float, "From 0 (default: greedy) to 2.", most=2),
        Setting("top_p", "Sampling", float,
                "Nucleus: the likeliest tokens, up to this mass; 1 (default) is off."),
        Setting("top_k", "Sampling", int, "Only the k likeliest tokens; 0 (default) is off."),
        Setting("min_p", "Sampling", float,
                "Only tokens with this share of the likeliest one's probability; 0 (default) is "
                "off."),
        Setting("repetition_penalty", "Sampling", float,
                "Penalty on tokens already in the prompt or answer, as in transformers' generate; "
                "1 (default) is off."),
        Setting("presence_penalty", "Sampling", float,
                "Penalty on tokens already in the answer, as in serving engines; 0 (default) is "
                "off."),
        Setting("max_new_tokens", "Sampling", int, "Longest answer in tokens (default 256)."),
    )
}  # fmt: skip
SAMPLING = (
    "temperature", "top_p", "top_k", "min_p", "repetition_penalty", "presence_penalty",
    "max_new_tokens",
)  # fmt: skip
