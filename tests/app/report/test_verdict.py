"""What a comparison comes to, in one sentence, and why the slowest lane lost."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from app.report.spread import Spread, spread
from app.report.verdict import (
    LaneScore,
    Suggestion,
    doubt_about_speeds,
    fastest,
    slowest,
    verdict,
    why_slowest,
    winner,
)


def once(value: float) -> Spread:
    return Spread(value, value, value)


def score(number: int, title: str, speed: float, times: float, **more: Any) -> LaneScore:
    facts = {"tokens": 60, "passes": 12, "tokens_per_pass": 5.0, "round_seconds": 0.03, **more}
    return LaneScore(number=number, title=title, speed=once(speed), speedup=once(times), **facts)


AR = score(1, "Autoregressive", 60.0, 1.0, is_baseline=True, drafts=False, passes=59,
           tokens_per_pass=1.0, round_seconds=0.016)  # fmt: skip
EAGLE = score(4, "EAGLE-3", 138.0, 2.3, same_text=True, draft_share=0.09)


def test_the_median_stands_with_the_lowest_the_highest_and_how_many() -> None:
    assert spread([2.0, None, 4.0, 2.5]) == Spread(2.5, 2.0, 4.0, 3)
    assert spread([None]) is None


def test_speedups_that_do_not_go_with_the_speeds_beside_them() -> None:
    assert doubt_about_speeds([AR, EAGLE]) is None  # 138 / 60 is 2.3
    slow_at_first = score(2, "Draft model", 90.0, 2.0)
    assert "speed changed" in (doubt_about_speeds([AR, slow_at_first]) or "")
    assert doubt_about_speeds([slow_at_first]) is None  # nothing to compare it with
    assert doubt_about_speeds([AR, score(2, "Draft model", 90.0, 1.51)]) is None  # reads 1.5 too
    a_little = score(2, "Draft model", 90.0, 1.6)  # not 90 / 60, as the figures beside it say
    assert "while both were running" in (doubt_about_speeds([AR, a_little]) or "")


def test_the_big_number_is_said_in_one_plain_sentence() -> None:
    said = verdict([AR, EAGLE, score(2, "Draft model", 90.0, 1.5)])
    assert said is not None and (said.factor, said.lane) == (2.3, 4)
    assert said.text == (
        "EAGLE-3 is 2.3 times as fast, word for word the same text: 12 target passes instead of 59."
    )
    assert said.short == "EAGLE-3 2.3×, 12 passes instead of 59, same text"
    again = verdict([AR, replace(EAGLE, speedup=Spread(2.3, 2.0, 2.4, 3))])
    assert again and again.short.startswith("EAGLE-3 2.3× (median of 3 runs), 12 passes")


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"lossy": True}, "2.3 times as fast, by a lossy rule, so its text may differ: 5.0"),
        (
            {"same_text": False},
            "2.3 times as fast, though its text differs: 5.0 tokens per target",
        ),
        ({"same_text": None}, "2.3 times as fast: 5.0 tokens per target pass."),
        (
            {"same_text": None, "sampled": True},
            "2.3 times as fast, though its text may differ, as it is sampled: 5.0 tokens",
        ),
        ({"passes": 1}, "1 target pass instead of 59"),
    ],
)
def test_it_claims_no_more_than_is_known_of_the_text(facts: dict[str, Any], words: str) -> None:
    said = verdict([AR, score(4, "EAGLE-3", 138.0, 2.3, **{"same_text": True, **facts})])
    assert said is not None and words in said.text


def test_while_lanes_run_it_says_who_is_ahead_so_far() -> None:
    def so_far(times: float, tokens: int = 60) -> str:
        lane = score(2, "Draft model", 60 * times, times, done=False, tokens=tokens)
        said = verdict([AR, lane])
        assert said is not None
        return said.text

    assert so_far(1.5) == "So far Draft model is 1.5 times as fast."
    assert so_far(6.3, tokens=20) == "So far Draft model is ahead."
    for times in (0.98, 1.04):
        assert so_far(times) == "So far Draft model is as fast as the target alone."
    assert so_far(0.8) == "So far the target alone is ahead of Draft model."
    early = score(2, "Draft model", 96.0, 0.2, done=False, tokens=4)
    assert verdict([AR, early]) is None


def test_what_was_stopped_is_compared_up_to_there_and_no_proof() -> None:
    def stopped(times: float, tokens: int = 60, **more: Any) -> str:
        lane = score(2, "Draft model", 60 * times, times, stopped=True, tokens=tokens, **more)
        said = verdict([AR, lane], "F5")
        assert said is not None
        return said.text

    assert stopped(1.5) == "Until it was stopped, Draft model was 1.5 times as fast."
    assert stopped(0.8) == ("Until it was stopped, the target alone was ahead of Draft model.")
    assert stopped(5.1, tokens=20) == "Until it was stopped, Draft model was ahead."
    assert stopped(5.1) == "Until it was stopped, Draft model was ahead."  # more than τ
    assert stopped(5.1, tokens=11) == "Stopped too early to compare the lanes."
    unknown = score(2, "Draft model", 0.0, 1.0, stopped=True)
    said = verdict([AR, replace(unknown, speed=None, speedup=None)])
    assert said is not None and said.text == "Stopped too early to compare the lanes."
    assert "was stopped" not in stopped(1.5, left_out=True)  # the runs before count


def test_why_a_lane_lost_tells_wrong_drafts_from_short_ones() -> None:
    fast = replace(EAGLE, acceptance_rate=0.8, tokens_per_pass=6.0)
    slow = score(2, "Draft model", 90.0, 1.5, tokens_per_pass=3.0, round_seconds=0.02)
    wrong, short = (replace(slow, acceptance_rate=rate) for rate in (0.5, 1.0))
    fast = replace(fast, round_seconds=0.02)
    assert "Fewer of lane 2's guesses are right" in str(why_slowest([AR, wrong, fast]))
    assert "Lane 2 gets fewer tokens from a pass: 3.0, 6.0 in lane 4" in str(
        why_slowest([AR, short, fast])
    )


def test_a_lane_that_drafted_seldom_lost_by_that_and_not_by_wrong_guesses() -> None:
    fast = replace(EAGLE, acceptance_rate=0.8, tokens_per_pass=6.0, round_seconds=0.02)
    slow = score(2, "Draft model", 90.0, 1.5, tokens_per_pass=1.2, round_seconds=0.02)
    seldom = replace(slow, acceptance_rate=0.5, undrafted=0.9)
    assert "Lane 2 drafted in only 10% of its rounds" in str(why_slowest([AR, seldom, fast]))
    hardly = replace(slow, undrafted=0.997)
    assert "Lane 2 drafted in under 1% of its rounds" in str(why_slowest([AR, hardly, fast]))
    never = replace(slow, tokens_per_pass=1.0, undrafted=1.0)
    assert "Lane 2 drafted in none of its rounds" in str(why_slowest([AR, never, fast]))


def test_few_tokens_and_impossible_speeds_are_nothing_to_be_proud_of() -> None:
    few = verdict([AR, score(4, "EAGLE-3", 138.0, 2.3, tokens=12)], "F5")
    assert few is not None and few.factor is None
    assert "looks 2.3 times as fast, but 12 tokens are too few to tell. F5 runs it" in few.text
    assert few.short == "EAGLE-3 2.3×, but 12 tokens are too few to tell"
    keyless = verdict([AR, score(4, "EAGLE-3", 138.0, 2.3, tokens=12)])
    assert keyless and keyless.text.endswith("12 tokens are too few to tell.")
    even = verdict([AR, score(4, "EAGLE-3", 61.0, 1.02, tokens=12)], "F5")
    assert even and "looks as fast as the target alone, but 12 tokens" in even.text
    twice = replace(score(4, "EAGLE-3", 138.0, 2.3, tokens=28), speed=Spread(138, 130, 146, 2))
    again = verdict([AR, twice], "F5")
    assert again and again.short == "EAGLE-3 2.3×, but 28 tokens in 2 runs are too few to tell"
    busy = verdict([AR, score(4, "EAGLE-3", 138.0, 2.3, tokens_per_pass=2.0)], "F5")
    assert busy is not None and busy.factor is None
    assert "impossible with 2.0 tokens per pass" in busy.text
    assert busy.short == "EAGLE-3 2.3×? impossible: F5 runs it again"
    keyless = verdict([AR, score(4, "EAGLE-3", 138.0, 2.3, tokens_per_pass=2.0)])
    assert keyless and keyless.text.endswith("something else was using the machine.")
    assert keyless.short == "EAGLE-3 2.3×? impossible"
    close = verdict([AR, score(4, "EAGLE-3", 138.0, 5.04, tokens_per_pass=4.96)], "F5")
    assert close and "5.04 times as fast, which is impossible with 4.96" in close.text
    assert not AR.incredible  # a lane without drafts has no such limit: 1.0 against 1.0
    assert not score(2, "Draft alone", 400.0, 6.0, on_target=False).incredible


@pytest.mark.parametrize(("times", "words"), [(1.01, "only as fast as"), (0.7, "0.7 times as")])
@pytest.mark.parametrize("per_pass", [1.0, 3.0])  # with 1.0 a little more is no mystery, but noise
def test_when_nothing_pays_it_says_so(times: float, words: str, per_pass: float) -> None:
    said = verdict([AR, score(3, "Medusa", 60 * times, times, tokens_per_pass=per_pass)])
    assert said is not None and said.factor is None
    assert "Drafting does not pay here: Medusa, the best, is" in said.text and words in said.text


def test_who_is_fastest_goes_by_the_time_in_which_both_ran() -> None:
    """And not by tokens per second, if the machine was busier when one of them was done."""
    disturbed = score(2, "Draft model", 154.0, 1.7)
    found = [AR, disturbed, replace(EAGLE, speed=once(127.0), speedup=once(1.8))]
    best, worst, said = fastest(found), slowest(found), verdict(found)
    assert best is found[2] and worst is disturbed
    assert said is not None and said.text.startswith("EAGLE-3 is 1.8 times as fast")
    alone = [replace(each, speedup=None) for each in found[1:]]
    assert fastest(alone) is alone[0]


def test_another_model_cannot_win() -> None:
    alone = score(5, "Draft alone", 400.0, 6.0, on_target=False, drafts=False)
    said = verdict([AR, EAGLE, alone])
    assert said is not None and said.lane == 4


def test_without_something_to_compare_it_says_what_is_missing() -> None:
    lone = verdict([replace(EAGLE, speedup=None)])
    assert lone is not None and "EAGLE-3 is the fastest: 138 tok/s. An autoregressive" in lone.text
    before = verdict([EAGLE])  # in runs that had one
    assert before is not None and before.text == (
        "EAGLE-3 is the fastest: 138 tok/s. Beside an autoregressive lane it was 2.3×."
    )
    plain = verdict([AR])
    assert plain is not None and "The target alone: 60 tok/s. A lane that drafts" in plain.text
    assert verdict([]) is None and verdict([LaneScore(number=1, title="Medusa")]) is None
    to_come = replace(EAGLE, speed=None, speedup=None, done=False)
    assert verdict([AR, to_come]) is None


def test_nobody_wins_where_nobody_drafts_and_lanes_of_one_name_are_told_apart() -> None:
    idle = [replace(each, undrafted=1.0) for each in (EAGLE, replace(EAGLE, number=5))]
    said = verdict([AR, *idle])
    assert said is not None and said.text == "No lane drafted: γ was 0." and said.factor is None
    assert winner([AR, *idle]) is None and why_slowest([AR, *idle]) is None
    running = verdict([AR, replace(idle[0], done=False)])
    assert running is not None and "No lane drafted" not in running.text
    twice = verdict([AR, replace(EAGLE, alike=True)])
    assert twice is not None and twice.text.startswith("EAGLE-3 (lane 4) is 2.3 times as fast")


def test_of_answers_of_one_token_it_says_that_there_was_nothing_to_draft() -> None:
    lanes = [LaneScore(number=n, title="Lane", is_baseline=n == 1, tokens=1) for n in (1, 2)]
    said = verdict(lanes)
    assert said is not None and said.short == "one token, nothing to draft"
    early = verdict([lanes[0], replace(lanes[1], stopped=True)])
    assert early is not None and early.short == "stopped too early to compare"


def test_why_the_slowest_lane_lost() -> None:
    guessing = score(2, "Draft model", 90.0, 1.5, round_seconds=0.05, draft_share=0.43)
    assert why_slowest([AR, guessing, EAGLE]) == (
        "Drafting takes 43% of lane 2's time, 9% of lane 4's."
    )
    wrong = score(2, "Draft model", 90.0, 1.5, tokens_per_pass=2.0)
    assert why_slowest([AR, wrong, EAGLE]) == (
        "Fewer of lane 2's guesses are right: 2.0 tokens per pass, 5.0 in lane 4."
    )
    slow = score(3, "Medusa", 90.0, 1.5, round_seconds=0.045, draft_share=0.02)
    assert why_slowest([AR, slow, EAGLE]) == (
        "A round of lane 3 takes 1.5 times as long as one of lane 4."
    )
    alike = replace(slow, round_seconds=1.01 * EAGLE.round_seconds)
    assert why_slowest([AR, alike, EAGLE]) is None


def test_what_to_try_is_said_with_the_speed_to_expect() -> None:
    guessing = score(2, "Draft model", 90.0, 1.5, round_seconds=0.05, draft_share=0.43)
    said = why_slowest([AR, guessing, EAGLE], Suggestion(5, 148.2))
    assert said == (
        "Drafting takes 43% of lane 2's time, 9% of lane 4's; γ 5 should give lane 2 "
        "about 148 tok/s."
    )
    said = why_slowest([AR, guessing, EAGLE], Suggestion(0, 60.0))
    assert said is not None and said.endswith(
        "; no drafts at all (γ 0) should give lane 2 about 60 tok/s."
    )


def test_a_single_drafting_lane_is_held_against_the_target_alone() -> None:
    assert why_slowest([AR, EAGLE]) is None  # it won
    lost = score(2, "Draft model", 40.0, 0.7, tokens_per_pass=1.5, round_seconds=0.04,
                 draft_share=0.5)  # fmt: skip
    assert (
        why_slowest([AR, lost]) == "Drafting takes 50% of lane 2's time, for 1.5 tokens per pass."
    )
    assert why_slowest([AR]) is None
