"""An answer that was interrupted goes on as if it had not been, with or without its caches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest

from decoding.decoder import Decoder
from decoding.drafters.draft_model import DraftModel
from decoding.drafters.lookup import Lookup
from decoding.drafters.suffix import Suffix
from decoding.errors import InputError
from decoding.model.target import Target
from decoding.params import Params, SamplingParams
from decoding.round import Round
from decoding.tokenizing.stopping import Stop
from decoding.trees.static import NAMED_TREES
from tests.decoding.drafters.test_medusa import medusa
from tests.support.eagle_drafts import eagle
from tests.support.families import FAMILIES, HYBRIDS, build, draft, hf_greedy, target

PROMPT = (3, 7, 9, 11, 2, 3, 7)
NEW = 16
GREEDY = Params(gamma=3, max_new_tokens=NEW)
SAMPLED = Params(SamplingParams(temperature=1.3), gamma=3, max_new_tokens=NEW)


def plain(family: str) -> Decoder:
    return Decoder(target(family))


def with_features(make: Callable[[Target], Decoder]) -> Decoder:
    return make(Target(build("llama")))  # capturing layers changes the target


QWEN = target("qwen2")
DECODERS: dict[str, Callable[[], Decoder]] = {
    **{family: partial(plain, family) for family in (*FAMILIES, *HYBRIDS)},
    "draft": lambda: Decoder(QWEN, DraftModel(draft("qwen2"), QWEN.vocab_size)),
    "lookup": lambda: Decoder(target("llama"), Lookup(target("llama").device)),
    "suffix": lambda: Decoder(target("llama"), Suffix(target("llama").device)),
    "medusa": lambda: with_features(lambda on: medusa(on, NAMED_TREES["wide"])),
    "eagle": lambda: with_features(lambda on: Decoder(on, eagle(on, "eagle3"))),
    "eagle1": lambda: with_features(lambda on: Decoder(on, eagle(on, "eagle1"))),
}  # fmt: skip


def rest_of(decoder: Decoder, params: Params) -> list[Round]:
    rounds = []
    while not decoder.finished:
        rounds.append(decoder.step(params))
    return rounds


def interrupted(decoder: Decoder, after: int, params: Params) -> list[Round]:
    decoder.start(PROMPT, params, seed=5)
    return [decoder.step(params) for _ in range(after)]


def resumed(decoder: Decoder, said: list[int], done: list[Round], params: Params) -> list[Round]:
    drawn = 0 if params.sampling.greedy else len(said)
    decoder.resume(PROMPT, said, len(done), seed=5, drawn=drawn)
    return rest_of(decoder, params)


@pytest.mark.parametrize("name", DECODERS)
def test_greedy_ids_are_those_of_an_answer_that_ran_through(name: str) -> None:
    family = {"draft": "qwen2"}.get(name, name if name in (*FAMILIES, *HYBRIDS) else "llama")
    truth = hf_greedy(family, PROMPT, NEW)
    for after in (0, 1, 3):
        decoder = DECODERS[name]()
        done = interrupted(decoder, after, GREEDY)
        said = list(decoder.generated)
        assert len(said) < NEW
        for again in (decoder, DECODERS[name]()):
            rounds = resumed(again, said, done, GREEDY)
            assert again.generated == truth, (after, again is decoder)
            assert again.finished == "length" and rounds[0].index == after


@pytest.mark.parametrize("name", ["llama", "lookup", "medusa", "eagle"])
@pytest.mark.parametrize("after", [0, 1, 3])
def test_draws_are_those_that_would_have_followed(name: str, after: int) -> None:
    """Of strategies that do not sample their drafts."""
    whole = DECODERS[name]()
    interrupted(whole, 0, SAMPLED)
    rest_of(whole, SAMPLED)
    decoder = DECODERS[name]()
    done = interrupted(decoder, after, SAMPLED)
    said = list(decoder.generated)
    for again in (decoder, DECODERS[name]()):
        resumed(again, said, done, SAMPLED)
        assert again.generated == whole.generated


def test_penalties_act_on_the_same_tokens_and_rounds_are_the_same() -> None:
    """That is, the answer is not taken for part of the prompt."""
    params = Params(SamplingParams(presence_penalty=2.0), gamma=3, max_new_tokens=NEW)
    whole = DECODERS["lookup"]()
    rounds = [*interrupted(whole, 0, params), *rest_of(whole, params)]
    decoder = DECODERS["lookup"]()
    done = interrupted(decoder, 2, params)
    again = DECODERS["lookup"]()
    done += resumed(again, list(decoder.generated), done, params)
    assert again.generated == whole.generated
    assert [r.emitted for r in done] == [r.emitted for r in rounds]
    assert not again.context_full


def test_what_cannot_be_resumed_is_refused() -> None:
    decoder = DECODERS["llama"]()
    with pytest.raises(ValueError, match="started"):
        decoder.resume(PROMPT, [], 0, seed=5)
    long = [3] * (decoder.target.context + 2)
    with pytest.raises(InputError, match="context holds"):
        decoder.resume(PROMPT, long, 0, seed=5)
    with pytest.raises(InputError, match="the token id 9999"):
        decoder.resume(PROMPT, [3, 9999], 0, seed=5)


@pytest.mark.parametrize("name", ["llama", "draft", "lookup"])
def test_a_start_within_an_answer_counts_its_tokens(name: str) -> None:
    """For the presence penalty, and for stop texts that begin in them."""
    penalized = replace(GREEDY, sampling=SamplingParams(presence_penalty=2.0))
    decoder = DECODERS[name]()
    interrupted(decoder, 0, penalized)
    rest_of(decoder, penalized)
    truth = decoder.generated
    decoder.start([*PROMPT, *truth[:8]], penalized, seed=5, answered=8)
    rest_of(decoder, penalized)
    assert decoder.generated[:8] == truth[8:]
    across = Stop(
        texts=(f"{truth[7]},{truth[8]},",), decode=lambda ids: "".join(f"{i}," for i in ids)
    )
    decoder.start([*PROMPT, *truth[:8]], penalized, seed=5, stop=across, answered=8)
    assert decoder.finished == "stop" and decoder.generated == truth[8:9]


NO_STATES = [name for name in DECODERS if name not in HYBRIDS]


@pytest.mark.parametrize(
    ("name", "later"),
    [*((name, False) for name in NO_STATES),
     *((name, True) for name in NO_STATES if not name.startswith("eagle"))],
)  # fmt: skip
def test_a_round_that_was_interrupted_may_be_run_again(
    name: str, later: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the target's pass, or while its tokens are decoded to look for a stop text (`later`)."""
    decoder = DECODERS[name]()
    interrupted(decoder, 1, GREEDY)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        owner: object = Stop if later else decoder.target
        patch.setattr(owner, "cut" if later else "forward", interrupt)
        for _ in range(2):
            with pytest.raises(KeyboardInterrupt):
                decoder.step(GREEDY)
    rest_of(decoder, GREEDY)
    family = {"draft": "qwen2"}.get(name, name if name in FAMILIES else "llama")
    assert decoder.generated == hf_greedy(family, PROMPT, NEW)
