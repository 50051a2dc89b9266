"""The text of the screen before the first prompt."""

from __future__ import annotations

from app.models.assets import demo_topics
from app.models.library import is_demo
from app.tui.state.app_state import AppState

INTRODUCTION = (
    "One model answers in every pane: alone, token by token, and helped by a drafter.",
    "A drafter guesses a few tokens; one pass of the big model (the target) keeps the right ones.",
    "Fewer passes, the same answer, sooner. The measured speedup will appear here.",
)
OF_SERVERS = (
    "A serving engine answers in every pane, by its own clock; no model is loaded here.",
    "Its time to the first token, its tokens per second and what became of its drafts are below.",
)
TOPICS_CHARACTERS = 48
AND_MORE = " and more"


def welcome(state: AppState) -> list[str]:
    """Return an introduction, the topics of the demo, and for a newcomer how to begin."""
    lines = [*(OF_SERVERS if state.servers_only else INTRODUCTION)]
    if topics := topics_of_demo(state):
        lines.append(f"The demo is a tiny model that knows a little of {topics}.")
    if state.example and not state.running and not state.queued:
        runs, tour = state.keys["prompt.run"], state.keys["app.help"]
        asks = f"{runs} asks the question below; typing replaces it"
        lines.append(f"{asks}. {tour} shows you around.")
    return lines


def topics_of_demo(state: AppState) -> str:
    """Return the topics of the demo; empty for other models."""
    if state.loaded is None or not is_demo(state.loaded.source):
        return ""
    topics = demo_topics()
    for count in range(len(topics), 0, -1):  # no topic is cut
        text = ", ".join(topics[:count]) + (AND_MORE if count < len(topics) else "")
        if len(text) <= TOPICS_CHARACTERS:
            return text
    return ""
