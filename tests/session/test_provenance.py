"""What takes part in a run, with its version: real packages, real files."""

import hashlib
import os
import platform
import subprocess
import sys
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import pygit2
import pytest

import tui
from tests.support.kept_runs import make_case, make_plan
from tui.model.run import Plan
from tui.model.subjects import Subject
from tui.model.suite import RepoClone
from tui.session.provenance import Digests, versions_of

ALWAYS = {"assay": tui.__version__, "python": platform.python_version(), "platform": platform.platform()}


def plan_for(*subjects: Subject, checked: bool = False) -> Plan:
    case = make_case("one")
    if not checked:
        case = replace(case, steps=tuple(replace(step, checks=()) for step in case.steps))
    return replace(make_plan([case], [subject.name for subject in subjects]), subjects=subjects)


SERVED = Subject("openai/mock-a", "openai", "mock-a")


@pytest.fixture
def digests(tmp_path: Path) -> Digests:
    return Digests(tmp_path / "cache")


def test_only_what_takes_part_is_named(digests: Digests) -> None:
    assert versions_of(plan_for(SERVED), {"openai": "openai"}, digests) == ALWAYS
    patterns = {"quickjs-ng": version("quickjs-ng")}
    assert versions_of(plan_for(SERVED, checked=True), {"openai": "openai"}, digests) == ALWAYS | patterns
    cloned = plan_for(SERVED)
    cloned = replace(cloned, suite=replace(cloned.suite, repo_clone=RepoClone("https://git.example/x")))
    git = {"pygit2": version("pygit2"), "libgit2": pygit2.LIBGIT2_VERSION}
    assert versions_of(cloned, {"openai": "openai"}, digests) == ALWAYS | git


def test_a_model_on_this_machine_is_reported_by_runtime_and_digest(digests: Digests, tmp_path: Path) -> None:
    file = tmp_path / "small.gguf"
    file.write_bytes(b"GGUF" + bytes(1000))
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    mine = Subject(f"local/{file}?seed=7", "local", str(file))
    bundled = Subject("local/smollm2-135m", "local", "smollm2-135m")
    gone = Subject("local/gone.gguf", "local", str(tmp_path / "gone.gguf"))
    found = versions_of(plan_for(mine, bundled, gone), {"local": "local"}, digests)
    assert found["xllamacpp"] == version("xllamacpp")
    assert found[f"file of local/{file}"] == f"small.gguf, sha256 {digest}"
    assert found["file of local/smollm2-135m"].startswith("SmolLM2-135M-Instruct.Q4_1.gguf, sha256 b179c9523d0e6a0f")
    assert "file of local/gone.gguf" not in found


def test_agents_and_models_that_are_not_asked(digests: Digests, tmp_path: Path) -> None:
    file = tmp_path / "agent.py"
    file.write_text("def agent(input, memory): ...")
    agent = Subject("agent.py", "agent", str(file))
    plan = plan_for(agent, SERVED, Subject("cmd:run --it", "agent", "cmd:run --it"))
    found = versions_of(plan, {"agent": "agent", "openai": "openai"}, digests)
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    assert found == ALWAYS | {"file of agent.py": f"agent.py, sha256 {digest}"}
    unasked = replace(plan, trials=tuple(key for key in plan.trials if key.model != "agent.py"))
    assert versions_of(unasked, {"agent": "agent", "openai": "openai"}, digests) == ALWAYS


def test_a_digest_is_worked_out_once_and_again_when_the_file_is_another(tmp_path: Path) -> None:
    file, folder = tmp_path / "model.gguf", tmp_path / "cache"
    file.write_bytes(b"one")
    first = Digests(folder).of(file)
    assert first == hashlib.sha256(b"one").hexdigest()
    stat = file.stat()
    file.write_bytes(b"two")
    os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert Digests(folder).of(file) == first  # same size, same time: taken for the same
    os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns + 1))
    assert Digests(folder).of(file) == hashlib.sha256(b"two").hexdigest()
    for nonsense in ("", "[]", '{"x": 1}', "\x00", "[" * 200_000):
        (folder / "digests.json").write_text(nonsense)
        assert Digests(folder).of(file) == hashlib.sha256(b"two").hexdigest()


def test_a_cache_that_cannot_be_written_is_no_fault(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    assert Digests(tmp_path / "file").of(tmp_path / "file") == hashlib.sha256(b"in the way").hexdigest()


def test_nothing_is_loaded_before_a_run_begins() -> None:
    code = (
        "import sys, tui.cli.headless, tui.session.provenance, tui.session.providers\n"
        "print([name for name in ('importlib.metadata', 'pygit2', 'httpx', 'pydantic') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
