"""Pictures of a screen: their text, their colours, and how a difference is described."""

from textual.app import App, ComposeResult
from textual.widgets import Static

from tests.app.snapshots.picture import describe_difference, rows_of, take_picture


class Three(App[None]):
    """Three lines, the second of which the test gives."""

    def __init__(self, second: str) -> None:
        super().__init__()
        self._second = second

    def compose(self) -> ComposeResult:
        yield Static(f"one\n{self._second}\n漢字 & [u]<three>[/]")


async def picture(second: str) -> str:
    app = Three(second)
    async with app.run_test(size=(20, 4)) as pilot:
        await pilot.pause()
        return take_picture(app)


async def test_rows_are_the_text_of_the_screen() -> None:
    assert [text for _, text in rows_of(await picture("  two"))] == ["one", "  two", "漢字 & <three>", ""]


async def test_the_same_screen_is_the_same_picture() -> None:
    assert await picture("[red]two[/]") == await picture("[red]two[/]")


async def test_a_difference_names_the_row_and_both_texts() -> None:
    assert describe_difference(await picture("two"), await picture("2")) == "row  1 - two\n       + 2"


async def test_other_colours_are_named() -> None:
    before, after = await picture("[#ff0000]two[/] end"), await picture("[#00ff00]two[/] end")
    assert "only colours differ: 'two' at column 0: ff0000 → 00ff00" in describe_difference(before, after)
    assert "the background" in describe_difference(await picture("two"), await picture("[on #00ff00]two[/]"))


async def test_a_missing_picture_differs_in_every_row() -> None:
    assert "+ one" in describe_difference("", await picture("two"))
