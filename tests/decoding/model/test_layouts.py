"""However the weights lie, they say the same."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from decoding.decoder import Decoder
from decoding.drafters.lookup import Lookup
from decoding.model import layouts
from decoding.model.layouts import _fastest, fastest_layouts, lay_out
from decoding.model.linears import ROWS, Layout, Linear, can_pack
from decoding.model.target import Target
from decoding.params import Params
from tests.support.families import build, hf_greedy, reference

LAYOUTS = {
    "plain": Layout(),
    "transposed": Layout(transposed=True),
    "packed": Layout(packed=ROWS),
    "both": Layout(True, (4, 16)),
}
ORDERS = [*LAYOUTS, "plain"]  # from each to the next
needs_onednn = pytest.mark.skipif(not can_pack(torch.float32), reason="torch has no oneDNN")


def parts_of(bias: bool) -> list[nn.Linear]:
    torch.manual_seed(0)
    return [nn.Linear(12, out, bias) for out in (8, 4)]


@needs_onednn
@pytest.mark.parametrize("bias", [False, True])
def test_a_linear_in_every_layout(bias: bool) -> None:
    parts, originals = parts_of(bias), parts_of(bias)
    linear = Linear(parts)
    for (name, rows), inference in product(product(ORDERS, (1, 3, 4, 9, 16, 40)), (True, False)):
        with torch.inference_mode(inference):
            linear.arrange(LAYOUTS[name])
            x, residual = torch.randn(rows, 12), torch.randn(rows, 12)
            expected = torch.cat([part(x) for part in originals], -1)
            torch.testing.assert_close(linear(x), expected)
            torch.testing.assert_close(torch.cat([part(x) for part in parts], -1), expected)
            total = residual.clone()
            linear.add_to(total, x)
            torch.testing.assert_close(total, residual + expected)
    assert linear.packed_nbytes == 0


@needs_onednn
@pytest.mark.parametrize("name", LAYOUTS)
def test_a_target_in_every_layout(name: str) -> None:
    target = Target(build("llama"))
    kinds = {kind for kind, _ in target.linears}
    known = dict.fromkeys(kinds, LAYOUTS[name])
    before = target.nbytes
    assert lay_out(target.linears, target.dtype, known) == known
    assert (target.nbytes > before) == bool(LAYOUTS[name].packed)
    prompt = [3, 7, 9, 11]
    got = target.prefill(target.new_cache(), prompt).logits
    with torch.inference_mode():
        for model in (reference("llama"), target.model):
            expected = model(input_ids=torch.tensor([prompt]), use_cache=False).logits[0, -1:]
            torch.testing.assert_close(got, expected, rtol=1e-5, atol=1e-5)


def test_weights_that_something_else_relies_on_stay_where_they_are() -> None:
    part = nn.Linear(12, 8)
    before = part.weight
    Linear([part], movable=False).arrange(Layout(transposed=True))
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
    assert _fastest("o", plain, plain, fits=True) == Layout()
    assert _fastest("o", plain, turned, fits=True) == Layout(transposed=True)
    assert _fastest("o", plain, turned, packed, fits=True) == Layout(True, (4, 16))
    assert _fastest("o", plain, turned, packed, fits=False) == Layout(transposed=True)


@needs_onednn
def test_copies_take_no_more_than_they_may(monkeypatch: pytest.MonkeyPatch) -> None:
    """Packing pays for all, but there is room for the smallest kind only."""
    linears = [("small", Linear([nn.Linear(4, 4)])), ("large", Linear([nn.Linear(8, 8)]))]

    def timed(sample: object, layout: Layout, dtype: object) -> dict[tuple[str, int], float]:
        spent = 1.0 if layout.packed else 2.0
        return {(kind, rows): spent for kind in ("small", "large") for rows in ROWS}

    monkeypatch.setattr(layouts, "_seconds", timed)
    memory = SimpleNamespace(available=100 / layouts.PACKED_SHARE)
    monkeypatch.setattr("psutil.virtual_memory", lambda: memory)
    found = fastest_layouts(linears, torch.float32)
    assert found == {"small": Layout(packed=ROWS), "large": Layout()}


@needs_onednn
def test_greedy_text_in_mixed_layouts() -> None:
    target = Target(build("llama"))
    kinds = sorted({kind for kind, _ in target.linears})
    mixed = dict(zip(kinds, [*LAYOUTS.values(), Layout(True, (1,))], strict=True))
    lay_out(target.linears, target.dtype, mixed)
    prompt = [3, 7, 9, 11, 2, 3, 7]
    for drafter in (None, Lookup(torch.device("cpu"))):
        decoder = Decoder(target, drafter)
        for _ in decoder.generate(prompt, Params(gamma=5, max_new_tokens=24)):
            pass
        assert decoder.generated == hf_greedy("llama", prompt, 24)
