"""A session's lanes and the models they share."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from concurrent.futures import wait
from contextlib import suppress
from dataclasses import replace
from typing import Any

from app.engine.commands import AddLane, LaneChange, OpenModels, RemoveLane, SetLanes, SetOverrides
from app.engine.events import LaneInfo, LanesChanged, Loaded, Loading
from app.engine.lane import Lane
from app.engine.lane_turn import AnyLane
from app.engine.mailbox import Mailbox
from app.engine.memory import memory, weights
from app.engine.out_of_memory import empty_device_caches
from app.engine.server_lane import ServerLane, served_model
from app.models.load_models import load_drafter, load_models
from app.models.loaded import LoadedModels
from app.servers.event_loop_thread import EventLoopThread
from app.strategies.lane_spec import LaneSpec, unique_name
from decoding.errors import InputError, describe

PROBE_TIMEOUT = 3.0  # seconds, for servers to describe themselves before the screen opens
USUAL_CONTEXT = 32768  # tokens, for servers that do not report theirs


class Lanes:
    """The constructor loads the models and emits its progress. `restored`: they are reloaded, as
    the requested ones failed. Raises InputError when they can't be loaded."""

    def __init__(self, request: OpenModels, mailbox: Mailbox, restored: bool = False) -> None:
        self._request, self._mailbox = request, mailbox
        self._gone: set[str] = set()  # names of removed lanes that must not be reused yet
        mailbox.trees.clear()  # names of trees differ between models
        self._loop_thread = EventLoopThread()
        self.models: LoadedModels | None = None  # None: all lanes are servers'
        try:
            self._open(request, restored)
        except BaseException:
            self._loop_thread.close()
            raise

    def _open(self, request: OpenModels, restored: bool) -> None:
        servers = [self._server_lane(spec) for spec in request.specs if spec.endpoint]
        probes = [lane.fetch_info() for lane in servers]
        local = [spec for spec in request.specs if spec.endpoint is None]
        if local:
            self.models = load_models(request.options, self._progress, local)
        known = {lane.spec.name: lane for lane in servers}
        self._lanes = [known.get(spec.name) or self._lane(spec) for spec in request.specs]
        self._progress("warming up", 0.95)
        for lane in self._lanes:
            self._choose_tree(lane)
            self._warm_up(lane)
        wait(probes, PROBE_TIMEOUT)  # a server that is silent now may still answer prompts
        facts = {
            "restored": restored,
            "lanes": self._infos(),
            "weights": weights(self.models),
            "memory": memory(self.models, self._lanes),
        }
        self._mailbox.emit(self._loaded(self.models, servers, facts))

    def _loaded(
        self, models: LoadedModels | None, servers: Sequence[ServerLane], facts: dict[str, Any]
    ) -> Loaded:
        if models is None:
            reported = [lane.server.info for lane in servers if lane.server.info]
            return Loaded(
                target=served_model(servers),
                device=servers[0].strategy.name,
                dtype="",
                threads=0,
                context=max((each.context or 0 for each in reported), default=0) or USUAL_CONTEXT,
                **facts,
            )
        cost = models.quick_cost
        return Loaded(
            target=models.title,
            source=models.name,
            device=models.device,
            dtype=models.precision,
            threads=models.threads,
            context=models.context,
            ignored=models.ignored,
            sampling=models.sampling,
            pass_costs=() if cost is None else cost.points,
            **facts,
        )

    def _server_lane(self, spec: LaneSpec) -> ServerLane:
        return ServerLane(spec, self._loop_thread)

    def _lane(self, spec: LaneSpec) -> Lane:
        assert self.models is not None
        return Lane(spec, self.models)

    def __iter__(self) -> Iterator[AnyLane]:
        return iter(self._lanes)

    def __contains__(self, name: object) -> bool:
        return any(lane.spec.name == name for lane in self._lanes)

    def release(self) -> OpenModels:
        """Free all models and caches. Returns the request that loads them again."""
        trees = self._mailbox.trees
        specs = (replace(e.spec, tree=trees.get(e.spec.name, e.spec.tree)) for e in self._lanes)
        request = replace(self._request, specs=tuple(specs))
        self._lanes.clear()
        self._loop_thread.close()
        del self.models
        _collect()
        return request

    def apply_changes(self, idle: bool = True) -> None:
        """Apply the pending lane changes. Those that load a model wait until no turn is running
        (`idle`): the models of running lanes must not change. The name of a removed lane is not
        reused before that either, so that its late events are not taken for another lane's."""
        if idle:
            self._gone.clear()
        later: list[LaneChange] = []
        changed = False
        changes = self._mailbox.lane_changes
        while changes:
            change = changes.popleft()
            if not idle and self._must_load(change):
                later.append(change)
            else:
                self._apply(change)
                changed = True
        changes.extendleft(reversed(later))
        if idle and self._free_unused():
            changed = True
        if changed:
            used = memory(self.models, self._lanes)
            self._mailbox.emit(LanesChanged(self._infos(), weights(self.models), used))

    def _free_unused(self) -> bool:
        """Free the drafters whose lanes were removed; returns whether there are any."""
        specs = [lane.spec for lane in self._lanes]
        if self.models is None or not self.models.drop_unused(specs):
            return False
        _collect()
        return True

    def _must_load(self, change: LaneChange) -> bool:
        specs: Sequence[LaneSpec] = ()
        if isinstance(change, SetLanes):
            specs = change.specs
        elif isinstance(change, AddLane):
            specs = [change.spec]
        models = self.models
        return models is not None and any(
            models.seen_by(spec).needs_loading(spec.strategy)
            for spec in specs
            if spec.endpoint is None
        )

    def _apply(self, change: LaneChange) -> None:
        names = [lane.spec.name for lane in self._lanes]
        match change:
            case AddLane(spec, after) if self._can_create(spec):
                index = names.index(after) + 1 if after in names else len(names)
                name = unique_name(spec.name, {*names, *self._gone})
                lane = self._create(replace(spec, name=name))
                self._lanes.insert(index, lane)
                self._choose_tree(lane)
            case RemoveLane(name) if name in names and len(names) > 1:
                self._forget(self._lanes.pop(names.index(name)))
            case SetLanes(specs):
                present = {lane.spec.name: lane for lane in self._lanes}
                for name in present.keys() - {spec.name for spec in specs}:
                    self._forget(present[name])
                self._lanes = [
                    present.get(spec.name) or self._create(spec)
                    for spec in specs
                    if spec.name in present or self._can_create(spec)
                ]
                for lane in self._lanes:
                    self._choose_tree(lane)
            case SetOverrides(name, overrides) if name in names:
                lane = self._lanes[names.index(name)]
                lane.spec = replace(lane.spec, overrides=overrides)

    def _forget(self, lane: AnyLane) -> None:
        """Drop the choices made for a removed lane, and its connections."""
        name = lane.spec.name
        if isinstance(lane, ServerLane):
            lane.disconnect()
        self._gone.add(name)
        self._mailbox.switched_off.discard(name)
        self._mailbox.trees.pop(name, None)

    def _can_create(self, spec: LaneSpec) -> bool:
        return self.models is not None or spec.endpoint is not None

    def _create(self, spec: LaneSpec) -> AnyLane:
        """Make a lane of any strategy; its drafter is loaded now unless it already is."""
        if spec.endpoint is not None:
            return self._server_lane(spec)
        assert self.models is not None
        models = self.models.seen_by(spec)
        try:
            load_drafter(models, spec.strategy, self._progress)
            lane = Lane(spec, self.models)
        except Exception as error:  # a lost disk, too little memory: the other lanes go on
            known = isinstance(error, InputError)
            why = str(error) if known else f"loading failed: {describe(error)}"
            lane = Lane(spec, self.models, why)  # another one may be made later
        self._warm_up(lane)
        return lane

    def _choose_tree(self, lane: AnyLane) -> None:
        """The tree of its spec, unless another has been chosen since."""
        if isinstance(lane, Lane) and lane.spec.tree in lane.trees:
            self._mailbox.trees.setdefault(lane.spec.name, lane.spec.tree)

    def _warm_up(self, lane: AnyLane) -> None:
        if isinstance(lane, Lane):
            with suppress(Exception):  # a lane that fails will say so when it answers
                lane.warm_up()

    def _infos(self) -> tuple[LaneInfo, ...]:
        mailbox = self._mailbox
        infos = (lane.info(mailbox.enabled(lane.spec.name)) for lane in self._lanes)
        return tuple(replace(info, tree=mailbox.trees.get(info.name, info.tree)) for info in infos)

    def _progress(self, what: str, part: float | None) -> None:
        self._mailbox.emit(Loading(what, part))


def _collect() -> None:
    """Free the memory of models that nobody holds."""
    gc.collect()  # modules and the hooks on them hold each other
    empty_device_caches()
