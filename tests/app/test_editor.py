"""The command of the person's editor."""

import asyncio
import contextlib
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import psutil
import pytest

from tests.support.processes import wait_until
from tui.app import foreground
from tui.app.editor import edit, editor_command


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


@pytest.mark.parametrize(("obeys", "is_running"), [(True, True), (False, False)])
async def test_an_editor_ends_with_its_task_and_the_app_is_resumed_unless_it_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, obeys: bool, is_running: bool
) -> None:
    script, started = tmp_path / "editor.py", tmp_path / "started"
    script.write_text(
        "import os, pathlib, signal, time\n"
        + ("" if obeys else "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n")
        + f"pathlib.Path({str(started)!r}).write_text(str(os.getpid()))\ntime.sleep(600)\n"
    )
    monkeypatch.setattr(foreground, "_PATIENCE_S", 30.0 if obeys else 0.1)
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", shlex.join([sys.executable, str(script)]))
    resumed = []

    @contextlib.contextmanager
    def suspend() -> Iterator[None]:  # as Textual's: no `finally`
        yield
        resumed.append(True)

    app = SimpleNamespace(
        batch_update=contextlib.nullcontext, suspend=suspend, refresh=lambda **_: None, is_running=is_running
    )
    editing = asyncio.create_task(edit(cast("Any", app), tmp_path / "suite.yaml", 1))
    await asyncio.to_thread(wait_until, lambda: started.exists() and bool(started.read_text()))
    process = psutil.Process(int(started.read_text()))
    editing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await editing
    assert bool(resumed) is is_running, "an app that ends does not take the terminal from the shell"
    assert not process.is_running(), "its transport is closed as well"


async def test_an_editor_runs_only_once_it_has_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    states = []
    lend = foreground._Terminal.lend

    def watched(self: foreground._Terminal, group: int) -> None:
        states.append(psutil.Process(group).status())
        lend(self, group)

    monkeypatch.setattr(foreground._Terminal, "lend", watched)
    assert await foreground.run_in_foreground(["sh", "-c", "exit 7"]) == 7
    assert states == ["stopped"]


@pytest.mark.parametrize(("content", "reason"), [(None, "No such file"), ("", "Permission"), ("#!/no/such", "No such")])
async def test_an_editor_that_cannot_start_is_an_error(tmp_path: Path, content: str | None, reason: str) -> None:
    editor = tmp_path / "editor"
    if content is not None:
        editor.write_text(content)
        editor.chmod(0o755 if content else 0o644)
    with pytest.raises(OSError, match=reason):
        await foreground.run_in_foreground([str(editor), "suite.yaml"])


async def test_an_editor_that_cannot_be_prepared_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", shutil.which("false"))
    with pytest.raises(OSError, match="ended at once"):
        await foreground.run_in_foreground(["vi"])
