"""`assay runs export` and `assay import` of its files: to another data folder and back, with scores."""

import gzip
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.command_line import CommandLine, Ran
from tests.support.model_server import ModelServer, say

SUITE = {
    "name": "Towns",
    "description": "d",
    "models": ["openai/m"],
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


def broken(lines: list[str], at: int, **changes: Any) -> str:
    value = json.loads(lines[at])
    value.update(changes)
    return "".join(line if number != at else json.dumps(value) + "\n" for number, line in enumerate(lines))


async def test_a_faulty_file_is_refused_with_its_line_and_nothing_is_imported(
    assay: CommandLine, elsewhere: CommandLine
) -> None:
    run = await make_run(assay, assay.home)
    text = assay.run("runs", "export", run).out
    lines = text.splitlines(keepends=True)
    trial = json.loads(lines[1])["result"]["trial"]
    faults: list[tuple[str | bytes, str]] = [
        ("\n", "the column case is missing"),
        (broken(lines, 0, assay_run=2), ":1: error: is not the beginning"),
        (broken(lines, 0, id="../x"), "id: expected 32 hexadecimal digits"),
        (broken(lines, 0, id="f" * 32), "id: its time is after tomorrow"),
        (broken(lines, 0, started_at="9999-01-01T00:00:00+00:00"), "started_at: expected a time"),
        (broken(lines, 0, started_at="2026-11-20T10:00:00"), "started_at: expected a time"),
        (broken(lines, 0, state="odd"), "state: expected one of"),
        (broken(lines, 0, trials=[["c", "m", 10**400]]), "trials: expected"),
        (broken(lines, 0, trials=[["c-0", "other", 1]]), "is no case and model of the run"),
        (broken(lines, 0, suite={}), "the run itself is invalid"),
        (broken(lines, 1, result={"trial": trial}), ":2: error: result: "),
        (text + lines[1], "appears twice"),
        (text + "nonsense\n", f":{len(lines) + 1}: error: is no JSON object"),
        (text + "[" * 200_000 + "\n", "is no JSON object"),
        (gzip.compress(text.encode())[:200], "is damaged"),
        (gzip.compress(b"\0" * (600 << 20), 9), "is larger than 512 MiB when decompressed"),
        (b'{"assay_run": 1, "id": "\xff"}\n', "is not UTF-8"),
    ]
    for content, message in faults:
        (elsewhere.home / "bad.jsonl").write_bytes(content if isinstance(content, bytes) else content.encode())
        done: Ran = elsewhere.run("import", "bad.jsonl")
        assert (done.code, message in done.err) == (2, True), f"{message}\n{done.err}"
        assert "Traceback" not in done.err
    assert listed(elsewhere) == []


async def test_scores_that_cannot_be_imported_leave_the_run_out(assay: CommandLine, elsewhere: CommandLine) -> None:
    run = await make_run(assay, assay.home)
    text = assay.run("runs", "export", run).out
    (elsewhere.home / "run.jsonl").write_text(text + '{"score": {"version": 1, "act": "score"}}\n')
    done = elsewhere.run("import", "run.jsonl")
    assert (done.code, "Traceback" in done.err) == (2, False), done.err
    assert listed(elsewhere) == []
