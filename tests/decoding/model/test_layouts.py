"""However the weights lie, they say the same."""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Iterator
from itertools import product
from types import SimpleNamespace

import pytest
import torch
from torch import nn
from transformers import PreTrainedModel

from decoding.decoder import Decoder
from decoding.drafters.lookup import Lookup
from decoding.model import layouts
from decoding.model.layouts import _fastest, fastest_layouts, lay_out
from decoding.model.linears import ROWS, Layout, Linear, can_pack, fp16_exponent
from decoding.model.target import Target
from decoding.params import Params
from tests.support.families import build

LAYOUTS = {
    "plain": Layout(),
    "transposed": Layout(transposed=True),
    "packed": Layout(packed_rows=ROWS),
    "both": Layout(True, (4, 16)),
}
if has_fp16 := can_pack(torch.float32, fp16=True):
    LAYOUTS["fp16"] = Layout(packed_rows=ROWS, fp16=True)
ORDERS = [*LAYOUTS, "plain"]  # from each to the next
needs_onednn = pytest.mark.skipif(not can_pack(torch.float32), reason="torch has no oneDNN")
needs_fp16 = pytest.mark.skipif(not has_fp16, reason="torch has no FBGEMM")


def parts_of(bias: bool) -> list[nn.Linear]:
    """Of weights as they are in most checkpoints: bfloat16, and some of them very small."""
    torch.manual_seed(0)
    parts = [nn.Linear(12, out, bias) for out in (8, 4)]
    for part in parts:
        part.weight.data[:, ::3] *= 1e-4
        part.weight.data = part.weight.data.bfloat16().float()
    return parts


def rounded(family: str) -> PreTrainedModel:
    model = build(family)
    for weight in model.parameters():
        weight.data = weight.data.bfloat16().float()
    return model


@pytest.fixture(params=[1, 2])
def threads(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    monkeypatch.setattr("decoding.model.linears.SERIAL", 0)
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield request.param
    torch.set_num_threads(before)


@needs_onednn
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("bias", [False, True])
def test_a_linear_in_every_layout(bias: bool, dtype: torch.dtype, threads: int) -> None:
    parts, originals = ([part.to(dtype) for part in parts_of(bias)] for _ in range(2))
    linear = Linear(parts)
    within = 1e-5 if dtype == torch.float32 else 0.01
    for (name, rows), inference in product(product(ORDERS, (1, 3, 4, 9, 16, 40)), (True, False)):
        with torch.inference_mode(inference):
            linear.set_layout(LAYOUTS[name])
            x, residual = torch.randn(2, rows, 12, dtype=dtype)
            expected = torch.cat([part(x) for part in originals], -1)
            torch.testing.assert_close(linear(x), expected, rtol=within, atol=within)
            torch.testing.assert_close(torch.cat([part(x) for part in parts], -1), expected)
            total = residual.clone()
            linear.add_to(total, x)
            torch.testing.assert_close(total, residual + expected, rtol=within, atol=within)
    assert linear.packed_nbytes == 0


@needs_onednn
@pytest.mark.parametrize("name", LAYOUTS)
def test_a_target_in_every_layout(name: str) -> None:
    original, target = rounded("llama"), Target(rounded("llama"))
    kinds = {kind for kind, _ in target.linears}
    known = dict.fromkeys(kinds, LAYOUTS[name])
    before = target.nbytes
    assert lay_out(target.linears, target.dtype, known) == known
    assert (target.nbytes > before) == bool(LAYOUTS[name].packed_rows)
    prompt = [3, 7, 9, 11]
    got = target.prefill(target.new_cache(), prompt).logits
    with torch.inference_mode():
        for model in (original, target.model):
            expected = model(input_ids=torch.tensor([prompt]), use_cache=False).logits[0, -1:]
            torch.testing.assert_close(got, expected, rtol=1e-5, atol=1e-5)


def test_halves_are_exact_or_not_made() -> None:
    """Up to a power of two, they are the numbers of a checkpoint in bfloat16 or float16."""
    weights = torch.randn(300, 40) * torch.logspace(-3, 3, 40)
    for stored in (weights.bfloat16(), weights.half(), weights.bfloat16() * 2.0**90):
        exponent = fp16_exponent(stored)
        assert exponent is not None and fp16_exponent(stored.float()) == exponent
        scaled = stored.float() * 2.0**exponent
        assert scaled.isfinite().all() and scaled.half().float().equal(scaled)
    assert fp16_exponent(torch.zeros(2, 2)) is not None
    one_other = weights.bfloat16().float()
    one_other[-1, -1] = 0.1
    too_far_apart = torch.tensor([[2.0**20, 2.0**-20]])
    for each in (one_other, too_far_apart, torch.tensor([[torch.nan]])):
        assert fp16_exponent(each) is None


@needs_fp16
def test_weights_that_have_no_halves_stay_as_they_are(threads: int) -> None:
    part = nn.Linear(12, 8)
    linear = Linear([part])
    linear.set_layout(Layout(packed_rows=ROWS, fp16=True))
    x = torch.randn(3, 12)
    torch.testing.assert_close(linear(x), part(x))
    assert linear.packed_nbytes == 0 and not linear.fits_fp16


@needs_fp16
def test_halves_are_half_as_much_to_read(threads: int) -> None:
    target = Target(rounded("llama"))
    memory, read = target.nbytes, target.bytes_per_pass
    assert read is not None
    linears = sum(linear.nbytes for _, linear in target.linears)
    fp16 = dict.fromkeys((kind for kind, _ in target.linears), LAYOUTS["fp16"])
    with warnings.catch_warnings(action="error"):  # it would be drawn over the screen
        lay_out(target.linears, target.dtype, fp16)
        target.prefill(target.new_cache(), [3, 7])
    assert target.nbytes - memory == linears // 2
    assert read - (target.bytes_per_pass or 0) == linears // 2


@needs_onednn
@pytest.mark.parametrize("name", LAYOUTS)
def test_copies_for_another_number_of_threads_say_the_same(name: str, threads: int) -> None:
    """They are chosen, and halves also made, for the number at that time; another one costs only
    speed."""
    linear, original = (Linear(parts_of(True)) for _ in range(2))
    linear.set_layout(LAYOUTS[name])
    torch.set_num_threads(3 - threads)
    for rows in (1, 4, 40):
        x = torch.randn(rows, 12)
        torch.testing.assert_close(linear(x), original(x), rtol=1e-5, atol=1e-5)


def test_weights_that_something_else_relies_on_stay_where_they_are() -> None:
    part = nn.Linear(12, 8)
    before = part.weight
    Linear([part], transposable=False).set_layout(Layout(transposed=True))
    assert part.weight is before and part.weight.is_contiguous()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_every_kind_of_matrix_is_measured(dtype: torch.dtype) -> None:
    target = Target(build("llama").to(dtype))  # type: ignore[arg-type]
    found = fastest_layouts(target.linears, target.dtype)
    assert found.keys() == {"qkv", "o", "gate_up", "down", "lm_head"}


def test_layouts_of_another_model_are_not_taken() -> None:
    target = Target(build("llama"))
    found = lay_out(target.linears, target.dtype, {"qkv": Layout()})
    assert found.keys() == {kind for kind, _ in target.linears}


def test_what_transformers_runs_is_left_to_it() -> None:
    assert Target(build("gpt2")).linears == ()


def seconds(*values: float) -> dict[tuple[str, int], float]:
    return {("o", rows): value for rows, value in zip(ROWS, values, strict=True)}


def test_the_fastest_is_chosen_for_each_number_of_rows() -> None:
    plain, turned = seconds(4, 4, 4, 4, 4), seconds(2, 3, 3, 4, 5)
    packed = seconds(3, 3, 2, 5, 4)
    fp16 = seconds(1, 2, 3, 4, 5)
    assert _fastest("o", plain, plain, {}) == Layout()
    assert _fastest("o", plain, turned, {}) == Layout(transposed=True)
    assert _fastest("o", plain, turned, {False: packed}) == Layout(True, (4, 16))
    assert _fastest("o", plain, turned, {False: packed, True: fp16}) == Layout(True, (1, 2), True)
    many = seconds(4, 4, 4, 4, 0.1)
    assert _fastest("o", plain, plain, {False: many, True: fp16}) == Layout(packed_rows=(16,))
    assert _fastest("o", plain, plain, {False: fp16, True: packed}) == Layout(False, (1, 2, 4))


@needs_onednn
def test_copies_take_no_more_than_they_may(monkeypatch: pytest.MonkeyPatch) -> None:
    """Packing pays for all, but there is room for the smallest kind only."""
    linears = [("small", Linear([nn.Linear(4, 4)])), ("large", Linear([nn.Linear(8, 8)]))]

    def timed(sample: object, layout: Layout, dtype: object) -> dict[tuple[str, int], float]:
        spent = 1.0 if layout.packed_rows else 2.0
        return {(kind, rows): spent for kind in ("small", "large") for rows in ROWS}

    monkeypatch.setattr(layouts, "_seconds", timed)
    memory = SimpleNamespace(available=100 / layouts.PACKED_SHARE)
    monkeypatch.setattr("psutil.virtual_memory", lambda: memory)
    monkeypatch.setattr(layouts, "can_pack", lambda dtype, fp16: not fp16)
    found = fastest_layouts(linears, torch.float32)
    assert found == {"small": Layout(packed_rows=ROWS), "large": Layout()}
    monkeypatch.setattr(layouts, "can_pack", lambda dtype, fp16: fp16)
    memory.available *= 2
    found = fastest_layouts(linears, torch.float32)
    assert found == dict.fromkeys(("small", "large"), Layout(packed_rows=ROWS, fp16=True))


@needs_onednn
def test_greedy_text_in_mixed_layouts(threads: int) -> None:
    target = Target(rounded("llama"))
    prompt = [3, 7, 9, 11, 2, 3, 7]
    with target.as_loaded() as model:
        whole = model.generate(torch.tensor([prompt]), do_sample=False, max_new_tokens=24)  # type: ignore[operator]
    kinds = sorted({kind for kind, _ in target.linears})
    mixed = deque([*LAYOUTS.values(), *LAYOUTS.values()][: len(kinds)])
    for _ in kinds:
        mixed.rotate()
        lay_out(target.linears, target.dtype, dict(zip(kinds, mixed, strict=True)))
        for drafter in (None, Lookup(torch.device("cpu"))):
            decoder = Decoder(target, drafter)
            for _ in decoder.generate(prompt, Params(gamma=5, max_new_tokens=24)):
                pass
            assert decoder.generated == whole[0, len(prompt) :].tolist()
