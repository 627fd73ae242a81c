"""The export of a report from each screen: the file that `assay report` writes, its name, its options."""

import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from textual.containers import Vertical
from textual.widgets import Static

from tests.app.explore.explored import Seen
from tests.app.review.reviewed_runs import ME, OTHER, at_runs, begin, drawn, keep_run, session_at
from tests.support.command_line import CommandLine
from tests.support.kept_runs import RUN_ID, small_run
from tests.support.pilots import press_at_once
from tui.app.compare.screen import CompareScreen
from tui.app.dialogs import ConfirmScreen
from tui.app.explore.screen import ExploreScreen
from tui.app.export_dialog import ExportScreen, option_line, size_words, with_suffix
from tui.app.matrix.screen import MatrixScreen
from tui.app.presentation.pieces import text_of
from tui.app.report_export import ReportExport
from tui.app.review.screen import ReviewScreen
from tui.app.runs.screen import RunsScreen
from tui.app.widgets.prompt_input import PromptInput
from tui.model.run import RunRecord
from tui.store.sqlite import SqliteStore

RUN = small_run().record
SUFFIXES = [".html", ".md", ".json", ".csv", ".xml"]


def export_of(folder: Path, run: RunRecord = RUN, hidden: int = 0) -> ReportExport:
    return ReportExport(session_at(folder, keep_run(folder)).history, run, hidden, lambda: None)


def scored_run(folder: Path) -> None:
    """Save a run that two people have scored."""
    reviews = session_at(folder, keep_run(folder)).reviews
    for name, extents in {ME: (3, 1, 0), OTHER: (1, 1, 2)}.items():
        review = reviews.open_review(RUN_ID, name, blind=False)
        for item, extent in zip(review.items, extents, strict=False):
            review.give(item.key, extent, f"a note by {name}")


@pytest.mark.parametrize(
    ("format", "chosen", "is_scored"),
    [
        *((each.name, ("answers", "risk", "times"), True) for each in ReportExport.formats),
        ("markdown", (), True),
        ("html", ("risk",), True),
        ("csv", ("times",), True),
        ("json", ("risk",), False),
        ("markdown", ("risk",), False),
    ],
)
def test_the_file_is_what_the_displayed_command_writes(
    tmp_path: Path, format: str, chosen: Sequence[str], is_scored: bool
) -> None:
    if is_scored:
        scored_run(tmp_path)
    else:
        keep_run(tmp_path).close()
    history = session_at(tmp_path, SqliteStore(tmp_path / "data" / "runs.sqlite")).history
    [run] = history.list_runs()
    export = ReportExport(history, run, 0, lambda: None)
    file = tmp_path / "by the app"
    export.write(file, format, frozenset(chosen), replaces=False)
    command = shlex.split(export.command("by the command", format, frozenset(chosen)))
    ran = CommandLine(tmp_path).run(*command[1:], env={"ASSAY_DATA_DIR": str(tmp_path / "data")})
    assert ran.code == 0, ran.err
    [written] = tmp_path.glob("by the command*")
    assert written.read_bytes() == file.read_bytes()
    assert file.stat().st_size > 100


def test_the_displayed_command_has_the_path_of_a_file_in_the_home_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "h"))
    command = shlex.split(export_of(tmp_path).command("~/report.md", "markdown", frozenset()))
    assert command[-2:] == ["-o", str(tmp_path / "h" / "report.md")]


def test_a_file_is_named_after_suite_and_run(tmp_path: Path) -> None:
    assert export_of(tmp_path).stem == f"sample-suite-{RUN.id[:12]}"
    assert "/" not in export_of(tmp_path, replace(RUN, suite_name="../../etc/pass wd")).stem
    assert export_of(tmp_path, replace(RUN, suite_name="安全")).stem.startswith("run-")


@pytest.mark.parametrize(
    ("name", "suffix", "expected"),
    [
        ("report", ".html", "report.html"),
        ("report.md", ".html", "report.html"),
        ("out/report.XML", ".csv", "out/report.csv"),
        ("report.txt", ".csv", "report.txt"),
        ("v1.2/report", ".csv", "v1.2/report.csv"),
        ("", ".csv", ""),
        ("out/", ".csv", "out/"),
        (".hidden", ".csv", ".hidden.csv"),
    ],
)
def test_a_file_name_gets_the_extension_of_the_format(name: str, suffix: str, expected: str) -> None:
    assert with_suffix(name, suffix, SUFFIXES) == expected


def test_sizes_are_in_words() -> None:
    assert [size_words(size) for size in (0, 412, 12_345, 4_560_000)] == ["0 bytes", "412 bytes", "12.3 kB", "4.6 MB"]


def test_an_option_says_where_a_format_has_no_choice() -> None:
    answers = ReportExport.options[0]
    assert "[ ] a Answers" in text_of(option_line(answers, "a", "html", frozenset()))
    assert "[x] a Answers" in text_of(option_line(answers, "a", "html", frozenset({"answers"})))
    assert text_of(option_line(answers, "a", "json", frozenset())).endswith("JSON is always complete")


async def test_each_screen_exports_the_run_that_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    async with at_runs(tmp_path, keep_run(tmp_path)) as (seen, _):
        await exported(seen, RunsScreen)
        await seen.press("C")
        await seen.until(lambda: isinstance(seen.app.screen, CompareScreen) and "voice on" in drawn(seen))
        await exported(seen, CompareScreen)
        await seen.press("B")
        await seen.until(lambda: "blind" in drawn(seen))
        await seen.press("O")
        await seen.until(lambda: any("Names are hidden" in note for note in seen.notices))
        assert isinstance(seen.app.screen, CompareScreen)
        await seen.press("escape")
        await seen.until(lambda: isinstance(seen.app.screen, ExploreScreen))
        await seen.press("H")
        await seen.until(lambda: isinstance(seen.app.screen, RunsScreen) and seen.app.screen.lines.run)
        await seen.press("enter")
        await seen.until(lambda: isinstance(seen.app.screen, ExploreScreen) and "voice on" in drawn(seen))
        await exported(seen, ExploreScreen)
        await seen.press("m")
        await seen.until(lambda: isinstance(seen.app.screen, MatrixScreen) and "query by mail" in drawn(seen))
        await exported(seen, MatrixScreen)
        await seen.press("v")
        await begin(seen, blind=False)
        await exported(seen, ReviewScreen)


def hint(seen: Seen) -> str:
    """Return the keys in the frame of the dialog."""
    return str(seen.app.screen.query_one(Vertical).border_subtitle)


def message(seen: Seen) -> str:
    """Return the message of the dialog without the spaces at which it is wrapped."""
    return "".join(str(seen.app.screen.query_one("#message", Static).content).split())


async def exported(seen: Seen, below: type) -> None:
    """Open the dialog, look for the run in it, and close it."""
    await seen.press("O")
    await seen.until(lambda: isinstance(seen.app.screen, ExportScreen) and f"assay report {RUN_ID}" in drawn(seen))
    await seen.press("escape")
    await seen.until(lambda: isinstance(seen.app.screen, below))


async def test_format_and_options_make_the_command_and_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with at_runs(tmp_path, keep_run(tmp_path), size=(80, 24)) as (seen, _):
        await seen.press("O")
        await seen.until(lambda: isinstance(seen.app.screen, ExportScreen))
        line = seen.app.screen.query_one(PromptInput)
        await seen.until(lambda: line.value.endswith(".html"))
        await seen.press("down", "r", "a")
        await seen.until(lambda: line.value.endswith(".md") and "-fmarkdown-r-t" in message(seen))
        await seen.press("down")
        await seen.until(lambda: line.value.endswith(".json") and "JSON is always complete" in drawn(seen))
        assert "Enter file name · " in hint(seen)
        await seen.press("up", "enter", "ctrl+u", *"mine")
        await seen.until(lambda: "-omine.md" in message(seen), "the extension is added")
        assert hint(seen) == "Enter save · Tab next field · Esc back"
        (tmp_path / "mine.md").write_text("before")
        await seen.press("enter")
        await seen.until(lambda: isinstance(seen.app.screen, ConfirmScreen), "there is such a file")
        await seen.press("n")
        await seen.until(lambda: isinstance(seen.app.screen, ExportScreen))
        assert (tmp_path / "mine.md").read_text() == "before"
        await seen.press("enter")
        await seen.until(lambda: isinstance(seen.app.screen, ConfirmScreen))
        await seen.press("y")
        await seen.until(lambda: isinstance(seen.app.screen, ExportScreen) and "Saved" in message(seen))
        size = size_words((tmp_path / "mine.md").stat().st_size)
        assert message(seen).startswith(f"Saved{tmp_path}/mine.md,{size}.".replace(" ", ""))
        assert (tmp_path / "mine.md").read_text().startswith("# ")
        assert hint(seen) == "Enter or Esc close"
        await seen.press("enter")
        await seen.until(lambda: isinstance(seen.app.screen, RunsScreen))


async def test_enter_twice_saves_however_fast(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    async with at_runs(tmp_path, keep_run(tmp_path)) as (seen, _):
        await seen.press("O")
        await seen.until(lambda: isinstance(seen.app.screen, ExportScreen) and f"assay report {RUN_ID}" in drawn(seen))
        press_at_once(seen.app, "down", "enter", "enter")
        await seen.until(lambda: "Saved" in message(seen))
        [written] = tmp_path.glob("*.md")  # noqa: ASYNC240
        assert written.read_text().startswith("# ")
