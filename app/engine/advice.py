"""Advice within a session: the experiment of `specchat advise` on the loaded models. It shares only
the weights with the session's lanes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from app.engine.candidates import candidates, present_and_free
from app.engine.commands import StartAdvice
from app.engine.events import Advice
from app.engine.experiment import Experiment
from app.models.loaded import LoadedModels
from app.report.advice_document import advice_document
from app.strategies.lane_spec import LaneSpec
from app.strategies.registry import STRATEGIES
from decoding.errors import InputError
from decoding.params import Params, flat
from decoding.tokenizing.stopping import Stop


def advise(
    request: StartAdvice,
    models: LoadedModels,
    lanes: Sequence[LaneSpec],
    prompts: Sequence[Sequence[int]],
    *,
    params: Params,
    stop: Stop,
    seed: int,
    report: Callable[[Advice], None],
    cancelled: Callable[[], bool],
    ends: Callable[[], bool],
) -> dict[str, Any]:
    """Measure the `lanes` with the session's present settings, and return the document: once
    `ends()`, of what was measured until then. Raises InputError if there is nothing to choose from
    or to measure with, InterruptedError when `cancelled()`, or when it ends too early."""
    if not prompts:
        raise InputError("there is no prompt to measure with: ask something first")
    temperatures = request.temperatures
    lanes = [spec for spec in lanes if STRATEGIES[spec.strategy].on_target]
    tried = candidates(present_and_free(lanes, params), models, params, temperatures)

    def say(what: str, part: float | None) -> None:
        report(Advice(what, part, experiment.ready))

    experiment = Experiment(
        models, tried, prompts, params, stop, seed, request.seconds, say, cancelled, ends
    )
    return advice_document(
        experiment.run(),
        **models.facts,
        settings=flat(params) | {"seed": seed},
        sweep={"temperature": temperatures} if temperatures else {},
        first_turns_only=False,
        unavailable={},
    )
