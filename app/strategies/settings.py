"""The settings that a run has and a lane may have of its own: defaults, bounds and help."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting. `kind` is how it is written on the command line. Bounds that are None do not
    bind; `above` is a lower one that is itself not allowed."""

    name: str
    panel: str  # of the command's help
    kind: type
    default: float | str | None
    help: str
    least: float | None = None
    above: float | None = None
    most: float | None = None
    of_typical: bool = False  # it acts under typical acceptance alone
    of_dynamic_tree: bool = False  # it shapes a dynamic tree alone


SETTINGS = {
    setting.name: setting
    for setting in (
        Setting("gamma", "Strategies", str, None,
                "Longest draft in tokens, or auto: what pays (default: each strategy's own).",
                least=0, most=64),
        Setting("eagle_total_tokens", "Strategies", int, None,
                "EAGLE's tree, root included (default: what pays).",
                least=2, most=1024, of_dynamic_tree=True),
        Setting("eagle_top_k", "Strategies", int, None, "Branches of EAGLE's tree; 1 is a chain.",
                least=1, most=64, of_dynamic_tree=True),
        Setting("acceptance", "Strategies", str, "exact",
                "exact, or typical: Medusa's rule, lossy."),
        Setting("epsilon", "Strategies", float, 0.09, "Typical acceptance: 0.09.",
                above=0.0, most=1.0, of_typical=True),
        Setting("delta", "Strategies", float, 0.3, "Typical acceptance: 0.3.",
                above=0.0, most=1.0, of_typical=True),
        Setting("temperature", "Sampling", float, 0.0, "0 (default) is greedy.", least=0.0),
        Setting("top_p", "Sampling", float, 1.0, "Nucleus; 1 is off.", above=0.0, most=1.0),
        Setting("top_k", "Sampling", int, 0, "The k most likely tokens; 0 is off.", least=0),
        Setting("min_p", "Sampling", float, 0.0,
                "Least share of the most likely token's probability; 0 is off.",
                least=0.0, most=1.0),
        Setting("max_new_tokens", "Sampling", int, 256, "256 by default.", least=1),
    )
}  # fmt: skip
SAMPLING = ("temperature", "top_p", "top_k", "min_p", "max_new_tokens")
