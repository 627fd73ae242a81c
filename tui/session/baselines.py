"""Which run of a suite others are held against, kept in the data folder: one small file for each suite."""

import contextlib
import hashlib
import json
from pathlib import Path

from tui.model.errors import StoreError
from tui.session.files import write_safely
from tui.store.writer import place_of


class Baselines:
    """A file holds `{"suite": path, "run": id}` and is named after its suite, so that two processes that mark runs of
    two suites do not meet."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def of_suite(self, suite_path: str) -> str | None:
        """The id of the run that is the baseline of the suite at that path."""
        try:
            kept = json.loads(self._file(suite_path).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        run = kept.get("run") if isinstance(kept, dict) else None
        return run if isinstance(run, str) else None

    def mark(self, suite_path: str, run_id: str) -> None:
        """This run from now on. Raises StoreError."""
        file = self._file(suite_path)
        text = json.dumps({"suite": place_of(suite_path), "run": run_id}) + "\n"
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            write_safely(file, text)
        except OSError as error:
            raise StoreError(f"The baseline cannot be kept ({error.strerror})", where=str(file)) from error

    def clear(self, suite_path: str) -> None:
        """No run. Raises StoreError."""
        file = self._file(suite_path)
        try:
            with contextlib.suppress(FileNotFoundError):
                file.unlink()
        except OSError as error:
            raise StoreError(f"The baseline cannot be taken away ({error.strerror})", where=str(file)) from error

    def _file(self, suite_path: str) -> Path:
        name = hashlib.sha256(place_of(suite_path).encode("utf-8", "surrogatepass")).hexdigest()[:32]
        return self._folder / f"{name}.json"
