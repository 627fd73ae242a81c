"""Damaged histories on the command line: what can be read is reported, and the rest is run again or said to be lost."""

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.cli.test_run import keys_for, report_of, write_suite
from tests.support.command_line import CommandLine
from tests.support.model_server import ModelServer, say


def history_of(assay: CommandLine) -> Path:
    (found,) = assay.home.rglob("runs.sqlite")
    return found


async def test_a_damaged_result_is_left_out_of_reports_and_run_again(assay: CommandLine) -> None:
    suite = write_suite(assay.home, 3)
    async with ModelServer(say("yes")) as server:
        assert (await assay.run_async("run", str(suite), env=keys_for(server))).code == 0
        with closing(sqlite3.connect(history_of(assay))) as file, file:
            file.execute(
                "UPDATE result SET content = replace(content, '\"attempts\"', '\"attemqts\"') WHERE number = 2"
            )
        report = await assay.run_async("report", "last", "-f", "json")
        assert report.code == 0
        assert "One result of run" in report.err
        assert report_of(report)["run"]["state"] == "interrupted"
        assert len(report_of(report)["results"]) == 2
        before = len(server.asked)
        resumed = await assay.run_async("run", "--resume", "last", "-f", "json", env=keys_for(server))
        assert len(server.asked) == before + 1
    assert resumed.code == 0
    assert "Recovered runs: 1, with 2 results." in resumed.err
    assert report_of(resumed)["run"]["state"] == "finished"
    assert len(report_of(resumed)["results"]) == 3


async def test_a_run_that_lost_planned_trials_runs_them_or_stays_interrupted(assay: CommandLine) -> None:
    suite = write_suite(assay.home, 4)
    async with ModelServer(say("yes")) as server:
        assert (await assay.run_async("run", str(suite), env=keys_for(server))).code == 0
        lose_trial(history_of(assay), 2)
        resumed = await assay.run_async("run", "--resume", "last", "-f", "json", env=keys_for(server))
        assert len(server.asked) == 5
        assert (resumed.code, report_of(resumed)["run"]["state"]) == (0, "finished")
        assert report_of(resumed)["summary"]["trials"] == 4
        for words in (("--case", "case-0", "--case", "case-1"), ("--case", "case-1")):
            assert (await assay.run_async("run", str(suite), *words, env=keys_for(server))).code == 0
        with closing(sqlite3.connect(history_of(assay))) as file:
            (number,) = file.execute("SELECT max(number) FROM trial").fetchone()
        lose_trial(history_of(assay), number)
        asked = len(server.asked)
        resumed = await assay.run_async("run", "--resume", "last", "-f", "json", env=keys_for(server))
        assert len(server.asked) == asked
    assert (resumed.code, report_of(resumed)["run"]["state"]) == (1, "interrupted")
    assert "a damaged history has lost 1 planned trial of this run" in resumed.err


def lose_trial(history: Path, number: int) -> None:
    """Lose a trial with its result, and damage an index, so that the history is recovered."""
    with closing(sqlite3.connect(history)) as file, file:
        file.execute("DELETE FROM result WHERE trial = ?", (number,))
        file.execute("DELETE FROM trial WHERE number = ?", (number,))
        (page,) = file.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'run_by_suite'").fetchone()
    data = bytearray(history.read_bytes())
    data[(page - 1) * 4096 : page * 4096] = b"\xa5" * 4096
    history.write_bytes(data)
