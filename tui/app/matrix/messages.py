"""What the Matrix screen asks of Explore; apart from it, so that it is loaded only when somebody opens it."""

from textual.message import Message

from tui.model.suite import Suite


class RunRequested(Message):
    """Ask to run the suite, or only what `failed`."""

    def __init__(self, *, failed: bool) -> None:
        super().__init__()
        self.failed = failed


class ReviewRequested(Message):
    """Ask to review the answers."""


class CancelRequested(Message):
    """Ask to cancel the current run and the queued ones."""


class CompareRequested(Message):
    """Ask to compare the answers of two models to a case; `run` is empty for the newest ones."""

    def __init__(self, suite: Suite, run: str, case: str, models: tuple[str, str]) -> None:
        super().__init__()
        self.suite, self.run, self.case, self.models = suite, run, case, models


class PauseRequested(Message):
    """Ask to pause or resume the run."""


class PaceRequested(Message):
    """Ask to change the concurrency by a number of cases."""

    def __init__(self, by: int) -> None:
        super().__init__()
        self.by = by
