"""What `bench` asks of a prompt file."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from app.cli.bench_turns import all_turns
from app.config.settings import Settings
from app.text.prompt_file import Request
from decoding.errors import InputError
from decoding.tokenizing.stopping import Stop


class Broken:
    """A lane that fails."""

    spec = SimpleNamespace(name="broken")

    def generate(self, ids: list[int], params: object, seed: int, stop: Stop) -> None:
        raise RuntimeError("out of memory")


class OneWord:
    """A lane that answers the number of the question."""

    text, spec = "0", SimpleNamespace(name="word")

    def generate(self, ids: list[int], params: object, seed: int, stop: Stop) -> None:
        self.text = str(int(self.text) + 1)


def test_later_turns_follow_the_answers_as_far_as_there_is_room() -> None:
    models: Any = SimpleNamespace(
        context=3,
        target=SimpleNamespace(vocab_size=9),
        encode=lambda messages, raw: [0] * len(messages),
        stop=lambda *arguments: Stop(),
    )
    requests = [
        Request(turns=("a", "b", "c"), category="letters"),
        Request(input_ids=(5, 6)),
        Request(turns=("d", "e")),
    ]
    broken: Any = Broken()
    lanes: Any = [broken, OneWord()]
    settings, failed = Settings.model_validate({}), dict[str, str]()
    asked, left_out = all_turns(settings, requests, lanes, models, lambda text: None, failed)
    assert failed == {"broken": "RuntimeError: out of memory"}
    said = [[each["content"] for each in turn.question.messages] for turn in asked]
    assert said == [["a"], ["a", "1", "b"], [], ["d"], ["d", "3", "e"]]
    assert [len(turn.ids) for turn in asked] == [1, 3, 2, 1, 3]
    assert [turn.category for turn in asked] == ["letters", "letters", None, None, None]
    assert left_out == 1
    with pytest.raises(InputError, match="^broken: RuntimeError: out of memory$"):
        all_turns(settings, requests, [broken], models, lambda text: None, {})
    assert len({turn.question.seed for turn in asked}) == len(asked)
