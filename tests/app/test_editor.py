"""The command of the person's editor."""

import asyncio
import contextlib
import shlex
import sys
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


@pytest.mark.parametrize("obeys", [True, False])
async def test_an_editor_ends_with_the_app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, obeys: bool) -> None:
    script, started = tmp_path / "editor.py", tmp_path / "started"
    script.write_text(
        "import os, pathlib, signal, time\n"
        + ("" if obeys else "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n")
        + f"pathlib.Path({str(started)!r}).write_text(str(os.getpid()))\ntime.sleep(600)\n"
    )
    monkeypatch.setattr(foreground, "_PATIENCE_S", 30.0 if obeys else 0.1)
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", shlex.join([sys.executable, str(script)]))
    screen = SimpleNamespace(
        batch_update=contextlib.nullcontext, suspend=contextlib.nullcontext, refresh=lambda **_: None
    )
    editing = asyncio.create_task(edit(cast("Any", screen), tmp_path / "suite.yaml", 1))
    await asyncio.to_thread(wait_until, lambda: started.exists() and bool(started.read_text()))
    process = psutil.Process(int(started.read_text()))
    editing.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await editing
    assert not process.is_running(), "its transport is closed as well"
