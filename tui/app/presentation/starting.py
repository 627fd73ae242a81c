"""What is read before anything is chosen."""

from tui.app.presentation.pieces import Line
from tui.model.sanitize import sanitize_text


def start_lines(message: str) -> list[Line]:
    """What a newcomer reads when nothing is chosen."""
    rows: list[Line] = [
        (("Assay", "accent"), ("  tests language models, side by side", "dim")),
        (),
    ]
    if message:
        rows += [*(((row, "plain"),) for row in sanitize_text(message).splitlines()), ()]
    keys = (
        ("↑ ↓", "choose a suite or a case"),
        ("Enter", "show it, or unfold it"),
        ("r", "run the case"),
        ("R", "run the whole suite"),
        ("M", "choose which models stand side by side"),
        ("/", "filter the cases"),
        ("^p", "all commands, themes too"),
        ("?", "the keys of where you are"),
        ("q", "leave"),
    )
    return rows + [((f"{key:>7}  ", "accent"), (does, "plain")) for key, does in keys]
