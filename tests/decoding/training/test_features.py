"""What a drafter learns from is what it reads when it drafts."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
import torch

from decoding.errors import InputError
from decoding.model.target import Target
from decoding.training.conversations import Example, collate
from decoding.training.features import cache_features, feature_bytes, features_of
from decoding.training.medusa import MedusaTrainingModel
from decoding.training.medusa_attach import attach_medusa
from tests.decoding.model.test_classes import model_of
from tests.support.families import FAMILIES, HYBRIDS, SLIDING, build, reference

TEXTS = ([3, 7, 9, 11, 2, 3, 7] + [5, 9, 13] * SLIDING, [4, 8, 15])  # of unequal length
BATCH = collate([Example.of_answer(ids[:2], ids[2:]) for ids in TEXTS])
LAYERS = (0, 1, 2)


@pytest.mark.parametrize("family", [*FAMILIES, *HYBRIDS, "modernbert-decoder"])
def test_features_are_those_of_decoding(family: str) -> None:
    """Also of a target that decodes, as it does in evaluations: its attention takes one text."""
    if family in FAMILIES or family in HYBRIDS:
        loaded, decodes = reference(family), build(family)
    else:
        loaded, decodes = model_of(family), model_of(family)
    target = Target(decodes)
    target.capture_layers(LAYERS)
    for model in (loaded, decodes):
        aux, final = features_of(model, BATCH["input_ids"], LAYERS)
        assert aux is not None
        for text, ids in enumerate(TEXTS):
            found = target.prefill(target.new_cache(), ids, keep_features=True)
            pairs = (found.features, final), (found.aux_hidden_states, aux)
            for expected, states in pairs:
                near = states[text, : len(ids)]
                torch.testing.assert_close(near, expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("family", ["mistral", "gemma2", "gpt_oss", "llama4"])
def test_heads_learn_the_same_beside_a_target_that_decodes(family: str) -> None:
    losses = []
    for decodes in (False, True):
        model = build(family)
        model.set_attn_implementation("eager")
        if decodes:
            Target(model)
        losses.append(MedusaTrainingModel(model, attach_medusa(model, 2)).train()(**BATCH)["loss"])
    torch.testing.assert_close(*losses)


def test_what_was_cached_is_read_back(tmp_path: Path) -> None:
    """In any order, from several files, each of which is opened once; also in a process that gets
    the cache pickled."""
    model = build("llama")
    texts = [[3, 7, 9, 11], [4, 8, 15], [2, 3, 7, 5, 9], [5, 9], [1, 2, 3]]
    examples = [Example.of_answer(ids[:1], ids[1:]) for ids in texts]
    cache = cache_features(model, examples, LAYERS, tmp_path, shard=2)  # type: ignore[arg-type]
    for read in (cache, pickle.loads(pickle.dumps(cache))):
        for number in (4, 0, 3, 2, 1, 3):
            example = read[number]
            ids = torch.tensor([texts[number]])
            aux, final = features_of(model, ids, LAYERS)
            assert aux is not None and example.aux_hidden_states is not None
            assert example.ids == examples[number].ids and example.labels == examples[number].labels
            torch.testing.assert_close(example.final, final[0])
            torch.testing.assert_close(example.aux_hidden_states, aux[0])
    for shard in tmp_path.glob("*.safetensors"):
        shard.unlink()
    assert [len(cache[number].ids) for number in range(len(cache))] == [4, 3, 5, 2, 3]


def test_another_config_is_another_target(tmp_path: Path) -> None:
    """The same weights compute something else with other positions."""
    model = build("llama")
    examples = [Example.of_answer([3], [7, 9, 11])]
    cache_features(model, examples, LAYERS, tmp_path)  # type: ignore[arg-type]
    model.config.rope_parameters = {"rope_type": "linear", "rope_theta": 1e4, "factor": 8.0}
    with pytest.raises(InputError, match="are of another target: use a new folder"):
        cache_features(model, examples, LAYERS, tmp_path)  # type: ignore[arg-type]


def test_a_shard_is_bounded_in_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = build("llama")
    examples = [Example.of_answer([3], [7, 9, 11])] * 6
    each = feature_bytes(model, examples, LAYERS) // 6  # type: ignore[arg-type]
    monkeypatch.setattr("decoding.training.features._SHARD_BYTES", 2 * each)
    cache = cache_features(model, examples, LAYERS, tmp_path)  # type: ignore[arg-type]
    assert len(list(tmp_path.glob("*.safetensors"))) == 3 and len(cache) == 6
    assert all(cache[number].ids == (3, 7, 9, 11) for number in range(6))
