"""A server's lane on the screen: what it is, what it tells, and what it can't."""

from __future__ import annotations

from dataclasses import replace

from app.config.model_options import ModelOptions
from app.engine.commands import AddLane, ComputeProbabilities, OpenModels
from app.engine.events import PIECE, Finished, LaneInfo, Prefilled, RoundFinished
from app.engine.metrics import metrics_of
from app.servers.usage import Drafting, Usage, with_reported_counts
from app.strategies.lane_spec import Endpoint
from app.text.token_event import TokenEvent
from app.tui.actions.lanes import LaneActions
from decoding.round import Round, TokenFate
from decoding.stats import Stats
from tests.support.scripted import lane
from tests.support.stage import Play, Stage

NOTE = "vllm · fox-1b\nhttp://fox:8000/v1, on another machine; settings act from its next request"
FOX = LaneInfo(
    "fox", "server", "fox", True, None, True, 0, NOTE, endpoint=Endpoint("http://fox/v1")
)
LANES = (lane("ar", title="Autoregressive"), FOX)
FIRST = Prefilled("fox", 0.12, TokenEvent(PIECE, "The", TokenFate.FIRST, -1))


def said(text: str, index: int = 0) -> RoundFinished:
    record = Round(index, (PIECE,), (-1,), (), (PIECE,), 0, 0.0, 0.0, 0.0, 0.1)
    now = metrics_of(with_reported_counts(Stats(emitted=1, decode_seconds=0.1), None), 2, 0, None)
    shown = (TokenEvent(PIECE, text, TokenFate.PLAIN, index),)
    return RoundFinished("fox", record, shown, now)


def done(drafting: Drafting, same: bool | None = None) -> Finished:
    usage = Usage(0.5, 11, drafting=drafting)
    stats = with_reported_counts(Stats(), usage)
    now = metrics_of(stats, 11, stats.passes, None)
    return Finished("fox", "stop", metrics=now, usage=usage, same_text=same)


async def ask(stage: Stage, *events: RoundFinished | Finished) -> None:
    await stage.begin("Hello", 0, "ar", "fox")
    await stage.tell(FIRST, said(" fox"), *events)


async def test_its_pane_says_where_it_is_and_that_it_is_no_lane_of_this_process(play: Play) -> None:
    async with play(lanes=LANES, load=False) as stage:
        await stage.load(LANES)
        assert "2 fox over HTTP" in stage.text
        assert "on another machine; settings act" in " ".join(" ".join(stage.lines(2)).split())


async def test_its_figures_are_those_that_the_engine_tells(play: Play) -> None:
    async with play(lanes=LANES, load=False) as stage:
        await stage.load(LANES)
        await ask(stage, done(Drafting(12, 6, 4, 9, (1, 1, 1, 1)), same=True))
        for figure in ("α 67%", "τ 2.5", "11 tok", "20.0 tok/s", "TTFT 120ms", "≡AR text"):
            assert figure in stage.text, figure


async def test_without_lengths_there_is_no_alpha(play: Play) -> None:
    async with play(lanes=LANES, load=False) as stage:
        await stage.load(LANES)
        await ask(stage, done(Drafting(12, 6), same=False))
        assert "50% of drafts" in stage.text and "≠AR text" in stage.text
        assert "α" not in stage.text.split("fox", 1)[1].split("gamma")[0]


async def test_panels_say_what_a_server_does_not(play: Play) -> None:
    async with play(lanes=LANES, load=False) as stage:
        await stage.load(LANES)
        await ask(stage, done(Drafting(12, 6)))
        await stage.to_lane(2)
        await stage.press("v")
        assert "A server does not report what it drafted" in stage.text
        await stage.press("v", "s")
        assert "Pieces of text as they arrived" in stage.text
        await stage.press("s", "w")
        assert "·fox" in stage.text and "the server" in stage.text
        assert "A server's text comes in pieces" in stage.text
        await stage.press("w", "R")
        assert "A server does not report which drafts were rejected" in stage.text
        await stage.press("R", "l")
        assert "measur" not in stage.text
        assert not [each for each in stage.engine.asked(ComputeProbabilities) if each.lane == "fox"]


async def test_with_servers_alone_a_local_lane_needs_a_model_first(play: Play) -> None:
    async with play(lanes=(FOX,), load=False) as stage:
        await stage.load((FOX,))
        await stage.app.run_action("add_lane('lookup')")
        assert not stage.engine.asked(AddLane)
        assert "No model is loaded here: F6 loads one" in stage.text
        assert isinstance(stage.app, LaneActions)
        stage.app._open_models(ModelOptions("other"))
        (opened,) = stage.engine.asked(OpenModels)
        names = [spec.name for spec in opened.specs]
        assert names == ["ar", "draft", "medusa", "eagle", "fox"]
        assert opened.specs[-1].endpoint == FOX.endpoint


async def test_it_can_be_asked_twice_over(play: Play) -> None:
    async with play(lanes=LANES, load=False) as stage:
        await stage.load(LANES)
        await stage.to_lane(2)
        await stage.press("u")
        (added,) = stage.engine.asked(AddLane)
        assert added.spec == replace(FOX.spec, name="fox") and added.after == "fox"
