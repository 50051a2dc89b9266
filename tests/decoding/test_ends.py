"""Where a generation ends: end-of-sequence ids, stop texts, wherever they fall in a round."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from decoding.decoder import Decoder
from decoding.drafters.draft_model import DraftModel
from decoding.errors import InputError
from decoding.model.target import Target
from decoding.params import Params, SamplingParams
from decoding.tokenizing.stopping import Stop
from tests.support.families import build, draft, hf_greedy, target
from tests.support.random_trees import Oracle

PROMPT = (3, 7, 9, 11, 2, 3, 7)
TRUTH = hf_greedy("llama", PROMPT, 16)
FIRST_SEEN = [i for i, token in enumerate(TRUTH) if TRUTH.index(token) == i]


def oracle_answer(gamma: int, stop: Stop, new: int = 16) -> Decoder:
    decoder = Decoder(target("llama"), Oracle(len(PROMPT), TRUTH))
    for _ in decoder.generate(PROMPT, Params(gamma=gamma, max_new_tokens=new), stop=stop):
        pass
    return decoder


def test_stop_texts_need_text() -> None:
    with pytest.raises(ValueError, match="need a function that decodes"):
        Stop(texts=("END",)).cut([], [1, 2])
    with pytest.raises(ValueError, match="must not be empty"):  # every text contains it
        Stop(texts=("END", ""), decode=str)


@pytest.mark.parametrize("gamma", [0, 1, 3, 9])
@pytest.mark.parametrize("position", FIRST_SEEN)
def test_eos_at_every_place_of_a_round(position: int, gamma: int) -> None:
    """Everything behind it was accepted as well, and must not come out."""
    decoder = oracle_answer(gamma, Stop(frozenset({TRUTH[position]})))
    assert decoder.generated == TRUTH[: position + 1]
    assert decoder.generated == hf_greedy("llama", PROMPT, 16, [TRUTH[position]])
    assert decoder.finished == "stop"


@pytest.mark.parametrize("gamma", [1, 4, 9])
def test_the_earliest_of_several_eos_ids_counts(gamma: int) -> None:
    early, late = FIRST_SEEN[2], FIRST_SEEN[4]
    decoder = oracle_answer(gamma, Stop(frozenset({TRUTH[late], TRUTH[early], 60})))
    assert decoder.generated == TRUTH[: early + 1]


def test_eos_as_the_very_first_token() -> None:
    decoder = oracle_answer(4, Stop(frozenset({TRUTH[0]})))
    assert decoder.generated == TRUTH[:1]
    assert decoder.finished == "stop"


def test_eos_as_the_last_allowed_token_is_a_stop() -> None:
    position = FIRST_SEEN[3]
    decoder = oracle_answer(9, Stop(frozenset({TRUTH[position]})), new=position + 1)
    assert decoder.generated == TRUTH[: position + 1]
    assert decoder.finished == "stop"


def test_eos_behind_the_last_allowed_token_does_not_count() -> None:
    position = FIRST_SEEN[3]
    decoder = oracle_answer(9, Stop(frozenset({TRUTH[position]})), new=position)
    assert decoder.generated == TRUTH[:position]
    assert decoder.finished == "length"


def test_a_round_cut_by_eos_has_no_bonus_and_counts_only_what_stayed() -> None:
    position = FIRST_SEEN[3]
    decoder = Decoder(target("llama"), Oracle(len(PROMPT), TRUTH))
    stop = Stop(frozenset({TRUTH[position]}))
    *_, last = decoder.generate(PROMPT, Params(gamma=9, max_new_tokens=16), stop=stop)
    assert last.drafted == 9
    assert last.emitted == tuple(TRUTH[1 : position + 1])
    assert last.accepted == tuple(range(1, position + 1))
    assert last.tested == position


@pytest.mark.parametrize("gamma", [0, 1, 4])
def test_a_second_turn_after_a_round_cut_by_eos(gamma: int) -> None:
    """The rows of what was accepted behind the EOS are gone from every cache."""
    position = FIRST_SEEN[4]
    drafter = DraftModel(draft("llama", noise=0.0), target("llama").vocab_size)
    decoder = Decoder(target("llama"), drafter)
    params = Params(gamma=gamma, max_new_tokens=16)
    stop = Stop(frozenset({TRUTH[position]}))
    for _ in decoder.generate(PROMPT, params, stop=stop):
        pass
    second = [*PROMPT, *decoder.generated, 5, 6]
    for _ in decoder.generate(second, params):
        pass
    assert decoder.generated == hf_greedy("llama", second, 16)


# --- Stop.cut --------------------------------------------------------------------------------

LETTERS = "abcdefgh"


def spell(ids: Sequence[int]) -> str:
    """Tokens of one to three letters."""
    return "".join("abc"[i % 3] * (i // 3 + 1) for i in ids)


def first_end(ids: Sequence[int], eos: frozenset[int], texts: tuple[str, ...]) -> int | None:
    """One token at a time, with the whole text."""
    for i, token in enumerate(ids):
        if token in eos or any(t in spell(ids[: i + 1]) for t in texts):
            return i + 1
    return None


@given(
    ids=st.lists(st.integers(0, 8), min_size=1, max_size=40),
    sizes=st.lists(st.integers(1, 6), min_size=1),
    eos=st.frozensets(st.integers(0, 8), max_size=1),
    texts=st.lists(st.text("abc", min_size=1, max_size=5), max_size=3).map(tuple),
)
def test_the_end_is_the_same_however_the_tokens_arrive(
    ids: list[int], sizes: list[int], eos: frozenset[int], texts: tuple[str, ...]
) -> None:
    stop = Stop(eos, texts, spell)
    done: list[int] = []
    end = None
    while end is None and len(done) < len(ids):
        emitted = ids[len(done) : len(done) + sizes[len(done) % len(sizes)]]
        cut = stop.cut(done, emitted)
        if cut is not None:
            end = len(done) + cut
        done += emitted
    assert end == first_end(ids, eos, texts)


@pytest.mark.parametrize("text", ["\ufffd", "a\ufffd"])
def test_half_a_character_is_no_stop_text(text: str) -> None:
    def decode(ids: Sequence[int]) -> str:
        return bytes(ids).decode(errors="replace")

    stop, ids = Stop(texts=(text,), decode=decode), list("aé.".encode())
    assert all(stop.cut(ids[:i], ids[i : i + 1]) is None for i in range(len(ids)))
    broken = [*b"a", 255, *b"."]
    assert stop.cut([], broken) == stop.cut(broken[:2], broken[2:]) + 2  # type: ignore[operator]


def test_a_round_without_a_stop_text_is_decoded_once() -> None:
    decoded = []

    def decode(ids: Sequence[int]) -> str:
        decoded.append(list(ids))
        return spell(ids)

    assert Stop(texts=("xyz",), decode=decode).cut([0, 1], [2, 3, 4]) is None
    assert decoded == [[0, 1, 2, 3, 4]]


@pytest.mark.parametrize(
    "text, trimmed",
    [("one END two STOP", "one "), ("STOP", ""), ("none", "none")],
)
def test_trim_leaves_the_earliest_stop_text_out(text: str, trimmed: str) -> None:
    assert Stop(texts=("STOP", "END")).trim(text) == trimmed


@pytest.mark.parametrize("gamma", [0, 1, 4])
def test_a_stop_text_that_spans_tokens_and_rounds(gamma: int) -> None:
    def decode(ids: Sequence[int]) -> str:
        return " ".join(map(str, ids))

    wanted = decode(TRUTH[4:7])
    stop = Stop(texts=(wanted,), decode=decode)
    decoder = oracle_answer(gamma, stop)
    assert decoder.generated == TRUTH[:7]
    assert decoder.finished == "stop"


def breaks_at(token: int) -> Target:
    """Its logits are NaN as soon as it has seen this token."""
    model = build("llama")
    weight = model.get_input_embeddings().get_parameter("weight")
    with torch.no_grad():
        weight[token] = float("nan")
    return Target(model)


@pytest.mark.parametrize(
    "params",
    [
        Params(max_new_tokens=16),
        Params(SamplingParams(0.7, top_k=20, top_p=0.9), max_new_tokens=16),
        Params(SamplingParams(0.7), acceptance="typical", max_new_tokens=16),
    ],
    ids=["greedy", "sampled", "typical"],
)
@pytest.mark.parametrize("drafts", ["none", "copied", "drawn"])
def test_logits_that_are_not_numbers_end_it(drafts: str, params: Params) -> None:
    def decoder_on(model: Target) -> Decoder:
        drawn = DraftModel(draft("llama"), model.vocab_size)
        drafter = {"none": None, "copied": Oracle(len(PROMPT), TRUTH), "drawn": drawn}[drafts]
        return Decoder(model, drafter)

    sound = decoder_on(target("llama"))
    for _ in sound.generate(PROMPT, params):
        pass
    broken = decoder_on(breaks_at(sound.generated[5]))
    with pytest.raises(InputError, match=r"not numbers .NaN or infinite. after \d+ tokens"):
        for _ in broken.generate(PROMPT, params):
            pass
    assert broken.generated == sound.generated[: len(broken.generated)]
    with pytest.raises(RuntimeError, match="call `start`"):
        broken.step(params)


def test_logits_that_never_were_numbers() -> None:
    decoder = Decoder(breaks_at(PROMPT[0]))
    with pytest.raises(InputError, match="not numbers"):
        decoder.start(PROMPT, Params(), 0)


def test_a_prompt_without_what_broke_the_one_before_is_answered() -> None:
    """Within a pass 0 x NaN is NaN: rows before the broken one can't be kept for it."""
    unused = next(token for token in range(64) if token not in (*PROMPT, *TRUTH))
    decoder = Decoder(breaks_at(unused))
    with pytest.raises(InputError, match="not numbers"):
        decoder.start([*PROMPT, unused], Params(), 0)
    for _ in decoder.generate(PROMPT, Params(max_new_tokens=8)):
        pass
    assert decoder.generated == TRUTH[:8]
