"""Open a changed file in the user's editor, in a temporary folder."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from textual.app import App

from tui.app.diff.answer_diff import ShownDiff
from tui.app.editor import edit
from tui.model.diffs import FileDiff
from tui.model.errors import AssayError, WorkspaceError


async def open_changed_file(
    app: App[object],
    shown: ShownDiff,
    files: Sequence[FileDiff],
    number: int,
    line: int,
    repository: Path | None,
) -> str | None:
    """Open a changed file until the editor is closed, and return an error message, or None on success.

    The folder contains the whole repository if the run saved it (`repository`), else only the changed files.
    """
    from tui.session.changes import temporary_folder

    if files[number].kind == "deleted":
        return "This change deletes the file: nothing to open."
    try:
        async with temporary_folder() as folder:
            tree = folder / "files"
            tree.mkdir(mode=0o700)
            place = await _fill(tree, shown, files, files[number], repository)
            return await edit(app, place, line)
    except AssayError as error:
        return str(error)


async def _fill(
    folder: Path,
    shown: ShownDiff,
    files: Sequence[FileDiff],
    target: FileDiff,
    repository: Path | None,
) -> Path:
    from tui.session.context import check_out_trial

    kept = repository is not None and shown.block is None and await check_out_trial(repository, shown.trial, folder)
    return await asyncio.to_thread(_find_or_write, folder, shown, files, target, kept)


def _find_or_write(folder: Path, shown: ShownDiff, files: Sequence[FileDiff], target: FileDiff, kept: bool) -> Path:
    """Return the changed file; write it with the other ones unless the folder has the `kept` repository."""
    from tui.session.context import write_changed_files

    place = folder / target.path
    if kept and place.is_file() and not place.is_symlink():
        return place
    contents = {file.path: data for file in files if (data := _content(shown, file)) is not None}
    if target.path not in contents:
        raise WorkspaceError(f"Cannot open {target.path}: only the diff is saved, not the full text")
    if kept:
        raise WorkspaceError(f"{target.path} is not a regular file in the repository")
    write_changed_files(folder, contents)
    return place


def _content(shown: ShownDiff, file: FileDiff) -> bytes | None:
    """Return the content of a file after the change; None if it is unknown or deleted."""
    sides = shown.find_sides(file) if file.kind != "deleted" else None
    if sides is None:
        return None
    last = next((line for hunk in file.hunks[::-1] for line in hunk.lines[::-1] if line.new is not None), None)
    is_open = last is not None and last.new == len(sides.new) and not last.newline
    text = "\n".join(sides.new) + ("" if is_open or not sides.new else "\n")
    return text.encode("utf-8", "replace")
