"""Panes and tabs at all sizes; lanes on and off; help, palette and themes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from textual.css.stylesheet import Stylesheet
from textual.dom import DOMNode
from textual.geometry import Size

from app.config.presets import Presets
from app.engine.commands import SetEnabled, SetLeader
from app.engine.events import Finished
from app.strategies.registry import STRATEGIES
from app.tui.format.glossary import (
    FIGURE_PATTERNS,
    FIGURES,
    LANE_MARKS,
    LEGEND,
    LENSES,
    METRICS,
    TITLE,
    TREE,
    explain,
)
from app.tui.widgets.lane_grid import grid_regions
from app.tui.widgets.lane_pane import LanePane
from app.tui.widgets.lane_tabs import LaneTabs
from app.tui.widgets.panel import Panel
from app.tui.widgets.split_line import SplitLine
from app.tui.widgets.tree_view import TreeView
from tests.support.scripted import lane, metrics, prefilled, stepped
from tests.support.stage import LANES, Play


@pytest.mark.parametrize("count", range(1, 10))
@pytest.mark.parametrize("size", [(80, 17), (100, 24), (160, 40), (200, 44)])
def test_cells_fill_the_room_and_do_not_overlap(count: int, size: tuple[int, int]) -> None:
    regions = grid_regions(count, Size(*size))
    assert len(regions) == count
    assert sum(region.area for region in regions) == size[0] * size[1]
    assert not any(a.overlaps(b) for a in regions for b in regions if a is not b)


def test_four_lanes_stand_in_two_rows_or_in_one() -> None:
    assert len({region.y for region in grid_regions(4, Size(100, 20))}) == 2
    assert len({region.y for region in grid_regions(4, Size(200, 40))}) == 1


async def test_nothing_falls_off_the_screen(play: Play) -> None:
    async with play((100, 30)) as stage:
        await stage.begin()
        for columns, rows in ((100, 30), (60, 24), (200, 50), (80, 24), (40, 12)):
            await stage.resize(columns, rows)
            lines = stage.text.splitlines()
            assert len(lines) == rows and all(len(line) == columns for line in lines)
            assert "prefill" in lines[0]
            assert lines[-2].startswith(" ›") and "Esc Stop" in lines[-1]


async def test_number_keys_go_to_lanes_that_can_be_switched_and_the_others_take_the_room(
    play: Play,
) -> None:
    async with play() as stage:
        await stage.press("escape")
        before = stage.view(2).size
        await stage.press("2", "1", "o")
        assert stage.engine.asked(SetEnabled) == [SetEnabled("ar", False)]
        assert "1 Autoregressive · off, 1 then o switches it on" in stage.text
        assert stage.view(2).size.height > before.height
        assert stage.engine.asked(SetLeader)[-1] == SetLeader("draft")
        await stage.press("2", "1", "o")
        assert stage.engine.asked(SetEnabled)[-1] == SetEnabled("ar", True)
        assert stage.view(2).size == before


FOUR = (*LANES[:3], lane("eagle", gamma=8))


# The size of the screen, and how many panes it shows without a panel and with one.
PANES = (
    ((120, 20), 4, 1),
    ((120, 19), 4, 0),
    ((80, 24), 4, 4),
    ((100, 30), 4, 4),
    ((100, 14), 1, 0),
    ((60, 24), 1, 0),
    ((200, 50), 4, 4),  # the last one: there is room for two panels, and one of them stays
)


async def test_a_pane_has_three_lines_of_text_or_tabs(play: Play) -> None:
    async with play(lanes=FOUR, load=False) as stage:
        await stage.load(FOUR)
        await stage.press("escape")
        for size, without, with_panel in PANES:
            await stage.resize(*size)
            for key, count in (("", without), ("v", with_panel), ("w", with_panel), ("w", without)):
                await stage.press(*key)
                panes = [pane for pane in stage.app.main.grid.panes if pane.view.region.height]
                shown = [pane.view.size.height for pane in panes if stage.app.main.grid.display]
                assert len(shown) == count and all(lines >= 3 for lines in shown), (size, key)
                assert ("1 ar" in stage.text) is (count < 4)  # a tab
                if stage.app.main.panel:
                    assert stage.app.main.panel.size.height >= 8


async def test_the_edges_of_a_panel_are_straight(play: Play) -> None:
    async with play() as stage:
        await stage.to_lane(2)
        await stage.begin()
        await stage.tell(prefilled("draft", "The"), stepped("draft", [" sky"], [" was"], " is"))
        assert not any(panel.children for panel in stage.app.main.query(Panel))  # not shown yet
        for key in "vws":
            await stage.press(key)
            for columns, lines in ((60, 24), (200, 50), (100, 30)):
                await stage.resize(columns, lines)
                panel = stage.app.main.panel
                assert panel and panel.id == stage.app.main.open
                rows = stage.text.splitlines()[panel.region.y : panel.region.bottom]
                assert {row[0] for row in rows} == set("╭│╰"), (key, columns)
                assert {row[-1] for row in rows} - {"┃"} == set("╮│╯"), (key, columns)


async def test_tabs_have_the_speeds(play: Play) -> None:
    async with play((60, 24)) as stage:
        assert "1 ar  2 draft" in stage.text
        await stage.begin()
        for name in ("ar", "draft", "lookup"):
            await stage.tell(prefilled(name, "A"), stepped(name, [], [], "b"))
        await stage.tell(Finished("ar", "stop"))
        assert "1 ar ✓ 20 tok/s  2 draft ▶ 20  3 lookup ▶ 20" in stage.text
        await stage.resize(46, 24)
        assert "1 ar ✓ 20 tok/s  2▶ 20  3▶ 20" in stage.text


async def test_panels_are_as_high_as_what_they_hold(play: Play) -> None:
    async with play((100, 60)) as stage:
        await stage.to_lane(2)
        await stage.press("v")
        least = stage.view(1).size.height
        await stage.begin()
        words = [f" {number}" for number in range(9)]
        await stage.tell(prefilled("draft", "The"), stepped("draft", words, [" was"], " is"))
        panel = stage.app.main.panel
        nodes = 1 + len(words) + 2
        assert panel and panel.size.height == 3 + 2 + nodes  # edges, facts; a note, a heading
        fewer = stage.view(1).size.height
        assert fewer < least
        await stage.tell(stepped("draft", [], [" was"], " is", index=1))
        await stage.press("1")
        assert stage.view(1).size.height == fewer  # nothing jumps
        await stage.press("v", "v")
        assert stage.view(1).size.height == least


async def test_two_panels_stand_side_by_side_where_it_is_broad(play: Play) -> None:
    async with play((170, 40), scoreboard=True) as stage:
        await stage.press("escape", "v")

        def shown() -> list[str]:
            return [str(panel.id) for panel in stage.app.main.query(Panel) if panel.display]

        assert shown() == ["tree", "scores"]
        await stage.press("s")
        assert shown() == ["tree", "figures"]
        left, right = (stage.app.main.query_one(f"#{name}") for name in ("tree", "figures"))
        assert left.region.y == right.region.y and left.region.right == right.region.x == 85
        await stage.resize(100, 40)
        assert shown() == ["figures"]
        await stage.resize(170, 40)
        await stage.press("v")
        assert shown() == ["figures", "scores"]
        await stage.press("r")
        assert shown() == ["figures"]
        await stage.press("r", "s")
        assert shown() == ["scores"]
        await stage.press("r")
        assert shown() == []


async def test_six_lanes_and_a_panel_share_the_room(play: Play) -> None:
    six = (*FOUR, lane("medusa", gamma=3), lane("draft-only"))
    async with play((100, 30), lanes=six, load=False) as stage:
        await stage.load(six)
        await stage.press("tab", "v")
        assert all(stage.view(number).size.height >= 3 for number in range(1, 7))
        await stage.press("6", "o")  # one less, of a row of its own
        assert "off, 6 then o switches it on" in stage.text and stage.view(5).size.height >= 3
        await stage.resize(100, 28)
        await stage.press("5")
        assert "╭ 5 Medusa" in stage.text and "╭ 1 Auto" not in stage.text


async def test_a_lane_that_cannot_run_says_why(play: Play) -> None:
    async with play() as stage:
        assert "4 Medusa · no heads: give --medusa DIR" in stage.text
        await stage.press("tab", "4", "o")
        assert not stage.engine.asked(SetEnabled)


async def test_an_empty_pane_says_what_its_lane_does(play: Play) -> None:
    lanes = (lane("ar"), lane("draft", note="of two layers"))
    async with play(lanes=lanes, load=False) as stage:
        await stage.load(lanes)
        assert " ".join(stage.lines(1)[:2]) == STRATEGIES["ar"].summary
        assert stage.lines(2)[:2] == ["A smaller model drafts a chain", "of two layers"]
        await stage.begin("Hello", 0, "ar", "draft")
        assert "drafts a chain" not in stage.text


async def test_a_lane_switched_off_before_loading_stays_off(play: Play) -> None:
    async with play(load=False) as stage:
        await stage.press("tab", "3", "o")
        await stage.load()
        assert stage.engine.asked(SetEnabled) == [SetEnabled("lookup", False)]
        assert "3 Prompt lookup · off" in stage.text


async def test_narrow_has_tabs_and_numbers_go_to_them(play: Play) -> None:
    async with play((60, 24)) as stage:
        await stage.begin()
        await stage.tell(prefilled("ar", "from one"), prefilled("draft", "from two"))
        await stage.press("tab")
        assert "from one" in stage.text and "from two" not in stage.text
        await stage.press("2")
        assert "from two" in stage.text and "from one" not in stage.text
        assert stage.engine.asked(SetLeader)[-1] == SetLeader("draft")
        assert not stage.engine.asked(SetEnabled)
        await stage.press("o")
        assert stage.engine.asked(SetEnabled) == [SetEnabled("draft", False)]
        assert "off, o switches it on" in stage.text
        await stage.press("o", "4")
        assert "no heads: give --medusa DIR" in stage.text
        await stage.pilot.click(LaneTabs, offset=(2, 0))
        await stage.pilot.pause()
        assert "from one" in stage.text


async def test_the_tab_in_reverse_is_the_one_that_is_shown(play: Play) -> None:
    async with play((60, 24)) as stage:
        await stage.press("escape")
        tabs = stage.app.main.query_one(LaneTabs)
        for number in "243":
            await stage.press(number)
            strip = tabs.render_line(0)
            drawn = [text for text, style, _ in strip if style and style.reverse]
            assert "".join(drawn).startswith(f"{number} ")


async def test_tabs_have_their_marks_where_there_is_no_room_for_names(play: Play) -> None:
    async with play((40, 24)) as stage:
        await stage.begin()
        await stage.tell(prefilled("ar", "from one"))
        await stage.press("tab", "2")
        assert stage.text.splitlines()[1].startswith(" 1▶  2 draft …  3…")


async def test_resizing_goes_to_tabs_and_back(play: Play) -> None:
    async with play() as stage:
        await stage.begin()
        await stage.tell(prefilled("ar", "from one"), prefilled("draft", "from two"))
        await stage.press("tab", "tab")
        await stage.resize(60, 24)
        assert "from two" in stage.text and "from one" not in stage.text
        await stage.resize(100, 30)
        assert "from two" in stage.text and "from one" in stage.text


async def test_maximize_shows_one_pane(play: Play) -> None:
    async with play() as stage:
        await stage.press("tab", "tab", "z")
        assert (
            stage.view(2).size.width == 99
        )  # all but the left edge; the right one is the scroll bar
        assert "╭ 1 Auto" not in stage.text
        await stage.press("z")
        assert "╭ 1 Auto" in stage.text


async def test_tab_goes_round_panes_sliders_and_prompt(play: Play) -> None:
    async with play() as stage:
        await stage.press("escape")
        order = []
        for _ in range(10):
            assert stage.app.focused
            order.append(getattr(stage.app.focused.parent, "number", stage.app.focused.id))
            await stage.press("tab")
        sliders = ["gamma", "temperature", "top_p", "top_k", "min_p", "max_new_tokens"]
        assert order == [1, 2, 3, *sliders, "prompt"]


async def test_the_edges_of_the_pane_in_focus_are_lit(play: Play) -> None:
    async with play() as stage:
        await stage.press("tab", "tab", "v")
        for key, lit in (("tab", 3), ("i", "#ask"), ("escape", 3)):
            await stage.press(key)
            now = {
                getattr(part.parent, "number", f"#{part.parent.id}")
                for part in stage.app.screen.query(".edge, #caret")
                if part.parent and part.styles.color.hex == "#7FB8E6"
            }
            assert now == {lit}
        stage.app.main.query_one(TreeView).focus()
        await stage.pilot.pause()
        edges = stage.app.screen.query("#tree > .edge")
        assert {edge.styles.color.hex for edge in edges} == {"#7FB8E6"}


async def test_the_palette_runs_actions(play: Play) -> None:
    async with play() as stage:
        await stage.press("ctrl+p")
        await stage.find("light")
        await stage.press("enter")
        assert stage.app.theme == "specchat-light"


async def test_a_click_on_the_row_of_a_lane_switches_it_on(play: Play) -> None:
    async with play() as stage:
        await stage.press("tab", "3", "o")
        row = next(y for y, line in enumerate(stage.text.splitlines()) if "3 Prompt lookup" in line)
        await stage.pilot.click(offset=(5, row))
        await stage.pilot.pause()
        assert stage.engine.asked(SetEnabled) == [
            SetEnabled("lookup", False),
            SetEnabled("lookup", True),
        ]


async def test_a_pane_behind_another_tab_keeps_its_width(play: Play) -> None:
    async with play((60, 24)) as stage:
        await stage.press("tab", "2", "1")
        await stage.begin()
        await stage.tell(prefilled("draft", "one two three"))
        assert stage.view(2).body.wrapper.width == stage.view(1).body.wrapper.width == 58


async def test_the_chosen_theme_and_its_other_side(play: Play) -> None:
    async with play(theme="nord") as stage:
        themes = []
        for _ in range(3):
            themes.append(stage.app.theme)
            stage.app.action_dark()
        assert themes == ["nord", "specchat-light", "nord"]


async def test_an_edge_says_what_its_figures_mean(play: Play) -> None:
    async with play(lanes=LANES[1:2], load=False) as stage:
        await stage.load(LANES[1:2])
        await stage.begin("Hello", 0, "draft")
        await stage.tell(prefilled("draft", "The"), stepped("draft", [" sky"], [" was"], " is"))
        end = Finished("draft", "length", None, metrics(), False, 17, divergence_gap=0.5)
        await stage.tell(end)
        lines = stage.text.splitlines()
        for figure, words in (
            ("19.8 tok/s", "decoded tokens ÷"), ("1.77×", "speedup"), ("α 72%", "acceptance rate"),
            ("τ 2.9", "tokens per target pass"), ("TTFT 210ms", "the prefill"),
            ("64 tok", "tokens of the answer"), ("≠AR@17", "differs from token 17"),
            ("γ4", "the longest draft"), ("█", "how many rounds"), ("· race", "all lanes at once"),
        ):  # fmt: skip
            y = next(y for y, line in enumerate(lines) if figure in line)
            x = lines[y].index(figure)
            await stage.pilot.hover(offset=(x, y))
            line, _ = stage.app.screen.get_widget_at(x, y)
            assert words in str(line.tooltip), figure
            await stage.pilot.hover(offset=(x - 1, y))  # between two of them
            assert line.tooltip is None


def test_everything_that_an_edge_explains_is_in_help() -> None:
    assert explain("demo") is None
    sections = (TITLE, LANE_MARKS, TREE, FIGURES, METRICS, LENSES)
    terms = {name for section in sections for name, _ in section}
    terms |= {name for name, _, _ in LEGEND}
    assert {term for _, term in FIGURE_PATTERNS} <= terms


async def test_every_word_in_an_edge_is_explained(play: Play) -> None:
    """But for names of lanes and panels, and sentences."""
    async with play() as stage:
        await stage.to_lane(2)
        await stage.press("v")
        await stage.begin()
        await stage.tell(prefilled("draft", "The"), stepped("draft", [" sky"], [" was"], " is"))
        await stage.finish()
        unknown = []
        for line in stage.app.main.query("#title, .edge").results(SplitLine):
            parts = [line.part_at(x) for x in range(line.size.width)] if line.region else []
            words = {part.text for part in parts if part}
            unknown += [word for word in words if explain(word) is None]
        titles = {lane.info.title for lane in stage.app.state.lanes.values()}
        names = {"specchat", "demo", "Tree ·", "2 Draft model", "1", "2", "3", "4", *titles}
        assert {word for word in unknown if "round" not in word} - names == set(), unknown
        await stage.press("f1", "escape", "c", "l")
        legend = [part.text for part in stage.app.main.query_one("#status", SplitLine)._right]
        assert all(explain(word) for word in legend if word != "F5 records p"), legend


async def test_a_key_in_the_bar_is_explained(play: Play) -> None:
    async with play() as stage:
        bar = stage.app.main.query_one("#keys")
        await stage.pilot.hover(bar, offset=(2, 0))
        assert "Answer the prompt in every lane" in str(bar.tooltip)


@pytest.mark.slow
async def test_any_size_will_do(play: Play, tmp_path: Path) -> None:
    async with play(presets=Presets(tmp_path / "presets.json")) as stage:
        await stage.begin()
        await stage.tell(prefilled("draft", "The"), stepped("draft", [" sky"], [" was"], " is"))
        await stage.press("tab")
        closed_by = {"tab": "tab", "v": "v", "w": "w", "s": "s"}
        closed_by |= dict.fromkeys(("f1", "f4", "ctrl+p", "z"), "escape")
        for key, closing in closed_by.items():
            await stage.press(key)
            for columns, rows in ((40, 12), (5, 2), (200, 50), (79, 9)):
                await stage.resize(columns, rows)
                lines = stage.text.splitlines()
                assert len(lines) == rows and all(cell_len(line) == columns for line in lines), key
            await stage.press(closing)
            assert stage.app.screen is stage.app.main and not stage.app.main.open


async def test_opening_a_panel_styles_no_lane_anew(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That would be most of the time until it is there."""
    styled: list[DOMNode] = []
    apply = Stylesheet.apply

    def noting(sheet: Stylesheet, node: DOMNode, **options: Any) -> None:
        styled.append(node)
        apply(sheet, node, **options)

    async with play() as stage:
        await stage.begin()
        await stage.press("tab", "tab")  # a lane that drafts, so that the focus stays
        monkeypatch.setattr(Stylesheet, "apply", noting)
        await stage.press("v")
        assert stage.app.main.open == "tree"
        assert styled and not any(isinstance(node, LanePane) for node in styled)


async def test_a_screen_that_is_too_small_says_so_and_what_it_needs(play: Play) -> None:
    async with play((20, 5)) as stage:
        assert "Too small: 20 × 5. Needs 40 × 12." in " ".join(stage.text.split())
        await stage.type("Hello")
        await stage.resize(39, 12)
        assert "Too small: 39 × 12." in stage.text and "Hello" not in stage.text
        await stage.resize(40, 12)
        assert "Too small" not in stage.text and "› Hello" in stage.text
        await stage.resize(40, 11)
        assert "Too small" in stage.text


@pytest.mark.parametrize("size", [(100, 30), (60, 24), (60, 30), (170, 40)])
@pytest.mark.parametrize("panel", ["", "s"])
async def test_the_layout_stays_when_a_lane_has_more_sliders(
    play: Play, size: tuple[int, int], panel: str
) -> None:
    eagle = lane("eagle", title="EAGLE-3", gamma=8)
    own = lane("draft#2", gamma=4, overrides={"repetition_penalty": 1.2, "presence_penalty": 0.5})
    async with play(size) as stage:
        await stage.load((*LANES[:2], eagle, own))
        await stage.press("escape", *panel)
        places = set()
        for number in ("1", "2", "3", "4"):
            await stage.press(number)
            main = stage.app.main
            places.add((main.query_one("#room").region, main.query_one("#controls").region))
        assert len(places) == 1
        await stage.press("i")
        await stage.resize(160, 40)  # one row less
        rows = stage.app.main.query_one("#controls").size.height
        await stage.press("escape", "1")
        assert stage.app.main.query_one("#controls").size.height == rows == 2
