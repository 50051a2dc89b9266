"""What is added to logits is exact in every lane: the ids are those of `generate`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
import torch

from app.config.model_options import ModelOptions
from app.config.overrides import parse_strategies
from app.config.settings import load_settings
from app.engine.lane import Lane
from app.models.library import demo
from app.models.load_models import load_models
from app.models.loaded import LoadedModels
from app.models.loading import load_model
from decoding.errors import InputError
from decoding.params import Params, SamplingParams
from decoding.tokenizing.stopping import Stop
from tests.conftest import Specchat

LANES = parse_strategies("ar,draft,medusa,eagle,eagle1,lookup,suffix")
PROMPT = "What is speculative decoding?"
NEW = 12


@pytest.fixture(scope="module")
def options() -> ModelOptions:
    return load_settings({"threads": "1", "dtype": "float32"}).models


@pytest.fixture(scope="module")
def reference(options: ModelOptions) -> Any:
    return load_model(str(demo().target), options)


def by_generate(model: Any, ids: list[int], bias: Mapping[int, float]) -> list[int]:
    prompt = torch.tensor([ids])
    out = model.generate(
        prompt,
        attention_mask=torch.ones_like(prompt),
        do_sample=False,
        max_new_tokens=NEW,
        sequence_bias={(token,): value for token, value in bias.items()} or None,
        eos_token_id=None,
        pad_token_id=0,
    )
    return [int(token) for token in out[0, len(ids) :]]


def answer(models: LoadedModels, name: str, ids: list[int], params: Params) -> list[int]:
    lane = Lane(next(spec for spec in LANES if spec.name == name), models)
    lane.generate(ids, params, 3, Stop())
    return list(lane.ids)


def test_greedy_ids_are_those_of_generate_with_a_sequence_bias(
    options: ModelOptions, reference: Any
) -> None:
    plain = load_models(options, lanes=LANES[:1])
    ids = plain.encode([{"role": "user", "content": PROMPT}])
    first = by_generate(reference, ids, {})
    liked, banned, disliked, *_ = dict.fromkeys(first)
    bias = {banned: -100.0, disliked: -2.5, liked: 1.5}
    wanted = by_generate(reference, ids, bias)
    assert wanted != first and banned not in wanted
    written = {str(token): value for token, value in bias.items()}
    biased = load_models(replace(options, logit_bias=written), lanes=LANES)
    for spec in LANES:
        assert answer(biased, spec.name, ids, Params(max_new_tokens=NEW)) == wanted, spec.name
    drawn = Params(SamplingParams(temperature=0.9), max_new_tokens=NEW)
    alone = answer(biased, "ar", ids, drawn)
    assert answer(biased, "lookup", ids, drawn) == alone  # deterministic drafts: the same draws
    assert answer(plain, "ar", ids, drawn) != alone and banned not in alone
    penalized = Params(SamplingParams(repetition_penalty=1.3), max_new_tokens=NEW)
    assert answer(biased, "draft", ids, penalized) == answer(biased, "ar", ids, penalized)


def test_a_text_that_is_one_token_stands_for_its_id(options: ModelOptions) -> None:
    tokenizer = load_models(options, lanes=()).tokenizer
    [token] = tokenizer(" the", add_special_tokens=False)["input_ids"]
    given = load_models(replace(options, logit_bias={" the": 2.0, str(token): 1.0}), lanes=())
    assert given.bias == {token: 3.0}


@pytest.mark.parametrize(
    ("bias", "line"),
    [
        ("quick brown fox=1", "--logit-bias: 'quick brown fox' is . tokens .*: give them one by"),
        ("999999=1", "--logit-bias: there is no token 999999, ids end at"),
        ("9" * 5000 + "=1", "--logit-bias: there is no token 9{20}, ids end at"),
        ("٣٤=1", "--logit-bias: '٣٤' is . tokens"),
        ("the", "--logit-bias: must be ID=NUMBER or TEXT=NUMBER"),
        ("the=", "--logit-bias: must be ID=NUMBER or TEXT=NUMBER"),
        ("the=nan", "--logit-bias: must be ID=NUMBER or TEXT=NUMBER"),
        ("5=1e39", "--logit-bias: .* a number from -10000 to 10000, not '5=1e39'"),
        ("=3", "--logit-bias: must be ID=NUMBER or TEXT=NUMBER"),
    ],
)
def test_what_is_no_token_or_no_number(bias: str, line: str) -> None:
    with pytest.raises(InputError, match=line):
        load_models(load_settings({"logit_bias": (bias,), "threads": "1"}).models, lanes=())


def test_it_is_in_the_document_and_not_for_servers(specchat: Specchat) -> None:
    run = ("run", "--prompt", "Hi", "--max-new-tokens", "2", "--strategies", "ar", "--json")
    done = specchat(*run, "--threads", "1", "--logit-bias", "5=-100")
    assert done.returncode == 0 and '"logit_bias": ["5=-100"]' in done.stdout
    refused = specchat(*run, "--server", "http://localhost:1", "--logit-bias", "5=-100")
    assert refused.returncode == 2 and "leave out --server" in refused.stderr
