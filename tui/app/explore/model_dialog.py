"""A dialog to choose the models of a suite: from the suite, the config, the lists of the providers, or by name."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from tui.app.context import AppContext
from tui.app.explore.model_forms import model_settings_form, provider_form
from tui.app.explore.model_rows import ModelChoice, ModelRow, find_rows
from tui.app.keymap import key_of
from tui.app.notifications import notify_error
from tui.app.open_suites import MOST_MODELS
from tui.app.presentation.model_faults import LOCAL_MODEL, ModelFault
from tui.app.presentation.pieces import Line
from tui.app.run_queue import resolve_models
from tui.app.screens import Dialog
from tui.app.session_protocol import Session
from tui.app.widgets.list_view import LineListView
from tui.app.widgets.prompt_input import PromptInput
from tui.app.widgets.search_loop import SearchLoop
from tui.app.workers import start_worker
from tui.model.errors import AssayError
from tui.model.sanitize import sanitize_line, sanitize_text

if TYPE_CHECKING:
    from tui.session.model_catalog import ModelCatalog

CheckModels = Callable[[tuple[str, ...]], Mapping[str, ModelFault]]
_MOST_FAULTS = 3


async def choose_models(screen: Screen[Any], context: AppContext) -> bool:
    """Ask for the models of the selected suite, and return whether some were chosen. They are remembered."""
    selection, session, path = context.selection, context.session, context.selection.path
    suite = selection.suite
    if suite is None or path is None:
        return False
    names = (*suite.models, *session.config.variants, LOCAL_MODEL)

    def check(chosen: tuple[str, ...]) -> Mapping[str, ModelFault]:
        return resolve_models(session, suite, chosen)[1]

    chosen = await screen.app.push_screen_wait(ModelChooser(names, selection.models, session.catalog, check))
    if not chosen:
        return False
    selection.choose_models(chosen, path)
    if not selection.run:
        kept = () if chosen == selection.own_models(path) else chosen
        start_worker(screen, partial(_remember, screen, session, path, kept), group="remember models")
    return True


async def _remember(screen: Screen[Any], session: Session, path: Path, names: tuple[str, ...]) -> None:
    try:
        await asyncio.to_thread(session.catalog.choices.remember, path, names)
    except AssayError as error:
        notify_error(screen, error)


class _Names(LineListView):
    """The list of models and providers."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "space", "choose", "Select", id="models.take", tooltip="Select a model, or unfold a provider", show=False
        ),
        Binding("enter", "screen.accept", "Done", id="models.done", tooltip="Show the selected models", show=False),
    ]


class ModelChooser(Dialog[tuple[str, ...] | None]):
    """A dialog to choose models. The result is the names in the order of their selection, or None.

    `catalog` has the providers and their models; `check` returns why models cannot be run, and may block.
    """

    DEFAULT_CSS = """
    ModelChooser > Vertical { width: 96; height: 80%; max-height: 36; }
    ModelChooser _Names { height: 1fr; background: $raised; }
    ModelChooser Static { height: auto; max-height: 8; color: $dim; margin-top: 1; }
    ModelChooser Static.-error { color: $error-mark; }
    ModelChooser PromptInput, ModelChooser PromptInput:focus { background: $background; margin-top: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "Close", id="models.leave", tooltip="Close without changes"),
        Binding("slash,a", "type", "Type", id="models.type", tooltip="Search a model, or enter its name"),
        Binding("e", "edit_settings", "Settings", id="models.settings", tooltip="Change the settings of the model"),
        Binding("n", "add_provider", "New", id="models.add-provider", tooltip="Add a provider to the config file"),
        Binding("up", "move(-1)", "Up", id="models.up", tooltip="Previous row", show=False),
        Binding("down", "move(1)", "Down", id="models.down", tooltip="Next row", show=False),
    ]

    def __init__(
        self,
        names: Sequence[str],
        chosen: Sequence[str],
        catalog: "ModelCatalog | None" = None,
        check: CheckModels | None = None,
    ) -> None:
        super().__init__()
        self._choice = ModelChoice(names, chosen, MOST_MODELS)
        self._catalog, self._check = catalog, check
        self._rows: Sequence[ModelRow] = ()
        self._list = _Names(line_of=self._line, on_chosen=self._choose)
        self._input = PromptInput("search, or enter provider/model or a variant", self._list)
        self._hint = Static(Content(), markup=False)
        self._search = SearchLoop(self, self._find, self._show_found, self._take_found)
        self._checked: tuple[str, ...] = ()

    def compose(self) -> ComposeResult:
        """Compose the list of names, and an input to search them or to enter another one."""
        with Vertical() as box:
            box.border_title = Content("Models")
            search, settings, new = (key_of(self, f"models.{name}") for name in ("type", "settings", "add-provider"))
            box.border_subtitle = Content(
                f"Space select · {search} search · {settings} settings · {new} provider · Enter show · Esc"
            )
            yield self._list
            yield self._input
            yield self._hint

    def on_mount(self) -> None:
        """Fill the list and focus it."""
        self._show_rows(self._choice.rows(), 0)
        self._draw_hint()
        self._list.focus()
        if self._catalog is not None:
            self._choice.lists = self._catalog.lists
            start_worker(self, self._read_states, group="states")

    async def _read_states(self) -> None:
        assert self._catalog is not None
        self._choice.states = await asyncio.to_thread(self._catalog.states)
        self._update()
        if self._search.shown_text:
            self._ask_all()

    # The rows

    def _show_rows(self, rows: Sequence[ModelRow], cursor: int) -> None:
        self._rows = rows
        self._list.show_count(len(rows), cursor)

    def _line(self, place: int, width: int) -> Line:
        return self._choice.line(self._rows[place], self._search.shown_text, width)

    def _update(self) -> None:
        """Display changed rows, with the cursor on the same one."""
        if self._input.value.strip():
            self._search.start(self._input.value)
            return
        before, rows = self._row, self._choice.rows()
        self._show_rows(rows, rows.index(before) if before in rows else max(0, self._list.cursor))

    @property
    def _row(self) -> ModelRow | None:
        """Return the row under the cursor."""
        at = self._list.cursor
        return self._rows[at] if 0 <= at < len(self._rows) else None

    def _draw_hint(self) -> None:
        faults = [f"{sanitize_line(name, 80)}: {sanitize_text(fault.text)}" for name, fault in self._faults()]
        if faults:
            more = f"\n… and {len(faults) - _MOST_FAULTS} more." if len(faults) > _MOST_FAULTS else ""
            text = "\n".join(faults[:_MOST_FAULTS]) + f"{more}\nEnter again shows them all the same."
        else:
            text = f"{len(self._choice.chosen)} of at most {self._choice.most} selected"
            if (row := self._row) is not None and (reason := self._choice.reason(row)):
                text = f"{reason}\n{text}"
        self._hint.set_class(bool(faults), "-error")
        self._hint.update(Content(text))

    @on(LineListView.Reached)
    def describe_row(self) -> None:
        """Display why the provider under the cursor cannot be used: its row may be too narrow for all of it."""
        if not self._faults():
            self._draw_hint()

    def _faults(self) -> list[tuple[str, ModelFault]]:
        return [(name, fault) for name, fault in self._choice.faults.items() if name in self._choice.chosen]

    def _choose(self, place: int) -> None:
        """Select or deselect the model of a row, or unfold or fold its provider."""
        row = self._rows[place]
        if row.kind == "model":
            self._choice.turn(row.name)
        elif row.kind == "typed":
            self._choice.add(row.name)
        elif row.kind == "provider":
            self._fold(row.name)
        self._draw_hint()
        self._list.refresh()

    def _fold(self, name: str) -> None:
        choice = self._choice
        if name in choice.unfolded:
            choice.unfolded.discard(name)
        else:
            choice.unfolded.add(name)
            state, listed = choice.state_of(name), choice.lists.get(name)
            if state is not None and state.is_usable and name not in choice.asking and (not listed or listed.error):
                self._ask(name)
        self._update()

    # The lists of the providers

    def _ask_all(self) -> None:
        for name in self._choice.unasked():
            self._ask(name)

    def _ask(self, name: str) -> None:
        self._choice.asking.add(name)
        start_worker(self, partial(self._read_list, name), group=f"list {name}")

    async def _read_list(self, name: str) -> None:
        assert self._catalog is not None
        try:
            await self._catalog.list_models(name)
        finally:
            self._choice.asking.discard(name)
        self._update()

    # The search

    @on(PromptInput.Typed)
    def search_text(self, message: PromptInput.Typed) -> None:
        """Search for the text as it is typed, in the lists of all providers that can be asked."""
        message.stop()
        if isinstance(message, PromptInput.Entered):
            self._take_typed(message.text.strip())
            return
        if message.text.strip():
            self._ask_all()
        self._search.stop_accepting()
        self._search.start(message.text)

    async def _find(self, text: str) -> Sequence[ModelRow]:
        if not text.strip():
            return self._choice.rows()
        return await asyncio.to_thread(find_rows, text, self._choice.candidates())

    def _show_found(self, text: str, rows: Sequence[ModelRow]) -> None:
        self._show_rows(rows, self._list.cursor if text == self._search.shown_text else 0)

    def _take_typed(self, name: str) -> None:
        """Choose the row under the cursor as soon as the rows are those of the text; accept if nothing was typed."""
        if name:
            self._search.accept(self._input.value)
        else:
            self.action_accept()

    def _take_found(self) -> None:
        if (row := self._row) is not None:
            self._choice.add(row.name)
        self._input.value = ""
        self._search.show("", self._choice.rows())
        self._draw_hint()
        self._list.focus()

    @on(PromptInput.Left)
    def leave_search(self) -> None:
        """Go back to the whole list."""
        self._input.value = ""
        self._search.start("")

    def action_type(self) -> None:
        """Focus the input."""
        self._input.start()

    def action_move(self, by: int) -> None:
        """Move the cursor of the list while the input has the focus."""
        self._list.action_move(by)

    # The forms

    def action_edit_settings(self) -> None:
        """Open the form with the settings of the model under the cursor."""
        row = self._row
        if row is None or row.kind != "model":
            self.notify("Select a model to change its settings.", markup=False)
            return

        def use(name: str | None) -> None:
            if name is not None:
                self._choice.replace(row.name, name)
                self._draw_hint()
                self._update()

        self.app.push_screen(model_settings_form(row.name), use)

    def action_add_provider(self) -> None:
        """Open the form for a new provider, and unfold the provider that was added."""
        if self._catalog is None:
            return

        def show(name: str | None) -> None:
            if name is not None:
                start_worker(self, partial(self._show_added, name), group="states", exclusive=True)

        self.app.push_screen(provider_form(self._catalog), show)

    async def _show_added(self, name: str) -> None:
        await self._read_states()
        self._choice.unfolded.discard(name)
        self._fold(name)
        added = ModelRow("provider", name)
        if added in self._rows:
            self._list.go_to(self._rows.index(added))

    # The result

    def action_accept(self) -> None:
        """Close the dialog with the selected models, or display why some of them cannot be run.

        The same selection is accepted the second time: kept answers of such models can be displayed.
        """
        chosen = tuple(self._choice.chosen)
        if self._check is None or not chosen or (chosen == self._checked and self._faults()):
            self.dismiss(chosen or None)
        else:
            start_worker(self, partial(self._validate, self._check, chosen), group="check", exclusive=True)

    async def _validate(self, check: CheckModels, chosen: tuple[str, ...]) -> None:
        faults = await asyncio.to_thread(check, chosen)
        if faults and chosen == tuple(self._choice.chosen):
            self._choice.faults, self._checked = faults, chosen
            self._draw_hint()
            self._list.refresh()
        elif not faults:
            self.dismiss(chosen)
