"""Which draft tokenizers a target can work with."""

from __future__ import annotations

from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from decoding.tokenizing.vocabulary import first_difference

ALPHABET = sorted(pre_tokenizers.ByteLevel.alphabet())


def tokenizer(
    merges: tuple[tuple[str, str], ...] = (("t", "e"), ("te", "a")),
    vocab: dict[str, int] | None = None,
    special: tuple[str, ...] = ("<eos>",),
    digits: bool = False,
) -> PreTrainedTokenizerFast:
    if vocab is None:
        vocab = {t: i for i, t in enumerate([*ALPHABET, *(a + b for a, b in merges)])}
    bpe = Tokenizer(models.BPE(vocab=vocab, merges=list(merges)))
    level = pre_tokenizers.ByteLevel(add_prefix_space=False)
    parts = [pre_tokenizers.Digits(individual_digits=True), level] if digits else [level]
    bpe.pre_tokenizer = pre_tokenizers.Sequence(parts)
    bpe.decoder = decoders.ByteLevel()
    fast = PreTrainedTokenizerFast(tokenizer_object=bpe)
    fast.add_special_tokens({"additional_special_tokens": list(special)})
    return fast


def test_equal_tokenizers_are_accepted() -> None:
    assert first_difference(tokenizer(), tokenizer()) is None


def test_added_tokens_may_differ() -> None:
    other = tokenizer(special=("<eos>", "<tool>", "<reserved>"))
    assert first_difference(tokenizer(), other) is None
    assert first_difference(other, tokenizer()) is None


def test_another_vocabulary_is_refused_with_an_example() -> None:
    other = tokenizer(merges=(("t", "e"), ("o", "f")))
    difference = first_difference(tokenizer(), other)
    assert difference == "2 tokens are in one only, such as 'of' (draft, not target)"


def test_the_same_tokens_under_other_ids_are_refused() -> None:
    names = [*ALPHABET, "te", "tea"]
    names[0], names[1] = names[1], names[0]
    other = tokenizer(vocab={t: i for i, t in enumerate(names)})
    difference = first_difference(tokenizer(), other)
    assert difference == "token '!' is 0 in the target and 1 in the draft"


def test_the_same_tokens_cut_in_another_way_are_refused() -> None:
    merges = (("1", "2"), ("2", "0"))
    difference = first_difference(tokenizer(merges), tokenizer(merges, digits=True))
    assert difference is not None and "cut differently" in difference


def test_one_id_may_be_another_added_token_on_either_side() -> None:
    """The target judges every draft by its own meaning, so that costs acceptance only."""
    assert first_difference(tokenizer(), tokenizer(special=("<other>",))) is None
