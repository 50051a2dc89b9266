"""Lenses: what the colours of tokens mean, the scale, and who is watched for it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.engine.commands import RecordProbabilities
from app.engine.events import Finished, RoundFinished
from app.text.token_event import TokenEvent
from app.tui.format.legend import legend
from app.tui.format.status import status_left
from app.tui.state.app_state import AppState
from app.tui.themes import DARK, LANE_COLORS, LIGHT, lane_color
from app.tui.tokens import lens
from app.tui.tokens.token_text import DisplayOptions
from app.tui.tokens.wrapping import TokenStyle
from app.tui.widgets.split_line import fitting
from decoding.params import Params
from decoding.round import TokenFate, TokenProbs
from tests.support.contrast import contrast
from tests.support.scripted import prefilled, stepped
from tests.support.stage import Play, Stage


def measured(event: RoundFinished, p: list[float], own: float, bits: list[float]) -> RoundFinished:
    record = replace(
        event.round, p=(1.0, *p), model_p=(1.0, *p), own_p=(own, own), entropies=tuple(bits)
    )
    return replace(event, round=record)


ROUNDS = (
    measured(stepped("draft", [" sky"], [" so"], " is", index=0), [0.95, 0.01], 0.6, [0.1, 1.5, 9]),
    measured(stepped("draft", [" very"], [], " blue", index=1), [0.3], 0.01, [2.5, 7.0]),
)
FIRST = replace(prefilled("draft", "The"), probs=TokenProbs(0.7, (), (0.07, 0.07)))


async def told(stage: Stage) -> None:
    await stage.to_lane(2)
    await stage.begin()
    await stage.tell(FIRST, *ROUNDS)


def inks(stage: Stage) -> list[tuple[str, str]]:
    wrapper = stage.view(2).body.wrapper
    runs = [run for index in range(len(wrapper)) for run in wrapper[index].runs]
    return [(text.strip(), str(ink)) for text, ink in runs[1:]]


@pytest.mark.parametrize("theme", [DARK, LIGHT])
def test_the_steps_are_told_apart_by_lightness(theme: object) -> None:
    assert theme in (DARK, LIGHT)
    own = DARK if theme is DARK else LIGHT
    contrasts = [contrast(own.variables[step], str(own.background)) for step in lens.STEPS]
    assert contrasts[0] >= 4.5
    assert all(b > 1.1 * a for a, b in zip(contrasts, contrasts[1:], strict=False)), contrasts
    assert contrast(str(own.foreground), own.variables["tint"]) >= 4.5


def test_every_value_has_its_step() -> None:
    token = TokenEvent(0, "a", TokenFate.FIRST, -1)

    def drawn(name: lens.ColorBy, p: float, bits: float) -> TokenStyle:
        source = replace(FIRST, probs=TokenProbs(bits, (), (p, 0.0)))
        return lens.token_style(name, token, source)

    values = (1.0, 0.9, 0.89, 0.5, 0.49, 0.2, 0.19, 0.05, 0.04, 0.0)
    steps = [drawn("probability", p, 0).value[-1] for p in values]
    assert "".join(steps) == "0011223344"
    values = (0.0, 0.49, 0.5, 0.99, 1.0, 1.9, 2.0, 3.9, 4.0, 12.0)
    assert "".join(drawn("entropy", 1, bits).value[-1] for bits in values) == "0011223344"


def test_where_it_is_narrow_a_notice_takes_the_place_of_the_scale() -> None:
    state, options = AppState(Params()), DisplayOptions(color_by="probability")
    shown = fitting([], legend(options, state), 50)[1]
    assert [part.text for part in shown][-2:] == ["≥.05", "<.05"]
    state.show_notice("Undone: temperature; Ctrl+Y redoes it")
    assert fitting(status_left(state), legend(options, state), 50) == (status_left(state), [])


async def test_the_lenses_and_back(play: Play) -> None:
    async with play() as stage:
        await told(stage)
        await stage.press("l")
        assert inks(stage) == [
            ("The", "step3"),
            ("sky", "step0"),
            ("so", "dropped"),
            ("is", "step1"),
            ("very", "step2"),
            ("blue", "step4"),
        ]
        assert "probability ≥.9 ≥.5 ≥.2 ≥.05 <.05" in stage.text and "records p" not in stage.text
        await stage.press("l")
        assert inks(stage) == [
            ("The", "step1"),
            ("sky", "step0"),
            ("so", "dropped"),
            ("is", "step2"),
            ("very", "step3"),
            ("blue", "step4"),
        ]
        assert "entropy <.5 ≥.5 ≥1 ≥2 ≥4 bits" in stage.text
        await stage.press("l")
        assert inks(stage) == [
            ("The", "tint"),
            ("sky", "text"),
            ("so", "dropped"),
            ("is", "text"),
            ("very blue", "tint"),
        ]
        assert "every second round" in stage.text
        await stage.press("l")
        assert inks(stage)[1] == ("sky", "accepted") and "accepted rejected" in stage.text


async def test_probabilities_are_recorded_while_colours_need_them(play: Play) -> None:
    async with play() as stage:
        await stage.press("tab", "l")
        assert stage.engine.asked(RecordProbabilities) == [
            RecordProbabilities(frozenset({"ar", "draft", "lookup"}))
        ]
        await stage.press("v", "v", "l")
        assert len(stage.engine.asked(RecordProbabilities)) == 1
        await stage.press("l")
        assert stage.engine.asked(RecordProbabilities)[-1] == RecordProbabilities(frozenset())


@pytest.mark.parametrize("size", [(100, 30), (60, 24)])
async def test_tokens_without_probabilities_are_plain_and_f5_records_them(
    play: Play, size: tuple[int, int]
) -> None:
    async with play(size) as stage:
        await stage.to_lane(2)
        await stage.begin()
        await stage.tell(FIRST, stepped("draft", [" a"], [], " b"), ROUNDS[1])
        await stage.press("l")
        assert inks(stage)[1] == ("a b", "text")
        assert "<.05 F5 records p" in stage.text


async def test_without_colours_the_steps_are_numbers(play: Play) -> None:
    async with play() as stage:
        await told(stage)
        await stage.tell(Finished("draft", "stop"))
        await stage.press("c", "c", "l")  # there is no lens on plain text
        assert inks(stage)[0] == ("The", "step3")
        await stage.press("c")
        assert stage.lines(2)[1] == "‹The›³ sky ~so~ ‹is›¹ ‹very›² ‹blue›⁴"
        assert "≥.9 ‹≥.5›¹ ‹≥.2›² ‹≥.05›³ ‹<.05›⁴" in stage.text
        await stage.press("l", "l")
        assert stage.lines(2)[1] == "‹The› sky ~so~ is ‹very blue›"
        assert stage.view(2).answer == "The sky is very blue"


@pytest.mark.parametrize("theme", [DARK, LIGHT])
def test_lanes_and_rejected_tokens_can_be_read(theme: object) -> None:
    assert theme in (DARK, LIGHT)
    own = DARK if theme is DARK else LIGHT
    lanes = [own.variables[lane_color(number)[1:]] for number in range(1, LANE_COLORS + 1)]
    assert len(set(lanes)) == LANE_COLORS and lane_color(LANE_COLORS + 1) == lane_color(1)
    for color in lanes:
        assert contrast(color, str(own.panel)) >= 4.5, color
    for color in (*lanes, own.variables["rejected"], own.variables["dropped"]):
        assert contrast(color, str(own.background)) >= 4.5, color
