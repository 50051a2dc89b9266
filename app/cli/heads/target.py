"""Loads and writes the model that the `heads` commands work on."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from decoding.errors import InputError
from decoding.training.processes import local_rank

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from decoding.checkpoints.eagle_fit import TargetShape


# In the config of a target that was saved without its layers: how many it had.
LAYERS_BEFORE_KEY = "num_hidden_layers_before"


def load(
    target: str, device: str, *, chats: bool = False, template: str | None = None
) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """Return a model, in float32 on a CPU, and its tokenizer, with `chats` one that has a chat
    template: that of the file `template`, or its own. Raises InputError."""
    from app.config.model_options import ModelOptions
    from app.models.chat_template import prepare_template, render_prompt
    from app.models.limited_process import LimitedProcess
    from app.models.loading import load_model, load_tokenizer

    rank = local_rank()
    if device == "auto" and rank is not None:  # a GPU for each of several processes
        import torch

        device = f"cuda:{rank}" if torch.cuda.is_available() else device
    options = ModelOptions(target=target, device=device, chat_template=template)
    tokenizer = load_tokenizer(target, options)
    prepare_template(tokenizer, options)
    if chats and not tokenizer.chat_template:
        raise InputError(
            f"{target}: its tokenizer has no chat template, which questions and answers need: give "
            "one with --chat-template, or train on records with 'text'"
        )
    if tokenizer.chat_template:  # tried once: the records are rendered in this process
        render = LimitedProcess(partial(render_prompt, tokenizer))
        try:
            render([{"role": "user", "content": "Hello"}])
        except ValueError as error:
            raise InputError(f"the model's chat template breaks: {error}") from error
        finally:
            render.close()
    return load_model(target, options), tokenizer


def use_threads(threads: int | None) -> None:
    """Set torch's threads; None leaves them to torch."""
    if threads is not None:
        import torch

        torch.set_num_threads(threads)


def save_model(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, out: Path, like: str
) -> None:
    """Write a model in the precision of the target `like`. Raises InputError."""
    from torch import nn

    from decoding.checkpoints.files import write_model

    nn.Module.to(model, stored_precision(like))
    write_model(out, model, tokenizer)


def stored_precision(target: str) -> torch.dtype:
    """Return the precision in which a target is stored, which may be loaded in a larger one. Raises
    InputError."""
    from torch import float32

    from app.config.model_options import ModelOptions
    from app.models.checkpoint import find_checkpoint
    from app.models.model_config import load_config

    config: Any = load_config(target, find_checkpoint(target), ModelOptions(target=target))
    precision: torch.dtype | None = config.get_text_config(decoder=True).dtype
    return precision or float32


def shape_of(model: PreTrainedModel) -> tuple[int, int]:
    """Return the width of the hidden states and of the logits."""
    rows, hidden = model.get_output_embeddings().weight.shape
    return hidden, rows


def known_vocabulary(
    heads: Path, target: str, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase
) -> int:
    """Return the size of the vocabulary that heads were made for. Raises InputError if it differs
    from the target's by more than padding and added tokens."""
    from decoding.checkpoints.dialects import vocabulary_size
    from decoding.checkpoints.headers import read_tensor_shapes

    vocab, known, ordinary = shape_of(model)[1], None, tokenizer.vocab_size
    with suppress(Exception):  # whoever reads the tensors says what is wrong with the files
        known = vocabulary_size(read_tensor_shapes(heads))
    if known is None or known == vocab:
        return vocab
    if ordinary > min(known, vocab):
        raise InputError(
            f"{heads} was made for a model of {known:,} tokens, {target} has {vocab:,}, of which "
            f"{ordinary:,} are neither padding nor added: give --target the model of these heads, "
            "or leave --from out"
        )
    return known


def fitted(known: int, vocab: int) -> str:
    """Return what became of heads of `known` tokens for a target of `vocab`."""
    how = "cut" if known > vocab else "extended"
    return f"its vocabulary of {known:,} tokens was {how} to the target's {vocab:,}"


def target_shape(model: PreTrainedModel) -> TargetShape:
    """Return what an EAGLE head must fit."""
    from decoding.checkpoints.eagle_fit import TargetShape

    hidden, vocab = shape_of(model)
    config = model.config.get_text_config(decoder=True)
    layers = getattr(config, LAYERS_BEFORE_KEY, config.num_hidden_layers)
    return TargetShape(hidden, vocab, layers, config.model_type, config.hidden_size)
