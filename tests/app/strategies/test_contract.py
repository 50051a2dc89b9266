"""What every strategy in the registry keeps: its answers are the target's, and all that follows
from its record agrees with it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from app.config.model_options import ModelOptions
from app.config.overrides import LaneSettings, parse_strategies
from app.engine.lane import Lane
from app.models.catalog import drafter_status
from app.models.load_models import load_models
from app.models.loaded import LoadedModels
from app.strategies.lane_spec import LaneSpec
from app.strategies.registry import DRAFT_MODEL, LOCAL_STRATEGIES, find_strategy
from app.strategies.roles import ROLES
from app.strategies.settings import SETTINGS
from app.strategies.strategy import DEFAULT_TREE, Strategy
from app.tui.format.glossary import METRICS
from decoding.checkpoints.medusa import MedusaWeights
from decoding.drafters.medusa_heads import MedusaHeads
from decoding.errors import InputError
from decoding.params import Params, SamplingParams
from decoding.tokenizing.stopping import Stop
from decoding.trees.static import NAMED_TREES
from tests.conftest import FamilyFolders, Specchat
from tests.support.chi_square import assert_drawn_from
from tests.support.eagle_drafts import AUX_LAYERS, head_for

EVERY = pytest.mark.parametrize("strategy", LOCAL_STRATEGIES.values(), ids=LOCAL_STRATEGIES)
LENGTH, DRAWS, TOP_K = 24, 250, 3
README = Path(__file__).parents[3] / "README.md"


@pytest.fixture(scope="module")
def models(family_folders: FamilyFolders) -> LoadedModels:
    """The tiny family with random Medusa heads and EAGLE heads: something in every role."""
    drafters = {"draft": family_folders.draft}
    options = ModelOptions(family_folders.target, drafters, device="cpu", threads=1)
    loaded = load_models(options)
    target = loaded.target
    size, zeros = target.hidden_size, torch.zeros(3, 1, target.hidden_size, target.hidden_size)
    weights = torch.randn(zeros.shape, generator=torch.Generator().manual_seed(1)) * size**-0.5
    target.keeps_features = True
    target.capture_layers(AUX_LAYERS)
    found = {
        "medusa": MedusaHeads(MedusaWeights("v2", weights, zeros[:, :, 0], None), target),
        "eagle": head_for(target),
        "eagle1": head_for(target, "eagle1"),
    }
    small = NAMED_TREES["small"]
    return replace(
        loaded, drafters=loaded.drafters | found, missing={}, notes={}, medusa_choices=small
    )


@pytest.fixture(scope="module")
def prompt(models: LoadedModels) -> list[int]:
    return models.encode([{"role": "user", "content": "the quick brown fox and the quick dog"}])


def lane_of(strategy: Strategy, models: LoadedModels) -> Lane:
    return Lane(LaneSpec(strategy.name, strategy.name), models)


def play(lane: Lane, prompt: list[int], params: Params, seed: int = 0) -> list[int]:
    lane.start(prompt, params, seed, Stop())
    while not lane.finished:
        lane.step(params)
    return lane.ids


@EVERY
def test_greedy_it_says_what_generate_says(
    strategy: Strategy, models: LoadedModels, prompt: list[int]
) -> None:
    role = "target" if strategy.on_target else strategy.role
    assert role
    model: Any = {"target": models.target, **models.drafters}[role].model
    expected = model.generate(
        torch.tensor([prompt]), max_new_tokens=LENGTH, min_new_tokens=LENGTH, do_sample=False
    )[0, len(prompt) :].tolist()
    lane = lane_of(strategy, models)
    for _ in range(2):  # the second time with whatever it remembers of the first
        assert play(lane, prompt, Params(max_new_tokens=LENGTH)) == expected
    assert bool(lane.default_gamma) == strategy.drafts
    assert any(record.drafted for record in lane.rounds) == strategy.drafts


@EVERY
def test_sampled_it_draws_from_the_target(
    strategy: Strategy, models: LoadedModels, prompt: list[int]
) -> None:
    if not strategy.on_target:
        pytest.skip("another model answers")
    expected: dict[tuple[int, ...], float] = {}
    for first, p in likeliest(models, prompt):
        for second, q in likeliest(models, [*prompt, first]):
            expected[first, second] = p * q
    lane = lane_of(strategy, models)
    params = Params(SamplingParams(1.0, top_k=TOP_K), gamma=2, max_new_tokens=2)
    draws = [tuple(play(lane, prompt, params, seed)) for seed in range(DRAWS)]
    assert_drawn_from(draws, expected)


def likeliest(models: LoadedModels, ids: list[int]) -> list[tuple[int, float]]:
    with torch.inference_mode():
        logits = models.target.prefill(models.target.new_cache(), ids).logits[0].float()
    best = logits.topk(TOP_K)
    return list(zip(best.indices.tolist(), best.values.softmax(-1).tolist(), strict=True))


def test_a_draft_model_with_another_tokenizer_is_as_exact(
    family_folders: FamilyFolders, prompt: list[int]
) -> None:
    drafters = {"draft": family_folders.stranger}
    options = ModelOptions(family_folders.target, drafters, device="cpu", threads=1)
    strangers = load_models(options, lanes=(LaneSpec("draft", "draft"),))
    test_greedy_it_says_what_generate_says(DRAFT_MODEL, strangers, prompt)
    test_sampled_it_draws_from_the_target(DRAFT_MODEL, strangers, prompt)
    info = lane_of(DRAFT_MODEL, strangers).info(True)
    assert info.title == "Draft model, as text"
    assert info.note is not None and info.note.startswith("drafts as text: another tokenizer (")


@EVERY
def test_it_is_named_and_explained_wherever_strategies_are(
    strategy: Strategy, models: LoadedModels, specchat: Specchat
) -> None:
    lane = lane_of(strategy, models)
    assert lane.available and lane.info(True).title.startswith(strategy.title)
    assert f"| `{strategy.name}` | {strategy.title} | {strategy.summary} |" in README.read_text()
    shown = "".join(specchat("run", "--help").stdout.replace("│", "").split())
    assert ",".join(LOCAL_STRATEGIES) in shown
    if strategy.explanation:
        assert (strategy.title, strategy.explanation) in METRICS


@EVERY
def test_its_settings_are_settings(strategy: Strategy) -> None:
    (spec,) = parse_strategies(strategy.name)
    assert spec.strategy == spec.name == strategy.name
    assert set(strategy.settings) <= SETTINGS.keys() == LaneSettings.model_fields.keys()
    assert ("acceptance" in strategy.settings) == strategy.typical


@EVERY
def test_without_its_checkpoint_it_says_what_to_do(
    strategy: Strategy, models: LoadedModels
) -> None:
    bare = replace(models, drafters={}, options=ModelOptions("target"))
    assert bare.needs_loading(strategy.name) == (strategy.role is not None)
    if strategy.role is not None:
        assert strategy.role in ROLES
        advice = {part.strategy: part.advice for part in drafter_status(bare.options)}
        assert advice[strategy.role] == strategy.advice.format(target="target")


@EVERY
def test_its_trees_can_be_chosen(
    strategy: Strategy, models: LoadedModels, prompt: list[int]
) -> None:
    lane = lane_of(strategy, models)
    assert bool(lane.trees) == (strategy.trees is not None)
    plain = play(lane, prompt, Params(max_new_tokens=8))
    for name in (*lane.trees, DEFAULT_TREE):
        if name in lane.trees:
            lane.set_tree(name)
            assert play(lane, prompt, Params(max_new_tokens=8)) == plain


def test_what_is_no_strategy_fails_loudly() -> None:
    with pytest.raises(InputError, match="unknown strategy 'sufix'; choose from ar, draft"):
        find_strategy("sufix")
    with pytest.raises(ValueError, match="say who proposed"):
        Strategy(name="x", title="X", summary="", settings=(), build=lambda models: None)  # type: ignore[arg-type,return-value]
    with pytest.raises(ValueError, match="no setting gama"):
        Strategy(name="x", title="X", summary="", settings=("gama",))
