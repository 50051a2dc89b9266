"""Help: two columns that keep to themselves at any width, and few widgets, so that it opens at
once."""

from __future__ import annotations

import re

import pytest
from rich.style import Style
from textual.containers import VerticalScroll
from textual.content import Content

from app.config.model_options import ModelOptions
from app.models.library import ModelLibrary
from app.tui.widgets.definition_list import DefinitionList
from app.tui.widgets.keyed_box import KeyedBox
from tests.support.stage import Play, Stage

MANY = 40


def columns(stage: Stage) -> list[tuple[str, str]]:
    """The rows on the screen, cut where the second column begins."""
    box = stage.app.screen.query_one("#help", VerticalScroll).content_region
    rows = stage.text.splitlines()[box.y : box.bottom]
    cut = box.x + DefinitionList.COLUMN
    return [(row[box.x : cut].strip(), row[cut : box.right].strip()) for row in rows]


def entry(stage: Stage, name: str) -> str:
    """What the entry `name` says, from all rows that it has."""
    rows = columns(stage)
    begin = next(place for place, (word, _) in enumerate(rows) if word == name)
    texts = [rows[begin][1]]
    for word, text in rows[begin + 1 :]:
        if word or not text:
            break
        texts.append(text)
    return " ".join(texts)


async def test_texts_keep_to_their_column_at_any_width(play: Play) -> None:
    async with play() as stage:
        await stage.press("f1", "slash")
        await stage.type("ttft")
        wide = entry(stage, "TTFT")
        assert wide == "time to the first token: the prefill. It is not in tok/s."
        for columns in (60, 40):
            await stage.resize(columns, 30)
            assert entry(stage, "TTFT") == wide


async def test_it_can_be_read_to_its_end_on_the_smallest_screen(play: Play) -> None:
    async with play((40, 12)) as stage:
        await stage.press("f1", "end")
        await stage.pilot.pause()
        last = " ".join(text for _, text in columns(stage))
        assert "are not in the race." in last


@pytest.mark.parametrize("key", ["f1", "f4", "f6"])
async def test_keys_in_an_edge_are_left_out_whole(play: Play, key: str) -> None:
    async with play(library=ModelLibrary({}, ModelOptions())) as stage:

        def edge() -> list[str]:
            row = next(row for row in stage.text.splitlines() if "closes" in row and "╯" in row)
            return row[row.index("╰") : row.rindex("╯")].strip("╰─ ").split(" · ")

        await stage.press(key)
        every = edge()
        for columns in (60, 40):
            await stage.resize(columns, 24)
            assert edge() == every[: len(edge())] and "closes" in "".join(edge())
        assert len(edge()) < len(every)
        await stage.resize(100, 30)
        assert edge() == every


async def test_an_edge_has_its_keys_before_its_width_is_known(play: Play) -> None:
    """Laying the help out takes seconds while lanes run on a busy machine."""
    async with play() as stage:
        box = KeyedBox()
        stage.app.main.mount(box)
        box.show_keys(["↑ ↓ scroll", "Esc closes"])
        assert "Esc closes" in str(box.border_subtitle)


async def test_a_section_is_one_widget(play: Play) -> None:
    """Each widget takes a millisecond to appear: three for each entry were half a second."""
    async with play() as stage:
        await stage.press("f1")
        assert len(stage.app.screen.query("*")) < MANY


def styles(stage: Stage) -> dict[str, Style]:
    """By text, of the first place on the screen that has it."""
    found: dict[str, Style] = {}
    for strip in stage.app.screen._compositor.render_strips():
        for segment in strip:
            found.setdefault(segment.text.strip(), segment.style or Style())
    return found


async def test_keys_figures_and_rules_are_explained(play: Play) -> None:
    """Keys as the keymap has them, words in the styles that they explain."""
    async with play() as stage:
        stage.app.set_keymap({"view.ghosts": "j,f9", "run.step": "k"})
        await stage.press("f1")
        text = stage.help_text
        assert re.search("^j, F9 +Show or hide rejected tokens *$", text, re.MULTILINE)
        assert re.search("^k +.*exactly one round", text, re.MULTILINE)
        for words in ("drafted, and the target agreed", "accepted ÷ tested", "Accepted per pass",
                      "Batch size is 1", "Ten steps up", "temperature 0 it is plain greedy",
                      "heads used", "by the typical rule", "one target pass tests",
                      "rank among the drafter"):  # fmt: skip
            assert words in " ".join(text.split())
        found = styles(stage)
        assert found["rejected"].strike and found["rejected"].bold
        assert "#b98a3e" in str(found["rejected"])
        assert not found["plain"].strike and found["plain"].bold
        assert "#7fb8e6" in str(found["plain"])
        await stage.press("escape")
        assert "drafted, and the target agreed" not in stage.text


async def test_long_words_are_wrapped_as_well() -> None:
    terms = DefinitionList([("one two three four", "a"), (Content("x"), "b " * 30)])
    lines = [line.plain for line in terms.lines(20)]
    assert lines[:2] == ["one two      a", "three four   "]
    assert all(line[: DefinitionList.COLUMN].strip() in ("x", "") for line in lines[2:])
    assert len(lines) > 8 and max(map(len, lines)) <= 20


@pytest.mark.parametrize("key", ["slash", "ctrl+f"])
async def test_it_can_be_filtered(play: Play, key: str) -> None:
    async with play() as stage:
        await stage.press("f1", key)
        await stage.type("ttft")
        shown = [text for _, text in columns(stage) if text]
        assert any("time to the first token" in text for text in shown) and len(shown) < 6
        assert "#7fb8e6" in str(styles(stage)["TTFT"])
        assert "Tokens" not in stage.text
        await stage.press("enter", "escape")
        assert "time to the first token" not in stage.text


async def test_letters_that_nobody_types_are_found_by_their_names(play: Play) -> None:
    """Esc leaves the filter, then the help."""
    async with play() as stage:
        await stage.press("f1", "slash")
        await stage.type("tau")
        assert entry(stage, "τ").startswith("tau: tokens per target pass")
        await stage.press("escape")
        assert ("accepted", "‹accepted› drafted, and the target agreed") in columns(stage)
        await stage.press("escape")
        assert stage.app.screen is stage.app.main
