"""The prompt of a case: as one line above its answers, whole, and its beginning in a pane without an answer."""

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from tui.app.presentation.pieces import Line, cut
from tui.app.widgets.text_views import PieceLine
from tui.model.sanitize import sanitize_line, sanitize_text
from tui.model.suite import Case

_MOST_LINES, _MOST_CHARACTERS = 12, 1200
_MOST_WHOLE = 20_000


def question_line(case: Case | None, width: int) -> Line:
    """Return the prompt of a case in one line: its first step, and how many steps follow."""
    if case is None or not case.steps:
        return ()
    head = " Prompt " if len(case.steps) == 1 else f" Step 1 of {len(case.steps)} "
    text = " ".join(sanitize_text(case.steps[0].input[: 8 * width]).split())
    return ((head, "dim"), (cut(text, max(0, width - len(head) - 1)), "plain"))


def prompt_beginning(case: Case) -> str:
    """Return the beginning of the prompt for a pane without an answer; the Prompt tab shows the whole prompt."""
    steps = case.steps
    whole = steps[0].input if steps else ""
    if len(steps) > 1:
        whole = "\n".join(f"{number}. {sanitize_line(step.input, 200)}" for number, step in enumerate(steps[:20], 1))
    lines = sanitize_text(whole[:_MOST_CHARACTERS]).splitlines()
    cut_off = len(lines) > _MOST_LINES or len(whole) > _MOST_CHARACTERS
    return "\n".join([*lines[:_MOST_LINES], *(["…"] if cut_off else [])])


class QuestionLine(PieceLine):
    """One line with the prompt of the selected case."""

    DEFAULT_CSS = "QuestionLine { background: $background; padding: 0 1; }"

    case: Case | None = None
    other: Case | None = None

    def show(self, case: Case | None, other: Case | None = None) -> None:
        """Display the prompt of another case, or of two versions of a case."""
        self.case, self.other = case, other
        self.draw()

    def line_for(self, width: int) -> Line:
        """Return the line for a width."""
        if self.other is None:
            return question_line(self.case, width)
        left, right = question_line(self.case, width // 2 - 2), question_line(self.other, width // 2 - 2)
        return ((" A", "accent"), *left, ("  B", "accent"), *right)


class QuestionPanel(Vertical):
    """The prompt of a case above two answers: one line, or up to a third of the screen."""

    DEFAULT_CSS = """
    QuestionPanel { height: auto; max-height: 33%; }
    QuestionPanel > VerticalScroll { height: auto; max-height: 100%; padding: 0 2; scrollbar-size-vertical: 1; }
    QuestionPanel > VerticalScroll > Static { height: auto; }
    QuestionPanel > VerticalScroll, QuestionPanel.-whole > QuestionLine { display: none; }
    QuestionPanel.-whole > VerticalScroll { display: block; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._line, self._whole = QuestionLine(), Static(Content(), markup=False)

    def compose(self) -> ComposeResult:
        """Compose the line and the whole prompt."""
        yield self._line
        with VerticalScroll(can_focus=False):
            yield self._whole

    def show(self, case: Case | None) -> None:
        """Display the prompt of another case."""
        self._line.show(case)
        inputs = case.inputs if case is not None else ""
        self._whole.update(Content(sanitize_text(inputs[:_MOST_WHOLE])))

    def show_versions(self, left: Case, right: Case) -> None:
        """Display the prompts of the two versions of a case that answer A, at the left, and answer B are to."""
        self._line.show(left, right)
        texts = (f"{side}: {case.inputs[: _MOST_WHOLE // 2]}" for side, case in (("A", left), ("B", right)))
        self._whole.update(Content(sanitize_text("\n\n".join(texts))))

    def toggle(self) -> None:
        """Show the whole prompt, or only one line."""
        self.toggle_class("-whole")
