"""What a good file becomes: each ruling on fields, defaults, lines and names."""

import gc
import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.suites.loaded import lines_of, pattern_error, suite_of
from tests.support.tables import read_table
from tui.model.suite import Check, CodeContext, CommandCheck, LineRange, Options, RepositoryContext, Step
from tui.model.values import JsonObject
from tui.suites import load
from tui.suites.load import load_suite

ROOT = {"name": "n", "description": "d", "models": ["m"]}
CASE = {"id": "a", "name": "n", "category": "c", "prompt": "p"}
CLONE = {"repoUrl": "https://example.com/r"}


def document(case: dict[str, Any] | None = None, **root: Any) -> str:
    return json.dumps({**ROOT, **root, "testCases": [{**CASE, **(case or {})}]})


@pytest.mark.parametrize(("retries", "attempts"), [(0, 1), (1, 1), (3, 3), (2.0, 2)])
def test_retries_are_attempts_in_all(retries: float, attempts: int, tmp_path: Path) -> None:
    assert suite_of(tmp_path, "s.json", document(options={"retries": retries})).options.attempts == attempts


@pytest.mark.parametrize("number", ["60000.0", "6e4", "60000", "6.0E+4"])
def test_json_has_one_kind_of_number(number: str, tmp_path: Path) -> None:
    text = document(options={"timeoutMs": "N"}).replace('"N"', number)
    timeout = suite_of(tmp_path, "s.json", text).options.timeout_ms
    assert (timeout, type(timeout)) == (60_000, int)


@pytest.mark.parametrize("streaming", [None, True, False])
def test_unset_streaming_differs_from_false(streaming: bool | None, tmp_path: Path) -> None:
    options = {} if streaming is None else {"streaming": streaming}
    assert suite_of(tmp_path, "s.json", document(options=options)).options.streaming is streaming


def test_the_hash_is_of_the_bytes_and_the_path_as_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = b"\xef\xbb\xbf" + document().encode()
    (tmp_path / "s.json").write_bytes(content)
    monkeypatch.chdir(tmp_path)
    loaded = load_suite(Path("s.json"), pattern_error)
    assert loaded.suite is not None
    assert loaded.suite.path == "s.json"
    assert loaded.suite.sha256 == hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("npm test", CommandCheck("npm test")),
        ({"run": "npm test"}, CommandCheck("npm test", 60_000)),
        ({"run": "npm test", "timeoutMs": 500}, CommandCheck("npm test", 500)),
    ],
)
def test_a_command_is_an_extension_without_a_warning(command: object, expected: CommandCheck, tmp_path: Path) -> None:
    case = {"command": command, "applyChanges": True, "targetFile": "a.js", "expectedPatterns": ["x"]}
    loaded = suite_of(tmp_path, "s.json", document(case, repoClone=CLONE)).cases[0]
    assert loaded.command == expected
    assert loaded.steps[0].checks == (Check("expected_pattern", "x"), Check("command", "npm test"))


@pytest.mark.parametrize(("written", "share"), [("1", 1.0), ("0.6", 0.6), ("6e-1", 0.6)])
@pytest.mark.parametrize("name", ["s.json", "s.yaml"])
def test_a_share_of_repeats_is_an_extension_with_a_warning(
    name: str, written: str, share: float, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(document({"minPassRate": "SHARE"}).replace('"SHARE"', written))
    loaded = load_suite(tmp_path / name, pattern_error)
    assert loaded.suite is not None
    assert loaded.suite.cases[0].min_pass_rate == share
    assert [(problem.level, problem.where) for problem in loaded.problems] == [("warning", "testCases[0].minPassRate")]


@pytest.mark.parametrize("name", ["s.json", "s.yaml"])
def test_guidance_is_an_extension_with_a_warning(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(document(riskGuidance=["none", " a bit ", "half", "most", "all"]))
    loaded = load_suite(tmp_path / name, pattern_error)
    assert loaded.suite is not None
    assert loaded.suite.risk_guidance == ("none", "a bit", "half", "most", "all")
    assert [(problem.level, problem.where) for problem in loaded.problems] == [("warning", "riskGuidance")]
    assert suite_of(tmp_path, "plain.json", document()).risk_guidance == ()


def test_the_schema_key_for_editors_is_fine(tmp_path: Path) -> None:
    suite_of(tmp_path, "s.json", document().replace("{", '{"$schema": "./schema.json", ', 1))
    suite_of(tmp_path, "t.json", '{"$schema": "x", "input": "i"}')
    suite_of(tmp_path, "u.yaml", "# yaml-language-server: $schema=x\n$schema: x\ninput: i\n")


def test_paths_may_begin_with_a_dot_and_a_slash(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x")
    case = {"codeContext": [{"filePath": "./a.py"}], "applyChanges": True, "targetFile": "./src/b.py"}
    (tmp_path / "s.json").write_text(document(case))
    loaded = load_suite(tmp_path / "s.json", pattern_error, clone=True)
    assert loaded.suite is not None
    assert loaded.suite.cases[0].target_file == "src/b.py"
    assert loaded.suite.cases[0].code_context == (CodeContext("a.py"),)


def test_a_code_context_keeps_everything(tmp_path: Path) -> None:
    context = {"filePath": "a.py", "content": "x\ny", "language": "python", "lineRange": {"start": 1, "end": 9}}
    case = suite_of(tmp_path, "s.json", document({"codeContext": [context]})).cases[0]
    assert case.code_context == (CodeContext("a.py", "x\ny", "python", LineRange(1, 9)),)


def test_context_files_are_looked_for_in_the_context_folder(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "a.py").write_text("x")
    case = {"codeContext": [{"filePath": "a.py"}]}
    suite_of(tmp_path, "s.json", document(case, repositoryContext={"path": "./project"}))
    assert lines_of(tmp_path, "s.json", document(case)) != []


def test_context_files_are_looked_for_beside_the_suite_too(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "a.py").write_text("x")
    case = {"codeContext": [{"filePath": "a.py"}]}
    suite_of(tmp_path, "s.json", document(case, repositoryContext={"path": "./project"}))
    (tmp_path / "project" / "a.py").mkdir()
    (line,) = lines_of(tmp_path, "s.json", document(case, repositoryContext={"path": "./project"}))
    assert "project/a.py is a folder, not a file" in line


def test_a_context_of_a_clone_is_the_clones_root_where_it_names_no_path(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, "s.json", document(repoClone=CLONE, repositoryContext={"includeFiles": ["*.js"]}))
    assert suite.repository_context == RepositoryContext(".", ("*.js",))
    (tmp_path / "s.json").write_text(document(repositoryContext={"includeFiles": ["*.js"]}))
    assert load_suite(tmp_path / "s.json", pattern_error, clone=True).problems == ()
    assert load_suite(tmp_path / "s.json", pattern_error, repository=tmp_path).problems == ()


def test_context_files_are_not_looked_for_where_a_repository_is_cloned(tmp_path: Path) -> None:
    case = {"codeContext": [{"filePath": "nowhere.py"}]}
    suite_of(tmp_path, "s.json", document(case, repoClone=CLONE, repositoryContext={"path": "lib"}))


@pytest.mark.parametrize("path", [".", "./", "src", "./src", "src/", "packages/a"])
def test_a_context_folder_in_the_clone_is_not_looked_for(path: str, tmp_path: Path) -> None:
    suite_of(tmp_path, "s.json", document(repoClone=CLONE, repositoryContext={"path": path}))


def test_an_absolute_context_folder_is_for_a_person_to_allow(tmp_path: Path) -> None:
    suite_of(tmp_path, "s.json", document(repositoryContext={"path": str(tmp_path)}))
    (tmp_path / "suites").mkdir()
    suite_of(tmp_path / "suites", "s.json", document(repositoryContext={"path": ".."}))


def test_a_link_out_of_the_folder_is_no_context_file(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("x")
    (tmp_path / "suites").mkdir()
    (tmp_path / "suites" / "a.py").symlink_to(tmp_path / "secret.txt")
    lines = lines_of(tmp_path / "suites", "s.json", document({"codeContext": [{"filePath": "a.py"}]}))
    assert len(lines) == 1
    assert lines[0].endswith("FOLDER/a.py is a symbolic link that points outside its folder; copy the file instead")


def test_a_file_behind_a_link_is_no_context_file(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("x")
    (tmp_path / "link").symlink_to(tmp_path / "src")
    lines = lines_of(tmp_path, "s.json", document({"codeContext": [{"filePath": "link/a.py"}]}))
    assert [
        line.endswith("link/a.py is a symbolic link, or is behind one; give the path of the file itself")
        for line in lines
    ] == [True]
    assert lines_of(tmp_path, "s.json", document({"codeContext": [{"filePath": "./src/a.py"}]})) == []


def test_a_clone_from_the_command_line_replaces_the_suites(tmp_path: Path) -> None:
    case = {"applyChanges": True, "targetFile": "a.py", "codeContext": [{"filePath": "nowhere.py"}]}
    (tmp_path / "s.json").write_text(document(case))
    assert load_suite(tmp_path / "s.json", pattern_error).suite is None
    assert load_suite(tmp_path / "s.json", pattern_error, clone=True).problems == ()


def test_a_repository_from_the_command_line_replaces_the_context_folder(tmp_path: Path) -> None:
    (tmp_path / "repository").mkdir()
    (tmp_path / "repository" / "a.py").write_text("x")
    (tmp_path / "s.json").write_text(
        document({"codeContext": [{"filePath": "a.py"}]}, repositoryContext={"path": "nowhere"})
    )
    assert load_suite(tmp_path / "s.json", pattern_error).suite is None
    assert load_suite(tmp_path / "s.json", pattern_error, repository=tmp_path / "repository").problems == ()


def test_models_named_twice_are_asked_once(tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text(document(models=["a", "b", "a"]))
    loaded = load_suite(tmp_path / "s.json", pattern_error)
    assert loaded.suite is not None
    assert loaded.suite.models == ("a", "b")
    assert [problem.level for problem in loaded.problems] == ["warning"]


def test_a_suite_with_warnings_is_a_suite_without_what_is_unknown(tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text(document({"tag": ["x"], "tags": ["y"]}, extra=1))
    loaded = load_suite(tmp_path / "s.json", pattern_error)
    assert loaded.suite is not None
    assert loaded.suite.cases[0].tags == ("y",)
    assert [(problem.level, problem.where) for problem in loaded.problems] == [
        ("warning", "extra"),
        ("warning", "testCases[0].tag"),
    ]


@pytest.mark.parametrize("break_", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("first", ["id", "name", "riskCriteria"])
def test_a_case_knows_its_line_in_json(break_: str, indent: int | None, first: str, tmp_path: Path) -> None:
    criteria = [{"name": "r", "description": "{\né😀", "severity": "low"}]
    cases = []
    for number in range(5):
        case = {**CASE, "id": f"a{number}", "riskCriteria": criteria}
        cases.append({first: case.pop(first), **case})
    value = {**ROOT, "testCases": cases, "options": {}}
    text = json.dumps(value, indent=indent, ensure_ascii=False).replace("\n", break_)
    (tmp_path / "s.json").write_bytes(text.encode())
    loaded = load_suite(tmp_path / "s.json", pattern_error)
    assert loaded.suite is not None
    written = text.replace(break_, "\n").splitlines()
    expected = [at for at, line in enumerate(written, 1) if line == "    {"] if indent else [1] * 5
    assert [case.line for case in loaded.suite.cases] == expected


def test_a_case_knows_its_line_in_yaml(tmp_path: Path) -> None:
    text = "# one\nname: n\ndescription: d\nmodels: [m]\ntestCases:\n"
    text += "- id: a\n  name: n\n  category: c\n  prompt: |\n    one\n    two\n\n"
    text += "- {id: b, name: n, category: c, prompt: p}\n"
    assert [case.line for case in suite_of(tmp_path, "s.yaml", text).cases] == [6, 13]


@pytest.mark.parametrize("extension", ["json", "yaml"])
def test_a_list_is_of_tests_with_a_memory_each(extension: str, tmp_path: Path) -> None:
    text = '[\n{"input": "i", "memory": {"a": 1}},\n{"description": "two", "steps": [{"input": "j"}]},\n{"input": "k"}]'
    suite = suite_of(tmp_path, f"trip.{extension}", text)
    assert suite.name == "trip"
    assert [(case.id, case.name, case.line) for case in suite.cases] == [
        ("trip#1", "trip#1", 2),
        ("trip#2", "two", 3),
        ("trip#3", "trip#3", 4),
    ]
    assert [case.memory for case in suite.cases] == [{"a": 1}, {}, {}]


def test_aliases_share_nothing(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, "t.yaml", "- {input: i, memory: &m {a: [1]}}\n- {input: j, memory: *m}\n")
    first, second = (case.memory for case in suite.cases)
    assert first == second
    assert first["a"] is not second["a"]


def test_strict_expectations_are_completed(tmp_path: Path) -> None:
    (tmp_path / "t.yaml").write_text("steps:\n- {input: i, expected: {output: x}}\n- {input: j, expected: {}}\n")
    loaded = load_suite(tmp_path / "t.yaml", pattern_error)
    assert loaded.suite is not None
    empty: JsonObject = {"output": "", "tools_used": [], "memory": {}}
    assert loaded.suite.cases[0].steps == (
        Step("i", (Check("expected", expected={**empty, "output": "x"}),)),
        Step("j", (Check("expected", expected=empty),)),
    )
    assert [problem.level for problem in loaded.problems] == ["warning"] * 5


def test_memory_assertions_take_any_value(tmp_path: Path) -> None:
    text = (
        "input: i\nassert:\n  memory.a: null\n  memory.a.b: [1, {c: 2.5}]\n  memory.on: true\n  output.includes: ''\n"
    )
    assert suite_of(tmp_path, "t.yaml", text).cases[0].steps[0].checks == (
        Check("memory", "a", None),
        Check("memory", "a.b", [1, {"c": 2.5}]),
        Check("memory", "on", True),
        Check("output.includes", ""),
    )


def test_a_step_has_several_checks_of_a_kind(tmp_path: Path) -> None:
    text = (
        "schema_version: 0.1\ninput: i\nassert:\n  output.includes: a\n  output.includes.a: b\n  output.includes.b: c\n"
        "  output.matches_2: d\n  output.equals.x: e\n  tools_used: search\n  tools_used.again: [search, book]\n"
    )
    assert suite_of(tmp_path, "t.yaml", text).cases[0].steps[0].checks == (
        Check("output.includes", "a"),
        Check("output.includes", "b"),
        Check("output.includes", "c"),
        Check("output.matches", "d"),
        Check("output.equals", "e"),
        Check("tools_used", expected=["search"]),
        Check("tools_used", expected=["search", "book"]),
    )


def test_a_tool_expected_as_text_is_a_list_of_it(tmp_path: Path) -> None:
    text = "input: i\nexpected: {output: x, tools_used: search, memory: {}}\n"
    (check,) = suite_of(tmp_path, "t.yaml", text).cases[0].steps[0].checks
    assert check.expected == {"output": "x", "tools_used": ["search"], "memory": {}}


@pytest.mark.parametrize("version", ['"0.1"', "0.1", "1"])
def test_the_version_of_a_testhaven_file_changes_nothing(version: str, tmp_path: Path) -> None:
    text = f'{{"schema_version": {version}, "input": "i", "assert": {{"output.equals": "x"}}}}'
    assert suite_of(tmp_path, "t.json", text).cases[0].steps == (Step("i", (Check("output.equals", "x"),)),)


def test_python_patterns_are_not_javascripts(tmp_path: Path) -> None:
    suite_of(tmp_path, "t.yaml", "input: i\nassert: {output.matches: '(?P<name>x)(?i:y)'}\n")
    assert len(lines_of(tmp_path, "t.yaml", "input: i\nassert: {output.matches: '(?<name>x)'}\n")) == 1


@pytest.mark.parametrize("agent", ["cmd:python agent.py", "http://localhost:1/a", "https://example.com", "bot.py"])
def test_a_testhaven_file_names_an_agent(agent: str, tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text("")
    suite = suite_of(tmp_path, "t.json", json.dumps([{"input": "i", "agent": agent}, {"input": "j"}]))
    assert suite.agent == agent
    assert suite.options == Options(delay_ms=0)


def test_a_testhaven_file_names_an_agent_with_its_interpreter(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text("")
    agent = {"file": "./bot.py", "python": sys.executable}
    suite = suite_of(tmp_path, "t.json", json.dumps([{"input": "i", "agent": agent}, {"input": "j", "agent": agent}]))
    assert (suite.agent, suite.agent_python) == ("bot.py", sys.executable)
    assert suite_of(tmp_path, "t.yaml", "{input: i, agent: {file: bot.py}}").agent_python is None


@pytest.mark.parametrize(
    ("agent", "message"),
    [
        ("{file: bot.py, python: none}", "none` does not exist; correct the path"),
        ("{file: bot.py, python: bot.py}", "bot.py` is not a program; correct the path"),
        ('{file: bot.py, python: " "}', "agent.python: is empty"),
        ("{file: gone.py}", "gone.py` does not exist"),
        ("{file: 'cmd:date'}", "is not a Python file"),
        ("{python: x}", "agent.file: is missing"),
        ("{file: 7}", "expected text, got the number `7`"),
        ("[bot.py]", "expected text, or an object with `file`, got a list"),
        ("{file: bot.py, pyhton: x}", "did you mean `python`?"),
    ],
)
def test_the_problems_of_an_agent_with_its_interpreter(tmp_path: Path, agent: str, message: str) -> None:
    (tmp_path / "bot.py").write_text("")
    assert message in "\n".join(
        lines_of(tmp_path, "t.yaml", f"input: i\nagent: {agent}\nassert: {{output.equals: x}}\n")
    )


def test_words_are_text_where_text_is_expected(tmp_path: Path) -> None:
    text = "name: no\ndescription: 2024-02-29\nmodels: [on, off]\ntestCases:\n"
    text += "- {id: yes, name: 1:30, category: 0o8, prompt: 'null', tags: [y, N, ~x, .5.]}\n"
    suite = suite_of(tmp_path, "s.yaml", text)
    assert (suite.name, suite.description, suite.models) == ("no", "2024-02-29", ("on", "off"))
    assert (suite.cases[0].id, suite.cases[0].name, suite.cases[0].tags) == ("yes", "1:30", ("y", "N", "~x", ".5."))


@pytest.mark.parametrize("name", ["s", "s.txt", "s.JSON", "s.Yml"])
def test_files_with_other_names_are_recognised_by_content(name: str, tmp_path: Path) -> None:
    text = "input: i\n" if name == "s.Yml" else '{"input": "i"}'
    assert suite_of(tmp_path, name, text).format == "testhaven"


def test_each_pattern_is_tried_once(tmp_path: Path) -> None:
    cases = [{**CASE, "id": f"a{number}", "expectedPatterns": ["x", "y"]} for number in range(50)]
    (tmp_path / "s.json").write_text(json.dumps({**ROOT, "testCases": cases}))
    tried: list[str] = []
    load_suite(tmp_path / "s.json", lambda _, pattern: tried.append(pattern))
    assert sorted(tried) == ["x", "y"]


def test_the_garbage_collector_is_left_as_it_was(tmp_path: Path) -> None:
    suite_of(tmp_path, "s.json", document())
    assert gc.isenabled()


def written_as_json() -> Iterator[str]:
    """Yield the suites of the tables of problems as JSON, those that can be."""
    for table in sorted((Path(__file__).parent / "tables").glob("*.txt")):
        for row in read_table(table):
            try:
                value = yaml.safe_load(row.content)
                text = json.dumps(value, indent=2, ensure_ascii=False)
                text.encode()
            except (yaml.YAMLError, TypeError, ValueError, RecursionError):
                continue
            yield text


def test_a_problem_has_the_same_place_whichever_reader_finds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = list(written_as_json())
    quick = [lines_of(tmp_path, "s.json", text) for text in texts]
    monkeypatch.setattr(load, "read_quickly", lambda _: None)
    assert quick == [lines_of(tmp_path, "s.json", text) for text in texts]
    assert sum(map(len, quick)) > 150


def test_rows_in_the_suite_are_read_without_the_exact_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"id": f"r{number}", "town": f"T{number}"} for number in range(50)]
    case = {"id": "a", "name": "n", "category": "c", "prompt": "{{town}}?", "vars": rows}
    value = {"name": "n", "description": "d", "models": ["m"], "testCases": [case]}
    monkeypatch.setattr(load, "ExactJson", None)
    path = tmp_path / "s.json"
    path.write_text(json.dumps(value, indent=2))
    loaded = load_suite(path, pattern_error)
    assert loaded.suite is not None
    assert [case.steps[0].input for case in loaded.suite.cases][-1] == "T49?"
    assert {case.line for case in loaded.suite.cases} == {8}
    assert [str(problem).removeprefix(str(path)).partition(": testCases")[0] for problem in loaded.problems] == [
        ":13:7: warning"
    ]
