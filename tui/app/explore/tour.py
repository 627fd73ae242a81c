"""The tour of Explore: six steps, each about one part of the screen, which stays visible."""

from typing import Any, ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from tui.app.bindings import bind
from tui.app.keymap import key_of
from tui.app.presentation.pieces import Line
from tui.app.screens import Dialog
from tui.app.theme.styles import content_of_lines
from tui.app.widgets.splitter import Splitter


class _Step(NamedTuple):
    """A step: the id of the part of the screen that it explains, a text, and keys by binding id with their effect."""

    part: str
    title: str
    text: str
    keys: tuple[tuple[str, str], ...]


STEPS = (
    _Step(
        "suites",
        "Suites and cases",
        "Each suite is a YAML or JSON file with cases: a prompt, and checks of the answer. Arrows move the cursor, "
        "Enter folds. A file that you save in an editor is read again.",
        (
            ("look.filter", "filter the cases"),
            ("look.jump", "go to a case by a part of its name"),
            ("look.edit", "open the case in your editor"),
        ),
    ),
    _Step(
        "middle",
        "Run",
        "A run sends the prompt to every model that is displayed. Answers stream in, and each finished one is saved.",
        (
            ("run.case", "run the selected case"),
            ("run.suite", "run the whole suite"),
            ("look.models", "choose the models"),
            ("run.local", "run on the bundled model, which needs no key"),
            ("run.cancel", "cancel"),
        ),
    ),
    _Step(
        "answers",
        "Answers side by side",
        "One pane for each model. The matches of the checks are marked while text arrives.",
        (
            ("pane.1", "go to the first pane"),
            ("answer.next-match", "go to the next match"),
            ("answer.render", "render Markdown"),
            ("pane.zoom", "zoom the pane"),
            ("app.jump-mode", "go to a pane or tab by a letter"),
            ("answer.copy", "copy"),
        ),
    ),
    _Step(
        "details",
        "Checks and details",
        "The tabs show why the answer passed or failed, the prompt as it was sent, what a person scores, every "
        "attempt, and the diff of a repository that the answer changes.",
        (("tabs.next", "next tab"), ("tabs.before", "previous tab"), ("run.failed", "rerun what failed")),
    ),
    _Step(
        "middle",
        "Compare models",
        "The matrix shows all cases × all models, with intervals and exact tests. Compare shows two answers word by "
        "word.",
        (("look.matrix", "matrix"), ("look.compare", "compare two answers"), ("look.runs", "all saved runs")),
    ),
    _Step(
        "middle",
        "Score the risk",
        "In a review, people score each answer from 0 to 4 by the criteria of the case, blind if they want. A run with "
        "its scores is exported from the saved runs.",
        (("look.review", "review"), ("app.help", "all keys of the screen"), ("look.tour", "this tour again")),
    ),
)


class TourScreen(Dialog[None]):
    """A dialog with one step of the tour at a time; the part of the screen below that it explains has a frame."""

    DEFAULT_CSS = """
    TourScreen { align: right bottom; background: transparent; }
    TourScreen > Vertical { width: 64; max-height: 90%; margin: 0 1 2 1; }
    TourScreen Static { height: auto; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("enter,right,space,n", "go(1)", "tour.next", "Next step", label="next"),
        bind("left,backspace,p", "go(-1)", "tour.before", "Previous step", label="back"),
        bind("escape,q", "leave", "tour.leave", "Close the tour", label="close"),
    ]

    def __init__(self, below: Screen[Any]) -> None:
        super().__init__()
        self._below, self._number = below, 0
        self._frame, self._text = Vertical(), Static(markup=False)

    def compose(self) -> ComposeResult:
        """Compose the text in its frame."""
        with self._frame:
            yield self._text

    def on_mount(self) -> None:
        """Display the first step."""
        self._show()

    def on_unmount(self) -> None:
        """Remove the frame around the explained part."""
        self._explain("")

    def action_go(self, by: int) -> None:
        """Display another step; after the last one, close the tour."""
        self._number = max(0, self._number + by)
        if self._number < len(STEPS):
            self._show()
        else:
            self.dismiss(None)

    def _show(self) -> None:
        step = STEPS[self._number]
        self._frame.border_title = Content(f"Tour {self._number + 1} of {len(STEPS)}: {step.title}")
        last = self._number == len(STEPS) - 1
        self._frame.border_subtitle = Content("Enter close · ← back" if last else "Enter next · ← back · Esc close")
        keys: list[Line] = [
            ((f"{key:>6}", "accent"), (f"  {does}", "plain"))
            for key, does in ((key_of(self._below, binding_id), does) for binding_id, does in step.keys)
            if key
        ]
        self._text.update(content_of_lines([((step.text, "plain"),), (), *keys]))
        self._explain(step.part)

    def _explain(self, part: str) -> None:
        for widget in self._below.query(".-explained"):
            widget.remove_class("-explained")
        if part:
            for widget in self._below.query(f"#{part}"):
                widget.add_class("-explained")
        for splitter in self._below.query(Splitter):
            splitter.refresh()
