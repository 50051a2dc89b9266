"""Chat JSONL is read, repeated, sampled and filtered."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from decoding.errors import InputError
from decoding.training.data import Record, read_sources


def test_sources_repeat_sample_and_filter(data_file: Path, records: list[Record]) -> None:
    assert list(read_sources([str(data_file)])) == records
    assert len(list(read_sources([f"{data_file}:2"]))) == 10
    assert len(list(read_sources([f"{data_file}:1.4"]))) == 7
    odd = list(read_sources([f"{data_file}:3:kind=odd"]))
    assert len(odd) == 6 and all(record["kind"] == "odd" for record in odd)


@pytest.mark.parametrize("source", ["a:b", "a:0", "a:-1", "a:nan", "a:inf", "a:99999999999999"])
def test_repeats_are_numbers(source: str) -> None:
    with pytest.raises(InputError, match="FILE:REPEAT with a number above 0"):
        list(read_sources([source]))


def test_a_bad_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl"
    path.write_text('{"text": "fine"}\n{"text": ')
    with pytest.raises(InputError, match=r"data\.jsonl:2: not valid JSON"):
        list(read_sources([str(path)]))
    path.write_text('{"text": "fine"}\n{"prompt": "Hi"}\n')
    with pytest.raises(InputError, match=r"data\.jsonl:2: neither text nor messages to learn"):
        list(read_sources([str(path)]))
    (tmp_path / "cut.jsonl.gz").write_bytes(gzip.compress(path.read_bytes())[:-9])
    with pytest.raises(InputError, match="can't read .*cut"):
        list(read_sources([str(tmp_path / "cut.jsonl.gz")]))


def test_gzipped_files_are_read(data_file: Path, tmp_path: Path) -> None:
    packed = tmp_path / "train.jsonl.gz"
    packed.write_bytes(gzip.compress(data_file.read_bytes()))
    assert list(read_sources([str(packed)])) == list(read_sources([str(data_file)]))
