"""The app: it opens the session behind a splash, owns the state above the screens, and quits without losing results."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, ClassVar

from textual import work
from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.command import CommandPalette
from textual.events import Event, Key
from textual.message import Message
from textual.screen import Screen
from textual.timer import Timer
from textual.widget import Widget

from tui.app.bindings import bind
from tui.app.idle_collector import IdleCollector
from tui.app.notifications import NotificationHold
from tui.app.palette_commands import NamedCommands, commands_of
from tui.app.splash import SplashScreen
from tui.app.theme.palette import DEFAULT_PALETTE
from tui.app.theme.themed_app import ThemedApp
from tui.app.workers import start_worker
from tui.model.sanitize import sanitize_line

if TYPE_CHECKING:
    from tui.app.context import AppContext
    from tui.app.find.finder import Finder
    from tui.app.navigator import CaseChosen
    from tui.app.run_messages import FilesRecorded, RunEnded, RunRefused, StoreTrouble
    from tui.app.run_queue import RunQueue
    from tui.app.session_protocol import Session
    from tui.app.settings.editor import SettingsEditor
    from tui.session.consent import Consent

_LONG_RUN_SECONDS = 60
_COLLECTION_SECONDS = 2.0
_NOTICE_SECONDS = 2.0
_LOSS_EXIT_CODE = 3


_KEY_NAMES = {
    "⏎": "Enter",
    "backspace": "Backspace",
    "del": "Del",
    "delete": "Del",
    "end": "End",
    "esc": "Esc",
    "escape": "Esc",
    "f1": "F1",
    "f2": "F2",
    "home": "Home",
    "pgdn": "PgDn",
    "pgup": "PgUp",
    "space": "Space",
    "tab": "Tab",
}
"""The names of keys that Textual abbreviates in small letters."""


_OPENING = frozenset(
    ("models", "edit", "check", "matrix", "compare", "review", "runs", "saved run", "navigate", "export")
)
"""The groups of workers that open another screen: they import its module, and some read files, before they push it."""
_LONGEST_HOLD_SECONDS = 3.0
_LOOK_SECONDS = 0.02
_LOOKS_WITHOUT_FOCUS = 10


class _OpeningKeys:
    """The keys that are pressed while a worker of the current screen opens another one, which then gets them.

    Without this, a text that is typed quickly after the key of a form would be taken for commands.
    """

    def __init__(self, app: App[Any]) -> None:
        self._app = app
        self.held: list[Key] = []
        self._below: Screen[Any] | None = None
        self._seen: tuple[Screen[Any], Widget | None] | None = None
        self._looks = 0
        self._begun_at = 0.0
        self._timer: Timer | None = None

    @property
    def is_begun(self) -> bool:
        """Return whether a worker of the current screen is about to open another one, or keys are still held."""
        return bool(self.held) or self._is_opening(self._app.screen)

    def _is_opening(self, screen: Screen[Any]) -> bool:
        workers = (each for each in self._app.workers if each.node is screen and each.group in _OPENING)
        return any(not each.is_finished for each in workers)

    def hold(self, key: Key) -> None:
        """Hold a key until the other screen can take it."""
        self.held.append(key)
        if self._timer is None:
            self._begun_at, self._below = monotonic(), self._app.screen
            self._timer = self._app.set_interval(_LOOK_SECONDS, self._look)

    def _look(self) -> None:
        """Deliver the keys if the other screen has chosen what has the focus, or if none will be opened."""
        screen, before = self._app.screen, self._seen
        self._seen = screen, screen.focused
        self._looks = self._looks + 1 if self._seen == before else 0
        is_late = monotonic() - self._begun_at > _LONGEST_HOLD_SECONDS
        if screen is self._below:
            if is_late or not self._is_opening(screen):
                self._release()
        elif self._looks > (0 if screen.focused is not None else _LOOKS_WITHOUT_FOCUS):
            self._release()

    def _release(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        keys, self.held = self.held, []
        for key in keys:
            self._app.post_message(Key(key.key, key.character))


class AssayApp(ThemedApp[int]):
    """The terminal app.

    It calls `open_session` in a thread after the first paint, and creates the context that all screens share.
    """

    TITLE = "Assay"
    ENABLE_COMMAND_PALETTE = True
    COMMANDS: ClassVar = {NamedCommands}
    CSS = """
    Toast { background: $raised; color: $foreground; }
    Tooltip { background: $raised; color: $foreground; }
    CommandPalette > Vertical { width: 76; max-width: 96%; background: $raised; }
    CommandPalette #--input { border: none; background: $raised; padding: 0 1; }
    CommandPalette #--results { border: none; background: $raised; }
    CommandPalette SearchIcon { display: none; }
    CommandPalette CommandList { border: none; margin-bottom: 1; scrollbar-size-vertical: 1; min-width: 8; }
    CommandPalette CommandList > .option-list--option-highlighted { background: $selected; color: $accent; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "question_mark", "help", "help", id="app.help", tooltip="Show the keys of this screen", key_display="?"
        ),
        Binding("ctrl+p", "command_palette", "commands", id="app.palette", tooltip="Search all commands and themes"),
        Binding("W", "move_borders", "borders", id="app.borders", tooltip="Move the borders between panes", show=False),
        Binding("f2", "settings", "settings", id="app.settings", tooltip="Settings of the config file", show=False),
        bind("ctrl+o", "jump_mode", "app.jump-mode", "Go to a pane, tab, list or field by a letter", priority=True),
        Binding("q,ctrl+q,ctrl+c", "leave", "Quit", id="app.leave", tooltip="Quit Assay", show=False),
        Binding(
            "ctrl+z",
            "suspend_process",
            "Suspend",
            id="app.suspend",
            tooltip="Suspend; `fg` in the shell resumes",
            show=False,
        ),
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
        self._app_context: AppContext | None = None
        self._finder: Finder | None = None
        self._settings: SettingsEditor | None = None
        self._displayed_notices: set[str] = set()
        self._notification_hold = NotificationHold(super().notify, self.clear_notifications)
        self._leaving = False
        self._last_key: Key | None = None
        self._last_key_at = 0.0
        self._collector = IdleCollector(lambda: self._last_key_at)
        self._opening = _OpeningKeys(self)

    def get_default_screen(self) -> Screen[None]:
        """Return the splash, which is displayed until the session is ready."""
        return SplashScreen()

    def on_mount(self) -> None:
        """Collect garbage while no key is pressed."""
        self.set_interval(_COLLECTION_SECONDS, self._collector.tick)

    def on_unmount(self) -> None:
        """Let Python collect garbage whenever it is due."""
        self._collector.stop()

    def on_splash_screen_painted(self) -> None:
        """Load the remaining modules and open the session, now that the splash is displayed."""
        self._open_explore()

    @work(group="explore")
    async def _open_explore(self) -> None:
        """Open the session and replace the splash with Explore; display the error on the splash when that fails."""
        splash = self.screen
        assert isinstance(splash, SplashScreen)
        await asyncio.to_thread(import_module, "tui.app.explore.screen")
        from tui.app.context import open_context
        from tui.model.errors import AssayError

        try:
            context = self._app_context = await open_context(
                self,
                self._open_session,
                self._paths,
                post=self._post_to_screens,
                confirm=self._confirm_consent,
                notification_hold=self._notification_hold,
            )
        except AssayError as error:
            splash.show_error(str(error))
        else:
            if self._leaving or not self.is_running:  # the person quit while the session was being opened
                return
            await self._show_explore(context)
        for key in splash.pop_keys():
            self.post_message(Key(key.key, key.character))

    async def _show_explore(self, context: "AppContext") -> None:
        """Replace the splash with Explore, and start the workers of the context."""
        from tui.app.explore.screen import ExploreScreen
        from tui.app.find.finder import Finder
        from tui.app.settings.editor import SettingsEditor

        self._settings = SettingsEditor(self, context)
        if context.session.config.theme:
            self._settings.apply()
        else:
            self._settings.apply_keys()
        explore = ExploreScreen(context)
        self._finder = Finder(context, explore)
        self.add_mode("explore", lambda: explore)
        await self.switch_mode("explore")
        session = context.session
        self._display_notices(session.notices)
        # Reading the history adds notices about results that cannot be read.
        self.set_interval(_NOTICE_SECONDS, lambda: self._display_notices(session.notices))
        start_worker(self, context.runs.work, group="runs")
        start_worker(self, context.scores.work, group="watch scores")
        explore.call_after_refresh(self.run_worker, context.suite_loader.work, group="suites")

    def _display_notices(self, notices: Sequence[str]) -> None:
        """Display those of the notices that were not displayed before."""
        for notice in notices:
            if notice not in self._displayed_notices:
                self._displayed_notices.add(notice)
                self.notify(sanitize_line(notice, 600), severity="warning", markup=False, timeout=12)

    def _post_to_screens(self, message: Message) -> None:
        """Post a message to every screen of the stack, and to the app itself."""
        for target in (*self.screen_stack, self):
            target.post_message(message)

    def on_case_chosen(self, message: "CaseChosen") -> None:
        """Display in Explore the case that was chosen in a matrix."""
        if self._finder is not None:
            self._finder.show_case(message.path, message.case_id)

    def on_run_refused(self, message: "RunRefused") -> None:
        """Notify that a run did not start, with the reason."""
        self.notify(sanitize_line(message.why, 600), title="Not run", severity="error", markup=False, timeout=12)

    def on_files_recorded(self, message: "FilesRecorded") -> None:
        """Notify that a run sends files as they were recorded."""
        if message.note:
            self.notify(sanitize_line(message.note, 600), severity="warning", markup=False, timeout=12)

    def on_store_trouble(self, message: "StoreTrouble") -> None:
        """Notify that results cannot be stored at the moment, or that all pending results are stored now."""
        if message.reason:
            text = f"{message.reason} Results stay in memory; saving is retried."
            self.notify(sanitize_line(text, 600), title="Not saved", severity="error", markup=False, timeout=20)
        else:
            self.notify("All pending results are saved now.", markup=False)

    async def _confirm_consent(self, consent: "Consent") -> bool:
        """Ask whether a suite may do what needs a consent.

        Waits until notifications are no longer held back, because the question may name a model or an agent.
        """
        from tui.app.dialogs import ConfirmScreen

        await self._notification_hold.wait_until_released()
        what = consent.what.replace("\n", "␊")  # a line feed in a command could imitate the text of this dialog
        question = f"{what}.\n\nAllow it? Assay remembers the answer until the content changes."
        dialog = ConfirmScreen("Allow?", question, yes="allow it", no="do not run", asks_permission=True)
        with self._notification_hold.until_answered():
            return await self.push_screen_wait(dialog)

    async def on_event(self, event: Event) -> None:
        """Note when the last key was pressed; a key that bubbles up to the app arrives once more."""
        if isinstance(event, Key) and event is not self._last_key:
            self._last_key, self._last_key_at = event, monotonic()
            if self._opening.is_begun and not event.is_forwarded:
                self._opening.hold(event)
                return
        await super().on_event(event)

    def on_key(self, event: Key) -> None:
        """Hold a key of the current screen while another one is being opened above it, for that one."""
        if self._opening.is_begun:
            event.prevent_default()
            self._opening.hold(event)

    def notify(self, message: str, **options: Any) -> None:
        """Show a notification, now or when the hold is released."""
        self._notification_hold.notify(message, **options)

    def get_key_display(self, binding: Binding) -> str:
        """Return the displayed key, named as in the dialogs: `Esc`, `Enter`, `PgUp`."""
        shown = super().get_key_display(binding)
        sign = "^" if shown.startswith("^") and len(shown) > 2 else ""
        return sign + _KEY_NAMES.get(shown.removeprefix(sign), shown.removeprefix(sign))

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """Yield the commands of the palette for a screen: its enabled keys, and the main actions under their names."""
        yield from commands_of(self, screen, names_hidden=self._notification_hold.holds)

    def action_help(self) -> None:
        """Show the keys that are active on the current screen."""
        from tui.app.dialogs import HelpScreen

        if not isinstance(self.screen, HelpScreen):
            self.push_screen(HelpScreen(self.screen))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether a key is active.

        While a filter is typed, the keys that find something are normal characters; the search shows names, and is
        inactive during a blind review.
        """
        del parameters
        if action == "search" and self._notification_hold.holds:
            return False
        if action == "move_borders":
            return bool(self.screen.query("Splitter"))
        return action not in ("jump", "search") or (self._finder is not None and not self._finder.typing)

    def action_jump(self) -> None:
        """Open the dialog that goes to a case or suite in Explore."""
        if self._finder is not None:
            self._finder.jump()

    def action_search(self) -> None:
        """Open the dialog that searches the saved answers."""
        if self._finder is not None:
            self._finder.search()

    def action_export(self) -> None:
        """Open the dialog that exports a report of the run that Explore shows."""
        start_worker(self.screen, self._export_shown, group="export", exclusive=True)

    async def _export_shown(self) -> None:
        from tui.app.navigator import Navigator

        context = self._app_context
        if context is not None and context.selection.open_suite is not None:
            await Navigator(context, self.screen).export_suite(context.selection.open_suite)

    def action_move_borders(self) -> None:
        """Move the next border of the screen by keys, or go back to the panes after the last one."""
        from tui.app.widgets.splitter import focus_next_splitter

        focus_next_splitter(self.screen)

    def action_settings(self) -> None:
        """Open the settings of the config file."""
        if self._settings is not None:
            self._settings.open()

    def search_themes(self) -> None:
        """Open the list of themes, which shows each theme as the cursor moves."""
        if self._settings is not None:
            self._settings.choose_theme()

    def action_jump_mode(self) -> None:
        """Show a letter on each place of the screen, and go to the place whose letter is pressed; or hide them."""
        from tui.app.jump_mode import JumpModeScreen, go_to_place

        screen = self.screen
        if isinstance(screen, JumpModeScreen):
            screen.dismiss(None)
        elif not isinstance(screen, CommandPalette | SplashScreen):
            self.push_screen(JumpModeScreen(screen), go_to_place)

    def action_tour(self) -> None:
        """Show the tour of the screen."""
        from tui.app.explore.tour import TourScreen

        if not isinstance(self.screen, TourScreen):
            self.push_screen(TourScreen(self.screen))

    def on_run_ended(self, message: "RunEnded") -> None:
        """Ring the bell at the end of a long run if the terminal does not have the focus, as far as it reports that."""
        elapsed = self._app_context.runs.elapsed(message.path, monotonic()) if self._app_context else None
        if not self.app_focus and message.outcome is not None and (elapsed or 0) >= _LONG_RUN_SECONDS:
            self.bell()

    def action_leave(self) -> None:
        """Quit, after a confirmation while a run is in progress or changes are unsaved."""
        self._leave()

    @work(group="leave")
    async def _leave(self) -> None:
        from tui.app.dialogs import ConfirmScreen

        reasons: list[str] = []
        if self._app_context is not None:
            reasons += [describe() for describe in self._app_context.unsaved_work]
            if self._app_context.runs.busy:
                reasons.append(self._run_in_progress(self._app_context.runs))
        if question := "\n\n".join(filter(None, reasons)):
            if isinstance(self.screen, ConfirmScreen):
                return
            if not await self.push_screen_wait(ConfirmScreen("Quit?", question, yes="quit", no="stay")):
                return
        await self._finish(0)

    @staticmethod
    def _run_in_progress(runs: "RunQueue") -> str:
        from tui.app.presentation.figures import counted

        state, queued = runs.running_state, len(runs.queued)
        if state is not None and state.stalled is not None:
            what = sanitize_line(state.stalled, 600)
            return f"A run is in progress, and its last answers cannot be saved: they would be lost.\n\n{what}"
        text = "A run is in progress. Finished trials are saved; resume the run later for the rest."
        return f"{text} {counted(queued, 'queued run')} will not start." if queued else text

    def end(self, code: int) -> None:
        """Quit without a question, with an exit code; a run in progress is interrupted first."""
        if self.is_running:
            self._end_now(code)
        else:
            self.exit(code, return_code=code)

    @work(group="end")
    async def _end_now(self, code: int) -> None:
        await self._finish(code)

    async def _finish(self, code: int) -> None:
        if self._leaving:
            return
        self._leaving = True
        if self._app_context is not None:
            await self._app_context.runs.stop()
            if self.lost:
                code = code or _LOSS_EXIT_CODE
        self.exit(code, return_code=code)

    @property
    def lost(self) -> str:
        """A sentence about results that could not be stored before the app ended; empty if all were."""
        return self._app_context.runs.lost if self._app_context is not None else ""

    async def close_session(self) -> None:
        """Close processes, connections and files of the session; call this after the app has run."""
        if self._app_context is not None:
            await self._app_context.session.close()
