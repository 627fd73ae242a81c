"""An app that ends with an unexpected error."""

from pathlib import Path

import pytest

from tests.support.terminal import Terminal, run_here
from tui.app.dialogs import HelpScreen
from tui.app.theme.themed_app import ThemedApp

CRASH = """
from tui.app.theme.themed_app import ThemedApp

class Broken(ThemedApp[None]):
    def on_mount(self):
        key = "sk-" + "canary-4711"
        self.fail(key)

    def fail(self, secret):
        raise RuntimeError("it broke \\x1b]0;title\\x07")

app = Broken(theme_folders=[])
app.run()
raise SystemExit(app.return_code)
"""


def test_the_message_and_the_report_have_no_local_variables_and_no_control_characters(tmp_path: Path) -> None:
    (tmp_path / "crash.py").write_text(CRASH)
    with Terminal(
        run_here(tmp_path / "crash.py"), cwd=Path(__file__).parents[3], env={"ASSAY_DATA_DIR": tmp_path}
    ) as terminal:
        assert terminal.wait_exit() == 1
        assert "RuntimeError: it broke ␛]0;title␇" in terminal.screen
        assert b"canary-4711" not in terminal.raw
        assert b"\x1b]0;title" not in terminal.raw
    (report,) = (tmp_path / "crashes").iterdir()
    assert "in fail\n" in report.read_text()
    assert "canary-4711" not in report.read_text()
    assert "\x1b" not in report.read_text()


class Ending(ThemedApp[None]):
    """An app that ends while a dialog opens."""

    def on_mount(self) -> None:
        self.push_screen(HelpScreen(self.screen))
        self.exit(return_code=143)


class Failing(ThemedApp[None]):
    """An app with an error after it was asked to end."""

    def on_mount(self) -> None:
        self.exit(return_code=143)
        raise RuntimeError("it broke")


@pytest.mark.parametrize("kind", [Ending, Failing])
async def test_an_error_of_an_app_that_ends_is_no_crash(
    kind: type[ThemedApp[None]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_DATA_DIR", str(tmp_path))
    app = kind(theme_folders=[])
    await app.run_async(headless=True)
    assert (app.return_code, app.has_crashed) == (143, False)
    assert not (tmp_path / "crashes").exists()


def test_what_is_copied_has_no_control_characters() -> None:
    app = ThemedApp[None](theme_folders=[])
    app.copy_to_clipboard("a\tb\r\n\x1b[201~touch x\r \x9d0;t\x9c \u202e \u200b é\n")
    assert app.clipboard == "a\tb\r\n[201~touch x 0;t   é\n"
