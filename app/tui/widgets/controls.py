"""The sliders and the rule of acceptance, and the parameters that they stand for."""

from __future__ import annotations

from dataclasses import dataclass, replace

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.message import Message

from app.events import DEFAULT_TREE
from app.tui.state import AppState
from app.tui.widgets.slider import Scale, Slider
from decoding.params import Acceptance, Params

GAMMA = Scale(0, 16, 1, None, unset="each")
TEMPERATURE = Scale(0.0, 2.0, 0.05, 0.0, decimals=2)
TOP_P = Scale(0.05, 1.0, 0.05, 1.0, decimals=2)
EPSILON = Scale(0.01, 1.0, 0.01, 0.09, decimals=2)
DELTA = Scale(0.05, 1.0, 0.05, 0.3, decimals=2)
TREE_NODES = Scale(2, 64, 1, None, unset="auto")
BRANCHES = Scale(1, 16, 1, None, unset="auto")
EAGLE = ("eagle", "eagle1")


def with_value(params: Params, name: str, value: float | None) -> Params:
    whole = None if value is None else int(value)
    if name == "gamma":
        return replace(params, gamma=whole)
    if name == "eagle_total_tokens":
        return replace(params, eagle_total_tokens=whole)
    if name == "eagle_top_k":
        return replace(params, eagle_top_k=whole)
    number = 0.0 if value is None else value
    if name == "epsilon":
        return replace(params, epsilon=number)
    if name == "delta":
        return replace(params, delta=number)
    if name == "temperature":
        return replace(params, sampling=replace(params.sampling, temperature=number))
    return replace(params, sampling=replace(params.sampling, top_p=number))


class Controls(Vertical):
    @dataclass
    class Changed(Message):
        params: Params

    def __init__(self, params: Params, *, dom_id: str) -> None:
        super().__init__(id=dom_id)
        self.params = params

    def compose(self) -> ComposeResult:
        sampling = self.params.sampling
        with Horizontal(id="always"):
            yield Slider("gamma", GAMMA, self.params.gamma, dom_id="gamma")
            yield Slider("temp", TEMPERATURE, sampling.temperature, dom_id="temperature")
            yield Slider("top-p", TOP_P, sampling.top_p, dom_id="top_p")
        with Horizontal(id="eagle"):
            yield Slider(
                "nodes", TREE_NODES, self.params.eagle_total_tokens, dom_id="eagle_total_tokens"
            )
            yield Slider("branch", BRANCHES, self.params.eagle_top_k, dom_id="eagle_top_k")
        with Horizontal(id="typical"):
            yield Slider("eps", EPSILON, self.params.epsilon, dom_id="epsilon")
            yield Slider("delta", DELTA, self.params.delta, dom_id="delta")

    def show(self, state: AppState) -> None:
        active = [lane for lane in state.lanes.values() if lane.active]
        gamma_acts = any(
            lane.info.default_gamma and "gamma" not in lane.info.pins for lane in active
        )
        self.query_one("#gamma", Slider).set_idle(
            not gamma_acts,
            "The longest draft in tokens; Medusa: heads used. each: every strategy its own default"
            if gamma_acts
            else "No lane that is on drafts by this setting",
        )
        self.query_one("#temperature", Slider).set_idle(not active, "0 is greedy")
        samples = bool(active) and not self.params.sampling.greedy
        self.query_one("#top_p", Slider).set_idle(
            not samples,
            "Draw from the likeliest tokens that make up this much. 1 is off"
            if samples
            else "Acts at a temperature above 0",
        )

        lead = None if state.leader is None else state.lanes.get(state.leader)
        eagle = lead is not None and lead.info.strategy in EAGLE
        self.query_one("#eagle").display = eagle
        if eagle:
            dynamic = lead is not None and lead.tree in (DEFAULT_TREE, "dynamic")
            for name, what in (
                (
                    "eagle_total_tokens",
                    "Nodes that are verified, the root included; auto: what pays",
                ),
                ("eagle_top_k", "Guesses of each node that is tried; 1 is a chain"),
            ):
                why = what if dynamic else "A static tree has its own nodes and branches"
                self.query_one(f"#{name}", Slider).set_idle(not dynamic, why)

        self.query_one("#typical").display = state.typical
        least = "epsilon: the least probability that a drafted token needs"
        less = "delta: where the target is unsure, delta × exp(-entropy) is enough"
        for name, what in (("epsilon", least), ("delta", less)):
            why = what if samples else "At temperature 0 typical acceptance is plain greedy, exact"
            self.query_one(f"#{name}", Slider).set_idle(not samples, why)

    def set_acceptance(self, acceptance: Acceptance) -> None:
        self.params = replace(self.params, acceptance=acceptance)
        self.post_message(self.Changed(self.params))

    @on(Slider.Changed)
    def change(self, event: Slider.Changed) -> None:
        event.stop()
        self.params = with_value(self.params, str(event.slider.id), event.value)
        self.post_message(self.Changed(self.params))
