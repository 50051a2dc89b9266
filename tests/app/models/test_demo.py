"""What a newcomer sees: the demo family, every strategy, offline."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Specchat

PROMPTS = Path(__file__).parents[3] / "assets" / "prompts" / "demo.jsonl"
# tokens per target pass over the first turns of a few demo prompts, well below what is measured
LEAST = {"ar": 1.0, "draft": 3.5, "medusa": 1.2, "eagle": 2.2, "eagle1": 1.2, "lookup": 1.0}


@pytest.fixture
def prompts(tmp_path: Path) -> str:
    records = [json.loads(line) for line in PROMPTS.read_text(encoding="utf-8").splitlines()][:2]
    first = [{"prompt": r.get("prompt") or r["turns"][0]} for r in records]
    path = tmp_path / "prompts.jsonl"
    path.write_text("\n".join(map(json.dumps, first)))
    return str(path)


def test_every_lane_of_the_demo_says_the_same_in_fewer_passes(
    specchat: Specchat, prompts: str
) -> None:
    done = specchat(
        "run", "--prompts", prompts, "--json", "--strategies", ",".join(LEAST), "--threads", "1",
        "--max-new-tokens", "48", "--eagle-total-tokens", "12", "--eagle-top-k", "4",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lanes = [run["lanes"] for run in json.loads(done.stdout)["runs"]]
    for index, (name, least) in enumerate(LEAST.items()):
        reports = [of_run[index] for of_run in lanes]
        assert all(r["available"] and r["lane"] == name for r in reports)
        assert all(
            r["token_ids"] == of_run[0]["token_ids"]
            for r, of_run in zip(reports, lanes, strict=True)
        )
        emitted = sum(r["tokens"] - 1 for r in reports)
        assert emitted / sum(r["target_passes"] for r in reports) >= least, name


@pytest.mark.slow
def test_at_one_seed_the_lanes_whose_drafts_are_not_drawn_sample_the_same_text(
    specchat: Specchat,
) -> None:
    """Even where measured times decide how large their trees are."""
    done = specchat(
        "run", "--prompt", "Tell me about a fox", "--json", "--temperature", "0.8", "--seed", "5",
        "--strategies", "ar,medusa,eagle,eagle1,lookup,medusa:gamma=auto", "--threads", "1",
        "--max-new-tokens", "60", "--ignore-eos",
    )  # fmt: skip
    lanes = json.loads(done.stdout)["runs"][0]["lanes"]
    assert len({tuple(lane["token_ids"]) for lane in lanes}) == 1
    assert all(lane["accepted"] > 5 for lane in lanes[1:4])
