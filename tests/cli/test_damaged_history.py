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
