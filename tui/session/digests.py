"""What large files hold, told by a digest that is worked out once."""

import contextlib
import hashlib
import json
from pathlib import Path

from tui.session.files import write_safely

_FILE = "digests.json"
_MOST = 200  # files remembered


class Digests:
    """SHA-256 of files; remembered in the cache folder by path, size and time of change."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / _FILE

    def of(self, path: Path) -> str:
        """Hexadecimal. Blocks for as long as reading takes, the first time. Raises OSError."""
        stat = path.stat()
        key = f"{path.resolve()}|{stat.st_size}|{stat.st_mtime_ns}"
        known = self._known()
        if key not in known:
            with path.open("rb") as file:
                known[key] = hashlib.file_digest(file, "sha256").hexdigest()
            self._keep(known)
        return known[key]

    def _known(self) -> dict[str, str]:
        try:
            kept = json.loads(self._file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        if not isinstance(kept, dict):
            return {}
        return {key: value for key, value in kept.items() if isinstance(value, str) and len(value) == 64}

    def _keep(self, known: dict[str, str]) -> None:
        # Where it cannot be kept, it is worked out again.
        with contextlib.suppress(OSError, ValueError):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            write_safely(self._file, json.dumps(dict([*known.items()][-_MOST:])))
