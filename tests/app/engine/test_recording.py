"""What a session says, recorded: it comes back the same, and a session can go on from it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from app.engine.commands import (
    OpenConversation,
    RecordProbabilities,
    SetLeader,
    SetParams,
    Turn,
)
from app.engine.events import Event, Finished, Prefilled, RoundFinished, RunStarted
from app.history.document import conversation_document
from app.history.parse_document import read_document
from app.history.recorder import Recorder
from app.history.recording import RecordedTurn
from app.history.store import Store
from decoding.params import Params, SamplingParams
from tests.support.listening import Listener, Open, ids_of, of

SAMPLED = Params(SamplingParams(temperature=0.8), gamma=3, max_new_tokens=12)


@pytest.fixture
def recorder(tmp_path: Path) -> Recorder:
    return Recorder(Store(tmp_path), {"temperature": 0.0})


def turn_of(listener: Listener, recorder: Recorder, prompt: str) -> list[Event]:
    events = listener.turn(prompt)
    recorder.record(events)
    return events


def test_everything_comes_back_with_its_figures(open_session: Open, recorder: Recorder) -> None:
    listener = open_session("ar,draft-only,draft,draft:gamma=1,lookup")
    recorder.record([listener.loaded()])
    listener.session.send(RecordProbabilities(frozenset(("draft",))))
    first = turn_of(listener, recorder, "the quick brown fox")
    listener.session.send(SetParams(SAMPLED))
    second = turn_of(listener, recorder, "and the lazy dog")
    assert recorder.path
    recording = recorder.store.open(recorder.path)
    document = json.loads(json.dumps(conversation_document(recording), allow_nan=False))
    for found in (recording, read_document(document, Path("export"))):
        for told, turn in zip((first, second), found.turns, strict=True):
            same(told, turn, times=found is recording)
    own = {step.lane: step.params for step in of(second, RoundFinished)}
    pinned = own.pop("draft:gamma=1")
    assert pinned == replace(SAMPLED, gamma=1) and set(own.values()) == {SAMPLED}


def same(told: list[Event], turn: RecordedTurn, times: bool) -> None:
    """All that was said, in the same order. Of texts more may be known afterwards."""
    has_texts = (Prefilled, RoundFinished, Finished)

    def bare(event: Event) -> Event:
        return replace(event, texts={}) if isinstance(event, has_texts) else event

    found = list(turn.events())
    assert [bare(each) for each in found] == [bare(each) for each in told]
    if times:
        assert [e.at for e in found] == [e.at for e in told]  # type: ignore[union-attr]
        assert all(e.at > 0.0 for e in found)  # type: ignore[union-attr]


def test_the_text_of_every_token_in_a_tree_is_known(open_session: Open) -> None:
    listener = open_session("ar,draft")
    listener.loaded()
    events = listener.turn("the quick brown fox")
    ids = {token for step in of(events, RoundFinished, "draft") for token in step.round.tokens}
    (texts,) = (event.texts for event in of(events, Finished, "draft") if event.texts)
    assert ids <= set(texts)


def test_go_on_with_a_kept_conversation(open_session: Open) -> None:
    first = open_session()
    first.loaded()
    told = [first.turn("the quick brown fox"), first.turn("and the lazy dog")]

    second = open_session(seed=99)
    second.loaded()
    past = (Turn("the quick brown fox", 0, answers(told[0])),)
    second.session.send(OpenConversation(past, 7))
    assert tokens(second.turn("and the lazy dog")) == tokens(told[1])

    second.session.send(OpenConversation((*past, Turn("and the lazy dog", 1, answers(told[1]))), 7))
    again = second.turn()  # the last turn once more, as if it had been asked here
    assert tokens(again) == tokens(told[1])
    (started,) = of(again, RunStarted)
    assert (started.turn, started.run, started.seed) == (1, 1, 7)
    third = second.turn("the fox")
    assert of(third, RunStarted)[0].run == 2

    second.session.send(OpenConversation())
    assert of(second.turn("the fox"), RunStarted)[0].turn == 0


def tokens(events: list[Event]) -> dict[str, list[int]]:
    return {lane: ids_of(events, lane) for lane in of(events, RunStarted)[0].lanes}


def answers(events: list[Event]) -> dict[str, str]:
    found: dict[str, str] = {}
    for event in events:
        if isinstance(event, Prefilled):
            found[event.lane] = event.first.text
        elif isinstance(event, RoundFinished):
            shown = [t.text for t in event.tokens if t.fate not in ("rejected", "dropped")]
            found[event.lane] += "".join(shown)
    return found


def test_a_run_says_what_it_was_given(open_session: Open) -> None:
    listener = open_session(schedule="race")
    listener.loaded()
    listener.session.send(SetLeader("draft"))
    started = of(listener.turn("the fox"), RunStarted)[0]
    assert (started.schedule, started.leader) == ("race", "draft")
    assert len(started.prompt_ids) == started.prompt_tokens
