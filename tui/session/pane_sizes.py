"""The sizes of panes that a user has chosen, in a file of the data folder."""

import json
import math
from pathlib import Path

from tui.model.errors import StoreError
from tui.session.files import locked_for_change, read_json, write_safely

_MOST_FILE_BYTES = 64 * 1024
_MOST_PANES = 200
_LONGEST_NAME = 80


class PaneSizes:
    """The share of the screen that each pane has, between 0 and 1, by a name such as `explore.suites`.

    `load` and `save` block: call them in a thread. A damaged file counts as empty, and an entry that is no share is
    left out.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._shares: dict[str, float] = {}
        self._changed: set[str] = set()

    def load(self) -> None:
        """Read the file."""
        self._shares = self._read()

    def share(self, name: str) -> float | None:
        """Return the share of a pane; None if the user has not chosen one."""
        return self._shares.get(name)

    def choose(self, name: str, share: float | None) -> None:
        """Set the share of a pane; None restores its usual size."""
        self._changed.add(name)
        if share is None:
            self._shares.pop(name, None)
        else:
            self._shares[name] = share

    def save(self) -> None:
        """Write what was chosen since the last time. Raises StoreError."""
        changed, self._changed = self._changed, set()
        try:
            with locked_for_change(self._file, "the sizes of the panes"):
                shares = {name: share for name, share in self._read().items() if name not in changed}
                shares |= {name: self._shares[name] for name in changed if name in self._shares}
                kept = dict(list(shares.items())[-_MOST_PANES:])
                write_safely(self._file, json.dumps(kept, indent=1), mode=0o600)
        except StoreError:
            self._changed |= changed
            raise

    def _read(self) -> dict[str, float]:
        kept = read_json(self._file, _MOST_FILE_BYTES)
        if not isinstance(kept, dict):
            return {}
        shares = {name: share for name, share in kept.items() if len(name) <= _LONGEST_NAME and _is_share(share)}
        return dict(list(shares.items())[-_MOST_PANES:])


def _is_share(value: object) -> bool:
    return isinstance(value, float) and math.isfinite(value) and 0 < value < 1
