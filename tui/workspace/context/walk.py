"""The walk over a source: which files may be sent, and why others may not."""

from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import NamedTuple

from tui.model.errors import WorkspaceError
from tui.model.paths import MOST_PARTS, path_fault
from tui.model.results import LeftOutFile
from tui.workspace.context.globs import Ignores, Selection
from tui.workspace.sources import Entry, Source

_FOLDERS = """
.git .hg .svn .bzr CVS node_modules bower_components jspm_packages .venv venv __pycache__ .mypy_cache .pytest_cache
.ruff_cache .tox .nox .eggs *.egg-info .ipynb_checkpoints dist build target .next .nuxt .svelte-kit .output
.parcel-cache .turbo .cache .gradle .terraform .idea .vs coverage htmlcov .nyc_output
"""
_FILES = """
*.py[cod] *.class *.o *.obj *.so *.dll *.dylib *.exe *.wasm *.min.js *.min.css *.map *.log *.swp *~ .DS_Store Thumbs.db
package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lockb bun.lock poetry.lock uv.lock Pipfile.lock
Cargo.lock Gemfile.lock composer.lock go.sum
.env .env.* !.env.example !.env.sample !.env.template .netrc .npmrc .pypirc .git-credentials *.pem *.key *.p12 *.pfx
*.keystore id_rsa id_dsa id_ecdsa id_ed25519
"""


@cache
def common_folders() -> Selection:
    """Return the folders that are always left out."""
    return Selection(f"{name}/" for name in _FOLDERS.split())


@cache
def common_files() -> Selection:
    """Return the files that are always left out."""
    return Selection(_FILES.split())


MOST_ENTRIES = 200_000
_MOST_IGNORE_BYTES = 256 * 1024


class Walked(NamedTuple):
    """The files that may be sent, sorted by path, and those that were left out."""

    paths: list[str]
    left_out: list[LeftOutFile]


class _Folder(NamedTuple):
    path: str
    ignores: tuple[Ignores, ...]  # the innermost first


def walk(source: Source, include: Selection | None, exclude: Selection, most: int = MOST_ENTRIES) -> Walked:
    """Return every file of the source that passes the common exclusions, `.gitignore`, `exclude` and `include`.

    Looks at no more than `most` entries, and reports it in `left_out` if there are more. Raises WorkspaceError if the
    root cannot be read.
    """
    found = Walked([], [])
    outer = tuple(_Outer(inner, text) for inner, text in source.outer_ignores())
    if any(ignores.decide("", True) for ignores in outer):
        outer = ()  # The user named a folder that its repository ignores: only the rules within it apply.
    stack, seen = [_Folder("", outer)], 0
    while stack:
        folder = stack.pop()
        try:
            entries = sorted(islice(source.entries(folder.path), most - seen + 1))
        except WorkspaceError as error:
            if not folder.path:
                raise
            found.left_out.append(LeftOutFile(f"{folder.path}/", error.what))
            continue
        seen += len(entries)
        if seen > most:
            found.left_out.append(LeftOutFile(f"{folder.path or '.'}/", f"the search stopped after {most:,} entries"))
            break
        ignores = _with_own_ignores(source, folder, entries)
        stack.extend(_look(entries, folder.path, ignores, include, exclude, found))
    found.paths.sort()
    return found


def _look(
    entries: list[Entry],
    folder: str,
    ignores: tuple[Ignores, ...],
    include: Selection | None,
    exclude: Selection,
    found: Walked,
) -> Iterator[_Folder]:
    for entry in entries:
        path = f"{folder}/{entry.name}" if folder else entry.name
        reason = _reason(entry, path, ignores, include, exclude)
        if reason is not None:
            found.left_out.append(LeftOutFile(path + "/" if entry.kind == "folder" else path, reason))
        elif entry.kind == "folder":
            yield _Folder(path, ignores)
        else:
            found.paths.append(path)


def _reason(
    entry: Entry, path: str, ignores: tuple[Ignores, ...], include: Selection | None, exclude: Selection
) -> str | None:
    if entry.kind == "link":
        return "is a symbolic link"
    if entry.kind == "special":
        return "is not a regular file"
    if path.count("/") >= MOST_PARTS:
        return f"has more than {MOST_PARTS} parts"
    is_folder = entry.kind == "folder"
    if f"{entry.name}/x" in common_folders() if is_folder else entry.name in common_files():
        return "is excluded by default"
    if (fault := path_fault(entry.name)) is not None:
        return f"has a name that is not allowed: it {fault}"
    if any(_decided(ignores, path, is_folder)):
        return "is ignored by .gitignore"
    if exclude.has_folder(path) if is_folder else path in exclude:
        return "is excluded by excludeFiles"
    if include is not None and not is_folder and path not in include:
        return "is not in includeFiles"
    return None


def _decided(ignores: tuple[Ignores, ...], path: str, is_folder: bool) -> Iterator[bool]:
    """Yield the decision of the innermost `.gitignore` with a matching rule."""
    for own in ignores:
        verdict = own.decide(path, is_folder)
        if verdict is not None:
            yield verdict
            return


def _with_own_ignores(source: Source, folder: _Folder, entries: list[Entry]) -> tuple[Ignores, ...]:
    if Entry(".gitignore", "file") not in entries:
        return folder.ignores
    path = f"{folder.path}/.gitignore" if folder.path else ".gitignore"
    try:
        text = source.read(path, _MOST_IGNORE_BYTES).decode("utf-8", "replace")
    except WorkspaceError:
        return folder.ignores
    return (Ignores(folder.path, text), *folder.ignores)


class _Outer(Ignores):
    """A `.gitignore` above the root: paths below the root are matched with `inner` before them."""

    def __init__(self, inner: str, text: str) -> None:
        super().__init__("", text)
        self._inner = inner

    def decide(self, path: str, is_folder: bool) -> bool | None:
        if path:
            return super().decide(f"{self._inner}/{path}", is_folder)
        parts = self._inner.split("/")
        above = ("/".join(parts[:count]) for count in range(1, len(parts) + 1))
        return any(super(_Outer, self).decide(folder, True) for folder in above)
