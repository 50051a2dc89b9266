"""Opens the screen: builds the session process, the recorder and the app from the settings."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from functools import partial

from app.cli.screen_settings import keymap_of, last_theme
from app.cli.terminal import say
from app.config.settings import Settings
from app.engine.events import LaneInfo
from app.engine.process import SessionProcess
from app.engine.session import Session
from app.engine.session_config import SessionConfig
from app.history.recorder import Recorder
from app.history.session_store import SessionStore
from app.history.store import Store
from app.models.checkpoint import require_sources
from app.models.library import library
from app.report.document import settings_report
from app.strategies.lane_spec import LaneSpec
from app.strategies.registry import STRATEGIES
from app.text.terminal_text import shortened
from app.tui.app import SpecchatApp, run_tui
from app.tui.state.startup import Startup
from decoding.errors import InputError

TITLE_CHARACTERS = 30


def open_screen(settings: Settings) -> int:
    """Run the screen until the user quits; returns the exit code. It appears before models load."""
    store = Store()
    theme, keys = last_theme(settings, store), keymap_of(settings)  # checked before anything starts
    require_sources(settings.models, settings.lanes)
    config = SessionConfig(
        params=settings.params,
        seed=settings.seed,
        schedule=settings.schedule,
        system=settings.system,
        raw=settings.raw,
        stop_texts=settings.stop,
        ignore_eos=settings.ignore_eos,
    )
    logs = store if settings.keep else SessionStore()
    engine = SessionProcess(partial(Session, config=config), settings.models, settings.lanes)
    startup = Startup(
        params=settings.params,
        lanes=tuple(map(_not_yet_known, settings.lanes)),
        schedule=settings.schedule,
        seed=settings.seed,
        models=settings.models,
        library=library(settings),
        recorder=Recorder(logs, settings_report(settings)),
        theme=theme,
        keys=keys,
        newcomer=store.unused,
    )
    app = SpecchatApp(engine, startup)
    code = run_tui(app)
    # As a web page (TEXTUAL_DRIVER) it was not left in a terminal.
    if code == 0 and sys.stderr.isatty() and "TEXTUAL_DRIVER" not in os.environ:
        say_how_to_continue(app)
    return code


def say_how_to_continue(app: SpecchatApp) -> None:
    """Say how to continue the conversation that was left, if it is kept and has an answer."""
    path = app.recorder.path if app.recorder else None
    with suppress(OSError, InputError):  # deleted meanwhile
        if app.store and path and app.state.turns:
            title = shortened(app.store.entry(path).title, TITLE_CHARACTERS)
            say(f"To continue “{title}”: specchat, then {app.state.keys['app.conversations']}")


def _not_yet_known(spec: LaneSpec) -> LaneInfo:
    """A lane's description before its models are loaded."""
    return LaneInfo(
        name=spec.name,
        strategy=spec.strategy,
        title=spec.name if spec.endpoint else STRATEGIES[spec.strategy].title,
        available=True,
        reason=None,
        enabled=True,
        default_gamma=0,
        overrides=spec.overrides,
        endpoint=spec.endpoint,
    )
