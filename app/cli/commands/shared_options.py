"""The options that all commands share that answer prompts, and the settings that they make."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from app.strategies.registry import DEFAULT_STRATEGIES, LOCAL_STRATEGIES
from app.strategies.roles import ROLES
from app.strategies.settings import SETTINGS

if TYPE_CHECKING:
    from app.config.settings import Settings

Flags = dict[str, Any]
TREES = "chain, small, wide, JSON such as [[0],[0,0],[1]], or a file"


class Option(NamedTuple):
    panel: str  # of the help
    name: str
    kind: type
    help: str


# Of all commands that answer prompts. Values are checked in app.config, together with those from
# the environment and config.toml.
SHARED: tuple[Option, ...] = (
    Option("Models", "family", str, "Family by name: demo (default), or one of `specchat models`."),
    *(Option("Models", role.name, str, role.help) for role in ROLES.values()),
    Option("Models", "device", str, "auto (default), cpu, cuda, cuda:N or mps."),
    Option("Models", "dtype", str, "auto (default), float32, bfloat16 or float16."),
    Option("Models", "adapter", str, "PEFT adapter to merge into the target."),
    Option("Models", "draft_adapter", str, "PEFT adapter to merge into the draft model."),
    Option("Models", "quantize", str, "Quantize the weights: none (default), int8 or nf4."),
    Option("Models", "quantize_draft", str, "The same for the draft model (default: --quantize)."),
    Option(
        "Models",
        "kv_cache",
        str,
        "Quantize the target's KV cache: none (default), int8, fp8. Lossy.",
    ),
    Option("Models", "threads", str, "Number of torch threads on a CPU, or auto (default)."),
    Option("Models", "graphs", bool, "CUDA graphs where faster (default; --no-graphs: none)."),
    Option("Models", "trust_remote_code", bool, "Run code that comes with the model."),
    Option(
        "Strategies",
        "strategies",
        str,
        f"Lanes, separated by commas: {', '.join(LOCAL_STRATEGIES)} (default: "
        f"{DEFAULT_STRATEGIES}; with --eagle1 also eagle1). With settings of their own: "
        "draft:gamma=2:checkpoint=DIR",
    ),
    Option(
        "Strategies",
        "server",
        list[str],
        "Add a serving engine as a lane: URL or NAME=URL; may be repeated. With servers alone no "
        "model is loaded.",
    ),
    Option(
        "Strategies",
        "server_model",
        str,
        "The model to request from servers (default: their first).",
    ),
    *(Option(each.panel, each.name, each.kind, each.help) for each in SETTINGS.values()),
    Option(
        "Strategies",
        "medusa_choices",
        str,
        f"Medusa's tree of head ranks: {TREES} (default: the checkpoint's, or chosen for speed).",
    ),
    Option(
        "Strategies",
        "eagle_choices",
        str,
        f"A static tree of ranks for EAGLE: {TREES} (default: a dynamic tree).",
    ),
    Option(
        "Sampling", "preset", str, "Named set of settings, such as creative; flags override it."
    ),
    Option("Sampling", "seed", int, "Random seed (default: a new one, which is reported)."),
    Option("Sampling", "stop", list[str], "Stop before this text; may be repeated."),
    Option("Sampling", "ignore_eos", bool, "Don't stop at end-of-sequence tokens."),
    Option(
        "Sampling",
        "logit_bias",
        list[str],
        "Add to a token's logit: ID=-5 or TEXT=2.5; may be repeated.",
    ),
    Option("Prompt", "system", str, "System message."),
    Option("Prompt", "raw", bool, "Send the bare text, without a chat template."),
    Option("Prompt", "chat_template", str, "A file with the chat template to use (Jinja)."),
    Option(
        "Prompt",
        "template_arg",
        list[str],
        "Argument of the template: enable_thinking=false; may be repeated.",
    ),
    Option("Screen", "keep", bool, "Save conversations on disk (default; --no-keep: don't)."),
    Option(
        "Screen", "theme", str, "specchat-dark, specchat-light, or one of Textual's, such as nord."
    ),
)


# short, so that the help fits beside them into 80 columns
_METAVARS: dict[Any, str] = {str: "TEXT", list[str]: "TEXT", int: "N", float: "X", bool: ""}


def with_settings(command: Callable[..., None], *, screen: bool = True) -> Callable[..., None]:
    """Add the shared options to `command(flags, **own)`; `flags` holds those given by the user.
    With `screen`, those of the screen as well. A switch has a hidden --no- form, because
    config.toml may have turned it on."""
    options = [option for option in SHARED if screen or option.panel != "Screen"]

    def wrapped(**values: Any) -> None:
        flags = {option.name: values.pop(option.name) for option in options}
        off = [name for name in flags if values.pop(f"no_{name}", None)]
        flags |= dict.fromkeys(off, False)
        command({name: value for name, value in flags.items() if value is not None}, **values)

    def parameter(name: str, kind: type, **more: Any) -> inspect.Parameter:
        declared = typer.Option(f"--{name.replace('_', '-')}", metavar=_METAVARS[kind], **more)
        return inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=None,
            annotation=Annotated[kind | None, declared],
        )

    own = inspect.signature(command, eval_str=True).parameters.values()
    shared = [
        parameter(option.name, option.kind, help=option.help, rich_help_panel=option.panel)
        for option in options
    ]
    switches = [option.name for option in options if option.kind is bool]
    shared += [parameter(f"no_{name}", bool, hidden=True) for name in switches]
    parameters = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own if p.name != "flags"]
    wrapped.__signature__ = inspect.Signature([*parameters, *shared])  # type: ignore[attr-defined]
    wrapped.__annotations__ = {p.name: p.annotation for p in [*parameters, *shared]}
    wrapped.__name__, wrapped.__doc__ = command.__name__, command.__doc__
    return wrapped


headless = partial(with_settings, screen=False)


def settings_of(flags: Flags) -> Settings:
    """Load the settings, flags first. Raises InputError."""
    from app.cli.screen_settings import settings_from

    return settings_from(flags)
