"""Rows of parts for the title bar and the status line, and the prompt's placeholder."""

from __future__ import annotations

from collections.abc import Sequence

from app.engine.events import Loading
from app.history.replay import ReplayEngine
from app.report.verdict import Verdict
from app.text.plural import pluralize
from app.text.terminal_text import shortened
from app.tui.format.bars import progress_bar
from app.tui.format.numbers import percent
from app.tui.format.parts import Part
from app.tui.format.welcome import topics_of_demo
from app.tui.state.app_state import AppState, EngineState
from app.tui.state.lane_state import Phase

QUEUED_CELLS, QUEUED_BAR = 24, 8  # of a waiting question, of the bar before it
CONTEXT_SHARE = 0.5  # of the context; less is not worth a word
SLOW_SECONDS = 5.0  # loading so long says for how long
PLAYER_CELLS, SHORT_SECONDS = 12, 10.0  # of the bar; shorter runs are told in decimals


def title_bar(state: AppState) -> tuple[list[Part], list[Part]]:
    facts: list[tuple[str, int]] = []  # with the rank of each
    if loaded := state.loaded:
        topics = topics_of_demo(state)
        facts.append((f"{loaded.target}, a tiny model" if topics else loaded.target, 1))
        facts += [(f"knows {topics}", 7)] if topics else []
        facts.append((loaded.hardware, 4))
        facts += [(pluralize(loaded.threads, "thread"), 6)] if loaded.threads else []
    if state.seed is not None:
        then = f", then {state.next_seed}" if state.next_seed not in (None, state.seed) else ""
        facts.append((f"seed {state.seed}{', drawn anew' if state.redrawn else ''}{then}", 2))
    if (share := state.context_share) >= CONTEXT_SHARE:
        facts.append((f"context {share:.0%}", 3))
    facts.append((state.schedule, 0))
    left = [Part("specchat", "bold $primary", 5)]
    for index, (fact, rank) in enumerate(facts):
        left.append(Part(f"· {fact}" if index else fact, "$quiet", rank))
    if state.typical:
        left.append(Part("· typical", "$quiet" if state.params.sampling.greedy else "$warning"))
    return left, [run_state(state)]


def run_state(state: AppState) -> Part:
    match state.engine_state:
        case EngineState.FAILED:
            return Part("✗ not loaded", "bold $error")
        case EngineState.ENDED:
            return Part("✗ ended", "bold $error")
        case EngineState.LOADING:
            return Part("… loading", "$quiet")
    if state.slow_motion:
        return Part("● slow motion", "bold $primary")
    if state.opening:
        return Part("… opening", "$quiet")
    if not state.running:
        return Part("○ replay" if state.replay else "○ ready", "$quiet")
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
    """Return the placeholder of an empty prompt."""
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
        return f"Ask the next question; {state.keys['prompt.run']} continues this one"
    if state.turns:
        return "Ask the next question"
    return f"Ask something, {state.keys['app.examples']} has examples"


def letters_are_commands(state: AppState, words: Sequence[str] | None = None) -> str:
    """Return what keys do where the prompt does not have them. `words`: on a slider, its stops that
    are no numbers."""
    write = state.keys["view.prompt"]
    if words is None:
        return f"Letters are commands here: {write} goes back to writing"
    if words:
        then = f", then → {', '.join(words[1:])}" if len(words) > 1 else ""
        return f"Digits set it, Home is {words[0]}{then}; {write} writes"
    return f"Digits set it; letters are commands: {write} writes"


def samples(state: AppState) -> bool:
    """Return whether the next answer can be another one with other draws."""
    lanes = [lane for lane in state.lanes.values() if lane.active]
    return any(not lane.effective_params(state.params).sampling.greedy for lane in lanes)


def letters_are_text(state: AppState, token: bool) -> str:
    """After a click on a lane, or on a `token`, while the prompt has the letters."""
    leave, why = state.keys["run.stop"], state.keys["view.why"]
    if token:
        return f"Typing goes here; {leave}, then {why} explains this token"
    return f"Typing goes here; {leave} makes letters commands"


def status_left(state: AppState, verdict: Verdict | None = None, commands: str = "") -> list[Part]:
    """Return the line above the prompt: the newest notice, else progress, else the verdict on the
    run (`verdict`), else what comes next. `commands`: a hint that letters are commands now."""
    if state.notice:
        return [Part(state.notice, "$warning")]
    again = state.keys["run.again"]
    if state.silent and not state.loading:
        text = f"No output from the decoding process for a minute: {again} restarts it"
        return [Part(text, "$warning")]
    if state.replay or state.slow_motion:
        played = Part(play_progress(state.player) if state.player else "", "$primary")
        ends = Part(f"loops; {state.keys['run.stop']} ends it", "$quiet", 1)
        return [played, *([ends] if state.slow_motion else [])]
    if state.engine_state is EngineState.ENDED:
        return [Part(f"{state.why_gone}: {again} restarts it", "$error")]
    if state.queued:
        queued = f"“{shortened(state.queued[-1], QUEUED_CELLS)}”"
        back = Part(f"({state.keys['run.stop']} takes it back)", "$quiet", 1)
        before = len(state.queued) - 1
        after = f", after {pluralize(before, 'question')}" if before else ""
        if state.not_ready:
            then = f"{loading(state, QUEUED_BAR)}, then {queued} is answered{after}"
            return [Part(then, "$primary"), back]
        done = "this answer is done" if state.running else "the conversation is open"
        return [Part(f"{queued} runs when {done}{after}", "$primary"), back]
    if state.loading or state.engine_state is EngineState.LOADING:
        opens = ", then the conversation opens" if state.opening else ""
        hangs = Part(f"{again} restarts it, should it hang", "$quiet", 1)
        return [Part(loading(state) + opens, "$primary"), *([hangs] if state.silent else [])]
    if state.opening:
        return [Part("Opening the conversation", "$primary")]
    if state.download:
        return [Part(state.download, "$primary")]
    if commands and not state.replay:
        return [Part(commands, "$quiet", 1)]
    if state.stopped:
        runs = state.keys["prompt.run"]
        return [Part(f"Stopped: {runs} in the empty prompt continues", "$primary")]
    if verdict is not None:
        return [Part(verdict.short, "bold $foreground")]
    if state.answers_differ and (leader := state.goes_on_from):
        return [Part(f"The next turn continues from {state.label(leader)}", "$quiet", 1)]
    if state.turns and not state.running and samples(state):
        redraw = state.keys["run.redraw"]
        return [
            Part(f"{again} answers again with the same seed, {redraw} with another", "$quiet", 1)
        ]
    if state.has_kept and not state.turns:
        opens = state.keys["app.conversations"]
        return [Part(f"{opens} opens an earlier conversation, with its settings", "$quiet", 1)]
    return []


def play_progress(player: ReplayEngine) -> str:
    """Return what a player plays: whether it does, the position and the speed."""
    bar = progress_bar(player.position / player.seconds if player.seconds else 1.0, PLAYER_CELLS)
    mark = "‖" if player.paused else "■" if player.over else "▶"
    return f"{mark} {bar} {_position(player.position, player.seconds)} · {player.speed:g}×"


def _position(position: float, seconds: float) -> str:
    """Minutes and seconds, or decimals for short runs, which may take less than a second."""
    if seconds < SHORT_SECONDS:
        return f"{position:.2f} of {seconds:.2f} s"
    now, end = (f"{int(each) // 60}:{int(each) % 60:02}" for each in (position, seconds))
    return f"{now} of {end}"


def loading(state: AppState, cells: int = 20) -> str:
    """Return what is being loaded, how far, and for how long if that is long."""
    waited = state.loading_seconds
    return progress(state.loading, cells) + (f" · {waited:.0f} s" if waited >= SLOW_SECONDS else "")


def progress(loading: Loading | None, cells: int = 20) -> str:
    if loading is None:
        return "Starting"
    if loading.fraction is None:
        return f"Loading {loading.what}"
    return f"{labelled_progress(loading.fraction, cells)} {loading.what}"


def labelled_progress(share: float, cells: int = 20) -> str:
    return f"{progress_bar(share, cells)} {percent(share)}"
