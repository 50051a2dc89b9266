"""The command palette: every action that has a key, by name."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from textual.app import App, SystemCommand
from textual.command import CommandList, CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.fuzzy import Matcher

from app.strategies.registry import LOCAL_STRATEGIES
from app.strategies.strategy import DEFAULT_TREE, DYNAMIC_TREE
from app.tui.keys.bindings import APP_KEYS, LANE_KEYS, VIEW_KEYS, allowed, lane_key, run_keys
from app.tui.keys.key_names import active_bindings, key_label
from app.tui.screens.lanes import MainScreen
from app.tui.state.sliders import SLIDERS, is_shown

TREES = {
    DEFAULT_TREE: "The tree it started with",
    DYNAMIC_TREE: "The likeliest guesses of each round",
}
DESCRIPTION_SCORE = 0.01  # for a match in the description alone
AS_TYPED = 2.0  # times as good as the same words in another order
STATIC = "The same shape in every round, {} tokens deep"


class Palette(CommandPalette):
    """Turns no pages before its list is laid out: Textual's would raise, and end the app."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "command_list":
            return any(each.scrollable_content_region for each in self.query(CommandList))
        return super().check_action(action, parameters)


class CommandsProvider(Provider):
    """Finds commands by the words of their names and descriptions, in any order. Unlike Textual's
    own provider it keeps their order, in which commands with a key come first."""

    async def discover(self) -> Hits:
        for name, what, run, *_ in self.app.get_system_commands(self.screen):
            yield DiscoveryHit(name, run, help=what)

    async def search(self, query: str) -> Hits:
        matchers = [self.matcher(word) for word in query.split()]
        for name, what, run, *_ in self.app.get_system_commands(self.screen):
            scores = [word_score(matcher, name, what) for matcher in matchers]
            if scores and all(scores):
                as_typed = query.casefold() in name.casefold()
                score = sum(scores) * (AS_TYPED if as_typed else 1.0)
                yield Hit(score, highlighted(name, matchers), run, help=what)


def word_score(matcher: Matcher, name: str, what: str) -> float:
    """Return how well a word matches a command: its name, else its description; 0 if neither."""
    described = matcher.query.casefold() in what.casefold()
    return matcher.match(name) or (DESCRIPTION_SCORE if described else 0.0)


def highlighted(name: str, matchers: Iterable[Matcher]) -> Content:
    content = Content(name)
    for matcher in matchers:
        for offset in matcher.fuzzy_search.match(matcher.query, name)[1]:
            content = content.stylize(matcher.match_style, offset, offset + 1)
    return content


def commands(app: App[None], screen: MainScreen) -> Iterable[SystemCommand]:
    for node, bindings in ((app, [*run_keys(screen.state), *APP_KEYS]), (screen, VIEW_KEYS)):
        keys: dict[str, list[str]] = {}
        for binding in active_bindings(app, bindings):
            keys.setdefault(binding.action, []).append(key_label(binding.key))
        for binding in bindings:
            action = binding.action
            wanted = action != "command_palette" and not lane_key(binding)
            if wanted and allowed(screen.state, action):
                what = f"{binding.tooltip} ({', '.join(keys[action])})"
                run = partial(node.run_action, action)
                yield SystemCommand(binding.description, what, run)
    yield SystemCommand("Theme", "Choose how the screen looks", app.search_themes)
    keyed = {binding.action for binding in VIEW_KEYS}
    for spec in SLIDERS if allowed(screen.state, "slider") else ():
        action = f"slider({spec.name!r})"
        if action not in keyed and is_shown(spec, screen.state):
            run = partial(screen.run_action, action)
            yield SystemCommand(f"Slider: {spec.label}", spec.what, run)
    infos = [lane.info for lane in screen.state.lanes.values()]
    trees = dict.fromkeys(
        (info.strategy, info.title, tree, depth)
        for info in infos
        for tree, depth in info.trees.items()
    )
    for strategy, title, tree, depth in trees if allowed(screen.state, "tree") else ():
        what = TREES.get(tree, STATIC.format(depth))
        run = partial(app.run_action, f"tree({strategy!r}, {tree!r})")
        yield SystemCommand(f"{title} tree: {tree}", f"{what}; from the next round on", run)
    for each in LOCAL_STRATEGIES.values() if allowed(screen.state, "add_lane") else ():
        run = partial(app.run_action, f"add_lane({each.name!r})")
        yield SystemCommand(f"Add lane: {each.title}", each.summary, run)
    for number, lane in enumerate(screen.state.lanes.values(), 1):
        if number <= LANE_KEYS:
            name = f"Lane {number}: {lane.info.title}"
            run = partial(screen.run_action, f"lane({number})")
            key = screen.state.keys[f"view.lane{number}"]
            yield SystemCommand(name, f"Go to it ({key})", run)
