"""Keys and values that are kept in eight bits."""

from __future__ import annotations

import pytest
import torch

from decoding.decoder import Decoder
from decoding.drafters.base import Drafter
from decoding.drafters.draft_model import DraftModel
from decoding.model.kv_precision import KV_QUANTIZERS
from decoding.model.target import Target
from decoding.params import KVCacheDtype, Params
from tests.support.families import build, draft
from tests.support.random_trees import RandomTrees

CACHES: tuple[KVCacheDtype, ...] = ("none", "int8", "fp8")
EIGHT_BITS = CACHES[1:]
PROMPT = [5, 17, 3, 8, 14, 9]


def quantized(family: str, kv_cache: KVCacheDtype) -> Target:
    target = Target(build(family))
    target.kv_cache = kv_cache
    return target


@pytest.mark.parametrize("kv_cache", EIGHT_BITS)
def test_a_row_is_its_own_to_the_precision_of_eight_bits(kv_cache: KVCacheDtype) -> None:
    quantizer = KV_QUANTIZERS[kv_cache]
    assert quantizer is not None
    rows = torch.randn(3, 20, 64) * torch.logspace(-3, 3, 20)[:, None]
    rows[0, 0] = 0
    back = quantizer.dequantize(*quantizer.quantize(rows), torch.float32)
    largest = rows.abs().amax(-1, keepdim=True)
    bound = largest / 254 if kv_cache == "int8" else rows.abs() / 16 + largest / 1e5
    assert ((back - rows).abs() <= bound * 1.001).all()
    alone = quantizer.dequantize(*quantizer.quantize(rows[1:2, 7:8]), torch.float32)
    assert torch.equal(alone, back[1:2, 7:8])


@pytest.mark.parametrize("kv_cache", EIGHT_BITS)
@pytest.mark.parametrize("family", ["llama", "gemma2"])
def test_every_lane_says_what_the_target_says_alone(family: str, kv_cache: KVCacheDtype) -> None:
    """Of a lean forward and of transformers' modules, of chains and of trees."""
    target = quantized(family, kv_cache)
    params = Params(gamma=3, max_new_tokens=40)
    plain = Decoder(target)
    list(plain.generate(PROMPT, params))
    drafters: tuple[Drafter, ...] = (
        DraftModel(draft(family), target.vocab_size),
        RandomTrees(target.vocab_size, 5, nodes=6),
    )
    for drafter in drafters:
        drafting = Decoder(target, drafter)
        list(drafting.generate(PROMPT, params))
        assert drafting.generated == plain.generated


@pytest.mark.parametrize("family", ["llama", "gemma2"])
def test_it_is_near_the_whole_one_in_a_part_of_its_memory(family: str) -> None:
    target = Target(build(family))
    ids = [(7 * i + i * i) % 30 for i in range(60)]
    caches, logits = [], []
    for target.kv_cache in CACHES:
        cache = target.new_cache(16)  # it grows
        target.prefill(cache, ids[:50])
        logits.append(target.prefill(cache, ids[50:]).logits)
        caches.append(cache)
    whole, *others = logits
    for int8_or_fp8, distance in zip(others, (0.02, 0.1), strict=True):
        assert 0 < (int8_or_fp8 - whole).abs().max() < distance * whole.abs().max()
    assert caches[1].nbytes == caches[2].nbytes < 0.55 * caches[0].nbytes


def test_rows_at_a_tensor_of_places_are_those_of_a_pass_after_the_others() -> None:
    """As graphs write them."""
    target = quantized("llama", "int8")
    one, other = target.new_cache(8), target.new_cache(8)
    kv = torch.randn(3, 4, 8)  # keys and values of 2 heads
    found = []
    for rows in (next(one.append(3)), next(other.rows_at(torch.arange(3)))):
        rows.write(kv)
        found.append(torch.cat([rows.keys[0, :, :3], rows.values[0, :, :3]]))
    assert torch.equal(*found)
    assert torch.allclose(found[0].transpose(0, 1), kv, atol=0.02)
