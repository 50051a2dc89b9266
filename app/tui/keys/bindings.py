"""All keys. Each has an id, so that the user's keymap can change it, and a tooltip."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

from textual.binding import Binding
from textual.keys import key_to_character

from app.tui.state.app_state import AppState

LANE_KEYS = 9
# The actions in the bar at the bottom, in order; shown if they apply and there is room.
KEY_BAR = (
    *("submit", "screen.end_search", "take", "drop", "focus_prompt", "leave"),
    *("screen.hit(1)", "screen.hit(-1)"),
    *("step(-1)", "step(1)", "edge(False)", "edge(True)", "reset"),  # of a slider
    *("pause", "step", "step_all", "speed(-1)", "speed(1)", "again", "app.focus_next"),
    *("panel('tree')", "panel('token')", "panel('figures')", "round(-1)", "round(1)"),
    *("help", "quit", "panel('rejections')", "scoreboard"),
    *("show_rejected", "render_mode", "color_by", "zoom"),
    *("examples", "command_palette", "advise", "conversations", "presets"),
)
ALWAYS_IN_BAR = ("help", "quit")
BAR_NAMES = {
    **{"command_palette": "Palette", "focus_prompt": "Write", "conversations": "Open"},
    "scoreboard": "Scores",
    **{"round(-1)": "Back", "round(1)": "Forward"},
}
# Actions that need a running model.
NOT_IN_REPLAY = frozenset(
    (
        "focus_prompt",
        "to_prompt_or_ask",
        "slider",
        "toggle_here",
        "schedule",
        "acceptance",
        "tree",
        "examples",
    )
    + ("new_conversation", "conversations", "presets", "duplicate", "remove", "pin", "add_lane")
    + ("sampling_test", "models", "step_all", "undo", "redraw", "redo", "advise")
)


def key(keys: str, action: str, name: str, key_id: str, tooltip: str) -> Binding:
    return Binding(keys, action, name, show=False, id=key_id, tooltip=tooltip)


RUN_KEYS = [
    key("f5", "again", "Run again", "run.again",
        "Run again with the same seed, or with one that was set since; restarts the decoding "
        "process where it has ended"),
    key("ctrl+r", "redraw", "Another answer", "run.redraw",
        "Regenerate: sample another answer to the last question, as with another seed; above "
        "temperature 0"),
    key("escape", "leave", "Stop", "run.stop",
        "Take a waiting question back. In the prompt: stop the run, else go to the lanes. In a "
        "lane: leave the cursor, else undo maximize, else stop the run, else close the panel. On a "
        "slider: stop the run, else go to the lanes"),
    key("ctrl+c", "stop", "Copy or stop", "run.copy_or_stop",
        "Copy what is selected; else stop the run and take waiting questions back, else empty the "
        "prompt"),
    key("space", "pause", "Pause", "run.pause",
        "Pause or resume, between two rounds; after a run: replay it in slow motion; "
        "also from an empty prompt"),
    key("n", "step", "One round", "run.step",
        "Step: pause and run exactly one round of the lane in focus"),
    key("N", "step_all", "A round each", "run.step_all",
        "Pause and run exactly one round of every lane"),
    key("m", "schedule", "Race / fair", "run.schedule",
        "Race: all lanes at once, the same time for each; or fair: one lane after the other"),
    key("a", "acceptance", "Exact / typical", "run.acceptance",
        "Exact acceptance, or, pressed twice, Medusa's typical rule: lossy, more tokens per pass"),
    key("e", "sampling_test", "Prove it", "run.prove",
        "Sample the next tokens many times, by the lane in focus and by plain sampling, and test "
        "whether the two differ"),
    key("ctrl+n", "new_conversation", "New conversation", "run.new",
        "Reset the chat: clear all turns and start again"),
    key("ctrl+z", "undo", "Undo", "run.undo",
        "Undo the last change: typing, settings, lanes or the conversation; in the prompt typing "
        "is undone before an answer"),
    key("ctrl+y,ctrl+shift+z", "redo", "Redo", "run.redo", "Redo what was undone"),
    key("u", "duplicate", "Duplicate lane", "lane.duplicate",
        "Add a copy of the lane in focus, right after it"),
    key("delete", "remove", "Remove lane", "lane.remove", "Remove the lane in focus"),
    key("f", "pin", "Own settings", "lane.pin",
        "The lane in focus keeps these settings; one with settings of its own follows the "
        "sliders again"),
    key("minus", "speed(-1)", "Slower", "replay.slower", "Slow motion: slower"),
    key("plus,equals_sign", "speed(1)", "Faster", "replay.faster", "Slow motion: faster"),
]  # fmt: skip

VIEW_KEYS = [
    key("i", "focus_prompt", "Prompt", "view.prompt", "To the prompt"),
    key("enter", "to_prompt_or_ask", "Prompt or ask", "view.enter",
        "To the prompt; while it offers a question, ask that"),
    key("slash,ctrl+f", "find", "Find", "view.find", "Search the text of the lane in focus"),
    key("tab", "app.focus_next", "Next", "view.next",
        "To the next lane, panel or slider, and around to the prompt"),
    key("shift+tab", "app.focus_previous", "Previous", "view.previous", "The same, backwards"),
    key("o", "toggle_here", "On / off", "view.toggle_here",
        "Switch the lane in focus on or off"),
    key("z", "zoom", "Maximize", "view.zoom", "One pane with tabs, or all panes"),
    key("v", "panel('tree')", "Tree", "view.inspect",
        "The draft tree of a round of the lane in focus"),
    key("s", "panel('figures')", "Figures", "view.figures",
        "Acceptance, times, speed and memory of the lane in focus"),
    key("w", "panel('token')", "Why", "view.why",
        "Why this token: who proposed it, what the target thought of it"),
    key("R", "panel('rejections')", "Rejections", "view.rejections",
        "Every rejected draft of the lane in focus, and how often the others were right"),
    key("r", "scoreboard", "Scoreboard", "view.scoreboard",
        "Compare the lanes' speeds: how fast each was, why, what to try; show or hide the panel"),
    key("Z", "projector", "Projector", "view.projector",
        "The scoreboard in large digits, to be read from the last row"),
    key("left_square_bracket", "round(-1)", "Round back", "view.round_back",
        "To the previous round, when paused or done"),
    key("right_square_bracket", "round(1)", "Round forward", "view.round_forward",
        "To the next round, when paused or done"),
    key("g", "slider('gamma')", "Gamma", "view.gamma",
        "To the gamma slider: the longest draft in tokens"),
    key("t", "slider('temperature')", "Temperature", "view.temperature",
        "To the temperature slider; 0 is greedy"),
    key("p", "slider('top_p')", "Top-p", "view.top_p", "To the top-p slider; 1 is off"),
    key("k", "slider('top_k')", "Top-k", "view.top_k",
        "To the top-k slider: how many of the likeliest tokens may be sampled"),
    key("b", "slider('max_new_tokens')", "Most tokens", "view.max_new_tokens",
        "To the slider of the longest answer"),
    key("x", "show_rejected", "Ghosts", "view.ghosts", "Show or hide rejected tokens"),
    key("T", "fold_reasoning", "Reasoning", "view.reasoning",
        "Fold a model's reasoning before its answer, or show all of it"),
    key("c", "render_mode", "Colour", "view.look", "Colour, then glyphs, then plain text"),
    key("l", "color_by", "Lens", "view.lens",
        "What colours mean: fate, probability, entropy or round of each token"),
    key("y", "copy_answer", "Copy answer", "view.copy",
        "Copy the answer of the pane in focus"),
    *(
        key(str(number), f"lane({number})", f"Lane {number}", f"view.lane{number}",
            f"To lane {number}")
        for number in range(1, LANE_KEYS + 1)
    ),
]  # fmt: skip

PROMPT_KEYS = [
    Binding(
        "enter", "submit", "Run", id="prompt.run",
        tooltip="Answer the prompt in every lane that is on; empty, after a stop: continue",
    ),
    key("ctrl+j,shift+enter", "newline", "New line", "prompt.newline", "Insert a line break"),
    key("ctrl+d", "erase_or_leave", "Erase", "prompt.erase",
        "Erase the next character; in an empty prompt, say how to quit"),
]  # fmt: skip
CURSOR_KEYS = [
    key("right", "screen.cursor(1)", "Next token", "cursor.next", "The next token of the answer"),
    key("left", "screen.cursor(-1)", "Previous token", "cursor.before", "The previous token"),
    key("shift+left", "screen.cursor_edge(False)", "First token", "cursor.first",
        "The answer's first token"),
    key("shift+right", "screen.cursor_edge(True)", "Last token", "cursor.last",
        "The answer's last token"),
]  # fmt: skip

SEARCH_KEYS = [  # active during a search
    key("n,enter", "screen.hit(1)", "Next match", "search.next", "While searching: the next match"),
    key("N", "screen.hit(-1)", "Previous match", "search.before",
        "While searching: the previous match"),
]  # fmt: skip

APP_KEYS = [
    key("f1,question_mark", "help", "Help", "app.help",
        "Legend: colours, keys and figures explained"),
    key("f2", "examples", "Examples", "app.examples", "Choose an example prompt"),
    key("f3", "conversations", "Conversations", "app.conversations",
        "History: reopen, rename or delete earlier conversations"),
    key("f4", "presets", "Presets", "app.presets",
        "Named settings: use, save, rename or delete them"),
    key("f6", "models", "Models", "app.models", "Load other models, and see what drafts for them"),
    key("f7", "advise", "Advise", "app.advise",
        "Advice: measure which strategy and settings are fastest here; get configurations for "
        "engines"),
    key("d", "dark", "Dark / light", "app.dark", "Switch between the dark and the light theme"),
    Binding("ctrl+p", "command_palette", "Commands", show=False, priority=True,
            id="app.palette", tooltip="All commands by name"),
    Binding("ctrl+q", "quit", "Quit", show=False, priority=True, id="app.quit",
            tooltip="Quit at once"),
]  # fmt: skip


REPLAY_KEYS = [
    key("minus", "speed(-1)", "Slower", "replay.slower", "Play slower"),
    key("plus,equals_sign", "speed(1)", "Faster", "replay.faster", "Play faster"),
    key("f5", "again", "From the start", "run.again", "Play it from the start"),
    key("escape", "leave", "To the turn's end", "run.stop",
        "Leave the cursor; else undo maximize; else play the rest of the turn at once; else close "
        "the panel"),
    key("space", "pause", "Pause", "run.pause",
        "Pause or resume; at the end: play it from the start"),
    key("n", "step", "One round", "run.step", "Pause and play exactly one round"),
]  # fmt: skip

# Actions of keys that are characters.
OF_CHARACTERS = frozenset(
    each.action
    for each in (*RUN_KEYS, *VIEW_KEYS)
    if (key_to_character(each.key.split(",")[0]) or "\t").isprintable()
)


def run_keys(state: AppState) -> list[Binding]:
    return REPLAY_KEYS if state.replay else RUN_KEYS


def allowed(state: AppState, action: str) -> bool:
    """Return whether an action is available; lists of keys leave the others out."""
    return not state.replay or action.partition("(")[0] not in NOT_IN_REPLAY


def lane_key(binding: Binding) -> bool:
    return binding.action.startswith("lane(")


@dataclass(frozen=True, slots=True)
class KeyContext:
    """What of the screen decides on its keys. `typing`: characters go to the prompt; `slider`: one
    has the focus, `number`: one is typed there; `looking`: a panel is open, `alone`: in place of
    the lanes; `scores`: the scoreboard is shown; `cursor`: the pane in focus has one; `searching`:
    words are marked in it, `missing`: it has none of them."""

    typing: bool
    slider: bool
    number: bool
    looking: bool
    alone: bool
    scores: bool
    cursor: bool
    zoomed: bool
    searching: bool
    missing: bool


@dataclass(frozen=True, slots=True)
class BarState:
    """The names of some actions in the present state, the actions to hide because they would do
    nothing, and those that have room before all others."""

    names: Mapping[str, str]
    hidden: Container[str]
    needed: Sequence[str]


def key_bar_state(state: AppState, here: KeyContext) -> BarState:
    names = dict(BAR_NAMES)
    slow = state.slow_motion
    answering = state.running or slow
    hidden = set() if answering else {"step", "step_all"}
    if not (slow or state.replay):
        hidden |= {"speed(-1)", "speed(1)"}
    if not (answering or state.turns):
        hidden.add("pause")
    if (state.running and not state.silent) or not (state.turns or state.gone or state.silent):
        hidden.add("again")
    if state.gone:
        names["again"] = "Restart"
    if not (here.looking or here.cursor):
        hidden |= {"round(-1)", "round(1)"}
    if here.typing:
        hidden.add("focus_prompt")  # the letters are there already
    if here.missing:
        hidden |= {"screen.hit(1)", "screen.hit(-1)"}
    if here.number:
        hidden |= {"step(-1)", "step(1)", "edge(False)", "edge(True)", "again", *OF_CHARACTERS}
        names["reset"] = "Erase"
    if name := leave_name(state, here):
        names["leave"] = name
    elsewhere = here.typing or here.slider or here.looking
    if not (answering or elsewhere or here.searching or here.cursor or here.zoomed):
        hidden.add("leave")
    if state.replay_over:
        names["pause"] = "Play again"
    elif state.paused:
        names["pause"] = "Resume"
    elif not (answering or state.replay):
        names["pause"] = "Slow motion"
    hits = ("leave", "screen.hit(1)", "screen.hit(-1)")
    # where somebody begins who has been here before
    begun = state.turns or state.example or state.queued
    needed = (
        *ALWAYS_IN_BAR,
        *(("leave",) if state.running else ()),
        *(("panel('token')",) if here.cursor and not here.looking else ()),  # asks why
        *(hits if here.searching and not here.typing else ()),
        *(("step", "step_all") if state.paused and not here.typing else ()),
        *(() if begun or here.slider else ("conversations",)),
        *(() if elsewhere or here.cursor or here.scores or not state.turns else ("scoreboard",)),
    )
    return BarState(names, hidden, needed)


def leave_name(state: AppState, here: KeyContext) -> str | None:
    """Return what the key that leaves does here, in a word or two; None if it has no other name
    than always."""
    answering = state.running or state.slow_motion
    if state.queued:
        return "Take back"
    if here.typing:
        return "Stop" if answering else "Commands"
    if here.alone or (here.slider and not answering):
        return "Lanes"
    if here.searching:
        return "End search"
    if here.cursor:
        return "No cursor"
    if here.zoomed:
        return "All panes"
    if here.looking and not answering:
        return "Close"
    return "Turn's end" if state.replay else None
