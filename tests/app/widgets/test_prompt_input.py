"""An input that is removed, and what Textual keeps of removed widgets."""

import gc
from weakref import ref

from textual._styles_cache import StylesCache
from textual.color import Color

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


def test_the_painted_lines_of_a_removed_widget_are_freed() -> None:
    gc.freeze()  # what other tests have left takes seconds
    cache = StylesCache()
    cache.get_inner_outer(Color(1, 2, 3), Color(4, 5, 6))
    kept = ref(cache)
    del cache
    gc.collect()
    assert kept() is None
