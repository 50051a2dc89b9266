"""A small recorded conversation: two turns, the first one asked twice, of two lanes."""

from __future__ import annotations

from dataclasses import replace

from app.engine.events import (
    Event,
    Finished,
    LaneInfo,
    Loaded,
    Memory,
    Metrics,
    Prefilled,
    RoundFinished,
    RunFinished,
    RunStarted,
)
from app.history.recording import Recording
from app.text.token_event import TokenEvent
from decoding.params import Params, SamplingParams
from decoding.round import Pruned, Round, TokenFate

LANES = (
    LaneInfo("ar", "ar", "Autoregressive", True, None, True, 0),
    LaneInfo(
        "draft:gamma=2",
        "draft",
        "Draft model",
        True,
        None,
        True,
        4,
        trees={"default": 2},
        overrides={"gamma": 2},
    ),
    LaneInfo("medusa", "medusa", "Medusa", False, "no heads: give --medusa DIR", False, 3),
)
LOADED = Loaded(
    *("demo", "cpu", "float32", 1, 512, LANES),
    ignored=("typical_p",),
    weights={"target": 9000, "draft": 500},
    memory=Memory(80_000, None, {"ar": 64}),
    pass_costs=((1, 0.008), (4, 0.009)),
)
SETTINGS = {"family": "demo", "temperature": 0.0, "target": None}
PARAMS = Params(SamplingParams(0.5), gamma=3)
EMPTY = Metrics(0, 0, None, None, None, None, (), 0.0, 0.0, 0.0, 0.0)
SECONDS = 0.01  # of every round


def plain(index: int, root: int, token: int, text: str, at: float) -> RoundFinished:
    """A round of the autoregressive lane."""
    record = Round(index, (root,), (-1,), (), (token,), 0, 0.0, 0.009, 0.0, SECONDS)
    shown = (TokenEvent(token, text, TokenFate.PLAIN, index),)
    return RoundFinished("ar", record, shown, EMPTY, params=Params(), at=at)


def drafted(index: int, root: int, at: float, params: Params = PARAMS) -> RoundFinished:
    """A watched round: one draft accepted, one rejected and corrected."""
    record = Round(
        *(index, (root, 7, 8, 9), (-1, 0, 1, 0), (1,), (7, 5), 2, 0.002, 0.006, 0.001, SECONDS),
        chosen=(7, 5, 6, 5), ranks=(0, 0, 0, 1), p=(1.0, 0.75, 0.125, 0.0625),
        scores=(1.0, 0.5, 0.25, 0.125), pruned=(Pruned(1, 3, 2, 0.03),),
        model_p=(1.0, 0.3, 0.25, 0.1), q=(1.0, 0.5, 0.5, 0.25), entropies=(0.25, 4.5, 1.0, 0.5),
        top=(((7, 0.3, 0.75), (9, 0.1, 0.0625)),) * 4, own_p=(0.02, 0.03),
        tempered_p=(1.0, 0.3, 0.2, 0.1), thresholds=(0.0, 0.09, 0.05, 0.04),
    )  # fmt: skip
    shown = (
        TokenEvent(7, " seven", TokenFate.ACCEPTED, index, 1),
        TokenEvent(8, " eight", TokenFate.REJECTED, index, 2),
        TokenEvent(5, " five", TokenFate.CORRECTION, index),
    )
    texts = {root: "root", 3: "three", 5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine"}
    return RoundFinished("draft:gamma=2", record, shown, EMPTY, texts, params, "wide", at=at)


def unseen(step: RoundFinished) -> RoundFinished:
    """The round as it would be unwatched; its last node is another token."""
    record = step.round
    tokens = (*record.tokens[:3], 10)
    record = replace(
        record, index=1, tokens=tokens, p=(), scores=(), pruned=(), model_p=(), q=(),
        entropies=(), top=(), own_p=None,
    )  # fmt: skip
    return replace(step, round=record, texts={})


def turn(number: int, prompt: str, begun: float, run: int) -> list[Event]:
    names = ("ar", "draft:gamma=2")
    leader = None if number == 0 else "draft:gamma=2"
    first = TokenEvent(4, "Four", TokenFate.FIRST, -1)
    return [
        RunStarted(run, number, prompt, 2, 42, names, (1, 2), "fair", leader, at=begun),
        Prefilled("ar", 0.02, first, 0.02, 0.0, at=begun + 0.02),
        plain(0, 4, 7, " seven", begun + 0.03),
        plain(1, 7, 5, " five", begun + 0.05),
        Finished("ar", "stop", at=begun + 0.05),
        Prefilled("draft:gamma=2", 0.03, first, 0.02, 0.01, at=begun + 0.06),
        drafted(0, 4, begun + 0.08),
        unseen(drafted(1, 5, begun + 0.1, replace(PARAMS, gamma=2))),
        Finished(
            "draft:gamma=2", "length", "draft at its context limit", None, False, 3, {10: "ten"},
            0.03125, at=begun + 0.1,
        ),
        RunFinished(run, False, Memory(90_000, 70_000, {"ar": 128}), at=begun + 0.1),
    ]  # fmt: skip


def events() -> list[Event]:
    return [
        LOADED,
        *turn(0, "Count!", 100.0, 0),
        *turn(0, "Count!", 200.0, 0),
        *turn(1, "And on?\nPlease.", 7.0, 1),  # recorded after the machine was started again
    ]


def recording() -> Recording:
    made = Recording("2026-11-21T10:00:00+00:00", dict(SETTINGS), "Numbers")
    for event in events():
        made.add(event)
    return made


def bare(event: Event) -> Event:
    """Without its figures: they follow from the rounds."""
    if isinstance(event, RoundFinished):
        return replace(event, metrics=EMPTY)
    return replace(event, metrics=None) if isinstance(event, Finished) else event
