"""The walk over a source: which files may be sent, and why others may not."""

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import islice
from typing import NamedTuple

from tui.model.errors import WorkspaceError
from tui.model.paths import MOST_PARTS, path_fault
from tui.model.results import LeftOutFile
from tui.workspace.context.globs import MOST_CHARACTERS, Ignores, Rule, Selection, lines_of, read_rule
from tui.workspace.sources import MOST_IGNORE_BYTES, Entry, Source

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
MOST_COMPARISONS = 50_000_000
_MOST_CHARACTERS_READ = 8 * 1024 * 1024


class Walked(NamedTuple):
    """The files that may be sent, sorted by path, those that were left out, and the folders that were searched."""

    paths: list[str]
    left_out: list[LeftOutFile]
    folders: list[str]


class _Folder(NamedTuple):
    path: str
    ignores: tuple[Ignores, ...]  # the innermost first


def walk(
    source: Source,
    include: Selection | None,
    exclude: Selection,
    most_entries: int = MOST_ENTRIES,
    most_comparisons: int = MOST_COMPARISONS,
    check_stopped: Callable[[], None] = lambda: None,
) -> Walked:
    """Return every file of the source that passes the common exclusions, `.gitignore`, `exclude` and `include`.

    Looks at no more than `most_entries` entries and makes about `most_comparisons` comparisons with patterns; if there
    are more, `left_out` reports it. A folder whose `.gitignore` exceeds the limit for all of them is left out.
    `check_stopped` is called often and may raise. Raises WorkspaceError if the root cannot be read.
    """
    rules = _Rules(check_stopped)
    filters = _Filters(include, exclude, most_comparisons, check_stopped)
    found = Walked([], [], [])
    outer = tuple(_Outer(inner, rules.of(text)) for inner, text in source.outer_ignores())
    if any(ignores.decide("", True) for ignores in outer):
        outer = ()  # The user named a folder that its repository ignores: only the rules within it apply.
    stack, seen = [_Folder("", outer)], 0
    while stack:
        folder = stack.pop()
        found.folders.append(folder.path)
        shown = f"{folder.path or '.'}/"
        check_stopped()
        try:
            entries = sorted(islice(source.entries(folder.path), most_entries - seen + 1))
            ignores = _with_own_ignores(source, folder, entries, rules)
        except WorkspaceError as error:
            if not folder.path:
                raise
            found.left_out.append(LeftOutFile(shown, error.what))
            continue
        seen += len(entries)
        if seen > most_entries:
            found.left_out.append(LeftOutFile(shown, f"the search stopped after {most_entries:,} entries"))
            break
        stack += (_Folder(path, ignores) for path in _sort_entries(entries, folder.path, ignores, filters, found))
        if filters.exhausted:
            what = f"the search stopped after {most_comparisons:,} comparisons with patterns"
            found.left_out.append(LeftOutFile(shown, what))
            break
    found.paths.sort()
    return found


def _sort_entries(
    entries: list[Entry], folder: str, ignores: tuple[Ignores, ...], filters: "_Filters", found: Walked
) -> Iterator[str]:
    """Add each entry of a folder to what was found, and yield the paths of the folders in it that are searched."""
    for entry in entries:
        if filters.exhausted:
            return
        path = f"{folder}/{entry.name}" if folder else entry.name
        reason = filters.reason(entry, path, ignores)
        if reason is not None:
            found.left_out.append(LeftOutFile(path + "/" if entry.kind == "folder" else path, reason))
        elif entry.kind == "folder":
            yield path
        else:
            found.paths.append(path)


class _Rules:
    """The rules of all `.gitignore` files of a walk; a line that many files contain is compiled once."""

    def __init__(self, check_stopped: Callable[[], None]) -> None:
        self._check_stopped = check_stopped
        self._by_line: dict[str, Rule | None] = {}
        self._read = self._compiled = 0

    def of(self, text: str) -> list[Rule | None]:
        """Return the rules of a file. Raises WorkspaceError if the files so far are too large."""
        self._read += len(text)
        rules = []
        for line in lines_of(text):
            if self._read > _MOST_CHARACTERS_READ or self._compiled > MOST_CHARACTERS:
                raise WorkspaceError("the .gitignore files of the repository are too large")
            if line not in self._by_line:
                self._check_stopped()
                self._by_line[line] = read_rule(line)
                self._compiled += len(line) if self._by_line[line] else 0
            rules.append(self._by_line[line])
        return rules


class _Filters:
    """All reasons to leave an entry out, and how often patterns were compared with paths."""

    def __init__(
        self, include: Selection | None, exclude: Selection, most_comparisons: int, check_stopped: Callable[[], None]
    ) -> None:
        self._include, self._exclude, self._check_stopped = include, exclude, check_stopped
        self._sizes = exclude.size + (include.size if include else 0)
        self._comparisons, self._most_comparisons = 0, most_comparisons

    @property
    def exhausted(self) -> bool:
        """Whether more comparisons were made than allowed."""
        return self._comparisons > self._most_comparisons

    def reason(self, entry: Entry, path: str, ignores: tuple[Ignores, ...]) -> str | None:
        """Return why an entry is left out, or None."""
        self._check_stopped()
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
        # The time of a comparison grows slowly with the path.
        self._comparisons += (self._sizes + sum(own.size for own in ignores)) * (1 + len(path) // 32)
        if any(_decided(ignores, path, is_folder)):
            return "is ignored by .gitignore"
        if self._exclude.has_folder(path) if is_folder else path in self._exclude:
            return "is excluded by excludeFiles"
        if self._include is not None and not is_folder and path not in self._include:
            return "is not in includeFiles"
        return None


def _decided(ignores: tuple[Ignores, ...], path: str, is_folder: bool) -> Iterator[bool]:
    """Yield the decision of the innermost `.gitignore` with a matching rule."""
    for own in ignores:
        verdict = own.decide(path, is_folder)
        if verdict is not None:
            yield verdict
            return


def _with_own_ignores(source: Source, folder: _Folder, entries: list[Entry], rules: _Rules) -> tuple[Ignores, ...]:
    if Entry(".gitignore", "file") not in entries:
        return folder.ignores
    path = f"{folder.path}/.gitignore" if folder.path else ".gitignore"
    try:
        fits = source.size(path) <= MOST_IGNORE_BYTES
        text = source.read(path, MOST_IGNORE_BYTES).decode("utf-8", "replace") if fits else ""
    except WorkspaceError:
        return folder.ignores
    if not fits:  # Without all of its rules, files that it excludes would be sent.
        raise WorkspaceError(f"its .gitignore is larger than {MOST_IGNORE_BYTES:,} bytes", where=source.title)
    return (Ignores(folder.path, rules.of(text)), *folder.ignores)


class _Outer(Ignores):
    """A `.gitignore` above the root: paths below the root are matched with `inner` before them."""

    def __init__(self, inner: str, rules: Iterable[Rule | None]) -> None:
        super().__init__("", rules)
        self._inner = inner

    def decide(self, path: str, is_folder: bool) -> bool | None:
        if path:
            return super().decide(f"{self._inner}/{path}", is_folder)
        parts = self._inner.split("/")
        above = ("/".join(parts[:count]) for count in range(1, len(parts) + 1))
        return any(super(_Outer, self).decide(folder, True) for folder in above)
