"""The command palette closes once, whatever is pressed while it closes."""

from textual.command import CommandPalette
from textual.screen import Screen

from tests.support.pilots import until
from tui.app.theme.themed_app import ThemedApp


async def test_a_palette_that_is_closed_twice_leaves_the_screen_below() -> None:
    app: ThemedApp[None] = ThemedApp(theme_folders=[])
    async with app.run_test() as pilot:
        below: Screen[None] = Screen()
        await app.push_screen(below)
        app.action_command_palette()
        await until(pilot, lambda: isinstance(app.screen, CommandPalette) and app.screen.query("CommandList"))
        palette = app.screen
        palette.dismiss()
        palette.dismiss()
        await until(pilot, lambda: not isinstance(app.screen, CommandPalette))
        assert app.screen is below
