"""Whoever finds a config.json finds a whole checkpoint."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

import pytest
import torch
from safetensors.torch import save_file
from transformers import LlamaConfig, LlamaForCausalLM

from decoding.checkpoints import files
from decoding.checkpoints.files import read_tensors, write_model
from decoding.errors import InputError
from tests.support.families import SHAPE


class Tokenizer:
    """In the place of one, to be interrupted when it is written, after the model."""

    def __init__(self, error: BaseException | None = None) -> None:
        self._error = error

    def save_pretrained(self, folder: Path) -> None:
        (folder / "chat_templates").mkdir()
        (folder / "chat_templates" / "other.jinja").write_text("Hello")
        if self._error is not None:
            raise self._error


def test_a_model_that_is_not_written_whole_has_no_config(tmp_path: Path) -> None:
    model, out = LlamaForCausalLM(LlamaConfig(**SHAPE)), tmp_path / "out"
    interrupted: Any = Tokenizer(KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        write_model(out, model, interrupted)
    assert not (out / "config.json").exists()
    whole: Any = Tokenizer()
    for _ in range(2):  # also over itself
        write_model(out, model, whole)
        assert {str(file.relative_to(out)) for file in out.rglob("*.*")} == {
            "chat_templates/other.jinja", "config.json", "generation_config.json",
            "model.safetensors",
        }  # fmt: skip
    LlamaForCausalLM.from_pretrained(out)


def test_torch_on_a_full_disk_has_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def written_in_part(*given: object) -> NoReturn:
        raise RuntimeError("[enforce fail at inline_container.cc:672] . unexpected pos 1536")

    monkeypatch.setattr("decoding.checkpoints.files.torch.save", written_in_part)
    with pytest.raises(InputError, match="unexpected pos"):
        files.write_checkpoint(tmp_path, "heads.pt", {}, {})
    full = SimpleNamespace(free=4096)
    monkeypatch.setattr("decoding.checkpoints.files.shutil.disk_usage", lambda folder: full)
    with pytest.raises(InputError, match=f"can't write to {tmp_path}: No space left on device"):
        files.write_checkpoint(tmp_path, "heads.pt", {}, {})


def test_a_pipe_beside_the_weights_is_not_read(tmp_path: Path) -> None:
    pipe = tmp_path / "a.safetensors"
    os.mkfifo(pipe)
    held = os.open(pipe, os.O_RDWR)  # otherwise whoever reads it would wait
    try:
        assert read_tensors(tmp_path, bool) == {}
        save_file({"x": torch.ones(2)}, tmp_path / "b.safetensors")
        assert read_tensors(tmp_path, bool).keys() == {"x"}
    finally:
        os.close(held)
