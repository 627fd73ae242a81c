"""An app that shows what arrives from the terminal: `python -m tests.app.input_app`."""

from textual.app import ComposeResult
from textual.events import Key, Paste
from textual.widgets import Static

from tui.app.theme.themed_app import ThemedApp


class InputApp(ThemedApp[None]):
    """Counts keys and pastes, and shows the last of each."""

    keys = pastes = 0
    last = text = ""

    def compose(self) -> ComposeResult:
        yield Static(markup=False)

    def on_mount(self) -> None:
        self._show()

    def on_key(self, event: Key) -> None:
        self.keys, self.last = self.keys + 1, event.key
        self._show()

    def on_paste(self, event: Paste) -> None:
        self.pastes, self.text = self.pastes + 1, event.text
        self._show()

    def _show(self) -> None:
        self.query_one(Static).update(
            f"keys {self.keys}, last {self.last}\npastes {self.pastes}, {len(self.text)}: {self.text[:30]!r}"
        )


if __name__ == "__main__":
    InputApp().run()
