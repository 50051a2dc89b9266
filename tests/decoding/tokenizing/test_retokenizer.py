"""The same text in the ids of two tokenizers, while it grows."""

from __future__ import annotations

import copy
from functools import cache

import pytest
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from tokenizers.processors import TemplateProcessing
from transformers import PreTrainedTokenizerFast

from decoding.tokenizing.retokenizer import Retokenizer

TEXT = (
    "The café's naïve cat 🙂 sat on 12345 mats,\n\n    and then 日本語 — it didn't.\n"
    "def f(x):\n\treturn  x ** 2\n"
)


@cache
def byte_level(size: int, special: tuple[str, ...] = ("<s>", "</s>")) -> PreTrainedTokenizerFast:
    """As GPT-2's, and those of most models since."""
    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=list(special),
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    raw.train_from_iterator([TEXT], trainer)
    fast = PreTrainedTokenizerFast(tokenizer_object=raw, bos_token=special[0], eos_token=special[1])
    fast.add_special_tokens({"additional_special_tokens": list(special[2:])})
    return fast


@cache
def sentencepiece() -> PreTrainedTokenizerFast:
    """As Llama 2's: a space before the first word, bytes for what it has no token for."""
    merges = [
        ("▁", "s"),
        ("▁s", "a"),
        ("▁sa", "t"),
        ("▁", "c"),
        ("▁c", "a"),
        ("a", "t"),
        ("▁", "▁"),
    ]
    letters = sorted({c for c in TEXT if c.isascii() and c.isprintable() and c != " "})
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), "▁", *letters]
    vocab = {token: i for i, token in enumerate([*tokens, *(a + b for a, b in merges)])}
    raw = Tokenizer(models.BPE(vocab, merges, byte_fallback=True, fuse_unk=True, unk_token="<unk>"))
    raw.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    steps = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    raw.decoder = decoders.Sequence([*steps, decoders.Strip(" ", 1, 0)])
    return PreTrainedTokenizerFast(
        tokenizer_object=raw, bos_token="<s>", eos_token="</s>", unk_token="<unk>"
    )


PAIRS = {
    "byte-level": lambda: (byte_level(285), byte_level(270)),
    "longer tokens": lambda: (byte_level(270), byte_level(330)),
    "draft of sentencepiece": lambda: (byte_level(300), sentencepiece()),
    "target of sentencepiece": lambda: (sentencepiece(), byte_level(300)),
}
TEXTS = {"words": TEXT * 3, "no spaces": "日本語のテキスト" * 12}
EACH_PAIR = pytest.mark.parametrize("pair", PAIRS)


def encode(tokenizer: PreTrainedTokenizerFast, text: str) -> list[int]:
    return list(tokenizer(text, add_special_tokens=False)["input_ids"])


def text_of(tokenizer: PreTrainedTokenizerFast, ids: list[int]) -> str:
    return str(tokenizer.decode(ids))


@EACH_PAIR
@pytest.mark.parametrize("text", TEXTS)
def test_the_draft_model_reads_every_whole_character(pair: str, text: str) -> None:
    target, draft = PAIRS[pair]()
    ids = encode(target, TEXTS[text])
    between = Retokenizer(target, draft)
    for end in range(1, len(ids) + 1):
        view = between.to_draft(ids[:end])
        seen = text_of(draft, view)
        assert TEXTS[text].startswith(seen)
        assert len(seen) >= len(text_of(target, ids[:end]).rstrip("�"))
    if text == "words":  # cut between words, what was encoded piece by piece is as if it were whole
        assert view == encode(draft, TEXTS[text])


@EACH_PAIR
def test_what_it_says_follows_the_targets_ids(pair: str) -> None:
    """Also where the target is in the middle of a word, or of a character."""
    target, draft = PAIRS[pair]()
    ids, theirs = encode(target, TEXT), encode(draft, TEXT)
    between = Retokenizer(target, draft)
    asked = answered = 0
    for end in range(1, len(ids)):
        view = between.to_draft(ids[:end])
        if view == theirs[: len(view)]:  # else the draft model's tokens lie across this place
            said = between.to_target(theirs[len(view) :])
            assert not said or text_of(target, ids[:end] + said) == TEXT
            asked += 1
            answered += bool(said)
    assert answered >= 0.8 * asked > 15


def test_special_tokens_are_known_by_their_names() -> None:
    target = byte_level(300, ("<s>", "</s>", "<user>"))
    draft = byte_level(280, ("<begin>", "<end>", "<user>", "<call>"))
    start, end, user = (target.get_vocab()[name] for name in ("<s>", "</s>", "<user>"))
    between = Retokenizer(target, draft)
    view = between.to_draft([start, user, *encode(target, "it")])
    names = draft.get_vocab()
    assert view == [names["<user>"], *encode(draft, "it")]  # <s> means nothing to it
    said = encode(draft, " sat")
    assert between.to_target(said) == encode(target, " sat")
    assert between.to_target([*said, names["<end>"], *said]) == [*encode(target, " sat"), end]
    assert between.to_target([names["<user>"], *said]) == [user]
    assert between.to_target([*said, names["<call>"], *said]) == encode(target, " sat")


def test_a_draft_model_that_begins_with_a_token_of_its_own_gets_it() -> None:
    target, draft = byte_level(300), byte_level(280)
    begin = draft.bos_token_id
    processors = copy.deepcopy(draft)
    processors.backend_tokenizer.post_processor = TemplateProcessing(
        single="<s> $A", special_tokens=[("<s>", begin)]
    )
    between = Retokenizer(target, processors)
    for text in ("it sat", "<s>it sat"):
        between.start()
        assert between.to_draft(encode(target, text)) == [begin, *encode(draft, "it sat")]
