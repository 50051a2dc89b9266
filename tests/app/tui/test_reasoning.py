"""What a model thinks before its answer is one line, once it has ended; T shows it."""

from __future__ import annotations

from tests.support.scripted import lane, prefilled, stepped
from tests.support.stage import Play


async def test_reasoning_is_folded_when_it_ends_and_shown_again(play: Play) -> None:
    async with play((100, 30)) as stage:
        await stage.load((lane("draft", gamma=4),))
        await stage.begin("Hello", 0, "draft")
        await stage.tell(
            prefilled("draft", "<think>"), stepped("draft", ["Let me"], [" guess"], " see.")
        )
        assert "<think>Let me" in stage.text
        await stage.tell(stepped("draft", ["</th", "ink>"], [], "It is"))
        assert "▸ thought for 5 tokens" in stage.text and "It is" in stage.text
        assert "Let me" not in stage.text and "</think>" not in stage.text
        await stage.tell(stepped("draft", [" blue"], [], "."))
        assert "It is blue." in stage.text.replace("\n", "")
        await stage.press("tab", "shift+left")  # the first token that is seen
        cursor = stage.view(1).cursor
        assert cursor is not None and stage.view(1).body.spans[cursor].text == "It is"
        await stage.press("T")
        assert "<think>Let me" in stage.text and "▸ thought" not in stage.text
        await stage.press("T", "c")  # in glyphs as well
        assert "▸ thought for 5 tokens" in stage.text and "Let me" not in stage.text


async def test_where_there_is_none_the_key_says_so(play: Play) -> None:
    async with play((100, 30)) as stage:
        await stage.load((lane("ar"),))
        await stage.begin("Hello", 0, "ar")
        await stage.tell(prefilled("ar", "Yes"))
        await stage.press("tab", "T")
        assert "No answer has reasoning to fold" in stage.text
        await stage.tell(stepped("ar", [], [], "</think>"))
        await stage.press("T")
        assert "No answer" not in stage.text


async def test_a_word_about_a_tag_is_an_answer(play: Play) -> None:
    async with play((100, 30)) as stage:
        await stage.load((lane("ar"),))
        await stage.begin("Hello", 0, "ar")
        await stage.tell(prefilled("ar", "Use"), stepped("ar", [], [], " <think>."))
        assert "Use <think>." in stage.text
