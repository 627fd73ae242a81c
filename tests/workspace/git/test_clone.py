"""Clones over smart HTTP on loopback and over files: what arrives, what is refused, and that nothing stays."""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.git_server import GitServer, serve_git
from tests.support.processes import dropped_capabilities, running, wait_until
from tests.support.repositories import commit_all, git, make_repository, raw_repository, write_files
from tui.model.errors import ConsentNeeded, WorkspaceError
from tui.model.suite import RepoClone, RepositoryContext
from tui.workspace.context.read import read_repository
from tui.workspace.git import clone_process
from tui.workspace.git.clone import Clone, CloneProgress, cloned
from tui.workspace.temporary import sweep_stale, temporary_folder

SECRET = "hunter2-secret"
CLONE_PROGRAM = str(Path(clone_process.__file__))


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The system's temporary folder, of this test alone."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    for name in ("GITHUB_TOKEN", "GH_TOKEN", "ASSAY_GIT_CREDENTIALS", "SSH_AUTH_SOCK"):
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    """A repository with three commits on `main` and one more on `dev`."""
    folder = make_repository(tmp_path / "served" / "origin", {"a.py": "1\n", "src/b.ts": "b\n"})
    for number in (2, 3):
        write_files(folder, {"a.py": f"{number}\n"})
        commit_all(folder, f"commit {number}")
    git(folder, "tag", "-a", "v1", "-m", "one")
    git(folder, "checkout", "-q", "-b", "feature/dev")
    write_files(folder, {"dev.py": "dev\n"})
    commit_all(folder, "dev")
    git(folder, "checkout", "-q", "main")
    return folder


@pytest.fixture
def server(origin: Path) -> Iterator[GitServer]:
    with serve_git(origin.parent) as served:
        yield served


def left_in(folder: Path) -> list[Path]:
    return list(folder.iterdir())


def paths_of(clone: Clone) -> list[str]:
    return [file.path for file in read_repository(RepositoryContext("."), clone.base.source()).files]


def commits(clone: Clone) -> int:
    return len(git(clone.folder, "rev-list", "HEAD").split())


async def test_one_commit_of_the_default_branch(server: GitServer, origin: Path, temporary: Path) -> None:
    seen: list[CloneProgress] = []
    repo_clone = RepoClone(f"{server.url}/origin")
    async with cloned(repo_clone, allow_local=True, progress=seen.append) as clone:
        assert (clone.branch, clone.notes, clone.kept) == ("main", (), False)
        assert paths_of(clone) == ["a.py", "src/b.ts"]
        assert commits(clone) == 1
        assert str(clone.base.commit.id) == git(origin, "rev-parse", "main").decode().strip()
        assert clone.base.files == 2
        git(clone.folder, "fsck", "--strict")
        assert left_in(temporary) == [clone.folder.parent]
        assert (clone.folder.parent.stat().st_mode & 0o777) == 0o700
    assert left_in(temporary) == []
    assert seen
    assert seen[-1].received_objects <= seen[-1].total_objects


@pytest.mark.parametrize(
    ("branch", "depth", "expected", "count"),
    [("feature/dev", 1, ["a.py", "dev.py", "src/b.ts"], 1), ("main", 2, ["a.py", "src/b.ts"], 2),
     ("feature/dev", 0, ["a.py", "dev.py", "src/b.ts"], 4), ("main", 100, ["a.py", "src/b.ts"], 3),
     ("v1", 1, ["a.py", "src/b.ts"], 1)],
)  # fmt: skip
async def test_branch_and_depth(server: GitServer, branch: str, depth: int, expected: list[str], count: int) -> None:
    async with cloned(RepoClone(f"{server.url}/origin", branch, depth), allow_local=True) as clone:
        assert (clone.branch, paths_of(clone), commits(clone)) == (branch, expected, count)
        heads = git(clone.folder, "for-each-ref", "--format=%(refname)", "refs/heads").decode().split()
        assert heads == [f"refs/heads/{branch}"]


async def test_a_missing_branch_is_an_error_that_names_those_there(server: GitServer, temporary: Path) -> None:
    with pytest.raises(WorkspaceError, match="no branch 'nope'; available: feature/dev, main"):
        async with cloned(RepoClone(f"{server.url}/origin", "nope"), allow_local=True):
            pass
    assert left_in(temporary) == []


@pytest.mark.parametrize("where", ["url", "environment"])
async def test_credentials_reach_the_server_and_no_file(
    server: GitServer, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.user = ("me", SECRET)
    host = server.url.removeprefix("http://")
    url = f"http://me:{SECRET}@{host}/origin" if where == "url" else f"{server.url}/origin"
    if where == "environment":
        monkeypatch.setenv("ASSAY_GIT_CREDENTIALS", f"https://x:other@example.org http://me:{SECRET}@{host}")
    async with cloned(RepoClone(url), allow_local=True) as clone:
        assert set(server.seen) == {f"me:{SECRET}"}
        assert paths_of(clone) == ["a.py", "src/b.ts"]
        assert SECRET not in clone.url + clone.base.title
        for file in clone.folder.rglob("*"):
            assert not file.is_file() or SECRET.encode() not in file.read_bytes(), file


SPY = """
import json, os, sys
named, readable = [], []
for name in filter(str.isdecimal, os.listdir("/proc")):
    try:
        with open(f"/proc/{name}/cmdline", "rb") as file:
            words = file.read().split(bytes(1))
    except OSError:
        continue
    if int(name) == os.getpid() or sys.argv[1].encode() not in words:
        continue
    named.append(int(name))
    for path in ("environ", "mem", "fd/0"):
        try:
            os.close(os.open(f"/proc/{name}/{path}", os.O_RDONLY | os.O_NONBLOCK))
            readable.append(int(name))
        except OSError:
            pass
print(json.dumps([named, readable]))
"""


CLONES = """
import asyncio, sys
from tui.model.suite import RepoClone
from tui.workspace.git.clone import cloned
async def main():
    async with cloned(RepoClone(sys.argv[1]), allow_local=True):
        pass
asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_other_processes_read_nothing_of_a_clone_and_its_guards(server: GitServer) -> None:
    python = [*dropped_capabilities(), sys.executable, "-c"]
    server.stall = threading.Event()
    # Another program of the same user, to show that the spy would read the clone if it could.
    waiting = [*python, "print(flush=True); input()", "waiting"]
    with (
        subprocess.Popen([*python, CLONES, f"{server.url}/origin"]) as run,
        subprocess.Popen(waiting, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other,
    ):
        try:
            assert other.stdout
            assert other.stdout.readline()
            assert server.asked_for_objects.wait(60)
            clones, readable = json.loads(subprocess.check_output([*python, SPY, CLONE_PROGRAM]))
            _, others = json.loads(subprocess.check_output([*python, SPY, "waiting"]))
        finally:
            run.kill()
            other.kill()
    assert len(clones) >= 3
    assert readable == []
    assert others == [other.pid] * 3


async def test_the_password_of_a_proxy_is_in_no_environment(
    server: GitServer, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy = f"http://me:{SECRET}@127.0.0.1:1"
    monkeypatch.setenv("https_proxy", proxy)
    server.stall = threading.Event()
    task = asyncio.create_task(_clone(f"{server.url}/origin"))
    try:
        await asyncio.to_thread(server.asked_for_objects.wait, 60)
        environments = [_environment(pid) for pid in running(CLONE_PROGRAM)]
    finally:
        server.stall.set()
        await task
    own = [environment for environment in environments if str(temporary) in environment]
    assert len(own) >= 3
    assert not any(SECRET in environment for environment in own)


async def _clone(url: str) -> None:
    async with cloned(RepoClone(url), allow_local=True):
        pass


@pytest.mark.parametrize(
    ("userinfo", "words"), [("", "requires authentication"), (f"me:{SECRET}x@", "rejected the credentials")]
)
async def test_wrong_credentials_end_the_clone(server: GitServer, userinfo: str, words: str) -> None:
    server.user = ("me", SECRET)
    url = server.url.replace("://", f"://{userinfo}") + "/origin"
    with pytest.raises(WorkspaceError, match=words) as caught:
        async with cloned(RepoClone(url), allow_local=True):
            pass
    assert "ASSAY_GIT_CREDENTIALS" in caught.value.fix
    assert SECRET not in str(caught.value)
    assert len(server.seen) <= 1


async def test_credentials_of_another_host_stay_at_home(server: GitServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.user = ("me", SECRET)
    monkeypatch.setenv("GITHUB_TOKEN", SECRET)
    monkeypatch.setenv("ASSAY_GIT_CREDENTIALS", f"http://me:{SECRET}@127.0.0.1:1 https://me:{SECRET}@127.0.0.1")
    with pytest.raises(WorkspaceError, match="requires authentication"):
        async with cloned(RepoClone(f"{server.url}/origin"), allow_local=True):
            pass
    assert server.seen == []


async def test_a_redirect_does_not_take_the_credentials_along(server: GitServer, tmp_path: Path) -> None:
    server.user = ("me", SECRET)
    with serve_git(tmp_path) as first:
        first.redirect = server.url.replace("127.0.0.1", "localhost")
        url = first.url.replace("://", f"://me:{SECRET}@") + "/origin"
        with pytest.raises(WorkspaceError):
            async with cloned(RepoClone(url), allow_local=True):
                pass
    assert server.seen == []


async def test_a_redirect_to_another_port_does_not_take_the_credentials_along(
    server: GitServer, tmp_path: Path
) -> None:
    server.user = ("me", SECRET)
    with serve_git(tmp_path) as first:
        first.redirect = server.url
        url = first.url.replace("://", f"://me:{SECRET}@") + "/origin"
        with pytest.raises(WorkspaceError, match=r"credentials of 127\.0\.0\.1:.* were not sent there"):
            async with cloned(RepoClone(url), allow_local=True):
                pass
    assert server.seen == []


@pytest.mark.parametrize("how", ["stall", "trickle"])
@pytest.mark.parametrize("end", ["cancel", "limit"])
async def test_a_clone_can_be_ended_at_any_moment(server: GitServer, temporary: Path, how: str, end: str) -> None:
    setattr(server, how, threading.Event())

    async def run(limit: float) -> None:
        async with cloned(RepoClone(f"{server.url}/origin"), allow_local=True, limit_s=limit):
            pytest.fail("it cannot have been cloned")

    task = asyncio.create_task(run(1.5 if end == "limit" else 60))
    if end == "cancel":
        await asyncio.to_thread(server.asked_for_objects.wait, 60)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    else:
        with pytest.raises(WorkspaceError, match="did not finish within 2 s"):
            await task
    assert left_in(temporary) == []
    assert [pid for pid in running(CLONE_PROGRAM) if str(temporary) in _environment(pid)] == []


def _environment(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/environ").read_text(errors="replace")
    except OSError:
        return ""


async def test_a_block_that_fails_leaves_nothing(server: GitServer, temporary: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        async with cloned(RepoClone(f"{server.url}/origin"), allow_local=True):
            raise ZeroDivisionError
    assert left_in(temporary) == []


async def test_the_folder_can_be_kept(server: GitServer) -> None:
    async with cloned(RepoClone(f"{server.url}/origin", keep_temp_dir=True), allow_local=True) as clone:
        assert clone.kept
    assert git(clone.folder, "show", "HEAD:a.py") == b"3\n"
    assert sweep_stale() == 0
    assert clone.folder.is_dir()


@pytest.mark.parametrize("form", ["file", "path", "relative"])
async def test_local_repositories_are_cloned_whole_and_that_is_reported(origin: Path, form: str) -> None:
    url = {"file": f"file://{origin}", "path": str(origin), "relative": f"./{origin.name}"}[form]
    async with cloned(RepoClone(url), allow_local=True, relative_to=origin.parent) as clone:
        assert paths_of(clone) == ["a.py", "src/b.ts"]
        assert commits(clone) == 3
        assert clone.notes == ("The server does not support shallow clones: the full history was cloned.",)


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/x", "file:///x", "/x", "../x"])
async def test_local_clones_need_consent(url: str, temporary: Path) -> None:
    with pytest.raises(ConsentNeeded, match="--allow-local"):
        async with cloned(RepoClone(url)):
            pass
    assert left_in(temporary) == []


@pytest.mark.parametrize(
    "url", ["ext::sh -c 'touch /tmp/x'", "-oProxyCommand=x", "git://host/x", "https://h/\x1bx", ""]
)
async def test_refused_urls_reach_nobody(url: str) -> None:
    with pytest.raises(WorkspaceError, match="URL is not allowed"):
        async with cloned(RepoClone(url), allow_local=True):
            pass


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://127.0.0.1:1/x", "connection refused"),
        ("{server}/missing", "repository not found"),
        ("{root}/missing", "cannot clone"),
        ("{root}/empty", "the repository has no commit"),
        ("http://nowhere.invalid/x", "unknown host"),
    ],
)
async def test_faults_are_sentences(server: GitServer, origin: Path, url: str, words: str) -> None:
    git(origin.parent, "init", "-q", "empty")
    filled = url.format(server=server.url, root=origin.parent)
    with pytest.raises(WorkspaceError, match=words) as caught:
        async with cloned(RepoClone(filled), allow_local=True):
            pass
    assert caught.value.where == filled


async def test_a_repository_that_is_too_expensive_to_unpack_is_refused(
    server: GitServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tui.workspace.git.clone._CPU_S", 0.001)
    with pytest.raises(WorkspaceError, match="takes too much processor time to unpack for its size"):
        async with cloned(RepoClone(f"{server.url}/origin"), allow_local=True):
            pass


async def test_a_repository_without_its_objects_is_called_so(origin: Path) -> None:
    git(origin, "checkout", "-q", "--detach")
    head = git(origin, "rev-parse", "HEAD").decode().strip()
    (origin / ".git" / "objects" / head[:2] / head[2:]).unlink()
    with pytest.raises(WorkspaceError, match="the repository lacks objects"):
        async with cloned(RepoClone(str(origin)), allow_local=True):
            pass


async def test_hooks_filters_and_configuration_of_the_origin_do_not_run(origin: Path, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    for hook in ("post-checkout", "pre-receive", "post-update", "reference-transaction", "upload-pack"):
        place = write_files(origin / ".git" / "hooks", {hook: f"#!/bin/sh\ntouch {canary}\n"}) / hook
        place.chmod(0o755)
    git(origin, "config", "uploadpack.packObjectsHook", f"touch {canary};")
    git(origin, "config", "core.fsmonitor", f"touch {canary}")
    async with cloned(RepoClone(str(origin)), allow_local=True) as clone:
        assert clone.base.files == 2
    assert not canary.exists()


def test_what_a_killed_run_left_is_swept_up(temporary: Path) -> None:
    code = (
        "import asyncio, sys\nfrom tui.workspace.temporary import temporary_folder\n"
        "async def wait():\n    async with temporary_folder() as folder:\n"
        "        (folder / 'x').write_text('x')\n        print(folder, flush=True)\n        sys.stdin.read()\n"
        "asyncio.run(wait())\n"
    )
    environment = {**os.environ, "TMPDIR": str(temporary)}
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True
    ) as process:
        assert process.stdout
        folder = Path(process.stdout.readline().strip())
        assert sweep_stale() == 0
        assert folder.is_dir()
        process.kill()
        process.wait()
    wait_until(lambda: sweep_stale() == 1 or not folder.exists())
    assert not folder.exists()


def test_sweeping_follows_no_link_and_takes_no_others_folder(temporary: Path, tmp_path: Path) -> None:
    other = write_files(tmp_path / "other", {"owner.lock": "", "precious": ""})
    (temporary / "assay-run-link").symlink_to(other)
    write_files(temporary / "assay-run-new", {})
    results = write_files(temporary / "assay-run-results", {"report.html": ""})
    locked_by_others = write_files(temporary / "assay-run-theirs", {"owner.lock": "theirs"})
    for folder in (results, locked_by_others):
        os.utime(folder, (0, 0))
    assert sweep_stale() == 0
    assert (results / "report.html").exists()
    assert locked_by_others.exists()
    assert (other / "precious").exists()
    assert (temporary / "assay-run-new").exists()


async def test_no_place_for_a_folder_is_a_sentence(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(temporary / "missing"))
    with pytest.raises(WorkspaceError, match="cannot create a temporary folder"):
        async with temporary_folder():
            pass


async def test_folders_that_were_made_read_only_go_too(temporary: Path) -> None:
    async with temporary_folder() as folder:
        inner = write_files(folder / "a" / "b", {"x": ""})
        inner.chmod(0o500)
        (folder / "a").chmod(0o500)
    assert left_in(temporary) == []


async def test_a_hostile_tree_is_cloned_and_named(tmp_path: Path) -> None:
    origin = raw_repository(tmp_path / "hostile.git", [(0o100644, b"..", b"x"), (0o100644, b"a", b"a")])
    async with cloned(RepoClone(str(origin)), allow_local=True) as clone:
        assert clone.base.fault == "an entry named `..`"
        assert paths_of(clone) == ["a"]


def test_a_run_that_is_killed_takes_its_clone_with_it(server: GitServer, temporary: Path) -> None:
    server.stall = threading.Event()
    environment = {**os.environ, "TMPDIR": str(temporary)}
    with subprocess.Popen([sys.executable, "-c", CLONES, f"{server.url}/origin"], env=environment) as process:
        assert server.asked_for_objects.wait(60)
        assert running(str(temporary))
        process.kill()
        process.wait()
    wait_until(lambda: running(str(temporary)) == [])
    assert len(left_in(temporary)) == 1
    assert sweep_stale() == 1
    assert left_in(temporary) == []


async def test_a_server_that_is_no_git_server_is_a_sentence(server: GitServer, tmp_path: Path) -> None:
    with serve_git(tmp_path) as other:
        other.redirect = "file://" + str(tmp_path)
        with pytest.raises(WorkspaceError, match="cannot clone"):
            async with cloned(RepoClone(f"{other.url}/served/origin"), allow_local=True):
                pass
    assert server.requests == []
