"""The data folder in every state: readable by others, read-only for this user, with a newer history."""

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.hostile.home import RESULTS, SAVED, as_user, make_home, needs_setpriv
from tests.support.command_line import CommandLine
from tests.support.kept_runs import STARTED
from tui.store.sqlite import SqliteStore

NOBODY = 65534


@needs_setpriv
def test_who_may_not_write_the_data_folder_can_read_it(tmp_path: Path) -> None:
    """Any user but root: nothing is written, and what cannot be saved is said."""
    home = make_home(tmp_path, saved=True)
    data = home.data
    data.chmod(0o500)
    files = [path for path in data.iterdir() if path.is_file()]
    try:
        for path in files:
            path.chmod(0o400)
        listed = as_user(home, NOBODY, "runs", ASSAY_DATA_DIR=str(data), HOME="/nonexistent")
        assert (listed.code, SAVED.run_id[:8] in listed.out) == (0, True), listed.err
        refused = as_user(home, NOBODY, "import", str(RESULTS), ASSAY_DATA_DIR=str(data), HOME="/nonexistent")
        assert (refused.code, refused.out) == (3, "")
        assert "is read-only. Make the file and its folder writable" in refused.err
    finally:
        data.chmod(0o700)
        for path in files:
            path.chmod(0o600)


def test_a_data_folder_that_others_could_read_becomes_private(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    home.data.mkdir(0o755)
    home.data.chmod(0o755)
    tmp_path.chmod(0o755)
    assert CommandLine(tmp_path).run("runs").code == 0
    assert home.data.stat().st_mode & 0o777 == 0o700
    assert tmp_path.stat().st_mode & 0o777 == 0o755


def test_a_newer_history_is_refused_by_every_command_and_unchanged(tmp_path: Path) -> None:
    home = make_home(tmp_path, saved=True)
    file = home.data / "runs.sqlite"
    with closing(SqliteStore(file)) as store:
        store.begin_run(SAVED, STARTED)
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA user_version = 99")
    before = file.read_bytes()
    for words in (("runs",), ("report", "last"), ("import", str(RESULTS)), ("run", "suites/s.json")):
        ran = CommandLine(tmp_path).run(*words)
        assert (ran.code, ran.out) == (3, ""), words
        assert "was written by a newer version of Assay" in ran.err
    with home.open("suites") as terminal:
        terminal.wait_for("newer version of Assay")
        terminal.press("q")
        assert terminal.wait_exit() == 0
    assert file.read_bytes() == before
