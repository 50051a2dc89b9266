"""The legend in the status line: what the colours of tokens mean."""

from __future__ import annotations

from app.tui.format.parts import Part
from app.tui.state.app_state import AppState
from app.tui.tokens.lens import SCALES, STEPS
from app.tui.tokens.token_text import GLYPHS, DisplayOptions


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
    """Return what the colours show, their scale, and when missing probabilities will be known."""
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
    if any(lane.lacks_probabilities for lane in state.lanes.values()):
        parts.append(Part(when_computed(state), "$warning"))
    return parts


def when_computed(state: AppState) -> str:
    """Return when missing probabilities will be known, in a word or two."""
    if state.replay:
        return "not recorded"
    if not state.can_compute:
        return f"{state.keys['run.again']} records p"
    return "p when done" if state.running else "computing p"
