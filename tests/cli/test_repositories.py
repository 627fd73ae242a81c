"""Suites over a repository, from the clone to the report: a real git server and a real model server on loopback."""

import asyncio
import json
import signal
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.command_line import CommandLine
from tests.support.git_server import serve_git
from tests.support.model_server import ModelServer, say
from tests.support.replies import status
from tests.support.repositories import git, make_repository

SEEDS = Path(__file__).parents[1] / "suites" / "seeds"
FILES = {
    "src/types/User.ts": "".join(f"// line {number}\n" for number in range(1, 41)),
    "src/index.ts": "export {};\n",
    "README.md": "readme\n",
}
PASSWORD = """Use bcrypt:

```typescript
import bcrypt from "bcrypt";
export async function hash(p: string) { return bcrypt.hash(p, 12); }
export async function compare(p: string, h: string) { return bcrypt.compare(p, h); }
```
"""


def suite_for(assay: CommandLine, seed: str, url: str, **options: Any) -> str:
    suite = json.loads((SEEDS / seed).read_text())
    suite["repoClone"]["repoUrl"] = url
    suite["options"] = {**suite.get("options", {}), "delayBetweenTestsMs": 0, **options}
    (assay.home / "suite.json").write_text(json.dumps(suite))
    return "suite.json"


def keys(server: ModelServer, assay: CommandLine) -> Mapping[str, str]:
    temporary = assay.home / "tmp"
    temporary.mkdir(exist_ok=True)
    return {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "sk-test-4711-secret", "TMPDIR": str(temporary)}


def left_behind(assay: CommandLine) -> list[str]:
    return sorted(path.name for path in (assay.home / "tmp").iterdir())


@pytest.mark.parametrize("parallel", [False, True])
async def test_the_complete_example_from_clone_to_report(assay: CommandLine, parallel: bool) -> None:
    make_repository(assay.home / "served" / "test-repo", FILES)
    with serve_git(assay.home / "served") as served:
        suite = suite_for(assay, "complete.json", f"{served.url}/test-repo", parallelModels=parallel)
        async with ModelServer(say(PASSWORD)) as server:
            ran = await assay.run_async("run", suite, "--allow-local", "-f", "json", env=keys(server, assay))
    assert ran.code == 0, ran.err
    results = json.loads(ran.out)["results"]
    assert [result["model"] for result in results] == ["gpt-5.2", "claude-sonnet-4.5", "gemini-3-pro-preview"]
    for result in results:
        (change,) = result["changes"]
        assert (change["path"], change["kind"], change["added"]) == ("src/utils/password.ts", "added", 3)
        assert change["diff"].startswith("diff --git a/src/utils/password.ts b/src/utils/password.ts\nnew file mode")
    asked = server.asked[0].body["messages"]
    assert asked[0] == {"role": "system", "content": "You are a security-focused TypeScript developer"}
    assert "// line 20\n" in asked[1]["content"]
    assert left_behind(assay) == []


async def test_the_cloning_example_and_a_kept_clone(assay: CommandLine) -> None:
    make_repository(assay.home / "served" / "express", FILES, branch="master")
    answer = "```js\nmodule.exports = (q, s, n) => n();\n```"
    with serve_git(assay.home / "served") as served:
        suite = suite_for(assay, "with-repository-cloning.json", f"{served.url}/express")
        async with ModelServer(say(answer)) as server:
            ran = await assay.run_async(
                "run", suite, "--allow-local", "--keep-temp", "-f", "json", env=keys(server, assay)
            )
    assert ran.code == 0, ran.err
    kept = next(line.removeprefix("Saved clone: ") for line in ran.err.splitlines() if line.startswith("Saved clone: "))
    branches = git(Path(kept), "branch", "--list", "--format=%(refname:short)").decode().split()
    assert len(branches) == 3
    for branch in branches:
        if branch != "master":
            shown = git(Path(kept), "show", f"{branch}:middleware/logger.js")
            assert shown == b"module.exports = (q, s, n) => n();\n"


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/x", "file:///tmp/x", "/tmp/x", "../x"])
def test_local_clones_need_consent_before_anything_is_asked(assay: CommandLine, url: str) -> None:
    suite = suite_for(assay, "with-repository-cloning.json", url)
    ran = assay.run("run", suite, "-f", "json", env={"OPENAI_BASE_URL": "http://127.0.0.1:1", "OPENAI_API_KEY": "k"})
    assert (ran.code, ran.out) == (2, "")
    assert "--allow-local" in ran.err


async def test_a_clone_that_fails_is_each_cases_error(assay: CommandLine) -> None:
    (assay.home / "served").mkdir()
    with serve_git(assay.home / "served") as served:
        suite = suite_for(assay, "with-repository-cloning.json", f"{served.url}/nothing")
        async with ModelServer(say("never asked")) as server:
            ran = await assay.run_async("run", suite, "--allow-local", "-f", "json", env=keys(server, assay))
            assert server.asked == []
    assert ran.code == 1
    assert {result["verdict"] for result in json.loads(ran.out)["results"]} == {"error"}
    assert left_behind(assay) == []


async def test_an_interrupted_clone_leaves_nothing(assay: CommandLine) -> None:
    make_repository(assay.home / "served" / "express", FILES, branch="master")
    with serve_git(assay.home / "served") as served:
        served.stall = threading.Event()
        suite = suite_for(assay, "with-repository-cloning.json", f"{served.url}/express")
        async with ModelServer(say("never asked")) as server:
            process = assay.start("run", suite, "--allow-local", "-f", "json", env=keys(server, assay))
            assert await asyncio.to_thread(served.asked_for_objects.wait, 30)
            process.send_signal(signal.SIGINT)
            out, _ = await asyncio.to_thread(process.communicate, timeout=120)
    assert process.returncode == 130
    assert json.loads(out)["run"]["state"] == "interrupted"
    assert left_behind(assay) == []


async def test_a_command_is_a_check_when_it_is_allowed(assay: CommandLine) -> None:
    make_repository(assay.home / "repo", {"hello.py": "print('old')\n"})
    case = {
        "id": "c",
        "name": "c",
        "category": "c",
        "prompt": "p",
        "applyChanges": True,
        "targetFile": "hello.py",
        "command": "grep new hello.py",
    }
    suite = {"name": "s", "description": "d", "models": ["m"], "repoClone": {"repoUrl": "./repo"}, "testCases": [case]}
    (assay.home / "suite.json").write_text(json.dumps(suite))
    async with ModelServer(say("```python\nprint('new')\n```")) as server:
        env = keys(server, assay)
        refused = await assay.run_async("run", "suite.json", "--allow-local", env=env)
        assert (refused.code, server.asked) == (2, [])
        assert "--allow-commands" in refused.err
        allowed = await assay.run_async("run", "suite.json", "--allow-local", "--allow-commands", "-f", "json", env=env)
        server.script = say("```python\nprint('other')\n```")
        failing = await assay.run_async("run", "suite.json", "--allow-local", "--allow-commands", "-f", "json", env=env)
    (check,) = json.loads(allowed.out)["results"][0]["attempts"][0]["steps"][0]["checks"]
    assert (allowed.code, check["kind"], check["target"], check["state"]) == (
        0,
        "command",
        "grep new hello.py",
        "passed",
    )
    assert "print('new')" in check["detail"]
    assert failing.code == 1
    assert left_behind(assay) == []


async def test_a_rerun_that_fails_keeps_the_changes_of_the_answer_before_it(assay: CommandLine) -> None:
    make_repository(assay.home / "repo", {"hello.py": "print('old')\n"})
    case = {"id": "c", "name": "c", "category": "c", "prompt": "p", "applyChanges": True, "targetFile": "hello.py"}
    case |= {"expectedPatterns": ["newer"]}
    suite = {"name": "s", "description": "d", "models": ["m"], "repoClone": {"repoUrl": "./repo"}, "testCases": [case]}
    (assay.home / "suite.json").write_text(json.dumps(suite))
    found = []
    rerun = ("run", "--rerun-failed", "last", "--allow-local", "--retries", "0", "-f", "json")
    async with ModelServer(say("```python\nprint('new')\n```")) as server:
        env = keys(server, assay)
        found.append(await assay.run_async("run", "suite.json", "--allow-local", "-f", "json", env=env))
        server.script = lambda _: status(500)
        found.append(await assay.run_async(*rerun, env=env))
        server.script = say("Nothing to change.")
        found.append(await assay.run_async(*rerun, env=env))
    results = [json.loads(ran.out)["results"][0] for ran in found]
    assert [each["verdict"] for each in results] == ["failed", "error", "failed"]
    changes = [[(change["path"], change["added"]) for change in each["changes"]] for each in results]
    assert changes == [[("hello.py", 1)], [("hello.py", 1)], []], "the last answer has no change"


async def test_a_recorded_answer_is_an_error_if_its_repository_cannot_be_cloned_any_more(assay: CommandLine) -> None:
    repository = make_repository(assay.home / "repo", {"hello.py": "print('old')\n"})
    case = {"id": "c", "name": "c", "category": "c", "prompt": "p", "applyChanges": True, "targetFile": "hello.py"}
    case |= {"expectedPatterns": ["new"], "command": "false"}
    suite = {"name": "s", "description": "d", "models": ["m"], "repoClone": {"repoUrl": "./repo"}, "testCases": [case]}
    (assay.home / "suite.json").write_text(json.dumps(suite))
    allowed = ("--allow-local", "--allow-commands", "-f", "json")
    async with ModelServer(say("```python\nprint('new')\n```")) as server:
        env = keys(server, assay)
        first = json.loads((await assay.run_async("run", "suite.json", *allowed, env=env)).out)
        repository.rename(assay.home / "gone")
        replayed = f"replay/{first['run']['id']}/m"
        again = await assay.run_async("run", "suite.json", "-m", replayed, *allowed, env=env)
    assert first["results"][0]["verdict"] == "failed"
    (result,) = json.loads(again.out)["results"]
    assert result["verdict"] == "error"
    assert str(assay.home / "repo") in result["error"]


@pytest.mark.parametrize(
    ("answer", "is_changed"), [("Shall I go ahead?", False), ("```python\nprint('new')\n```", True)]
)
async def test_a_command_on_the_unchanged_repository_is_reported(
    assay: CommandLine, answer: str, is_changed: bool
) -> None:
    make_repository(assay.home / "repo", {"hello.py": "print('old')\n"})
    case: dict[str, Any] = {"id": "c", "name": "c", "category": "c", "prompt": "p"}
    case |= {"applyChanges": True, "targetFile": "hello.py", "command": "grep print hello.py"}
    suite = {"name": "s", "description": "d", "models": ["m"], "repoClone": {"repoUrl": "./repo"}, "testCases": [case]}
    (assay.home / "suite.json").write_text(json.dumps(suite))
    async with ModelServer(say(answer)) as server:
        flags = ("--allow-local", "--allow-commands", "-f", "markdown")
        ran = await assay.run_async("run", "suite.json", *flags, env=keys(server, assay))
    assert ran.code == 0
    sentence = "Commands that ran on the unchanged repository, because no change was applied: 1: c × m"
    assert (sentence in ran.out) is not is_changed


async def test_flags_name_repositories_folders_and_languages(assay: CommandLine) -> None:
    make_repository(assay.home / "served" / "it", {"a.py": "A = 1\n", "b.ts": "let b;\n"}, branch="dev")
    (assay.home / "folder").mkdir()
    (assay.home / "folder" / "c.py").write_text("C = 3\n")
    case = {"id": "c", "name": "c", "category": "c", "prompt": "p"}
    suite = {"name": "s", "description": "d", "models": ["m"], "testCases": [case]}
    (assay.home / "suites").mkdir()
    (assay.home / "suites" / "suite.json").write_text(json.dumps(suite))
    with serve_git(assay.home / "served") as served:
        async with ModelServer(say("fine")) as server:
            env = keys(server, assay)
            url = f"{served.url}/it"
            cloned = await assay.run_async(
                *("run", "suites/suite.json", "--clone", url, "--branch", "dev", "--languages", "python"),
                "--allow-local",
                env=env,
            )
            read = await assay.run_async("run", "suites/suite.json", "--repo", "folder", env=env)
    assert (cloned.code, read.code) == (0, 0), cloned.err + read.err
    first, second = (asked.body["messages"] for asked in server.asked)
    assert "### a.py" in first[1]["content"]
    assert "b.ts" not in first[1]["content"]
    assert "1 file" in first[0]["content"]
    assert "### c.py" in second[1]["content"]


async def test_a_password_in_the_url_is_nowhere(assay: CommandLine) -> None:
    make_repository(assay.home / "served" / "express", FILES, branch="master")
    with serve_git(assay.home / "served") as served:
        served.user = ("ann", "pass-word-4711")
        url = served.url.replace("http://", "http://ann:pass-word-4711@")
        suite = suite_for(assay, "with-repository-cloning.json", f"{url}/express")
        async with ModelServer(say("I saw pass-word-4711")) as server:
            ran = await assay.run_async("run", suite, "--allow-local", "-f", "json", env=keys(server, assay))
    assert ran.code == 0, ran.err
    assert "pass-word-4711" not in ran.out + ran.err
    for file in assay.home.joinpath("assay_data_dir").rglob("*"):
        assert file.is_dir() or b"pass-word-4711" not in file.read_bytes()


async def test_a_key_in_the_repository_is_in_no_diff(assay: CommandLine) -> None:
    make_repository(assay.home / "served" / "r", {"a.txt": "sk-test-4711-secret\nold\n"})
    with serve_git(assay.home / "served") as served:
        case = {"id": "c", "name": "n", "category": "k", "prompt": "p", "applyChanges": True, "targetFile": "a.txt"}
        clone = {"repoUrl": f"{served.url}/r"}
        suite = {"name": "S", "description": "d", "models": ["openai/mock-a"], "testCases": [case], "repoClone": clone}
        (assay.home / "suite.json").write_text(json.dumps(suite))
        async with ModelServer(say("```\nfirst\nnew\n```")) as server:
            ran = await assay.run_async("run", "suite.json", "--allow-local", "-f", "json", env=keys(server, assay))
    (change,) = json.loads(ran.out)["results"][0]["changes"]
    assert change["diff"].endswith("-[removed key]\n-old\n+first\n+new\n")


async def test_a_key_that_names_a_branch_and_files_is_in_no_report(assay: CommandLine) -> None:
    key = "sk-test-4711-secret"
    files: dict[str, str | bytes] = {f"{key}/a.txt": "old\n", f"{key}.bin": b"\0\1"}
    make_repository(assay.home / "served" / "r", files, branch=key)
    with serve_git(assay.home / "served") as served:
        case = {"id": "c", "name": "n", "category": "k", "prompt": "p", "applyChanges": True}
        suite = {
            "name": "S",
            "description": "d",
            "models": ["openai/mock-a"],
            "testCases": [case | {"targetFile": f"{key}/a.txt"}],
            "repoClone": {"repoUrl": f"{served.url}/r"},
            "repositoryContext": {"path": "."},
        }
        (assay.home / "suite.json").write_text(json.dumps(suite))
        async with ModelServer(say("```\nnew\n```")) as server:
            ran = await assay.run_async("run", "suite.json", "--allow-local", "-f", "json", env=keys(server, assay))
    result = json.loads(ran.out)["results"][0]
    assert result["changes"][0]["path"] == "[removed key]/a.txt"
    assert "branch [removed key]" in ran.err
    assert "[removed key].bin" in ran.out
    assert key not in ran.err + ran.out
