"""One detector: a folder is listed as what its reader makes of it."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from decoding.checkpoints.dialects import detect_kind, feature_width, medusa_dialect
from decoding.checkpoints.eagle_read import read_eagle
from decoding.checkpoints.headers import read_tensor_shapes
from decoding.checkpoints.medusa import WRITABLE, MedusaWeights, read_medusa, write_medusa
from tests.support.eagle_folders import FOLDERS, TARGET, H, made


@pytest.mark.parametrize("name", FOLDERS)
def test_an_eagle_head_is_listed_as_it_is_read(name: str, tmp_path: Path) -> None:
    draft = made(name)
    folder = draft.store(tmp_path / "draft")
    shapes = read_tensor_shapes(folder)
    assert detect_kind(draft.config, shapes) == read_eagle(folder, TARGET).config.version
    assert detect_kind({}, shapes) == detect_kind(draft.config, shapes)  # by the tensors alone
    version = read_eagle(folder, TARGET).config.version
    assert feature_width(version, draft.config, shapes) in (H, None)


@pytest.mark.parametrize("dialect", WRITABLE)
def test_medusa_heads_are_listed_as_they_are_read(dialect: str, tmp_path: Path) -> None:
    own = None if dialect == "v2" else torch.randn(2, 11, 8)
    heads = MedusaWeights("v0.1", torch.randn(2, 1, 8, 8), torch.randn(2, 1, 8), own)
    write_medusa(heads, tmp_path / "heads", dialect, "target")  # type: ignore[arg-type]
    shapes = read_tensor_shapes(tmp_path / "heads")
    assert detect_kind({}, shapes) == "medusa" and feature_width("medusa", {}, shapes) == 8
    read = read_medusa(tmp_path / "heads", 8, 11)
    # v2 has the names of v0.1; only the config and the missing lm_heads tell
    assert medusa_dialect(shapes) == ("v0.1" if read.dialect == "v2" else read.dialect)


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        (["model.layers.0.self_attn.q_proj.weight", "medusa_head.0.0.linear.weight"], "model"),
        (["layers.0.x.weight", "layers.1.x.weight", "norm.weight"], None),  # a bare base model
        (["layers.0.hidden_norm.weight", "layers.1.x.weight", "norm.weight"], "eagle3"),
        (["transformer.h.0.x.weight", "lm_head.weight"], None),
        (["midlayer.x.weight"], "eagle3"),
        ([], None),
    ],
    ids=[
        "model with heads",
        "several layers",
        "several layers of a head",
        "other model",
        "one layer",
        "nothing",
    ],
)
def test_what_is_no_head_is_not_listed_as_one(names: list[str], kind: str | None) -> None:
    assert detect_kind({}, {name: [8, 8] for name in names}) == kind
