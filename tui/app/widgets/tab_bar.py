"""The names of the tabs on one line, with the current one highlighted."""

from collections.abc import Sequence
from itertools import accumulate
from typing import ClassVar, NamedTuple

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import Click
from textual.message import Message
from textual.widget import Widget


class Tab(NamedTuple):
    """The id of a tab, and its current label."""

    id: str
    label: str


class TabBar(Widget, can_focus=True):
    """A line of tabs. It posts which one was chosen."""

    DEFAULT_CSS = """
    TabBar { height: 1; background: $background; color: $dim; }
    """
    ALLOW_SELECT: ClassVar[bool] = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "step(-1)", "Previous tab", id="tabs.left", tooltip="Previous tab", show=False),
        Binding("right,l", "step(1)", "Next tab", id="tabs.right", tooltip="Next tab", show=False),
    ]

    class TabChosen(Message):
        """Posted when another tab was chosen."""

        def __init__(self, tab: str) -> None:
            super().__init__()
            self.tab = tab

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._tabs: Sequence[Tab] = ()
        self._current = ""

    @property
    def tabs(self) -> Sequence[Tab]:
        """Return the displayed tabs."""
        return self._tabs

    def show(self, tabs: Sequence[Tab], current: str) -> None:
        """Display tabs, with the current one highlighted."""
        if (list(tabs), current) != (list(self._tabs), self._current):
            self._tabs, self._current = tabs, current
            self.refresh()

    def render(self) -> Content:
        """Return the labels, the current one on another background."""
        parts: list[Content] = []
        for tab in self._tabs:
            here = tab.id == self._current
            look = "bold $accent on $selected" if here and self.has_focus else "bold $foreground on $selected"
            parts.append(Content.styled(f" {tab.label} ", look if here else "$dim"))
        return Content(" ").join(parts)

    def action_step(self, by: int) -> None:
        """Choose the next or previous tab, around the ends."""
        names = [tab.id for tab in self._tabs]
        if self._current in names:
            self.post_message(self.TabChosen(names[(names.index(self._current) + by) % len(names)]))

    def tab_offsets(self) -> Sequence[tuple[str, int]]:
        """Return the id of each tab with the column of its label."""
        columns = accumulate((len(tab.label) + 3 for tab in self._tabs), initial=0)
        return [(tab.id, column) for tab, column in zip(self._tabs, columns, strict=False)]

    def choose(self, tab: str) -> None:
        """Choose a tab as a click does."""
        self.post_message(self.TabChosen(tab))

    def on_click(self, event: Click) -> None:
        """Choose the clicked tab."""
        for tab, (name, column) in zip(self._tabs, self.tab_offsets(), strict=True):
            if column <= event.x < column + len(tab.label) + 2:
                self.choose(name)
