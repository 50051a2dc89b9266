"""Reading chat JSONL.

A record is `{"messages": [{"role", "content"}, ...]}` (OpenAI chat form) or `{"text": ...}`; other
fields are metadata. Files may be gzipped.
"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Record = dict[str, Any]


@dataclass(frozen=True)
class DataSource:
    """A file, its number of repeats (below 1: a seeded sample), and a metadata filter."""

    path: Path
    repeat: float = 1.0
    where: tuple[str, str] | None = None

    @classmethod
    def parse(cls, text: str) -> DataSource:
        """Parse `FILE[:REPEAT[:KEY=VALUE]]`."""
        path, _, rest = text.partition(":")
        repeat, _, where = rest.partition(":")
        key, _, value = where.partition("=")
        return cls(Path(path), float(repeat or 1), (key, value) if where else None)

    def read(self, seed: int = 0) -> Iterator[Record]:
        records = [
            record for record in read_jsonl(self.path)
            if self.where is None or str(record.get(self.where[0])) == self.where[1]
        ]  # fmt: skip
        whole, part = divmod(self.repeat, 1)
        for _ in range(int(whole)):
            yield from records
        yield from random.Random(seed).sample(records, round(part * len(records)))


def read_jsonl(path: Path) -> Iterator[Record]:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)


def read_sources(sources: Iterable[str], seed: int = 0) -> Iterator[Record]:
    for source in sources:
        yield from DataSource.parse(source).read(seed)
