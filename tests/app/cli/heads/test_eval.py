"""What `heads eval` says of a drafter, and of two side by side."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from app.config.model_options import ModelOptions
from app.engine.experiment import Experiment
from app.engine.lane import Lane
from app.models.load_models import load_models
from app.report.advice_document import Candidate
from app.strategies.lane_spec import LaneSpec
from decoding.drafters.eagle import Eagle, EagleTree
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
    assert {"schema_version", "version"} <= found.keys()
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


def test_a_line_now_and_then_says_how_far_it_is(
    specchat: Specchat, family_folders: FamilyFolders, measure: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Where stderr is no terminal, as in a log."""
    seconds = iter(range(0, 10_000, 4))
    monkeypatch.setattr("app.cli.terminal.time", SimpleNamespace(monotonic=lambda: next(seconds)))
    done = specchat(*measure, "--heads", family_folders.draft, "--json")
    assert done.returncode == 0 and json.loads(done.stdout)["prompts"] == 4
    lines = done.stderr.splitlines()
    assert any(re.fullmatch(r"prompt [1-4] of 4", line) for line in lines)
    assert len(lines) < 5  # of about ten steps, with four seconds between them


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
    assert "×" not in lines[1] and f"{two / one:.3f}×" in lines[2]
    assert lines[3:] == ["τ and α of chains of γ 4"]


def test_kinds_of_tokens_and_confidence_are_those_of_rejections(
    specchat: Specchat, family_folders: FamilyFolders, measure: tuple[str, ...]
) -> None:
    draft, most = family_folders.draft, ("--gamma", "3", "--json")
    found = json.loads(specchat(*measure, "--heads", draft, *most).stdout)
    document = specchat(
        "rejections", "--strategies", "draft", "--draft", draft, *measure[2:], *most
    )
    (lane,) = json.loads(document.stdout)["lanes"]
    assert found["by_kind"] and found["calibration"]
    for key in ("by_kind", "by_place", "calibration"):
        # The layout of the weights, which is measured, may differ between runs and round otherwise.
        assert found[key] == [pytest.approx(row, rel=1e-4) for row in lane[key]]
    text = specchat(*measure, "--heads", draft).stdout
    assert "by kind" in text and "mean q" in text


def test_an_answer_of_one_token_has_no_passes_to_count(
    specchat: Specchat, family_folders: FamilyFolders, measure: tuple[str, ...]
) -> None:
    done = specchat(*measure, "--heads", family_folders.draft, "--max-new-tokens", "1")
    assert done.returncode == 2 and "--max-new-tokens" in done.stderr


def made(kind: str, specchat: Specchat, target: str, out: Path, *options: str) -> Path:
    done = specchat("heads", "convert", kind, "--target", target, "--out", str(out), *options)
    assert done.returncode == 0, done.stderr
    return out


def lane_of(role: str, target: str, heads: Path) -> Lane:
    spec = LaneSpec(role, role)
    models = load_models(ModelOptions(target, {role: str(heads)}, threads=1), lanes=(spec,))
    return Lane(spec, models)


def test_only_settings_that_a_checkpoint_can_have_are_tried(
    specchat: Specchat,
    family_folders: FamilyFolders,
    measure: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried: list[object] = []

    def compete(experiment: Experiment) -> list[Candidate]:
        tried.extend(each.params.gamma for each in experiment.candidates)
        return []

    monkeypatch.setattr(Experiment, "compete", compete)
    done = specchat(*measure, "--heads", family_folders.draft, "--write-settings")
    assert done.returncode == 2 and "no settings" in done.stderr
    assert tried and "auto" not in tried


@pytest.mark.slow
def test_the_fastest_settings_are_the_default_from_then_on(
    specchat: Specchat, family_folders: FamilyFolders, measure: tuple[str, ...], tmp_path: Path
) -> None:
    target = family_folders.target
    draft = tmp_path / "draft"
    shutil.copytree(family_folders.draft, draft)
    found = {
        "medusa": made("medusa", specchat, target, tmp_path / "medusa", "--heads", "2"),
        "eagle": made("eagle3", specchat, target, tmp_path / "eagle", "--aux-layers", "0,1"),
        "draft": draft,
    }
    (found["eagle"] / "SHA256SUMS").write_text("to be replaced")
    for role, heads in found.items():
        file = heads / ("generation_config.json" if role == "draft" else "config.json")
        before, mode = json.loads(file.read_text()), file.stat().st_mode
        written = ("--write-settings", "--seconds", "1", "--json")
        done = specchat(*measure, "--heads", str(heads), *written)
        assert done.returncode == 0, done.stderr
        settings = json.loads(done.stdout)["settings"]
        after, lane = json.loads(file.read_text()), lane_of(role, target, heads)
        assert before.items() <= after.items() and file.stat().st_mode == mode
        if role == "medusa":
            assert after["medusa_choices"] == settings["medusa_choices"]
            assert lane.models.medusa_choices == tuple(map(tuple, settings["medusa_choices"]))
        elif role == "draft":
            assert after["num_assistant_tokens"] == settings["num_assistant_tokens"]
            assert lane.default_gamma == settings["num_assistant_tokens"]
        else:
            assert lane.default_gamma == (settings["gamma"] or 8)
            drafter = lane._decoder.drafter
            assert isinstance(drafter, Eagle)
            assert drafter.tree == EagleTree(settings["total"], settings["top_k"] or 3)
    digest = hashlib.sha256((found["eagle"] / "config.json").read_bytes()).hexdigest()
    assert f"{digest}  config.json\n" in (found["eagle"] / "SHA256SUMS").read_text()


def test_settings_that_are_given_are_the_ones_written(
    specchat: Specchat, family_folders: FamilyFolders, measure: tuple[str, ...], tmp_path: Path
) -> None:
    target = family_folders.target
    head = made("eagle3", specchat, target, tmp_path / "eagle", "--aux-layers", "0,1")
    older = made("eagle1", specchat, target, tmp_path / "eagle1")
    given = ("--gamma", "2", "--eagle-top-k", "2", "--eagle-total-tokens", "5")
    written = ("--write-settings", "--seconds", "1")
    done = specchat(*measure, "--heads", str(head), *given, *written)
    assert "fastest here: γ 2, top-k 2, 5 nodes" in done.stdout
    lane = lane_of("eagle", target, head)
    drafter = lane._decoder.drafter
    assert isinstance(drafter, Eagle)
    assert (lane.default_gamma, drafter.tree) == (2, EagleTree(5, 2))
    out = tmp_path / "out"
    specchat(*measure, "--heads", str(older), *given, *written)
    export = ("heads", "export", "--target", target, "--heads")
    done = specchat(*export, str(older), "--out", str(out / "sglang"), "--to", "sglang")
    assert "num-steps 2 --speculative-eagle-topk 2 --speculative-num-draft-tokens 5" in done.stdout
    done = specchat(*export, str(head), "--out", str(out / "speculators"), "--to", "speculators")
    assert '"num_speculative_tokens": 2' in done.stdout
    (method,) = json.loads((out / "speculators" / "config.json").read_text())["speculators_config"][
        "proposal_methods"
    ]
    assert method["speculative_tokens"] == 2


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (("--compare", "a", "b", "--write-settings"), "--write-settings is for --heads"),
        (("--heads", "a", "--seconds", "5"), "--seconds is the time for --write-settings"),
    ],
)
def test_settings_are_written_into_one_checkpoint(
    given: tuple[str, ...], says: str, specchat: Specchat, measure: tuple[str, ...]
) -> None:
    done = specchat(*measure, *given)
    assert done.returncode == 2 and says in done.stderr


@pytest.mark.parametrize("both", [True, False])
def test_heads_or_two_to_compare(
    both: bool, specchat: Specchat, family_folders: FamilyFolders, measure: tuple[str, ...]
) -> None:
    draft = family_folders.draft
    given = ("--heads", draft, "--compare", draft, draft) if both else ()
    done = specchat(*measure, *given)
    assert done.returncode == 2 and "give --heads DIR, or --compare DIR DIR" in done.stderr
