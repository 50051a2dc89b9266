"""How options of commands are declared: their help names a kind of value, such as N or FILE, in a
few letters, and switches none."""

from __future__ import annotations

from functools import partial

import typer

integer = partial(typer.Option, metavar="N")
number = partial(typer.Option, metavar="X")
text = partial(typer.Option, metavar="TEXT")
file = partial(typer.Option, metavar="FILE")
folder = partial(typer.Option, metavar="DIR")
switch = partial(typer.Option, metavar="")
