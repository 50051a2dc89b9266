"""The real thing: `transformers serve` on the demo target says what our own lane says."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from transformers.utils.import_utils import is_serve_available

from app.models.library import demo
from tests.conftest import Specchat
from tests.support.served import assert_sampled, serving

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not is_serve_available(),
        reason="transformers serve needs fastapi, uvicorn and openai: pip install 'specchat[test]'",
    ),
]

# float32: in the checkpoint's bfloat16 near ties can turn out otherwise than here
SERVE = [sys.executable, "-m", "transformers.cli.transformers", "serve"]
SERVE += ["--device", "cpu", "--dtype", "float32"]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving([*SERVE, str(demo().target)], tmp_path_factory.mktemp("serve") / "log") as url:
        yield url


def test_it_says_what_the_target_says(specchat: Specchat, url: str) -> None:
    flags = ["--server", f"hf={url}", "--strategies", "ar", "--dtype", "float32"]
    prompts = "\n".join(
        json.dumps({"turns": turns})
        for turns in (["What is a fox?", "Where does it live?"], ["Count to five."])
    )
    done = specchat(
        "run", *flags, "--max-new-tokens", "24", "--prompts", "-", "--json", stdin=prompts
    )
    assert done.returncode == 0, done.stderr
    for run in json.loads(done.stdout)["runs"]:
        ar, hf = run["lanes"]
        assert hf["finish_reason"] == ar["finish_reason"]
        assert hf["text"] == ar["text"] and hf["same_text"] is True
        assert hf["ttft_seconds"] > 0 and hf["tokens_per_second"] > 0
        assert abs(hf["tokens"] - ar["tokens"]) <= 1  # an end token may count


def test_a_setting_that_it_does_not_know_is_its_own_line(specchat: Specchat, url: str) -> None:
    flags = ["--server", url, "--prompt", "Hello"]
    done = specchat("run", *flags, "--ignore-eos")
    assert done.returncode == 1 and "422 Unprocessable" in done.stdout
    assert "Unexpected fields in the request: {'ignore_eos'}" in done.stdout
    done = specchat("run", *flags, "--presence-penalty", "1")
    assert done.returncode == 1 and "ignores presence_penalty" in done.stdout


def test_it_samples_as_it_is_asked_to(specchat: Specchat, url: str, tmp_path: Path) -> None:
    assert_sampled(specchat, url, tmp_path)


def test_several_at_once(specchat: Specchat, url: str) -> None:
    prompts = "\n".join(json.dumps({"prompt": f"Say {n}."}) for n in range(4))
    flags = ["--server", url, "--concurrency", "4", "--max-new-tokens", "8", "--prompts", "-"]
    done = specchat("run", *flags, "--json", stdin=prompts)
    assert done.returncode == 0, done.stderr
    (load,) = json.loads(done.stdout)["load"]
    assert load["requests"] == 4 and load["failed"] == 0 and load["tokens"] >= 4


def test_its_answers_are_those_that_the_target_would_give_to_train_on(
    specchat: Specchat, url: str, tmp_path: Path
) -> None:
    prompts, here, there = (tmp_path / f"{name}.jsonl" for name in ("prompts", "here", "there"))
    asked = (["Hello!", "Who are you?"], ["What is a fox?"], ["Tell me a story about a robot."])
    prompts.write_text("".join(json.dumps({"turns": turns}) + "\n" for turns in asked))
    distill = ("heads", "distill", "--prompts", str(prompts), "--max-new-tokens", "32")
    from_server = (*distill, "--server", url, "--concurrency", "2", "--out", str(there))
    done = specchat(*from_server)
    assert done.returncode == 0 and "3/3 conversations · " in done.stderr, done.stderr
    local = ("--target", str(demo().target), "--device", "cpu", "--out", str(here))
    assert specchat(*distill, *local).returncode == 0

    def answers(path: Path) -> dict[str, tuple[str, list[dict[str, str]]]]:
        records = [json.loads(line) for line in path.read_text().splitlines()]
        return {
            record["messages"][0]["content"]: (record["finish_reason"], record["messages"])
            for record in records
        }

    assert answers(there) == answers(here)
    assert {reason for reason, _ in answers(there).values()} == {"stop", "length"}

    lines = there.read_bytes().splitlines(keepends=True)
    there.write_bytes(lines[0] + lines[1][:40])  # killed
    assert specchat(*from_server).returncode == 0
    assert answers(there) == answers(here)


def test_two_models_of_one_server_are_two_lanes(specchat: Specchat, tmp_path: Path) -> None:
    models = {"big": demo().target, "small": demo().drafters["draft"]}
    with serving(SERVE, tmp_path / "log") as url:
        lanes = [("--server", f"{name}={url}#{model}") for name, model in models.items()]
        flags = [flag for lane in lanes for flag in lane]
        prompt = ("--prompt", "Tell me a story about a fox.", "--max-new-tokens", "40")
        both = ("--strategies", "ar,draft-only", "--dtype", "float32", "--json")
        done = specchat("run", *flags, *prompt, *both)
    assert done.returncode == 0, done.stderr
    ar, draft, big, small = json.loads(done.stdout)["runs"][0]["lanes"]
    assert big["text"] == ar["text"] != draft["text"] == small["text"]
