"""A row with the expected speed of the lane in focus at other gammas, from the session's rounds."""

from __future__ import annotations

from textual import events
from textual.content import Content
from textual.style import Style
from textual.widget import Widget

from app.tui.format.bars import speed_columns
from app.tui.format.setting_changes import params_of_figures
from app.tui.state.app_state import AppState
from app.tui.state.growing import Same
from app.tui.state.lane_state import LaneState
from app.tui.state.scores import measured_speeds
from app.tui.widgets.sliders_panel import SlidersPanel
from decoding.cost.forecast import MIN_ROUNDS, Forecast, forecast

WIDE = 70  # cells from which the row has its full text
COLUMNS = 17  # of the curve: one for each gamma up to 16
TOO_EARLY = "what if γ: estimated after {1} drafts, {0} so far"
DRAFTS_NOTHING = "what if γ: the lane in focus does not draft"
MEANING = (
    "Expected tokens per second at gamma 0, 1, 2, … for this prompt. Green: the best up to the "
    "longest drafts there were. Yellow: the present one. Dim or ?: too few drafts that long, "
    "extrapolated. ±: two standard errors. A click on a column or on the best gamma sets it."
)


class GammaForecast(Widget):
    """Appears with the first forecast, after a run with that of any lane, and then stays, so that
    the layout does not change between lanes."""

    ALLOW_SELECT = False
    DEFAULT_CSS = "GammaForecast { height: 1; padding: 0 1; color: $quiet; }"

    def __init__(self, *, dom_id: str) -> None:
        super().__init__(id=dom_id)
        self.tooltip = MEANING
        self.known = False
        self._asked: tuple[object, ...] | None = None
        self.forecast: Forecast | None = None
        self._alpha: float | None = None
        self._else = DRAFTS_NOTHING
        self._lane = 0  # its number
        self._overriding: str | None = None  # the lane, if its gamma is its own

    def show(self, state: AppState, name: str | None) -> None:
        """Computes nothing if nothing has changed since the last call."""
        lane = state.lanes.get(name or "")
        if lane is None:
            return
        made = [
            (Same(each.round_events), len(each.round_events), each.finished)
            for each in state.lanes.values()
        ]
        before = Same(state.runs.all), Same(state.loaded), state.played_again
        now = [
            (each.effective_params(state.params), each.tree, "gamma" in each.info.overrides)
            for each in state.lanes.values()
        ]
        asked = (lane.info.name, made, before, now, state.running)
        if asked == self._asked:
            return
        self._asked = asked
        focused, lane = lane, self._with_forecast(state, lane)
        self._lane = list(state.lanes).index(lane.info.name) + 1
        self._overriding = lane.info.name if "gamma" in lane.info.overrides else None
        self.forecast = forecast_for_lane(state, lane)
        self._alpha = lane.metrics.acceptance_rate if lane.metrics else None
        self._else = too_early(state, lane) if lane.info.default_gamma else DRAFTS_NOTHING
        if lane is not focused:
            self._else = f"{self._lane}: {self._else}"
        self.known = self.known or self.forecast is not None or forecast_after_run(state)
        self.refresh()

    def _with_forecast(self, state: AppState, lane: LaneState) -> LaneState:
        """The lane; for one that does not draft, the one of the others that is expected to be
        fastest, or during a run the one that was shown before, so that the row does not flicker."""
        if lane.info.default_gamma:
            return lane
        lanes = [*state.lanes.values()]
        if state.running:
            shown = lanes[self._lane - 1 : self._lane]
            drafts = shown and shown[0].active and shown[0].info.default_gamma
            return shown[0] if drafts else lane
        found = []
        for number, each in enumerate(lanes, 1):
            known = forecast_for_lane(state, each)
            if known is not None:
                found.append((known.now, -number, each))
        return max(found)[-1] if found else lane

    def render(self) -> Content:
        if self.forecast is None:
            return Content(self._else)
        return forecast_line(self.forecast, self._alpha, self.size.width, self._lane)

    def on_click(self, event: events.Click) -> None:
        """Set the gamma that was clicked, as the slider of the lane in question would."""
        gamma = event.style.meta.get("gamma")
        if gamma is not None:
            self.post_message(SlidersPanel.Changed({"gamma": gamma}, self._overriding, step=False))


def too_early(state: AppState, lane: LaneState) -> str:
    asked = state.runs.statistics_before(lane).asked + lane.statistics.asked
    return TOO_EARLY.format(min(asked.total(), MIN_ROUNDS), MIN_ROUNDS)


def forecast_for_lane(state: AppState, lane: LaneState) -> Forecast | None:
    """Return the forecast for the lane's last answer, from all rounds of the session with its
    settings and from the target's passes in other lanes. It agrees with the scoreboard's speeds."""
    if not lane.info.default_gamma:
        return None
    others = [each for each in state.lanes.values() if each.strategy.on_target]
    one_pass = lane.strategy.one_pass
    fixed = one_pass or lane.static_tree  # a tree is as deep as it is
    params = state.params
    if state.played_again:  # with other settings than those of now
        params = params_of_figures(lane, params, played_again=True)
    speed, alone = measured_speeds(state, lane)
    return forecast(
        lane.statistics,
        lane.usual_gamma(params),
        before=state.runs.statistics_before(lane),
        speed=speed,
        alone=alone,
        others=[each.statistics for each in others if each is not lane],
        pass_costs=state.loaded.pass_costs if state.loaded else (),
        at_once=one_pass,
        limit=lane.info.trees.get(lane.tree) if fixed else None,
    )


def forecast_after_run(state: AppState) -> bool:
    """Return whether any lane has a forecast, now that none is running."""
    lanes = () if state.running else state.lanes.values()
    return any(forecast_for_lane(state, lane) is not None for lane in lanes)


def forecast_line(found: Forecast, alpha: float | None, width: int, lane: int = 0) -> Content:
    """Return the forecast in at most `width` cells; where a gamma can be clicked, it is the meta
    data of the style. `alpha`: the acceptance rate of the lane with the number `lane`, which is not
    named without one."""
    best, now, seen, guess = found.best_seen, found.gamma, found.seen, found.best
    ahead = found.now > found.speeds[best]  # by too few rounds to call it the best
    each = -(-len(found.speeds) // COLUMNS)  # gammas that share a column
    styles = {now // each: "$warning", best // each: "$accepted"}
    named = (f"{lane}: " if lane else "") + ("what if " if width >= WIDE else "")
    parts: list[str | Content] = [f"{named}γ " if named else "", "0"]
    shown = fastest(found.speeds, each)
    blocks = speed_columns(tuple(found.speeds[gamma] for gamma in shown))
    for column, (gamma, block) in enumerate(zip(shown, blocks, strict=True)):
        usual = "$foreground" if column * each <= seen else "$quiet"
        parts.append(clickable(block, styles.get(column, usual), gamma))
    parts.append(f"{len(found.speeds) - 1}")
    beyond = "?" if now > seen else ""
    present = f"now γ{now}{beyond} {speed(found.now)}"
    is_best = best == now > 0 and not ahead
    up_to = f" up to γ{seen}" if seen < len(found.speeds) - 1 else ""
    if is_best:
        advice = f" {present}{error(found, best)} tok/s, the best{up_to}"
        if Content.assemble(*parts, advice).cell_length > width:
            advice = advice.removesuffix(up_to).replace(", the best", ", best")
    elif best == 0 and not ahead:
        advice = f" drafting does not pay here: γ0 ≈ {speed(found.speeds[0])} tok/s"
    else:
        best_up_to = f"best{up_to}: " if up_to and width >= WIDE else "best "
        word = "" if ahead else best_up_to
        advice = f" {word}γ{best} ≈ {speed(found.speeds[best])}{error(found, best)} tok/s"
    parts += [clickable(advice, "bold $accepted", best)]
    more = [] if is_best else [Content.assemble(" · ", (present, styles[now // each]))]
    if guess > seen:
        more += [Content(f" · γ{guess}? {speed(found.speeds[guess])} is a guess")]
    elif now > seen:
        more += [Content(f" · a guess beyond γ{seen}")]
    if now:
        more += [Content(f" · {pays(found.break_even)}")]
        if alpha is not None:
            more += [Content(f" (here {alpha:.0%})")]
    line = Content.assemble(*parts)
    for part in more:
        if line.cell_length + part.cell_length > width:
            break
        line += part
    return line


def clickable(text: str, style: str, gamma: int) -> Content:
    return Content.styled(text, style).stylize(Style.from_meta({"gamma": gamma}))


def fastest(speeds: tuple[float, ...], each: int) -> list[int]:
    """Return the gamma with the highest speed in every block of `each`."""
    blocks = (range(len(speeds))[at : at + each] for at in range(0, len(speeds), each))
    return [max(block, key=speeds.__getitem__) for block in blocks]


def error(found: Forecast, gamma: int) -> str:
    """Return two standard errors, if known; "?" if the costs behind the speed are doubtful."""
    if found.doubtful and gamma not in (0, found.gamma):
        return "?"
    if gamma >= len(found.errors):
        return ""
    margin = 2 * found.errors[gamma]
    whole = margin >= 1 and "." not in speed(found.speeds[gamma])  # as precise as the speed
    return f"±{margin:.0f}" if whole else f"±{margin:.1f}"


def speed(value: float) -> str:
    return f"{value:.0f}" if value >= 20 else f"{value:.1f}"


def pays(break_even: float | None) -> str:
    if break_even is None:
        return "would not pay at any α"
    return f"pays from α {break_even:.0%}"
