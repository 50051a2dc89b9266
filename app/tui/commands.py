"""The command palette: every action that has a key, by name."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from textual.app import App, SystemCommand

from app.events import DEFAULT_TREE
from app.tui.keys import APP_KEYS, LANE_KEYS, RUN_KEYS, VIEW_KEYS, lane_key
from app.tui.screens.main import MainScreen


def commands(app: App[None], screen: MainScreen) -> Iterable[SystemCommand]:
    for node, bindings in ((app, [*RUN_KEYS, *APP_KEYS]), (screen, VIEW_KEYS)):
        for binding in bindings:
            if not lane_key(binding):
                keys = f"{binding.tooltip} ({binding.key.replace(',', ', ')})"
                run = partial(node.run_action, binding.action)
                yield SystemCommand(binding.description, keys, run)
    trees = dict.fromkeys(tree for lane in screen.state.lanes.values() for tree in lane.info.trees)
    for tree in trees:
        what = "The tree it began with" if tree == DEFAULT_TREE else "What Medusa's heads guess"
        run = partial(app.run_action, f"tree({tree!r})")
        yield SystemCommand(f"Medusa tree: {tree}", f"{what}; from the next round on", run)
    for number, lane in enumerate(screen.state.lanes.values(), 1):
        if number <= LANE_KEYS:
            name = f"Lane {number}: {lane.info.title}"
            run = partial(screen.run_action, f"lane({number})")
            yield SystemCommand(name, f"Switch on or off; with tabs: go to it ({number})", run)
