"""What prompts will contain: the figures before a run are those of the prompts, and no file is sent twice."""

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.repositories import make_repository, write_files
from tests.support.work import is_linear
from tui.model.context import PlannedContext, SentContext, sent_with
from tui.model.results import LeftOutFile
from tui.model.secrets import Secrets
from tui.model.subjects import Subject
from tui.model.suite import Suite
from tui.runner.control import Control
from tui.runner.prompt import compose_prompt, without_secrets
from tui.session.context import SuiteContext, read_context
from tui.session.session import open_suite

NO_SECRETS = Secrets(())


def suite_in(folder: Path, *cases: dict[str, Any], **fields: Any) -> Suite:
    """A suite whose cases are `case-1`, `case-2`, … with these keys."""
    made = [
        {"id": f"case-{number}", "name": "n", "category": "c", "prompt": "Go on.", "expectedPatterns": ["x"], **case}
        for number, case in enumerate(cases, 1)
    ]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "s.json").write_text(
        json.dumps({"name": "s", "description": "d", "models": ["m"], "testCases": made, **fields})
    )
    loaded = open_suite(folder / "s.json")
    assert loaded.suite is not None, loaded.problems
    return loaded.suite


async def read(suite: Suite) -> SuiteContext:
    return await read_context(suite, None, None, Control())


def prompt_of(suite: Suite, context: SuiteContext, case: int = 0, secrets: Secrets = NO_SECRETS) -> str:
    found = suite.cases[case]
    prompt = compose_prompt(Subject("m", "openai", "m"), found, context.context_of(found), ())
    return without_secrets(prompt, secrets).messages[-1].content


def headings(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("### ")]


def lines(path: str, start: int, end: int) -> dict[str, Any]:
    return {"filePath": path, "lineRange": {"start": start, "end": end}}


async def test_the_figures_before_a_run_are_those_of_its_prompts(tmp_path: Path) -> None:
    files = {
        "src/a.py": "a = 1\n" * 50,
        "src/b.ts": "`" * 9 + "\n",
        "data.bin": "\0",
        "README.md": "sk-secret-47\n",
        ".gitignore": "out\n",
        "out/x.py": "",
    }
    make_repository(tmp_path / "work", files)
    write_files(tmp_path, {"own.py": "1\n2\n3\n4\n"})
    (tmp_path / "work" / "link.py").symlink_to("src/a.py")
    suite = suite_in(
        tmp_path,
        {},
        {"codeContext": [{"filePath": "work/src/a.py"}, lines("own.py", 2, 3)]},
        {"codeContext": [{"filePath": "x.py", "content": "é\n"}], "systemMessage": "Be brief."},
        {"codeContext": [{"filePath": "gone.py", "content": ""}]},
        repositoryContext={"path": "work"},
    )
    context, secrets = await read(suite), Secrets(["sk-secret-47"])
    planned = context.plan(suite.cases, secrets)
    assert [each.fault for each in planned.cases] == [""] * 4
    for case, each in zip(suite.cases, planned.cases, strict=True):
        prompt = compose_prompt(Subject("m", "openai", "m"), case, context.context_of(case), ())
        assert each.sent == sent_with(without_secrets(prompt, secrets))
        assert each.characters == sum(len(message.content) for message in prompt.messages) - len("sk-secret-47") + len(
            secrets.hide("sk-secret-47")
        )
    assert planned.sent is not None
    assert planned.sent.files == (4, 5)
    assert LeftOutFile("link.py", "is a symbolic link") in planned.sent.left_out


async def test_a_case_whose_file_is_gone_is_named_before_the_run(tmp_path: Path) -> None:
    write_files(tmp_path, {"a.py": "a\n", "b.py": "b\n"})
    suite = suite_in(tmp_path, {"codeContext": [{"filePath": "a.py"}]}, {"codeContext": [{"filePath": "b.py"}]})
    (tmp_path / "b.py").unlink()
    planned = (await read(suite)).plan(suite.cases, NO_SECRETS)
    assert [bool(each.fault) for each in planned.cases] == [False, True]
    assert planned.faults[0].startswith("case-2: ")
    assert "b.py" in planned.faults[0]
    assert planned.sent == planned.cases[0].sent


async def test_own_files_are_read_once_before_the_run(tmp_path: Path) -> None:
    write_files(tmp_path, {"a.py": "before\n"})
    suite = suite_in(tmp_path, {"codeContext": [{"filePath": "a.py"}]})
    context = await read(suite)
    context.plan(suite.cases, NO_SECRETS)
    (tmp_path / "a.py").write_text("after\n")
    assert "before" in prompt_of(suite, context)


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        ([{"filePath": "a.py"}, {"filePath": "a.py"}], ["### a.py"]),
        ([{"filePath": "a.py"}, lines("a.py", 1, 2)], ["### a.py"]),
        ([lines("a.py", 1, 2), {"filePath": "a.py"}], ["### a.py"]),
        (
            [lines("a.py", 5, 6), lines("a.py", 1, 3), lines("a.py", 3, 4)],
            ["### a.py (lines 1–4)", "### a.py (lines 5–6)"],
        ),
        ([lines("a.py", 2, 9), lines("a.py", 3, 4)], ["### a.py (lines 2–9)"]),
        (
            [lines("a.py", 1, 1), {"filePath": "b.py"}, lines("a.py", 3, 3)],
            ["### a.py (lines 1–1)", "### a.py (lines 3–3)", "### b.py"],
        ),
        ([{"filePath": "a.py"}, {"filePath": "same.py"}], ["### a.py"]),  # a hard link
        ([{"filePath": "a.py", "content": "x"}, {"filePath": "a.py", "content": "y"}], ["### a.py", "### a.py"]),
        ([{"filePath": "a.py", "content": "x"}, {"filePath": "a.py", "content": "x"}], ["### a.py"]),
        ([{"filePath": "a.py"}, {"filePath": "A.py"}], ["### a.py", "### A.py"]),  # two files where case matters
    ],
)
async def test_a_file_that_a_case_names_more_than_once_is_sent_once(
    tmp_path: Path, named: list[dict[str, Any]], expected: list[str]
) -> None:
    write_files(tmp_path, {"a.py": "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "b.py": "b\n", "A.py": "other\n"})
    os.link(tmp_path / "a.py", tmp_path / "same.py")
    suite = suite_in(tmp_path, {"codeContext": named})
    assert headings(prompt_of(suite, await read(suite))) == expected


async def test_lines_that_overlap_are_sent_once_in_order(tmp_path: Path) -> None:
    write_files(tmp_path, {"a.py": "1\n2\n3\n4\n5\n"})
    suite = suite_in(tmp_path, {"codeContext": [lines("a.py", 3, 9), lines("a.py", 1, 1), lines("a.py", 2, 4)]})
    context = await read(suite)
    assert "```python\n1\n```\n\n### a.py (lines 2–9)\n\n```python\n2\n3\n4\n5\n```" in prompt_of(suite, context)
    assert context.plan(suite.cases, NO_SECRETS).cases[0].sent.files == (1, 1)


@pytest.mark.parametrize("path", ["work", "./work", "work/../work"])
async def test_a_file_of_the_repository_is_not_sent_again_under_another_path(tmp_path: Path, path: str) -> None:
    make_repository(tmp_path / "work", {"a.py": "1\n2\n", "b.py": "b\n"})
    suite = suite_in(
        tmp_path,
        {"codeContext": [{"filePath": "work/a.py"}]},
        {"codeContext": [lines("a.py", 1, 1), {"filePath": "b.py"}]},
        repositoryContext={"path": path, "includeFiles": ["*.py", "a.*", "./b.py"]},
    )
    context = await read(suite)
    assert headings(prompt_of(suite, context)) == ["### b.py", "### work/a.py"]
    assert headings(prompt_of(suite, context, 1)) == ["### a.py", "### b.py"]
    _, second = context.plan(suite.cases, NO_SECRETS).cases
    assert second.sent.left_out[1:] == (LeftOutFile("a.py", "lines 1–1 are in the file, which is included whole"),)


async def test_hard_links_in_a_repository_are_one_file(tmp_path: Path) -> None:
    make_repository(tmp_path / "work", {"b.py": "b\n"})
    os.link(tmp_path / "work" / "b.py", tmp_path / "work" / "a.py")
    suite = suite_in(tmp_path, {}, repositoryContext={"path": "work"})
    context = await read(suite)
    assert headings(prompt_of(suite, context)) == ["### a.py"]
    assert context.shared.left_out[1:] == (LeftOutFile("b.py", "is the same file as a.py"),)


async def test_languages_and_patterns_without_a_file_are_warnings(tmp_path: Path) -> None:
    make_repository(tmp_path / "work", {"a.py": "", "b.zig": "", "c.xyz": ""})
    context: dict[str, Any] = {
        "path": "work",
        "languages": ["python", "zig", "pyton", "Rust", "xyz"],
        "includeFiles": ["*.py", "*.{zig,xyz}", "*.rs", "!*.md"],
    }
    suite = suite_in(tmp_path, {}, repositoryContext=context)
    assert (await read(suite)).plan(suite.cases, NO_SECRETS).warnings == (
        "languages: no file is in pyton. Unknown language. Did you mean python?",
        "languages: no file is in Rust.",
        "includeFiles: `*.rs` matches no file that may be sent",
    )


async def test_a_suite_that_is_stopped_plans_nothing(tmp_path: Path) -> None:
    suite = suite_in(tmp_path, {})

    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        SuiteContext().plan(suite.cases, NO_SECRETS, stop)


async def test_the_cost_is_linear_in_the_number_of_cases(tmp_path: Path) -> None:
    make_repository(tmp_path / "work", {f"f{number}.py": "x\n" * 50 for number in range(20)})
    write_files(tmp_path, {"own.py": "1\n2\n3\n"})
    cases = [{"codeContext": [lines("own.py", 1, 2)]} for _ in range(90)]
    suite = suite_in(tmp_path, *cases, repositoryContext={"path": "work"})
    context = await read(suite)

    def prepare(count: int) -> Any:
        return lambda: replace(context, _own={}).plan(suite.cases[:count], NO_SECRETS)

    assert is_linear(prepare, 30)


def test_nothing_is_planned_without_cases() -> None:
    assert PlannedContext().sent is None
    assert PlannedContext().faults == ()
    assert isinstance(SentContext((0, 0), (0, 0)).tokens, tuple)


async def test_the_tools_of_a_case_count_before_a_run(tmp_path: Path) -> None:
    tool = {"name": "search", "description": "Find a text", "parameters": {"type": "object"}, "result": "x" * 9_000}
    suite = suite_in(tmp_path, {}, {"tools": [tool]})
    plain, offering = (await read(suite)).plan(suite.cases, NO_SECRETS).cases
    assert offering.characters - plain.characters == len("searchFind a text") + len('{"type": "object"}')
