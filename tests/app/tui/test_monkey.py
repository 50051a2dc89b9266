"""Whatever is typed, clicked and pasted: nothing breaks, no prompt is lost, all can be undone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.app.tui.monkey import session


@pytest.mark.parametrize("seed", [1, 2])
async def test_a_short_session(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert await session(seed, 40) > 0
