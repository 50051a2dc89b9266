"""Whatever is typed, clicked and pasted: nothing breaks, no prompt is lost, all can be undone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.app.tui.monkey import session


async def test_a_short_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert await session(1, 40) > 0
