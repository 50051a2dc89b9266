"""Advice on the lanes of a session: the experiment of `specchat advise`, on the models that are
loaded. The lanes themselves are not touched: only the weights are shared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from app.engine.experiment import Experiment, candidates, present_and_free
from app.models.download import Progress
from app.models.loaded import LoadedModels
from app.report.advice_document import advice_document
from app.strategies.lane_spec import LaneSpec
from app.strategies.registry import STRATEGIES
from decoding.errors import InputError
from decoding.params import Params, flat
from decoding.tokenizing.stopping import Stop


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What is to be advised on: the session's models, lanes and present settings. `report` gets the
    progress; when `cancelled()` all ends with an InterruptedError."""

    models: LoadedModels
    lanes: Sequence[LaneSpec]
    params: Params
    stop: Stop
    seed: int
    report: Progress
    cancelled: Callable[[], bool]


def advise(
    here: Circumstances,
    prompts: Sequence[Sequence[int]],
    seconds: float,
    temperatures: Sequence[float] = (),
) -> dict[str, Any]:
    """The document, for the present temperature or for these. Raises InputError where there is
    nothing to choose from or to measure with."""
    if not prompts:
        raise InputError("there is no prompt to measure with: ask something first")
    models = here.models
    lanes = [spec for spec in here.lanes if STRATEGIES[spec.strategy].on_target]
    outcome = Experiment(
        models,
        candidates(present_and_free(lanes, here.params), models, here.params, temperatures),
        prompts,
        here.params,
        here.stop,
        here.seed,
        seconds,
        here.report,
        here.cancelled,
    ).run()
    return advice_document(
        outcome,
        **models.facts,
        settings=flat(here.params) | {"seed": here.seed},
        sweep={"temperature": tuple(temperatures)} if temperatures else {},
        first_turns_only=False,
        unavailable={},
    )
