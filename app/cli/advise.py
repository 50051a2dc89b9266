"""`specchat advise`: which strategy and settings to use on this machine, for these prompts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from app.cli.interruption import interruptible
from app.cli.prompts import first_prompts
from app.cli.terminal import progress
from app.config.overrides import Sweep
from app.config.settings import Settings
from app.engine.candidates import TUNED, candidates
from app.engine.experiment import Experiment
from app.models.load_models import load_models
from app.report.advice_document import advice_document
from app.report.document import settings_report
from app.report.speedup_estimate import TEMPERATURES
from app.strategies.lane_spec import LaneSpec
from app.text.prompt_file import Request


def advise(
    settings: Settings,
    requests: Sequence[Request],
    lanes: Sequence[LaneSpec],
    budget: float,
    sweep: Sweep,
) -> tuple[dict[str, Any], int]:
    """Measure `lanes` for about `budget` seconds, and return the JSON document and the exit code.
    `sweep` replaces the settings that are tried. Ctrl+C, SIGTERM and SIGHUP end the measuring
    early. Raises InputError, and SystemExit if nothing was measured until then."""
    chosen = settings.model_fields_set
    default = () if "temperature" in chosen else TEMPERATURES
    with progress() as say:

        def report(what: str, part: float | None) -> None:
            say(what)

        models = load_models(settings.models, lambda what, part: say(f"loading {what}"), lanes)
        experiment = Experiment(
            models,
            candidates(
                lanes,
                models,
                settings.params,
                sweep.get("temperature", default),
                {name: values for name, values in sweep.items() if name != "temperature"},
                chosen & set(TUNED),
            ),
            first_prompts(requests, models, settings.system, settings.raw),
            settings.params,
            models.stop(settings.ignore_eos, settings.stop),
            settings.seed,
            budget,
            report,
        )
        with interruptible() as interruption:
            experiment.compete()
        if not experiment.ready:
            raise SystemExit(interruption.code)
        outcome = experiment.outcome()
    document = advice_document(
        outcome,
        **models.facts,
        settings=settings_report(settings),
        sweep=sweep,
        first_turns_only=any(len(request.turns) > 1 for request in requests),
        unavailable=models.why_missing(lanes)
        | {
            spec.name: "the settings of a server's drafts can't be changed from here"
            for spec in settings.lanes
            if spec.endpoint is not None
        },
    )
    return document, interruption.code or int(bool(outcome.failed))
