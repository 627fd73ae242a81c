"""`assay import` of plain answers: CSV and JSON lines, with and without a suite."""

import csv
import io
import json
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import tui
from tests.support.command_line import CommandLine, Ran
from tui.cli import import_results
from tui.imports.imported import HEAD_BYTES
from tui.model.errors import ConfigError
from tui.session import result_import
from tui.store.sqlite import SqliteStore

SUITE = {
    "name": "Towns",
    "description": "d",
    "models": ["openai/m"],
    "testCases": [
        {"id": "france", "name": "n", "category": "c", "prompt": "Capital of France?", "expectedPatterns": ["Paris"]},
        {
            "id": "spain",
            "name": "n",
            "category": "c",
            "prompt": "Capital of Spain?",
            "assertions": [{"type": "contains", "value": "Madrid"}, {"type": "latency", "threshold": 1000}],
        },
        {"id": "open", "name": "n", "category": "c", "prompt": "Tell me."},
    ],
}
ROWS: list[dict[str, Any]] = [
    {"case": "france", "model": "a", "answer": "Paris,\nof course 😀", "input_tokens": 5, "output_tokens": 7},
    {"case": "france", "model": "b", "answer": 'He said "Lyon"; really\u2028x', "duration_ms": 20.5},
    {"case": "spain", "model": "a", "answer": "Madrid", "duration_ms": 999},
    {"case": "spain", "model": "b", "answer": "Madrid", "duration_ms": 2000},
    {"case": "france", "model": "a", "answer": "Paris again", "repeat": 2},
    {"case": "open", "model": "a", "answer": "Well."},
    {"case": "open", "model": "b", "answer": " \n"},
]


def as_csv(rows: list[dict[str, Any]], delimiter: str = ",") -> str:
    out = io.StringIO()
    columns = ("case", "model", "answer", "repeat", "input_tokens", "output_tokens", "duration_ms")
    writer = csv.DictWriter(out, columns, delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def as_lines(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def report(assay: CommandLine, ran: Ran) -> dict[str, Any]:
    assert ran.code == 0, ran.err
    run = ran.err.splitlines()[0].removeprefix("run ")
    found: dict[str, Any] = json.loads(assay.run("report", run, "-f", "json").out)
    return found


def verdicts(found: dict[str, Any]) -> dict[tuple[str, str, int], str]:
    return {(each["case"], each["model"], each["repeat"]): each["verdict"] for each in found["results"]}


def answers(found: dict[str, Any]) -> list[str]:
    return sorted(each["attempts"][0]["steps"][0]["response"] for each in found["results"])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("rows.csv", as_csv(ROWS)),
        ("semicolons.csv", "\ufeff" + as_csv(ROWS, ";")),
        ("tabs.tsv", as_csv(ROWS, "\t")),
        ("rows.jsonl", as_lines(ROWS)),
        ("rows.txt", "\ufeff\n" + as_lines(ROWS)),
    ],
)
def test_answers_are_judged_by_the_checks_of_a_suite(assay: CommandLine, name: str, text: str) -> None:
    (assay.home / "suite.json").write_text(json.dumps(SUITE))
    (assay.home / name).write_text(text, encoding="utf-8", newline="")
    found = report(assay, assay.run("import", name, "--suite", "suite.json"))
    assert verdicts(found) == {
        ("france", "a", 1): "passed",
        ("france", "a", 2): "passed",
        ("france", "b", 1): "failed",
        ("spain", "a", 1): "passed",
        ("spain", "b", 1): "failed",
        ("open", "a", 1): "unchecked",
        ("open", "b", 1): "error",
    }
    assert found["suite"]["name"] == "Towns"
    assert answers(found) == sorted(row["answer"] for row in ROWS)
    [first] = [each for each in found["results"] if each["case"] == "france" and each["model"] == "b"]
    step = first["attempts"][0]["steps"][0]
    assert (step["input"], step["timing"]["duration_ms"]) == ("Capital of France?", 20.5)
    [untimed] = [each for each in found["results"] if each["case"] == "france" and each["repeat"] == 2]
    attempt = untimed["attempts"][0]
    assert (attempt["duration_ms"], attempt["steps"][0]["timing"]["duration_ms"]) == (None, None)
    rows = csv.DictReader(io.StringIO(assay.run("report", "last", "-f", "csv").out))
    durations = {(row["case"], row["model"], row["repeat"]): row["duration_ms"] for row in rows}
    assert (durations["france", "a", "2"], durations["france", "b", "1"]) == ("", "20.5")
    tests = ElementTree.fromstring(assay.run("report", "last", "-f", "junit").out).iter("testcase")
    times = {test.get("name"): test.get("time") for test in tests if test.get("classname") == "c"}
    assert times["france · n · repeat 2"] is None
    assert "0.021" in times.values()
    usage = found["results"][0]["attempts"][0]["steps"][0]["usage"]
    assert (usage["input_tokens"], usage["output_tokens"]) == (5, 7)


@pytest.mark.parametrize(
    ("assertions", "verdict"),
    [
        ("tools_used: []", "error"),
        ("tools_used: [find]", "error"),
        ("memory.x: 3", "error"),
        ("memory.x: null", "error"),
        ("output.includes: Paris", "failed"),
    ],
)
def test_tools_and_memory_of_imported_answers_are_unknown(assay: CommandLine, assertions: str, verdict: str) -> None:
    (assay.home / "book.yaml").write_text(
        f"steps:\n - input: Book\n   assert:\n    output.includes: Gatwick\n    {assertions}\n"
        if "includes" not in assertions
        else f"steps:\n - input: Book\n   assert: {{{assertions}, tools_used: []}}\n"
    )
    (assay.home / "a.csv").write_text("case,model,answer\nbook,m,ok Gatwick\n")
    found = report(assay, assay.run("import", "a.csv", "--suite", "book.yaml"))
    assert verdicts(found) == {("book", "m", 1): verdict}
    replayed = json.loads(assay.run("run", "book.yaml", "-m", "replay/last/m", "-f", "json").out)
    assert [each["verdict"] for each in replayed["results"]] == [verdict]


@pytest.mark.parametrize(("answer", "verdict"), [("ok", "error"), ("other", "failed")])
def test_an_expected_output_of_imported_answers_is_compared(assay: CommandLine, answer: str, verdict: str) -> None:
    (assay.home / "book.yaml").write_text("steps:\n - input: Book\n   expected: {output: ok}\n")
    (assay.home / "a.csv").write_text(f"case,model,answer\nbook,m,{answer}\n")
    found = report(assay, assay.run("import", "a.csv", "--suite", "book.yaml"))
    assert verdicts(found) == {("book", "m", 1): verdict}


def test_the_cases_that_were_answered_are_counted(assay: CommandLine) -> None:
    (assay.home / "suite.json").write_text(json.dumps(SUITE))
    (assay.home / "a.csv").write_text(as_csv(ROWS[:2]))
    assert "Towns: 2 results of 2 models in 1 case\n" in assay.run("import", "a.csv", "--suite", "suite.json").err


def test_an_answer_to_another_prompt_than_that_of_the_case_is_warned_of_and_marked(assay: CommandLine) -> None:
    (assay.home / "suite.json").write_text(json.dumps(SUITE))
    rows = [
        {"case": "france", "model": model, "answer": "Paris", "prompt": prompt}
        for model, prompt in (("a", "Capital of France?\n"), ("b", "Something else"))
    ]
    (assay.home / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    ran = assay.run("import", "a.jsonl", "--suite", "suite.json")
    assert "a.jsonl: warning: prompt: 1 answer to another prompt than that of the case" in ran.err
    notes = {each["model"]: each["attempts"][0]["steps"][0]["notes"] for each in report(assay, ran)["results"]}
    assert notes == {"a": [], "b": ["the prompt of the recorded answer differs from that of the case"]}


@pytest.mark.parametrize("lines", [True, False], ids=["lines", "csv"])
def test_a_key_with_a_quotation_mark_is_removed(assay: CommandLine, lines: bool) -> None:
    key = 'pa"ss"word-12345'
    row = {"case": "a", "model": "m", "answer": f"It is {key}, of course."}
    (assay.home / "rows").write_text(as_lines([row]) if lines else as_csv([row]))
    ran = assay.run("import", "rows", env={"OPENAI_API_KEY": key})
    [answer] = answers(report(assay, ran))
    assert "word-12345" not in answer
    assert answer.startswith("It is ")


def test_without_a_suite_answers_are_unchecked_and_can_be_scored(assay: CommandLine) -> None:
    rows = [
        {"case": f"q{at}", "model": model, "answer": f"a {at}", "prompt": f"p {at}", "category": "Mine"}
        for at in range(3)
        for model in ("x", "y")
    ]
    (assay.home / "mine.jsonl").write_text(as_lines(rows))
    ran = assay.run("import", "mine.jsonl", "--as-suite", "My answers")
    found = report(assay, ran)
    assert set(verdicts(found).values()) == {"unchecked"}
    assert (found["suite"]["name"], found["results"][0]["category"]) == ("My answers", "Mine")
    assert found["results"][0]["attempts"][0]["steps"][0]["input"] == "p 0"
    template = assay.run("review", "export", "last", "--template", "--reviewer", "ada").out
    assert template.count("\n") == 6
    (assay.home / "scores.jsonl").write_text(template.replace('"extent": null', '"extent": 1'))
    assert assay.run("review", "import", "scores.jsonl").code == 0
    assert "x" in assay.run("report", "last", "--risk-analysis").out


def test_the_same_file_is_the_same_run(assay: CommandLine) -> None:
    (assay.home / "suite.json").write_text(json.dumps(SUITE))
    (assay.home / "rows.csv").write_text(as_csv(ROWS))
    first = assay.run("import", "rows.csv")
    again = assay.run("import", "rows.csv", "rows.csv")
    other = assay.run("import", "rows.csv", "--suite", "suite.json")
    assert again.err.count("already imported") == 2
    assert first.err.splitlines()[0] == again.err.splitlines()[0]
    assert "already" not in other.err
    assert len(json.loads(assay.run("runs", "--json").out)) == 2
    # The run that was imported last is the newest.
    assert json.loads(assay.run("report", "last", "-f", "json").out)["suite"]["name"] == "Towns"
    refused = assay.run("run", "--rerun-failed", other.err.splitlines()[0].removeprefix("run "))
    assert (refused.code, "imported" in refused.err) == (2, True), refused.err


def test_half_a_character_is_replaced(assay: CommandLine) -> None:
    (assay.home / "cut.jsonl").write_text('{"case": "a", "model": "m", "answer": "a \\ud83d b \\ud83d\\ude00"}\n')
    assert answers(report(assay, assay.run("import", "cut.jsonl"))) == ["a \ufffd b 😀"]


def test_a_column_without_a_name_is_ignored(assay: CommandLine) -> None:
    (assay.home / "rows.csv").write_text(",case,model,answer\n0,france,a,x\n1,italy,a,y\n")
    assert answers(report(assay, assay.run("import", "rows.csv"))) == ["x", "y"]
    (assay.home / "rows.jsonl").write_text('{"": 5, "case": "a", "model": "m", "answer": "z"}\n')
    assert answers(report(assay, assay.run("import", "rows.jsonl"))) == ["z"]


@pytest.mark.parametrize("first", ["answer", "prompt"])
def test_a_long_first_line_is_read_whatever_its_first_key_is(assay: CommandLine, first: str) -> None:
    row = {first: "x" * HEAD_BYTES, "case": "france", "model": "a"}
    row.setdefault("answer", "y")
    (assay.home / "rows.jsonl").write_text(as_lines([row]))
    assert answers(report(assay, assay.run("import", "rows.jsonl"))) == [row["answer"]]


HEAD = "case,model,answer,repeat,duration_ms\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("case,model\nfrance,a\n", "rows:1: error: the column answer is missing"),
        (HEAD.replace("repeat", "case"), "rows:1: error: the column case appears twice"),
        (f"{'c,' * 10_000}answer\nfrance,a\n", "rows:1: error: has more than 10,000 columns"),
        (HEAD, "rows: error: has no row"),
        (HEAD + 'france,a,"x\ny",1,\nfrance,a,y,1,\n', "rows:4: error: repeat 1 of this case and model is on line 2"),
        (HEAD + "france,a\n", "rows:2: error: has 2 cells, the first row has 5"),
        (HEAD + ",a,x,,\n", "rows:2: error: case: is missing"),
        (HEAD + "france,a,x,0,\n", "rows:2: error: repeat: expected a whole number from 1"),
        (HEAD + "france,a,x,1_0,\n", "rows:2: error: repeat: expected a whole number"),
        (HEAD + "france,a,x,,1e400\n", "rows:2: error: duration_ms: expected milliseconds"),
        (HEAD + "france,a,x,,-1\n", "rows:2: error: duration_ms: expected milliseconds"),
        (HEAD + 'france,a,"x\n', "rows: error: is no valid CSV"),
        (HEAD + "francee,a,x,,\n", "rows:2: error: case: the suite has no case `francee`. Did you mean france?"),
        (HEAD + "a\n" * 100, "rows:51: error: has 1 cells"),
        ('{"model": "a", "answer": "x"}\n', "rows:1: error: case: is missing"),
        ('{"case": "france", "model": "a", "answer": "x"}\n[]\n', "rows:2: error: is no JSON object"),
        (
            '{"case": "a", "model": "a", "answer": "x", "n": N}\n'.replace("N", "[" * 300 + "]" * 300),
            "rows:1: error: is nested",
        ),
        ('{"case": "france", "model": "a", "answer": 5}\n', "rows:1: error: answer: expected text"),
        ('{"case": "france", "model": "a", "answer": "x", "repeat": true}\n', "rows:1: error: repeat: expected"),
        ('{"case": "france", "model": "a", "answer": "x"}\n{"case": "france"}\n', "rows:2: error: model: is missing"),
        (f'{{"case": "france", "model": "{"m" * 300}", "answer": "x"}}\n', "rows:1: error: model: expected at most"),
    ],
)
def test_a_bad_row_is_named_and_nothing_is_imported(assay: CommandLine, text: str, message: str) -> None:
    (assay.home / "suite.json").write_text(json.dumps(SUITE))
    (assay.home / "rows").write_text(text)
    done = assay.run("import", "rows", "--suite", "suite.json")
    assert (done.code, done.out) == (2, "")
    assert message in done.err, done.err
    assert "Traceback" not in done.err
    assert json.loads(assay.run("runs", "--json").out) == []


def test_a_suite_that_is_invalid_is_reported(assay: CommandLine) -> None:
    (assay.home / "suite.json").write_text("{}")
    (assay.home / "rows.csv").write_text(as_csv(ROWS))
    done = assay.run("import", "rows.csv", "--suite", "suite.json")
    assert (done.code, "suite.json:1" in done.err) == (2, True), done.err


LIMITED = """
from tui.__main__ import main
from tui.cli import import_results
import_results.MOST_MEMORY = 150 << 20
main()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit on memory")
def test_files_that_need_too_much_memory_together_are_a_sentence(assay: CommandLine) -> None:
    names = [f"rows{number}.jsonl" for number in range(20)]
    for name in names:
        rows = ({"case": f"case {n}", "model": name, "answer": f"{n}" * 4_000} for n in range(1_000))
        (assay.home / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    call = [sys.executable, "-c", LIMITED, "import", *names]
    environ = assay.environ({"PYTHONPATH": str(Path(tui.__file__).parents[1])})
    done = subprocess.run(call, capture_output=True, text=True, env=environ, cwd=assay.home, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    sentence = "reading it needs more than 150 MiB of memory. Nothing was imported. Import fewer files at a time"
    assert (sentence in done.stderr, done.stderr.count("\n")) == (True, 1), done.stderr
    assert json.loads(assay.run("runs", "--json").out) == []


@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit on memory")
def test_scores_that_need_too_much_memory_to_be_checked_are_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (file := tmp_path / "rows.csv").write_text(as_csv(ROWS))
    monkeypatch.setenv("ASSAY_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("ASSAY_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setattr(result_import, "check_scores", lambda *_: len(bytearray(2 * import_results.MOST_MEMORY)))
    with pytest.raises(ConfigError, match=r"rows\.csv: reading it needs more than 2048 MiB .* Nothing was imported"):
        import_results.import_results.main([str(file)], standalone_mode=False)
    with closing(SqliteStore(tmp_path / "data" / "runs.sqlite")) as store:
        assert store.list_runs() == ()
