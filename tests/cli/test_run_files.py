"""`assay runs export` and `assay import` of its files: to another data folder and back, with scores."""

import gzip
import json
import math
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.command_line import CommandLine
from tests.support.model_server import ModelServer, say

SUITE = {
    "name": "Towns",
    "description": "d",
    "models": ["openai/m"],
    "options": {"delayBetweenTestsMs": 0},
    "testCases": [
        {
            "id": f"c-{at}",
            "name": "c",
            "category": "c",
            "prompt": f"p {at}",
            "expectedPatterns": ["Paris"],
            "riskCriteria": [{"name": "Tone", "description": "d", "severity": "low"}],
        }
        for at in range(3)
    ],
}


@pytest.fixture
def elsewhere(tmp_path: Path) -> CommandLine:
    """Return a command line on another machine: other folders."""
    (tmp_path / "elsewhere").mkdir()
    return CommandLine(tmp_path / "elsewhere")


async def make_run(assay: CommandLine, folder: Path) -> str:
    folder.mkdir(parents=True, exist_ok=True)  # noqa: ASYNC240
    (folder / "towns.json").write_text(json.dumps(SUITE))
    async with ModelServer(say("It is Paris, Höhe 日本 😀.")) as server:
        env = {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "key-of-the-test"}
        done = await assay.run_async("run", str(folder / "towns.json"), "--repeat", "2", "-f", "json", env=env)
    assert done.code == 0, done.err
    found: str = json.loads(done.out)["run"]["id"]
    return found


def report(assay: CommandLine, run: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(assay.run("report", run, "-f", "json").out)
    return found


def listed(assay: CommandLine) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(assay.run("runs", "--json").out)
    return found


def scored(assay: CommandLine, run: str, reviewer: str) -> Path:
    template = assay.run("review", "export", run, "--template", "--reviewer", reviewer).out
    file = assay.home / f"{reviewer}.jsonl"
    file.write_text(template.replace('"extent": null', '"extent": 2'))
    return file


async def test_listed_ids_are_as_long_as_they_have_to_be(assay: CommandLine, elsewhere: CommandLine) -> None:
    run = await make_run(assay, assay.home)
    text = assay.run("runs", "export", run).out
    ids = [run, run[:20] + "".join("1" if digit == "0" else "0" for digit in run[20:])]
    for number, run_id in enumerate(ids):
        (elsewhere.home / f"{number}.jsonl").write_text(text.replace(run, run_id))
        assert elsewhere.run("import", f"{number}.jsonl").code == 0
    shown = [line.split()[0] for line in elsewhere.run("runs").out.splitlines()]
    assert sorted(shown) == sorted(run_id[:21] for run_id in ids)
    assert all(elsewhere.run("report", prefix).code == 0 for prefix in shown)
    ambiguous = elsewhere.run("report", run[:13])
    assert ambiguous.code != 0
    assert all(run_id in ambiguous.err for run_id in ids)
    assert [line.split()[0] for line in assay.run("runs").out.splitlines()] == [run[:13]]


async def test_a_run_is_reviewed_elsewhere_and_its_scores_come_back(assay: CommandLine, elsewhere: CommandLine) -> None:
    run = await make_run(assay, assay.home)
    own = scored(assay, run, "ada")
    assert assay.run("review", "import", str(own)).code == 0
    for name in ("plain.jsonl", "packed"):
        assert assay.run("runs", "export", run, "--scores", "-o", name).code == 0
    plain, packed = assay.home / "plain.jsonl", assay.home / "packed.jsonl.gz"
    assert gzip.decompress(packed.read_bytes()) == plain.read_bytes()
    assert assay.run("runs", "export", run, "--scores").out == plain.read_text()
    assert "key-of-the-test" not in plain.read_text()
    done = elsewhere.run("import", str(packed))
    assert done.code == 0, done.err
    here, there = report(assay, run), report(elsewhere, run)
    assert there["results"] == here["results"]
    assert there["results"][0]["scores"][0]["reviewer"] == "ada"
    assert (there["run"], there["summary"]) == (here["run"], here["summary"])
    theirs = scored(elsewhere, run, "bo")
    assert elsewhere.run("review", "import", str(theirs)).code == 0
    back = elsewhere.run("review", "export", run, "--reviewer", "bo")
    (assay.home / "back.jsonl").write_text(back.out)
    assert assay.run("review", "import", "back.jsonl").code == 0
    reviewers = {score["reviewer"] for result in report(assay, run)["results"] for score in result["scores"]}
    assert reviewers == {"ada", "bo"}


async def test_importing_twice_adds_nothing_and_other_content_is_refused(
    assay: CommandLine, elsewhere: CommandLine
) -> None:
    run = await make_run(assay, assay.home)
    exported = assay.run("runs", "export", run).out
    file = elsewhere.home / "run.jsonl"
    file.write_text(exported)
    first = elsewhere.run("import", "run.jsonl")
    before = elsewhere.run("runs", "export", run).out
    again = elsewhere.run("import", "run.jsonl", "run.jsonl")
    assert (first.code, again.code, again.err.count("already imported")) == (0, 0, 2)
    assert elsewhere.run("runs", "export", run).out == before
    assert assay.run("import", str(file)).code == 0
    file.write_text(exported.replace("It is Paris", "It was Paris", 1))
    for line in (assay, elsewhere):
        refused = line.run("import", str(file))
        assert (refused.code, "with other content" in refused.err) == (2, True), refused.err
    assert elsewhere.run("runs", "export", run).out == before


async def test_runs_after_one_with_a_clock_that_was_ahead_go_to_other_machines(
    assay: CommandLine, elsewhere: CommandLine
) -> None:
    run = await make_run(assay, assay.home)
    ahead = f"{int(run[:12], 16) + 400 * 86_400_000:012x}{run[12:]}"
    (elsewhere.home / "ahead.jsonl").write_text(assay.run("runs", "export", run).out.replace(run, ahead))
    imported = elsewhere.run("import", "ahead.jsonl")
    assert imported.code == 0, imported.err
    later = await make_run(elsewhere, elsewhere.home)
    assert later > ahead
    (assay.home / "later.jsonl").write_text(elsewhere.run("runs", "export", later).out)
    assert assay.run("import", "later.jsonl").code == 0
    assert await make_run(assay, assay.home) > later


async def test_a_run_taken_to_another_checkout_finds_its_suite_there(
    assay: CommandLine, elsewhere: CommandLine
) -> None:
    for home in (assay.home / "one", elsewhere.home / "other"):
        subprocess.run(  # noqa: ASYNC221
            ["git", "init", "-q", str(home)], check=True
        )
    run = await make_run(assay, assay.home / "one" / "suites")
    assert assay.run("runs", "export", run, "-o", "run.jsonl").code == 0
    checkout = elsewhere.home / "other"
    (checkout / "suites").mkdir()
    (checkout / "suites" / "towns.json").write_text(json.dumps(SUITE))
    # The first checkout is on another machine.
    (assay.home / "one").rename(assay.home / "gone")
    done = elsewhere.run("import", str(assay.home / "run.jsonl"), folder=checkout)
    assert done.code == 0, done.err
    assert report(elsewhere, run)["suite"]["path"] == str(checkout / "suites" / "towns.json")
    named = CommandLine(elsewhere.home / "named")
    named.home.mkdir()
    suite = checkout / "suites" / "towns.json"
    assert named.run("import", str(assay.home / "run.jsonl"), "--suite", str(suite)).code == 0
    assert report(named, run)["suite"]["path"] == str(suite)


async def test_a_part_of_a_run_is_completed(assay: CommandLine, elsewhere: CommandLine) -> None:
    run = await make_run(assay, assay.home)
    lines = assay.run("runs", "export", run).out.splitlines(keepends=True)
    (elsewhere.home / "part.jsonl").write_text("".join(lines[:4]))
    (elsewhere.home / "all.jsonl").write_text("".join(lines))
    assert elsewhere.run("import", "part.jsonl").code == 0
    assert [(each["state"], each["trials"], each["passed"]) for each in listed(elsewhere)] == [("interrupted", 6, 3)]
    assert elsewhere.run("import", "all.jsonl").code == 0
    assert [(each["state"], each["passed"]) for each in listed(elsewhere)] == [("finished", 6)]
    assert elsewhere.run("import", "part.jsonl").code == 0
    assert [each["state"] for each in listed(elsewhere)] == ["finished"]


def agent(model_id: str, python: str = "") -> dict[str, str]:
    return {"name": "openai/m", "provider": "agent", "model_id": model_id, "python": python}


def broken(lines: list[str], at: int, **changes: Any) -> str:
    value = json.loads(lines[at])
    value.update(changes)
    return "".join(line if number != at else json.dumps(value) + "\n" for number, line in enumerate(lines))


def with_attempt(lines: list[str], **changes: Any) -> str:
    result = json.loads(lines[1])["result"]
    result["attempts"][0].update(changes)
    return broken(lines, 1, result=result)


async def test_a_faulty_file_is_refused_with_its_line_and_nothing_is_imported(
    assay: CommandLine, elsewhere: CommandLine
) -> None:
    run = await make_run(assay, assay.home)
    text = assay.run("runs", "export", run).out
    lines = text.splitlines(keepends=True)
    trial = json.loads(lines[1])["result"]["trial"]
    suite, options = (json.loads(lines[0])[key] for key in ("suite", "options"))
    faults: list[tuple[str | bytes, str]] = [
        ("\n", "the column case is missing"),
        (broken(lines, 0, assay_run=2), ":1: error: is not the beginning"),
        (broken(lines, 0, id="../x"), "id: expected 32 hexadecimal digits"),
        (broken(lines, 0, id="f" * 32), f"id: {'f' * 32} is not one of Assay"),
        (broken(lines, 0, started_at="9999-01-01T00:00:00+00:00"), "started_at: expected a time"),
        (broken(lines, 0, started_at="2026-11-20T10:00:00"), "started_at: expected a time"),
        (broken(lines, 0, state="odd"), "state: expected one of"),
        (broken(lines, 0, trials=[["c", "m", 10**400]]), "trials: expected"),
        (text.replace('"c-0"', '"c-\\ud800"'), "trials: c-<U+D800> · openai/m contains half of a surrogate pair"),
        (broken(lines, 0, trials=[["c-0", "other", 1]]), "is no case and model of the run"),
        (broken(lines, 0, subjects=[agent("agents/a.py")]), "subjects: the path agents/a.py is not absolute"),
        (broken(lines, 0, subjects=[agent("/a.py", "bin/python")]), "subjects: the path bin/python is not absolute"),
        (broken(lines, 0, suite={}), "the run itself is invalid"),
        (broken(lines, 0, suite=suite | {"repository_context": {"path": "a\0b"}}), "suite: a path or a command"),
        (broken(lines, 0, suite=suite | {"data_files": ["\ud800"]}), "suite: a path or a command"),
        (
            broken(lines, 0, suite=suite | {"data_files": ["a.csv"] * 20_000}),
            "suite: data_files: expected at most 1,000 data files, found 20,000",
        ),
        (broken(lines, 0, suite=suite | {"cases": [suite["cases"][0] | {"steps": []}]}), "has no step"),
        (broken(lines, 0, options=options | {"concurrency": 2**63}), "expected a number up to"),
        (broken(lines, 0, options=options | {"concurrency": 0}), "options: concurrency: expected a number from 1"),
        (broken(lines, 0, options=options | {"replay_speed": 0}), "options: replay_speed: expected more than 0"),
        *(
            (with_attempt(lines, **{key: value}), f":2: error: result: {key}: expected a number from 0 to")
            for key in ("number", "asking", "duration_ms")
            for value in (10**30, 2**63, -1)
        ),
        (with_attempt(lines, duration_ms=math.nan), ":2: error: is no JSON object (NaN is no JSON value)"),
        (with_attempt(lines, duration_ms=math.inf), ":2: error: is no JSON object (Infinity is no JSON value)"),
        (with_attempt(lines, duration_ms=4711).replace("4711", "1e999"), ":2: error: is no JSON object (1e999 is"),
        (broken(lines, 1, result={"trial": trial}), ":2: error: result: "),
        (text + lines[1], "appears twice"),
        (text + "nonsense\n", f":{len(lines) + 1}: error: is no JSON object"),
        (text + "[" * 200_000 + "\n", ":8: error: is nested too deeply"),
        (gzip.compress(text.encode())[:200], "is damaged"),
        (gzip.compress(b"\0" * (65 << 20), 1), "has a line of more than 64 MiB"),
        (b'{"assay_run": 1, "id": "\xff"}\n', "is not UTF-8"),
    ]
    names = [f"bad-{number:02}.jsonl" for number in range(len(faults))]
    for name, (content, _) in zip(names, faults, strict=True):
        (elsewhere.home / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    done = elsewhere.run("import", *names)
    assert done.code == 2, done.err
    assert "Traceback" not in done.err
    for name, (_, message) in zip(names, faults, strict=True):
        printed = [line for line in done.err.splitlines() if name in line]
        assert any(message in line for line in printed), f"{message}\n{printed}"
    alone = elsewhere.run("import", names[0])
    assert (alone.code, faults[0][1] in alone.err) == (2, True), alone.err
    assert listed(elsewhere) == []


async def test_imported_scores_are_reported(assay: CommandLine, elsewhere: CommandLine) -> None:
    run = await make_run(assay, assay.home)
    plain = assay.run("runs", "export", run).out
    (elsewhere.home / "plain.jsonl").write_text(plain)
    assert "scores" not in elsewhere.run("import", "plain.jsonl").err
    for line, name in ((elsewhere, "Anna"), (assay, "\u0410nna")):
        assert line.run("review", "import", str(scored(line, run, name))).code == 0
    text = assay.run("runs", "export", run, "--scores").out
    (elsewhere.home / "run.jsonl").write_text(text)
    printed = elsewhere.run("import", "run.jsonl").err
    assert "(already imported)\nLines of scores: 6 new\n" in printed
    assert "look the same" in printed
    assert printed.endswith("Reviewers: \u0410nna (6 new)\n")


async def test_the_scores_of_another_run_are_refused(assay: CommandLine, elsewhere: CommandLine) -> None:
    run = await make_run(assay, assay.home)
    assert assay.run("review", "import", str(scored(assay, run, "ada"))).code == 0
    head, *lines = assay.run("runs", "export", run, "--scores").out.splitlines(keepends=True)
    (elsewhere.home / "run.jsonl").write_text(head.replace(run, f"{int(run, 16) + 1:032x}") + "".join(lines))
    done = elsewhere.run("import", "run.jsonl")
    assert (done.code, ":8: error: score: expected a score of this run" in done.err) == (2, True), done.err
    assert listed(elsewhere) == []


async def test_an_import_that_was_killed_before_its_end_is_finished(assay: CommandLine, elsewhere: CommandLine) -> None:
    run = await make_run(assay, assay.home)
    text = assay.run("runs", "export", run).out
    for state in ("interrupted", "finished"):
        (elsewhere.home / "run.jsonl").write_text(text.replace('"state": "finished"', f'"state": "{state}"'))
        done = elsewhere.run("import", "run.jsonl")
        assert (done.code, listed(elsewhere)[0]["state"]) == (0, state), done.err
    assert "already imported" in elsewhere.run("import", "run.jsonl").err


async def test_scores_that_cannot_be_imported_leave_the_run_out(assay: CommandLine, elsewhere: CommandLine) -> None:
    run = await make_run(assay, assay.home)
    text = assay.run("runs", "export", run).out
    (elsewhere.home / "run.jsonl").write_text(text + f'{{"score": {{"version": 1, "act": "score", "run": "{run}"}}}}\n')
    done = elsewhere.run("import", "run.jsonl")
    assert (done.code, "Traceback" in done.err) == (2, False), done.err
    assert listed(elsewhere) == []
