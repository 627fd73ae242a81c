"""The Diff tab alone, over an answer to a real repository: `python -m tests.app.diff.diff_app KIND [THEME [alone]]`.

KIND is a name in `tests.app.diff.samples`, or `large:LINES`; `alone`: the repository is gone.
"""

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from textual.app import ComposeResult

from tests.app.diff.samples import sample
from tui.app.diff.answer_diff import ShownDiff
from tui.app.diff.panel import DiffPanel
from tui.app.theme.themed_app import ThemedApp
from tui.app.widgets.footer import KeyFooter
from tui.model.shipped import shipped_folder


class DiffApp(ThemedApp[None]):
    """The tab and its keys."""

    CSS = "KeyFooter { dock: bottom; }"

    def __init__(
        self, shown: ShownDiff | None, theme: str, repository: Path | None = None, others: Sequence[ShownDiff] = ()
    ) -> None:
        super().__init__(theme=theme, theme_folders=[shipped_folder("themes")])
        self._shown, self._repository, self._others = shown, repository, others
        self.tab = DiffPanel()

    def compose(self) -> ComposeResult:
        yield self.tab
        yield KeyFooter()

    def on_mount(self) -> None:
        self.tab.show(self._shown, "Nothing is changed yet.", self._repository, self._others)
        self.tab.view.focus()


if __name__ == "__main__":
    kind, *rest = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        kept = None if rest[1:] == ["alone"] else Path(folder) / "bare.git"
        DiffApp(sample(kind, Path(folder)), rest[0] if rest else "assay-dark", kept).run()
