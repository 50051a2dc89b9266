"""Rows of parts for the edges of a lane's pane."""

from __future__ import annotations

from app.engine.events import LaneInfo, Metrics
from app.report.verdict import FEW_TOKENS, incredible
from app.strategies.registry import STRATEGIES
from app.strategies.strategy import DEFAULT_TREE
from app.tui.format.bars import histogram
from app.tui.format.numbers import ordinal, seconds, small
from app.tui.format.parts import Part
from app.tui.format.setting_changes import changes_since, params_of_figures
from app.tui.state.app_state import AppState
from app.tui.state.lane_state import LaneState, Phase
from app.tui.themes import lane_color
from decoding.params import Params

PHASE_MARKS = {
    Phase.IDLE: "",
    Phase.WAITING: "…",
    Phase.RUNNING: "▶",
    Phase.DONE: "✓",
    Phase.STOPPED: "■",
    Phase.ERROR: "✗",
}
LOSSY = Part("LOSSY", "bold reverse $warning")


def lane_title(state: AppState, number: int, lane: LaneState) -> tuple[list[Part], list[Part]]:
    """Return the top edge: title, settings, speed."""
    color = f"bold {lane_color(number)}"
    left = [Part(str(number), color), Part(lane.info.title, color)]
    changed = changes_since(lane, state.params)
    facts = settings_in_title(lane, params_of_figures(lane, state.params, state.played_again))
    left += [Part(fact, "$quiet", 3, alone=True) for fact in facts]
    if lane.tree != DEFAULT_TREE:
        left.append(Part(lane.tree, "$quiet", 4))
    if mark := phase_mark(state, lane):
        left.append(Part(mark, "$error" if lane.phase is Phase.ERROR else "$primary"))
    if changed:
        first, *more = (shortest(text) for text in changed)
        left.append(Part(f"next {first}{'…' if more else ''}", "$warning", 2))
    if state.answers_differ and lane.info.name == state.goes_on_from:
        left.append(Part("next turn continues here", "italic $primary", 5))
    if (place := state.place(lane.info.name)) is not None:
        rank = 4 if changed else 1  # then it is of a race that is not the next one's
        style = "bold $success" if place == 0 else "$foreground"
        left.append(Part(ordinal(place), style, rank, alone=True))
    right = [LOSSY] if lane.lossy else []
    if metrics := lane.metrics:
        if metrics.tokens_per_second is not None:
            right.append(Part(f"{metrics.tokens_per_second:.1f} tok/s", "$foreground", 1))
        if metrics.speedup is not None:
            right.append(speedup_part(lane, metrics.speedup, metrics))
    return left, right


def shortest(setting: str) -> str:
    """Return a setting in words as titles have it: γ8, T1.1."""
    name, _, value = setting.partition(" ")
    return {"gamma": f"γ{value}", "temp": f"T{value.rstrip('0').rstrip('.')}"}.get(name, setting)


def phase_mark(state: AppState, lane: LaneState) -> str:
    return "‖" if state.paused and lane.phase is Phase.RUNNING else PHASE_MARKS[lane.phase]


def speedup_part(lane: LaneState, speedup: float, metrics: Metrics) -> Part:
    """Return the speedup; grey if measured over too few tokens, with a question mark if
    impossible."""
    doubt = "?" if incredible(lane.strategy, speedup, metrics.tokens_per_pass) else ""
    trusted = metrics.tokens >= FEW_TOKENS and not doubt
    return Part(f"{speedup:.2f}×{doubt}", "bold $foreground" if trusted else "$quiet")


def introduction(info: LaneInfo) -> str:
    """Return the text of an empty pane: what the lane does, how its checkpoint was read, or why it
    is unavailable."""
    if not info.available:
        return info.reason or ""
    return "\n".join(filter(None, (STRATEGIES[info.strategy].summary, info.note)))


def gamma_in_title(lane: LaneState, effective: Params) -> str:
    """γ4; γauto, and once that has chosen γa4, or γa off where it drafts nothing; "" for a strategy
    that does not draft."""
    gamma, now = lane.gamma(effective), lane.draft_length
    if gamma == "auto" and now is not None:
        return f"γa{now or ' off'}"
    return "" if gamma is None else f"γ{gamma}"


def settings_in_title(lane: LaneState, effective: Params) -> list[str]:
    """Return its gamma, and a star after each override: γ4, γ2* T0.8*, or * alone. `effective`: the
    settings in force."""
    overrides = lane.info.overrides
    facts = []
    if gamma := gamma_in_title(lane, effective):
        facts.append(gamma + ("*" if "gamma" in overrides else ""))
    if "temperature" in overrides:
        facts.append(f"T{effective.sampling.temperature:g}*")
    if lane.info.endpoint is not None:
        facts.append("over HTTP")
    if overrides and not any(fact.endswith("*") for fact in facts):
        facts.append("*")
    return facts


def lane_metrics(lane: LaneState, same: bool | None = None) -> list[Part]:
    """Return the bottom edge: tokens, TTFT, alpha, tau, agreement with the autoregressive lane.
    `same`: whether the text is that lane's, where tokens are not compared."""
    parts = [LOSSY] if lane.lossy else []
    metrics, finished = lane.metrics, lane.finished
    if metrics:
        parts.append(Part(f"{metrics.tokens} tok", "$foreground"))
    if lane.ttft_seconds is not None:
        parts.append(Part(f"TTFT {seconds(lane.ttft_seconds)}", "$quiet", 3))
    drafts = bool(lane.info.default_gamma) or lane.strategy.remote
    if metrics and drafts:
        if metrics.acceptance_rate is not None:
            parts.append(Part(f"α {metrics.acceptance_rate * 100:.0f}%", "$foreground", 1))
        elif lane.strategy.remote and metrics.draft_acceptance_rate is not None:
            rate = metrics.draft_acceptance_rate  # of all drafts, tested or not: lower than α
            parts.append(Part(f"{rate:.0%} of drafts", "$foreground", 1))
        if metrics.tokens_per_pass is not None:
            parts.append(Part(f"τ {metrics.tokens_per_pass:.1f}", "$foreground", 1))
    if finished and finished.matches_ar is not None and not lane.lossy:
        if finished.matches_ar:
            parts.append(Part("≡AR", "bold $success", 2))
        else:
            at = "" if finished.first_divergence is None else f"@{finished.first_divergence}"
            parts.append(Part(f"≠AR{at}", "bold $warning", 2))
            if finished.divergence_gap is not None:
                parts.append(Part(f"Δ{small(finished.divergence_gap)}", "$warning", 3))
    compared = finished and (finished.matches_ar is not None or lane.strategy.is_baseline)
    if finished and not compared and same is not None and not lane.lossy:
        text = ("≡AR text", "bold $success") if same else ("≠AR text", "$warning")
        parts.append(Part(*text, 2))
    if metrics and drafts:
        parts.append(Part(histogram(metrics.histogram), "$accepted", 4))
    if finished and finished.reason in ("length", "stopped", "error"):
        parts.append(Part(finished.reason, "$quiet", 5))
    return [part for part in parts if part.text]


def folded(number: int, lane: LaneState, key: str) -> list[Part]:
    """Return the single row of a lane that is switched off."""
    return [Part(str(number)), Part(lane.info.title), Part(f"· {why_off(lane, key)}")]


def why_off(lane: LaneState, key: str) -> str:
    """Return why a lane is off; `key` is the one that switches it on."""
    if lane.info.available:
        return f"off, {key} switches it on"
    return lane.info.reason or "not available"
