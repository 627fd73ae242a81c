"""The app: composes screens, themes, keys and commands, and ends well however it is ended."""

import asyncio
import signal
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual import work
from textual.app import SystemCommand
from textual.binding import Binding, BindingType
from textual.events import Key
from textual.screen import Screen

from tui.app.notifications import NotificationHold, Unkept
from tui.app.splash import OpeningScreen
from tui.app.theme.palette import DEFAULT_PALETTE

if TYPE_CHECKING:
    from tui.app.screens.explore import ExploreScreen
    from tui.app.session_protocol import Session
    from tui.app.suite_loader import SuiteLoader

_SIGNALS = {"SIGTERM": 143, "SIGHUP": 129}


class AssayApp(NotificationHold[int]):
    """The one window. `open_session` is called in a thread after the first paint."""

    TITLE = "Assay"
    ENABLE_COMMAND_PALETTE = True
    CSS = """
    Toast { background: $raised; color: $foreground; }
    Tooltip { background: $raised; color: $foreground; }
    CommandPalette > Vertical { width: 76; max-width: 96%; background: $raised; }
    CommandPalette #--input { border: none; background: $raised; padding: 0 1; }
    CommandPalette #--results { border: none; background: $raised; }
    CommandPalette SearchIcon { display: none; }
    CommandPalette CommandList { border: none; margin-bottom: 1; scrollbar-size-vertical: 1; }
    CommandPalette CommandList > .option-list--option-highlighted { background: $selected; color: $accent; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("question_mark", "help", "help", id="app.help", tooltip="The keys of where you are", key_display="?"),
        Binding("ctrl+p", "command_palette", "commands", id="app.palette", tooltip="All commands, themes too"),
        Binding("q,ctrl+q,ctrl+c", "leave", "Leave", id="app.leave", tooltip="Leave Assay", show=False),
        Binding("ctrl+z", "suspend_process", "Suspend", id="app.suspend", tooltip="To the shell, until fg", show=False),
    ]

    def __init__(
        self,
        open_session: "Callable[[], Session]",
        paths: Sequence[Path],
        *,
        theme: str = DEFAULT_PALETTE.name,
        theme_folders: Sequence[Path] = (),
    ) -> None:
        super().__init__(theme=theme, theme_folders=theme_folders)
        self._open_session, self._paths = open_session, tuple(paths)
        self._explore: ExploreScreen | None = None
        self._leaving = False

    def get_default_screen(self) -> Screen[None]:
        """Explore is where it starts, but it takes a moment to be loaded."""
        return OpeningScreen()

    def on_opening_screen_painted(self) -> None:
        """Now there is time to load the rest."""
        self._explore_now()

    @work(group="explore")
    async def _explore_now(self) -> None:
        module = await asyncio.to_thread(import_module, "tui.app.screens.explore")
        opening, explore = self.screen, module.ExploreScreen(self._open_session, self._paths)
        self._explore = explore
        self.add_mode("explore", lambda: explore)
        await self.switch_mode("explore")
        for key in opening.typed if isinstance(opening, OpeningScreen) else ():
            self.post_message(Key(key.key, key.character))

    def on_mount(self) -> None:
        """Signals end it like a person would."""
        loop = asyncio.get_running_loop()
        for name, code in _SIGNALS.items():
            number = getattr(signal, name, None)
            if number is not None:
                loop.add_signal_handler(number, self._end, code)

    def on_suite_loader_session_opened(self, message: "SuiteLoader.SessionOpened") -> None:
        """The config may give keys, and a theme."""
        config = message.session.config
        self.set_keymap(dict(config.keymap))
        if config.theme and config.theme != self.theme and config.theme in self.available_themes:
            self.theme = config.theme

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """Every key of where you are, then Textual's own for themes."""
        actions: set[str] = set()
        for node, binding, enabled, tooltip in screen.active_bindings.values():
            if binding.action in actions:
                continue
            actions.add(binding.action)
            place = (binding.id or "").partition(".")[0]
            if enabled and place not in ("", "list", "tree", "line") and binding.id != "app.palette":
                title = f"{(tooltip or binding.description).split('(')[0].strip()}  {self.get_key_display(binding)}"
                yield SystemCommand(title, "", self._press(binding.action, node))
        yield SystemCommand("Change the theme", "", self.action_change_theme)

    def _press(self, action: str, node: object) -> Callable[[], object]:
        return lambda: self.run_action(action, default_namespace=node)  # type: ignore[arg-type]

    def action_help(self) -> None:
        """The keys of where you are."""
        from tui.app.screens.help import HelpScreen

        if not isinstance(self.screen, HelpScreen):
            self.push_screen(HelpScreen(self.screen))

    def action_leave(self) -> None:
        """Leave; ask while something runs, or would be lost."""
        self._leave()

    @work(group="leave")
    async def _leave(self) -> None:
        from tui.app.screens.confirm import ConfirmScreen

        queue = self._explore.queue if self._explore else None
        said = [screen.unkept() for screen in self.screen_stack if isinstance(screen, Unkept)]
        if queue is not None and queue.busy:
            said.append("A run is going. What is finished is kept, and the rest can be resumed later.")
        if question := "\n\n".join(filter(None, said)):
            if isinstance(self.screen, ConfirmScreen):
                return
            if not await self.push_screen_wait(ConfirmScreen("Leave?", question, yes="leave", no="stay")):
                return
        await self._finish(0)

    def _end(self, code: int) -> None:
        self._end_now(code)

    @work(group="end")
    async def _end_now(self, code: int) -> None:
        await self._finish(code)

    async def _finish(self, code: int) -> None:
        if self._leaving:
            return
        self._leaving = True
        if self._explore is not None and self._explore.queue is not None:
            await self._explore.queue.stop()
        self.exit(code, return_code=code)

    async def close_session(self) -> None:
        """Let go of processes and files; for after the app has run."""
        if self._explore is not None and self._explore.session is not None:
            await self._explore.session.close()
