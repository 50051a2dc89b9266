"""What the README shows works, and its commands are those that the CI runs."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
MODELS = (ROOT / "app" / "models" / "README.md").read_text(encoding="utf-8")
REFERENCE = (ROOT / "app" / "cli" / "README.md").read_text(encoding="utf-8")


def test_the_library_example_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    monkeypatch.chdir(ROOT)
    exec(compile(example, "README.md", "exec"), {})
    *lines, answer = capsys.readouterr().out.splitlines()
    assert lines and all(re.match(r"\d+ \d+ ['\"]", line) for line in lines)
    assert "draft model" in answer and answer.endswith(".")


def test_the_document_table_names_every_field() -> None:
    from app.report.document import LANE_FIELDS

    named = set(re.findall(r"`(\w+)`", REFERENCE))
    assert set(LANE_FIELDS) <= named


def test_the_first_two_commands_set_everything_up() -> None:
    run, test = re.findall(r"```sh\n(.*?)```", README, re.DOTALL)[:2]
    assert run.strip().endswith(".venv/bin/specchat") and "pip install -q -e ." in run
    assert test.strip().endswith(".venv/bin/pytest")


@pytest.mark.parametrize("text", re.findall(r"```toml\n(.*?)```", MODELS + REFERENCE, re.DOTALL))
def test_the_settings_can_be_used(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from app.config import settings

    monkeypatch.setattr(settings, "config_file", lambda: tmp_path / "config.toml")
    (tmp_path / "config.toml").write_text(text)
    assert settings.load_settings({}).model_fields_set == tomllib.loads(text).keys()


def test_every_link_leads_somewhere() -> None:
    folders = ("app", "decoding", "assets", "tests", ".github")
    pages = [path for folder in folders for path in (ROOT / folder).rglob("*.md")]
    for page in (ROOT / "README.md", *pages):
        for link in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert link.startswith("http") or (page.parent / link).exists(), (page, link)
