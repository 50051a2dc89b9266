"""What all dialogs have in common."""

from __future__ import annotations

from textual import events
from textual.await_complete import AwaitComplete
from textual.screen import ModalScreen, ScreenResultType
from textual.widgets import OptionList


class Dialog(ModalScreen[ScreenResultType]):
    """Closes once: of two quick Enters or clicks, both of which were sent to it, the second is
    handled when it is closed already."""

    @property
    def expects_events(self) -> bool:
        """Whether it shows what the engine is doing, and that is not done."""
        return False

    def dismiss(self, result: ScreenResultType | None = None) -> AwaitComplete:
        return super().dismiss(result) if self.is_current else AwaitComplete()


class Choices(OptionList):
    """A list whose options may be others since they were drawn."""

    def on_click(self, event: events.Click) -> None:
        option = event.style.meta.get("option")
        if option is not None and option >= self.option_count:
            event.prevent_default()
