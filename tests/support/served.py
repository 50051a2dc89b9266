"""Real serving engines of the demo's target, in processes of their own."""

from __future__ import annotations

import json
import socket
import subprocess
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from app.models.library import demo
from decoding.params import SamplingParams
from decoding.verification.sampling import probabilities
from tests.conftest import Specchat
from tests.support.chi_square import assert_drawn_from

STARTS_WITHIN = 240.0  # seconds, on a busy machine
PROMPT = "Tell me a story."
DRAWS = 250
# The first has much beyond any engine's own top-k and min-p, the second only its own nucleus.
SETTINGS = (SamplingParams(2.0), SamplingParams(1.5, top_p=0.7))


@contextmanager
def serving(command: Sequence[str], log: Path) -> Iterator[str]:
    """The address of a server, once it has loaded its model."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [*command, "--host", "127.0.0.1", "--port", str(port)]
    url = f"http://127.0.0.1:{port}"
    with log.open("wb") as out, subprocess.Popen(command, stdout=out, stderr=out) as process:
        try:
            until = time.monotonic() + STARTS_WITHIN
            while not _healthy(url):
                assert process.poll() is None and time.monotonic() < until, log.read_text()
                time.sleep(0.2)
            yield url
        finally:
            process.kill()


def _healthy(url: str) -> bool:
    try:
        with urlopen(f"{url}/health", timeout=5.0):
            return True
    except (URLError, TimeoutError):
        return False


def assert_sampled(specchat: Specchat, url: str, folder: Path) -> None:
    """The first tokens of a server of the demo's target have the target's distribution."""
    prompts = folder / "prompts.jsonl"
    prompts.write_text(json.dumps({"prompt": PROMPT}) + "\n")
    for number, sampling in enumerate(SETTINGS):
        out = folder / f"answers-{number}.jsonl"
        done = specchat(
            "heads", "distill", "--server", url, "--prompts", f"{prompts}:{DRAWS}",
            "--temperature", str(sampling.temperature), "--top-p", str(sampling.top_p),
            "--max-new-tokens", "1", "--concurrency", "1", "--out", str(out),
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        answers = [json.loads(line)["messages"][-1]["content"] for line in out.open()]
        assert len(answers) == DRAWS
        assert_drawn_from((_shown(answer) for answer in answers), _first_words(sampling))


def _first_words(sampling: SamplingParams) -> dict[str, float]:
    """The probability of each text that one token may have."""
    folder = str(demo().target)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    ids = tokenizer.apply_chat_template(
        [{"role": "user", "content": PROMPT}], add_generation_prompt=True, return_dict=False
    )
    with torch.no_grad():
        logits = model(torch.tensor([ids])).logits[:, -1]
    found: dict[str, float] = defaultdict(float)
    for token, probability in enumerate(probabilities(logits, sampling)[0].tolist()):
        found[_shown(str(tokenizer.decode([token], skip_special_tokens=True)))] += probability
    return found


def _shown(text: str) -> str:
    """Of a token that is a part of a character some servers send nothing."""
    return "" if "\ufffd" in text else text
