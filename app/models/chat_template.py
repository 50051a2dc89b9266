"""Chat templates: the tokenizer's own or one from a file, with the user's arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from transformers import PreTrainedTokenizerBase

from app.config.model_options import ModelOptions
from app.text.unicode import require_unicode
from decoding.errors import InputError, reason_for
from decoding.json_text import read_bounded


def prepare_template(tokenizer: PreTrainedTokenizerBase, options: ModelOptions) -> None:
    """Set the tokenizer's template from `options`, if they name one. Raises InputError if it can't
    be read, and for arguments that the template does not use."""
    if options.chat_template is not None:
        tokenizer.chat_template = _read(options.chat_template)
    names = _names_in(tokenizer.chat_template) if options.template_args else ()
    for name in options.template_args:
        if name not in names:
            raise InputError(f"--template-arg {name}: the model's chat template has no {name}")


def _names_in(template: str | Mapping[str, str] | None) -> set[str]:
    """The names in a template's code, not in its comments and texts. It may be one of several."""
    from jinja2 import Environment, TemplateSyntaxError

    sources = template.values() if isinstance(template, Mapping) else [template or ""]
    try:
        tokens = [token for source in sources for token in Environment().lex(source)]
    except TemplateSyntaxError as error:
        raise InputError(f"the model's chat template is not valid Jinja: {error}") from error
    return {
        text
        for (_, _, before), (_, kind, text) in pairwise([(0, "", ""), *tokens])
        if kind == "name" and before != "."
    }


def _read(file: str) -> str:
    try:
        text = read_bounded(Path(file).expanduser()).decode()
    except (OSError, RuntimeError, ValueError) as error:  # no file, an unknown user, no UTF-8
        raise InputError(f"--chat-template: can't read {file}: {reason_for(error)}") from error
    require_unicode(text, file)
    return text


def render_prompt(
    tokenizer: PreTrainedTokenizerBase,
    messages: Sequence[dict[str, str]],
    arguments: Mapping[str, Any] | None = None,
) -> str:
    """Return a conversation in the tokenizer's chat template, up to where the answer begins."""
    return str(
        tokenizer.apply_chat_template(
            list(messages), add_generation_prompt=True, tokenize=False, **(arguments or {})
        )
    )
