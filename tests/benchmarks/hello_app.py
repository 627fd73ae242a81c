"""The least that a Textual app can be: the lower bound of the first paint."""

from textual.app import App, ComposeResult
from textual.widgets import Static


class HelloApp(App[None]):
    """One word."""

    def compose(self) -> ComposeResult:
        yield Static("Hello")


if __name__ == "__main__":
    HelloApp().run()
