"""The `specchat` commands and their options, a file for each. What they do is in the modules beside
this folder, and is imported when a command runs; `models` and `doctor` are there as a whole."""

from __future__ import annotations

import typer

from app.cli.commands.advise import advise
from app.cli.commands.bench import bench
from app.cli.commands.chat import chat, chat_by_default
from app.cli.commands.rejections import rejections
from app.cli.commands.replay import replay
from app.cli.commands.run import run
from app.cli.commands.serve import serve
from app.cli.doctor import doctor
from app.cli.heads import heads
from app.cli.models import models

cli = typer.Typer(
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    help="Answer one prompt with several decoding strategies side by side, on one shared model.",
)
cli.callback(invoke_without_command=True)(chat_by_default)
cli.add_typer(heads, name="heads")
for command in (chat, run, bench, rejections, advise, serve, replay, models, doctor):
    cli.command()(command)
