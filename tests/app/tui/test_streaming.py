"""Tokens on the screen: inks, ghosts, looks, scrolling, figures, errors."""

from __future__ import annotations

import pytest

from app.engine.events import Finished, Metrics, ProbabilitiesComputed, RunFinished
from app.tui.themes import DARK
from app.tui.tokens.wrapping import TokenStyle, Wrapper
from tests.support.scripted import metrics, prefilled, stepped
from tests.support.stage import Play, Stage, color_name


async def draft_a_sentence(stage: Stage) -> None:
    await stage.begin("Hello")
    await stage.tell(
        prefilled("draft", "The"),
        stepped("draft", [" capital", " of"], [" the", " sea"], " France"),
        stepped("draft", [" is", " Paris"], [], "."),
    )


def inks(stage: Stage, number: int) -> list[tuple[str, TokenStyle]]:
    wrapper = stage.view(number).body.wrapper
    return [run for index in range(len(wrapper)) for run in wrapper[index].runs]


async def test_each_fate_has_its_ink(play: Play) -> None:
    async with play() as stage:
        await draft_a_sentence(stage)
        assert inks(stage, 2) == [
            ("› Hello", TokenStyle.PROMPT),
            ("The", TokenStyle.TEXT),
            (" capital of", TokenStyle.ACCEPTED),
            (" the", TokenStyle.REJECTED),
            (" sea", TokenStyle.DROPPED),
            (" France", TokenStyle.BONUS),
            (" is Paris", TokenStyle.ACCEPTED),
            (".", TokenStyle.BONUS),
        ]


async def test_a_lane_that_drafts_nothing_is_plain(play: Play) -> None:
    async with play() as stage:
        await stage.begin()
        await stage.tell(prefilled("ar", "The"), stepped("ar", [], [], " sky"))
        assert inks(stage, 1)[1:] == [("The sky", TokenStyle.TEXT)]


async def test_colours_of_the_inks(play: Play) -> None:
    async with play() as stage:
        await draft_a_sentence(stage)
        strip = stage.view(2).render_line(1)
        styles = {segment.text: segment.style for segment in strip if segment.style}
        accepted, rejected = styles[" capital of"], styles[" the"]
        assert accepted.underline and color_name(accepted) == "#56b4e9"
        assert rejected.strike and color_name(rejected) == DARK.variables["rejected"].lower()
        assert styles[" France"].bold
        await stage.press("tab", "d")
        segments = stage.view(2).render_line(1)
        colours = {s.text: s.style.color.name for s in segments if s.style and s.style.color}
        assert colours[" capital of"] == "#0072b2" and colours[" the"] == "#8f5a2e"


async def test_hidden_ghosts_leave_no_gap(play: Play) -> None:
    async with play() as stage:
        await draft_a_sentence(stage)
        assert stage.lines(2)[1] == "The capital of the sea France is Paris."
        await stage.press("tab", "x")
        assert stage.lines(2)[1] == "The capital of France is Paris."
        await stage.press("x")
        assert stage.lines(2)[1] == "The capital of the sea France is Paris."


async def test_colour_then_glyphs_then_plain(play: Play) -> None:
    async with play() as stage:
        await draft_a_sentence(stage)
        await stage.press("tab", "c")
        assert stage.lines(2)[1] == "The ‹capital of› ~the sea~ France ‹is Paris›."
        await stage.press("c")
        assert stage.lines(2)[1] == "The capital of France is Paris."
        await stage.press("c")
        assert stage.lines(2)[1] == "The capital of the sea France is Paris."


async def test_spaces_alone_are_no_group_of_glyphs(play: Play) -> None:
    async with play() as stage:
        await stage.press("tab", "c")
        await stage.begin()
        spaces = [[" a", " ", " "], [" "], [" ", " b"]]
        rounds = [stepped("draft", accepted, [], " the") for accepted in spaces]
        await stage.tell(prefilled("draft", "The"), *rounds)
        assert stage.lines(2)[1] == "The ‹a›   the  the  ‹b› the"


async def test_an_answer_may_end_in_an_accepted_token(play: Play) -> None:
    async with play() as stage:
        await stage.press("tab", "c")
        await stage.begin()
        await stage.tell(prefilled("draft", "The"), stepped("draft", [" sky", "."], [], ""))
        await stage.tell(Finished("draft", "stop"))
        assert stage.lines(2)[1] == "The ‹sky.›"
        await stage.tell(Finished("draft", "stop", None, None, True))  # told again, with more
        await stage.resize(120, 30)
        assert stage.lines(2)[1] == "The ‹sky.›"


async def test_no_color_begins_with_glyphs(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with play() as stage:
        await draft_a_sentence(stage)
        assert "‹capital of› ~the sea~ France" in stage.text


async def test_model_text_is_never_markup_and_never_obeyed(play: Play) -> None:
    async with play() as stage:
        await stage.begin("[b]Hello[/b]\x1b[2J")
        await stage.tell(prefilled("ar", "[red]a[/red]\x1b[2J\tb"))
        assert stage.lines(1)[:2] == ["› [b]Hello[/b]␛[2J", "[red]a[/red]␛[2J    b"]


async def test_a_character_split_over_tokens(play: Play) -> None:
    """The bytes of an emoji come in several tokens; all but the last have no text yet."""
    async with play() as stage:
        await stage.begin()
        await stage.tell(
            prefilled("draft", "A"),
            stepped("draft", [" ", ""], [], "😀"),
            stepped("draft", ["👩", "\u200d"], [], "👧"),
        )
        assert stage.lines(2)[1] == "A 😀👩\u200d👧"
        assert stage.view(2).answer == "A 😀👩\u200d👧"


async def test_follows_the_end_until_the_user_scrolls_away(play: Play) -> None:
    async with play() as stage:
        await stage.begin()
        view = stage.view(1)
        await stage.tell(prefilled("ar", "".join(f"line {n}\n" for n in range(50))))
        assert view.scroll_offset.y == view.max_scroll_y > 0
        await stage.press("tab", "home")
        await stage.tell(stepped("ar", [], [], "\nmore\n"))
        assert view.scroll_offset.y == 0
        await stage.press("end")
        await stage.tell(stepped("ar", [], [], "and\nmore\n"))
        assert view.scroll_offset.y == view.max_scroll_y


async def test_only_the_last_turn_is_wrapped_again(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    fed, feed = list[str](), Wrapper.feed

    def counted(wrapper: Wrapper, text: str, style: TokenStyle) -> None:
        fed.append(text)
        feed(wrapper, text, style)

    async with play() as stage:
        first, reasoned = prefilled("draft", "<think>"), stepped("draft", ["</th", "ink>"], [], "!")
        for turn in range(3):
            await stage.begin(f"Question {turn}", turn, "draft")
            await stage.tell(first)
            if turn == 2:
                monkeypatch.setattr(Wrapper, "feed", counted)
            await stage.tell(reasoned)
            await stage.finish(turn, "draft")
        await stage.tell(ProbabilitiesComputed("draft", 2, None, (reasoned.round,)))
        await stage.begin("Question 3", 3)
        await stage.begin("Question 3", 3)  # again
        assert "Question 0" in stage.view(2).body.kept_text()[0]
        assert not [text for text in fed if "Question 0" in text or "Question 1" in text]
        assert len([text for text in fed if "Question 2" in text]) == 2  # reasoning, probabilities


async def test_a_resize_wraps_again_and_keeps_the_end(play: Play) -> None:
    async with play() as stage:
        await stage.begin()
        words = " ".join(f"word{n}" for n in range(200))
        await stage.tell(prefilled("ar", words))
        for size in ((200, 50), (60, 24), (100, 30)):
            await stage.resize(*size)
            view = stage.view(1)
            lines = [line.text for line in view.body.wrapper.closed] + [
                view.body.wrapper.open_line.text
            ]
            assert "".join(lines) == "› Hello" + words
            assert view.scroll_offset.y == view.max_scroll_y
            assert [line for line in stage.lines(1) if line][-1].endswith("word199")


async def test_the_place_is_kept_when_a_reader_resizes(play: Play) -> None:
    async with play() as stage:
        await stage.begin()
        await stage.tell(prefilled("ar", " ".join(f"word{n}" for n in range(400))))
        await stage.press("tab", "home", "pagedown")
        first = stage.lines(1)[0].split()[0]
        await stage.resize(90, 30)
        assert first in stage.lines(1)[0]


async def test_figures_on_the_edges(play: Play) -> None:
    async with play() as stage:
        await stage.begin()
        await stage.tell(prefilled("draft", "The"), stepped("draft", [" sky"], [], " is"))
        await stage.tell(Finished("draft", "stop", None, metrics(), matches_ar=True))
        top = next(line for line in stage.text.splitlines() if "╮╭ 2 Draft model" in line)
        assert "γ4 ✓" in top and "19.8 tok/s 1.77×" in top
        assert "64 tok TTFT 210ms α 72% τ 2.9 ≡AR █▇▄▂" in stage.text


async def test_a_divergence_is_told(play: Play) -> None:
    told = {0.0312: "≠AR@17 Δ0.031", 1e-6: "≠AR@17 Δ<0.001", 0.0: "≠AR@17 Δ0.000", None: "≠AR@17"}
    async with play() as stage:
        for turn, (gap, shown) in enumerate(told.items()):
            await stage.begin("Hello", turn)
            await stage.tell(
                prefilled("draft", "The"),
                Finished(
                    *("draft", "length", None, metrics()),
                    matches_ar=False, first_divergence=17, divergence_gap=gap,
                ),
            )  # fmt: skip
            assert shown in stage.text and ("Δ" in stage.text) == ("Δ" in shown)
            await stage.tell(RunFinished(turn, False))


async def test_figures_that_are_not_defined_are_left_out(play: Play) -> None:
    nothing = Metrics(1, 0, None, None, None, None, (), 0, 0, 0, 0)
    async with play() as stage:
        await stage.begin()
        await stage.tell(prefilled("draft", "The"), stepped("draft", [], [], "", nothing))
        edge = next(line for line in stage.text.splitlines() if "1 tok" in line)
        assert "α" not in edge and "None" not in stage.text and "nan" not in stage.text


async def test_figures_are_written_four_times_a_second(play: Play) -> None:
    async with play() as stage:
        await stage.begin()
        await stage.tell(prefilled("draft", "The"))
        stage.engine.emit(stepped("draft", [" sky"], [], " is"))
        await stage.app.pump()  # no time has passed
        await stage.pilot.pause()
        assert "The sky is" in stage.text and "19.8" not in stage.text
        stage.clock.now += 0.3
        await stage.app.pump()
        await stage.pilot.pause()
        assert "19.8" in stage.text


async def test_an_error_stays_in_its_lane(play: Play) -> None:
    async with play() as stage:
        await stage.begin()
        await stage.tell(
            prefilled("draft", "The"),
            Finished("draft", "error", "RuntimeError: out of memory"),
            prefilled("lookup", "A"),
            stepped("lookup", [" sky"], [], "!"),
            Finished("lookup", "stop", "draft at its context limit", metrics()),
            RunFinished(0, False),
        )
        assert stage.lines(2)[1:3] == ["The", "✗ RuntimeError: out of memory"]
        assert stage.lines(3)[1:3] == ["A sky!", "· draft at its context limit"]
        assert "2 Draft model γ4 ✗" in stage.text and "○ ready" in stage.text


async def test_a_lane_is_as_wide_as_before_when_the_title_grows(play: Play) -> None:
    async with play((80, 24)) as stage:
        await stage.begin()
        await stage.tell(prefilled("draft", "The"), stepped("draft", [], [], "x"))
        edges = [line for line in stage.text.splitlines() if line.startswith("╭")]
        assert edges and all(len(line) == 80 and line.endswith("╮") for line in edges)
