"""The kind of a drafter is read from the headers of its files."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from decoding.checkpoints import files
from decoding.checkpoints.files import read_tensors
from decoding.checkpoints.kind import drafter_kind
from decoding.errors import InputError

HEAD = {"fc.weight": torch.zeros(8, 16), "layers.0.mlp.up_proj.weight": torch.zeros(8, 8)}


def test_what_trainers_leave_beside_the_weights_is_not_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_file(HEAD, tmp_path / "model.safetensors")
    torch.save({"step": 3, "args": Path("x")}, tmp_path / "trainer_state.pt")

    def loaded(*_: object) -> None:
        raise AssertionError("loaded a pickle")

    monkeypatch.setattr(files, "_unpickled", loaded)
    assert drafter_kind(tmp_path) == "eagle"


def test_heads_beside_the_model_that_they_are_for(tmp_path: Path) -> None:
    save_file({"model.embed_tokens.weight": torch.zeros(9, 8)}, tmp_path / "model.safetensors")
    heads = {"0.0.linear.weight": torch.zeros(8, 8), "0.0.linear.bias": torch.zeros(8)}
    torch.save(heads, tmp_path / "medusa_lm_head.pt")
    assert drafter_kind(tmp_path) == "medusa"


def test_a_folder_without_weights_is_no_drafter(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(InputError, match="holds no weights: give the folder of heads or a draft"):
        drafter_kind(tmp_path)


@pytest.mark.parametrize("name", ["model.safetensors", "medusa_lm_head.pt"])
def test_a_file_that_git_lfs_did_not_fetch(tmp_path: Path, name: str) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 123\n"
    (tmp_path / name).write_text(pointer)
    with pytest.raises(InputError, match=f"can't read .*{name}: it is a Git LFS pointer, .*pull"):
        read_tensors(tmp_path, lambda name: True)


def test_a_file_that_is_cut_off_is_said_to_be(tmp_path: Path) -> None:
    save_file(HEAD, tmp_path / "model.safetensors")
    whole = (tmp_path / "model.safetensors").read_bytes()
    for size in (100, len(whole) - 4):
        (tmp_path / "model.safetensors").write_bytes(whole[:size])
        with pytest.raises(InputError, match="cut off or damaged: copy or download it again"):
            read_tensors(tmp_path, lambda name: True)
