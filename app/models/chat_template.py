"""Chat templates: the tokenizer's own or one from a file, with the user's arguments."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from transformers import PreTrainedTokenizerBase

from app.config.model_options import ModelOptions
from app.text.unicode import require_unicode
from decoding.errors import InputError
from decoding.json_text import read_bounded


def prepare_template(tokenizer: PreTrainedTokenizerBase, options: ModelOptions) -> None:
    """Set the tokenizer's template from `options`, if they name one. Raises InputError if it can't
    be read, and for arguments that the template does not use."""
    if options.chat_template is not None:
        tokenizer.chat_template = _read(options.chat_template)
    for name in options.template_args:
        if not re.search(rf"\b{name}\b", str(tokenizer.chat_template or "")):
            raise InputError(f"--template-arg {name}: the model's chat template has no {name}")


def _read(file: str) -> str:
    try:
        text = read_bounded(Path(file).expanduser()).decode()
    except (OSError, RuntimeError, ValueError) as error:  # no file, an unknown user, no UTF-8
        raise InputError(f"--chat-template: can't read {file}: {error}") from error
    require_unicode(text, file)
    return text


def render_prompt(
    tokenizer: PreTrainedTokenizerBase,
    messages: Sequence[dict[str, str]],
    arguments: Mapping[str, Any] | None = None,
) -> str:
    """A conversation in the tokenizer's chat template, up to where the answer begins."""
    return str(
        tokenizer.apply_chat_template(
            list(messages), add_generation_prompt=True, tokenize=False, **(arguments or {})
        )
    )
