"""The commands and examples in the documents work.

Every line of a shell block is run, page by page in one folder, with a server on loopback in the place of the models. A
block whose first line is a comment with a file name is that file for the commands after it.
"""

import asyncio
import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest
import yaml

from tests.support.command_line import CommandLine
from tests.support.model_server import ModelServer, answer_by
from tests.support.pages import PAGES, TOP, Block, blocks
from tests.support.terminal import Terminal

FILE_NAME = re.compile(r"# ([\w.-]+\.(?:ya?ml|csv|jsonl|py))\n")
# Commands that download or install something, or start the tests themselves.
NOT_RUN = {
    "git clone URL assay",
    "cd assay",
    "pip install uv",
    "pip install uv && uv run pytest",
    "pip install ./assay",
}
# Keys to press in an app that a page opens, and the text that appears then, or disappears (-).
PLAYED = {
    "uv run assay first.yaml": (
        ("H", "1 saved run"), ("enter", "saved runs:"), ("m", "passed · 95%"), ("I", "Pairs"),
        ("escape", "-Pairs"), ("m", "saved runs:"), ("C", "A is better"), ("a", "1 preferred"),
        ("escape", "-A is better"), ("v", "Reviewer"), ("enter", "To what extent"), ("0", "1/2"),
        ("1", "All 2 items are scored"), ("escape", "Leave Review?"), ("y", "saved runs:"),
    )
}  # fmt: skip


# The files of other tools that commands in the documents import.
IMPORTED = {
    "results.json": "version-3.json",
    "log.eval": "inspect/log.eval",
    "report.json": "pydantic_evals/report.json",
    "evals.jsonl": "openai_evals/towns.jsonl",
}


def shell_lines(block: Block) -> list[str]:
    """Return the commands of a shell block, or of the steps of a workflow."""
    if block.language in ("", "sh"):
        return [line for line in block.text.splitlines() if line.strip()]
    if block.language == "yaml" and "runs-on:" in block.text:
        jobs = yaml.safe_load(block.text)["jobs"].values()
        return [step["run"] for job in jobs for step in job["steps"] if "run" in step]
    return []


def write_shims(folder: Path, checkout: Path) -> None:
    """Write `assay` and `uv run assay` as programs that run the source of a checkout with this Python."""
    folder.mkdir()
    scripts = {
        "assay": f'PYTHONPATH="{checkout}" exec "{sys.executable}" -m tui "$@"',
        "uv": '[ "$1 $2" = "run assay" ] || exit 99\nshift 2\nexec assay "$@"',
    }
    for name, line in scripts.items():
        (folder / name).write_text(f"#!/bin/sh\n{line}\n")
        (folder / name).chmod(0o755)


def is_interactive(line: str) -> bool:
    """Return whether the command opens the app: `assay` alone or with a path."""
    words = line.rpartition("uv run assay")[2].split() if "uv run assay" in line else ["-"]
    return not words or words[0].endswith(".yaml")


async def run_line(line: str, folder: Path, environ: dict[str, str], home: CommandLine) -> tuple[int, str]:
    """Run a line of a block and return its exit code and output: without a shell if it is `assay` with words only."""
    words = shlex.split(line.removeprefix("uv run "))
    if words[:1] != ["assay"] or set(line) & set("|&;<>$`*?~\n"):
        return await run_shell(line, folder, environ)
    ran = await home.run_async(*words[1:], env=environ, folder=folder)
    return ran.code, ran.out + ran.err


async def run_shell(line: str, folder: Path, environ: dict[str, str]) -> tuple[int, str]:
    process = await asyncio.create_subprocess_exec(
        "bash",
        "-c",
        line,
        cwd=folder,
        env=environ,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await process.communicate()
    return process.returncode or 0, output.decode()


def open_app(line: str, folder: Path, environ: dict[str, str]) -> None:
    command = line.removeprefix("pip install uv && ")
    with Terminal(["bash", "-c", f"exec {command}"], size=(120, 40), cwd=folder, env=environ) as terminal:
        terminal.wait_for("? help")
        for key, text in PLAYED.get(line, ()):
            terminal.press(key)
            wait = terminal.wait_while if text.startswith("-") else terminal.wait_for
            wait(text.removeprefix("-"))
        terminal.press("q")
        assert terminal.wait_exit() == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
async def test_every_command_in_a_block_works(page: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    folder = tmp_path / "checkout"
    shutil.copytree(TOP / "test-suites", folder / "test-suites")
    (folder / "tui").symlink_to(TOP / "tui")  # as in a clone, the suites are those that are bundled
    (folder / "themes").symlink_to(TOP / "themes")
    for name, sample in IMPORTED.items():
        shutil.copy(TOP / "tests" / "imports" / "files" / sample, folder / name)
    write_shims(tmp_path / "bin", folder)
    assay = CommandLine(home)
    environ = assay.environ()
    environ |= {
        "PATH": f"{tmp_path / 'bin'}:{environ['PATH']}",
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
        "OPENAI_API_KEY": "key-of-the-test",
    }
    async with ModelServer(answer_by({"France": "The capital of France is Paris."})) as server:
        environ["OPENAI_BASE_URL"] = server.url
        (home / "assay_config_dir").mkdir(parents=True)
        config = f"providers:\n  local: {{kind: openai, base_url: '{server.url}'}}\n"
        (home / "assay_config_dir" / "config.yaml").write_text(config)
        for block in blocks(page):
            if named := FILE_NAME.match(block.text):
                has_comments = block.language in ("yaml", "python")
                text = block.text if has_comments else block.text.removeprefix(named[0])
                (folder / named[1]).write_text(text, encoding="utf-8")
            for line in shell_lines(block):
                if line in NOT_RUN:
                    continue
                if is_interactive(line):
                    await asyncio.to_thread(open_app, line, folder, environ)
                    continue
                runs = "assay run " in line  # ends with 1, since the answers of the server pass few checks
                own_config = {"ASSAY_CONFIG_DIR": str(home / "new")} if "assay config " in line else {}
                code, output = await run_line(line, folder, environ | own_config, assay)
                assert code in ((0, 1) if runs else (0,)), f"{line}: {code}\n{output}"
                assert not runs or "Cannot connect" not in output, output
    if page.name == "tutorial.md":
        assert len((folder / "scores.jsonl").read_text().splitlines()) == 2
        assert "SQL injection" in (folder / "first.html").read_text()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
async def test_every_config_in_it_is_valid(page: Path, tmp_path: Path) -> None:
    assay = CommandLine(tmp_path)
    (tmp_path / "assay_config_dir").mkdir()
    for block in blocks(page):
        if block.language == "yaml" and not FILE_NAME.match(block.text):
            (tmp_path / "assay_config_dir" / "config.yaml").write_text(block.text, encoding="utf-8")
            checked = await assay.run_async("config", "check", env={"MY_SERVER_KEY": "key-of-the-test"})
            assert checked.code == 0, checked.out + checked.err
