"""The advice in words."""

from __future__ import annotations

from typing import Any

from app.report.advice_text import advice_sections, format_advice, verdict
from app.report.verdict import INCREDIBLE

ROW = {
    "name": "draft:gamma=4:temperature=0", "strategy": "draft", "temperature": 0.0, "lossy": False,
    "tokens_per_second": 80.0, "speedup": 2.0, "speedup_low": 1.8, "speedup_high": 2.2,
    "interval": "95% bootstrap",
    "answers": 12, "prompts": 6, "acceptance_rate": 0.8, "tokens_per_pass": 3.1, "matches_ar": 12,
    "batch_speedups": {"1": 2.0, "2": 1.5, "4": 0.9}, "stops_paying_at": 4, "largest_batch": 4,
    "ties": [],
}  # fmt: skip


def test_the_verdict_says_how_sure_it_is_and_up_to_which_batch_it_pays() -> None:
    use, batches = verdict(ROW, [ROW], measured=True)
    assert use == (
        "→ Use draft:gamma=4: 2.00 times as fast as the target alone (1.80 to 2.20, 95% bootstrap "
        "of 12 answers to 6 prompts)."
    )
    assert batches.startswith("Larger batches, by measured passes: 2.00x at 1, ")
    assert batches.endswith("0.90x at 4; it stops paying at about 4 sequences at once.")
    paying = {**ROW, "stops_paying_at": None, "ties": ["eagle:gamma=2:temperature=0"]}
    use, *rest = verdict(paying, [ROW], measured=False)
    assert use.startswith("→ Use draft:gamma=4 (or eagle:gamma=2: as fast here): 2.00 times")
    assert rest == [
        "Larger batches, estimated: 2.00x at 1, 1.50x at 2, 0.90x at 4; it still pays at 4, the "
        "largest tried.",
    ]


def test_what_was_ended_early_is_not_yet_advised() -> None:
    few = {**ROW, "batch_speedups": {}, "answers": 1}
    (best,) = verdict(few, [few], False, early=True)
    assert best.startswith("→ So far the best is draft:gamma=4: 2.00 times")
    assert "from a single answer: measure longer" in best


def test_only_the_temperature_is_left_out_of_a_name() -> None:
    pinned = {**ROW, "name": "draft:temperature=0.8:gamma=2", "ties": ["eagle:temperature=0.8#2"]}
    use, _ = verdict(pinned, [pinned], True)
    assert use.startswith("→ Use draft:gamma=2 (or eagle#2: as fast here): 2.00 times")


def test_what_is_lossy_is_never_advised_without_a_word() -> None:
    other = {**ROW, "name": "medusa", "lossy": True, "matches_ar": None}
    use, _ = verdict({**ROW, **other, "ties": [ROW["name"]]}, [other, ROW], True)
    assert use.startswith("→ Use medusa (lossy) (or draft:gamma=4: as fast here): 2.00 times")
    use, _ = verdict({**ROW, "ties": ["medusa"]}, [other, ROW], True)
    assert use.startswith("→ Use draft:gamma=4 (or medusa (lossy): as fast here): 2.00 times")


def test_what_cannot_be_is_not_advised_without_a_word() -> None:
    disturbed = {**ROW, "name": "medusa:gamma=1", "speedup": 2.64, "tokens_per_pass": 1.91}
    again = verdict(disturbed, [disturbed], True)
    assert again[0].startswith("→ Measure again; so far the best is medusa:gamma=1: 2.64? times")
    other = verdict(ROW, [disturbed, ROW], True)
    assert other[0].startswith("→ Use draft:gamma=4: 2.00 times")
    assert other[1] == again[1] == INCREDIBLE
    assert INCREDIBLE not in verdict(ROW, [ROW], True)


def test_batches_that_disagree_say_nothing_of_where_it_pays() -> None:
    noise = {"4": 1.37, "8": 0.24, "16": 1.91, "32": 0.28, "64": 1.88}
    row = {**ROW, "batch_speedups": noise, "stops_paying_at": None, "largest_batch": 64}
    (text,) = verdict(row, [row], True)[1:]
    assert "1.88x at 64; these disagree, something else was using the machine" in text
    assert "still pays" not in text
    zigzag = {"1": 2.37, "8": 1.14, "16": 1.04, "32": 2.07, "64": 1.44}
    assert "disagree" in verdict({**row, "batch_speedups": zigzag}, [row], True)[1]
    near = {**row, "batch_speedups": {"1": 1.4, "2": 0.97, "4": 1.05}}
    assert "still pays" in verdict(near, [near], True)[1]


def test_one_answer_says_nothing_of_how_sure_it_is() -> None:
    one = {**ROW, "speedup_low": 2.0, "speedup_high": 2.0, "answers": 1, "prompts": 1}
    assert "(from a single answer: measure longer" in verdict(one, [one], True)[0]


def test_where_nothing_pays_that_is_said() -> None:
    assert "Use no drafting" in verdict({"temperature": 0.0, "name": None, "ties": []}, [], True)[0]


def entry(temperature: float, configuration: str | None, note: str = "") -> dict[str, Any]:
    return {
        "engine": "vLLM", "version": "0.33", "temperature": temperature, "name": ROW["name"],
        "speedup": 2.0 - temperature, "configuration": configuration, "note": note,
    }  # fmt: skip


def test_one_configuration_for_two_temperatures_is_said_once() -> None:
    document: dict[str, Any] = {
        "best": [ROW], "measured": [ROW], "screened": [ROW], "unavailable": {}, "failed": {},
        "prompts": 6, "first_turns_only": False, "ended_early": False, "only_screened": False,
        "batches": {"measured": False, "method": "estimated", "limits": "leaves out much"},
        "seconds": 60.0, "device": "cpu", "dtype": "float32", "kv_cache": "none", "threads": 1,
        "settings": {"seed": 5}, "engines": [entry(0.0, "serve"), entry(0.7, "serve")],
    }  # fmt: skip
    (snippet,) = advice_sections(document)[-2].snippets
    assert snippet == (
        "vLLM (0.33), temperature 0 and 0.7: draft:gamma=4, 2.00x and 1.30x here", "serve",
    )  # fmt: skip
    text = format_advice(document)
    assert text.count("  serve") == 1 and "cache" not in text
    cached = format_advice({**document, "kv_cache": "fp8"})
    assert "kept the target's keys and values in fp8, which is lossy" in cached
    assert "draft:gamma=4   80.0    2.00x  1.80-2.20  80%  3.10       12  12 of 12" in text
    broken = format_advice({**document, "failed": {"eagle": "out of memory"}})
    assert "eagle: failed: out of memory." in broken
    document["engines"] = [entry(0.0, None, "can't")]
    document["engines"].append(entry(0.0, None, "can't") | {"engine": "SGLang"})
    document["engines"].append(entry(0.0, None, "can't") | {"version": "0.32"})
    document["engines"].append(entry(0.7, None, "can't"))
    told = "vLLM (0.33), temperature 0 and 0.7; SGLang (0.33), temperature 0; "
    assert f"{told}vLLM (0.32), temperature 0: can't." in format_advice(document)
