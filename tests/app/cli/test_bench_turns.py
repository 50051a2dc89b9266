"""What `bench` asks of a prompt file."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from app.cli.bench_turns import all_turns
from app.config.settings import Settings
from app.text.prompt_file import Request
from decoding.tokenizing.stopping import Stop


class OneWord:
    """A lane that answers the number of the question."""

    text = "0"

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
    lane: Any = OneWord()
    settings = Settings.model_validate({})
    asked, left_out = all_turns(settings, requests, lane, models, lambda text: None)
    said = [[each["content"] for each in turn.question.messages] for turn in asked]
    assert said == [["a"], ["a", "1", "b"], [], ["d"], ["d", "3", "e"]]
    assert [len(turn.ids) for turn in asked] == [1, 3, 2, 1, 3]
    assert [turn.category for turn in asked] == ["letters", "letters", None, None, None]
    assert left_out == 1
    assert len({turn.question.seed for turn in asked}) == len(asked)
