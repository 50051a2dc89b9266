"""Opens the lanes of headless commands, local ones and servers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from app.config.settings import Settings
from app.engine.lane_turn import AnyLane
from app.engine.server_lane import ServerLane, served_model
from app.heavy_imports import heavy_imports
from app.models.checkpoint import require_sources
from app.servers.errors import ServerError
from app.servers.event_loop_thread import EventLoopThread
from app.strategies.lane_spec import LaneSpec

if TYPE_CHECKING:  # these import torch, which a run with only servers does not need
    from app.models.loaded import LoadedModels


def open_lanes(
    specs: Sequence[LaneSpec], settings: Settings, say: Callable[[str], None]
) -> tuple[list[AnyLane], LoadedModels | None]:
    """Return all lanes, and the models of the local ones, None if there are none. A server that
    does not answer makes its lane unavailable. Raises InputError."""
    require_sources(settings.models, specs)
    loop_thread = EventLoopThread()
    servers = {spec.name: ServerLane(spec, loop_thread) for spec in specs if spec.endpoint}
    replies = {name: lane.fetch_info() for name, lane in servers.items()}
    for name, reply in replies.items():
        say(f"asking {name} for its models")
        try:
            reply.result()
        except ServerError as error:
            servers[name].reason = str(error)
    lanes: dict[str, AnyLane] = {**servers}
    local = [spec for spec in specs if spec.endpoint is None]
    models = None
    if local:
        with heavy_imports():
            from app.engine.lane import Lane
            from app.models.load_models import load_models

        models = load_models(settings.models, lambda what, part: say(f"loading {what}"), local)
        lanes |= {spec.name: Lane(spec, models) for spec in local}
    return [lanes[spec.name] for spec in specs], models


def backend(models: LoadedModels | None, lanes: Sequence[AnyLane]) -> dict[str, Any]:
    """Target, device and precision for a document; unknown if only servers answer."""
    if models is not None:
        return models.facts
    servers = [lane for lane in lanes if isinstance(lane, ServerLane)]
    unknown = dict.fromkeys(("dtype", "kv_cache", "threads"))
    return {"target": served_model(servers), "device": "server", **unknown}
