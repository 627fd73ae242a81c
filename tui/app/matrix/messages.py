"""What the Matrix screen asks of Explore; apart from it, so that it is loaded only when somebody opens it."""

from textual.message import Message

from tui.model.suite import Suite


class RunRequested(Message):
    """The suite is to be run; or what `failed` of it."""

    def __init__(self, *, failed: bool) -> None:
        super().__init__()
        self.failed = failed


class ReviewRequested(Message):
    """The answers are to be scored."""


class CancelRequested(Message):
    """The run is to be cancelled, and what is queued."""


class CompareRequested(Message):
    """The answers of two models to a case are to be held against each other; `run` is empty for the newest ones."""

    def __init__(self, suite: Suite, run: str, case: str, models: tuple[str, str]) -> None:
        super().__init__()
        self.suite, self.run, self.case, self.models = suite, run, case, models


class PauseRequested(Message):
    """The run is to be paused, or to go on."""


class PaceRequested(Message):
    """So many more cases are to be asked at once."""

    def __init__(self, by: int) -> None:
        super().__init__()
        self.by = by
