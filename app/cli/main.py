"""The `specchat` command. Heavy imports are deferred, so that --help is instant."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, NoReturn

import typer
from typer.exceptions import TyperException

from app.cli.doctor import doctor
from app.cli.heads import heads
from app.cli.models import models
from app.cli.options import integer, switch, text
from app.cli.replay import replay
from app.cli.suggestions import meant_by
from app.cli.terminal import (
    OutputLost,
    complain,
    discard_output,
    guard_stderr,
    print_output,
    print_result,
    require_terminal,
)
from app.strategies.registry import DEFAULT_STRATEGIES, LOCAL_STRATEGIES
from app.strategies.roles import ROLES
from app.strategies.settings import SETTINGS
from app.text.numbers import whole_number
from app.version import VERSION
from decoding.errors import InputError, ParameterError, is_out_of_memory

if TYPE_CHECKING:
    from app.config.settings import Settings
    from app.report.page import Report
    from app.text.prompt_file import Request

cli = typer.Typer(
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    help="Answer one prompt with several decoding strategies side by side, on one shared model.",
)

cli.add_typer(heads, name="heads")

Flags = dict[str, Any]
TREES = "chain, small, wide, JSON such as [[0],[0,0],[1]], or a file"


class _Option(NamedTuple):
    panel: str  # of the help
    name: str
    kind: type
    help: str


# Of all commands that answer prompts. Values are checked in app.config, together with those from
# the environment and config.toml.
_SHARED: tuple[_Option, ...] = (
    _Option(
        "Models", "family", str, "Family by name: demo (default), or one of `specchat models`."
    ),
    *(_Option("Models", role.name, str, role.help) for role in ROLES.values()),
    _Option("Models", "device", str, "auto (default), cpu, cuda, cuda:N or mps."),
    _Option("Models", "dtype", str, "auto (default), float32, bfloat16 or float16."),
    _Option("Models", "adapter", str, "PEFT adapter to merge into the target."),
    _Option("Models", "draft_adapter", str, "PEFT adapter to merge into the draft model."),
    _Option("Models", "quantize", str, "Quantize the weights: none (default), int8 or nf4."),
    _Option("Models", "quantize_draft", str, "The same for the draft model (default: --quantize)."),
    _Option(
        "Models",
        "kv_cache",
        str,
        "Quantize the target's KV cache: none (default), int8, fp8. Lossy.",
    ),
    _Option("Models", "threads", str, "Number of torch threads on a CPU, or auto (default)."),
    _Option("Models", "graphs", bool, "CUDA graphs where faster (default; --no-graphs: none)."),
    _Option("Models", "trust_remote_code", bool, "Run code that comes with the model."),
    _Option(
        "Strategies",
        "strategies",
        str,
        f"Lanes, separated by commas: {', '.join(LOCAL_STRATEGIES)} (default: "
        f"{DEFAULT_STRATEGIES}; with --eagle1 also eagle1). With settings of their own: "
        "draft:gamma=2:checkpoint=DIR",
    ),
    _Option(
        "Strategies",
        "server",
        list[str],
        "Add a serving engine as a lane: URL or NAME=URL; may be repeated. With servers alone no "
        "model is loaded.",
    ),
    _Option(
        "Strategies",
        "server_model",
        str,
        "The model to request from servers (default: their first).",
    ),
    *(_Option(each.panel, each.name, each.kind, each.help) for each in SETTINGS.values()),
    _Option(
        "Strategies",
        "medusa_choices",
        str,
        f"Medusa's tree of head ranks: {TREES} (default: the checkpoint's, or chosen for speed).",
    ),
    _Option(
        "Strategies",
        "eagle_choices",
        str,
        f"A static tree of ranks for EAGLE: {TREES} (default: a dynamic tree).",
    ),
    _Option(
        "Sampling", "preset", str, "Named set of settings, such as creative; flags override it."
    ),
    _Option("Sampling", "seed", int, "Random seed (default: a new one, which is reported)."),
    _Option("Sampling", "stop", list[str], "Stop before this text; may be repeated."),
    _Option("Sampling", "ignore_eos", bool, "Don't stop at end-of-sequence tokens."),
    _Option(
        "Sampling",
        "logit_bias",
        list[str],
        "Add to a token's logit: ID=-5 or TEXT=2.5; may be repeated.",
    ),
    _Option("Prompt", "system", str, "System message."),
    _Option("Prompt", "raw", bool, "Send the bare text, without a chat template."),
    _Option("Prompt", "chat_template", str, "A file with the chat template to use (Jinja)."),
    _Option(
        "Prompt",
        "template_arg",
        list[str],
        "Argument of the template: enable_thinking=false; may be repeated.",
    ),
    _Option("Screen", "keep", bool, "Save conversations on disk (default; --no-keep: don't)."),
    _Option(
        "Screen", "theme", str, "specchat-dark, specchat-light, or one of Textual's, such as nord."
    ),
)


# short, so that the help fits beside them into 80 columns
_METAVARS: dict[Any, str] = {str: "TEXT", list[str]: "TEXT", int: "N", float: "X", bool: ""}


PromptText = Annotated[
    str | None,
    typer.Option(help="One prompt; - reads stdin.", metavar="TEXT", rich_help_panel="Prompt"),
]
PromptFile = Annotated[
    str | None,
    typer.Option(
        help="JSONL file: prompt, messages, turns or input_ids; - reads stdin.",
        metavar="FILE",
        rich_help_panel="Prompt",
    ),
]

SweepValues = Annotated[
    list[str] | None,
    typer.Option(
        help="Measure each lane with each of these values: gamma=1,2,4; may be repeated.",
        metavar="SETTING=VALUES",
    ),
]

Concurrency = Annotated[
    int,
    typer.Option(min=1, max=1024, metavar="N", help="Simultaneous prompts per --server."),
]

ReportFile = Annotated[
    Path | None,
    typer.Option(
        help="Also write a page with plots; with .svg or .png only the plots (extra: report).",
        metavar="FILE.html",
    ),
]


def with_settings(command: Callable[..., None], *, screen: bool = True) -> Callable[..., None]:
    """Add the shared options to `command(flags, **own)`; `flags` holds those given by the user.
    With `screen`, those of the screen as well. A switch has a hidden --no- form, because
    config.toml may have turned it on."""
    options = [option for option in _SHARED if screen or option.panel != "Screen"]

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


@cli.callback(invoke_without_command=True)
@with_settings
def chat_by_default(
    flags: Flags,
    context: typer.Context,
    version: Annotated[bool, switch("--version", help="Print the version.")] = False,
) -> None:
    if version:
        print_output(VERSION)
    elif context.invoked_subcommand is None:
        _open_screen(flags)
    elif flags:
        name = next(iter(flags)).replace("_", "-")
        raise InputError(f"put --{name} after '{context.invoked_subcommand}', not before it")


@cli.command()
@with_settings
def chat(flags: Flags) -> None:
    """Open the screen, as `specchat` alone does."""
    _open_screen(flags)


@cli.command()
@headless
def run(
    flags: Flags,
    text: Annotated[
        str | None, typer.Argument(metavar="[PROMPT]", help="The same as --prompt.")
    ] = None,
    prompt: PromptText = None,
    prompts: PromptFile = None,
    as_json: Annotated[bool, switch("--json", help="Print one JSON document.")] = False,
    trace: Annotated[
        bool, switch("--trace", help="Include every round in the JSON document.")
    ] = False,
    concurrency: Concurrency = 1,
) -> None:
    """Answer prompts without a screen: text or one JSON document on stdout."""
    settings = _settings(flags)
    if trace and not as_json:
        raise InputError("--trace is a part of the JSON document: add --json")
    if text is not None and not (prompt is None and prompts is None):
        raise InputError("give one of a prompt as the argument, --prompt and --prompts")
    requests = _requests(prompt if text is None else text, prompts)

    from app.cli.run import run as run_headless
    from app.cli.run_text import format_run

    with redirect_stdout(sys.stderr):  # remote code may print; stdout is for the answer
        result = run_headless(settings, requests, trace, concurrency)
    print_result(result.document, as_json, format_run)
    raise typer.Exit(result.exit_code)


@cli.command()
@headless
def bench(
    flags: Flags,
    prompt: PromptText = None,
    prompts: PromptFile = None,
    repeats: Annotated[
        int, typer.Option(min=1, metavar="N", help="How many times to answer all prompts.")
    ] = 3,
    peers: Annotated[
        str,
        typer.Option(
            metavar="NAME,NAME",
            help="Also measure Hugging Face's generate: hf, hf-assisted or both.",
        ),
    ] = "",
    sweep: SweepValues = None,
    simulate_acceptance: Annotated[
        list[float] | None,
        typer.Option(
            min=0,
            max=1,
            metavar="RATE",
            help="Add a simulated drafter with this acceptance rate and no cost, in greedy "
            "decoding; may be repeated.",
        ),
    ] = None,
    batch: Annotated[
        str,
        typer.Option(metavar="N,N,...", help="Estimate the speedup at these batch sizes."),
    ] = "",
    prefix: Annotated[
        str,
        typer.Option(metavar="N,N,...", help="Put this many tokens before each prompt."),
    ] = "",
    concurrency: Concurrency = 1,
    report: ReportFile = None,
    as_json: Annotated[bool, switch("--json", help="Print one JSON document.")] = False,
) -> None:
    """Compare the speeds of lanes, interleaved in one process."""
    from app.config.overrides import parse_sweep

    settings = _settings(flags)
    values = parse_sweep(sweep or ())
    requests = _requests(prompt, prompts)
    others = [name.strip() for name in peers.split(",") if name.strip()]
    for name in others:
        if name not in ("hf", "hf-assisted"):
            raise InputError(f"--peers: unknown peer '{name}'; choose from hf, hf-assisted")
    batches = _sizes("--batch", batch, 1024)
    prefixes = _sizes("--prefix", prefix, 1_000_000)

    _check_report(report)

    from app.cli.bench import bench as measure
    from app.report.bench_text import bench_report, format_bench

    with redirect_stdout(sys.stderr):
        document, code = measure(
            settings,
            requests,
            repeats=repeats,
            peers=others,  # type: ignore[arg-type]
            sweep=values,
            concurrency=concurrency,
            acceptances=simulate_acceptance or (),
            batches=batches,
            prefixes=prefixes,
        )
    with _reported(report, lambda: bench_report(document)):
        print_result(document, as_json, format_bench)
    raise typer.Exit(code)


@cli.command()
@headless
def rejections(
    flags: Flags,
    prompt: PromptText = None,
    prompts: PromptFile = None,
    most: Annotated[
        int, typer.Option(min=0, metavar="N", help="Rejections to print per lane (JSON has all).")
    ] = 20,
    as_json: Annotated[bool, switch("--json", help="Print one JSON document.")] = False,
) -> None:
    """List the drafts that the target rejects, and how often drafters are right.

    Accuracy is shown by level, kind of token, place in the answer, and the
    drafter's confidence.
    """
    settings = _settings(flags)
    requests = _requests(prompt, prompts)

    from app.cli.rejections import find_rejections
    from app.report.rejections_document import format_rejections

    with redirect_stdout(sys.stderr):
        document, code = find_rejections(settings, requests)
    print_result(document, as_json, partial(format_rejections, most=most))
    raise typer.Exit(code)


@cli.command()
@headless
def advise(
    flags: Flags,
    prompt: PromptText = None,
    prompts: PromptFile = None,
    conversation: Annotated[
        str | None,
        typer.Option(
            help="Use the prompts of a saved or exported conversation; latest: the newest.",
            metavar="FILE",
            rich_help_panel="Prompt",
        ),
    ] = None,
    seconds: Annotated[
        float,
        typer.Option(min=1, max=1_000_000, metavar="S", help="Approximate time for measuring."),
    ] = 180,
    sweep: SweepValues = None,
    report: ReportFile = None,
    as_json: Annotated[bool, switch("--json", help="Print one JSON document.")] = False,
) -> None:
    """Find the fastest strategy and settings on this machine.

    Without prompts, it uses those of the demo or of the newest conversation.
    """
    from app.config.overrides import parse_sweep

    settings = _settings(flags)
    values = parse_sweep(sweep or ())
    if conversation is not None and not (prompt is None and prompts is None):
        raise InputError("give one of --prompt, --prompts and --conversation")
    if prompt is None and prompts is None:
        from app.cli.advise_prompts import prompts_to_advise_on

        requests = prompts_to_advise_on(settings, conversation)
    else:
        requests = _requests(prompt, prompts)

    _check_report(report)

    from app.cli.advise import advise as measure
    from app.report.advice_text import advice_report, format_advice

    with redirect_stdout(sys.stderr):
        document, code = measure(settings, requests, seconds, values)
    with _reported(report, lambda: advice_report(document)):
        print_result(document, as_json, format_advice)
    raise typer.Exit(code)


@cli.command()
@with_settings
def serve(
    flags: Flags,
    host: Annotated[str, text(help="Address to listen on.")] = "localhost",
    port: Annotated[int, integer(min=1, max=65535, help="Port to listen on.")] = 8000,
    public_url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Address in the browser, if different (proxy)."),
    ] = None,
) -> None:
    """Open the screen in a web page (extra: serve)."""
    from app.cli.screen_settings import keymap_of, theme_of

    settings = _settings(flags)
    theme_of(settings)
    keymap_of(settings)
    if public_url is not None and not public_url.startswith(("http://", "https://")):
        raise InputError(f"--public-url: begin it with http:// or https://, not '{public_url}'")
    if find_spec("textual_serve") is None:
        raise InputError("serve needs textual-serve: pip install 'specchat[serve]'")
    from app.cli.serve import serve_screen

    serve_screen(flags, host, port, public_url)


cli.command()(replay)
cli.command()(models)
cli.command()(doctor)


def _settings(flags: Flags) -> Settings:
    from app.cli.screen_settings import settings_from

    return settings_from(flags)


def _open_screen(flags: Flags) -> NoReturn:
    settings = _settings(flags)
    require_terminal("specchat run --prompt TEXT")
    from app.cli.chat import open_screen

    raise typer.Exit(open_screen(settings))


def _requests(prompt: str | None, prompts: str | None) -> list[Request]:
    from app.text.prompt_file import Request, parse_requests, read_requests
    from app.text.unicode import require_unicode

    if (prompt is None) == (prompts is None):
        raise InputError("give one of --prompt TEXT and --prompts FILE.jsonl; - reads stdin")
    if prompts == "-":
        return parse_requests(_stdin("--prompts -"), "stdin")
    if prompts is not None:
        return read_requests(Path(prompts))
    text = str(prompt)
    if prompt == "-":
        # bytes that are not UTF-8 become surrogates, as in a command-line argument
        text = _stdin("--prompt -").decode("utf-8-sig", "surrogateescape")
        text = text.removesuffix("\n").removesuffix("\r")
    require_unicode(text, "--prompt")
    if not text.strip():
        raise InputError("the prompt is empty: give --prompt some text")
    return [Request(turns=(text,))]


def _sizes(option: str, text: str, largest: int) -> list[int]:
    """Numbers between commas, each once, in order. Raises InputError."""
    numbers = [each.strip() for each in text.split(",")] if text.strip() else []
    if not all(whole_number(each, largest) for each in numbers):
        raise InputError(f"{option} takes whole numbers from 1 to {largest}, with commas between")
    return sorted({int(each) for each in numbers})


def _check_report(report: Path | None) -> None:
    """Raise InputError if the report can't be written, before anything is measured."""
    if report is not None:
        from app.report.page import check_report

        check_report(report)


@contextmanager
def _reported(file: Path | None, report: Callable[[], Report]) -> Iterator[None]:
    """Write a report after what is done with this; also where that fails, as it may to print."""
    try:
        yield
    finally:
        if file is not None:
            from app.report.page import write_report

            write_report(file, report())


def _stdin(option: str) -> bytes:
    if sys.stdin is None or sys.stdin.isatty():
        raise InputError(f"{option} reads stdin, but nothing is piped into it")
    return sys.stdin.buffer.read()


def _perhaps(error: TyperException) -> str:
    """The complaint about an unknown option or command, with what may have been meant; Typer's own
    names options that are spelled nearly so, hidden ones too. Empty for other errors."""
    context = getattr(error, "ctx", None)
    if context is not None and error.message.startswith("No such command"):
        message, _, commands = error.message.removesuffix("?").partition(". Did you mean ")
        message = message.removesuffix(".")
        if commands:
            return f"{message}, perhaps {commands}"
        # a question in quotes, as other programs take it
        return message + "; specchat run TEXT answers one" * (" " in message.partition("'")[2])
    if context is None or not error.message.startswith("No such option"):
        return ""
    written = getattr(error, "option_name", "")
    near = meant_by(written, _options(context.command))
    run = getattr(context.command, "commands", {}).get("run")
    if not near and run is not None:
        near = [f"specchat run {each}" for each in meant_by(written, _options(run))]
    return error.message + (f", perhaps {' or '.join(near)}" if near else "")


def _options(command: Any) -> list[str]:
    shown = (each for each in command.params if not getattr(each, "hidden", False))
    return [name for each in shown for name in each.opts]


def main() -> None:
    """Run the command. Exit codes: 0 done, 1 failed, 2 wrong input (one line), 130 interrupted."""
    guard_stderr()
    try:
        code = cli(standalone_mode=False)
    except OutputLost as error:
        complain(str(error))
        code = 1
    except ParameterError as error:
        complain(f"--{error.name.replace('_', '-')}{error.rest}")
        code = 2
    except InputError as error:
        complain(str(error))
        code = 2
    except TyperException as error:
        message = _perhaps(error) or error.format_message().replace(": Value error, ", ": ")
        if message:  # none where a command alone has shown its help
            helps = "; --help has them all" if message.startswith("No such") else ""
            complain(message.removesuffix(".") + helps if helps else message)
        code = 2
    except OSError as error:  # a full disk, a folder without permission
        discard_output()
        file = f"{error.filename}: " if error.filename else ""
        complain(f"{file}{error.strerror or error}")
        code = 1
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        complain("out of memory: ask for less, such as smaller sizes, batches or models")
        code = 1
    except (typer.Abort, KeyboardInterrupt):
        code = 130
    sys.exit(code or 0)
