"""The Diff tab as a person uses it: keys, the list of files, search, blocks, patches, the editor."""

import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Event

import pytest
from textual.pilot import Pilot

from tests.app.diff.diff_app import DiffApp
from tests.app.diff.samples import MENDED, SERVICE, sample
from tests.support.pilots import press_at_once, screen_rows, until
from tests.support.repositories import git
from tests.support.terminal import WAIT_SECONDS, Terminal, run_here
from tui.app.dialogs import ChoiceScreen
from tui.app.diff import panel as panel_module
from tui.app.diff import view as view_module
from tui.app.diff.answer_diff import ShownDiff, patch_text
from tui.app.diff.layout import Document, Look
from tui.app.diff.pairs import ShownFile
from tui.app.diff.panel import DiffPanel
from tui.app.presentation.pieces import text_of
from tui.app.widgets.list_view import LineListView
from tui.app.widgets.prompt_input import PromptInput
from tui.model.results import NotApplied

ROOT = Path(__file__).parents[3]


class Seen:
    """The tab and its text."""

    def __init__(self, app: DiffApp, pilot: Pilot[None]) -> None:
        self.app, self.pilot = app, pilot

    @property
    def tab(self) -> DiffPanel:
        return self.app.tab

    @property
    def rows(self) -> list[str]:
        view = self.tab.view
        strips = view.render_lines(view.size.region)
        return [strip.text.rstrip("▐ ") for strip in strips]

    @property
    def place(self) -> str:
        return text_of(self.tab.place.line_for(120)).strip()

    @property
    def notices(self) -> str:
        return "\n".join(notice.message for notice in self.app._notifications)

    async def until(self, condition: Callable[[], object], what: str = "") -> None:
        await until(self.pilot, condition, what)

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)


@asynccontextmanager
async def shown(
    kind: str, folder: Path, size: tuple[int, int] = (120, 30), others: Sequence[ShownDiff] = ()
) -> AsyncIterator[Seen]:
    app = DiffApp(sample(kind, folder), "assay-dark", folder / "bare.git", others)
    async with app.run_test(size=size) as pilot:
        seen = Seen(app, pilot)
        await seen.until(lambda: app.tab.has_class("-wide") == (size[0] >= 90), "the list has its place")
        await pilot.pause()
        await seen.until(lambda: any(row.strip() for row in seen.rows), "the diff")
        yield seen


async def test_changes_and_files_are_jumped_to(tmp_path: Path) -> None:
    async with shown("several", tmp_path) as seen:
        assert "src/bank/accounts.py" in seen.place
        assert "change 1/5" in seen.place
        await seen.press("J")
        assert "change 2/5" in seen.place
        assert any(row.startswith("▌") and "md5" in row for row in seen.rows)
        await seen.press("right_curly_bracket")
        await seen.until(lambda: "tests/test_accounts.py" in seen.place)
        await seen.press("K", "K", "K", "K", "K")
        await seen.until(lambda: "change 1/5" in seen.place)
        await seen.press("end")
        await seen.until(
            lambda: "web/style.css" in seen.rows[-12:][0] or "2 blocks not applied" in "\n".join(seen.rows)
        )
        assert "block 5 · text · ../../etc/passwd: the path is not allowed" in "\n".join(seen.rows)


async def test_the_list_of_files_leads_and_follows(tmp_path: Path) -> None:
    async with shown("several", tmp_path) as seen:
        files = seen.tab.query_one("FileList", LineListView)
        assert [text_of(files.line_at(n, 34)).split() for n in range(4)] == [
            ["M", "src/bank/accounts.py", "+12", "-7"],
            ["A", "tests/test_accounts.py", "+5", "-0"],
            ["M", "web/style.css", "+2", "-2"],
            ["!", "2", "not", "applied"],
        ]
        files.focus()
        await seen.press("down", "down")
        await seen.until(lambda: "web/style.css" in seen.place)
        await seen.press("enter")
        assert seen.app.focused is seen.tab.view
        await seen.press("home")
        await seen.until(lambda: files.cursor == 0)


async def test_it_is_shown_in_the_ways_that_are_asked_for(tmp_path: Path) -> None:
    async with shown("several", tmp_path) as seen:
        before = seen.rows
        await seen.press("V")
        await seen.until(lambda: "│" in seen.rows[2] and "split" in seen.place)
        await seen.press("V", "number_sign")
        await seen.until(lambda: any(row.startswith(" + import secrets") for row in seen.rows))
        await seen.press("number_sign", "w")
        await seen.until(lambda: "cut" in seen.place)
        await seen.press("right", "right")
        await seen.until(lambda: any("‹" in row for row in seen.rows))
        await seen.press("w")
        await seen.until(lambda: seen.rows == before)


async def test_a_copied_patch_has_no_control_characters(tmp_path: Path) -> None:
    async with shown("one", tmp_path) as seen:
        before = seen.tab.shown
        assert before is not None
        seen.tab.action_copy_patch()
        assert seen.app.clipboard == patch_text(before.changes)
        changes = tuple(replace(each, diff=f"{each.diff}+\x1b[201~\n") for each in before.changes)
        seen.tab.show_diff(replace(before, changes=changes))
        seen.tab.action_copy_patch()
        assert seen.app.clipboard.endswith("+[201~\n")
        await seen.until(lambda: "Without its control characters" in seen.notices)


async def test_white_space_is_left_out(tmp_path: Path) -> None:
    async with shown("odd", tmp_path, (100, 50)) as seen:
        await seen.press("w", "end")
        await seen.until(lambda: any("-   b = 1" in row for row in seen.rows))
        await seen.press("i")
        await seen.until(lambda: not any("-   b = 1" in row for row in seen.rows) and "ignore whitespace" in seen.place)
        assert any("+     c = 20" in row for row in seen.rows)


async def test_more_lines_come_from_the_answer(tmp_path: Path) -> None:
    async with shown("one", tmp_path, (120, 80)) as seen:
        assert not any("drift" in row for row in seen.rows)
        await seen.press("plus")
        await seen.until(lambda: any("sums of floats drift" in row for row in seen.rows))
        await seen.press("plus", "plus", "plus")
        await seen.until(lambda: any("Accounts: who may do what" in row for row in seen.rows))
        await seen.press("minus", "minus", "minus", "minus", "minus")
        await seen.until(lambda: not any("drift" in row for row in seen.rows))


async def test_searching_marks_and_goes_on(tmp_path: Path) -> None:
    async with shown("several", tmp_path) as seen:
        await seen.press("slash", *"amount")
        await seen.until(lambda: "1/8 found" in seen.place or "found" in seen.place)
        await seen.press("enter", "n")
        assert seen.app.focused is seen.tab.view
        assert "2/" in seen.place
        await seen.press("N", "N")
        count = len(seen.tab.view.search_matches.matches)
        assert f"{count}/{count} found" in seen.place
        await seen.press("slash", "escape")
        await seen.until(lambda: "found" not in seen.place)
        await seen.press("slash", *"nowhere")
        await seen.until(lambda: "not found" in seen.place)


async def test_a_key_right_after_escape_from_the_search_is_a_command(tmp_path: Path) -> None:
    async with shown("several", tmp_path) as seen:
        await seen.press("slash", *"amount")
        await seen.until(lambda: "found" in seen.place)
        press_at_once(seen.app, "escape", "slash")
        await seen.until(lambda: "found" not in seen.place and isinstance(seen.app.focused, PromptInput))
        await seen.press(*"nowhere")
        await seen.until(lambda: "not found" in seen.place)


async def test_another_block_is_tried_and_left(tmp_path: Path) -> None:
    async with shown("one", tmp_path) as seen:
        await seen.press("B")
        await seen.until(lambda: isinstance(seen.app.screen, ChoiceScreen))
        await seen.press("down", "enter")
        await seen.until(lambda: any("sha256" in row for row in seen.rows), "the diff of the other block")
        assert "preview of block 2" in seen.place
        assert "The verdict does not change" in seen.notices
        await seen.press("escape")
        await seen.until(lambda: "trying" not in seen.place and any("scrypt" in row for row in seen.rows))


async def test_a_patch_is_copied_and_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    async with shown("several", tmp_path) as seen:
        await seen.press("c")
        await seen.until(lambda: "Copied as a patch: 3 files" in seen.notices)
        await seen.press("p", "enter")
        await seen.until(lambda: "Apply it with: git apply" in seen.notices)
        saved = tmp_path / "case-local-smollm2.patch"
        assert seen.app.clipboard == saved.read_text()
        await seen.press("p", "enter")
        await seen.until(lambda: "already exists" in seen.notices)
        await seen.press("p", "home", *"~nosuchuser/", "enter")
        await seen.until(lambda: "Cannot write ~nosuchuser/case-local-smollm2.patch" in seen.notices)
    git(tmp_path / "work", "apply", str(saved))
    assert (tmp_path / "work/src/bank/accounts.py").read_text() == MENDED


async def test_a_patch_has_the_changes_that_were_shown_when_its_name_was_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with shown("several", tmp_path) as seen:
        await seen.press("p")
        await seen.until(lambda: seen.tab.query("#save"))
        seen.tab.show(other_answer(tmp_path, "other/two"), "")
        await seen.until(lambda: "other/two" in seen.place)
        await seen.press("enter")
        await seen.until(lambda: "Apply it with: git apply" in seen.notices)
    assert (tmp_path / "case-local-smollm2.patch").read_text().count("diff --git") == 3


async def test_nothing_to_show_is_reported() -> None:
    app = DiffApp(None, "assay-dark")
    async with app.run_test() as pilot:
        await until(pilot, lambda: "Nothing is changed yet." in str(app.tab.query_one("TextPanel Static").render()))
        await pilot.press("c", "p", "B", "plus", "o", "J", "V", "slash", "escape")


@pytest.mark.parametrize("size", [(80, 24), (30, 8), (5, 4), (1, 1)])
async def test_it_can_be_used_in_every_size(tmp_path: Path, size: tuple[int, int]) -> None:
    app = DiffApp(sample("odd", tmp_path), "assay-light")
    async with app.run_test(size=size) as pilot:
        await pilot.press(
            "V",
            "J",
            "w",
            "right",
            "right_curly_bracket",
            "i",
            "pagedown",
            "end",
            "home",
            "V",
            "w",
        )
        await pilot.resize_terminal(120, 30)
        await until(pilot, lambda: any("controls" in row for row in Seen(app, pilot).place.split()))


@pytest.mark.parametrize("width", [120, 70])
async def test_a_large_diff_is_shown_that_was_being_laid_out_when_the_width_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    go_on, begun = Event(), Event()

    class SlowDocument(Document):
        def __init__(self, files: Sequence[ShownFile], refused: Sequence[NotApplied], look: Look) -> None:
            if files and not begun.is_set():
                begun.set()
                go_on.wait(60)
            super().__init__(files, refused, look)

    monkeypatch.setattr(view_module, "Document", SlowDocument)
    app = DiffApp(None, "assay-dark")
    async with app.run_test(size=(120, 30)) as pilot:
        seen = Seen(app, pilot)
        app.tab.show(sample("large:1600", tmp_path), "", None)
        await seen.until(begun.is_set)
        app.tab.view.set_look(width=width)
        app.tab.view.set_look(width=app.tab.view.size.width - 1)
        await seen.until(lambda: any("value_1 " in row for row in seen.rows))
        go_on.set()
        await pilot.pause()
        assert any("value_1 " in row for row in seen.rows)
        assert "change 1/1" in seen.place


async def test_the_line_above_a_large_diff_has_the_counts_of_that_diff(tmp_path: Path) -> None:
    app = DiffApp(None, "assay-dark")
    async with app.run_test(size=(120, 30)) as pilot:
        seen = Seen(app, pilot)
        for number, (lines, changed) in enumerate(((1_600, 533), (1_800, 600), (1_600, 533))):
            folder = tmp_path / str(number)
            folder.mkdir()
            app.tab.show(sample(f"large:{lines}", folder), "", None)
            await seen.until(partial(is_drawn, app, f"+{changed} "), f"{lines} lines")


async def test_a_large_diff_that_is_read_late_does_not_replace_the_one_that_is_displayed_since(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on, has_read, read = Event(), Event(), panel_module._read

    def slow(shown: ShownDiff, other: ShownDiff | None) -> Sequence[ShownFile]:
        if len(shown.changes[0].diff) >= panel_module._LARGE:
            go_on.wait(WAIT_SECONDS)
            has_read.set()
        return read(shown, other)

    monkeypatch.setattr(panel_module, "_read", slow)
    folders = [tmp_path / name for name in ("large", "small")]
    for folder in folders:
        folder.mkdir()
    large, small = sample("large:4000", folders[0]), sample("one", folders[1])
    app = DiffApp(None, "assay-dark")
    async with app.run_test(size=(120, 30)) as pilot:
        seen = Seen(app, pilot)
        app.tab.show(large, "", None)
        app.tab.show(small, "", None)
        await seen.until(partial(is_drawn, app, "accounts.py"))
        go_on.set()
        await seen.until(has_read.is_set)
        await seen.until(lambda: not any(each.group == "read-diff" for each in app.workers))
        assert is_drawn(app, "accounts.py")
        assert "accounts.py" in seen.place


def is_drawn(app: DiffApp, text: str) -> bool:
    """Return whether the rows above the first line of the diff have a text."""
    return text in "".join(screen_rows(app.screen)[:2])


@pytest.mark.parametrize("lines", [6_000, pytest.param(100_000, marks=pytest.mark.long)])
def test_many_lines_are_shown_and_nothing_hostile_reaches_the_terminal(lines: int) -> None:
    with Terminal(run_here("-m", "tests.app.diff.diff_app", "odd"), size=(90, 30), cwd=ROOT) as terminal:
        terminal.wait_for("␛[32mgreen")
        terminal.press("|", "w", "J", "end")
        terminal.wait_for("spaces.py")
        raw = bytes(terminal.raw)
    for hostile in ("\x1b[31mred", "\x1b[32mgreen", "\u202e", "evil\x07"):
        assert hostile.encode() not in raw
    with Terminal(run_here("-m", "tests.app.diff.diff_app", f"large:{lines}"), size=(90, 30), cwd=ROOT) as terminal:
        terminal.wait_for("value_1 ")
        terminal.press("end")
        terminal.wait_for(f"value_{lines * 2 // 3 - 1}")


@pytest.mark.long
@pytest.mark.parametrize("kept", [pytest.param(True, marks=pytest.mark.long), False])
def test_the_file_opens_in_the_editor_as_it_was_changed(tmp_path: Path, kept: bool) -> None:
    log_file = tmp_path / "told"
    editor = tmp_path / "vi"
    editor.write_text(
        f'#!/bin/sh\necho "$@" > {log_file}.new\ncat "$2" >> {log_file}.new\nmv {log_file}.new {log_file}\n'
    )
    editor.chmod(0o700)
    arguments = ["several", "assay-dark"] if kept else ["several", "assay-dark", "alone"]
    with Terminal(
        run_here("-m", "tests.app.diff.diff_app", *arguments), size=(110, 30), cwd=ROOT, env={"EDITOR": editor}
    ) as terminal:
        terminal.wait_for("change 1/5")
        terminal.press("J")
        terminal.wait_for("change 2/5")
        terminal.press("o")
        terminal.wait_for("The editor opened a copy")
    output = log_file.read_text()
    assert "+23 " in output
    assert output.endswith(MENDED)
    assert SERVICE not in output
    place = output.split("+23 ")[1].split("\n")[0]
    assert place.endswith("src/bank/accounts.py")
    assert not Path(place).exists()


def other_answer(folder: Path, model: str, kind: str = "one") -> ShownDiff:
    """The changes of another model's answer to the same repository."""
    (folder / model).mkdir(parents=True)
    found = sample(kind, folder / model)
    return replace(found, trial=found.trial._replace(model=model))


async def test_the_changes_of_another_model_are_shown_beside(tmp_path: Path) -> None:
    async with shown("several", tmp_path, (140, 40), [other_answer(tmp_path, "other/two")]) as seen:
        before = seen.rows
        await seen.press("J", "vertical_line")
        await seen.until(lambda: "both models" in seen.place)
        assert seen.tab.has_class("-pair")
        assert [word for word in text_of(seen.tab.heads.line_for(100)).split() if word.isalpha()] == ["two"]
        files = seen.tab.query_one("FileList", LineListView)
        assert [text_of(files.line_at(n, 34)).split()[0] for n in range(3)] == ["MM", "A·", "M·"]
        assert any("md5" in left and "md5" in right for left, _, right in (row.partition("│") for row in seen.rows))
        await seen.press("V")
        assert "both models" in seen.place, "two answers stay side by side"
        await seen.press("right_curly_bracket")
        await seen.until(lambda: any("Not changed by" in row for row in seen.rows))
        await seen.press("home", "slash", *"scrypt", "enter")
        await seen.until(lambda: "1/2 found" in seen.place)
        await seen.press("escape", "number_sign", "w")
        await seen.until(lambda: "cut" in seen.place)
        await seen.press("w", "number_sign", "vertical_line", "home")
        await seen.until(lambda: seen.rows == before and not seen.tab.has_class("-pair"))


async def test_the_changes_to_another_original_are_not_shown_beside(tmp_path: Path) -> None:
    other = other_answer(tmp_path, "other/two")
    index = re.compile(r"^index (\w+)\.\.", re.MULTILINE)
    changes = tuple(replace(each, diff=index.sub("index 1234567..", each.diff)) for each in other.changes)
    async with shown("one", tmp_path, (140, 40), [replace(other, changes=changes)]) as seen:
        before = seen.rows
        await seen.press("vertical_line")
        await seen.until(lambda: "its run had another commit" in seen.notices)
        assert not seen.tab.has_class("-pair")
        assert seen.rows == before


async def test_more_context_is_shown_on_both_sides(tmp_path: Path) -> None:
    async with shown("one", tmp_path, (140, 60), [other_answer(tmp_path, "other/two")]) as seen:
        await seen.press("vertical_line")
        await seen.until(lambda: "both models" in seen.place)
        few = seen.tab.view.document.row_count
        await seen.press("plus", "plus", "plus", "plus")
        await seen.until(lambda: not any("⋯" in row for row in seen.rows) and seen.tab.view.document.row_count > few)
        await seen.press("plus")
        await seen.until(lambda: "The whole file is shown." in seen.notices)


async def test_one_of_several_models_is_chosen(tmp_path: Path) -> None:
    others = [other_answer(tmp_path, "two"), other_answer(tmp_path, "three", "several")]
    async with shown("several", tmp_path, (140, 40), others) as seen:
        await seen.press("vertical_line")
        await seen.until(lambda: isinstance(seen.app.screen, ChoiceScreen))
        await seen.press("down", "enter")
        await seen.until(lambda: seen.tab.other is others[1])
        left = seen.tab.kept
        assert left is not None
        seen.tab.show(others[1], "", None, [left, others[0]])
        assert [seen.tab.other] == [left], "the model that comes to the left changes sides with the one there"
        seen.tab.show(replace(left, trial=left.trial._replace(case="next")), "", None, [])
        assert seen.tab.other is None
        assert not seen.tab.has_class("-pair")


async def test_without_another_answer_a_message_says_so(tmp_path: Path) -> None:
    async with shown("one", tmp_path) as seen:
        await seen.press("vertical_line")
        await seen.until(lambda: "No other displayed model has an answer" in seen.notices)


async def test_only_the_left_answer_is_opened(tmp_path: Path) -> None:
    async with shown("one", tmp_path, (140, 40), [other_answer(tmp_path, "two", "several")]) as seen:
        await seen.press("vertical_line")
        await seen.until(lambda: "both models" in seen.place)
        seen.tab.view.go_to_file(1)
        await seen.until(lambda: "tests/test_accounts.py" in seen.place)
        await seen.press("o")
        await seen.until(lambda: "did not change this file" in seen.notices)
