"""The files of a trial as they were after its change, written out to be looked at in an editor."""

import os
from collections.abc import Mapping
from pathlib import Path

from tui.model.errors import WorkspaceError
from tui.model.paths import path_fault
from tui.model.results import TrialKey


def write_changed_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files below an empty folder that is nobody else's. Raises WorkspaceError."""
    for path, data in files.items():
        fault = path_fault(path)
        if fault is not None:
            raise WorkspaceError(f"{path} cannot be written: it {fault}")
        place = folder / path
        try:
            place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with open(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(data)
        except OSError as error:
            raise WorkspaceError(f"{path} cannot be written ({error.strerror})", where=str(folder)) from error


def check_out_trial(repository: Path, trial: TrialKey, folder: Path) -> bool:
    """Write everything that the trial's branch of a kept repository holds into an empty folder; False where there is
    no such branch any more. Loads git's library on first use, and blocks: for a thread. Raises WorkspaceError."""
    from tui.workspace.answer.apply import branch_name
    from tui.workspace.git.base import open_base
    from tui.workspace.git.checkout import check_out

    try:
        base = open_base(repository)
        branch = base.repository.branches.local.get(branch_name(trial))
    except WorkspaceError:
        return False
    if branch is None:
        return False
    check_out(base.repository, str(branch.target), folder)
    return True
