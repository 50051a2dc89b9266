"""Help: what the colours mean, the keys as they are now, what each figure is."""

from __future__ import annotations

from collections.abc import Iterable

from textual.app import ComposeResult
from textual.binding import ActiveBinding, Binding
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from app.tui.keys import LANE_KEYS, lane_key
from app.tui.widgets.prompt import Prompt
from app.tui.widgets.slider import Slider

LEGEND = [
    ("accepted", "underline $accepted", "‹accepted›", "drafted, and the target agreed"),
    (
        "rejected",
        "strike $rejected",
        "~rejected~",
        "drafted, the target said no; never in the text",
    ),
    ("dropped", "dim strike $rejected", "~dropped~", "drafted behind a rejected one, never tested"),
    ("bonus", "bold", "bonus", "the target's own token that ends a round, or its correction"),
    ("plain", "", "plain", "the first token, and lanes that do not draft"),
]
METRICS = [
    ("α", "acceptance rate: accepted ÷ tested. Tested are the drafted tokens up to the first that "
          "was rejected; what stands behind it was never looked at."),
    ("τ", "tokens per target pass, the bonus token included. Accepted per pass is τ − 1."),
    ("TTFT", "time to the first token: the prefill. It is not in tok/s."),
    ("tok/s", "decoded tokens ÷ decoding time, without the first token. Batch size is 1."),
    ("1.77×", "speedup: tok/s over the autoregressive lane's in the same run."),
    ("=AR", "the same tokens as the autoregressive lane; ≠AR@17 differs from token 17 on. Only at "
            "temperature 0."),
    ("▇▅▂", "how many rounds had 0, 1, 2, … accepted tokens."),
    ("γ", "gamma: the longest draft of a round, in tokens. “each”: every strategy's own default."),
    ("leads", "its answer is the one that all lanes go on from in the next turn: the pane that "
              "was in focus last."),
    ("fair", "one lane after the other, so that speeds can be compared; race: all at once, the "
             "same time for each, so speeds share one machine."),
]  # fmt: skip


class HelpScreen(ModalScreen[None]):
    BINDINGS = [
        Binding("escape,f1,question_mark,q", "dismiss", "Close", id="help.close",
                tooltip="Back to the lanes"),
    ]  # fmt: skip

    def __init__(self, active: Iterable[ActiveBinding]) -> None:
        """`active`: the bindings of the screen below, as the keymap has them now."""
        super().__init__()
        self._active = [each.binding for each in active]

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="help") as box:
            box.border_title = "Help"
            box.border_subtitle = "↑ ↓ scroll · Esc closes"
            yield Static("Tokens", classes="heading")
            yield Static(self._legend())
            for name, bindings in self._key_groups():
                yield Static(name, classes="heading")
                yield Static(self._keys(bindings))
            yield Static("Figures", classes="heading")
            for name, text in METRICS:
                with Horizontal(classes="metric"):
                    yield Static(name, classes="term", markup=False)
                    yield Static(text, markup=False)

    def on_mount(self) -> None:
        self.query_one("#help").focus()

    def _legend(self) -> Content:
        rows = []
        for name, style, glyphs, text in LEGEND:
            gap = " " * (11 - len(name))
            rows.append(Content.assemble((name, style), gap, f"{glyphs:<12}", (text, "$quiet")))
        return Content("\n").join(rows)

    def _key_groups(self) -> list[tuple[str, list[Binding]]]:
        """The keys of the lanes are one row: nine would push the rest off the screen."""
        groups: dict[str, list[Binding]] = {"run": [], "view": [], "app": []}
        for binding in self._active:
            group = (binding.id or "").split(".")[0]
            if group in groups and not lane_key(binding):
                groups[group].append(binding)
        lanes = [
            Binding(f"1-{LANE_KEYS}", "", "Lanes", tooltip="Switch on or off; with tabs: go to")
        ]
        return [
            ("Keys", groups["run"] + lanes + groups["view"] + groups["app"]),
            ("Keys of the prompt", bindings_of(Prompt)),
            ("Keys of a slider (or the mouse: click, drag, wheel)", bindings_of(Slider)),
        ]

    def _keys(self, bindings: list[Binding]) -> Content:
        keys: dict[str, list[str]] = {}
        for binding in bindings:
            display = self.app.get_key_display(binding)
            keys.setdefault(binding.action, []).append(display)
        texts = {binding.action: binding for binding in bindings}
        return Content("\n").join(
            Content.assemble(
                (f"{' '.join(keys[action]):<13} ", "bold $primary"),
                f"{binding.description:<17} ",
                (binding.tooltip, "$quiet"),
            )
            for action, binding in texts.items()
        )


def bindings_of(widget: type[Prompt] | type[Slider]) -> list[Binding]:
    return list(Binding.make_bindings(widget.BINDINGS))
