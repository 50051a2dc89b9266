"""What `heads eval` says of a drafter, and of two side by side."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import FamilyFolders, Specchat

PROMPTS = (("the fox", "animals"), ("the dog", "animals"), ("quick", "words"), ("brown", None))


@pytest.fixture
def measure(family_folders: FamilyFolders, tmp_path: Path) -> tuple[str, ...]:
    prompts = tmp_path / "prompts.jsonl"
    lines = [{"prompt": text, "category": category} for text, category in PROMPTS]
    prompts.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return (
        "heads", "eval", "--target", family_folders.target, "--prompts", str(prompts),
        "--max-new-tokens", "12",
    )  # fmt: skip


def test_by_depth_and_category(
    specchat: Specchat, family_folders: FamilyFolders, measure: tuple[str, ...]
) -> None:
    heads = ("--heads", family_folders.draft)
    found = json.loads(specchat(*measure, *heads, "--gamma", "3", "--json").stdout)
    first, second, third = found["by_depth"]
    assert first["conditional"] == first["unconditional"]
    assert second["unconditional"] <= first["unconditional"]
    assert second["unconditional"] == pytest.approx(
        first["unconditional"] * second["conditional"], abs=0.1
    )
    assert [third["depth"], third["rounds"] <= first["rounds"]] == [3, True]
    assert {name: each["prompts"] for name, each in found["by_category"].items()} == {
        "animals": 2, "words": 1,
    }  # fmt: skip
    text = specchat(*measure, *heads).stdout
    assert "given those before" in text and "animals  τ" in text and "served: τ" in text


def test_two_side_by_side(
    specchat: Specchat, family_folders: FamilyFolders, measure: tuple[str, ...], tmp_path: Path
) -> None:
    other = str(tmp_path / "cut")
    convert = ("heads", "convert", "draft", "--target", family_folders.target, "--layers", "1")
    assert specchat(*convert, "--out", other).returncode == 0
    pair = ("--compare", family_folders.draft, other)
    found = json.loads(specchat(*measure, *pair, "--json").stdout)
    one, two = (each["tokens_per_pass"] for each in found["compared"])
    assert found["tau_ratio"] == pytest.approx(two / one)
    lines = specchat(*measure, *pair).stdout.splitlines()
    assert len(lines) == 3 and "×" not in lines[1] and f"{two / one:.3f}×" in lines[2]


@pytest.mark.parametrize("both", [True, False])
def test_heads_or_two_to_compare(
    both: bool, specchat: Specchat, family_folders: FamilyFolders, measure: tuple[str, ...]
) -> None:
    draft = family_folders.draft
    given = ("--heads", draft, "--compare", draft, draft) if both else ()
    done = specchat(*measure, *given)
    assert done.returncode == 2 and "give --heads DIR, or --compare DIR DIR" in done.stderr
