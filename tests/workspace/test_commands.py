"""Commands run in the changed files: how they end, what is kept, and that nothing of them is left."""

import asyncio
import errno
import os
import py_compile
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tests.support.processes import running, wait_until
from tests.support.repositories import git, make_repository
from tui.model.errors import WorkspaceError
from tui.model.results import TrialKey
from tui.model.suite import Case, Check, CommandCheck
from tui.workspace import temporary as temporary_module
from tui.workspace.answer.apply import apply_answer
from tui.workspace.commands import check_answer, clean_environment, run_command
from tui.workspace.git import checkout
from tui.workspace.git.base import Base, open_base

PYTHON = f'"{sys.executable}"'


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return folder


@pytest.fixture
def base(tmp_path: Path, temporary: Path) -> Base:
    assert temporary.is_dir()
    make_repository(
        tmp_path / "work", {"a.py": "print('old')\n", "sub/b.txt": "b\n", "run.sh": "#!/bin/sh\necho ran\n"}
    )
    (tmp_path / "work" / "run.sh").chmod(0o755)
    git(tmp_path / "work", "commit", "-q", "-a", "-m", "mode")
    git(tmp_path, "clone", "-q", "--bare", "work", "clone.git")
    return open_base(tmp_path / "clone.git")


def left_in(folder: Path) -> list[Path]:
    return list(folder.iterdir())


async def test_the_exit_status_decides_in_the_changed_files(base: Base, temporary: Path) -> None:
    case = Case("c", "n", "x", (), apply_changes=True, target_file="a.py")
    applied = apply_answer(base, case, "```python\nprint('new')\n```", TrialKey("c", "m"))
    result = await run_command(base, applied.commit, CommandCheck(f"{PYTHON} a.py; cat sub/b.txt; ./run.sh"))
    assert (result.kind, result.state) == ("command", "passed")
    assert result.target == f"{PYTHON} a.py; cat sub/b.txt; ./run.sh"
    assert result.detail.splitlines()[1:] == ["new", "b", "ran"]
    assert result.detail.startswith("exit status 0 after ")
    assert "old" in (await run_command(base, None, CommandCheck(f"{PYTHON} a.py"))).detail
    assert left_in(temporary) == []


@pytest.mark.parametrize(
    ("run", "words"),
    [
        ("exit 3", "exit status 3"),
        ("echo out; echo err >&2; false", "out\nerr"),
        ("no-such-program-here", "exit status 127"),
        ("kill -9 $$", "was killed by signal 9"),
        ("read line || exit 4", "exit status 4"),
        ("", "exit status 0"),
    ],
)
async def test_other_ends_are_failures_with_their_output(base: Base, run: str, words: str) -> None:
    result = await run_command(base, None, CommandCheck(run))
    assert result.state == ("failed" if run else "passed")
    assert words in result.detail


@pytest.mark.parametrize(
    "run",
    [
        "sleep 600",
        "sleep 600 & sleep 600 & wait",
        "trap '' TERM INT HUP; while :; do sleep 1; done",
        "setsid sleep 600 & setsid sh -c 'sleep 600' & sleep 600",
        "(nohup setsid sleep 600 >/dev/null 2>&1 &) ; yes",
    ],
)
async def test_the_limit_kills_everything(base: Base, temporary: Path, run: str) -> None:
    marker = f"assay-marker-{os.getpid()}-{time.monotonic_ns()}"
    result = await run_command(base, None, CommandCheck(f"LC_MARK={marker}; export LC_MARK; {run}", 600))
    assert result.state == "timed_out"
    assert result.detail.startswith("was killed after 600 ms")
    wait_until(lambda: running(marker) == [])
    assert left_in(temporary) == []


async def test_what_it_leaves_behind_is_killed_when_it_ends_well(base: Base, temporary: Path) -> None:
    marker = f"assay-marker-{os.getpid()}-{time.monotonic_ns()}"
    run = f"export LC_MARK={marker}; (setsid sleep 600 &) ; sleep 600 & exit 0"
    assert (await run_command(base, None, CommandCheck(run, 20_000))).state == "passed"
    wait_until(lambda: running(marker) == [])
    assert left_in(temporary) == []


async def test_cancelling_kills_it(base: Base, temporary: Path) -> None:
    marker = f"assay-marker-{os.getpid()}-{time.monotonic_ns()}"
    task = asyncio.create_task(run_command(base, None, CommandCheck(f"export LC_MARK={marker}; sleep 600; true")))
    await asyncio.to_thread(wait_until, lambda: running(marker) != [])
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    wait_until(lambda: running(marker) == [])
    assert left_in(temporary) == []


async def test_cancelling_stops_the_checkout(base: Base, temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, cancelled = threading.Event(), threading.Event()
    write, remove, done = checkout._write, temporary_module.remove_folder, []

    def write_slowly(*arguments: Any) -> str | None:
        begun.set()
        assert cancelled.wait(60)
        done.append("written")
        return write(*arguments)

    def note_removal(folder: Path) -> None:
        done.append("removed")
        remove(folder)

    monkeypatch.setattr(checkout, "_write", write_slowly)
    monkeypatch.setattr(temporary_module, "remove_folder", note_removal)
    task = asyncio.create_task(run_command(base, None, CommandCheck("true")))
    await asyncio.to_thread(begun.wait, 60)
    task.cancel()
    await asyncio.sleep(0)
    cancelled.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert done == ["written", "removed"], "one of three files, and its folder after it"
    assert left_in(temporary) == []


async def test_its_files_are_removed_while_the_app_goes_on(base: Base, monkeypatch: pytest.MonkeyPatch) -> None:
    remove, threads = temporary_module.remove_folder, []

    def note_thread(folder: Path) -> None:
        threads.append(threading.get_ident())
        remove(folder)

    monkeypatch.setattr(temporary_module, "remove_folder", note_thread)
    await run_command(base, None, CommandCheck("true"))
    assert threads
    assert threading.get_ident() not in threads


async def test_folders_below_thousands_of_others_are_removed(base: Base, temporary: Path) -> None:
    script = f"{PYTHON} -c \"import os\nfor _ in range(3000): os.mkdir('d'); os.chdir('d')\""
    assert (await run_command(base, None, CommandCheck(script))).state == "passed"
    assert left_in(temporary) == []


async def test_without_a_folder_for_temporary_files_it_says_so(base: Base, monkeypatch: pytest.MonkeyPatch) -> None:
    def unusable() -> str:
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found in ['/tmp']")

    monkeypatch.setattr(tempfile, "gettempdir", unusable)
    monkeypatch.setattr(tempfile, "_sanitize_params", lambda *_: unusable())
    with pytest.raises(
        WorkspaceError, match=r"cannot create a temporary folder .*Free disk space there, or set TMPDIR"
    ):
        await run_command(base, None, CommandCheck("true"))


async def test_endless_output_is_kept_at_both_ends(base: Base) -> None:
    run = f"echo first; {PYTHON} -c \"print('x' * 5_000_000)\"; echo last"
    detail = (await run_command(base, None, CommandCheck(run))).detail
    assert len(detail) < 70_000
    assert "\nfirst\n" in detail
    assert detail.endswith("last")
    assert "bytes omitted" in detail


async def test_no_key_reaches_it(base: Base) -> None:
    environ = {
        **os.environ,
        "OPENAI_API_KEY": "sk-secret-1",
        "ANTHROPIC_AUTH_TOKEN": "secret-2",
        "MY_THING": "sk-secret-3",
        "LC_X": "has sk-secret-1 in it",
        "SSH_AUTH_SOCK": "/tmp/agent",
        "GITHUB_TOKEN": "x",
        "XDG_URL": "https://u:p@host/",
    }
    result = await run_command(base, None, CommandCheck("env"), environ=environ, secrets=["sk-secret-1"])
    names = {line.partition("=")[0] for line in result.detail.splitlines()}
    assert "PATH" in names
    assert not names & {"OPENAI_API_KEY", "ANTHROPIC_AUTH_TOKEN", "MY_THING", "LC_X", "SSH_AUTH_SOCK", "XDG_URL"}
    shown = await run_command(base, None, CommandCheck("echo it is sk-secret-1"), secrets=["sk-secret-1"])
    assert "sk-secret-1" not in shown.detail


async def test_a_bytecode_cache_beside_a_program_is_not_used(temporary: Path, tmp_path: Path) -> None:
    (tmp_path / "check.py").write_text("import helper\n")
    (tmp_path / "helper.py").write_text("print('the source')\n")
    (tmp_path / "other.py").write_text("print('the cache')\n")
    cached = tmp_path / "__pycache__" / f"helper.{sys.implementation.cache_tag}.pyc"
    unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
    py_compile.compile(str(tmp_path / "other.py"), str(cached), invalidation_mode=unchecked)
    found = await check_answer(Check("assert.command", "", [sys.executable, "check.py"]), "x", tmp_path)
    assert found.detail.splitlines()[1:] == ["the source"]
    assert left_in(temporary) == []


def test_the_environment_is_a_list_of_known_names() -> None:
    kept = clean_environment({"PATH": "/bin", "LC_ALL": "C", "home": "/h", "AWS_PROFILE": "x", "ANYTHING": "y"})
    assert kept == {"PATH": "/bin", "LC_ALL": "C", "home": "/h"}
    assert clean_environment({"LC_API_TOKEN": "x", "XDG_SECRET_KEY": "y", "LC_NAME": "ghp_" + "a1" * 18}) == {}


async def test_git_finds_no_repository_around_it(base: Base, temporary: Path) -> None:
    git(temporary, "init", "-q")
    result = await run_command(base, None, CommandCheck("git status"))
    assert result.state == "failed"
    assert "not a git repository" in result.detail


@pytest.mark.parametrize("cut", [1, 7, 20])
async def test_a_key_at_the_cut_of_the_output_is_removed(base: Base, cut: int) -> None:
    key = "sk-QWERTYUIOPasdfghjkl1234567890"
    for before, after in ((32 * 1024 - cut, 40_000), (40_000, 32 * 1024 - cut)):
        (folder := Path(base.repository.path).parent / "print.py").write_text(
            f"print('x' * {before} + {key[:9]!r} + {key[9:]!r} + 'y' * {after}, end='')"
        )
        done = await run_command(base, None, CommandCheck(f"{PYTHON} {folder}"), secrets=[key])
        parts = {key[start : start + 7] for start in range(len(key) - 6)}
        assert "bytes omitted" in done.detail
        assert [part for part in parts if part in done.detail] == []


@pytest.mark.skipif(os.name != "posix", reason="needs executable files")
async def test_a_program_that_cannot_be_started_decides_nothing(tmp_path: Path) -> None:
    async def state_of(*words: str) -> tuple[str, str]:
        result = await check_answer(Check("assert.command", "", [*words]), "answer", tmp_path)
        return result.state, result.detail

    (tmp_path / "plain.sh").write_text("#!/bin/sh\n")
    (tmp_path / "lost.sh").write_text("#!/no/such/interpreter\n")
    (tmp_path / "lost.sh").chmod(0o755)
    for word in ("not-installed-here", "./plain.sh", "./lost.sh"):
        state, detail = await state_of(word, ".")
        assert state == "timed_out", detail
        assert detail.startswith("cannot be started (")
        assert word in detail
    assert (await state_of("/bin/sh", "-c", "echo cannot run the program: x; exit 1"))[0] == "failed"
    assert (await state_of("/bin/sh", "-c", "exit 70"))[0] == "failed"
