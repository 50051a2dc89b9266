"""The steps of the tour: their texts, and what the screen shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from app.history.recording import LaneRecord, RecordedTurn
from decoding.round import TokenFate


class Moment(Enum):
    """The position in the recorded run."""

    ASKED = "the question is there, no answer yet"
    PLAYING = "the lanes answer, slowed down"
    DONE = "all answers are there"


@dataclass(frozen=True, slots=True)
class Step:
    """`text` has keys by their binding's id in braces. `light`: a CSS selector of what is not
    dimmed. `panel` is the open one. `rejected`: the cursor is on a rejected draft."""

    title: str
    text: str
    light: str
    moment: Moment = Moment.DONE
    panel: str | None = None
    rejected: bool = False

    def words(self, keys: Mapping[str, str]) -> str:
        return self.text.format_map({name.replace(".", "_"): key for name, key in keys.items()})


STEPS = (
    Step(
        "One question, one model",
        "A language model writes token by token (a token is a word or a piece of one), and each "
        "token costs a pass through the whole model. All panes answer the same question with the "
        "same model; they differ in how they save passes.",
        "LanePane",
        Moment.ASKED,
    ),
    Step(
        "The race",
        "The first lane goes token by token. In the others a drafter guesses the next few tokens, "
        "and one pass of the big model (the target) checks them all. This is a recording, slowed "
        "down: which lane is done first?",
        "LanePane, #scores",
        Moment.PLAYING,
        panel="scores",
    ),
    Step(
        "Colours",
        "Underlined: a guess that the model agreed with. Struck through: one that it rejected, not "
        "in the answer. Bold: the model's own token, the last of every pass. In a pane, ← and → go "
        "through them.",
        "LanePane.-here, #status",
        rejected=True,
    ),
    Step(
        "One pass, as a tree",
        "What was guessed for one pass: ✓ accepted, ✗ rejected, · never tested, ○ left out of "
        "the pass, ◆ the model's own token. {view_inspect} opens this, {view_round_back} and "
        "{view_round_forward} go from pass to pass.",
        "#tree",
        panel="tree",
        rejected=True,
    ),
    Step(
        "Why this token?",
        "Who proposed a token, how likely the model found it, and what decided. After a click on a "
        "token {view_why} opens this, from the prompt {run_stop}, then {view_why}. "
        "{view_rejections} lists all rejected ones.",
        "#token",
        panel="token",
        rejected=True,
    ),
    Step(
        "The result",
        "Fewer passes, the same text, sooner. Short answers say little: {run_again} runs the "
        "question again and counts both. To read what a figure in a pane's edge means, rest the "
        "mouse on it.",
        "#scores, LanePane",
        panel="scores",
    ),
    Step(
        "Settings",
        "How far to guess (gamma), how freely to sample (temp) and more can be changed while an "
        "answer runs. Unless a pane says LOSSY, guessing never changes what the model says, only "
        "how soon.",
        "#controls",
    ),
    Step(
        "Your turn",
        "Type a question and press {prompt_run}; {app_examples} has examples. After a run "
        "{run_pause} replays it in slow motion. {app_help} explains all keys and terms, "
        "{app_palette} lists all commands.",
        "LanePane, #scores, #controls, #status, #title",
    ),
)


def best_turn(turns: list[RecordedTurn]) -> RecordedTurn:
    """Return the longest turn with a rejection, else the longest."""

    def worth(turn: RecordedTurn) -> tuple[bool, int]:
        lanes = turn.lanes.values()
        rejections = any(rejected_round(lane) is not None for lane in lanes)
        return rejections, max(len(lane.ids) for lane in lanes)

    return max(turns, key=worth)


def rejected_round(lane: LaneRecord) -> int | None:
    """Return the first round with a draft that was tested and rejected."""
    for step in lane.steps:
        if any(token.fate is TokenFate.REJECTED and token.text for token in step.tokens):
            return step.round.index
    return None
