"""All strategies. To add one: its drafter in `decoding.drafters`, and a record here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from app.strategies.settings import SAMPLING
from app.strategies.strategy import DEFAULT_TREE, DYNAMIC_TREE, NamedTree, Strategy
from decoding.errors import InputError

if TYPE_CHECKING:
    from app.models.loaded import LoadedModels
    from decoding.drafters.base import Drafter
    from decoding.trees.static import Choices


AUTOREGRESSIVE = Strategy(
    name="ar",
    title="Autoregressive",
    summary="The target alone, token by token: what the others are compared with",
    settings=SAMPLING,
)


def _build_draft_model(models: LoadedModels) -> Drafter:
    from decoding.checkpoints.draft_settings import assistant_tokens
    from decoding.drafters.draft_model import DraftModel

    draft = models.drafters["draft"]
    gamma = assistant_tokens(draft.model.generation_config)
    if models.draft_tokenizer is None:
        return DraftModel(draft, models.target.vocab_size, gamma)
    from decoding.drafters.universal import UniversalDraft

    drafter, target = DraftModel(draft, draft.vocab_size, gamma), models.target
    return UniversalDraft(
        drafter, models.tokenizer, models.draft_tokenizer, target.vocab_size, target.device
    )


def _draft_title(models: LoadedModels) -> str:
    return "Draft model" if models.draft_tokenizer is None else "Draft model, as text"


DRAFT_MODEL = Strategy(
    name="draft",
    title="Draft model",
    summary="A smaller model drafts a chain",
    settings=("gamma", *SAMPLING),
    role="draft",
    missing="no draft model: give one with --draft",
    advice="--draft DIR|ID with a smaller model of the same tokenizer, or make one: specchat heads "
    "convert draft --target {target} --out DIR, then specchat heads train",
    build=_build_draft_model,
    title_of=_draft_title,
    proposed_by="the draft model, token {depth} of {length} in its draft",
    samples_drafts=True,
)

DRAFT_ONLY = Strategy(
    name="draft-only",
    title="Draft alone",
    summary="The draft model alone answers: another text, its own speed",
    explanation="the draft model answers by itself, another text: how fast it would be without a "
    "target. The p and the entropy of its tokens are its own.",
    settings=SAMPLING,
    role="draft",
    missing=DRAFT_MODEL.missing,
    advice=DRAFT_MODEL.advice,
    on_target=False,
)


def _build_medusa(models: LoadedModels) -> Drafter:
    from decoding.drafters.medusa import Medusa

    return Medusa(models.drafters["medusa"], models.medusa_choices)


def _medusa_trees(models: LoadedModels) -> Mapping[str, NamedTree]:
    from decoding.trees.static import NAMED_TREES

    trees = {DEFAULT_TREE: models.medusa_choices, **NAMED_TREES}
    return _with_depths(trees, models.drafters["medusa"].count)


def _medusa_claimed(models: LoadedModels) -> tuple[float, ...]:
    return tuple(row[0] for row in models.drafters["medusa"].accuracy if row)


MEDUSA = Strategy(
    name="medusa",
    title="Medusa",
    summary="Heads on the target guess the next tokens, a tree of guesses",
    explanation="heads on the target guess the tokens after the next one, several guesses each; "
    "the guesses form a tree that one target pass tests.",
    settings=("gamma", *SAMPLING, "acceptance", "epsilon", "delta"),
    role="medusa",
    missing="no Medusa heads: --medusa DIR, or make some: specchat heads",
    advice="specchat heads convert medusa --target {target} --out DIR, then specchat heads train",
    build=_build_medusa,
    trees=_medusa_trees,
    claimed=_medusa_claimed,
    proposed_by="Medusa head {depth}",
    typical=True,
    one_pass=True,
)


def _build_eagle(role: str, models: LoadedModels) -> Drafter:
    from decoding.drafters.eagle import Eagle, default_tree

    named, cost = models.drafters[role].config.settings, models.verify_cost
    tree = default_tree(named, models.target.device, cost)
    tree = replace(tree, choices=models.eagle_choices)
    return Eagle(
        models.drafters[role],
        models.target,
        tree,
        cost if tree.total is None else None,
        None if tree.choices else named.gamma,
    )


def _eagle_trees(models: LoadedModels) -> Mapping[str, NamedTree]:
    from decoding.drafters.eagle import DEFAULT_GAMMA
    from decoding.trees.static import NAMED_TREES

    trees = {DEFAULT_TREE: models.eagle_choices, DYNAMIC_TREE: (), **NAMED_TREES}
    return _with_depths(trees, DEFAULT_GAMMA)


def _eagle_title(role: str, models: LoadedModels) -> str:
    return "EAGLE-3" if models.drafters[role].config.version == "eagle3" else "EAGLE-1"


EAGLE = Strategy(
    name="eagle",
    title="EAGLE",
    summary="A layer on the target's own states drafts a tree",
    explanation="one layer on the target's own states drafts a tree, level by level, and the "
    "target tests its likeliest part. γ is the tree's depth.",
    settings=("gamma", *SAMPLING, "eagle_total_tokens", "eagle_top_k"),
    role="eagle",
    missing="no EAGLE head: --eagle DIR, or make one: specchat heads",
    advice="specchat heads convert eagle3 --target {target} --out DIR, then specchat heads train",
    build=partial(_build_eagle, "eagle"),
    trees=_eagle_trees,
    title_of=partial(_eagle_title, "eagle"),
    proposed_by="{title}, level {depth}",
)

EAGLE_1 = replace(
    EAGLE,
    name="eagle1",
    title="EAGLE-1",
    summary="An EAGLE-1 or 2 head, beside EAGLE-3",
    explanation="",
    role="eagle1",
    missing="no EAGLE head: --eagle1 DIR, or make one: specchat heads",
    advice="specchat heads convert eagle1 --target {target} --out DIR, then specchat heads train",
    build=partial(_build_eagle, "eagle1"),
    title_of=partial(_eagle_title, "eagle1"),
)


def _build_lookup(models: LoadedModels) -> Drafter:
    from decoding.drafters.lookup import Lookup

    return Lookup(models.target.device)


LOOKUP = Strategy(
    name="lookup",
    title="Prompt lookup",
    summary="Drafts what followed the same words before: no model at all",
    settings=("gamma", *SAMPLING),
    build=_build_lookup,
    proposed_by="copied by lookup, token {depth} of {length} in its draft",
)


def _build_suffix(models: LoadedModels) -> Drafter:
    from decoding.drafters.suffix import Suffix

    return Suffix(models.target.device)


SUFFIX = Strategy(
    name="suffix",
    title="Suffix tree",
    summary="Drafts what most often followed the newest words: no model at all",
    explanation="counts in a tree how the texts of the conversation continued, and drafts the "
    "likeliest continuation of its end, longer after a longer match.",
    settings=("gamma", *SAMPLING),
    build=_build_suffix,
    proposed_by="copied from the suffix tree, token {depth} of {length} in its draft",
)

SERVER = Strategy(
    name="server",
    title="Server",
    summary="A serving engine answers over HTTP, with its own model, clock and drafts",
    explanation="a serving engine (vLLM, SGLang, TensorRT-LLM, llama.cpp, ...) answers over HTTP. "
    "Its text comes in pieces, not in tokens; it reports its drafts at the end. "
    "Settings act from its next request on.",
    settings=SAMPLING,
    on_target=False,
    remote=True,
)

STRATEGIES: Mapping[str, Strategy] = {
    strategy.name: strategy
    for strategy in (
        AUTOREGRESSIVE,
        DRAFT_MODEL,
        DRAFT_ONLY,
        MEDUSA,
        EAGLE,
        EAGLE_1,
        LOOKUP,
        SUFFIX,
        SERVER,
    )
}
# Those that --strategies chooses from; servers are named by --server.
LOCAL_STRATEGIES = {name: each for name, each in STRATEGIES.items() if not each.remote}
DEFAULT_STRATEGIES = "ar,draft,medusa,eagle"


def find_strategy(name: str) -> Strategy:
    """Return the strategy of this name. Raises InputError if there is none."""
    found = STRATEGIES.get(name)
    if found is None:
        what = f"unknown strategy '{name}'" if name else "an empty strategy"
        raise InputError(f"{what}; choose from {', '.join(LOCAL_STRATEGIES)}")
    return found


def _with_depths(trees: Mapping[str, Choices], most: int) -> dict[str, NamedTree]:
    """Trees with their depths: static ones are cut at `most` levels, a dynamic one has `most`."""
    return {
        name: NamedTree(choices, min(most, max(map(len, choices), default=most)))
        for name, choices in trees.items()
    }
