"""The rows of the dialog that chooses models: the names, each provider with its state, and the models below it."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from tui.app.presentation.figures import counted
from tui.app.presentation.fuzzy import fold_case, marked, matching_places, rank_entries
from tui.app.presentation.model_faults import ModelFault
from tui.app.presentation.pieces import Line, Piece, Role, cut, text_of
from tui.model.sanitize import sanitize_line

if TYPE_CHECKING:
    from tui.session.model_catalog import ProviderState
    from tui.session.models import ListedModels


class ModelRow(NamedTuple):
    """A row: a model, a provider, a note about a provider, or a typed name that no list has.

    `name` is the name of the model or the provider, or the text of the note.
    """

    kind: Literal["model", "provider", "note", "typed"]
    name: str
    is_inside: bool = False


class ModelChoice:
    """The chosen models in their order, the offered ones, and the providers with their lists.

    `lists` has the answer of each provider that was asked, `asking` those that are being asked, `faults` the chosen
    models that cannot be run.
    """

    def __init__(self, names: Sequence[str], chosen: Sequence[str], most: int) -> None:
        self.names = list(dict.fromkeys((*chosen, *names)))
        self.chosen, self.most = list(chosen), most
        self.states: Sequence[ProviderState] = ()
        self.lists: Mapping[str, ListedModels] = {}
        self.asking: set[str] = set()
        self.unfolded: set[str] = set()
        self.faults: Mapping[str, ModelFault] = {}

    def turn(self, name: str) -> None:
        """Choose a model or remove it from the choice."""
        if name in self.chosen:
            self.chosen.remove(name)
        elif len(self.chosen) < self.most:
            self.chosen.append(name)

    def add(self, name: str) -> None:
        """Offer a model, and choose it."""
        if name not in self.names:
            self.names.append(name)
        if name not in self.chosen:
            self.turn(name)

    def replace(self, old: str, new: str) -> None:
        """Choose a model in place of another one, which stays in the list."""
        if old in self.chosen and new not in self.chosen:
            self.chosen[self.chosen.index(old)] = new
        elif old != new:
            self.add(new)
        if new not in self.names:
            self.names.insert(self.names.index(old) + 1 if old in self.names else len(self.names), new)

    def state_of(self, name: str) -> "ProviderState | None":
        """Return the state of a provider."""
        return next((state for state in self.states if state.name == name), None)

    def unasked(self) -> list[str]:
        """Return the providers that can be asked for their models and were not asked yet."""
        return [
            state.name
            for state in self.states
            if state.is_usable and state.name not in self.lists and state.name not in self.asking
        ]

    def reason(self, row: ModelRow) -> str:
        """Return why the provider of a row cannot be used or asked, or the note of a row; empty without a reason."""
        if row.kind == "note":
            return sanitize_line(row.name, 600)
        state, listed = self.state_of(row.name), self.lists.get(row.name)
        if row.kind != "provider" or state is None:
            return ""
        return sanitize_line(state.fault or (listed.error if listed is not None else "") or "", 600)

    def rows(self) -> list[ModelRow]:
        """Return the rows without a search."""
        rows = [ModelRow("model", name) for name in self.names]
        for state in self.states:
            rows.append(ModelRow("provider", state.name))
            if state.name not in self.unfolded:
                continue
            listed = self.lists.get(state.name)
            if state.fault:
                rows.append(ModelRow("note", state.fault, is_inside=True))
            elif state.name in self.asking or listed is None:
                rows.append(ModelRow("note", "Waiting for the list of models…", is_inside=True))
            elif listed.error:
                rows.append(ModelRow("note", listed.error, is_inside=True))
            else:
                rows += [ModelRow("model", model, is_inside=True) for model in listed.models]
        return rows

    def candidates(self) -> list[str]:
        """Return all known models, to search in."""
        return list(dict.fromkeys((*self.names, *(name for listed in self.lists.values() for name in listed.models))))

    def line(self, row: ModelRow, query: str, width: int) -> Line:
        """Return the line of a row; in model names the letters that match the query are marked."""
        if row.kind == "provider":
            return self._provider_line(row.name, width)
        if row.kind == "note":
            return (("      ", "plain"), (cut(sanitize_line(row.name, 600), width - 6), "dim"))
        if row.kind == "typed":
            return ((" + ", "accent"), (cut(sanitize_line(row.name), width - 20), "strong"), (" as it is typed", "dim"))
        place = self.chosen.index(row.name) + 1 if row.name in self.chosen else 0
        mark: Piece = (f"{place:2} ", "accent") if place else (" · ", "dim")
        role: Role = "strong" if place else "plain"
        [places] = matching_places(query, (fold_case(row.name),)) if query.strip() else [frozenset[int]()]
        fault = self.faults.get(row.name) if place else None
        error: Line = (("  ", "plain"), (f"needs {fault.needs}" if fault.needs else "error", "error")) if fault else ()
        room = width - len(text_of(error)) - (6 if row.is_inside else 3)
        name = marked(cut(row.name, room) if row.name.isprintable() else row.name, places, role)
        return (("   ", "plain"), mark, *name, *error) if row.is_inside else (mark, *name, *error)

    def _provider_line(self, name: str, width: int) -> Line:
        sign = "▾" if name in self.unfolded else "▸"
        shown = cut(sanitize_line(name, 60), 24)
        text, role = self._state_words(name)
        return ((f" {sign} ", "dim"), (f"{shown:14}", "plain"), ("  ", "plain"), (cut(text, width - 20), role))

    def _state_words(self, name: str) -> Piece:
        state, listed = self.state_of(name), self.lists.get(name)
        if state is None:
            return "", "dim"
        if state.needs:
            return f"key missing: {sanitize_line(state.needs, 200)}", "flaky"
        if state.fault:
            return f"cannot be used: {sanitize_line(state.fault, 300)}", "error"
        if name in self.asking:
            return "waiting for its list…", "running"
        if listed is not None and listed.error:
            return f"unreachable: {sanitize_line(listed.error, 300)}", "error"
        key = f"key set ({sanitize_line(state.key_name, 100)})" if state.key_name else "no key set"
        return (f"{counted(len(listed.models), 'model')} · {key}" if listed else key), "dim"


def find_rows(query: str, names: Sequence[str]) -> list[ModelRow]:
    """Return the models that match a query, the best first, and the query as a name of its own if it is none of them.

    The typed name comes first if no model contains it.
    """
    found = rank_entries(query, names, lambda name: (fold_case(name),))
    rows = [ModelRow("model", name) for name in found]
    typed = query.strip()
    if typed in names:
        rows.sort(key=lambda row: row.name != typed)
        return rows
    is_part = any(fold_case(typed) in fold_case(name) for name in found)
    return [*rows, ModelRow("typed", typed)] if is_part else [ModelRow("typed", typed), *rows]
