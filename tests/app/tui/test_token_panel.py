"""The token panel: who proposed a token, what became of it and why; and the tooltip."""

from __future__ import annotations

from dataclasses import replace

import pytest
from textual.content import Content

from app.engine.commands import RecordProbabilities
from app.engine.events import Prefilled, RoundFinished
from app.text.token_event import TokenEvent
from app.tui.format.token_facts import TokenFacts, facts_here
from app.tui.state.lane_state import LaneState
from app.tui.widgets.token_panel import TokenScroll, Words
from decoding.params import Params, with_settings
from decoding.round import Round, TokenFate, TokenProbs
from tests.support.quiet import quiet
from tests.support.rounds import CHAIN, TEXTS
from tests.support.scripted import lane, metrics, prefilled, stepped
from tests.support.stage import Play, Stage

TOP = ((2, 0.6, 0.81), (3, 0.2, 0.07), (5, 0.1, 0.05), (6, 0.05, 0.04), (7, 0.04, 0.03))
# as in CHAIN, but "," was accepted as well; and watched
SEEN = replace(
    CHAIN,
    accepted=(1, 2),
    emitted=(2, 4, 7),
    tested=3,
    p=(1.0, 0.81, 0.62, 0.1),
    model_p=(1.0, 0.6, 0.5, 0.2),
    q=(1.0, 0.9, 0.5, 0.4),
    draws=(0.0, 0.41, 0.2, 0.7),
    entropies=(1.5, 0.5, 2.25, 0.1),
    top=(TOP, TOP, TOP, TOP),
    own_p=(0.04, 0.03),
)
GUESSED = replace(SEEN, q=(), draws=(), chosen=(2, 4, 7, 7), ranks=(0, 0, 2, 1))
TOKENS = (
    TokenEvent(2, " Paris", TokenFate.ACCEPTED, 0, 1),
    TokenEvent(4, ",", TokenFate.ACCEPTED, 0, 2),
    TokenEvent(6, " a", TokenFate.REJECTED, 0, 3),
    TokenEvent(7, " and", TokenFate.CORRECTION, 0),
)
FIRST = Prefilled("draft", 0.1, TokenEvent(8, "It", TokenFate.FIRST, -1))


def step(record: Round, **settings: float) -> RoundFinished:
    params = with_settings(Params(), settings)
    return RoundFinished("draft", record, TOKENS, metrics(), TEXTS, params)


def about(record: Round, place: int, strategy: str = "draft", **settings: float) -> TokenFacts:
    """About token number `place` of a round."""
    state = LaneState(lane(strategy, gamma=4), True)
    state.add(step(record, **settings))
    state.cursor = TOKENS[place]
    facts = facts_here(state)
    assert facts
    return facts


def test_a_token_of_a_sampled_chain() -> None:
    paris, comma, a, correction = (about(SEEN, place) for place in range(4))
    assert paris.who == "the draft model, token 1 of 3 in its draft"
    assert paris.fate == "accepted" and (paris.p, paris.q) == ((0.6, 0.81), 0.9)
    assert paris.chance == ".900 = min(1, p/q); the draw .410 is below"
    assert comma.chance == "1.00 = min(1, p/q); the draw .200 is below"
    assert a.fate == "rejected: p/q too small; the target drew ·and"
    assert a.chance == ".250 = min(1, p/q); the draw .700 is not below"
    assert a.entropy == 2.25 and a.emitted == 7
    assert correction.who == "the target itself" and correction.emitted == 7
    assert correction.fate == "correction: it replaces a rejected draft"
    assert correction.p == (0.04, 0.03) and correction.q is None and correction.chance is None
    assert correction.entropy == 2.25


def test_every_strategy_has_a_description_of_its_own() -> None:
    def who(strategy: str) -> str:
        return about(GUESSED, 1, strategy).who

    assert who("medusa") == "Medusa head 2, 3rd guess"
    assert who("eagle") == "Eagle, level 2, 3rd guess"
    assert who("lookup") == "copied by lookup, token 2 of 3 in its draft, 3rd guess"
    plain = replace(SEEN, tokens=(1,), parents=(-1,), accepted=(), emitted=(7,))
    assert about(plain, 3, "ar").who == "the target itself"
    assert about(plain, 3, "draft-only").who == "the draft model, which answers alone"


def test_what_decides_in_a_tree() -> None:
    sampled = about(GUESSED, 2)
    assert sampled.chance == ".100 = p; the target drew ·and"
    assert sampled.fate == "rejected: the target chose ·and instead"
    greedy = replace(GUESSED, sampled=False, p=(1.0, 1.0, 1.0, 0.0))
    assert about(greedy, 1).chance == "1: the target's likeliest"
    assert about(greedy, 2).chance == "0: another is the target's likeliest"


def test_the_threshold_of_typical_acceptance() -> None:
    lossy = replace(
        GUESSED,
        lossy=True,
        tempered_p=(1.0, 0.5, 0.07, 0.06),
        thresholds=(0.0, 0.09, 0.063, 0.063),
    )
    above, below = (about(lossy, place, "medusa", temperature=0.7).chance for place in (1, 2))
    assert above == "p with temperature alone .070, above min(ε, δ·e^-H) = .063"
    assert below == "p with temperature alone .060, not above min(ε, δ·e^-H) = .063"


def test_what_was_not_tested_or_not_watched() -> None:
    behind = replace(GUESSED, accepted=(1,), emitted=(2, 7))
    assert about(behind, 2).fate == "never tested: its parent was rejected"
    assert about(behind, 2).chance is None
    blind = replace(SEEN, p=(), model_p=(), q=(), draws=(), entropies=(), top=(), own_p=None)
    unseen = about(blind, 0)
    assert not unseen.measured and unseen.p is None and unseen.chance is None and unseen.top == ()
    assert unseen.summary == "·Paris  the draft model, token 1 of 3 in its draft\naccepted"


def test_the_token_is_among_the_likeliest_shown() -> None:
    assert [token for token, _, _ in about(SEEN, 0).top] == [2, 3, 5, 6, 7]
    assert about(SEEN, 1).top[-1] == (4, 0.5, 0.62)


def test_the_first_token() -> None:
    state = LaneState(lane("draft", gamma=4), True)
    assert facts_here(state) is None
    state.first = replace(FIRST, probs=TokenProbs(0.75, ((8, 0.9, 1.0), (9, 0.1, 0.0)), (0.9, 1.0)))
    facts = facts_here(state)
    assert facts and facts.fate == "the first token, from the prefill"
    assert (facts.entropy, facts.p, facts.emitted) == (0.75, (0.9, 1.0), 8)


async def done(stage: Stage, record: Round = SEEN) -> None:
    await stage.begin()
    await stage.tell(FIRST, step(record))
    await stage.finish()


@pytest.mark.parametrize("size", [(100, 30), (60, 24)])
async def test_the_panel_follows_the_cursor(play: Play, size: tuple[int, int]) -> None:
    async with play(size) as stage:
        await stage.to_lane(2)
        await stage.press("w")
        watched = frozenset({"ar", "draft", "lookup"})
        assert stage.engine.asked(RecordProbabilities)[-1] == RecordProbabilities(watched)
        await done(stage)
        assert "Token · 2 Draft model · ·and · round 1 of 1" in stage.text  # the newest
        assert "✓ 5 ·and" in stage.text and "correction: it replaces" in stage.text
        await stage.press("shift+left", "right")
        for words in (
            "Token · 2 Draft model · ·Paris · round 1 of 1",
            "the draft model, token 1 of 3",
            ".810 · .600 before sampling settings",
            ".900 · the drafter's own",
            "the draw .410 is below",
            "1.50 bits",
            "✓ 1 ·Paris      ████████▏  .810   .600",
        ):
            assert words in stage.text, stage.text
        if size[0] == 100:  # side by side, with a gap between them
            facts, likely = (stage.app.main.query_one(part) for part in ("#facts", "#likely"))
            assert facts.content_region.right + 2 <= likely.region.x
        await stage.press("right", "right")
        assert "✗ 4 ·a " in stage.text and "✓ 5 ·and" in stage.text
        await stage.press("w")
        assert "Token ·" not in stage.text
        assert stage.engine.asked(RecordProbabilities)[-1] == RecordProbabilities(frozenset())


ALONE = replace(
    SEEN, tokens=(1,), parents=(-1,), accepted=(), emitted=(7,), tested=0, p=(1.0,),
    model_p=(1.0,), q=(), draws=(), entropies=(1.5,), top=(TOP,),
)  # fmt: skip


@pytest.mark.parametrize(
    ("strategy", "model", "row"),
    [("ar", "target", "target p"), ("draft-only", "draft model", "draft p")],
)
async def test_the_panel_says_whose_probabilities_it_shows(
    play: Play, strategy: str, model: str, row: str
) -> None:
    lanes = (lane(strategy),)
    async with play(lanes=lanes, load=False) as stage:
        await stage.load(lanes)
        await stage.press("tab", "w")
        await stage.begin("Hello", 0, strategy)
        await stage.tell(prefilled(strategy, "It"), replace(step(ALONE), lane=strategy))
        assert f"{row:<13}.030 · .040 before" in stage.text
        assert f"1.50 bits · how unsure the {model} was" in stage.text
        await stage.press("v")
        assert f"◆ ·and  the {model}'s own token" in stage.text
        assert "▒ pass 6.0ms" in stage.text and "verify" not in stage.text
        await stage.press("s")
        assert "▒ pass 6.0ms" in stage.text and "verify" not in stage.text


async def test_a_round_without_probabilities_shows_what_is_known(play: Play) -> None:
    async with play() as stage:
        await stage.press("tab", "tab")
        await stage.begin()
        await stage.tell(prefilled("draft", "The"), stepped("draft", [" sky"], [" was"], " is"))
        await stage.press("w")
        assert "No probabilities recorded: F5" in stage.text
        assert "correction: it replaces a rejected" in stage.text
        assert "entropy" not in stage.text


async def test_of_a_lane_that_is_off_it_says_how_to_switch_it_on(play: Play) -> None:
    async with play((120, 40)) as stage:
        await stage.to_lane(2)
        await stage.press("o", "w")
        assert "\n│ off, o switches it on" in stage.text and "← → token by token" not in stage.text
        await stage.press("o")
        assert "\n│ No token yet." in stage.text
        await stage.begin()
        await stage.tell(FIRST)
        assert "the target itself" in stage.text and "← → token by token" in stage.text


async def test_a_list_that_replaces_a_sentence_at_once_has_room(play: Play) -> None:
    async with play((60, 24)) as stage:
        await stage.to_lane(2)
        await stage.press("w")
        await done(stage)
        words = stage.app.main.query_one("#likely", Words)
        words.show(Content("Computing the probabilities …"))
        stage.app.main.query_one(TokenScroll)._clear_arrangement_cache()  # a row beside it changed
        stage.app.main._refresh_layout()
        stage.app.main.show_state()
        await quiet()
        assert "likeliest here" in stage.text and "✓ 5 ·and" in stage.text, stage.text


async def test_texts_of_tokens_are_no_markup(play: Play) -> None:
    async with play() as stage:
        await stage.press("tab", "tab", "w")
        await stage.begin()
        bad = replace(step(SEEN), texts={**TEXTS, 7: "[red]\x1b[2J", 3: "[b]"})
        await stage.tell(FIRST, bad)
        assert "✓ 5 [red]␛[2J" in stage.text and " [b]" in stage.text


async def test_hovering_tells_of_a_token(play: Play) -> None:
    async with play() as stage:
        await stage.press("tab", "tab")
        await done(stage)
        view = stage.view(2)
        assert stage.lines(2)[1] == "It Paris, a and"
        await stage.pilot.hover(view, offset=(5, 1))
        await stage.pilot.pause()
        assert str(view.tooltip) == (
            "·Paris  the draft model, token 1 of 3 in its draft\naccepted\n"
            "p .810 (raw .600)  q .900"
        )
        await stage.pilot.hover(view, offset=(5, 0))
        await stage.pilot.pause()
        assert view.tooltip is None
