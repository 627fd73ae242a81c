"""The stored results that cannot be read: what the user is told, and what the next opening of the history checks."""

from collections.abc import Iterable

from tui.store.database import HistoryFile, mark_damaged


class UnreadableResults:
    """The results that were left out since the history was opened, because damage has made them unreadable."""

    def __init__(self, file: HistoryFile) -> None:
        self._file = file
        self._of_run: dict[str, set[int]] = {}

    def add(self, results: Iterable[tuple[str, int]]) -> None:
        """Add results, each the id of its run and its number, and mark the history as damaged."""
        new = [(run, number) for run, number in results if number not in self._of_run.get(run, ())]
        for run, number in new:
            self._of_run.setdefault(run, set()).add(number)
        if new and not self._file.is_readonly:
            mark_damaged(self._file.path, [number for _, number in new])

    @property
    def notices(self) -> tuple[str, ...]:
        """One message for each run."""
        return tuple(self._notice(run, len(numbers)) for run, numbers in [*self._of_run.items()])

    def _notice(self, run: str, number: int) -> str:
        path = self._file.path
        what = (
            f"One result of run {run} cannot be read, because the run history {path} is damaged: it is left out and "
            "counts as not run."
            if number == 1
            else f"{number:,} results of run {run} cannot be read, because the run history {path} is damaged: they are "
            "left out and count as not run."
        )
        trials = "its trial" if number == 1 else "their trials"
        first = "Make the file and its folder writable: then Assay" if self._file.is_readonly else "Assay"
        return (
            f"{what} {first} renames the file at its next start and recovers all other results; afterwards "
            f"`assay run --resume {run}` runs {trials} again."
        )
