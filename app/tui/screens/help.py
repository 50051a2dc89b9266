"""Help: what the colours mean, the keys as they are now, what each figure is."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.binding import ActiveBinding, Binding
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

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

    def __init__(self, bindings: list[tuple[str, ActiveBinding]]) -> None:
        super().__init__()
        self._key_rows = bindings

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="help") as box:
            box.border_title = "Help"
            box.border_subtitle = "↑ ↓ scroll · Esc closes"
            yield Static(heading("Tokens"))
            yield Static(self._legend())
            yield Static(heading("Keys"))
            yield Static(self._keys())
            yield Static(heading("Figures"))
            for name, text in METRICS:
                yield Static(Content.styled(name, "bold $primary"), classes="term")
                yield Static(Content(text), classes="meaning")

    def on_mount(self) -> None:
        self.query_one("#help").focus()

    def _legend(self) -> Content:
        rows = []
        for name, style, glyphs, text in LEGEND:
            gap = " " * (11 - len(name))
            rows.append(Content.assemble((name, style), gap, f"{glyphs:<12}", (text, "$quiet")))
        return Content("\n").join(rows)

    def _keys(self) -> Content:
        rows = []
        for keys, active in self._key_rows:
            rows.append(
                Content.assemble(
                    (f"{keys:<14} ", "bold $primary"),
                    f"{active.binding.description:<17}",
                    (active.binding.tooltip, "$quiet"),
                )
            )
        return Content("\n").join(rows)


def heading(text: str) -> Content:
    return Content.styled(text, "bold underline")
