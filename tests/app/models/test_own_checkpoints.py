"""Lanes with checkpoints of their own, beside those of the same strategy."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from app.config.model_options import ModelOptions
from app.config.overrides import parse_strategies
from app.engine.candidates import present_and_free
from app.engine.lane import Lane
from app.engine.memory import weights
from app.models.load_models import load_drafter, load_models
from app.models.loaded import LoadedModels
from app.progress import silent
from app.report.advice_document import Candidate
from decoding.checkpoints.eagle import write_eagle
from decoding.checkpoints.medusa import MedusaWeights, write_medusa
from decoding.errors import InputError
from decoding.model.target import Target
from decoding.params import Params
from decoding.round import Round
from decoding.tokenizing.stopping import Stop
from tests.conftest import FamilyFolders
from tests.support.eagle_drafts import config_for, weights_for

PROMPT = (5, 6, 7, 8, 9)
HEADS = 2


@pytest.fixture(scope="module")
def folders(family_folders: FamilyFolders, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two EAGLE-3 heads that read other layers of the target, and two sets of Medusa heads."""
    root = tmp_path_factory.mktemp("heads")
    target = load_models(ModelOptions(family_folders.target, threads=1), lanes=()).target
    for name, layers in (("first", (0, 1)), ("second", (1,))):
        config = config_for(target, aux_layers=layers)
        write_eagle(weights_for(config, len(layers)), root / name, "eagle3", "tiny")
    for seed, name in enumerate(("sure", "unsure")):
        write_medusa(medusa(target, seed), root / name, "v2", "tiny")
    return root


def medusa(target: Target, seed: int) -> MedusaWeights:
    torch.manual_seed(seed)
    matrices = torch.randn(HEADS, 1, target.hidden_size, target.hidden_size) / 4
    biases = torch.zeros(HEADS, 1, target.hidden_size)
    claimed = tuple((0.9 - 0.3 * seed - 0.1 * head, 0.05) for head in range(HEADS))
    return replace(MedusaWeights("v2", matrices, biases, None), accuracy=claimed)


def loaded(family: FamilyFolders, strategies: str, **drafters: Path) -> list[Lane]:
    options = ModelOptions(
        family.target, {role: str(source) for role, source in drafters.items()}, threads=1
    )
    specs = parse_strategies(strategies)
    models = load_models(options, lanes=specs)
    return [Lane(spec, models) for spec in specs]


def rounds(lane: Lane) -> list[Round]:
    params = Params(gamma=3, max_new_tokens=12, eagle_total_tokens=8, eagle_top_k=2)
    lane.generate(PROMPT, params, 0, Stop())
    return [
        replace(record, draft_seconds=0, verify_seconds=0, accept_seconds=0, total_seconds=0)
        for record in lane.rounds
    ]


def test_two_heads_that_read_other_layers_draft_as_each_does_alone(
    family_folders: FamilyFolders, folders: Path
) -> None:
    first, second = folders / "first", folders / "second"
    lanes = loaded(family_folders, f"ar,eagle,eagle:checkpoint={second}", eagle=first)
    (alone,) = loaded(family_folders, "eagle", eagle=second)
    answers = [rounds(lane) for lane in lanes]
    assert lanes[0].ids == lanes[1].ids == lanes[2].ids
    assert answers[2] == rounds(alone)
    assert answers[1] != answers[2]


def test_a_target_returns_no_features_once_no_lane_reads_them(
    family_folders: FamilyFolders, folders: Path
) -> None:
    own = f"eagle:checkpoint={folders / 'second'}"
    ar, eagle, second = loaded(family_folders, f"ar,eagle,{own}", eagle=folders / "first")
    models = ar.models
    answers = [rounds(lane) for lane in (ar, eagle)]
    assert models.drop_unused([ar.spec, second.spec])
    assert models.target.keeps_features and models.target.aux_layers == (0, 1)
    assert models.drop_unused([ar.spec]) and not models.drop_unused([ar.spec])
    assert not models.target.keeps_features and not models.target.aux_layers
    assert rounds(ar) == answers[0] and ar.prompt.aux_hidden_states is None
    load_drafter(models, "eagle", silent)
    assert rounds(Lane(eagle.spec, models)) == answers[1]


def test_a_lane_is_called_after_its_checkpoint_and_says_what_that_claims(
    family_folders: FamilyFolders, folders: Path
) -> None:
    own = f"medusa:checkpoint={folders / 'unsure'}:gamma=2"
    lanes = loaded(family_folders, f"medusa,{own},{own}", medusa=folders / "sure")
    infos = [lane.info(True) for lane in lanes]
    assert [info.name for info in infos] == [
        "medusa", "medusa:unsure:gamma=2", "medusa:unsure:gamma=2#2",
    ]  # fmt: skip
    assert [info.title for info in infos] == ["Medusa", "Medusa unsure", "Medusa unsure"]
    for info, first in zip(infos, (0.9, 0.6, 0.6), strict=True):
        assert info.claimed == pytest.approx((first, first - 0.1))
    assert infos[1].spec == lanes[1].spec and infos[1].overrides == {"gamma": 2}
    models = lanes[0].models
    assert lanes[1].models is lanes[2].models is models.seen_by(lanes[1].spec)
    assert set(weights(models)) == {"target", "medusa", "medusa unsure"}


def test_only_the_lane_without_a_checkpoint_is_missing_one(
    family_folders: FamilyFolders, folders: Path
) -> None:
    plain, own = loaded(family_folders, f"medusa,medusa:checkpoint={folders / 'sure'}")
    assert not plain.available and own.available and rounds(own)
    models: LoadedModels = plain.models
    assert models.why_missing([plain.spec, own.spec]) == {"medusa": plain.reason}


def test_advice_takes_two_checkpoints_for_two_kinds() -> None:
    specs = parse_strategies("ar,eagle,eagle:checkpoint=/heads/two,eagle:checkpoint=/heads/two")
    tried = present_and_free(specs, Params())
    assert [spec.name for spec in tried] == ["ar", "eagle", "eagle:two"]
    kinds = {Candidate(spec, Params()).kind for spec in tried}
    assert len(kinds) == 3


def test_a_checkpoint_may_be_one_of_several_gguf_files() -> None:
    (spec,) = parse_strategies("draft:checkpoint=org/name:Q4_K_M@v2:gamma=2")
    assert (spec.checkpoint, spec.overrides) == ("org/name:Q4_K_M@v2", {"gamma": 2})
    assert spec.name == "draft:name:Q4_K_M@v2:gamma=2"


@pytest.mark.parametrize(
    ("written", "complaint"),
    [
        ("lookup:checkpoint=x", "strategy 'lookup:checkpoint=x': it drafts without a checkpoint"),
        ("eagle:checkpoint=", "give one folder or hub id after checkpoint="),
        ("eagle:checkpoint=a:checkpoint=b", "give one folder"),
        ("medusa:heads=b", "unknown setting 'heads'; its own may be gamma, .*, checkpoint$"),
    ],
)
def test_what_is_no_checkpoint_of_a_lane(written: str, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        parse_strategies(f"ar,{written}")


def test_a_checkpoint_that_is_not_there(family_folders: FamilyFolders, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nothing"):
        loaded(family_folders, f"eagle:checkpoint={tmp_path / 'nothing'}")


@pytest.mark.parametrize(
    ("role", "holds", "line"),
    [
        ("draft", "", "holds has no config.json"),
        ("medusa", "", "holds no Medusa heads"),
        ("eagle", "", "holds no EAGLE head"),
        ("draft", "first", "holds no draft model: give it with --eagle$"),
        ("draft", "sure", "holds no draft model: give it with --medusa$"),
        ("medusa", "first", "holds no Medusa heads"),
        ("eagle", "sure", "holds Medusa heads, no EAGLE head"),
        ("eagle1", "../target", "holds no EAGLE head"),
    ],
)
def test_a_folder_of_something_else_is_refused_before_the_target_is_loaded(
    family_folders: FamilyFolders,
    folders: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    role: str,
    holds: str,
    line: str,
) -> None:
    monkeypatch.setattr("app.models.load_models.load_target", None)
    place = tmp_path / "holds"
    place.mkdir()
    if holds:
        found = family_folders.target if holds.startswith("..") else folders / holds
        shutil.copytree(found, place, dirs_exist_ok=True)
    with pytest.raises(InputError, match=line):
        loaded(family_folders, f"ar,{role}", **{role: place})


def test_while_loading_a_name_that_tells_nothing_new_is_left_out(
    family_folders: FamilyFolders, tmp_path: Path
) -> None:
    said: list[str] = []
    for name in ("target", "llama"):
        (tmp_path / name).symlink_to(family_folders.target)
        load_models(ModelOptions(str(tmp_path / name)), lambda what, part: said.append(what), ())
    assert "target" in said and "target llama" in said and "target target" not in said
