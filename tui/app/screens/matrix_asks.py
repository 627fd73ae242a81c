"""What the Matrix screen asks of Explore; apart from it, so that it is loaded only when somebody opens it."""

from textual.message import Message


class RunRequested(Message):
    """The suite is to be run; or what `failed` of it."""

    def __init__(self, *, failed: bool) -> None:
        super().__init__()
        self.failed = failed


class CancelRequested(Message):
    """The run is to be cancelled, and what is queued."""
