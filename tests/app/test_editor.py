"""The command of the person's editor."""

from pathlib import Path

import pytest

from tui.app.editor import editor_command


@pytest.mark.parametrize(
    ("editor", "command"),
    [
        ("", ["vi", "+7", "/s/a.yaml"]),
        ("nano -w", ["nano", "-w", "+7", "/s/a.yaml"]),
        ("/usr/bin/nvim", ["/usr/bin/nvim", "+7", "/s/a.yaml"]),
        ("code", ["code", "--wait", "--goto", "/s/a.yaml:7"]),
        ("code -w", ["code", "-w", "--goto", "/s/a.yaml:7"]),
        ("hx", ["hx", "/s/a.yaml:7"]),
        ("mine", ["mine", "/s/a.yaml"]),
        ("'my editor' --x; rm", ["my editor", "--x;", "rm", "/s/a.yaml"]),
    ],
)
def test_the_editor_is_called_at_the_line_and_never_by_a_shell(editor: str, command: list[str]) -> None:
    assert editor_command({"EDITOR": editor}, Path("/s/a.yaml"), 7) == command
    assert editor_command({"VISUAL": editor, "EDITOR": "other" if editor else ""}, Path("/s/a.yaml"), 7) == command


def test_an_editor_with_a_broken_quote_is_refused() -> None:
    with pytest.raises(ValueError, match="quotation"):
        editor_command({"EDITOR": "vi 'x"}, Path("a"), 1)
