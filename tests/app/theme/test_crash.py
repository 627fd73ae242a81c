"""An app that ends with an unexpected error."""

from pathlib import Path

from tests.support.terminal import Terminal, run_here

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
