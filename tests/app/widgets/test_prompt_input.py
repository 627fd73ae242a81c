"""An input that is removed, and what Textual keeps of removed widgets."""

import gc
from weakref import ref

import pytest
from textual._styles_cache import StylesCache
from textual.color import Color
from textual.events import Paste

from tests.support.pilots import until
from tui.app.theme.themed_app import ThemedApp
from tui.app.widgets.prompt_input import PromptInput


async def test_a_removed_input_is_not_kept_by_the_screen() -> None:
    app: ThemedApp[None] = ThemedApp(theme_folders=[])
    async with app.run_test() as pilot:
        signal = app.screen.text_selection_started_signal
        await app.screen.mount(PromptInput("filter", app.screen))
        await until(pilot, lambda: len(signal._subscriptions) == 1)
        await app.screen.query_one(PromptInput).remove()
        await until(pilot, lambda: len(signal._subscriptions) == 0)


@pytest.mark.parametrize(("pasted", "lines"), [("first\nsecond\n\nlast\n", 4), ("\r\nfirst\r\n", 1), ("first", 1)])
async def test_pasting_several_lines_says_that_the_first_one_is_taken(pasted: str, lines: int) -> None:
    app: ThemedApp[None] = ThemedApp(theme_folders=[])
    async with app.run_test() as pilot:
        await app.screen.mount(PromptInput("filter", app.screen))
        typed = app.screen.query_one(PromptInput)
        typed.post_message(Paste(pasted))
        await until(pilot, lambda: typed.value == "first")
        notices = [notice.message for notice in app._notifications]
        assert notices == ([f"Pasted the first of {lines} lines: this field has one line."] if lines > 1 else [])


async def test_a_pasted_text_that_is_too_long_is_not_inserted_and_says_so() -> None:
    app: ThemedApp[None] = ThemedApp(theme_folders=[])
    async with app.run_test() as pilot:
        await app.screen.mount(PromptInput("filter", app.screen, max_length=5))
        typed = app.screen.query_one(PromptInput)
        typed.value = "abc"
        typed.post_message(Paste("def"))
        await until(pilot, lambda: app._notifications)
        assert [notice.message for notice in app._notifications] == [
            "Not pasted: this field has room for 5 characters."
        ]
        typed.post_message(Paste("de"))
        await until(pilot, lambda: typed.value == "abcde")
        assert len(app._notifications) == 1


def test_the_painted_lines_of_a_removed_widget_are_freed() -> None:
    gc.freeze()  # what other tests have left takes seconds
    cache = StylesCache()
    cache.get_inner_outer(Color(1, 2, 3), Color(4, 5, 6))
    kept = ref(cache)
    del cache
    gc.collect()
    assert kept() is None
