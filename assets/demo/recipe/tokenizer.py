"""Train the demo family's byte-level BPE tokenizer and give it its chat template.

python -m assets.demo.recipe.tokenizer --data FILE[:REPEAT[:KEY=VALUE]] ... --out DIR
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from assets.demo.recipe.stream import texts_of
from decoding.training.data import read_sources

BOS, SYSTEM, USER, ASSISTANT = "<|bos|>", "<|system|>", "<|user|>", "<|assistant|>"
END, END_OF_TEXT = "<|end|>", "<|endoftext|>"
SPECIAL_TOKENS = [END_OF_TEXT, BOS, SYSTEM, USER, ASSISTANT, END]

# Carries its own BOS, so tokenizing a rendered conversation must not add another (the tokenizer
# has no post-processor, so it never does).
CHAT_TEMPLATE = (
    "{{ bos_token }}"
    "{% for message in messages %}"
    "{% if message['role'] not in ['system', 'user', 'assistant'] %}"
    "{{ raise_exception('unknown role: ' + message['role']) }}"
    "{% endif %}"
    "{{ '<|' + message['role'] + '|>' + message['content'] + '<|end|>' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"
)


def train_tokenizer(
    texts: Iterable[str], vocab_size: int = 4096, context: int = 1024
) -> PreTrainedTokenizerFast:
    """A byte-level BPE: every UTF-8 text round-trips, there is no unknown token.

    Digits stand alone, so that arithmetic sees the same digit as the same token everywhere.
    """
    bpe = Tokenizer(models.BPE())
    digits = pre_tokenizers.Digits(individual_digits=True)
    bpe.pre_tokenizer = pre_tokenizers.Sequence(
        [digits, pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    bpe.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        special_tokens=SPECIAL_TOKENS,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    bpe.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=bpe,
        bos_token=BOS,
        eos_token=END_OF_TEXT,
        pad_token=END_OF_TEXT,
        additional_special_tokens=[SYSTEM, USER, ASSISTANT, END],
        chat_template=CHAT_TEMPLATE,
        model_max_length=context,
        clean_up_tokenization_spaces=False,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="+", required=True, metavar="FILE[:REPEAT[:KEY=VALUE]]")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--vocab-size", type=int, default=4096)
    parser.add_argument("--context", type=int, default=1024)
    args = parser.parse_args()
    texts = (text for record in read_sources(args.data) for text in texts_of(record))
    train_tokenizer(texts, args.vocab_size, args.context).save_pretrained(args.out)


if __name__ == "__main__":
    main()
