"""A draft model with another tokenizer."""

from __future__ import annotations

import torch

from decoding.decoder import Decoder
from decoding.drafters.base import DraftContext
from decoding.drafters.draft_model import DraftModel
from decoding.drafters.universal import UniversalDraft
from decoding.model.prefix import common_prefix_length
from decoding.params import Params, SamplingParams
from tests.decoding.tokenizing.test_retokenizer import TEXT, byte_level, encode
from tests.support.paper_target import PaperTarget

TARGET, DRAFT = byte_level(300), byte_level(275)
CPU = torch.device("cpu")


class Knowing(PaperTarget):
    """Goes on with the text, in the draft model's ids."""

    def _logits(self, ids: tuple[int, ...]) -> torch.Tensor:
        text = encode(DRAFT, TEXT)
        following = text[len(ids)] if ids == tuple(text[: len(ids)]) and ids != tuple(text) else 5
        return super()._logits(ids).index_put((torch.tensor(following),), torch.tensor(99.0))


def drafter(
    kind: type[PaperTarget] = PaperTarget, target_vocab: int = len(TARGET)
) -> UniversalDraft:
    model = DraftModel(kind(len(DRAFT), seed=1), len(DRAFT))  # type: ignore[arg-type]
    return UniversalDraft(model, TARGET, DRAFT, target_vocab, CPU)


def test_what_it_keeps_of_earlier_rounds_changes_no_draft() -> None:
    """The paper model's logits depend on every id before: one wrong row would show."""
    ids = encode(TARGET, TEXT)
    params = Params(SamplingParams(1.0), gamma=4)
    kept = drafter()
    kept.start(ids[:9])
    proposed = 0
    for end in range(9, len(ids)):
        context = DraftContext(ids[:end], 4, params, torch.Generator())
        fresh = drafter()
        fresh.start(ids[:end])
        mine, expected = kept.propose(context), fresh.propose(context)
        assert (mine is None) == (expected is None)
        if mine is not None and expected is not None:
            assert mine.q is None  # nothing is drawn, at any temperature
            assert mine.tree.tokens.tolist() == expected.tree.tokens.tolist()
            assert 1 < len(mine.tree) <= 5 and mine.tree.tokens[0] == ids[end - 1]
            proposed += 1
        kept.observe(ids[: end + 1], 0)
    assert proposed > len(ids) / 2


def test_one_that_knows_the_text_is_accepted() -> None:
    ids = encode(TARGET, TEXT)
    knowing = drafter(Knowing)
    knowing.start(ids[:5])
    at, rounds = 5, 0
    while at < len(ids) - 1:
        draft = knowing.propose(DraftContext(ids[:at], 6, Params(), torch.Generator()))
        tokens = [] if draft is None else draft.tree.tokens[1:].tolist()
        stay = common_prefix_length(tokens, ids[at:])
        at, rounds = at + stay + 1, rounds + 1
        knowing.observe(ids[:at], stay)
    assert (len(ids) - 5) / rounds > 3


def test_a_token_that_the_target_has_no_row_for_ends_the_draft() -> None:
    ids = encode(TARGET, TEXT)

    def drafted(target_vocab: int) -> list[int]:
        knowing = drafter(Knowing, target_vocab)
        knowing.start(ids[:5])
        draft = knowing.propose(DraftContext(ids[:5], 6, Params(), torch.Generator()))
        return [] if draft is None else draft.tree.tokens[1:].tolist()

    whole = drafted(len(TARGET))
    highest = max(whole)
    assert drafted(highest) == whole[: whole.index(highest)] != []
    assert drafted(0) == []


def test_it_starts_again_with_every_prompt() -> None:
    """Also with one that leaves it nothing to read."""
    target = PaperTarget(len(TARGET), seed=2)
    plain, drafting = Decoder(target), Decoder(target, drafter())  # type: ignore[arg-type]
    params = Params(max_new_tokens=12, gamma=3)
    for prompt in (encode(TARGET, "the cat sat"), encode(TARGET, "é")[:1], encode(TARGET, "on")):
        for decoder in (plain, drafting):
            list(decoder.generate(prompt, params))
        assert drafting.generated == plain.generated


def test_a_prompt_that_leaves_it_nothing_to_read_ends_the_one_before() -> None:
    """Of a part of a character the draft model sees nothing until it is complete."""
    ids = encode(TARGET, "🐈" + TEXT)
    kept = drafter()
    kept.start(encode(TARGET, "on the mat"))
    kept.start(ids[:1])
    proposed = 0
    for end in range(5, 20):
        fresh = drafter()
        fresh.start(ids[:end])
        context = DraftContext(ids[:end], 4, Params(), torch.Generator())
        mine, expected = kept.propose(context), fresh.propose(context)
        assert (mine is None) == (expected is None)
        if mine is not None and expected is not None:
            assert mine.tree.tokens.tolist() == expected.tree.tokens.tolist()
            proposed += 1
    assert proposed
