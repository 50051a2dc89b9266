"""Chat JSONL is read, repeated, sampled and filtered."""

from __future__ import annotations

import gzip
from pathlib import Path

from decoding.training.data import Record, read_sources


def test_sources_repeat_sample_and_filter(data_file: Path, records: list[Record]) -> None:
    assert list(read_sources([str(data_file)])) == records
    assert len(list(read_sources([f"{data_file}:2"]))) == 10
    assert len(list(read_sources([f"{data_file}:1.4"]))) == 7
    odd = list(read_sources([f"{data_file}:3:kind=odd"]))
    assert len(odd) == 6 and all(record["kind"] == "odd" for record in odd)


def test_gzipped_files_are_read(data_file: Path, tmp_path: Path) -> None:
    packed = tmp_path / "train.jsonl.gz"
    packed.write_bytes(gzip.compress(data_file.read_bytes()))
    assert list(read_sources([str(packed)])) == list(read_sources([str(data_file)]))
