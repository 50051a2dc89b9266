"""Labels: rows of parts for the edges of a pane, the title bar and the status line."""

from __future__ import annotations

from app.engine.events import LaneInfo, Loading, Metrics
from app.report.verdict import FEW_TOKENS, Verdict, exceeds_tau
from app.strategies.registry import STRATEGIES
from app.strategies.strategy import DEFAULT_TREE
from app.text.plural import pluralize
from app.text.terminal_text import shortened
from app.tui.format.bars import TIME_GLYPHS, histogram, progress_bar, time_bar
from app.tui.format.numbers import ordinal, percent, seconds, small
from app.tui.format.parts import Part
from app.tui.format.setting_changes import changes_since, params_of_figures
from app.tui.format.welcome import topics_of_demo
from app.tui.state.app_state import AppState
from app.tui.state.lane_state import LaneState, Phase
from app.tui.themes import lane_color
from app.tui.tokens.lens import SCALES, STEPS
from app.tui.tokens.token_text import GLYPHS, DisplayOptions
from decoding.params import Params
from decoding.round import Round

PHASE_MARKS = {
    Phase.IDLE: "",
    Phase.WAITING: "…",
    Phase.RUNNING: "▶",
    Phase.DONE: "✓",
    Phase.STOPPED: "■",
    Phase.ERROR: "✗",
}
BAR_CELLS = 10
QUEUED_CELLS = 24
SLOW_SECONDS = 5.0  # loading so long says for how long
LOSSY = Part("LOSSY", "bold reverse $warning")


def lane_title(state: AppState, number: int, lane: LaneState) -> tuple[list[Part], list[Part]]:
    """The top edge: title, settings, speed."""
    color = f"bold {lane_color(number)}"
    left = [Part(str(number), color), Part(lane.info.title, color)]
    changed = changes_since(lane, state.params)
    facts = settings_in_title(lane, params_of_figures(lane, state.params))
    left += [Part(fact, "$quiet", 3, alone=True) for fact in facts]
    if lane.tree != DEFAULT_TREE:
        left.append(Part(lane.tree, "$quiet", 4))
    if mark := phase_mark(state, lane):
        left.append(Part(mark, "$error" if lane.phase is Phase.ERROR else "$primary"))
    if changed:
        first, *more = (shortest(text) for text in changed)
        left.append(Part(f"next {first}{'…' * bool(more)}", "$warning", 2))
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
    """A setting in words as titles have it: γ8, T1.1."""
    name, _, value = setting.partition(" ")
    return {"gamma": f"γ{value}", "temp": f"T{value.rstrip('0').rstrip('.')}"}.get(name, setting)


def phase_mark(state: AppState, lane: LaneState) -> str:
    return "‖" if state.paused and lane.phase is Phase.RUNNING else PHASE_MARKS[lane.phase]


def speedup_part(lane: LaneState, speedup: float, metrics: Metrics) -> Part:
    """The speedup; grey if measured over too few tokens, with a question mark if impossible."""
    drafts = lane.strategy.drafts and lane.strategy.on_target
    doubt = "?" * (drafts and exceeds_tau(speedup, metrics.tokens_per_pass))
    trusted = metrics.tokens >= FEW_TOKENS and not doubt
    return Part(f"{speedup:.2f}×{doubt}", "bold $foreground" if trusted else "$quiet")


def introduction(info: LaneInfo) -> str:
    """The text of an empty pane: what the lane does, how its checkpoint was read, or why it is
    unavailable."""
    if not info.available:
        return info.reason or ""
    return "\n".join(filter(None, (STRATEGIES[info.strategy].summary, info.note)))


def settings_in_title(lane: LaneState, own: Params) -> list[str]:
    """Its gamma, and a star after each override: γ4, γ2* T0.8*, or * alone. `own`: the lane's
    effective settings."""
    overrides = lane.info.overrides
    facts = []
    if (gamma := lane.gamma(own)) is not None:
        facts.append(f"γ{gamma}{'*' * ('gamma' in overrides)}")
    if "temperature" in overrides:
        facts.append(f"T{own.sampling.temperature:g}*")
    if lane.info.endpoint is not None:
        facts.append("over HTTP")
    if overrides and not any(fact.endswith("*") for fact in facts):
        facts.append("*")
    return facts


def lane_metrics(lane: LaneState) -> list[Part]:
    """The bottom edge: tokens, TTFT, alpha, tau, agreement with the autoregressive lane."""
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
    if finished and finished.same_text is not None:
        same = ("≡AR text", "bold $success") if finished.same_text else ("≠AR text", "$warning")
        parts.append(Part(*same, 2))
    if metrics and drafts:
        parts.append(Part(histogram(metrics.histogram), "$accepted", 4))
    if finished and finished.reason in ("length", "stopped", "error"):
        parts.append(Part(finished.reason, "$quiet", 5))
    return [part for part in parts if part.text]


def folded(number: int, lane: LaneState, key: str) -> list[Part]:
    """The single row of a lane that is switched off."""
    return [Part(str(number)), Part(lane.info.title), Part(f"· {why_off(lane, key)}")]


def why_off(lane: LaneState, key: str) -> str:
    """Why a lane is off; `key` is the one that switches it on."""
    if lane.info.available:
        return f"off, {key} switches it on"
    return lane.info.reason or "not available"


def title_bar(state: AppState) -> tuple[list[Part], list[Part]]:
    facts: list[tuple[str, int]] = []  # with the rank of each
    if loaded := state.loaded:
        topics = topics_of_demo(state)
        facts.append((f"{loaded.target}, a tiny model" if topics else loaded.target, 1))
        facts += [(f"knows {topics}", 7)] if topics else []
        facts.append((loaded.hardware, 4))
        facts += [(pluralize(loaded.threads, "thread"), 6)] if loaded.threads else []
    if state.seed is not None:
        facts.append((f"seed {state.seed}", 2))
    facts.append((state.schedule, 0))
    left = [Part("specchat", "bold $primary", 5)]
    for index, (fact, rank) in enumerate(facts):
        left.append(Part(f"· {fact}" if index else fact, "$quiet", rank))
    if state.typical:
        left.append(Part("· typical", "$quiet" if state.params.sampling.greedy else "$warning"))
    return left, [run_state(state)]


def run_state(state: AppState) -> Part:
    if state.failure:
        return Part("✗ not loaded", "bold $error")
    if state.ended:
        return Part("✗ ended", "bold $error")
    if not state.loaded:
        return Part("… loading", "$quiet")
    if state.slow_motion is not None:
        return Part("● slow motion", "bold $primary")
    if state.opening:
        return Part("… opening", "$quiet")
    if not state.running:
        return Part("○ ready" if state.replay is None else "○ replay", "$quiet")
    order = [lane for lane in state.lanes.values() if lane.phase is not Phase.IDLE]
    ended = sum(lane.phase not in (Phase.WAITING, Phase.RUNNING) for lane in order)
    names = list(state.lanes)
    busy = state.busy_lane
    if busy is None and not state.paused:
        return Part("● prefill", "bold $success")
    who = f"{names.index(busy) + 1} {busy} " if busy else ""
    if state.schedule == "race":  # all of them: one name after the other would flicker
        who = ""
    if state.paused:
        return Part(f"‖ {who}paused {ended}/{len(order)}", "bold $warning")
    return Part(f"● {who}running {ended}/{len(order)}", "bold $success")


def placeholder(state: AppState) -> str:
    """The placeholder of an empty prompt."""
    if state.running:
        names = ("run.stop", "run.pause", "view.next", "run.step")
        stop, pause, lanes, step = (state.keys[name] for name in names)
        if state.paused:
            return f"Paused: {pause} resumes; {lanes}, {step}: one round; {stop} stops"
        stops = "takes one back" if state.queued else "stops"
        return f"Ask the next question; {pause} pauses, {stop} {stops}"
    if state.example and not state.queued:
        return state.example
    if state.stopped:
        return "Ask the next question; Enter continues this one"
    if state.turns:
        return "Ask the next question"
    return f"Ask something, {state.keys['app.examples']} has examples"


def letters_are_commands(state: AppState, slider: bool = False) -> str:
    """What keys do where the prompt does not have them."""
    if slider:
        return f"Digits set it; letters are commands: {state.keys['view.prompt']} writes"
    return f"Letters are commands here: {state.keys['view.prompt']} goes back to writing"


def letters_are_text(state: AppState, token: bool) -> str:
    """After a click on a lane, or on a `token`, while the prompt has the letters."""
    leave, why = state.keys["run.stop"], state.keys["view.why"]
    if token:
        return f"Typing goes here; {leave}, then {why} explains this token"
    return f"Typing goes here; {leave} makes letters commands"


def status_left(state: AppState, verdict: Verdict | None = None, commands: str = "") -> list[Part]:
    """The line above the prompt: the newest notice, else progress, else the verdict on the run
    (`verdict`), else what comes next. `commands`: a hint that letters are commands now."""
    if state.notice:
        return [Part(state.notice, "$warning")]
    if state.silent:
        again = state.keys["run.again"]
        text = f"No output from the decoding process for a minute: {again} restarts it"
        return [Part(text, "$warning")]
    if (played := state.slow_motion or state.replay) is not None:
        ends = Part(f"loops; {state.keys['run.stop']} ends it", "$quiet", 1)
        return [Part(played, "$primary"), *([ends] if state.replay is None else [])]
    if state.ended:
        return [Part(f"{state.ended}: {state.keys['run.again']} restarts it", "$error")]
    if state.queued:
        what = f" ({state.loading.what})" if state.loading else ""
        done = "this answer is done" if state.running else "the conversation is open"
        done = done if state.loaded else f"loading is done{what}"
        then = f"“{shortened(state.queued[-1], QUEUED_CELLS)}” runs when {done}"
        if (before := len(state.queued) - 1) and state.loaded:
            then += f", after {pluralize(before, 'question')}"
        return [Part(f"{then}; {state.keys['run.stop']} takes it back", "$primary")]
    if state.loading or not (state.loaded or state.failure):
        opens = ", then the conversation opens" * state.opening
        waited = state.loading_seconds
        time = f" · {waited:.0f} s" * (waited >= SLOW_SECONDS)
        return [Part(progress(state.loading) + time + opens, "$primary")]
    if state.opening:
        return [Part("Opening the conversation", "$primary")]
    if state.download:
        return [Part(state.download, "$primary")]
    if commands and state.replay is None:
        return [Part(commands, "$quiet", 1)]
    if state.stopped:
        return [Part("Stopped: Enter in the empty prompt continues", "$primary")]
    if verdict is not None:
        return [Part(verdict.short, "bold $foreground")]
    if state.answers_differ and (leader := state.goes_on_from):
        return [Part(f"The next turn continues from {state.label(leader)}", "$quiet", 1)]
    if state.has_kept and not state.turns:
        opens = state.keys["app.conversations"]
        return [Part(f"{opens} opens an earlier conversation, with its settings", "$quiet", 1)]
    return []


def progress(loading: Loading | None, cells: int = 20) -> str:
    if loading is None:
        return "Starting"
    if loading.fraction is None:
        return f"Loading {loading.what}"
    return f"{labelled_progress(loading.fraction, cells)} {loading.what}"


def labelled_progress(share: float, cells: int = 20) -> str:
    return f"{progress_bar(share, cells)} {percent(share)}"


def legend(options: DisplayOptions, state: AppState) -> list[Part]:
    look = options.mode
    if look == "plain":
        return [Part("plain text", "$quiet", 2)]
    if options.color_by != "fate":
        return color_by_legend(options, state)
    accepted, rejected = (
        ("‹accepted›", "~rejected~") if look == "glyphs" else ("accepted", "rejected")
    )
    colours = ("$accepted", "$rejected") if look == "colour" else ("", "")
    parts = [Part(accepted, f"underline {colours[0]}", 2)]
    if options.show_rejected:
        parts.append(Part(rejected, f"strike {colours[1]}", 2))
    return [*parts, Part("bonus", "bold", 2)]


def color_by_legend(options: DisplayOptions, state: AppState) -> list[Part]:
    """What the colours measure, their scale, and when missing probabilities will be known."""
    glyphs = options.mode == "glyphs"
    if options.color_by == "round":
        every = "every second round"
        return [Part(f"‹{every}›") if glyphs else Part(every, "on $tint")]
    parts = [Part(options.color_by, "$quiet", 2)]
    rank = 1 if state.notice else 0  # which is soon gone
    for style, words in zip(STEPS, SCALES[options.color_by], strict=True):
        pair = GLYPHS.get(style, "")
        text, drawn = (f"{pair[:1]}{words}{pair[1:]}", "") if glyphs else (words, f"${style}")
        parts.append(Part(text, drawn, rank))
    if any(lane.unmeasured for lane in state.lanes.values()):
        parts.append(Part(unmeasured(state), "$warning"))
    return parts


def unmeasured(state: AppState) -> str:
    """When missing probabilities will be known, in a word or two."""
    if state.replay is not None:
        return "not recorded"
    if not state.can_measure:
        return f"{state.keys['run.again']} measures"
    return "measured when done" if state.running else "measuring"


def not_recorded(state: AppState, lane: LaneState) -> str:
    """The note on a round without recorded probabilities."""
    if lane.strategy.remote:
        return "A server's text comes in pieces, without probabilities."
    if state.replay is not None:
        return "No probabilities were recorded."
    if lane.unmeasurable:
        return f"No probabilities: {lane.unmeasurable}"
    if not state.can_measure:
        return (
            f"No probabilities recorded: {state.keys['run.again']} runs it again and records them."
        )
    if state.running:
        return "No probabilities yet: computed when the answer is done"
    return "Computing the probabilities …"


def q_not_recorded(state: AppState, lane: LaneState) -> str:
    """Why a draft's own probabilities are missing where the target's are known; empty if they are
    not, or if such a draft has none. They can't be worked out afterwards."""
    probed = [record for record in lane.rounds if record.drafted and record.entropies]
    if not probed or not lane.strategy.role or any(record.q for record in probed):
        return ""
    if not state.can_measure:
        return "not recorded"
    return f"not recorded: {state.keys['run.again']} records it"


def round_counts(record: Round | None) -> list[Part]:
    if record is None:
        return []
    counts = {
        "drafted": record.drafted,
        "tested": record.tested,
        "accepted": len(record.accepted),
        "emitted": len(record.emitted),
    }
    return [
        Part(f"{name} {count}", "$foreground", int(name == "tested"))
        for name, count in counts.items()
    ]


def round_total(record: Round | None, cells: int) -> list[Part]:
    """A round's time, and a bar of its parts."""
    if record is None:
        return []
    bar = time_bar((record.draft_seconds, record.verify_seconds, record.accept_seconds), cells)
    return [Part(seconds(record.total_seconds), "$foreground", 2), Part(bar, "$primary", 2)]


def pass_name(drafted: int) -> str:
    """The name of a model's pass; only one over drafts is a verification."""
    return "verify" if drafted else "pass"


def round_times(record: Round | None) -> list[Part]:
    if record is None:
        return []
    draft, verify, accept, _other = tuple(TIME_GLYPHS)
    name = pass_name(record.drafted)
    return [
        Part(f"{draft} draft {seconds(record.draft_seconds)}", "$foreground"),
        Part(f"{verify} {name} {seconds(record.verify_seconds)}", "$foreground"),
        Part(f"{accept} accept {seconds(record.accept_seconds)}", "$foreground", 1),
    ]
