"""Filters that were saved under a name, in a file of the data folder."""

import json
import os
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType

from tui.documents.files import read_whole
from tui.model.errors import StoreError
from tui.model.filter import LONGEST_FILTER, is_filter_name, rename_saved_filter, saved_filter_fault
from tui.processes.file_lock import locked
from tui.session.files import locked_for_change, write_safely

MOST_FILTERS = 100
_MOST_FILE_BYTES = 256 * 1024
_VERSION = 1


class _DamagedFile(Exception):
    """The file is not what this class writes."""


class FilterExists(StoreError):
    """There is another filter of the name, with this `text`."""

    def __init__(self, name: str, text: str) -> None:
        super().__init__(f"There is a filter @{name} already")
        self.text = text


class SavedFilters:
    """The saved filters of this user, `{"version": 1, "filters": {name: text}}`.

    `texts` has them as they were read last, ordered by name, and `notices` what the user should know of the file. The
    methods block: call them in a thread. Those that change a filter read the file again first, because another program
    may have changed it, and raise StoreError.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self.texts: Mapping[str, str] = MappingProxyType({})
        self.notices: tuple[str, ...] = ()

    def read(self) -> None:
        """Read the file. A damaged one is renamed, and `notices` says so."""
        try:
            self._use(self._load())
        except _DamagedFile as fault:
            self._set_aside(str(fault))
        except (OSError, ValueError) as error:
            self._use({})
            self.notices = (f"{self._file}: saved filters cannot be read ({_reason(error)}).",)

    def save(self, name: str, text: str, *, replaces: str | None = None) -> None:
        """Save a filter under a name, in place of the one with this name.

        Raises FilterExists if that has another text than the one that is replaced, if it is given; empty is for none.
        """
        name, text = name.casefold(), text.strip()
        if not is_filter_name(name):
            raise StoreError("The name of a filter has letters, digits, _, . and -, at most 40")
        if not text or len(text) > LONGEST_FILTER:
            raise StoreError("Nothing to save" if not text else f"A filter has at most {LONGEST_FILTER} characters")

        def change(texts: dict[str, str]) -> None:
            if replaces is not None and (here := texts.get(name, "")) not in ("", replaces):
                raise FilterExists(name, here)
            texts[name] = text
            if len(texts) > MOST_FILTERS:
                raise StoreError(f"There are {MOST_FILTERS} saved filters already", fix="Delete one first.")
            if fault := saved_filter_fault(name, texts):
                raise StoreError(fault)

        self._change(change)

    def rename(self, name: str, new: str) -> None:
        """Rename a filter, also where other filters use it."""
        new = new.casefold()
        if not is_filter_name(new):
            raise StoreError("The name of a filter has letters, digits, _, . and -, at most 40")

        def change(texts: dict[str, str]) -> None:
            if new in texts:
                raise StoreError(f"There is a filter @{new} already")
            if name not in texts:
                raise StoreError(f"There is no filter @{name} any more")
            texts[new] = texts.pop(name)
            for each, text in texts.items():
                texts[each] = rename_saved_filter(text, name, new)
                if len(texts[each]) > LONGEST_FILTER:
                    raise StoreError(f"@{each} would have more than {LONGEST_FILTER} characters")

        self._change(change)

    def delete(self, name: str) -> None:
        """Delete a filter, if there is one with this name."""
        self._change(lambda texts: texts.pop(name, None))

    def _change(self, change: Callable[[dict[str, str]], object]) -> None:
        try:
            with locked_for_change(self._file, "the filter"):
                texts = self._load()
                change(texts)
                content = {"version": _VERSION, "filters": dict(sorted(texts.items()))}
                write_safely(self._file, json.dumps(content, indent=1, ensure_ascii=False) + "\n", mode=0o600)
        except _DamagedFile as fault:
            self._set_aside(str(fault))
            raise StoreError(self.notices[0] if self.notices else "Try again") from fault
        self._use(texts)

    def _load(self) -> dict[str, str]:
        """Return the filters in the file; without a file, none. Raises _DamagedFile, and OSError."""
        try:
            content = read_whole(self._file, _MOST_FILE_BYTES)
        except FileNotFoundError:
            return {}
        try:
            found = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise _DamagedFile("is not JSON") from error
        filters = found.get("filters") if isinstance(found, dict) else None
        if not isinstance(filters, dict):
            raise _DamagedFile("has no filters")
        if found.get("version") != _VERSION:
            raise ValueError("written by another version of Assay")
        pairs = filters.items()
        return dict([(name, text) for name, text in pairs if is_filter_name(name) and _is_text(text)][:MOST_FILTERS])

    def _use(self, texts: dict[str, str]) -> None:
        self.texts, self.notices = MappingProxyType(dict(sorted(texts.items()))), ()

    def _set_aside(self, fault: str) -> None:
        """Rename the damaged file, unless another program has replaced it by now."""
        aside = self._file.with_name(f"{self._file.name}.damaged-{secrets.token_hex(3)}")
        self._use({})
        try:
            with locked(self._file.with_suffix(".lock")):
                with suppress(_DamagedFile):
                    self._use(self._load())
                    return
                os.rename(self._file, aside)
        except (OSError, ValueError) as error:
            self.notices = (f"{self._file} {fault}, and cannot be renamed ({_reason(error)}).",)
        else:
            self.notices = (f"{self._file} {fault}. It was renamed to {aside.name}; saved filters start empty.",)


def _is_text(text: object) -> bool:
    return isinstance(text, str) and 0 < len(text.strip()) <= LONGEST_FILTER


def _reason(error: Exception) -> str:
    return (error.strerror or "unknown error") if isinstance(error, OSError) else str(error)
