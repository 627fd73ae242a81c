"""The keys of where you are."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen, Screen

from tui.app.explore.overview_lines import key_lines, legend_lines
from tui.app.widgets.text_views import TextPanel


class HelpScreen(ModalScreen[None]):
    """Lists the bindings that are active on the screen below, each with what it does, then the marks."""

    DEFAULT_CSS = """
    HelpScreen { align: center middle; background: $background 60%; }
    HelpScreen > Vertical {
        width: 78; max-width: 96%; height: 90%; max-height: 46; padding: 1 2; background: $raised;
        border: round $focused-border; border-title-color: $accent; border-subtitle-color: $dim;
    }
    HelpScreen TextPanel { background: $raised; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark", "leave", "Close", id="help.close", tooltip="Close the help"),
    ]

    def __init__(self, below: Screen[object]) -> None:
        super().__init__()
        self._keys = _keys_of(below)

    def compose(self) -> ComposeResult:
        """One list."""
        with Vertical() as box:
            box.border_title = Content("Keys")
            box.border_subtitle = Content("↑ ↓ scroll · Esc closes")
            yield TextPanel()

    def on_mount(self) -> None:
        """Read from its beginning."""
        self.query_one(TextPanel).focus()

    def on_resize(self) -> None:
        """Fill it, for the room that there is."""
        self.call_after_refresh(self._fill)

    def _fill(self) -> None:
        reading = self.query_one(TextPanel)
        width = reading.scrollable_content_region.width - 1
        reading.show_lines([*key_lines(self._keys, width), (), *legend_lines(width)])

    def action_leave(self) -> None:
        """Go back."""
        self.dismiss(None)


def _keys_of(screen: Screen[object]) -> list[tuple[str, str, str]]:
    keys: dict[tuple[str, str], list[str]] = {}
    for _, binding, enabled, tooltip in screen.active_bindings.values():
        if enabled and not binding.system:
            group = (binding.id or "").partition(".")[0]
            keys.setdefault((group, tooltip or binding.description), []).append(screen.app.get_key_display(binding))
    return [(group, " ".join(dict.fromkeys(shown)), does) for (group, does), shown in keys.items()]
