"""What goes along with a prompt: where files are looked for, and what stderr and every report say of them."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_costs import write_prices
from tests.support.command_line import CommandLine, Ran
from tests.support.git_server import serve_git
from tests.support.model_server import Asked, ModelServer, say
from tests.support.replies import Reply, whole
from tests.support.repositories import make_repository
from tui.model.run import ReportFormat


def write_suite(folder: Path, *contexts: list[dict[str, Any]], **fields: Any) -> None:
    cases = [
        {
            "id": f"case-{number}",
            "name": "n",
            "category": "c",
            "prompt": "Go on.",
            "expectedPatterns": ["ok"],
            **({"codeContext": context} if context else {}),
        }
        for number, context in enumerate(contexts, 1)
    ]
    options = {"delayBetweenTestsMs": 0}
    suite = {"name": "s", "description": "d", "models": ["m"], "options": options, "testCases": cases, **fields}
    (folder / "s.json").write_text(json.dumps(suite))


async def run(assay: CommandLine, server: ModelServer, *args: str) -> Ran:
    env = {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "sk-test-4711-secret"}
    return await assay.run_async("run", "s.json", *args, env=env)


def prompts(server: ModelServer) -> list[str]:
    return [asked.prompt for asked in server.asked]


async def test_files_are_looked_for_in_the_clone_then_in_the_context_folder_then_beside_the_suite(
    assay: CommandLine,
) -> None:
    cloned = {"both.py": "in the clone\n", "lib/both.py": "below lib\n", "lib/inner.py": "inner\n", "lib/own.py": "1\n"}
    make_repository(assay.home / "served" / "repo", cloned)
    for name in ("both.py", "inner.py", "beside.py"):
        (assay.home / name).write_text("beside the suite\n")
    names = ("both.py", "inner.py", "beside.py", "nowhere/gone.py")
    with serve_git(assay.home / "served") as git:
        clone, context = {"repoUrl": f"{git.url}/repo"}, {"path": "lib", "includeFiles": ["own.py"]}
        write_suite(assay.home, *([{"filePath": name}] for name in names), repoClone=clone, repositoryContext=context)
        async with ModelServer(say("ok")) as server:
            ran = await run(assay, server, "--allow-local", "-f", "json")
    results = json.loads(ran.out)["results"]
    assert [result["verdict"] for result in results] == ["passed", "passed", "passed", "error"]
    assert "nowhere/gone.py" in results[3]["error"]
    found = [prompt.partition(f"### {name}")[2] for name, prompt in zip(names, prompts(server), strict=False)]
    assert [text.split("\n")[3] for text in found] == ["in the clone", "inner", "beside the suite"]
    assert all("### lib/own.py" in prompt for prompt in prompts(server))


async def test_a_range_of_lines_is_cut_out_of_a_given_content_too(assay: CommandLine) -> None:
    lines = {"start": 2, "end": 3}
    write_suite(assay.home, [{"filePath": "a.py", "content": "one\ntwo\nthree\nfour\n", "lineRange": lines}])
    async with ModelServer(say("ok")) as server:
        ran = await run(assay, server)
    assert ran.code == 0
    assert "two\nthree\n" in prompts(server)[0]
    assert "four" not in prompts(server)[0]


async def test_a_context_without_a_file_is_a_warning_and_no_system_message(assay: CommandLine) -> None:
    (assay.home / "a.py").write_text("x\n")
    write_suite(assay.home, [], repositoryContext={"path": ".", "includeFiles": ["*.rs"]})
    async with ModelServer(say("ok")) as server:
        ran = await run(assay, server, "-f", "json")
    assert "Warning: repositoryContext matches no file" in ran.err
    assert "Omitted: is not in includeFiles: a.py" in ran.err
    assert [message["role"] for message in server.asked[0].body["messages"]] == ["user"]
    assert json.loads(ran.out)["run"]["context"]["files"] == [0, 0]


@pytest.mark.parametrize("chosen", ["markdown", "html", "json", "csv", "junit"])
async def test_stderr_and_every_report_say_what_went_along(assay: CommandLine, chosen: ReportFormat) -> None:
    folder = assay.home / "project"
    folder.mkdir()
    (folder / "a.py").write_text("x" * 100)
    (folder / "b.py").write_text("y" * 101)
    (folder / "c.py").symlink_to(folder / "a.py")
    context = {"path": "project", "maxFileSizeBytes": 100}
    write_suite(assay.home, [], [{"filePath": "b.py"}], repositoryContext=context)
    async with ModelServer(say("ok")) as server:
        ran = await run(assay, server, "-f", chosen)
    sizes = [len(prompt) - len("Go on.") for prompt in prompts(server)]
    assert f"Context: 1 file, {sizes[0]} characters, about {-(-sizes[0] // 4)} tokens per prompt\n" in ran.err
    words = (
        f"1–2 files, {sizes[0]}–{sizes[1]} characters, about {-(-sizes[0] // 4)}–{-(-sizes[1] // 4)} tokens per prompt"
    )
    left_out = "is larger than maxFileSizeBytes (101 of 100 bytes): b.py; is a symbolic link: c.py"
    assert f"Context: {words}\nOmitted: {left_out}\n" in ran.err
    if chosen == "json":
        reported = json.loads(ran.out)["run"]["context"]
        assert (reported["files"], reported["characters"]) == ([1, 2], sizes)
        assert {file["path"] for file in reported["left_out"]} == {"b.py", "c.py"}
    elif chosen == "csv":
        rows = list(csv.DictReader(ran.out.splitlines()))
        assert [(row["context_files"], row["context_characters"]) for row in rows] == [
            ("1", str(sizes[0])),
            ("2", str(sizes[1])),
        ]
    else:
        assert words in ran.out
        assert "is a symbolic link: c.py" in ran.out.replace("\\", "")


async def test_the_context_and_its_cost_are_printed_before_the_first_request(assay: CommandLine) -> None:
    (assay.home / "a.py").write_text("x" * 387)
    write_prices(assay, "prices:\n  openai/priced: {input: 1000, output: 1}\n")
    write_suite(assay.home, [{"filePath": "a.py"}], [])

    def script(asked: Asked) -> Reply:
        del asked
        (assay.home / "a.py").write_text("The file was read before the first request.\n")
        return whole("ok")

    async with ModelServer(script) as server:
        ran = await run(assay, server, "-m", "openai/priced,openai/free", "-f", "json")
    size = max(len(prompt) - len("Go on.") for prompt in prompts(server))
    tokens = -(-size // 4)
    before, _, after = ran.err.partition("\nEstimate without answers: ")
    assert f"Context: 0–1 files, 0–{size} characters, about 0–{tokens} tokens per prompt\n" in before
    assert f"case-1 · Context: 1 file, {size} characters, about {tokens} tokens per prompt\n" in before
    assert before.endswith("case-2 · Context: no file")
    each = -(-(size + 6) // 4) + 2
    cost = f"${each * 1000 / 1e6:.2f}"
    assert after.startswith(
        f"about {2 * each} tokens of input, {cost} with openai/priced; price unknown: openai/free\n"
    )
    assert "✓ case-1" in after
    assert [prompt for prompt in prompts(server) if "x" * 387 in prompt] == [prompts(server)[0]] * 2


async def test_many_cases_are_one_line_and_what_needs_attention(assay: CommandLine) -> None:
    for number in range(12):
        (assay.home / f"f{number}.py").write_text("x" * number)
    contexts: list[list[dict[str, Any]]] = [[{"filePath": f"f{number}.py"}] for number in range(12)]
    write_suite(assay.home, *contexts, repositoryContext={"path": ".", "languages": ["pyton", "json"]})
    (assay.home / "f3.py").write_bytes(b"\0")
    async with ModelServer(say("ok")) as server:
        ran = await run(assay, server)
    before = ran.err.partition("✓")[0]
    assert before.count("Context: ") == 1
    assert "Warning: case-4: f3.py: this codeContext is not UTF-8 text\n" in before
    warning = "repositoryContext.languages: no file is in pyton. Unknown language. Did you mean python?"
    assert f"Warning: {warning}\n" in before
