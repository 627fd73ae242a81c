"""One model's pane: its name above, its figures below, its answer or one clear sentence between."""

from time import monotonic

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.geometry import Region
from textual.widgets import Static

from tui.app.explore.answer_lines import marks_in, reasoning, steps_at, transcript
from tui.app.presentation.figures import figure_line
from tui.app.presentation.pieces import Line, text_of
from tui.app.presentation.sentences import Coming, closing_note, waiting_note
from tui.app.theme.styles import content_of
from tui.app.widgets.answer_view import AnswerView
from tui.model.sanitize import sanitize_text
from tui.model.state import AttemptProgress, TrialProgress
from tui.model.suite import Case


class AnswerPane(Vertical):
    """Shows one trial at a time, and one attempt of it: the last, or the one that was asked for."""

    DEFAULT_CSS = """
    AnswerPane {
        border: round $quiet-border; border-title-color: $foreground; border-subtitle-color: $dim;
        background: $background; padding: 0 1;
        &:focus-within { border: round $focused-border; border-title-color: $accent; }
    }
    AnswerPane.-only-fault AnswerView { height: 2; }
    AnswerPane > .fault { display: none; height: auto; max-height: 40%; color: $error-mark; }
    AnswerPane.-only-fault > .fault { max-height: 100%; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.view = AnswerView()
        self._fault = Static(Content(), markup=False, classes="fault")
        self.model = ""
        self._case: Case | None = None
        self._trial: TrialProgress | None = None
        self._number: tuple[int, int] | None = None
        self._pinned: tuple[TrialProgress, int] | None = None
        self._length = self._thought = 0
        self._figures: Line = ()

    def compose(self) -> ComposeResult:
        """The answer."""
        yield self.view
        yield self._fault

    def show(self, case: Case, trial: TrialProgress | None, *, coming: Coming = "", fault: str = "") -> None:
        """Show a trial as it is now; what is shown of it already stays where it is."""
        if trial is not self._trial or case is not self._case:
            self._pinned = None
        attempt = self._attempt(trial)
        text, thought = transcript(case, attempt), reasoning(attempt)
        shown = self._shown(trial)
        number = (shown.key.repeat, attempt.number) if shown and attempt else None
        same = trial is self._trial and number == self._number and case is self._case
        self.view.streaming = trial is not None and trial.status == "running" and self._pinned is None
        if not (same and self._extend(text, thought)):
            self.view.show(text, thought)
        self._case, self._trial, self._number = case, trial, number
        self._length, self._thought = len(text), len(thought)
        self._note(trial, attempt, coming, fault)
        self.mark()
        self.draw_figures()

    def _extend(self, text: str, thought: str) -> bool:
        """Add what is new; False where what is shown is not the beginning of this."""
        if len(text) < self._length or len(thought) < self._thought:
            return False
        self.view.append_reasoning(thought[self._thought :])
        self.view.append(text[self._length :])
        return True

    def append(self, text: str) -> None:
        """More text of the trial that is shown."""
        if self._pinned is None:
            self.view.note("")
            self._length += len(text)
            self.view.append(text)

    def append_reasoning(self, text: str) -> None:
        """More of what the model thinks aloud."""
        if self._pinned is None:
            self._thought += len(text)
            self.view.append_reasoning(text)

    def pin(self, trial: TrialProgress, number: int) -> None:
        """Show this attempt of this repeat, until another case is shown."""
        if self._case is not None and self._trial is not None:
            latest = trial.attempt
            is_usual = trial is self._trial and latest is not None and latest.number == number
            self._pinned = None if is_usual else (trial, number)
            self.show(self._case, self._trial)

    def go_to_step(self, step: int) -> None:
        """Bring a step to the top, if it has begun."""
        attempt = self._attempt(self._trial)
        if self._case is not None and attempt is not None and step < len(attempt.steps):
            self.view.go_to(steps_at(self._case, attempt)[step])

    def mark(self) -> None:
        """Mark what the checks have found so far."""
        attempt = self._attempt(self._trial)
        if self._case is not None:
            self.view.mark(marks_in(self._case, attempt))

    def name_it(self, title: Content) -> None:
        """Put a title above."""
        self.border_title = title

    @property
    def figures(self) -> str:
        """What stands below, as text."""
        return text_of(self._figures)

    def draw_figures(self) -> None:
        """Bring the figures below up to date; only that line is painted, and only where it is another."""
        line = figure_line(self._shown(self._trial), self._attempt(self._trial), monotonic(), self.size.width - 4)
        if line != self._figures:
            self._figures = line
            # the public setter would paint the answer again, several times a second
            self._border_subtitle = content_of(line) if line else None
            bottom = Region(0, self.outer_size.height - 1, self.outer_size.width, 1)
            self.refresh(bottom.translate(-self.content_offset))

    def on_resize(self) -> None:
        """Other room, other figures."""
        self.draw_figures()

    def _shown(self, trial: TrialProgress | None) -> TrialProgress | None:
        return self._pinned[0] if self._pinned else trial

    def _attempt(self, trial: TrialProgress | None) -> AttemptProgress | None:
        if trial is None:
            return None
        if self._pinned is None:
            return trial.attempt
        pinned, number = self._pinned
        return next((each for each in pinned.attempts if each.number == number), pinned.attempt)

    def _note(self, trial: TrialProgress | None, attempt: AttemptProgress | None, coming: Coming, fault: str) -> None:
        """What went wrong stands at the bottom, where no text can push it out; what is waited for under the text."""
        waits, broke = "", ""
        if self._pinned is not None and attempt is not None and attempt.finished is not None:
            broke = sanitize_text(attempt.finished.error or "")
        elif trial is not None and not trial.is_open and not coming:
            broke = closing_note(trial)
        elif fault and trial is None:
            broke = sanitize_text(fault)
        elif not self._length or (trial and trial.waits):
            waits = waiting_note(trial, coming)
        self.view.note(waits)
        self._fault.update(Content(broke))
        self._fault.display = bool(broke)
        self.set_class(bool(broke) and not self._length, "-only-fault")
