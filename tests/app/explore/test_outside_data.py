"""A suite with a data file outside its folder: the app asks before it reads the file."""

from pathlib import Path

from textual.widgets import Static

from tests.app.explore.explored import CASES, Seen, explored, session_for
from tests.support.scripted_session import Opened, ScriptedSession, suite_of
from tui.app.dialogs import ConfirmScreen
from tui.model.errors import Problem
from tui.session.consent import Consent, data_consent


class Refusing(ScriptedSession):
    """A session in which the last suite needs a data file from elsewhere."""

    def open_suite(self, path: Path) -> Opened:
        if path.name != "outside.yaml":
            return super().open_suite(path)
        file = path.parent.parent / "rows.csv"
        if data_consent(path, file) in self.allowed:
            return Opened(suite_of(path, *CASES, name="Rows"))
        problem = Problem(str(path), 3, 1, "error", "testCases[0].data", "the data file is outside the suite's folder")
        return Opened(None, (problem,), ("../rows.csv",), (file,))


def session_with_rows(folder: Path) -> Refusing:
    return Refusing(session_for(folder, "fine", "outside").suites)


async def question(seen: Seen) -> str:
    """Go to the suite, run it, and return the question."""
    await seen.until(lambda: len(seen.rows) > 3)
    place = next(place for place, row in enumerate(seen.rows) if "outside.yaml" in row)
    tree = seen.screen.suites.suite_tree
    while tree.cursor != place:
        await seen.press("down" if tree.cursor < place else "up")
    await seen.press("r")
    await seen.until(lambda: isinstance(seen.app.screen, ConfirmScreen))
    return " ".join(str(each.render()) for each in seen.app.screen.query(Static))


async def test_the_file_is_read_when_the_user_allows_it(tmp_path: Path) -> None:
    session = session_with_rows(tmp_path)
    async with explored(session) as seen:
        asked = await question(seen)
        assert f"reads the data file {tmp_path.parent / 'rows.csv'}, outside the suite's folder" in asked
        await seen.press("y")
        await seen.until(lambda: any("Rows" in row for row in seen.rows), "the suite is open")
        assert [consent.kind for consent in session.allowed] == ["outside"]
        assert session.plans == []
        await seen.press("r")
        await seen.until(lambda: isinstance(seen.app.screen, ConfirmScreen) or session.plans)


async def test_the_file_is_not_read_when_the_user_does_not_allow_it(tmp_path: Path) -> None:
    session = session_with_rows(tmp_path)
    async with explored(session) as seen:
        await question(seen)
        await seen.press("n")
        await seen.until(lambda: not isinstance(seen.app.screen, ConfirmScreen))
        none: list[Consent] = []
        assert session.allowed == none
        assert not any("Rows" in row for row in seen.rows)
